"""library.py LIBRARY OPTIONS...: what the compiler's C function says of each text of options."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.mk_jit_free.argtypes = [ctypes.c_void_p]
for options in sys.argv[2:]:
    package, size, error = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
    status = library.mk_jit_compile_text(b"", ctypes.c_size_t(0), b"empty.mlir", options.encode(),
                                         ctypes.byref(package), ctypes.byref(size),
                                         ctypes.byref(error))
    print(status, ctypes.string_at(error).decode())
    library.mk_jit_free(error)
