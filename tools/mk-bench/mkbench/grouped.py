"""Grouped matrix products: rows belong to groups of uneven sizes, each of which
has a matrix of its own."""
import random

from .errors import BenchError
from .measure import Contestant
from .problem import Problem

RIVALS = ("torch",)


def uneven(total, groups, seed):
    """`groups` sizes of sum `total`, some small, some large, some zero."""
    rng = random.Random(seed)
    return shared(total, [rng.expovariate(1.0) for _ in range(groups)])


def skewed(total, groups, seed):
    """A few groups have most rows: their sizes fall as one over their rank (Zipf's law), in a
    random order; the last one has none."""
    weights = [1.0 / (rank + 1) for rank in range(groups)]
    random.Random(seed).shuffle(weights)
    return shared(total, weights)


def shared(total, weights):
    """Sizes like the weights; the least has no rows, the largest what is left over."""
    sizes = [int(total * w / sum(weights)) for w in weights]
    sizes[sizes.index(min(sizes))] = 0
    sizes[sizes.index(max(sizes))] += total - sum(sizes)
    return sizes


def even(total, groups, seed):
    """All alike, but for one row."""
    return [total // groups + (group < total % groups) for group in range(groups)]


SIZES = {"uneven": uneven, "even": even, "skewed": skewed}


def group_sizes(kind, total, groups, seed):
    """`kind` is a variant's "groups"."""
    if kind not in SIZES:
        raise BenchError(f"groups of {kind} sizes", "are not known", "one of " + ", ".join(SIZES))
    return SIZES[kind](total, groups, seed)


class Grouped(Problem):
    """C[rows of g] = A[rows of g] * B[g]: T rows, G groups; B[g] is stored N x K
    (layout nt) or K x N (nn)."""

    rate = "bf16"

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims)
        self.t, self.n, self.k, self.g = (int(dims[d]) for d in "TNKG")
        a_type, b_type, c_type = self.types = variant.get("types", ["bf16"] * 3)
        self.b_stored_t = variant.get("layout", "nt") == "nt"
        self.sizes = group_sizes(variant.get("groups", "uneven"), self.t, self.g, seed)
        ends, sum_ = [], 0
        for size in self.sizes:
            sum_ += size
            ends.append(sum_)
        self.ends = device.integers(ends, "i32")
        self.a = device.normal((self.t, self.k), a_type, seed)
        # Numbers that small would be rounded to few bits in fp8.
        self.b = device.normal((self.g, self.n, self.k), b_type, seed + 1,
                               scale=1.0 if b_type.startswith("f8") else self.k ** -0.5)
        if not self.b_stored_t:
            self.b = device.transpose(self.b)
        self.c = device.empty((self.t, self.n), c_type)
        # Nothing between is rounded as coarsely as fp8.
        self.rounding_in = min(2.0 ** -7, max(device.eps(a_type), device.eps(b_type)))
        self.reference = None

    flops = property(lambda self: 2.0 * self.t * self.n * self.k)

    @property
    def bytes(self):
        used = sum(size > 0 for size in self.sizes)
        a, b, c = (1 if t.startswith("f8") else 2 for t in self.types)
        return (self.t * self.k * a + used * self.n * self.k * b
                + self.t * self.n * c)

    def arguments(self):
        return {"a": self.a, "b": self.b, "c": self.c, "ends": self.ends}

    def outputs(self):
        return {"c": self.c}

    def terms(self, name):
        return self.k

    def compute_reference(self):
        if self.reference is None:
            device, parts, row = self.device, [], 0
            for group, size in enumerate(self.sizes):
                if size:
                    b = device.row(self.b, group)
                    parts.append(device.matmul_reference(
                        device.part(self.a, 0, row, row + size),
                        device.view_t(b) if self.b_stored_t else b))
                row += size
            self.reference = {"c": device.joined(parts)}
        return self.reference

    def rival_outputs(self, contestant):
        if contestant.name not in RIVALS:
            return self.outputs()
        return {"c": contestant.result} if hasattr(contestant, "result") else {}

    def rival(self, name):
        if name not in RIVALS:
            return super().rival(name)
        torch = self.device.torch
        function = getattr(torch.nn.functional, "grouped_mm",
                           getattr(torch, "_grouped_mm", None))
        b = self.b.transpose(-2, -1) if self.b_stored_t else self.b
        a, ends = self.a, self.ends

        def call():
            contestant.result = function(a, b, offs=ends)
        contestant = Contestant(name, call,
                                {"function": getattr(function, "__name__", "")})
        return contestant
