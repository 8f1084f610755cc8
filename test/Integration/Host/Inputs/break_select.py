"""Makes the code that chooses a version in a package end its process, with digests that are right.

usage: break_select.py PACKAGE OUTPUT
"""
import hashlib
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
elf = struct.unpack_from("<I", data, 12)[0] + struct.unpack_from("<Q", data, 16)[0]
assert data[elf:elf + 4] == b"\x7fELF"
sections, = struct.unpack_from("<Q", data, elf + 40)
size, count = struct.unpack_from("<HH", data, elf + 58)


def section(i):
    """(type, address, offset, bytes, link)"""
    return struct.unpack_from("<IIQQQQI", data, elf + sections + i * size)[1:2] + \
        struct.unpack_from("<QQQI", data, elf + sections + i * size + 16)


table = next(section(i) for i in range(count) if section(i)[0] == 11)  # SHT_DYNSYM
names = elf + section(table[4])[2]
for at in range(elf + table[2], elf + table[2] + table[3], 24):
    name, _, _, index, value, length = struct.unpack_from("<IBBHQQ", data, at)
    if data[names + name:].startswith(b"mk_select\0"):
        code = elf + section(index)[2] + value - section(index)[1]
        data[code:code + length] = b"\xf4" * length  # hlt
data[64:96] = hashlib.sha256(data[96:]).digest()
with open(sys.argv[2], "wb") as file:
    file.write(data)
