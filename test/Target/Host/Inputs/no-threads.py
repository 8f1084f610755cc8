"""no-threads.py COMMAND...: runs it where no thread can be started, nor a process: clone fails with
EAGAIN. A limit of threads (ulimit -u) would not hold for root."""
import ctypes
import errno
import os
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000 | errno.EAGAIN
CLONE, CLONE3 = 56, 435  # of x86-64


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("then", ctypes.c_uint8),
                ("otherwise", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("code", ctypes.POINTER(Instruction))]


code = (Instruction * 5)((LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 1, 0, CLONE),
                         (JUMP_IF_EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, FAIL),
                         (RETURN, 0, 0, ALLOW))
libc = ctypes.CDLL(None, use_errno=True)
for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                  (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Program(5, code)), 0, 0)):
    if libc.prctl(*arguments):
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[1], sys.argv[1:])
