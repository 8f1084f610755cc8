"""routing.py FILE TOKENS EXPERTS K SEED: writes a NumPy file of the K different experts of
each token, low numbers much more often than high ones, some choices -1."""
import random
import struct
import sys

tokens, experts, k, seed = (int(text) for text in sys.argv[2:])
choose = random.Random(seed)
values = []
for _ in range(tokens):
    order = sorted(range(experts), key=lambda e: choose.random() * (e + 1) ** 2)
    values += [e if choose.random() < 0.9 else -1 for e in order[:k]]
header = str({"descr": "<i4", "fortran_order": False, "shape": (tokens, k)})
header = header.ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode())
    file.write(struct.pack(f"<{len(values)}i", *values))
