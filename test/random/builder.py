"""Writes the ops of a kernel, and computes what they do.

Each method writes one op and adds a function to the program, which does the
same with NumPy. `Frame` is what these functions work on: one rank's values
and the memory of all ranks.
"""
import contextlib
import math

import numpy

import numeric


class Inexact(Exception):
    """What would be computed does not fit its type; to be drawn again."""


class Tile:
    """An SSA value that is a tile."""

    def __init__(self, name, element, shape, known):
        self.name, self.element, self.shape, self.known = name, element, tuple(shape), known

    @property
    def type(self):
        extents = "".join(f"{n}x" for n in self.shape)
        return f"tensor<{extents}{self.element}>"


class Argument:
    """An argument of the kernel. `extents`: names of dimensions, of all ranks together where it is split."""

    def __init__(self, name, kind, element, extents, symmetric=False, split=None, known=None):
        self.name, self.kind, self.element = name, kind, element
        self.extents, self.symmetric, self.split = extents, symmetric, split
        self.known, self.values, self.batched = known, None, False

    @property
    def type(self):
        extents = "".join("?x" for _ in self.extents)
        space = ", #mk.symmetric" if self.symmetric else ""
        return f"memref<{extents}{self.element}{space}>"

    @property
    def text(self):
        split = f" split [{self.split}]" if self.split else ""
        return f"{self.kind} %{self.name} : {self.type} [{', '.join(self.extents)}]{split}"


class Frame:
    def __init__(self, rank, memories):
        self.rank, self.memories, self.value = rank, memories, {}

    def __getitem__(self, name):
        return self.value[name]

    @property
    def memory(self):
        return self.memories[self.rank]


def window(shape, offsets, extents, valid):
    """Where a tile lies in a buffer: indices in front, slices of the buffer and of the tile."""
    front = len(shape) - len(extents)
    there, here = list(offsets[:front]), []
    for size, at, extent, limit in zip(shape[front:], offsets[front:], extents, valid):
        begin, end = max(at, 0), min(at + min(extent, max(limit, 0)), size)
        end = max(begin, end)
        there.append(slice(begin, end))
        here.append(slice(begin - at, end - at))
    return tuple(there), tuple(here)


class Work:
    """What a rank does: multiplications and additions of products by type, bytes of tiles that are loaded or stored."""

    def __init__(self):
        self.products, self.moved = {}, 0.0


class Builder:
    def __init__(self):
        self.lines, self.indent, self.program, self.count = [], 1, [], 0
        self.constants = {}
        self.batch = None  # the index in front of those of batched arguments
        self.numbers = {}  # what names of dimensions and of computed bounds stand for, as far as loops need it
        self.weight, self.work = 1.0, Work()

    # --- text and control -------------------------------------------------

    def write(self, line):
        self.lines.append("  " * self.indent + line)

    def fresh(self, stem="v"):
        """A name that no argument has: these are a stem and a number."""
        self.count += 1
        return f"%{stem}_{self.count}"

    @contextlib.contextmanager
    def block(self, head, around):
        """Writes `head {` ... `}`; `around(body)` makes one function of the body's."""
        self.write(head + " {")
        self.indent += 1
        outer, self.program = self.program, []
        yield
        body, self.program = self.program, outer
        self.indent -= 1
        self.write("}")
        self.program.append(around(body))

    @staticmethod
    def in_turn(body):
        def run(frame):
            for step in body:
                step(frame)
        return run

    @contextlib.contextmanager
    def role(self, name, ctas, turns=1):
        """`turns`: how often it has to be computed until all that ranks pass on has come."""
        with self.block(f"mk.role @{name} ctas({ctas})", self.in_turn):
            yield
        self.program[-1].turns = turns

    @contextlib.contextmanager
    def often(self, times):
        """What is written inside happens so many times."""
        outer, self.weight = self.weight, self.weight * times
        yield
        self.weight = outer

    def number(self, name):
        """The value of a bound."""
        return int(name[2:]) if name.startswith("%c") else self.numbers.get(name, 1)

    def moves(self, tile):
        self.work.moved += self.weight * math.prod(tile.shape) * numeric.size(tile.element)

    @contextlib.contextmanager
    def foreach(self, bounds, clauses=""):
        names = [self.fresh("i") for _ in bounds]

        def around(body):
            def run(frame):
                for index in numpy.ndindex(*(max(0, frame[b]) for b in bounds)):
                    frame.value.update(zip(names, map(int, index)))
                    for step in body:
                        step(frame)
            return run
        head = f"mk.foreach ({', '.join(names)}) in ({', '.join(bounds)}){clauses}"
        with self.block(head, around), self.often(math.prod(map(self.number, bounds))):
            yield names

    @contextlib.contextmanager
    def records(self, queue, kind, numbers, count, bounds):
        """Visits the records of a queue, which are the numbers below `numbers`."""
        record, names = self.fresh("i"), [self.fresh("i") for _ in bounds]

        def around(body):
            def run(frame):
                for index in numpy.ndindex(numbers, *(frame[b] for b in bounds)):
                    frame.value.update(zip([record, *names], map(int, index)))
                    for step in body:
                        step(frame)
            return run
        head = (f"mk.foreach_item ({record}) of {queue} count({count}), ({', '.join(names)}) in ({', '.join(bounds)})"
                f" : {kind}")
        with self.block(head, around), self.often(numbers * math.prod(map(self.number, bounds))):
            yield [record, *names]

    def count_and_push(self, counter, counter_type, index, last, queue):
        """The last of `last` CTAs that come here with `index` appends it to a queue."""
        before, is_last = self.fresh("n"), self.fresh("n")
        self.write(f"{before} = mk.count {counter}[{index}] add {self.constant(1)} : {counter_type}")
        self.write(f"{is_last} = arith.cmpi eq, {before}, {self.constant(last - 1)} : index")
        self.write(f"scf.if {is_last} {{")
        self.write(f"  mk.push {queue[0]}, ({index}) : {queue[1]}")
        self.write("}")

    @contextlib.contextmanager
    def peers(self, axes, size):
        """All ranks, the own one included."""
        name = self.fresh("p")

        def around(body):
            def run(frame):
                for rank in range(size):
                    frame.value[name] = rank
                    for step in body:
                        step(frame)
            return run
        with self.block(f"mk.foreach_peer ({name}) along {axes} including self", around), self.often(size):
            yield name

    @contextlib.contextmanager
    def when(self, condition, share=1):
        """`share`: how often it holds, about."""
        def around(body):
            def run(frame):
                if frame[condition]:
                    for step in body:
                        step(frame)
            return run
        with self.block(f"scf.if {condition}", around), self.often(share):
            yield

    def fold(self, count, steps, inits, combine, body):
        """`body(index, carried)` returns the tiles that are carried on. An iteration changes the
        range of a tile by as much as the first one, and there are `steps` of them."""
        index = self.fresh("k")
        carried = [Tile(self.fresh("carried"), t.element, t.shape, t.known) for t in inits]
        results = [Tile(self.fresh("result"), t.element, t.shape, None) for t in inits]
        named = ", ".join(f"{c.name} = {t.name}" for c, t in zip(carried, inits))
        types = ", ".join(t.type for t in inits)
        clause = f" combine({combine})" if combine else ""
        names = ", ".join(r.name for r in results)
        self.write(f"{names} = mk.fold ({index}) in ({count}) iter({named}){clause} : {types} {{")
        self.indent += 1
        outer, self.program = self.program, []
        with self.often(steps):
            yielded = body(index, carried)
        self.write(f"mk.yield {', '.join(t.name for t in yielded)} : {types}")
        program, self.program = self.program, outer
        self.indent -= 1
        self.write("}")
        for result, init, last in zip(results, inits, yielded):
            growth = max(0.0, last.known.bound - init.known.bound)
            result.known = numeric.Range(init.known.bound + steps * growth,
                                         min(init.known.grain, last.known.grain))
            if not result.known.exact_in(result.element):
                raise Inexact()

        def run(frame):
            now = [frame[t.name] for t in inits]
            for k in range(max(0, frame[count])):
                frame.value[index] = k
                frame.value.update(zip((c.name for c in carried), now))
                for step in program:
                    step(frame)
                now = [frame[t.name] for t in yielded]
            frame.value.update(zip((r.name for r in results), now))
        self.program.append(run)
        return results

    # --- numbers ------------------------------------------------------------

    def compute(self, text, function, *operands):
        """An op on indices: `text` with {0}, {1}, ... for the operands."""
        name = self.fresh("n")
        self.write(f"{name} = {text.format(*operands)}")

        def run(frame):
            frame.value[name] = function(*(frame[o] for o in operands))
        self.program.append(run)
        return name

    def constant(self, number):
        return self.constants.setdefault(number, f"%c{number}")

    def mul(self, a, b):
        return self.compute("arith.muli {0}, {1} : index", lambda x, y: x * y, a, b)

    def add(self, a, b):
        return self.compute("arith.addi {0}, {1} : index", lambda x, y: x + y, a, b)

    def sub(self, a, b):
        return self.compute("arith.subi {0}, {1} : index", lambda x, y: x - y, a, b)

    def ceildiv(self, a, b):
        return self.compute("arith.ceildivui {0}, {1} : index", lambda x, y: -(-x // y), a, b)

    def min(self, a, b):
        return self.compute("arith.minsi {0}, {1} : index", min, a, b)

    def max(self, a, b):
        return self.compute("arith.maxsi {0}, {1} : index", max, a, b)

    def div(self, a, b):
        return self.compute("arith.divui {0}, {1} : index", lambda x, y: x // y, a, b)

    def rem(self, a, b):
        return self.compute("arith.remui {0}, {1} : index", lambda x, y: x % y, a, b)

    def less(self, a, b):
        return self.compute("arith.cmpi slt, {0}, {1} : index", lambda x, y: x < y, a, b)

    def name(self, name, value):
        """Calls a number `name`."""
        self.write(f"{name} = arith.addi {value}, {self.constant(0)} : index")
        self.program.append(lambda frame: frame.value.__setitem__(name, frame[value]))

    def equal(self, a, b):
        return self.compute("arith.cmpi eq, {0}, {1} : index", lambda x, y: x == y, a, b)

    def different(self, a, b):
        return self.compute("arith.cmpi ne, {0}, {1} : index", lambda x, y: x != y, a, b)

    def select(self, condition, a, b):
        return self.compute("arith.select {0}, {1}, {2} : index", lambda c, x, y: x if c else y, condition, a, b)

    def entry(self, argument, at):
        """A number of a list of i32, as an index."""
        name, number = self.fresh("entry"), self.fresh("n")
        self.write(f"{name} = memref.load %{argument.name}[{at}] : {argument.type}")
        self.write(f"{number} = arith.index_cast {name} : i32 to index")
        self.program.append(lambda frame: frame.value.__setitem__(
            number, int(frame.memory[argument.name][frame[at]])))
        return number

    def wait(self, signal, index, count):
        name, kind = signal
        self.write(f"mk.wait {name}[{', '.join(index)}] ge {count} : {kind}")

    def signal(self, signal, index):
        name, kind = signal
        self.write(f"mk.signal {name}[{', '.join(index)}] : {kind}")

    def settle(self):
        self.write("mk.settle")

    def either(self, condition, yes, no):
        """A buffer that is one of two of the same shape."""
        result = Argument(self.fresh("either")[1:], "", yes.element, yes.extents)
        result.known = yes.known.union(no.known)
        self.write(f"%{result.name} = mk.select {condition}, %{yes.name}, %{no.name} : {yes.type}, {no.type} -> {result.type}")
        self.program.append(lambda frame: frame.memory.__setitem__(
            result.name, frame.memory[(yes if frame[condition] else no).name]))
        return result

    def rank(self):
        name = self.fresh("me")
        self.write(f"{name} = mk.rank")
        self.program.append(lambda frame: frame.value.__setitem__(name, frame.rank))
        return name

    # --- tiles --------------------------------------------------------------

    def tile(self, text, element, shape, known, function, *operands):
        result = Tile(self.fresh(), element, shape, known)
        self.write(f"{result.name} = {text}")

        def run(frame):
            frame.value[result.name] = function(*(frame[o.name] for o in operands))
        self.program.append(run)
        return result

    def filled(self, number, element, shape):
        """A tile of one number."""
        known = numeric.Range(abs(number), abs(number) or 2.0**10)
        extents = "x".join(str(n) for n in shape)
        return self.tile(f"arith.constant dense<{number:.6e}> : tensor<{extents}x{element}>",
                         element, shape, known, lambda: numpy.full(shape, float(number)))

    def load(self, argument, offsets, shape, valid=None, rows=None):
        """`rows`: a list and where it begins; row i is that of entry i of it."""
        result = Tile(self.fresh(), argument.element, shape, argument.known)
        ending = ""
        self.moves(result)
        if argument.batched:
            offsets = [self.batch, *offsets]
        if rows:
            ending += f" rows(%{rows[0].name}[{rows[1]}] : {rows[0].type})"
        if valid:
            ending += f" valid({', '.join(valid)})"
        self.write(f"{result.name} = mk.load %{argument.name}[{', '.join(offsets)}]{ending}"
                   f" : {argument.type} -> {result.type}")

        def run(frame):
            buffer = frame.memory[argument.name]
            limits = [frame[v] for v in valid] if valid else list(shape)
            there, here = window(buffer.shape, [frame[o] for o in offsets], shape, limits)
            values = numpy.zeros(shape)
            if rows:
                _, columns = window(buffer.shape, [0, frame[offsets[1]]], shape, [shape[0], limits[1]])[0]
                listed = frame.memory[rows[0].name][frame[rows[1]]:][:min(shape[0], max(limits[0], 0))]
                for i, entry in enumerate(listed):
                    at = frame[offsets[0]] + int(entry)
                    if 0 <= at < buffer.shape[0]:
                        values[i, :columns.stop - columns.start] = buffer[at, columns]
            else:
                values[here] = buffer[there]
            frame.value[result.name] = values
        self.program.append(run)
        return result

    def store(self, tile, argument, offsets, valid=None, peer=None, signal=None, add=False):
        ending = f" valid({', '.join(valid)})" if valid else ""
        types = f"{tile.type}, {argument.type}"
        self.moves(tile)
        if argument.batched:
            offsets = [self.batch, *offsets]
        if peer:
            ending += f" on {peer}"
        if signal:
            (name, kind), index = signal
            ending += f" signal {name}[{', '.join(index)}]"
            types += f", {kind}"
        if add:
            ending += " reduce(add)"
        self.write(f"mk.store {tile.name}, %{argument.name}[{', '.join(offsets)}]{ending} : {types}")
        argument.known = tile.known.union(argument.known or tile.known)

        def run(frame):
            memory = frame.memories[frame[peer]] if peer else frame.memory
            buffer = memory[argument.name]
            limits = [frame[v] for v in valid] if valid else list(tile.shape)
            there, here = window(buffer.shape, [frame[o] for o in offsets], tile.shape, limits)
            values = frame[tile.name][here]
            buffer[there] = buffer[there] + values if add else values
        self.program.append(run)

    def put(self, source, source_at, sizes, dest, dest_at, peer, signal=None, strong=False):
        """`signal`: a signal with its type, and an index."""
        ending = types = ""
        if signal:
            (name, kind), index = signal
            ending, types = f" signal {'strong ' if strong else ''}{name}[{', '.join(index)}]", f", {kind}"
        self.write(f"mk.put %{source.name}[{', '.join(source_at)}][{', '.join(sizes)}] to "
                   f"%{dest.name}[{', '.join(dest_at)}] on {peer}{ending} : {source.type} to {dest.type}{types}")
        dest.known = dest.known.union(source.known) if dest.known else source.known

        def run(frame):
            def box(at):
                return tuple(slice(frame[a], frame[a] + max(0, frame[n])) for a, n in zip(at, sizes))
            if all(frame[n] > 0 for n in sizes):
                frame.memories[frame[peer]][dest.name][box(dest_at)] = \
                    frame.memory[source.name][box(source_at)]
        self.program.append(run)
