# small.py FILE: a vector of 64 numbers of f32 about 1e-30.
import struct
import sys

header = "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }"
header += " " * (117 - len(header)) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<64f", *((i + 1) * 1e-30 for i in range(64))))
