"""A matrix product over several ranks, and what a decoder layer does behind it: AllReduce,
the residual added, RMSNorm. Y = A * B^T + R, OUT = Y / sqrt(mean(Y^2) + eps) * W, bf16."""
from .measure import Contestant
from .ranks_gemm import RanksGemm


class RanksGemmNorm(RanksGemm):
    """`collective` of the variant is ar: ranks share K, all else is whole on each."""

    eps = 1e-5  # as the kernel has it

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims, seed)
        shape = (self.m, self.n)
        # As large as the product, so that a result without it is wrong.
        self.r = device.normal(shape, "bf16", seed + 2, scale=self.k ** 0.5)
        self.w = device.normal((self.n,), "bf16", seed + 3)
        self.y, self.out = device.empty(shape, "bf16"), device.empty(shape, "bf16")

    @property
    def bytes(self):
        """Beside the product's operands: the residual of the own part, both results."""
        m, n, k = self.product()
        return 2 * (m * k + n * k + m * n // self.world + 2 * m * n)

    def arguments(self):
        return {"a": self.a, "b": self.b, "r": self.r, "w": self.w, "y": self.y,
                "out": self.out}

    def outputs(self):
        return {"y": self.y, "out": self.out}

    def compute_reference(self):
        known = super().compute_reference()
        if "y" not in known:
            known["y"], known["out"] = self.device.residual_norm(
                known["c"], self.r, self.w, self.eps)
        return known

    def factors(self, name):
        return self.w if name == "out" else None

    # Rivals -------------------------------------------------------------------

    def finish(self, contestant, total):
        """What is done with the sum, op by op."""
        torch = self.device.torch
        y = torch.add(total, self.r)
        contestant.result = {"y": y, "out": torch.nn.functional.rms_norm(
            y, (self.n,), self.w, self.eps)}

    def unfused(self, name, reduced, product, config):
        """`product` computes the own part, `reduced` sums it up and returns it."""
        def call():
            product()
            self.finish(contestant, reduced())
        contestant = Contestant(name, call, config)
        contestant.outputs = lambda: getattr(contestant, "result", {})
        return contestant

    def nccl(self, name):
        product, config = self.cublas(self.a, self.c)

        def reduced():
            self.peers().dist.all_reduce(self.c)
            return self.c
        return self.unfused(name, reduced, product,
                            {**config, "nccl": self.peers().version()})

    def fused(self, name):
        """torch's all-reduce on symmetric memory; without multicast."""
        ops, c = self.device.torch.ops.symm_mem, self.reachable()
        product, config = self.cublas(self.a, c)

        def reduced():
            ops.two_shot_all_reduce_(c, "sum", self.peers().name)
            return c
        return self.unfused(name, reduced, product,
                            {**config, "function": "two_shot_all_reduce_"})

    def one_shot(self, name):
        """The same, each rank reading all parts: what is best for few rows."""
        ops, c = self.device.torch.ops.symm_mem, self.reachable()
        product, config = self.cublas(self.a, c)
        return self.unfused(
            name, lambda: ops.one_shot_all_reduce(c, "sum", self.peers().name),
            product, {**config, "function": "one_shot_all_reduce"})
