"""A random kernel: its sizes, its file, and what it computes."""
import math
import random

import numpy

import numeric
from bodies import Inputs
from builder import Argument, Builder, Frame, Inexact
from fusions import Fusions

# Kinds of kernels, how often each is drawn, and how many CTAs they take at least.
SHAPES = {"alone": (5, 1), "inner": (1, 1), "branches": (1, 1), "listed": (1, 1), "batched": (2, 1), "grouped": (2, 1),
          "loops": (2, 1), "chain": (2, 2), "queue": (1, 2),
          "gather": (4, 2), "columns": (2, 2), "scatter": (3, 3), "both": (2, 6)}
ONE_RANK = ("alone", "inner", "branches", "listed", "batched", "grouped", "loops", "chain", "queue")


class Geometry:
    """Extents of tiles (tm, tn, tk, depth), steps of K, and names of numbers in the kernel."""


def split_axis(argument):
    """The dimension that is split over the ranks, or None."""
    parts = (argument.split or "").replace("(node, gpu)", "*").replace("()", "-").split(", ")
    return parts.index("*") if "*" in parts else None


class RandomKernel(Fusions):
    """Draws a kernel from a seed. `text` is the file; `nodes`, `gpus`, `grid` and `sizes` are how it is to be run;
    `draw_inputs` gives values for `inputs.arguments`, `run` what then is in `outputs`. With `large` all SMs of a GPU have
    something to do: a kernel that is timed, whose results need not be exact."""

    def __init__(self, seed, shape=None, large=False):
        self.seed, self.large = seed, large
        numeric.Range.checked = not large
        for attempt in range(500):
            self.rng = random.Random(seed * 1000 + attempt)
            try:
                self._draw(shape)
                return
            except Inexact:
                continue
        raise RuntimeError(f"seed {seed}: nothing that is exact in 500 tries")

    # --- sizes ---------------------------------------------------------------

    def _draw(self, shape):
        rng = self.rng
        self.shape = shape or rng.choice([s for s, (often, _) in SHAPES.items() for _ in range(often)])
        self.nodes, self.gpus = (1, rng.choice([1, 1, 1, 2])) if self.shape in ONE_RANK else rng.choice(
            [(1, 2), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)])
        self.world = self.nodes * self.gpus
        self.grid = max(SHAPES[self.shape][1], rng.choice([2, 3, 4, 4, 6] if self.world < 3 else [2, 3, 4]))
        g = self.g = Geometry()
        g.tm = rng.choice([64, 64, 128, 128, 192, 256])
        g.tn = rng.choice([8, 16, 32, 64, 64, 96, 128, 128, 160])
        if g.tm * g.tn > 128 * 160:
            g.tm = 64
        g.tk = rng.choice([32, 64, 64, 64, 128])
        g.depth = rng.choice([64, 128])  # of attention's heads
        g.columns = "N"
        g.parts = g.needs_combine = False
        ragged = rng.random() < 0.5
        self.shard = g.tm * rng.choice([1, 2, 2, 3]) - (rng.randrange(1, g.tm) if ragged else 0)
        if self.large:
            self._draw_large()
            return
        n = g.tn * rng.choice([1, 2, 2, 3]) - (rng.randrange(1, g.tn) if rng.random() < 0.3 else 0)
        k = g.tk * rng.choice([1, 2, 3, 5]) - (rng.randrange(1, g.tk) if rng.random() < 0.3 else 0)
        if rng.random() < 0.7 or self.world > 2:  # what tensor maps can describe
            n, k = -(-n // 16) * 16, -(-k // 16) * 16
        self._begin(n, k, rng.randrange(1, 2 * g.tm), rng.choice([1, 2, 3, 5]))

    def _draw_large(self):
        rng, g = self.rng, self.g
        self.nodes, self.gpus, self.grid = 1, 1 if self.shape in ONE_RANK else 2, 132
        self.world = self.gpus
        g.tm, g.tn = rng.choice([64, 128, 128, 192, 256]), rng.choice([32, 64, 96, 128, 128, 160, 192, 256])
        if g.tm * g.tn > 128 * 256:
            g.tm = 64
        extent = lambda tile: tile * rng.randrange(4096 // tile, 8192 // tile)
        self.shard = extent(g.tm)
        self._begin(extent(g.tn), extent(g.tk), extent(g.tm), rng.choice([1, 2]))

    def _begin(self, n, k, rows, batch):
        """With N and K, rows where they are not those of a shard, and a batch."""
        rng, g = self.rng, self.g
        g.steps = -(-k // g.tk)
        self.blocks, self.column_tiles = -(-self.shard // g.tm), -(-n // g.tn)
        self.sizes = {"M": self.shard * self.world, "N": n, "K": k, "D": g.depth, "S": self.shard, "W": self.world, "W1": 1,
                      "KW": k * self.world, "T": self.column_tiles, "R": rows, "B": batch}
        self.inputs = Inputs(rng, self.world, self.sizes)
        self.scratch, self.outputs, self.signals = [], [], []
        self.late = rng.random() < 0.25 and not self.large  # sizes are known when it is launched
        self._write()

    # --- the file --------------------------------------------------------------

    def _write(self):
        b, g = Builder(), self.g
        self.b = b
        g.tk_name = b.constant(g.tk)
        self.me = b.rank()
        self.shard_name = b.constant(self.shard)
        g.k_tiles = b.ceildiv("%K", g.tk_name)
        b.numbers = {g.k_tiles: g.steps}
        declared = len(b.lines)
        getattr(self, "_" + self.shape)()
        arguments = self.inputs.arguments + self.scratch + self.outputs
        self.dims = [d for d in self.sizes if d in ("K", "N", "R") or any(d in a.extents for a in arguments)]
        lines = [f"// Kernel {self.seed} of scripts/random-kernels: {self.shape}.",
                 "mk.mesh @mesh (node = ? via net, gpu = ? via link)", "",
                 f"mk.kernel @random on @mesh dims({', '.join('uniform ' + d for d in self.dims)}) (",
                 ",\n".join("    " + a.text for a in arguments) + ") {"]
        lines += [f"  {name} = arith.constant {n} : index" for n, name in sorted(b.constants.items())]
        lines += b.lines[:declared] + ["  " + s for s in self.signals] + b.lines[declared:]
        self.text = "\n".join(lines + ["}", ""])

    def _signal(self, extents, scope, arrivals):
        """Declares a signal; its name and its type."""
        name = f"%signal{len(self.signals)}"
        kind = f"!mk.signal<{'x'.join(str(e) for e in extents)}, {scope}, arrivals = {arrivals}>"
        self.signals.append(f"{name} = mk.signals() : {kind}")
        return name, kind

    def _buffer(self, kind, stem, element, extents, symmetric=False, split=None):
        """Scratch or an output."""
        number = len(self.scratch) + len(self.outputs)
        buffer = Argument(f"{stem}{number}", kind, element, extents, symmetric, split)
        (self.scratch if kind == "scratch" else self.outputs).append(buffer)
        return buffer

    def get_bound(self):
        """Milliseconds that it takes at least on an H200: products at 750 TFLOP/s (bf16), memory at 4 TB/s, tiles at
        5.5 TB/s out of the L2 cache."""
        rates = {"f8E4M3FN": 1500e12, "f32": 375e12}
        products = sum(flops / rates.get(element, 750e12) for element, flops in self.b.work.products.items())
        arguments = sum(math.prod(self.extents(a, False)) * numeric.size(a.element)
                        for a in self.inputs.arguments + self.scratch + self.outputs)
        return 1e3 * max(products, arguments / 4e12, self.b.work.moved / 5.5e12)

    # --- what it computes -------------------------------------------------------------

    def extents(self, argument, whole):
        """Of one rank's part, or of all ranks together."""
        shape = [self.sizes[e] for e in argument.extents]
        axis = split_axis(argument)
        if axis is not None and not whole:
            shape[axis] //= self.world
        return shape

    def draw_inputs(self):
        """Values of all ranks together."""
        numbers = numpy.random.default_rng(self.seed)
        return {a.name: numpy.array(a.values(numbers), float) if a.values else
                numbers.integers(-int(a.known.bound), int(a.known.bound) + 1, self.extents(a, True)).astype(float)
                for a in self.inputs.arguments}

    def run(self, inputs):
        """The outputs, of all ranks together."""
        memories = []
        for rank in range(self.world):
            memory = {}
            for a in self.inputs.arguments:
                axis = split_axis(a)
                memory[a.name] = inputs[a.name] if axis is None else numpy.split(inputs[a.name], self.world, axis)[rank]
            memory.update({a.name: numpy.full(self.extents(a, False), numpy.nan) for a in self.scratch + self.outputs})
            memories.append(memory)
        frames = [Frame(rank, memories) for rank in range(self.world)]
        for frame in frames:
            frame.value.update({name: n for n, name in self.b.constants.items()})
            frame.value.update({"%" + name: n for name, n in self.sizes.items()})
        for step in self.b.program:  # role after role, each on all ranks, in turns where it waits for others
            for _ in range(getattr(step, "turns", 1)):
                for frame in frames:
                    step(frame)
        results = {}
        for a in self.outputs:
            parts, axis = [memory[a.name] for memory in memories], split_axis(a)
            results[a.name] = parts[0] if axis is None else numpy.concatenate(parts, axis)
            if numpy.isnan(results[a.name]).any():
                raise AssertionError(f"kernel {self.seed} leaves elements of {a.name} out")
        return results
