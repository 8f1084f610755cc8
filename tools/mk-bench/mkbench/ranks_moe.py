"""Mixture of experts over several ranks: tokens go to the experts that they choose
(dispatch and the first product), or through the whole layer and home again.

Every rank knows the choices of all tokens, and makes the tokens and weights of
others from their seeds, so that it can compute what its result has to be.
"""
import random

from .errors import BenchError
from .measure import Contestant
from .ranks_gemm import RanksProblem


class Routing:
    """Who chooses whom: `ids[t]`, the experts of token t, uniform and distinct."""

    def __init__(self, tokens, experts, choices, world, seed):
        rng = random.Random(seed)
        self.ids = [rng.sample(range(experts), choices) for _ in range(tokens)]
        self.share, self.own = experts // world, tokens // world
        self.world = world
        self.tokens_of = [[] for _ in range(experts)]
        for token, chosen in enumerate(self.ids):
            for expert in chosen:
                self.tokens_of[expert].append(token)

    def experts(self, rank):
        return range(rank * self.share, (rank + 1) * self.share)

    def rank_of(self, token):
        return token // self.own

    def rows(self, rank):
        """(expert, token) of each row that a rank's experts get, in order."""
        return [(expert, token) for expert in self.experts(rank)
                for token in self.tokens_of[expert]]

    def sent(self, source, target):
        """(expert, token) of what goes from one rank to another, in order."""
        return [(expert, token) for expert, token in self.rows(target)
                if self.rank_of(token) == source]

    def exchange(self, rank):
        """How an all-to-all of all pairs goes: the own token of each pair that is
        sent, how many go to each rank and come from each, the places among those
        that come of the rows in order, and for each own token the places among
        those sent of its choices."""
        sends = [self.sent(rank, target) for target in range(self.world)]
        comes = [self.sent(source, rank) for source in range(self.world)]
        flat = [pair for part in sends for pair in part]
        place = {pair: i for i, pair in enumerate(flat)}
        arrived = {pair: i for i, pair in enumerate(
            pair for part in comes for pair in part)}
        first = rank * self.own
        return {"tokens": [token - first for _, token in flat],
                "to": list(map(len, sends)), "from": list(map(len, comes)),
                "rows": [arrived[pair] for pair in self.rows(rank)],
                "home": [place[expert, token]
                         for token in range(first, first + self.own)
                         for expert in self.ids[token]]}


class RanksMoe(RanksProblem):
    """T tokens in all, of H numbers; E experts of I hidden columns, K choices.
    The variant's `layer`: the whole one, or dispatch and one product."""

    def __init__(self, device, variant, dims, seed):
        super().__init__(device, variant, dims)
        self.t, self.h, self.i, self.e, self.k = (int(dims[d]) for d in "THIEK")
        self.seed, self.layer = seed, variant["layer"]
        self.share(self.t, "T")
        self.share(self.e, "E")
        if self.k > self.e // self.world:
            raise BenchError(f"K = {self.k}", "is more than the experts of a rank")
        self.own, self.experts = self.t // self.world, self.e // self.world
        self.routing = Routing(self.t, self.e, self.k, self.world, seed)
        self.rows = self.routing.rows(self.rank)
        first = self.rank * self.own
        self.ids = self.table(self.routing.ids[first:first + self.own])
        self.x = self.tokens(self.rank)
        self.w1 = self.weights(self.rank, 1)
        if self.layer:
            self.w3, self.w2 = (self.weights(self.rank, n) for n in (3, 2))
            self.topk_weights = device.normal((self.own, self.k), "f32", seed + 7)
            self.out = device.empty((self.own, self.h), "bf16")
        else:
            held = self.world * self.own * self.k
            self.c = device.empty((held, self.i), "bf16")
            self.counts = device.integers([0] * self.experts)

    def table(self, rows):
        return self.device.shaped(self.device.integers(
            [value for row in rows for value in row]), (len(rows), self.k))

    def tokens(self, rank):
        return self.device.normal((self.own, self.h), "bf16",
                                  self.seed + 100 + rank)

    def weights(self, rank, number):
        """W1 and W3: E x I x H, W2: E x H x I; those of a rank's experts."""
        shape = (self.h, self.i) if number == 2 else (self.i, self.h)
        return self.device.normal(
            (self.experts, *shape), "bf16", self.seed + 1000 * number + rank,
            scale=shape[1] ** -0.5)

    @property
    def flops(self):
        return (6.0 if self.layer else 2.0) * len(self.rows) * self.h * self.i

    @property
    def bytes(self):
        """Weights once, rows that come in and results once."""
        weights = (3 if self.layer else 1) * self.experts * self.h * self.i
        results = self.own * self.h if self.layer else len(self.rows) * self.i
        return 2 * (weights + self.own * self.h + results)

    @property
    def link_bytes(self):
        """Each token once to each other rank that has an expert of its choice; of
        the layer, as many sums back."""
        pairs = lambda source, target: len(
            {token for _, token in self.routing.sent(source, target)})
        others = [r for r in range(self.world) if r != self.rank]
        most = max(sum(pairs(self.rank, r) for r in others),
                   sum(pairs(r, self.rank) for r in others))
        return (2 if self.layer else 1) * most * self.h * 2

    def arguments(self):
        given = {"x": self.x, "topk_ids": self.ids}
        if self.layer:
            return {**given, "topk_weights": self.topk_weights, "w1": self.w1,
                    "w3": self.w3, "w2": self.w2, "out": self.out}
        return {**given, "w": self.w1, "c": self.c, "counts": self.counts}

    def outputs(self):
        return {"out": self.out} if self.layer \
            else {"c": self.c, "counts": self.counts}

    def terms(self, name):
        return self.i if self.layer else self.h

    # References ---------------------------------------------------------------

    def compute_reference(self):
        if self.reference is None:
            self.reference = self.layer_reference() if self.layer \
                else self.dispatch_reference()
        return self.reference

    def dispatch_reference(self):
        """`c` with zeros behind the last row, `rows` without them."""
        device = self.device
        c, row = device.zeros(self.c.shape, "f64"), 0
        everything = device.joined([self.tokens(r) for r in range(self.world)])
        counts = []
        for number, expert in enumerate(self.routing.experts(self.rank)):
            tokens = self.routing.tokens_of[expert]
            counts.append(len(tokens))
            if tokens:
                device.put(c, row, device.matmul_reference(
                    device.take(everything, tokens),
                    device.view_t(device.row(self.w1, number))))
            row += len(tokens)
        return {"c": c, "rows": device.part(c, 0, 0, row),
                "counts": device.integers(counts)}

    def layer_reference(self):
        device, first = self.device, self.rank * self.own
        out = device.zeros(self.out.shape, "f64")
        product = lambda a, b, n: device.matmul_reference(
            a, device.view_t(device.row(b, n)))
        for rank in range(self.world):
            w1, w3, w2 = (self.w1, self.w3, self.w2) if rank == self.rank \
                else (self.weights(rank, n) for n in (1, 3, 2))
            for number, expert in enumerate(self.routing.experts(rank)):
                tokens = [t - first for t in self.routing.tokens_of[expert]
                          if self.routing.rank_of(t) == self.rank]
                if not tokens:
                    continue
                choices = [t * self.k + self.routing.ids[first + t].index(expert)
                           for t in tokens]
                x = device.take(self.x, tokens)
                hidden = device.gated(product(x, w1, number),
                                      product(x, w3, number))
                device.add_rows(out, tokens, product(hidden, w2, number),
                                self.topk_weights, choices)
        return {"out": out}

    # Rivals -------------------------------------------------------------------

    def rival(self, name):
        if name == "nccl":
            return self.nccl()
        if name == "grouped" and not self.layer:
            return self.alone()
        return super().rival(name)

    def grouped_product(self):
        """torch's, and where the rows of each own expert end."""
        torch = self.device.torch
        ends, sum_ = [], 0
        for expert in self.routing.experts(self.rank):
            sum_ += len(self.routing.tokens_of[expert])
            ends.append(sum_)
        return getattr(torch.nn.functional, "grouped_mm",
                       getattr(torch, "_grouped_mm", None)), \
            self.device.integers(ends)

    def finished(self, contestant, name):
        contestant.outputs = lambda: {name: contestant.result} \
            if hasattr(contestant, "result") else {}
        return contestant

    def alone(self):
        """The products, as if all rows were there and in order."""
        function, ends = self.grouped_product()
        everything = self.device.joined(
            [self.tokens(r) for r in range(self.world)])
        rows = self.device.take(everything, [t for _, t in self.rows])
        b = self.w1.transpose(-2, -1)

        def call():
            contestant.result = function(rows, b, offs=ends)
        contestant = Contestant("grouped", call)
        return self.finished(contestant, "rows")

    def nccl(self):
        """All-to-all of a copy for each choice, rows put in order, grouped products;
        of the layer, the same way back and a weighted sum. Who chooses whom is
        known before: that costs this rival nothing."""
        torch, dist, device = self.device.torch, self.peers().dist, self.device
        function, ends = self.grouped_product()
        how = self.routing.exchange(self.rank)
        index = lambda values: device.integers(values, "i64")
        tokens, order = index(how["tokens"]), index(how["rows"])
        to, come, count = how["to"], how["from"], sum(how["from"])
        received = device.empty((count, self.h), "bf16")
        x = self.x

        def dispatch():
            dist.all_to_all_single(received, x.index_select(0, tokens), come, to)
            return received.index_select(0, order)

        if not self.layer:
            b = self.w1.transpose(-2, -1)

            def call():
                contestant.result = function(dispatch(), b, offs=ends)
        else:
            # Both first products as one.
            b = torch.cat([self.w1, self.w3], 1).transpose(-2, -1)
            b2 = self.w2.transpose(-2, -1)
            back = [0] * count
            for row, place in enumerate(how["rows"]):
                back[place] = row
            back, home = index(back), index(how["home"])
            returned = device.empty((sum(to), self.h), "bf16")
            factors = self.topk_weights.to(torch.bfloat16).view(self.own, 1, self.k)

            def call():
                both = function(dispatch(), b, offs=ends)
                hidden = torch.nn.functional.silu(both[:, :self.i])
                hidden *= both[:, self.i:]
                y = function(hidden, b2, offs=ends)
                dist.all_to_all_single(returned, y.index_select(0, back), to, come)
                chosen = returned.index_select(0, home)
                contestant.result = torch.bmm(factors, chosen.view(
                    self.own, self.k, self.h)).view(self.own, self.h)
        contestant = Contestant("nccl", call, {
            "function": getattr(function, "__name__", ""),
            "nccl": self.peers().version()})
        return self.finished(contestant, "out" if self.layer else "rows")
