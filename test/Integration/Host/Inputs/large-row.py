# large-row.py FILE: a 70x64 matrix of f32 whose first row is a thousand times as large.
import random
import struct
import sys

random.seed(1)
values = [random.gauss(0, 1000 if i < 64 else 1) for i in range(70 * 64)]
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (70, 64), }"
header += " " * (117 - len(header)) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{len(values)}f", *values))
