"""Roles: who computes what, who sends what to whom, and in which order. What stands in an item
is drawn by bodies.py."""
import contextlib

import elements
import numeric
from bodies import Body, Item, need
from builder import Argument, Inexact
from single import Single


class Fusions(Single):
    """Writes the roles of a kernel. Whoever inherits has a builder `b`, a generator `rng`, a geometry `g`, inputs, and
    `_buffer`, `_signal`."""

    # --- the order of items --------------------------------------------------------

    def _order(self, own=False, waits=False, ends=False):
        """Clauses of the outermost loop. `waits`, `ends`: its items wait for or raise signals."""
        rng, g = self.rng, self.g
        schedule = rng.choice(["", "", "static", "ticket", "ticket", "parts", "stream_k"])
        if schedule == "parts" and ends:
            schedule = ""
        g.parts, g.needs_combine = schedule == "parts", schedule in ("parts", "stream_k")
        parts = rng.choice([2, 2, 3, 4])
        text = {"": "", "static": " schedule(static)", "ticket": " schedule(ticket)",
                "stream_k": f" schedule(stream_k, tail = {rng.choice([1, 2])})",
                "parts": f" schedule(static, parts = {parts})"}[schedule]
        orders = []
        if rng.random() < 0.5:
            orders.append(f"raster = {rng.choice([1, 2, 3, 8])}")
        if own and rng.random() < 0.5:
            orders.append("own = " + rng.choice(["first", "last", "spread(1)", "spread(2)"]))
        elif own and rng.random() < 0.3:
            orders.append("stagger")
        if schedule in ("", "static") and not waits and rng.random() < 0.25:
            orders.append("alternate = 2")
        if orders:
            text += f" order({', '.join(orders)})"
        return text, any(o.startswith("own") for o in orders)

    def _left(self, at, size):
        """How many of `size` rows from `at` are in a shard."""
        b = self.b
        return b.min(b.sub(self.shard_name, at), b.constant(size))

    def _pairs(self, clauses):
        """A loop over tiles of the own rows, maybe in groups of tiles side by side. A context manager
        for (row tile, column tile)."""
        b, rng = self.b, self.rng
        if rng.random() < 0.3 and "parts" not in clauses:
            high, wide = rng.choice([(1, 2), (2, 1), (2, 2), (4, 1), (1, 4)])
            bounds = [-(-self.blocks // high), -(-self.column_tiles // wide), high, wide]
            loop = b.foreach([b.constant(n) for n in bounds], clauses)
            return loop, lambda n: (b.add(b.mul(n[0], b.constant(high)), n[2]), b.add(b.mul(n[1], b.constant(wide)), n[3])), True
        loop = b.foreach([b.constant(self.blocks), b.constant(self.column_tiles)], clauses)
        return loop, lambda n: (n[0], n[1]), False

    def _some(self):
        """CTAs of a role that has work as others do."""
        return "share = 0.4, min = 1" if self.large else self.rng.choice(["1", "share = 0.4, min = 1"])

    # --- outputs ---------------------------------------------------------------------

    def _output(self):
        """Of the own rows."""
        transposed = self.rng.random() < 0.15
        element = self.rng.choice(["bf16", "bf16", "f32", "f16"])
        extents, split = (["N", "M"], "(), (node, gpu)") if transposed else (["M", "N"], "(node, gpu), ()")
        if self.b.batch:
            extents, split = ["B", *extents], "(), " + split
        out = self._buffer("out", "out", element, extents, split=split)
        out.transposed, out.batched = transposed, self.b.batch is not None
        return out

    def _store(self, acc, out, item):
        b, g = self.b, self.g
        tile = need(elements.narrow(b, acc, out.element))
        if out.transposed:
            b.store(elements.transpose(b, tile), out, [item.column, item.row])
            return
        limited = item.rows_left and not g.parts and self.rng.random() < 0.5
        b.store(tile, out, [item.row, item.column], [item.rows_left, b.constant(g.tn)] if limited else None)

    def _row_statistics(self, acc, j, item):
        """A second output: a row for each column of tiles."""
        b = self.b
        part = elements.reduce(b, self.rng.choice(["add", "max"]), acc, 1)
        if part:
            out = self._buffer("out", "rows", "f32", ["T", "M"], split="(), (node, gpu)")
            b.store(part, out, [j, item.row])

    # --- one role behind the other ---------------------------------------------------------

    def _made(self, ctas, queue=None):
        """A role that computes rows of K columns into scratch; without CTAs a loop of the role that is written. Returns it, and what tells of a block of rows:
        a signal and its count; or, with a queue, the last of a block pushes it."""
        b, g, rng = self.b, self.g, self.rng
        element = rng.choice(["bf16", "f16"])
        to = self._buffer("scratch", "t", element, ["S", "K"])
        signal = None if queue else self._signal([self.blocks], "gpu", g.steps)
        counter = "%counter" if queue else None
        if queue:
            self.signals.append(f"{counter} = mk.counters() : !mk.counter<{self.blocks}>")
        x_of = self.inputs.new("x", rng.choice(["bf16", "f32", "i8"]), ["S", "K"])
        v_of = self.inputs.new("v", "f32", ["S"])
        schedule = rng.choice(["", " schedule(ticket)", " schedule(static)"])
        role = b.role("make", ctas) if ctas else contextlib.nullcontext()
        with role, b.foreach([b.constant(self.blocks), g.k_tiles], schedule) as (i, k):
            row, at = b.mul(i, b.constant(g.tm)), b.mul(k, g.tk_name)
            x = need(elements.widen(b, b.load(x_of, [row, at], (g.tm, g.tk))))
            v = b.load(v_of, [row], (g.tm,))
            y = need(rng.choice([elements.multiply, elements.add])(b, x, elements.broadcast(b, v, x.shape, 1)))
            if rng.random() < 0.4:
                y = need(elements.subtract(b, y, elements.broadcast(b, elements.reduce(b, "max", y, 1), y.shape, 1)))
            tile = need(elements.narrow(b, y, element))
            if queue:
                b.store(tile, to, [row, at])
                b.count_and_push(counter, f"!mk.counter<{self.blocks}>", i, g.steps, queue)
            elif rng.random() < 0.5:
                b.store(tile, to, [row, at], signal=(signal, [i]))
            else:
                b.store(tile, to, [row, at])
                b.signal(signal, [i])
        return to, (signal, g.steps)

    def _chain(self):
        source, wait = self._made(self._some())
        self._use(source, wait)

    def _queue(self):
        """Blocks are computed on in the order in which they are ready."""
        b, g, rng = self.b, self.g, self.rng
        kind = f"!mk.queue<{self.blocks}x1xi32>"
        self.signals.append(f"%queue = mk.queue() : {kind}")
        source, _ = self._made(self._some(), ("%queue", kind))
        body = Body(b, rng, self.inputs, g)
        g.parts = g.needs_combine = False
        out = self._output()
        with b.role("use", "rest"), b.records("%queue", kind, self.blocks, b.constant(self.blocks), [b.constant(self.column_tiles)]) as (i, j):
            row = b.mul(i, b.constant(g.tm))
            item = Item(row, b.mul(j, b.constant(g.tn)), "S", source, self._left(row, g.tm))
            self._store(body.write(item), out, item)

    # --- gathers --------------------------------------------------------------------------

    def _gathered(self, user):
        """A role that puts the own rows to all ranks. Returns the rows (None: others are put), where all of them are, and a
        signal with its count."""
        b, g, rng = self.b, self.g, self.rng
        element = rng.choice(["bf16", "bf16", "f16", "i8"])
        x = self.inputs.new("x", element, ["S", "K"], symmetric=True)
        full = self._buffer("scratch", "full", element, ["M", "K"], symmetric=True)
        way = rng.choice(["pieces", "pieces", "strong", "ring"] + (["engines"] if self.nodes == 1 else []) +
                         (["staged"] if element != "i8" else []))
        pieces = 1 if way in ("ring", "engines", "staged") else rng.choice([1, 2, 3])
        signal = self._signal([self.world, self.blocks], "sys", 1 if way == "strong" else pieces)
        c0, c1 = b.constant(0), b.constant(1)
        few = "16" if self.large else "1"  # that move much
        ctas = rng.choice([few, "2", f"beside @{user}"] if self.grid > 3 else [few, f"beside @{user}"])
        if way == "ring":
            ctas = rng.choice([few, f"beside @{user}"])
        elif way == "engines":
            ctas = "engines"
        size = b.constant(-(-g.tm // pieces))

        def part(i, piece):
            """Where a piece of a block begins, and its rows."""
            begin = b.add(b.mul(i, b.constant(g.tm)), b.mul(piece, size))
            end = b.min(self.shard_name, b.mul(b.add(i, c1), b.constant(g.tm)))
            return b.min(begin, self.shard_name), b.max(c0, b.min(b.sub(end, begin), size))

        blocks, count = b.constant(self.blocks), b.constant(pieces)
        if way == "ring":  # each rank passes on what comes from the one before
            with b.role("gather", ctas, self.world), b.foreach([b.constant(self.world), blocks]) as (step, i):
                at, rows = part(i, c0)
                world = b.constant(self.world)
                of = b.rem(b.sub(b.add(self.me, world), step), world)
                to = b.add(b.mul(of, self.shard_name), at)
                with b.when(b.equal(step, c0)):
                    b.put(x, [at, c0], [rows, "%K"], full, [to, c0], self.me, (signal, [of, i]))
                following = b.rem(b.add(self.me, c1), world)
                with b.when(b.different(step, b.constant(self.world - 1))):
                    b.wait(signal, [of, i], c1)
                    b.put(full, [to, c0], [rows, "%K"], full, [to, c0], following, (signal, [of, i]))
        elif way == "staged":  # what is put is computed, block after block in the same place
            places = rng.choice([1, 2])
            stage = self._buffer("scratch", "stage", element, ["TM2", "K"], symmetric=True)
            self.sizes["TM2"] = places * g.tm
            with b.role("gather", "1"), b.foreach([blocks]) as (i,):  # one CTA has these places
                at, rows = part(i, c0)
                place = b.mul(b.rem(i, b.constant(places)), b.constant(g.tm))
                with b.foreach([g.k_tiles]) as (k,):
                    column = b.mul(k, g.tk_name)
                    y = need(elements.scale(b, need(elements.widen(b, b.load(x, [at, column], (g.tm, g.tk)))), 2))
                    b.store(need(elements.narrow(b, y, element)), stage, [place, column])
                with b.peers("node, gpu", self.world) as p:
                    b.put(stage, [place, c0], [rows, "%K"], full, [b.add(b.mul(self.me, self.shard_name), at), c0], p,
                          (signal, [self.me, i]))
                last = b.equal(b.rem(i, b.constant(places)), b.constant(places - 1))
                with b.when(last) if rng.random() < 0.5 else contextlib.nullcontext():
                    b.settle()
        elif way == "strong":  # a signal behind puts without one
            with b.role("gather", ctas), b.foreach([blocks]) as (i,), b.peers("node, gpu", self.world) as p:
                for n in range(pieces):
                    at, rows = part(i, b.constant(n))
                    last = n == pieces - 1
                    b.put(x, [at, c0], [rows, "%K"], full, [b.add(b.mul(self.me, self.shard_name), at), c0], p,
                          (signal, [self.me, i]) if last else None, strong=last)
        else:
            schedule = "" if way == "engines" else rng.choice(["", " schedule(ticket)"])
            with b.role("gather", ctas), b.foreach([blocks, count], schedule) as (i, piece):
                at, rows = part(i, piece)
                to = b.add(b.mul(self.me, self.shard_name), at)
                with b.peers("node, gpu", self.world) as p:
                    b.put(x, [at, c0], [rows, "%K"], full, [to, c0], p, (signal, [self.me, i]))
        return None if way == "staged" else x, full, (signal, 1 if way == "strong" else pieces)

    def _wait_for(self, wait, s, t):
        b = self.b
        b.wait(wait[0], [s, t], b.constant(wait[1]))

    def _gather(self):
        """Rows of all ranks, times what is a rank's own."""
        b, g, rng = self.b, self.g, self.rng
        x, full, wait = self._gathered("use")
        body = Body(b, rng, self.inputs, g)
        clauses, own = self._order(own=True, waits=True)
        if g.parts:  # stores of divided items have no limits
            raise Inexact()
        out = self._buffer("out", "out", rng.choice(["bf16", "f32"]), ["W", "M", "N"], split="(node, gpu), (), ()")
        blocks = b.constant(self.blocks)
        if own:
            clauses += f" own({b.mul(self.me, blocks)}, {blocks})"
        from_own = x is not None and rng.random() < 0.4  # the own rows straight from where they are
        with b.role("use", "rest"), b.foreach([b.constant(self.world * self.blocks), b.constant(self.column_tiles)], clauses) as (i, j):
            s, t = b.div(i, blocks), b.rem(i, blocks)
            inside = b.mul(t, b.constant(g.tm))
            row, column = b.add(b.mul(s, self.shard_name), inside), b.mul(j, b.constant(g.tn))
            item = Item(row, column, "M", full, self._left(inside, g.tm))
            if from_own:
                own_rows = b.equal(s, self.me)
                item.source = b.either(own_rows, x, full)
                item.source_row = b.select(own_rows, inside, row)
                with b.when(b.different(s, self.me)):
                    self._wait_for(wait, s, t)
            else:
                self._wait_for(wait, s, t)
            tile = need(elements.narrow(b, body.write(item), out.element))
            b.store(tile, out, [b.constant(0), row, column], [item.rows_left, b.constant(g.tn)])

    def _columns(self):
        """Columns of K of all ranks: what an iteration needs it waits for itself."""
        b, g, rng = self.b, self.g, self.rng
        element = rng.choice(["bf16", "f16"])
        slab = Argument("slab", "in", element, ["W", "R", "K"], True, "(node, gpu), (), ()", numeric.Range(2, 1))
        self.inputs.arguments.append(slab)
        full = self._buffer("scratch", "full", element, ["W", "R", "K"], symmetric=True)
        pieces = 64 if self.large else 1  # of a slab: a warp puts each
        signal = self._signal([self.world], "sys", pieces)
        c0, c1, world, count = b.constant(0), b.constant(1), b.constant(self.world), b.constant(pieces)
        each = b.ceildiv("%R", count)
        with b.role("gather", rng.choice(["16" if self.large else "1", "beside @use"])), b.foreach([count]) as (piece,):
            at = b.min(b.mul(piece, each), "%R")
            rows = b.min(b.sub("%R", at), each)
            with b.peers("node, gpu", self.world) as p:
                b.put(slab, [c0, at, c0], [c1, rows, "%K"], full, [self.me, at, c0], p, (signal, [self.me]))
        clauses, _ = self._order(waits=True)
        if g.parts:
            raise Inexact()
        out = self._buffer("out", "out", rng.choice(["bf16", "f32"]), ["W", "R", "N"], split="(node, gpu), (), ()")
        y_of = self.inputs.new("b", element, ["W", "N", "K"])
        body = Body(b, rng, self.inputs, g)
        all_steps = b.mul(world, g.k_tiles)
        rotated, prologue = rng.random() < 0.5, rng.random() < 0.3
        # Where CTAs share an iteration's slab, each waits for it.
        only_first = rng.random() < 0.4 and not g.needs_combine
        sums = rng.random() < 0.3
        vectors = body.vector_loader("x", ["R", "K"])
        zero = b.filled(0, "f32", (g.tm, g.tn))
        row_tiles = -(-self.sizes["R"] // g.tm)
        with b.role("use", "rest"), b.foreach([b.constant(row_tiles), b.constant(self.column_tiles)], clauses) as (i, j):
            row, column = b.mul(i, b.constant(g.tm)), b.mul(j, b.constant(g.tn))

            def step(kt, carried):
                s, k = b.div(kt, g.k_tiles), b.rem(kt, g.k_tiles)
                if rotated:
                    s = b.rem(b.add(s, self.me), world)
                at = b.mul(k, g.tk_name)
                if only_first:
                    with b.when(b.equal(k, c0)):
                        b.wait(signal, [s], count)
                else:
                    b.wait(signal, [s], count)
                left = b.load(full, [s, row, at], (g.tm, g.tk))
                raw = left
                y = b.load(y_of, [s, column, at], (g.tn, g.tk))
                if prologue:
                    body.operand = element
                    left = body.prologue(left, vectors, [row, at])
                carry = [need(elements.dot(b, left, y, carried[0], False, True))]
                if sums:
                    carry.append(need(elements.add(b, carried[1], elements.reduce(b, "add", elements.widen(b, raw), 1))))
                return carry
            inits = [zero] + ([b.filled(0, "f32", (g.tm,))] if sums else [])
            results = b.fold(all_steps, self.world * g.steps, inits, "add" if g.needs_combine or rng.random() < 0.5 else None, step)
            acc = results[0]
            if sums:
                acc = need(elements.add(b, acc, elements.broadcast(b, results[1], acc.shape, 1)))
            acc = body.epilogue(acc, Item(row, column, "R"))
            b.store(need(elements.narrow(b, acc, out.element)), out, [c0, row, column])

    # --- scatters ---------------------------------------------------------------------------

    def _scattered(self, source=None, wait=None):
        """A role whose tiles belong to all ranks. Returns what each rank then has of them: slots, a signal, whether that
        is for each tile, whether all ranks add to one slot."""
        b, g, rng = self.b, self.g, self.rng
        way = rng.choice(["direct", "direct", "added", "put"]) if self.nodes == 1 else "put"
        element = "f32" if way == "added" else rng.choice(["bf16", "f32", "f16"])
        slots = self._buffer("scratch", "slots", element, ["W1" if way == "added" else "W", "S", "N"], symmetric=True)
        body = Body(b, rng, self.inputs, g)
        clauses, own = self._order(own=True, waits=wait is not None, ends=True)
        blocks, c0, c1 = b.constant(self.blocks), b.constant(0), b.constant(1)
        if own:
            clauses += f" own({b.mul(self.me, blocks)}, {blocks})"
        if way == "put":
            away = self._buffer("scratch", "away", element, ["W", "S", "N"], symmetric=True)
            left = self._signal([self.world, self.blocks], "gpu", self.column_tiles)
            got = self._signal([self.blocks], "sys", self.world)
        else:
            got = self._signal([self.blocks, self.column_tiles], "sys", self.world)
        if way == "added":
            with b.block("mk.prepare", b.in_turn), b.foreach([blocks, b.constant(self.column_tiles)]) as (i, j):
                b.store(b.filled(0, "f32", (g.tm, g.tn)), slots, [c0, b.mul(i, b.constant(g.tm)), b.mul(j, b.constant(g.tn))])
        with b.role("make", "rest"), b.foreach([b.constant(self.world * self.blocks), b.constant(self.column_tiles)], clauses) as (i, j):
            s, t = b.div(i, blocks), b.rem(i, blocks)
            inside = b.mul(t, b.constant(g.tm))
            row, column = b.add(b.mul(s, self.shard_name), inside), b.mul(j, b.constant(g.tn))
            item = Item(row, column, "M", source, self._left(inside, g.tm) if source else None)
            if wait:
                self._wait_for(wait, s, t)
            tile = need(elements.narrow(b, body.write(item), element))
            limits = [self._left(inside, g.tm), b.constant(g.tn)]
            if way == "put":
                b.store(tile, away, [s, inside, column], limits)
                b.signal(left, [s, t])
            else:
                b.store(tile, slots, [c0 if way == "added" else self.me, inside, column], limits, peer=s,
                        signal=(got, [t, j]), add=way == "added")
                if way == "added":
                    slots.known = slots.known.times(numeric.Range(self.world, 1))
        if way == "put":
            with b.role("send", rng.choice(["1", "beside @make"])), b.foreach([b.constant(self.world), blocks]) as (s, t):
                inside = b.mul(t, b.constant(g.tm))
                b.wait(left, [s, t], b.constant(self.column_tiles))
                b.put(away, [s, inside, c0], [c1, self._left(inside, g.tm), "%N"], slots, [self.me, inside, c0], s, (got, [t]))
        return slots, got, way != "put", way == "added"

    def _sum(self, slots, got, by_tile, added):
        """A role that adds up what has come from all ranks."""
        b, g, rng = self.b, self.g, self.rng
        out = self._output()
        body = Body(b, rng, self.inputs, g)
        g.needs_combine = g.parts = False
        with b.role("sum", self._some()), b.foreach([b.constant(self.blocks), b.constant(self.column_tiles)],
                                            rng.choice(["", " schedule(ticket)"])) as (t, j):
            row, column = b.mul(t, b.constant(g.tm)), b.mul(j, b.constant(g.tn))
            b.wait(got, [t, j] if by_tile else [t], b.constant(self.world))
            left = self._left(row, g.tm)
            limits = [left, b.constant(g.tn)]
            if added:
                total = b.load(slots, [b.constant(0), row, column], (g.tm, g.tn), limits)
            else:
                def step(r, carried):
                    x = b.load(slots, [r, row, column], (g.tm, g.tn), limits)
                    return [need(elements.add(b, carried[0], elements.widen(b, x)))]
                total, = b.fold(b.constant(self.world), self.world, [b.filled(0, "f32", (g.tm, g.tn))], None, step)
            item = Item(row, column, "S", None, left)
            self._store(body.epilogue(total, item), out, item)

    def _scatter(self):
        self._sum(*self._scattered())

    def _both(self):
        _, full, wait = self._gathered("make")
        self._sum(*self._scattered(full, wait))
