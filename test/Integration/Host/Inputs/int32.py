"""int32.py FILE N...: writes a NumPy file of the integers."""
import struct
import sys

values = [int(text) for text in sys.argv[2:]]
header = str({"descr": "<i4", "fortran_order": False, "shape": (len(values),)})
header = header.ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode())
    file.write(struct.pack(f"<{len(values)}i", *values))
