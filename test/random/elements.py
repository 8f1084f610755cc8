"""Ops on tiles: elementwise, reductions, products, masks. Each returns None, and
writes nothing, where a result would not be exact in its type."""
import numpy

import numeric
from builder import Tile


def result_fits(known, element):
    return known is not None and known.exact_in(element)


def _binary(op, function, join):
    def apply(b, x, y):
        known = join(x.known, y.known)
        if not result_fits(known, x.element):
            return None
        suffix = "i" if x.element in numeric.INTEGERS else "f"
        return b.tile(f"arith.{op.format(suffix)} {x.name}, {y.name} : {x.type}", x.element, x.shape,
                      known, function, x, y)
    return apply


add = _binary("add{}", lambda x, y: x + y, lambda a, c: a.plus(c))
subtract = _binary("sub{}", lambda x, y: x - y, lambda a, c: a.plus(c))
multiply = _binary("mul{}", lambda x, y: x * y, lambda a, c: a.times(c))
maximum = _binary("maximum{}", numpy.maximum, lambda a, c: a.union(c))
minimum = _binary("minimum{}", numpy.minimum, lambda a, c: a.union(c))


def negate(b, x):
    return b.tile(f"arith.negf {x.name} : {x.type}", x.element, x.shape, x.known, lambda v: -v, x)


def absolute(b, x):
    return b.tile(f"math.absf {x.name} : {x.type}", x.element, x.shape, x.known, numpy.abs, x)


def scale(b, x, number):
    """x times a power of two."""
    return multiply(b, x, b.filled(number, x.element, x.shape))


def choose(b, x, y):
    """x where x > y, else -y: a comparison and a selection."""
    condition = b.tile(f"arith.cmpf ogt, {x.name}, {y.name} : {x.type}", "i1", x.shape, x.known,
                       lambda v, w: v > w, x, y)
    other = negate(b, y)
    return b.tile(f"arith.select {condition.name}, {x.name}, {other.name} : {condition.type}, {x.type}",
                  x.element, x.shape, x.known.union(y.known), numpy.where, condition, x, other)


def widen(b, x):
    """To f32, from a narrower float or an integer."""
    if x.element == "f32":
        return x
    if x.element in numeric.INTEGERS and not x.known.exact_in("f32"):
        return None
    op = "sitofp" if x.element in numeric.INTEGERS else "extf"
    wide = Tile("", "f32", x.shape, x.known)
    return b.tile(f"arith.{op} {x.name} : {x.type} to {wide.type}", "f32", x.shape, x.known, lambda v: v, x)


def narrow(b, x, element):
    """From f32, rounded."""
    if x.element == element:
        return x
    known = numeric.rounded(x.known, element)
    if known is None:
        return None
    to = Tile("", element, x.shape, known)
    return b.tile(f"arith.truncf {x.name} : {x.type} to {to.type}", element, x.shape, known,
                  lambda v: numeric.narrow(v, element), x)


def reduce(b, kind, x, axis):
    count = x.shape[axis]
    known = numeric.Range(x.known.bound * count, x.known.grain) if kind == "add" else x.known
    if not result_fits(known, x.element):
        return None
    shape = x.shape[:axis] + x.shape[axis + 1:]
    to = Tile("", x.element, shape, known)
    function = {"add": numpy.sum, "max": numpy.max, "min": numpy.min}[kind]
    return b.tile(f"mk.reduce {kind} {x.name} axis {axis} : {x.type} -> {to.type}", x.element, shape,
                  known, lambda v: function(v, axis=axis), x)


def broadcast(b, x, shape, axis):
    """Along the new dimension `axis` of `shape`."""
    to = Tile("", x.element, shape, x.known)
    return b.tile(f"mk.broadcast {x.name} dims [{axis}] : {x.type} -> {to.type}", x.element, shape, x.known,
                  lambda v: numpy.broadcast_to(numpy.expand_dims(v, axis), shape), x)


def transpose(b, x):
    shape = x.shape[::-1]
    to = Tile("", x.element, shape, x.known)
    return b.tile(f"mk.transpose {x.name} : {x.type} -> {to.type}", x.element, shape, x.known,
                  lambda v: v.T, x)


KEPT = {"r - c + d": lambda r, c, d: r - c + d >= 0, "d - c - 1": lambda r, c, d: d - c - 1 >= 0,
        "d - r - 1": lambda r, c, d: d - r - 1 >= 0}


def mask(b, x, distance, other, where="r - c + d"):
    """Keeps element (r, c) where `where`, of KEPT, is not negative; d: an index value."""
    name = b.fresh("pad")
    b.write(f"{name} = arith.constant {other:.6e} : {x.element}")
    result = Tile(b.fresh(), x.element, x.shape, x.known.union(numeric.Range(abs(other), abs(other) or 1024)))
    b.write(f"{result.name} = mk.mask {x.name} where affine_set<(r, c)[d] : ({where} >= 0)>"
            f"[{distance}] else {name} : {x.type}")

    def run(frame):
        rows, columns = numpy.indices(x.shape)
        kept = KEPT[where](rows, columns, frame[distance])
        frame.value[result.name] = numpy.where(kept, frame[x.name], other)
    b.program.append(run)
    return result


def dot(b, x, y, acc, transpose_a, transpose_b):
    """acc + x * y."""
    depth = x.shape[0 if transpose_a else 1]
    known = acc.known.plus(x.known.times(y.known), depth)
    if not result_fits(known, "f32"):
        return None
    if x.element == "f8E4M3FN" and known.bound > 2.0**13:  # what tensor cores keep of such sums
        return None
    work = b.work.products
    work[x.element] = work.get(x.element, 0) + b.weight * 2 * acc.shape[0] * acc.shape[1] * depth
    flags = (" transpose_a" if transpose_a else "") + (" transpose_b" if transpose_b else "")
    if x.element == "f32":
        flags += " precision = tf32"
    return b.tile(f"mk.dot {x.name}, {y.name}, {acc.name}{flags} : {x.type}, {y.type}, {acc.type}", "f32",
                  acc.shape, known, lambda p, q, s: s + (p.T if transpose_a else p) @ (q.T if transpose_b else q),
                  x, y, acc)
