"""Attention, forward: data, reference, rivals through torch."""
from .errors import BenchError
from .measure import Contestant
from .problem import Problem

# SDPA backends of torch, by the names of rivals.
RIVALS = {"cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION"}


class Attention(Problem):
    """O = softmax(Q K^T / sqrt(D)) V for each of B * H heads; with `G` query
    heads for each head of K and V. Tensors are B x H x S x D."""

    rate = "bf16"

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims)
        self.b, self.h, self.s, self.d = (int(dims[k]) for k in "BHSD")
        self.group = int(dims.get("G", 1))
        if self.h % self.group:
            raise BenchError(f"{self.h} heads of queries", f"do not share heads of keys in groups "
                             f"of {self.group}", "H must be a multiple of G")
        self.causal = variant["causal"]
        type = variant.get("type", "bf16")
        shape = (self.b, self.h, self.s, self.d)
        kv = (self.b, self.h // self.group, self.s, self.d)
        self.q = device.normal(shape, type, seed)
        self.k = device.normal(kv, type, seed + 1)
        self.v = device.normal(kv, type, seed + 2)
        self.o = device.empty(shape, type)
        self.lse = device.empty((self.b, self.h, self.s), "f32")
        self.rounding_in = device.eps(type)
        self.reference = None

    @property
    def flops(self):
        # Of the causal triangle, half: what all publish.
        return (4.0 * self.b * self.h * self.s * self.s * self.d
                * (0.5 if self.causal else 1))

    @property
    def bytes(self):
        return 2 * self.b * self.s * self.d * (
            2 * self.h + 2 * (self.h // self.group))

    def arguments(self):
        return {"q": self.q, "k": self.k, "v": self.v, "o": self.o,
                "lse": self.lse}

    def outputs(self):
        return {"o": self.o, "lse": self.lse}

    def terms(self, name):
        return self.s

    def compute_reference(self):
        """Head by head in double precision."""
        if self.reference is not None:
            return self.reference
        device, heads = self.device, self.b * self.h
        flat = lambda t, count: device.shaped(t, (count, self.s, self.d))
        of = [head // self.group for head in range(heads)]
        expand = lambda t: device.take(flat(t, heads // self.group), of)
        out, lse = device.attention_reference(
            flat(self.q, heads), expand(self.k), expand(self.v),
            range(self.s) if self.causal else None)
        self.reference = {"o": device.shaped(out, self.o.shape),
                          "lse": device.shaped(lse, self.lse.shape)}
        return self.reference

    def rival_outputs(self, contestant):
        if contestant.name not in RIVALS:
            return self.outputs()
        return {"o": contestant.result} if hasattr(contestant, "result") else {}

    def rival(self, name):
        if name not in RIVALS:
            return super().rival(name)
        contestant = Contestant(name, None)
        contestant.call = self.torch_call(contestant, name, RIVALS[name])
        return contestant

    def torch_call(self, contestant, name, backend):
        torch = self.device.torch
        q, k, v, causal = self.q, self.k, self.v, self.causal
        direct = getattr(torch.ops.aten, "_scaled_dot_product_cudnn_attention",
                         None)
        if name == "cudnn" and direct:
            # What torch's function ends in, also for shared heads, which it hands on as they
            # are; choosing the backend on every call would count against it.
            def call():
                contestant.result = direct(q, k, v, None, False, 0.0, causal)[0]
            contestant.config = {"function": "aten::" + direct.__name__}
            return call
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention as sdpa

        def call():
            with sdpa_kernel(getattr(SDPBackend, backend)):
                contestant.result = sdpa(q, k, v, is_causal=causal,
                                         enable_gqa=self.group > 1)
        return call
