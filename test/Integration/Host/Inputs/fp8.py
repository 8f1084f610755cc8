"""fp8.py make FILE: numbers at and around every border between two numbers of 8 bits.
fp8.py check FORMAT FILE BITS WIDE: whether BITS are FILE rounded to FORMAT (e4m3 or
e5m2; to the nearest, ties to even, saturating), and WIDE what these bits mean."""
import ast
import math
import struct
import sys


def decode(code, exponent_bits, mantissa_bits, infinity):
    bias = (1 << (exponent_bits - 1)) - 1
    magnitude = code & 0x7F
    exponent, mantissa = magnitude >> mantissa_bits, magnitude & ((1 << mantissa_bits) - 1)
    top = (1 << exponent_bits) - 1
    if exponent == top and infinity:
        value = math.inf if mantissa == 0 else math.nan
    elif magnitude == 0x7F and not infinity:
        value = math.nan
    elif exponent == 0:
        value = math.ldexp(mantissa, 1 - bias - mantissa_bits)
    else:
        value = math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)
    return -value if code & 0x80 else value


FORMATS = {"e4m3": (4, 3, False), "e5m2": (5, 2, True)}


def round_to(value, finite):
    """The code of the least distance; of two the even one."""
    if math.isnan(value):
        return 0x7F
    magnitude = min(abs(value), finite[-1])
    best = min(range(len(finite)), key=lambda code: (abs(finite[code] - magnitude), code & 1))
    return best | (0x80 if math.copysign(1, value) < 0 else 0)


def read(path, letter):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<H", data[8:10])
    (count,) = ast.literal_eval(data[10:10 + length].decode())["shape"]
    return struct.unpack(f"<{count}{letter}", data[10 + length:])


def neighbours(value):
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    for step in (-1, 0, 1):
        yield struct.unpack("<f", struct.pack("<I", max(bits + step, 0)))[0]


if sys.argv[1] == "make":
    values = [0.0, math.inf, math.nan, 1e-30, 1e-42, 3.4e38]
    for form in FORMATS.values():
        finite = [v for v in (decode(c, *form) for c in range(128)) if math.isfinite(v)]
        for low, high in zip(finite, finite[1:] + [2 * finite[-1]]):
            values += [low, *neighbours((low + high) / 2)]
    values += [-v for v in values]
    header = str({"descr": "<f4", "fortran_order": False, "shape": (len(values),)})
    header = header.ljust(117) + "\n"
    with open(sys.argv[2], "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode() + struct.pack(f"<{len(values)}f", *values))
    print(len(values))
else:
    form = FORMATS[sys.argv[2]]
    finite = [v for v in (decode(c, *form) for c in range(128)) if math.isfinite(v)]
    wrong = 0
    given = read(sys.argv[3], "f")
    for value, code, wide in zip(given, read(sys.argv[4], "b"), read(sys.argv[5], "f")):
        code &= 0xFF
        means = decode(code, *form)
        good = code & 0x7F == 0x7F if math.isnan(value) else code == round_to(value, finite)
        same = math.isnan(wide) if math.isnan(means) else wide == means
        if not good or not same:
            wrong += 1
            print(f"{value!r} -> {code:#x}, which is {wide!r}")
    print(f"{len(given)} numbers, {wrong} wrong")
