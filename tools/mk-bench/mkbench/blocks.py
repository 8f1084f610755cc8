"""Products of fp8 with a scale for each block: of A one for each row and 128 of K, of B one
for 128 columns of the product and 128 of K."""
from .errors import BenchError
from .gemm import Gemm
from .grouped import Grouped
from .measure import Contestant, in_turn

BLOCK = 128


def blocks(extent):
    return -(-extent // BLOCK)


def recipes(torch, name):
    """torch's function for products of scaled operands, and what it calls the two ways to
    scale them."""
    functional = torch.nn.functional
    function = getattr(functional, name, None)
    kinds = getattr(functional, "ScalingType", None)
    if not function or not hasattr(kinds, "BlockWise128x128"):
        raise BenchError(f"torch {torch.__version__} has no {name} with scales of blocks",
                         remedy="torch 2.10 or newer")
    return function, kinds.BlockWise1x128, kinds.BlockWise128x128


def padded(torch, scales):
    """Scales of blocks of B as torch takes them: K / 128 x N / 128, K first in memory, and K / 128
    in whole fours."""
    rows, columns = scales.shape
    room = torch.zeros((rows, -(-columns // 4) * 4), dtype=scales.dtype, device=scales.device)
    room[:, :columns] = scales
    return room.t()


def whole_fours(torch, a, sa):
    """Rows and their scales as torch takes them, M first in memory, beside rows of zeros up to a
    multiple of 4, which cuBLAS asks for."""
    m, k = a.shape
    rows = -(-m // 4) * 4
    if rows == m:
        return a, sa.t()
    more = torch.zeros((rows, k), dtype=torch.float32, device=a.device)
    more[:m] = a.float()
    scales = torch.zeros((sa.shape[0], rows), dtype=sa.dtype, device=sa.device)
    scales[:, :m] = sa
    return more.to(a.dtype), scales.t()


class GemmBlocks(Gemm):
    """C = (A * SA) * (B * SB), B stored N x K. SA is stored K / 128 x M: M first in memory, as
    cuBLAS and DeepGEMM take it, too."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims, seed)
        if self.a_stored_t or not self.b_stored_t:
            raise BenchError(f"layout '{variant.get('layout')}'",
                             "scales of blocks are for operands whose rows lie along K",
                             "layout nt")
        self.sa = device.normal((blocks(self.k), self.m), "f32", seed + 2)
        self.sb = device.normal((blocks(self.n), blocks(self.k)), "f32", seed + 3)

    @property
    def bytes(self):
        scales = blocks(self.k) * (self.m + blocks(self.n))
        return super().bytes + 4 * scales

    def arguments(self):
        return {"a": self.a, "b": self.b, "c": self.c, "sa": self.sa, "sb": self.sb}

    def compute_reference(self):
        if self.reference is None:
            device = self.device
            a = device.scaled(self.a, device.view_t(self.sa), 1, BLOCK)
            b = device.scaled(self.b, self.sb, BLOCK, BLOCK)
            self.reference = {"c": device.matmul_reference(a, device.view_t(b))}
        return self.reference

    def rival_outputs(self, contestant):
        if contestant.name != "torch":
            return self.outputs()
        return {"c": contestant.result} if hasattr(contestant, "result") else {}

    def rival(self, name):
        if name != "torch":
            raise BenchError(f"rival '{name}'", "takes no scales of blocks")
        torch = self.device.torch
        function, rows, squares = recipes(torch, "scaled_mm")
        a, sa = whole_fours(torch, self.a, self.sa)
        m, type, sb = self.m, self.c.dtype, padded(torch, self.sb)
        whole = a.shape[0] == m
        contestant = Contestant(name, None, {"function": "scaled_mm"}, len(self.weights))

        def make(b):
            def call():
                result = function(a, b, sa, rows, sb, squares, output_dtype=type)
                contestant.result = result if whole else result[:m]
            return call
        contestant.call = in_turn([make(b.t()) for b in self.weights])
        return contestant


class GroupedBlocks(Grouped):
    """The same for rows of groups, each with a matrix and its scales."""

    rate = "f8"

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims, seed)
        self.sa = device.normal((blocks(self.k), self.t), "f32", seed + 2)
        self.sb = device.normal((self.g, blocks(self.n), blocks(self.k)), "f32", seed + 3)

    def arguments(self):
        return {**super().arguments(), "sa": self.sa, "sb": self.sb}

    def compute_reference(self):
        if self.reference is None:
            device, parts, row = self.device, [], 0
            a = device.scaled(self.a, device.view_t(self.sa), 1, BLOCK)
            for group, size in enumerate(self.sizes):
                if size:
                    b = device.scaled(device.row(self.b, group), device.row(self.sb, group),
                                      BLOCK, BLOCK)
                    parts.append(device.matmul_reference(
                        device.part(a, 0, row, row + size), device.view_t(b)))
                row += size
            self.reference = {"c": device.joined(parts)}
        return self.reference

    def rival_outputs(self, contestant):
        if contestant.name == "torch-loop":
            parts = getattr(contestant, "parts", None)
            return {"c": self.device.joined(parts)} if parts else {}
        return super().rival_outputs(contestant)

    def rival(self, name):
        torch = self.device.torch
        if name == "torch":
            function, rows, squares = recipes(torch, "scaled_grouped_mm")
            a, b, sa, sb = self.a, self.b.transpose(-2, -1), self.sa.t(), self.sb.transpose(-2, -1)
            ends, type = self.ends, self.c.dtype

            def call():
                contestant.result = function(a, b, sa, rows, sb, squares, offs=ends,
                                             output_dtype=type)
            contestant = Contestant(name, call, {"function": "scaled_grouped_mm"})
            return contestant
        if name != "torch-loop":
            raise BenchError(f"rival '{name}'", "takes no scales of blocks")
        function, rows, squares = recipes(torch, "scaled_mm")
        work, type = self.pieces(), self.c.dtype

        def loop():
            looping.parts = [function(a, b, sa, rows, sb, squares, output_dtype=type)[:size]
                             for a, b, sa, sb, size in work]
        looping = Contestant(name, loop, {"function": "scaled_mm", "calls": len(work)})
        return looping

    def pieces(self):
        """For each group with rows what a product of its own takes."""
        torch, row, result = self.device.torch, 0, []
        for group, size in enumerate(self.sizes):
            if size:
                a, sa = whole_fours(torch, self.a[row:row + size],
                                    self.sa[:, row:row + size].contiguous())
                result.append((a, self.b[group].t(), sa, padded(torch, self.sb[group]), size))
            row += size
        return result
