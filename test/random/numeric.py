"""Element types as random kernels use them, and their exact arithmetic.

All values are multiples of a power of two that f32 holds exactly, so a result
does not depend on the order of a sum, and host, interpreter and this file
agree in every bit. NumPy computes in f64.
"""
import numpy

# Bits of the significand, the largest finite number.
FLOATS = {
    "f32": (24, 3.0e38),
    "bf16": (8, 3.0e38),
    "f16": (11, 65504.0),
    "f8E4M3FN": (4, 448.0),
}
SIZES = {"f32": 4, "i32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1, "i8": 1}
INTEGERS = {"i8": 127, "i32": 2**31 - 1}


def size(element):
    """Bytes."""
    return SIZES[element]


class Range:
    """What is known of the elements of a tile: |x| <= bound, x is a multiple of grain."""

    checked = True  # whether results have to be exact

    def __init__(self, bound, grain):
        self.bound, self.grain = float(bound), float(grain)

    def exact_in(self, element):
        if not self.checked:
            return True
        if element in INTEGERS:
            return self.bound <= INTEGERS[element] and self.grain >= 1
        bits, largest = FLOATS[element]
        return self.bound <= largest and self.bound <= self.grain * 2.0**bits

    def times(self, other):
        return Range(self.bound * other.bound, self.grain * other.grain)

    def plus(self, other, count=1):
        return Range(self.bound + other.bound * count, min(self.grain, other.grain))

    def union(self, other):
        return Range(max(self.bound, other.bound), min(self.grain, other.grain))


def narrow(values, element):
    """Rounds f64 values to the nearest of `element`, ties to even."""
    if element in INTEGERS or element == "f32":
        return values
    bits, _ = FLOATS[element]
    fraction, exponent = numpy.frexp(values)
    return numpy.ldexp(numpy.rint(numpy.ldexp(fraction, bits)), exponent - bits)


def rounded(known, element):
    """The range of what `narrow` makes of a tile."""
    bits, largest = FLOATS[element]
    bound = known.bound
    if bound > known.grain * 2.0**bits:
        bound = float(narrow(numpy.array(bound), element)) * (1 + 2.0**-bits)
    if bound > largest:
        return None
    return Range(bound, known.grain)


def to_file(path, values, element):
    """Writes an input for mk-run: integers as they are, floats as f32."""
    numpy.save(path, values.astype({"i8": "<i1", "i32": "<i4"}.get(element, "<f4")))


def from_file(path, element):
    """Reads what `mk-run --out` has written, as f64."""
    values = numpy.load(path)
    if element == "bf16":
        return (values.astype(numpy.uint32) << 16).view(numpy.float32).astype(float)
    return values.astype(float)
