"""Attention over a sequence that ranks share: in a ring, or with keys and values
gathered. O = softmax(Q K^T / sqrt(D)) V; B batches of H heads.

Every rank makes all queries, keys and values from the seed. `order` says which
places of the sequence a rank holds: of `zigzag`, its chunk from the front and its
chunk from the end, in the shape of the kernel's own layout.
"""
from .errors import BenchError
from .measure import Contestant
from .ranks_gemm import RanksProblem


def places(length, rank, world, zigzag):
    """Ranges of the sequence that a rank holds, in order."""
    if not zigzag:
        part = length // world
        return [(rank * part, (rank + 1) * part)]
    chunk = length // (2 * world)
    last = 2 * world - 1 - rank
    return [(rank * chunk, (rank + 1) * chunk), (last * chunk, (last + 1) * chunk)]


class RanksAttention(RanksProblem):
    """The variant's `ring`: keys and values are one argument 2 x B * H x S x D and
    heads of all batches are heads; else they are gathered, and batches stay."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims)
        self.b, self.h, self.s, self.d = (int(dims[k]) for k in "BHSD")
        self.ring, self.causal = variant["ring"], variant["causal"]
        self.zigzag = self.ring and self.causal
        if self.s % (2 * self.world):
            raise BenchError(f"S = {self.s}", f"has no {2 * self.world} equal "
                             "chunks", "choose another shape")
        self.heads = self.b * self.h
        self.q_all, self.k_all, self.v_all = (device.normal(
            (self.heads, self.s, self.d), "bf16", seed + n) for n in range(3))
        q, k, v = (self.own(t, self.rank)
                   for t in (self.q_all, self.k_all, self.v_all))
        self.own_s = self.s // self.world
        batched = (self.b, self.h, self.own_s, self.d)
        if self.ring:
            self.q = q
            kv = device.joined([k, v])
            self.kv = device.shaped(kv, (2, self.heads, self.own_s, self.d))
        else:
            self.q, self.k, self.v = (device.shaped(t, batched)
                                      for t in (q, k, v))
        self.o = device.empty(self.q.shape, "bf16")
        self.lse = device.empty(self.q.shape[:-1], "f32")

    def own(self, tensor, rank):
        """A rank's part of heads x S x D."""
        device = self.device
        return device.beside([device.part(tensor, 1, *place) for place in places(
            self.s, rank, self.world, self.zigzag)])

    @property
    def flops(self):
        """Of the causal triangle half; the rank with the most to do."""
        all = 4.0 * self.heads * self.s * self.s * self.d / self.world
        if not self.causal:
            return all
        # Of contiguous parts the last one sees nearly all keys.
        return all * (0.5 if self.zigzag else 1 - 0.5 / self.world)

    @property
    def bytes(self):
        return 2 * self.heads * self.d * (2 * self.own_s + 2 * self.s)

    @property
    def link_bytes(self):
        return 2 * self.heads * self.d * 2 * (self.s - self.own_s)

    def net_bytes(self, nodes):
        """The keys and values of other nodes, by way of all GPUs of the own."""
        others = self.s * (nodes - 1) // nodes
        return 2 * self.heads * self.d * 2 * others / (self.world // nodes)

    def alone(self):
        """As much as a rank has to do: some of the heads, over the whole sequence."""
        if self.heads % self.world:
            raise BenchError("alone", f"{self.heads} heads have no {self.world} equal "
                             "parts")
        q, k, v = self.some_heads()
        shape = (1, *q.shape)
        o = self.device.empty(shape, "bf16")
        lse = self.device.empty(shape[:-1], "f32")
        arguments = {name: self.device.shaped(t, shape)
                     for name, t in (("q", q), ("k", k), ("v", v))}
        return {**arguments, "o": o, "lse": lse}, {"alone_o": o, "alone_lse": lse}

    def some_heads(self):
        return (self.device.part(t, 0, 0, self.heads // self.world)
                for t in (self.q_all, self.k_all, self.v_all))

    def arguments(self):
        outputs = {"o": self.o, "lse": self.lse}
        if self.ring:
            return {"q": self.q, "kv": self.kv, **outputs}
        return {"q": self.q, "k": self.k, "v": self.v, **outputs}

    def outputs(self):
        return {"o": self.o, "lse": self.lse}

    def terms(self, name):
        return self.s

    def compute_reference(self):
        if self.reference is None:
            rows = [row for begin, end in places(
                self.s, self.rank, self.world, self.zigzag)
                for row in range(begin, end)]
            o, lse = self.device.attention_reference(
                self.own(self.q_all, self.rank), self.k_all, self.v_all,
                rows if self.causal else None)
            self.reference = {"o": self.device.shaped(o, self.o.shape),
                              "lse": self.device.shaped(lse, self.lse.shape)}
            if "alone" in self.variant and self.heads % self.world == 0:
                self.reference.update(self.alone_reference())
        return self.reference

    def alone_reference(self):
        o, lse = self.device.attention_reference(
            *self.some_heads(), range(self.s) if self.causal else None)
        return {"alone_o": self.device.shaped(o, (1, *o.shape)),
                "alone_lse": self.device.shaped(lse, (1, *lse.shape))}

    # Rivals -------------------------------------------------------------------

    def rival(self, name):
        makers = {"cudnn": self.by_cudnn, "nccl": self.by_nccl}
        if name not in makers:
            return super().rival(name)
        contestant = Contestant(name, None, {
            "function": "aten::_scaled_dot_product_cudnn_attention"})
        contestant.outputs = lambda: {"o": contestant.result} \
            if hasattr(contestant, "result") else {}
        contestant.call = makers[name](contestant)
        if name == "nccl":
            contestant.config["nccl"] = self.peers().version()
        return contestant

    def cudnn(self, q, k, v, causal=False):
        """O and the logarithm of each row's sum, of B x H x S x D. What torch's
        function ends in; choosing the backend on every call would count."""
        result = self.device.torch.ops.aten._scaled_dot_product_cudnn_attention(
            q, k, v, None, True, 0.0, causal)
        return result[0], result[1].reshape(*q.shape[:3], 1)

    def batched(self, tensor):
        return tensor.view(self.b, self.h, -1, self.d)

    def by_cudnn(self, contestant):
        """All keys and values at hand."""
        if self.causal:
            raise BenchError("cudnn", "has no mask of a part of the sequence")
        q, k, v = (self.batched(t) for t in (self.q, self.k_all, self.v_all))

        def call():
            o, _ = self.cudnn(q, k, v)
            contestant.result = o.reshape(self.o.shape)
        return call

    def by_nccl(self, contestant):
        if self.ring:
            return self.nccl_ring(contestant)
        if self.causal:
            raise BenchError("nccl", "has no mask of a part of the sequence")
        torch, dist = self.device.torch, self.peers().dist
        # The sequence first, so that it is gathered in order.
        own, everything = (torch.empty(
            (s, 2, self.b, self.h, self.d), dtype=torch.bfloat16,
            device=self.device.where) for s in (self.own_s, self.s))
        own[:, 0], own[:, 1] = (t.permute(2, 0, 1, 3) for t in (self.k, self.v))
        k, v = (everything[:, n].permute(1, 2, 0, 3) for n in range(2))

        def call():
            dist.all_gather_into_tensor(everything, own)
            contestant.result, _ = self.cudnn(self.q, k, v)
        return call

    def nccl_ring(self, contestant):
        """Keys and values go around by sends and receives while cuDNN works on those
        at hand; what it finds is merged in f32."""
        torch, dist = self.device.torch, self.peers().dist
        rank, world, half = self.rank, self.world, self.own_s // 2
        q = self.batched(self.q)
        shape = (2, self.b, self.h, self.own_s, self.d)
        first = self.kv.view(shape)
        buffers = [torch.empty_like(first) for _ in range(2)]

        def step(source, kv):
            """What the own queries find there; and which of them look."""
            k, v = kv[0], kv[1]
            if not self.causal or source == rank:
                return self.cudnn(q, k, v, self.causal), slice(None)
            if source < rank:  # its chunk from the front is all that is before
                return self.cudnn(q, k[:, :, :half], v[:, :, :half]), slice(None)
            return self.cudnn(q[:, :, half:], k, v), slice(half, None)

        def call():
            kv = first
            for number in range(world):
                if number + 1 < world:
                    target = buffers[number % 2]
                    works = dist.batch_isend_irecv([
                        dist.P2POp(dist.isend, kv, (rank + 1) % world),
                        dist.P2POp(dist.irecv, target, (rank - 1) % world)])
                (o, lse), rows = step((rank - number) % world, kv)
                if number == 0:
                    sum_o, sum_lse = o.float(), lse
                else:
                    part_o, part_lse = sum_o[:, :, rows], sum_lse[:, :, rows]
                    share = torch.sigmoid(lse - part_lse)
                    part_o.lerp_(o.float(), share)
                    part_lse.copy_(torch.logaddexp(part_lse, lse))
                if number + 1 < world:
                    for work in works:
                        work.wait()
                    kv = target
            contestant.result = sum_o.to(torch.bfloat16).reshape(
                self.o.shape)
        return call
