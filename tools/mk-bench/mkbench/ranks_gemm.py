"""Matrix products over several ranks: AllGather in front of them, ReduceScatter or
AllReduce behind them. C = A * B^T with A: M x K, B: N x K, bf16.

Every rank makes all of A and B from the seed, so that it can compute what its
result has to be by itself.
"""
from . import cublaslt
from .errors import BenchError
from .measure import Contestant
from .problem import Problem


class RanksProblem(Problem):
    """What such problems have in common. `link_bytes` is what a rank has to get
    from others, or to send them, whichever is more; `net_bytes(nodes)` the part of it
    that crosses the network at least, if these ranks are so many nodes. `alone` is the
    computation of one rank as a kernel of one GPU does it: its arguments, and those of
    its outputs that `compute_reference` knows, by names there."""

    rate = "bf16"
    group = property(lambda self: self.device.group)

    def __init__(self, device, variant, dims):
        super().__init__(device, variant, dims)
        self.rank, self.world = self.group.rank, self.group.world
        self.rounding_in = device.eps("bf16")
        self.reference = None

    def share(self, extent, name):
        """The own part of an extent: begin and end."""
        if extent % self.world:
            raise BenchError(f"{name} = {extent}", f"{self.world} ranks do not "
                             "share it evenly", "choose another shape")
        part = extent // self.world
        return self.rank * part, (self.rank + 1) * part

    def peers(self):
        from .peers_torch import Peers
        return self.device.shared(Peers)

    def rival_outputs(self, contestant):
        """`outputs` may be a function, where a rival's results are made anew."""
        outputs = getattr(contestant, "outputs", None)
        return outputs() if callable(outputs) else outputs or self.outputs()


class RanksGemm(RanksProblem):
    """`collective` of the variant: ag, rs or ar. Ranks share N (ag) or K."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims)
        self.m, self.n, self.k = (int(dims[d]) for d in ("M", "N", "K"))
        self.kind = variant["collective"]
        self.a_all = device.normal((self.m, self.k), "bf16", seed)
        self.b_all = device.normal((self.n, self.k), "bf16", seed + 1)
        self.rows = (0, self.m) if self.kind == "ar" else self.share(self.m, "M")
        if self.kind == "ag":
            self.a = device.part(self.a_all, 0, *self.rows)
            self.b = device.part(self.b_all, 0, *self.share(self.n, "N"))
            shape = (self.m, self.n // self.world)
        else:
            own = self.share(self.k, "K")
            self.a, self.b = (device.part(t, 1, *own)
                              for t in (self.a_all, self.b_all))
            shape = (self.m // (self.world if self.kind == "rs" else 1), self.n)
        self.c = device.empty(shape, "bf16")

    flops = property(lambda self: 2.0 * self.m * self.n * self.k / self.world)

    @property
    def bytes(self):
        m, n, k = self.product()
        return 2 * (m * k + n * k + m * n)

    @property
    def link_bytes(self):
        others = (self.world - 1) / self.world
        if self.kind == "ag":
            return 2 * self.m * self.k * others
        # An all-reduce has to move parts to owners, and sums to everybody.
        return 2 * self.m * self.n * others * (2 if self.kind == "ar" else 1)

    def net_bytes(self, nodes):
        """Each other node's rows, or sums for them, by way of the rank in its place."""
        extent = self.k if self.kind == "ag" else self.n
        return 2 * self.m * extent * (nodes - 1) / self.world * (
            2 if self.kind == "ar" else 1)

    def alone(self):
        a, out = self.own_product()
        return {"a": a, "b": self.b, "c": out}, {"part": out}

    def product(self):
        """M, N and K of the own product."""
        if self.kind == "ag":
            return self.m, self.n // self.world, self.k
        return self.m, self.n, self.k // self.world

    def arguments(self):
        return {"a": self.a, "b": self.b, "c": self.c}

    def outputs(self):
        return {"c": self.c}

    def terms(self, name):
        return self.k

    def compute_reference(self):
        """`c`, and `part` of rivals that leave the communication out."""
        if self.reference is None:
            device = self.device
            product = lambda a, b: device.matmul_reference(a, device.view_t(b))
            if self.kind == "ag":
                c = part = product(self.a_all, self.b)
            else:
                c = product(device.part(self.a_all, 0, *self.rows), self.b_all)
                part = None
            self.reference = {"c": c, "part": part}
        if self.reference["part"] is None:
            self.reference["part"] = self.device.matmul_reference(
                self.a, self.device.view_t(self.b))
        return self.reference

    # Rivals -------------------------------------------------------------------

    def rival(self, name):
        makers = {"cublas": self.by_cublas, "nccl": self.nccl, "torch": self.fused}
        if self.kind == "ar":
            makers["torch-one-shot"] = self.one_shot
        if name not in makers:
            return super().rival(name)
        return makers[name](name)

    def cublas(self, a, out):
        return self.device.shared(cublaslt.CublasLt).matmul(
            a, [self.b], out, self.product(), ("bf16",) * 3)

    def partial(self):
        """Where the own product goes before it is summed up."""
        return self.device.empty((self.m, self.n), "bf16")

    def own_product(self):
        """A and C of the own product, as if the data of others were there and sums
        nobody's business: nothing of it can be had, it says what is lost."""
        return (self.a_all, self.device.empty(self.c.shape, "bf16")) \
            if self.kind == "ag" else (self.a, self.partial())

    def by_cublas(self, name):
        a, out = self.own_product()
        call, config = self.cublas(a, out)
        contestant = Contestant(name, call, config)
        contestant.outputs = {"part": out}
        return contestant

    def nccl(self, name):
        dist, device = self.peers().dist, self.device
        if self.kind == "ag":
            everything = device.empty((self.m, self.k), "bf16")
            product, config = self.cublas(everything, self.c)

            def call():
                dist.all_gather_into_tensor(everything, self.a)
                product()
        elif self.kind == "rs":
            part = self.partial()
            product, config = self.cublas(self.a, part)

            def call():
                product()
                dist.reduce_scatter_tensor(self.c, part)
        else:
            product, config = self.cublas(self.a, self.c)

            def call():
                product()
                dist.all_reduce(self.c)
        return Contestant(name, call, {**config, "nccl": self.peers().version()})

    def fused(self, name):
        """torch's operations on symmetric memory; without multicast."""
        peers, ops = self.peers(), self.device.torch.ops.symm_mem
        b = self.b.t()
        if self.kind == "ag":
            a = peers.empty(tuple(self.a.shape), "bf16")
            a.copy_(self.a)

            def call():
                _, (contestant.result,) = ops.fused_all_gather_matmul(
                    a, [b], 0, peers.name, return_A=False)
            config = {"function": "fused_all_gather_matmul"}
        elif self.kind == "rs":
            def call():
                contestant.result = ops.fused_matmul_reduce_scatter(
                    self.a, b, "sum", 0, peers.name)
            config = {"function": "fused_matmul_reduce_scatter"}
        else:
            c = self.reachable()
            product, config = self.cublas(self.a, c)

            def call():
                product()
                ops.two_shot_all_reduce_(c, "sum", peers.name)
                contestant.result = c
            config = {**config, "function": "two_shot_all_reduce_"}
        contestant = self.with_result(name, call, config)
        return contestant

    def one_shot(self, name):
        """cublasLt, and torch's all-reduce in which each rank reads all parts: best for few rows."""
        peers, ops, c = self.peers(), self.device.torch.ops.symm_mem, self.reachable()
        product, config = self.cublas(self.a, c)

        def call():
            product()
            contestant.result = ops.one_shot_all_reduce(c, "sum", peers.name)
        contestant = self.with_result(name, call, {**config, "function": "one_shot_all_reduce"})
        return contestant

    @staticmethod
    def with_result(name, call, config):
        """A contestant that leaves a result of its own in each call."""
        contestant = Contestant(name, call, config)
        contestant.outputs = lambda: {"c": contestant.result} \
            if hasattr(contestant, "result") else {}
        return contestant

    def reachable(self):
        """Memory for the own part that peers read."""
        return self.peers().empty((self.m, self.n), "bf16")
