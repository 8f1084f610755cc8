"""Kernels of one role, whose items each rank has for itself."""
import contextlib

import elements
from bodies import Body, Item, need
from builder import Inexact


class Single:
    """Part of Fusions."""

    def _use(self, source=None, wait=None, inside=False):
        """A role whose items are tiles of the own rows. `wait`: a signal for each block of rows, and its count.
        `inside`: a loop of the role that is written."""
        b, g, rng = self.b, self.g, self.rng
        body = Body(b, rng, self.inputs, g)
        clauses, _ = self._order(waits=wait is not None)
        out = self._output()
        listed = self.inputs.permutation(self.blocks) if rng.random() < 0.15 else None
        loop, place, grouped = self._pairs(clauses)
        if listed and grouped:
            raise Inexact()
        with contextlib.nullcontext() if inside else b.role("use", "rest"), loop as indices:
            i, j = place(indices)
            if listed:
                i = b.entry(listed, i)
            row, column = b.mul(i, b.constant(g.tm)), b.mul(j, b.constant(g.tn))
            item = Item(row, column, "S", source, self._left(row, g.tm) if source else None)
            if wait:
                if grouped:  # of tiles behind the last one nothing is waited for
                    i = b.min(i, b.constant(self.blocks - 1))
                b.wait(wait[0], [i], b.constant(wait[1]))
            acc = body.write(item)
            self._store(acc, out, item)
            if rng.random() < 0.3 and not grouped:
                self._row_statistics(acc, j, item)

    def _alone(self):
        self._use()

    def _inner(self):
        """Rows of tiles: what a CTA takes is a row, in which it goes from tile to tile."""
        b, g, rng = self.b, self.g, self.rng
        body = Body(b, rng, self.inputs, g)
        g.parts = g.needs_combine = False
        out = self._output()
        with b.role("use", "rest"), b.foreach([b.constant(self.blocks)], rng.choice(["", " schedule(ticket)"])) as (i,):
            row = b.mul(i, b.constant(g.tm))
            with b.foreach([b.constant(self.column_tiles)]) as (j,):
                item = Item(row, b.mul(j, b.constant(g.tn)), "S")
                self._store(body.write(item), out, item)

    def _branches(self):
        """Items of two kinds."""
        b, g, rng = self.b, self.g, self.rng
        g.parts = g.needs_combine = False
        one, other = Body(b, rng, self.inputs, g), Body(b, rng, self.inputs, g)
        out = self._output()
        schedule = rng.choice(["", " schedule(ticket)"])
        with b.role("use", "rest"), b.foreach([b.constant(self.blocks), b.constant(self.column_tiles)], schedule) as (i, j):
            item = Item(b.mul(i, b.constant(g.tm)), b.mul(j, b.constant(g.tn)), "S")
            odd = b.rem(b.add(i, j), b.constant(2))
            with b.when(b.equal(odd, b.constant(1)), share=0.5):
                self._store(one.write(item), out, item)
            with b.when(b.equal(odd, b.constant(0)), share=0.5):
                self._store(other.write(item), out, item)

    def _listed(self):
        """Rows of the left operand that a list names."""
        b, g, rng = self.b, self.g, self.rng
        body = Body(b, rng, self.inputs, g, kind="product")
        clauses, _ = self._order()
        out = self._output()
        source = self.inputs.new("a", rng.choice(["bf16", "f16"]), ["R", "K"])
        rows = self.inputs.list("S", self.sizes["R"])
        with b.role("use", "rest"), b.foreach([b.constant(self.blocks), b.constant(self.column_tiles)], clauses) as (i, j):
            row = b.mul(i, b.constant(g.tm))
            item = Item(row, b.mul(j, b.constant(g.tn)), "S", source, None, (rows, row))
            self._store(body.write(item), out, item)

    def _batched(self):
        """Products, attention, statistics of a batch; some operands are the same for all of it."""
        b, g, rng = self.b, self.g, self.rng
        b.batch = "%batch"
        self.inputs.batched = lambda extents: rng.random() < 0.7
        body = Body(b, rng, self.inputs, g)
        clauses, _ = self._order()
        out = self._output()
        bounds = [b.constant(self.sizes["B"]), b.constant(self.blocks), b.constant(self.column_tiles)]
        with b.role("use", "rest"), b.foreach(bounds, clauses) as (n, i, j):
            b.name("%batch", n)
            item = Item(b.mul(i, b.constant(g.tm)), b.mul(j, b.constant(g.tn)), "S")
            self._store(body.write(item), out, item)

    def _grouped(self):
        """Groups of rows that a list ends, with operands of their own, and as many steps of K as a list says."""
        b, g, rng = self.b, self.g, self.rng
        b.batch = "%group"
        self.inputs.batched = lambda extents: "R" not in extents and rng.random() < 0.8
        g.parts = g.needs_combine = False
        out = self._buffer("out", "out", rng.choice(["bf16", "f32"]), ["W", "R", "N"], split="(node, gpu), (), ()")
        ends = self.inputs.ends("R")
        steps = self.inputs.counts(g.steps) if rng.random() < 0.4 else None
        body = Body(b, rng, self.inputs, g)
        groups, row_tiles = b.constant(self.sizes["B"]), b.constant(-(-self.sizes["R"] // g.tm))
        schedule = rng.choice(["", " schedule(ticket)", " schedule(static)", " order(raster = 2)"])
        with b.role("use", "rest"), b.foreach([groups, row_tiles, b.constant(self.column_tiles)], schedule) as (n, i, j):
            b.name("%group", n)
            begin, end = b.entry(ends, n), b.entry(ends, b.add(n, b.constant(1)))
            row = b.add(begin, b.mul(i, b.constant(g.tm)))
            with b.when(b.less(row, end), share=1 / self.sizes["B"]):
                if steps:
                    g.k_tiles = b.entry(steps, n)
                item = Item(row, b.mul(j, b.constant(g.tn)), "R")
                tile = need(elements.narrow(b, body.write(item), out.element))
                b.store(tile, out, [b.constant(0), row, item.column], [b.sub(end, row), b.constant(g.tn)])

    def _loops(self):
        """A role of two loops, of which the second may take what the first one of all CTAs makes."""
        b, rng = self.b, self.rng
        with b.role("use", "rest"):
            if rng.random() < 0.5:
                self._use(*self._made(None), inside=True)
            else:
                self._use(inside=True)
                self._use(inside=True)
