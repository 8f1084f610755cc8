"""Matrix products: data, reference, rivals."""
from . import cublaslt
from .measure import Contestant, in_turn
from .problem import Problem


# Weights come from memory, as in a model of many layers: calls take copies of them in turn that
# together are larger than the L2 cache, but no more than so many.
ROTATE_BYTES, MOST_COPIES = 120 << 20, 64


class Gemm(Problem):
    """C = A * B. layout: two letters as in the names of cuBLAS, the first is t
    where A is stored K x M, the second where B is stored N x K."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims)
        self.m, self.n, self.k = (int(dims[d]) for d in ("M", "N", "K"))
        self.types = variant.get("types", ["bf16", "bf16", "bf16"])
        self.a_stored_t, self.b_stored_t = (c == "t" for c in
                                            variant.get("layout", "nt"))
        a_type, b_type, c_type = self.types
        # The same numbers in every layout.
        self.a = device.normal((self.m, self.k), a_type, seed)
        self.b = device.normal((self.n, self.k), b_type, seed + 1)
        if self.a_stored_t:
            self.a = device.transpose(self.a)
        if not self.b_stored_t:
            self.b = device.transpose(self.b)
        size = self.n * self.k * self.element(b_type)
        copies = 1 if device.target == "host" else min(MOST_COPIES, -(-ROTATE_BYTES // size))
        self.weights = [self.b] + [device.copied(self.b) for _ in range(1, copies)]
        self.c = device.empty((self.m, self.n), c_type)
        self.scale = device.ones(1)
        # Nothing between is rounded as coarsely as fp8.
        self.rounding_in = min(2.0 ** -7, max(device.eps(a_type),
                                              device.eps(b_type)))
        self.reference = None

    flops = property(lambda self: 2.0 * self.m * self.n * self.k)
    rate = property(lambda self: "f8" if self.types[0].startswith("f8")
                    else "bf16")

    @staticmethod
    def element(type):
        """Bytes of one."""
        return {"f32": 4, "bf16": 2, "f16": 2}.get(type, 1)

    @property
    def bytes(self):
        a, b, c = map(self.element, self.types)
        return (self.m * self.k * a + self.n * self.k * b
                + self.m * self.n * c)

    def arguments(self):
        return {"a": self.a, "b": self.b, "c": self.c, "scale": self.scale}

    def argument_sets(self):
        return [{**self.arguments(), "b": b} for b in self.weights]

    def outputs(self):
        return {"c": self.c}

    def compute_reference(self):
        if self.reference is None:
            self.reference = {"c": self.device.matmul_reference(*self.plain())}
        return self.reference

    def terms(self, name):
        return self.k

    def plain(self, b=None):
        """A as M x K and B, or a copy of it, as K x N, as views."""
        device, b = self.device, self.b if b is None else b
        a = device.view_t(self.a) if self.a_stored_t else self.a
        return a, device.view_t(b) if self.b_stored_t else b

    def rival(self, name):
        if name.startswith("cublaslt"):
            call, config = self.device.shared(cublaslt.CublasLt).matmul(
                self.a, self.weights, self.c, (self.m, self.n, self.k), self.types,
                a_rows=not self.a_stored_t, b_rows=not self.b_stored_t,
                fast_accum=name.endswith("-fast"))
            return Contestant(name, call, config, len(self.weights))
        if name.startswith("torch"):
            fast = name.endswith("-fast")
            return Contestant(name, in_turn([self.torch_call(b, fast) for b in self.weights]),
                              turns=len(self.weights))
        return super().rival(name)

    def torch_call(self, b, fast):
        torch = self.device.torch
        a, b = self.plain(b)
        c = self.c
        if not self.types[0].startswith("f8"):
            return lambda: torch.matmul(a, b, out=c)
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out=c,
                                        out_dtype=c.dtype, use_fast_accum=fast)
