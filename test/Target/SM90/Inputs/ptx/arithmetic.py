"""Instructions that compute a register from registers, on Python's integers.

A register holds its bits as a number that is not negative. Only integers and predicates:
the producer's side computes nothing else.
"""
import operator
import re

BINARY = {
    "add": operator.add, "sub": operator.sub, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "min": min, "max": max,
}
COMPARISONS = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}


def get_width(type_name):
    """Bits of a type as "u32" or "pred"."""
    return 1 if type_name == "pred" else int(type_name.lstrip("bsu"))


def get_reader(type_name):
    """A function from bits to the number that a type sees in them."""
    width = get_width(type_name)
    mask, half = (1 << width) - 1, 1 << (width - 1)
    if type_name[0] == "s":
        return lambda bits: ((bits + half) & mask) - half
    return lambda bits: bits & mask


def compile_compare(parts, sources):
    """setp.COMPARISON.TYPE, or setp.COMPARISON.and.TYPE with a predicate."""
    compare, read = COMPARISONS[parts[1]], get_reader(parts[-1])
    x, y = sources[:2]
    if len(parts) == 3:
        return lambda thread: compare(read(x(thread)), read(y(thread)))
    if parts[2] != "and":
        raise KeyError(parts[2])
    also = sources[2]
    return lambda thread: compare(read(x(thread)), read(y(thread))) and also(thread)


def compile_shift(name, type_name, sources):
    """Amounts beyond the width give 0."""
    read, (x, amount) = get_reader(type_name), sources
    if type_name[0] == "s":
        raise KeyError(type_name)
    if name == "shl":
        return lambda thread: x(thread) << min(amount(thread), 64)
    return lambda thread: read(x(thread)) >> min(amount(thread), 64)


def compile_product(parts, sources):
    """mul.lo and mad.lo."""
    if parts[1] != "lo":
        raise KeyError(parts[1])
    x, y = sources[:2]
    if parts[0] == "mul":
        return lambda thread: x(thread) * y(thread)
    z = sources[2]
    return lambda thread: x(thread) * y(thread) + z(thread)


def compile_one(name, sources):
    """What takes operands as they are."""
    x = sources[0]
    if name in ("mov", "cvta"):
        return x
    if name == "not":
        return lambda thread: ~x(thread)
    if name == "neg":
        return lambda thread: -x(thread)
    y, z = sources[1:]
    if name == "selp":
        return lambda thread: x(thread) if z(thread) else y(thread)
    if name == "bfe":
        return lambda thread: x(thread) >> y(thread) & ((1 << z(thread)) - 1)
    # shf.r.wrap.b32
    return lambda thread: (y(thread) << 32 | x(thread)) >> (z(thread) & 31)


def compile_arithmetic(op, sources):
    """The result's width and a function from a thread to its bits; of sources likewise.

    Raises KeyError, IndexError or ValueError for what is not known.
    """
    parts = op.split(".")
    name, type_name = parts[0], parts[-1]
    if name == "setp":
        return 1, compile_compare(parts, sources)
    if name == "cvt":
        read, x = get_reader(type_name), sources[0]
        return get_width(parts[-2]), lambda thread: read(x(thread))
    width = get_width(type_name)
    if name in ("mul", "mad"):
        return width, compile_product(parts, sources)
    if name in ("shl", "shr"):
        return width, compile_shift(name, type_name, sources)
    if re.fullmatch(r"mov\..*|cvta\.param\.u64|not\..*|neg\..*|selp\..*|bfe\.u32"
                    r"|shf\.r\.wrap\.b32", op):
        return width, compile_one(name, sources)
    apply = operator.floordiv if op == "div.u32" else BINARY[name]
    read, (x, y) = get_reader(type_name), sources
    return width, lambda thread: apply(read(x(thread)), read(y(thread)))
