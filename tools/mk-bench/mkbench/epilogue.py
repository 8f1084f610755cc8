"""Products with something behind them: bias and GELU, SwiGLU, a residual. What they are held against
is the same product without it, by our own kernel (`alone` of the variant)."""
from .gemm import Gemm


class Epilogue(Gemm):
    """The variant's `epilogue`: bias_gelu, swiglu (two products of the same rows) or residual."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims, seed)
        self.kind = variant["epilogue"]
        self.weights = [self.b]  # not rotated, neither here nor alone
        if self.kind == "bias_gelu":
            self.bias = device.normal((self.n,), "bf16", seed + 2, scale=self.k ** 0.5)
        elif self.kind == "swiglu":
            self.w3 = device.normal((self.n, self.k), "bf16", seed + 2)
            self.both = device.joined([self.b, self.w3])
        else:
            # As large as the product, so that a result without it is wrong.
            self.r = device.normal((self.m, self.n), "bf16", seed + 2, scale=self.k ** 0.5)
        columns = (2 if self.kind == "swiglu" else 1) * self.n
        self.part = device.empty((self.m, columns), "bf16")

    flops = property(lambda self: 2.0 * self.m * self.part.shape[1] * self.k)

    @property
    def bytes(self):
        more = {"bias_gelu": self.n, "swiglu": self.n * self.k, "residual": self.m * self.n}
        return super().bytes + 2 * more[self.kind]

    def arguments(self):
        if self.kind == "swiglu":
            return {"a": self.a, "w1": self.b, "w3": self.w3, "c": self.c}
        more = {"bias": self.bias} if self.kind == "bias_gelu" else {"r": self.r}
        return {"a": self.a, "b": self.b, "c": self.c, **more}

    def argument_sets(self):
        return [self.arguments()]

    def alone(self):
        b = self.both if self.kind == "swiglu" else self.b
        return {"a": self.a, "b": b, "c": self.part}, {"part": self.part}

    def compute_reference(self):
        if self.reference is None:
            device = self.device
            product = device.matmul_reference(self.a, device.view_t(self.b))
            if self.kind == "bias_gelu":
                part, c = product, device.gelu(product, self.bias)
            elif self.kind == "swiglu":
                up = device.matmul_reference(self.a, device.view_t(self.w3))
                part, c = device.beside([product, up]), device.gated(product, up)
            else:
                part, c = product, device.added(product, self.r)
            self.reference = {"c": c, "part": part}
        return self.reference
