# npy.py make FILE M N: writes 0, 1, 2, ... as M x N doubles.
# npy.py show FILE: prints shape and rows of an array of f4.
import ast
import struct
import sys

if sys.argv[1] == "make":
    m, n = int(sys.argv[3]), int(sys.argv[4])
    header = str({"descr": "<f8", "fortran_order": False, "shape": (m, n)})
    header = header.ljust(117) + "\n"
    with open(sys.argv[2], "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        f.write(header.encode())
        f.write(struct.pack(f"<{m * n}d", *range(m * n)))
else:
    data = open(sys.argv[2], "rb").read()
    (length,) = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0, "data is aligned"
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"]
    m, n = header["shape"]
    values = struct.unpack(f"<{m * n}f", data[10 + length :])
    print(header["shape"])
    for i in range(m):
        print(*values[i * n : (i + 1) * n])
