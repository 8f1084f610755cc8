"""Gradients of a linear layer, of the weights and of the bias, beside torch's matmul and sum, and the first alone, by our own
kernel (`alone` of the variant)."""
from .gemm import Gemm


class WeightGradient(Gemm):
    """Layout tn: A is what comes back of the outputs, stored K x M, and its column sums are the bias's gradient."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, {**variant, "layout": "tn"}, dims, seed)
        self.weights = [self.b]  # activations: not rotated, neither here nor alone
        self.sums = device.empty((self.m,), "f32")
        self.part = device.empty((self.m, self.n), "bf16")

    @property
    def bytes(self):
        return super().bytes + 4 * self.m

    def arguments(self):
        return {"g": self.a, "x": self.b, "w": self.c, "b": self.sums}

    def argument_sets(self):
        return [self.arguments()]

    def outputs(self):
        return {"w": self.c, "b": self.sums}

    def alone(self):
        return {"a": self.a, "b": self.b, "c": self.part}, {"part": self.part}

    def compute_reference(self):
        if self.reference is None:
            product = self.device.matmul_reference(*self.plain())
            sums = self.device.row_sums(self.device.view_t(self.a))
            self.reference = {"w": product, "part": product, "b": sums}
        return self.reference

    def torch_call(self, b, fast):
        torch, g, (a, b) = self.device.torch, self.a, self.plain(b)
        w, sums = self.c, self.sums
        return lambda: (torch.matmul(a, b, out=w), torch.sum(g, 0, dtype=torch.float32, out=sums))
