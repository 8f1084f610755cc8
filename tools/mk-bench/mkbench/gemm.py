"""Matrix products: data, reference, rivals."""
from . import cublaslt
from .measure import Contestant
from .problem import Problem


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
        self.c = device.empty((self.m, self.n), c_type)
        self.scale = device.ones(1)
        # Nothing between is rounded as coarsely as fp8.
        self.rounding_in = min(2.0 ** -7, max(device.eps(a_type),
                                              device.eps(b_type)))
        self.reference = None

    flops = property(lambda self: 2.0 * self.m * self.n * self.k)
    rate = property(lambda self: "f8" if self.types[0].startswith("f8")
                    else "bf16")

    @property
    def bytes(self):
        sizes = {"f32": 4, "bf16": 2, "f16": 2}
        a, b, c = (sizes.get(t, 1) for t in self.types)
        return (self.m * self.k * a + self.n * self.k * b
                + self.m * self.n * c)

    def arguments(self):
        return {"a": self.a, "b": self.b, "c": self.c, "scale": self.scale}

    def outputs(self):
        return {"c": self.c}

    def compute_reference(self):
        if self.reference is None:
            self.reference = {"c": self.device.matmul_reference(*self.plain())}
        return self.reference

    def terms(self, name):
        return self.k

    def plain(self):
        """A as M x K and B as K x N, as views."""
        device = self.device
        a = device.view_t(self.a) if self.a_stored_t else self.a
        b = device.view_t(self.b) if self.b_stored_t else self.b
        return a, b

    def rival(self, name):
        if name.startswith("cublaslt"):
            call, config = self.device.shared(cublaslt.CublasLt).matmul(
                self.a, self.b, self.c, (self.m, self.n, self.k), self.types,
                a_rows=not self.a_stored_t, b_rows=not self.b_stored_t,
                fast_accum=name.endswith("-fast"))
            return Contestant(name, call, config)
        if name.startswith("torch"):
            return Contestant(name, self.torch_call(name.endswith("-fast")))
        return super().rival(name)

    def torch_call(self, fast):
        torch = self.device.torch
        a, b = self.plain()
        c = self.c
        if not self.types[0].startswith("f8"):
            return lambda: torch.matmul(a, b, out=c)
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out=c,
                                        out_dtype=c.dtype, use_fast_accum=fast)
