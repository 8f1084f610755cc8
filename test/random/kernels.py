"""A random kernel: what ranks send each other, roles and the order of items, around
what bodies.py draws; and what it computes."""
import random

import numpy

import elements
import numeric
from bodies import Body, Inputs, need
from builder import Argument, Builder, Frame, Inexact


class Geometry:
    """Extents of tiles and of one rank's part, and the names of numbers in the kernel."""


class Item:
    """Where a tile lies: names of index values."""

    def __init__(self, row, column, rows, source=None, rows_left=None):
        self.row, self.column, self.rows, self.source, self.rows_left = row, column, rows, source, rows_left


class RandomKernel:
    """Draws a kernel from a seed. `text` is the file, `arguments` what it takes, `run(inputs)` computes
    the outputs; `options` are those of mk-run that it needs."""

    def __init__(self, seed):
        self.seed = seed
        for attempt in range(200):
            self.rng = random.Random(seed * 1000 + attempt)
            try:
                self._draw()
                return
            except Inexact:
                continue
        raise RuntimeError(f"seed {seed}: nothing that is exact in 200 tries")

    # --- sizes ---------------------------------------------------------------

    def _draw(self):
        rng = self.rng
        self.shape = rng.choice(["alone"] * 4 + ["chain"] * 2 + ["gather"] * 3 + ["scatter"] * 3 + ["both"])
        alone = self.shape in ("alone", "chain")
        self.nodes, self.gpus = (1, rng.choice([1, 1, 1, 2])) if alone else rng.choice(
            [(1, 2), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)])
        self.world = self.nodes * self.gpus
        self.grid = rng.choice([2, 3, 4, 4, 6]) if self.world < 3 else rng.choice([2, 3, 4])
        g = self.g = Geometry()
        g.tm = rng.choice([64, 64, 128, 128, 192, 256])
        g.tn = rng.choice([8, 16, 32, 64, 64, 96, 128, 128, 160])
        if g.tm * g.tn > 128 * 160:
            g.tm = 64
        g.tk = rng.choice([32, 64, 64, 64, 128])
        g.depth = rng.choice([64, 128])  # of attention's heads
        g.columns = "N"
        ragged = rng.random() < 0.5
        self.shard = g.tm * rng.choice([1, 2, 2, 3]) - (rng.randrange(1, g.tm) if ragged else 0)
        self.n = g.tn * rng.choice([1, 2, 2, 3]) - (rng.randrange(1, g.tn) if rng.random() < 0.3 else 0)
        self.k = g.tk * rng.choice([1, 2, 3, 5]) - (rng.randrange(1, g.tk) if rng.random() < 0.3 else 0)
        if rng.random() < 0.7:  # what tensor maps can describe
            self.n, self.k = -(-self.n // 16) * 16, -(-self.k // 16) * 16
        g.steps = -(-self.k // g.tk)
        self.m = self.shard * self.world
        self.inputs = Inputs(rng, self.world)
        self.scratch, self.outputs, self.signals = [], [], []
        self.sizes = {"M": self.m, "N": self.n, "K": self.k, "D": g.depth, "S": self.shard, "W": self.world,
                      "KW": self.k * self.world}
        self._write()

    # --- the file --------------------------------------------------------------

    def _write(self):
        b, g, rng = Builder(), self.g, self.rng
        self.b = b
        g.tk_name, g.k_tiles = b.constant(g.tk), "%k_tiles"
        self.me = b.rank()
        self.shard_name = b.constant(self.shard)
        self.blocks = -(-self.shard // g.tm)
        self.column_tiles = -(-self.n // g.tn)
        k_tiles = b.ceildiv("%K", g.tk_name)
        g.k_tiles = k_tiles
        self.declared = len(b.lines)
        getattr(self, "_" + self.shape)()
        self.text = self._file(b)
        self.steps = b.program

    def _file(self, b):
        dims = [d for d in self.sizes if any(d in a.extents for a in self._arguments())]
        dims += [d for d in ("K",) if d not in dims]
        self.dims = dims
        lines = [f"// Kernel {self.seed} of scripts/random-kernels: {self.shape}.",
                 "mk.mesh @mesh (node = ? via net, gpu = ? via link)", "",
                 f"mk.kernel @random on @mesh dims({', '.join('uniform ' + d for d in dims)}) ("]
        lines.append(",\n".join("    " + a.text for a in self._arguments()) + ") {")
        lines += [f"  {name} = arith.constant {n} : index" for n, name in sorted(b.constants.items())]
        lines += b.lines[:self.declared]
        lines += ["  " + s for s in self.signals]
        lines += b.lines[self.declared:]
        return "\n".join(lines + ["}", ""])

    def _arguments(self):
        return self.inputs.arguments + self.scratch + self.outputs

    def _signal(self, extents, scope, arrivals):
        name = f"%signal{len(self.signals)}"
        kind = f"!mk.signal<{'x'.join(str(e) for e in extents)}, {scope}, arrivals = {arrivals}>"
        self.signals.append(f"{name} = mk.signals() : {kind}")
        return name, kind

    def _buffer(self, kind, stem, element, extents, symmetric=False, split=None):
        buffer = Argument(f"{stem}{len(self.scratch) + len(self.outputs)}", kind, element, extents, symmetric, split)
        (self.scratch if kind == "scratch" else self.outputs).append(buffer)
        return buffer

    # --- items --------------------------------------------------------------------

    def _order(self, own=False, plain=False):
        """Clauses of the outermost loop over (rows, columns); says whether a fold needs `combine`."""
        rng, g = self.rng, self.g
        schedule = rng.choice(["", "", "static", "ticket", "ticket", "parts", "stream_k"])
        if plain and schedule in ("parts", "stream_k"):
            schedule = ""
        g.needs_combine = schedule in ("parts", "stream_k")
        g.parts = schedule == "parts"
        text = {"": "", "static": " schedule(static)", "ticket": " schedule(ticket)",
                "stream_k": f" schedule(stream_k, tail = {rng.choice([1, 2])})",
                "parts": f" schedule(static, parts = {rng.choice([2, 2, 3, 4])})"}[schedule]
        orders = []
        if rng.random() < 0.5:
            orders.append(f"raster = {rng.choice([1, 2, 3, 8])}")
        if own and rng.random() < 0.5:
            orders.append("own = " + rng.choice(["first", "last", "spread(1)", "spread(2)"]))
        elif own and rng.random() < 0.3:
            orders.append("stagger")
        if schedule in ("", "static") and not g.needs_combine and rng.random() < 0.25:
            orders.append("alternate = 2")
        if orders:
            text += f" order({', '.join(orders)})"
        return text, any(o.startswith("own") for o in orders)

    def _place(self, i, j):
        b, g = self.b, self.g
        return b.mul(i, b.constant(g.tm)), b.mul(j, b.constant(g.tn))

    def _left(self, at, size):
        """How many of `size` rows from `at` are in a shard."""
        b = self.b
        return b.min(b.sub(self.shard_name, at), b.constant(size))

    def _store(self, acc, out, item, valid=False):
        """To an output of any type, maybe transposed."""
        b, g = self.b, self.g
        tile = need(elements.narrow(b, acc, out.element))
        if out.transposed:
            tile = elements.transpose(b, tile)
            b.store(tile, out, [item.column, item.row])
        else:
            limited = item.rows_left and not g.parts and self.rng.random() < 0.5
            limits = [item.rows_left, b.constant(g.tn)] if limited else None
            b.store(tile, out, [item.row, item.column], limits)

    def _output(self):
        """Of the own rows."""
        transposed = self.rng.random() < 0.15
        element = self.rng.choice(["bf16", "bf16", "f32", "f16"])
        extents, split = (["N", "M"], "(), (node, gpu)") if transposed else (["M", "N"], "(node, gpu), ()")
        out = self._buffer("out", "out", element, extents, split=split)
        out.transposed = transposed
        return out

    # --- what ranks do ---------------------------------------------------------------

    def _items(self, body, source=None, wait=None, ctas="rest", name="use"):
        """A role whose items are tiles of the own rows, stored to an output."""
        b, g, rng = self.b, self.g, self.rng
        body.draw()
        clauses, _ = self._order()
        out = self._output()
        with b.role(name, ctas), b.foreach([b.constant(self.blocks), b.constant(self.column_tiles)], clauses) as (i, j):
            row, column = self._place(i, j)
            left = self._left(row, g.tm) if source else None
            item = Item(row, column, "S", source, left)
            if wait:
                signal, kind, count = wait
                b.write(f"mk.wait {signal}[{i}] ge {b.constant(count)} : {kind}")
            acc = body.write(item)
            self._store(acc, out, item)
            if rng.random() < 0.3:
                self._second_output(acc, i, j, item)

    def _second_output(self, acc, i, j, item):
        """Row statistics of a tile, a row of an output for each column of tiles."""
        b = self.b
        part = elements.reduce(b, self.rng.choice(["add", "max"]), acc, 1)
        if part:
            out = self._buffer("out", "rows", "f32", ["T", "M"], split="(), (node, gpu)")
            self.sizes["T"] = self.column_tiles
            b.store(part, out, [j, item.row])

    def _alone(self):
        self._items(Body(self.b, self.rng, self.inputs, self.g))

    def _make(self, ctas):
        """A role that computes rows of K columns into scratch, for the roles behind it."""
        b, g, rng = self.b, self.g, self.rng
        element = rng.choice(["bf16", "f16"])
        to = self._buffer("scratch", "t", element, ["S", "K"])
        arrivals = g.steps
        signal, kind = self._signal([self.blocks], "gpu", arrivals)
        x_of = self.inputs.new("x", rng.choice(["bf16", "f32", "i8"]), ["S", "K"])
        v_of = self.inputs.new("v", "f32", ["S"])
        c0 = b.constant(0)
        schedule = rng.choice(["", " schedule(ticket)", " schedule(static)"])
        with b.role("make", ctas), b.foreach([b.constant(self.blocks), g.k_tiles], schedule) as (i, k):
            row, at = b.mul(i, b.constant(g.tm)), b.mul(k, g.tk_name)
            x = need(elements.widen(b, b.load(x_of, [row, at], (g.tm, g.tk))))
            v = b.load(v_of, [row], (g.tm,))
            y = need(rng.choice([elements.multiply, elements.add])(b, x, elements.broadcast(b, v, x.shape, 1)))
            if rng.random() < 0.4:
                y = need(elements.subtract(b, y, elements.broadcast(b, elements.reduce(b, "max", y, 1), y.shape, 1)))
            tile = need(elements.narrow(b, y, element))
            if rng.random() < 0.5:
                b.store(tile, to, [row, at], signal=(signal, [i], kind))
            else:
                b.store(tile, to, [row, at])
                b.write(f"mk.signal {signal}[{i}] : {kind}")
        return to, (signal, kind, arrivals)

    def _chain(self):
        beside = self.rng.random() < 0.3
        source, wait = self._make("beside @use" if beside else self.rng.choice(["1", "share = 0.4, min = 1"]))
        self._items(Body(self.b, self.rng, self.inputs, self.g), source, wait)

    def _gathered(self, user):
        """A role that puts the own rows to all ranks. Returns scratch, signal and its type."""
        b, g, rng = self.b, self.g, self.rng
        element = rng.choice(["bf16", "bf16", "f16", "i8"])
        x = self.inputs.new("x", element, ["S", "K"], symmetric=True)
        full = self._buffer("scratch", "full", element, ["M", "K"], symmetric=True)
        pieces = rng.choice([1, 1, 2])
        signal, kind = self._signal([self.world, self.blocks], "sys", pieces)
        c0 = b.constant(0)
        ctas = rng.choice(["1", "2", f"beside @{user}"] if self.grid > 3 else ["1", f"beside @{user}"])
        size = b.constant(-(-g.tm // pieces))
        with b.role("gather", ctas), b.foreach([b.constant(self.blocks), b.constant(pieces)],
                                             rng.choice(["", " schedule(ticket)"])) as (i, piece):
            begin = b.add(b.mul(i, b.constant(g.tm)), b.mul(piece, size))
            rows = b.max(c0, b.min(b.sub(b.min(b.constant(self.shard), b.mul(b.add(i, b.constant(1)), b.constant(g.tm))), begin), size))
            at = b.min(begin, b.constant(self.shard))
            to = b.add(b.mul(self.me, self.shard_name), at)
            with b.peers("node, gpu", self.world, True) as p:
                b.put(x, [at, c0], [rows, "%K"], full, [to, c0], p, (signal, [self.me, i], kind))
        return full, (signal, kind, pieces)

    def _gather(self):
        """Rows of all ranks, times what is a rank's own."""
        b, g, rng = self.b, self.g, self.rng
        full, (signal, kind, count) = self._gathered("use")
        body = Body(b, rng, self.inputs, g)
        body.draw()
        clauses, own = self._order(own=True)
        out = self._buffer("out", "out", rng.choice(["bf16", "f32"]), ["W", "M", "N"], split="(node, gpu), (), ()")
        ending = " own({0}, {1})" if own else ""
        first = b.mul(self.me, b.constant(self.blocks)) if own else None
        blocks = b.constant(self.blocks)
        ending = ending.format(first, blocks)
        with b.role("use", "rest"), b.foreach([b.constant(self.world * self.blocks), b.constant(self.column_tiles)],
                                              clauses + ending) as (i, j):
            s = b.compute("arith.divui {0}, {1} : index", lambda x, y: x // y, i, blocks)
            t = b.compute("arith.remui {0}, {1} : index", lambda x, y: x % y, i, blocks)
            inside = b.mul(t, b.constant(g.tm))
            row, column = b.add(b.mul(s, self.shard_name), inside), b.mul(j, b.constant(g.tn))
            item = Item(row, column, "M", full, self._left(inside, g.tm))
            b.write(f"mk.wait {signal}[{s}, {t}] ge {b.constant(count)} : {kind}")
            if g.parts:  # stores of divided items have no limits
                raise Inexact()
            tile = need(elements.narrow(b, body.write(item), out.element))
            b.store(tile, out, [b.constant(0), row, column], [item.rows_left, b.constant(g.tn)])

    def _scattered(self, source=None, wait=None):
        """A role whose tiles belong to all ranks, in the way that `_scatter` says. Returns slots, signal, type, count."""
        b, g, rng = self.b, self.g, self.rng
        direct = self.nodes == 1 and rng.random() < 0.6
        element = rng.choice(["bf16", "f32", "f16"])
        slots = self._buffer("scratch", "slots", element, ["W", "S", "N"], symmetric=True)
        body = Body(b, rng, self.inputs, g)
        body.draw()
        clauses, own = self._order(own=True)
        if "parts" in clauses:  # no signals stand behind the fold of an item that CTAs divide
            raise Inexact()
        blocks, c0 = b.constant(self.blocks), b.constant(0)
        first = b.mul(self.me, blocks) if own else None
        if own:
            clauses += f" own({first}, {blocks})"
        if direct:
            got, got_kind = self._signal([self.blocks, self.column_tiles], "sys", self.world)
        else:
            away = self._buffer("scratch", "away", element, ["W", "S", "N"], symmetric=True)
            left, left_kind = self._signal([self.world, self.blocks], "gpu", self.column_tiles)
            got, got_kind = self._signal([self.blocks], "sys", self.world)
        with b.role("make", "rest"), b.foreach([b.constant(self.world * self.blocks), b.constant(self.column_tiles)],
                                               clauses) as (i, j):
            s = b.compute("arith.divui {0}, {1} : index", lambda x, y: x // y, i, blocks)
            t = b.compute("arith.remui {0}, {1} : index", lambda x, y: x % y, i, blocks)
            inside = b.mul(t, b.constant(g.tm))
            row, column = b.add(b.mul(s, self.shard_name), inside), b.mul(j, b.constant(g.tn))
            item = Item(row, column, "M", source, self._left(inside, g.tm) if source else None)
            if wait:
                signal, kind, count = wait
                b.write(f"mk.wait {signal}[{s}, {t}] ge {b.constant(count)} : {kind}")
            tile = need(elements.narrow(b, body.write(item), element))
            limits = [self._left(inside, g.tm), b.constant(g.tn)]
            if direct:
                b.store(tile, slots, [self.me, inside, column], limits, peer=s, signal=(got, [t, j], got_kind))
            else:
                b.store(tile, away, [s, inside, column], limits)
                b.write(f"mk.signal {left}[{s}, {t}] : {left_kind}")
        if not direct:
            ctas = rng.choice(["1", "beside @make"])
            with b.role("send", ctas), b.foreach([b.constant(self.world), blocks]) as (s, t):
                inside = b.mul(t, b.constant(g.tm))
                b.write(f"mk.wait {left}[{s}, {t}] ge {b.constant(self.column_tiles)} : {left_kind}")
                b.put(away, [s, inside, c0], [b.constant(1), self._left(inside, g.tm), "%N"],
                      slots, [self.me, inside, c0], s, (got, [t], got_kind))
        return slots, got, got_kind, direct

    def _sum(self, slots, got, kind, by_tile):
        """A role that adds up what has come from all ranks."""
        b, g, rng = self.b, self.g, self.rng
        out = self._output()
        body = Body(b, rng, self.inputs, g)
        g.needs_combine = g.parts = False
        world = b.constant(self.world)
        ctas = rng.choice(["1", "share = 0.4, min = 1"])
        with b.role("sum", ctas), b.foreach([b.constant(self.blocks), b.constant(self.column_tiles)],
                                            rng.choice(["", " schedule(ticket)"])) as (t, j):
            row, column = self._place(t, j)
            index = f"{t}, {j}" if by_tile else t
            b.write(f"mk.wait {got}[{index}] ge {world} : {kind}")
            left = self._left(row, g.tm)

            def step(r, carried):
                x = b.load(slots, [r, row, column], (g.tm, g.tn), [left, b.constant(g.tn)])
                return [need(elements.add(b, carried[0], elements.widen(b, x)))]
            total, = b.fold(world, self.world, [b.filled(0, "f32", (g.tm, g.tn))], None, step)
            item = Item(row, column, "S", None, left)
            self._store(body.epilogue(total, item), out, item)

    def _scatter(self):
        self._sum(*self._scattered())

    def _both(self):
        full, wait = self._gathered("make")
        self._sum(*self._scattered(full, wait))

    # --- what it computes -------------------------------------------------------------

    def extents(self, argument, whole):
        """Of one rank's part, or of all ranks together."""
        shape = [self.sizes[e] for e in argument.extents]
        if argument.split and not whole:
            splits = argument.split.replace("(node, gpu)", "*").replace("()", "-").split(", ")
            shape = [n // self.world if s == "*" else n for n, s in zip(shape, splits)]
        return shape

    def draw_inputs(self):
        """Values of all ranks together."""
        numbers = numpy.random.default_rng(self.seed)
        return {a.name: numbers.integers(-int(a.known.bound), int(a.known.bound) + 1, self.extents(a, True)).astype(float)
                for a in self.inputs.arguments}

    def _part(self, argument, values, rank):
        if not argument.split:
            return values
        axis = argument.split.replace("(node, gpu)", "*").replace("()", "-").split(", ").index("*")
        return numpy.split(values, self.world, axis)[rank]

    def run(self, inputs):
        """The outputs, of all ranks together."""
        memories = []
        for rank in range(self.world):
            memory = {a.name: self._part(a, inputs[a.name], rank) for a in self.inputs.arguments}
            memory.update({a.name: numpy.full(self.extents(a, False), numpy.nan) for a in self.scratch + self.outputs})
            memories.append(memory)
        frames = [Frame(rank, memories) for rank in range(self.world)]
        for frame in frames:
            frame.value.update({name: n for n, name in self.b.constants.items()})
            frame.value.update({"%" + name: n for name, n in self.sizes.items()})
        for step in self.steps:  # role after role
            for frame in frames:
                step(frame)
        results = {}
        for a in self.outputs:
            splits = (a.split or "").replace("(node, gpu)", "*").replace("()", "-").split(", ")
            parts = [memory[a.name] for memory in memories]
            results[a.name] = numpy.concatenate(parts, splits.index("*")) if a.split else parts[0]
            if numpy.isnan(results[a.name]).any():
                raise AssertionError(f"kernel {self.seed} leaves elements of {a.name} out")
        return results
