"""Writes the ops of a kernel, and computes what they do.

Each method writes one op and adds a function to the program, which does the
same with NumPy. `Frame` is what these functions work on: one rank's values
and the memory of all ranks.
"""
import contextlib

import numpy

import numeric


class Inexact(Exception):
    """What would be computed does not fit its type; to be drawn again."""


class Tile:
    """An SSA value that is a tile, or a scalar of shape ()."""

    def __init__(self, name, element, shape, known):
        self.name, self.element, self.shape, self.known = name, element, tuple(shape), known

    @property
    def type(self):
        extents = "".join(f"{n}x" for n in self.shape)
        return f"tensor<{extents}{self.element}>" if self.shape else self.element


class Argument:
    """An argument of the kernel. `shape`: of one rank's part, with names of dimensions
    for the kernel's text in `extents`."""

    def __init__(self, name, kind, element, extents, symmetric=False, split=None, known=None):
        self.name, self.kind, self.element = name, kind, element
        self.extents, self.symmetric, self.split = extents, symmetric, split
        self.known = known

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


class Builder:
    def __init__(self):
        self.lines, self.indent, self.program, self.count = [], 1, [], 0
        self.constants = {}

    # --- text and control -------------------------------------------------

    def write(self, line):
        self.lines.append("  " * self.indent + line)

    def fresh(self, stem="v"):
        self.count += 1
        return f"%{stem}{self.count}"

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

    @contextlib.contextmanager
    def role(self, name, ctas):
        def around(body):
            def run(frame):
                for step in body:
                    step(frame)
            return run
        with self.block(f"mk.role @{name} ctas({ctas})", around):
            yield

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
        with self.block(head, around):
            yield names

    @contextlib.contextmanager
    def peers(self, axes, size, with_self):
        name = self.fresh("p")

        def around(body):
            def run(frame):
                for rank in range(size):
                    if with_self or rank != frame.rank:
                        frame.value[name] = rank
                        for step in body:
                            step(frame)
            return run
        ending = " including self" if with_self else ""
        with self.block(f"mk.foreach_peer ({name}) along {axes}{ending}", around):
            yield name

    @contextlib.contextmanager
    def when(self, condition):
        def around(body):
            def run(frame):
                if frame[condition]:
                    for step in body:
                        step(frame)
            return run
        with self.block(f"scf.if {condition}", around):
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

    def compute(self, text, function, *operands, stem="n"):
        """An op on indices: `text` with {0}, {1}, ... for the operands."""
        name = self.fresh(stem)
        self.write(f"{name} = {text.format(*operands)}")

        def run(frame):
            frame.value[name] = function(*(frame[o] for o in operands))
        self.program.append(run)
        return name

    def constant(self, number):
        if number not in self.constants:
            name = f"%c{number}" if number >= 0 else f"%m{-number}"
            self.constants[number] = name
        return self.constants[number]

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

    def load(self, argument, offsets, shape, valid=None, pad=None, text=None):
        """`text`: another name of the buffer, as mk.select gives."""
        result = Tile(self.fresh(), argument.element, shape, argument.known)
        ending = ""
        if valid:
            ending += f" valid({', '.join(valid)})"
        if pad is not None:
            name = self.fresh("pad")
            self.write(f"{name} = arith.constant {pad:.6e} : {argument.element}")
            ending += f" pad({name} : {argument.element})"
            result.known = result.known.union(numeric.Range(abs(pad), abs(pad) or 2.0**10))
        self.write(f"{result.name} = mk.load %{argument.name}[{', '.join(offsets)}]{ending}"
                   f" : {argument.type} -> {result.type}")

        def run(frame):
            buffer = frame.memory[argument.name]
            limits = [frame[v] for v in valid] if valid else list(shape)
            there, here = window(buffer.shape, [frame[o] for o in offsets], shape, limits)
            values = numpy.full(shape, 0.0 if pad is None else float(pad))
            values[here] = buffer[there]
            frame.value[result.name] = values
        self.program.append(run)
        return result

    def store(self, tile, argument, offsets, valid=None, peer=None, signal=None, add=False):
        ending = f" valid({', '.join(valid)})" if valid else ""
        types = f"{tile.type}, {argument.type}"
        if peer:
            ending += f" on {peer}"
        if signal:
            name, index, kind = signal
            ending += f" signal {name}[{', '.join(index)}]"
            types += f", {kind}"
        if add:
            ending += " reduce(add)"
        self.write(f"mk.store {tile.name}, %{argument.name}[{', '.join(offsets)}]{ending} : {types}")
        argument.known = argument.known.union(tile.known) if argument.known else tile.known

        def run(frame):
            memory = frame.memories[frame[peer]] if peer else frame.memory
            buffer = memory[argument.name]
            limits = [frame[v] for v in valid] if valid else list(tile.shape)
            there, here = window(buffer.shape, [frame[o] for o in offsets], tile.shape, limits)
            values = frame[tile.name][here]
            buffer[there] = buffer[there] + values if add else values
        self.program.append(run)

    def put(self, source, source_at, sizes, dest, dest_at, peer, signal):
        name, index, kind = signal
        self.write(f"mk.put %{source.name}[{', '.join(source_at)}][{', '.join(sizes)}] to "
                   f"%{dest.name}[{', '.join(dest_at)}] on {peer} signal {name}[{', '.join(index)}]"
                   f" : {source.type} to {dest.type}, {kind}")
        dest.known = dest.known.union(source.known) if dest.known else source.known

        def run(frame):
            def box(at):
                return tuple(slice(frame[a], frame[a] + max(0, frame[n])) for a, n in zip(at, sizes))
            if all(frame[n] > 0 for n in sizes):
                frame.memories[frame[peer]][dest.name][box(dest_at)] = \
                    frame.memory[source.name][box(source_at)]
        self.program.append(run)
