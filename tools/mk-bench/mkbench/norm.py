"""Products of normalized rows, RMSNorm or LayerNorm, beside torch's norm and matmul, and the product without the norm, by our
own kernel (`alone` of the variant)."""
from .gemm import Gemm


class NormGemm(Gemm):
    """The variant's `norm`: rms or layer. Gains are part of B, biases are zero."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims, seed)
        self.layer = variant["norm"] == "layer"
        if self.layer:
            self.s = device.row_sums(self.b)
            self.t = device.normal((self.n,), "f32", seed, scale=0)
        self.part = device.empty((self.m, self.n), "bf16")

    @property
    def bytes(self):
        return super().bytes + (8 * self.n if self.layer else 0)

    def arguments(self):
        return {"a": self.a, "b": self.b, "c": self.c, **({"s": self.s, "t": self.t} if self.layer else {})}

    def alone(self):
        return {"a": self.a, "b": self.b, "c": self.part}, {"part": self.part}

    def compute_reference(self):
        if self.reference is None:
            part = self.device.matmul_reference(*self.plain())
            c = self.device.normalized(self.a, part, self.s if self.layer else None, 1e-5)
            self.reference = {"c": c, "part": part}
        return self.reference

    def torch_call(self, b, fast):
        functional = self.device.torch.nn.functional
        norm = functional.layer_norm if self.layer else functional.rms_norm
        (a, b), c, k, matmul = self.plain(b), self.c, self.k, self.device.torch.matmul
        return lambda: matmul(norm(a, (k,), eps=1e-5), b, out=c)
