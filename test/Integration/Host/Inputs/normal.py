"""normal.py FILE EXTENT...: an array of float32 in NumPy's format, normal."""
import array
import math
import random
import struct
import sys

path, shape = sys.argv[1], tuple(map(int, sys.argv[2:]))
source = random.Random(str(shape))
values = array.array("f", (source.gauss(0, 1) for _ in range(math.prod(shape))))
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
header = header.ljust(128 - 10 - 1) + "\n"
with open(path, "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    values.tofile(out)
