"""What a CTA does with an item: loops over K with products, attention, statistics of rows,
and what stands in front of and behind them. All of it is drawn."""
import elements
import numeric
from builder import Argument, Inexact


def need(tile):
    """`tile`, which has to be exact."""
    if tile is None:
        raise Inexact()
    return tile


class Item:
    """Where a tile lies: names of index values."""

    def __init__(self, row, column, rows, source=None, rows_left=None, listed=None):
        self.row, self.column, self.rows, self.source = row, column, rows, source
        self.rows_left, self.listed = rows_left, listed
        self.source_row = row  # where the tile's rows are in the source


class Inputs:
    """Makes arguments as bodies ask for them."""

    def __init__(self, rng, world, sizes):
        self.rng, self.world, self.sizes, self.arguments = rng, world, sizes, []
        self.batched = lambda extents: False  # whether an argument has one matrix or vector for each of B

    def new(self, stem, element, extents, limit=2, symmetric=False):
        """Of one rank's part. A dimension S is that of own rows; others may be a rank's own, too."""
        split, extents = None, list(extents)
        own = extents.index("S") if "S" in extents else None
        if own is None and "K" in extents and self.world > 1 and self.rng.random() < 0.5:
            own = extents.index("K")
        if own is not None:
            extents[own] = {"S": "M", "K": "KW"}[extents[own]]
        batched = self.batched(extents)
        if batched:
            extents, own = ["B", *extents], None if own is None else own + 1
            split = ", ".join("(node, gpu)" if i == own else "()" for i in range(len(extents)))
        argument = Argument(f"{stem}{len(self.arguments)}", "in", element, extents, symmetric,
                            split, numeric.Range(limit, 1))
        argument.batched = batched
        self.arguments.append(argument)
        return argument

    def _numbers(self, extent, size, values):
        """A list of i32, the same on all ranks."""
        self.sizes[extent] = size
        argument = Argument(f"list{len(self.arguments)}", "in", "i32", [extent], False, None, numeric.Range(1, 1))
        argument.values = values
        self.arguments.append(argument)
        return argument

    def ends(self, extent):
        """Where each of B groups of `extent` begins, and where the last one ends; some may be empty."""
        groups, size = self.sizes["B"], self.sizes[extent]
        return self._numbers("B1", groups + 1, lambda numbers: [0, *sorted(numbers.integers(0, size + 1, groups - 1)), size])

    def counts(self, most):
        """For each of B groups a number up to `most`."""
        return self._numbers("B", self.sizes["B"], lambda numbers: numbers.integers(0, most + 1, self.sizes["B"]))

    def list(self, extent, below):
        """Numbers from -1 (no row) to below `below`."""
        argument = self.new("list", "i32", [extent], 1)
        argument.values = lambda numbers: numbers.integers(-1, below, self.world * self.sizes[extent])
        return argument

    def permutation(self, size):
        argument = self.new("list", "i32", ["P"], 1)
        self.sizes["P"] = size
        argument.values = lambda numbers: numbers.permutation(size)
        return argument


class Body:
    """One kind of item: a tile of `rows` x `columns` (names of index values: `row`, `column`, and
    of how many of its rows exist: `rows_left`, or None)."""

    def __init__(self, b, rng, inputs, geometry, kind=None):
        self.b, self.rng, self.inputs, self.g = b, rng, inputs, geometry
        self.kind = kind or rng.choice(["product"] * 5 + ["attention"] * 2 + ["statistics"] * 2 + ["two_passes"])
        self.operand = rng.choice(["bf16", "bf16", "bf16", "f16", "f16"] + (
            ["f8E4M3FN", "f32"] if self.kind == "product" else []))

    def maybe(self, chance):
        return self.rng.random() < chance

    def left(self, argument, item, at, width):
        """A tile of the left operand: tm rows of an item, `width` columns from `at`."""
        b, g = self.b, self.g
        if item.listed:
            return b.load(argument, [b.constant(0), at], (g.tm, width), rows=item.listed)
        valid = [item.rows_left, b.constant(width)] if item.rows_left else None
        row = item.source_row if argument is item.source else item.row
        return b.load(argument, [row, at], (g.tm, width), valid)

    # --- in front of a product ------------------------------------------------

    def prologue(self, x, along_rows, offsets):
        """Elementwise work on an operand, and back to its type. `offsets`: of the tile's rows
        and columns, `along_rows`: a vector with an element for each row, one for each column."""
        b, rng = self.b, self.rng
        wide = need(elements.widen(b, x))
        for _ in range(rng.choice([1, 1, 2])):
            what = rng.choice(["row", "column", "relu", "scale", "absolute", "tile"])
            if what in ("row", "column"):
                axis = 1 if what == "row" else 0
                vector = along_rows(what, offsets, x.shape)
                spread = elements.broadcast(b, vector, x.shape, axis)
                wide = rng.choice([elements.multiply, elements.add, elements.maximum])(b, wide, spread) or wide
            elif what == "relu":
                wide = elements.maximum(b, wide, b.filled(0, "f32", x.shape))
            elif what == "scale":
                wide = elements.scale(b, wide, rng.choice([0.5, 2])) or wide
            elif what == "absolute":
                wide = elements.absolute(b, wide)
            elif what == "tile":
                other = along_rows("tile", offsets, x.shape)
                wide = elements.multiply(b, wide, need(elements.widen(b, other))) or wide
        return need(elements.narrow(b, wide, self.operand))

    def vector_loader(self, stem, extents):
        """Loads vectors and tiles that go with an operand of `extents`."""
        arguments = {}

        def load(what, offsets, shape):
            if what == "tile":
                if what not in arguments:
                    arguments[what] = self.inputs.new(stem + "t", self.rng.choice(["bf16", "f32", "i8"]), extents, 1)
                return self.b.load(arguments[what], offsets, shape)
            axis = 0 if what == "row" else 1
            if what not in arguments:
                arguments[what] = self.inputs.new(stem + what[0], "f32", [extents[axis]], 2)
            return self.b.load(arguments[what], [offsets[axis]], [shape[axis]])
        return load

    # --- loops ------------------------------------------------------------------

    def product(self, item):
        """acc of tm x tn, and other tiles of it that the loop carries."""
        b, rng, g = self.b, self.rng, self.g
        swapped = self.maybe(0.2) and g.tn % 64 == 0
        two_bytes = self.operand in ("bf16", "f16")
        if not two_bytes and (item.source or g.tk < 32):
            self.operand, two_bytes = "bf16", True
        transpose_a = item.source is None and two_bytes and self.maybe(0.15)
        transpose_b = not two_bytes or self.maybe(0.7)
        # Work on an operand leaves it in registers, which the left one may be in.
        narrow_a = item.source is None and not swapped and not transpose_a and self.maybe(0.15)
        narrow_b = swapped and self.maybe(0.3)
        if not two_bytes:
            narrow_a = narrow_b = False
        if item.source:
            a = item.source
        else:
            a = self.inputs.new("a", "i8" if narrow_a else self.operand, ["K", item.rows] if transpose_a else [item.rows, "K"])
        ones = None  # sums of columns by a product
        if item.source is None and not swapped and not transpose_a and not narrow_a and two_bytes and self.maybe(0.08):
            ones = b.filled(1, self.operand, (g.tm, g.tk))
        y_extents = [g.columns, "K"] if transpose_b else ["K", g.columns]
        y_of = self.inputs.new("b", "i8" if narrow_b else self.operand, y_extents)
        second = self.inputs.new("b", self.operand, y_extents) if self.maybe(0.2) else None
        work_a = narrow_a or a.element != self.operand or not (swapped or transpose_a or ones) and two_bytes and self.maybe(0.25)
        if swapped and work_a:
            raise Inexact()
        work_b = narrow_b or swapped and two_bytes and self.maybe(0.4)
        vectors_a = self.vector_loader("a", ["K", item.rows] if transpose_a else [item.rows, "K"])
        vectors_b = self.vector_loader("b", y_extents)
        extra = rng.choice([None, None, None, "row sums", "row maxima", "column sums"])
        if transpose_a or swapped:
            extra = None
        both = second is not None and self.maybe(0.5)  # two sums, else one
        shape = (g.tn, g.tm) if swapped else (g.tm, g.tn)
        zero = b.filled(0, "f32", shape)
        inits = [zero] + ([zero] if both else [])
        if extra:
            inits.append(b.filled(0 if "sums" in extra else -64, "f32",
                                  (g.tn,) if extra == "column sums" else (g.tm,)))
        combine = rng.choice([None, "add"]) if extra != "row maxima" else None
        if g.needs_combine:
            combine = "add"
            if extra == "row maxima":
                inits, extra = inits[:-1], None

        def step(k, carried):
            at = b.mul(k, g.tk_name)
            a_at = [at, item.row] if transpose_a else [item.row, at]
            y_at = [item.column, at] if transpose_b else [at, item.column]
            y_shape = (g.tn, g.tk) if transpose_b else (g.tk, g.tn)
            x = b.load(a, a_at, (g.tk, g.tm)) if transpose_a else self.left(a, item, at, g.tk)
            raw = x
            x = ones or x
            y = b.load(y_of, y_at, y_shape)
            if work_a:
                x = self.prologue(x, vectors_a, a_at)
            if work_b:
                y = self.prologue(y, vectors_b, y_at)
            if swapped:
                out = [need(elements.dot(b, y, x, carried[0], not transpose_b, not transpose_a))]
            else:
                out = [need(elements.dot(b, x, y, carried[0], transpose_a, transpose_b))]
            if second:
                z = b.load(second, y_at, y_shape)
                acc = carried[1] if both else out[0]
                next_ = (elements.dot(b, z, x, acc, not transpose_b, not transpose_a) if swapped
                         else elements.dot(b, x, z, acc, transpose_a, transpose_b))
                if both:
                    out.append(need(next_))
                else:
                    out[0] = need(next_)
            if extra:
                tile = raw if extra != "column sums" else y
                axis = 1 if extra != "column sums" or transpose_b else 0
                kind = "max" if "maxima" in extra else "add"
                part = need(elements.reduce(b, kind, need(elements.widen(b, tile)), axis))
                join = elements.maximum if kind == "max" else elements.add
                out.append(need(join(b, carried[-1], part)))
            return out

        results = b.fold(g.k_tiles, g.steps, inits, combine, step)
        acc = results[0]
        if both:
            acc = need(rng.choice([elements.add, elements.maximum])(b, acc, results[1]))
        if swapped:
            acc = elements.transpose(b, acc)
        if extra:
            acc = need(elements.add(b, acc, elements.broadcast(b, results[-1], acc.shape, 0 if extra == "column sums" else 1)))
        return acc

    def attention(self, item):
        """Products of products: (mask of q k^T) v, where q is tm x tk, v is tn wide."""
        b, g = self.b, self.g
        q_of = item.source or self.inputs.new("q", self.operand, [item.rows, "D"], 1)
        if q_of.element not in ("bf16", "f16"):
            raise Inexact()
        self.operand = q_of.element
        keys = self.inputs.new("k", self.operand, ["K", "D"], 1)
        values = self.inputs.new("v", self.operand, ["K", g.columns], 1)
        masked, relu, outside = self.maybe(0.4), self.maybe(0.5), self.maybe(0.5)
        beside, limited = self.maybe(0.25), self.maybe(0.25)
        maxima = self.maybe(0.4) and not g.needs_combine
        c0 = b.constant(0)
        scores_zero = b.filled(0, "f32", (g.tm, g.tk))
        q = self.left(q_of, item, c0, g.depth) if outside else None
        if outside and self.maybe(0.4) and not item.listed:  # worked on once for all steps
            q = self.prologue(q, self.vector_loader("q", [item.rows, "D"]), [item.row, c0])
        turning = outside and not g.needs_combine and self.maybe(0.2)  # the loop carries it
        limit, offset = self.rng.randint(0, g.steps * g.tk), self.rng.randint(-8, 8)
        triangle = self.rng.choice(list(elements.KEPT))
        ones = b.filled(1, "f32", (g.tm, g.tk)) if beside else None
        inits = [b.filled(0, "f32", (g.tm, g.tn))]
        if maxima:
            inits.append(b.filled(-64, "f32", (g.tm,)))
        if turning:
            inits.append(q)

        def step(k, carried):
            at = b.mul(k, g.tk_name)
            x = carried[-1] if turning else q or self.left(q_of, item, c0, g.depth)
            y = b.load(keys, [at, c0], (g.tk, g.depth))
            s = need(elements.dot(b, x, y, scores_zero, False, True))
            if masked:
                s = elements.mask(b, s, b.sub(item.row, at), 0.0)
            if limited:  # keys that count
                s = elements.mask(b, s, b.sub(b.constant(limit), at), 0.0, "d - c - 1")
            if beside:  # the same in all steps
                s = need(elements.multiply(b, s, elements.mask(b, ones, b.constant(offset), 0.0, triangle)))
            out = []
            if maxima:
                out.append(need(elements.maximum(b, carried[1], elements.reduce(b, "max", s, 1))))
            if relu:
                s = elements.maximum(b, s, b.filled(0, "f32", s.shape))
            if maxima and self.maybe(0.5):
                s = need(elements.subtract(b, s, elements.broadcast(b, elements.minimum(
                    b, out[0], b.filled(4, "f32", (g.tm,))), s.shape, 1)))
            p = need(elements.narrow(b, s, self.operand))
            v = b.load(values, [at, item.column], (g.tk, g.tn))
            if turning:
                out.append(elements.negate(b, x))
            return [need(elements.dot(b, p, v, carried[0], False, False))] + out

        results = b.fold(g.k_tiles, g.steps, inits, "add" if g.needs_combine else None, step)
        acc = results[0]
        if maxima:
            acc = need(elements.add(b, acc, elements.broadcast(b, results[1], acc.shape, 1)))
        return acc

    def statistics(self, item):
        """A loop without products: elementwise work on tiles, added up or reduced."""
        b, rng, g = self.b, self.rng, self.g
        x_of = item.source or self.inputs.new("x", rng.choice(["bf16", "f32", "i8", "f16"]), [item.rows, "K"])
        vectors = self.vector_loader("x", [item.rows, "K"])
        kind = rng.choice(["add", "max", "min"])
        if g.needs_combine:
            kind = "add"
        with_row = self.maybe(0.5)

        def step(k, carried):
            at = b.mul(k, g.tk_name)
            x = need(elements.widen(b, self.left(x_of, item, at, g.tk)))
            if with_row:
                v = vectors("column", [item.row, at], x.shape)
                x = need(elements.multiply(b, x, elements.broadcast(b, v, x.shape, 0)))
            part = need(elements.reduce(b, kind, x, 1))
            join = {"add": elements.add, "max": elements.maximum, "min": elements.minimum}[kind]
            return [need(join(b, carried[0], part))]

        result, = b.fold(g.k_tiles, g.steps, [b.filled({"add": 0, "max": -16, "min": 16}[kind], "f32", (g.tm,))],
                         kind if self.maybe(0.5) or g.needs_combine else None, step)
        spread = elements.broadcast(b, result, (g.tm, g.tn), 1)
        y_of = self.inputs.new("y", rng.choice(["bf16", "f32"]), [item.rows, g.columns])
        y = need(elements.widen(b, b.load(y_of, [item.row, item.column], (g.tm, g.tn))))
        return need(rng.choice([elements.add, elements.maximum])(b, y, spread))

    def two_passes(self, item):
        """Statistics of rows, which a product then takes out of its left operand."""
        b, g = self.b, self.g
        a = item.source or self.inputs.new("a", self.operand, [item.rows, "K"])
        y_of = self.inputs.new("b", self.operand, [g.columns, "K"])
        if a.element != self.operand:
            raise Inexact()

        def first(k, carried):
            x = self.left(a, item, b.mul(k, g.tk_name), g.tk)
            return [elements.maximum(b, carried[0], elements.reduce(b, "max", elements.widen(b, x), 1))]
        highest, = b.fold(g.k_tiles, g.steps, [b.filled(-16, "f32", (g.tm,))], None, first)

        def second(k, carried):
            at = b.mul(k, g.tk_name)
            x = elements.widen(b, self.left(a, item, at, g.tk))
            less = need(elements.subtract(b, x, elements.broadcast(b, highest, x.shape, 1)))
            y = b.load(y_of, [item.column, at], (g.tn, g.tk))
            return [need(elements.dot(b, need(elements.narrow(b, less, self.operand)), y, carried[0], False, True))]
        acc, = b.fold(g.k_tiles, g.steps, [b.filled(0, "f32", (g.tm, g.tn))], None, second)
        return acc

    # --- behind a loop -------------------------------------------------------------

    def epilogue(self, acc, item):
        """A few ops on tiles of tm x tn."""
        b, rng, g = self.b, self.rng, self.g
        for _ in range(rng.choice([0, 0, 1, 2, 3])):
            what = rng.choice(["column", "row", "tile", "scale", "relu", "choose", "less maxima", "plus sums",
                               "column maxima", "mask", "negate"])
            found = None
            if what in ("column", "row"):
                axis = 0 if what == "column" else 1
                v_of = self.inputs.new("e", rng.choice(["f32", "bf16", "f16"]), [g.columns if axis == 0 else item.rows])
                v = b.load(v_of, [item.column if axis == 0 else item.row], [acc.shape[1 - axis]])
                spread = elements.broadcast(b, elements.widen(b, v), acc.shape, axis)
                found = rng.choice([elements.add, elements.multiply, elements.maximum])(b, acc, spread)
            elif what == "tile":
                r_of = self.inputs.new("e", rng.choice(["bf16", "f32", "i8", "f16"]), [item.rows, g.columns])
                r = elements.widen(b, b.load(r_of, [item.row, item.column], acc.shape))
                found = rng.choice([elements.add, elements.add, elements.maximum, elements.choose])(b, acc, r)
            elif what == "scale":
                found = elements.scale(b, acc, rng.choice([0.5, 2]))
            elif what == "relu":
                found = elements.maximum(b, acc, b.filled(0, "f32", acc.shape))
            elif what == "choose":
                found = elements.choose(b, acc, b.filled(8, "f32", acc.shape))
            elif what == "negate":
                found = elements.absolute(b, acc) if self.maybe(0.5) else elements.negate(b, acc)
            elif what == "mask":
                found = elements.mask(b, acc, b.sub(item.row, item.column), 1.0)
            else:
                kind, axis = {"less maxima": ("max", 1), "plus sums": ("add", 1), "column maxima": ("max", 0)}[what]
                part = elements.reduce(b, kind, acc, axis)
                if part:
                    found = elements.add(b, acc, elements.broadcast(b, part, acc.shape, axis))
            acc = found or acc
        return acc

    def write(self, item):
        """Writes the whole of an item; returns the tile of f32."""
        acc = getattr(self, self.kind)(item)
        return self.epilogue(acc, item)
