"""What results are held against, in double precision on the GPU."""


def _number(value):
    """JSON has no NaN."""
    value = float(value)
    return value if value == value and abs(value) != float("inf") else None


class TorchReferences:
    """Of a device that has `torch`, `where`, `type()` and `integers()`."""

    def compare(self, out, reference, rounding_in, terms, factors=None):
        """Errors of `out` against a reference in double precision, and whether
        they are as small as docs/running.md asks for; an element's slack goes
        with the values of its own row, if these are larger than most. `factors`:
        what each column has been multiplied by last; what is allowed for
        roundings before that is multiplied by max(1, |factor|)."""
        torch = self.torch
        if not out.is_floating_point():
            wrong = int((out != reference).sum())
            return {"max": float((out.double() - reference.double()).abs().max()),
                    "rel_l2": 0.0, "rms": 0.0, "rms_bound": 0.0,
                    "passed": wrong == 0}
        eps_out = float(torch.finfo(out.dtype).eps)
        sums = terms ** 0.5 * 2.0 ** -23
        square = torch.zeros((), dtype=torch.float64, device=self.where)
        norm = torch.zeros_like(square)
        largest = torch.zeros_like(square)
        worst = torch.full_like(square, -float("inf"))
        rows = reference.reshape(-1, reference.shape[-1])
        values = out.reshape(-1, out.shape[-1])
        step = max(1, (1 << 26) // max(1, rows.shape[-1]))
        rms = float(rows.square().mean().sqrt()) if rows.numel() else 0.0
        slack = 4 * (rounding_in + sums)
        if factors is not None:
            slack = slack * factors.double().abs().clamp_min(1)
        for i in range(0, rows.shape[0], step):
            r = rows[i:i + step].double()
            e = (values[i:i + step].double() - r).abs()
            square += e.square().sum()
            norm += r.square().sum()
            largest = torch.maximum(largest, e.max())
            of_row = r.square().mean(-1, keepdim=True).sqrt().clamp_min(rms)
            worst = torch.maximum(
                worst, (e - eps_out * r.abs() - slack * of_row).max())
        count = max(1, rows.numel())
        rms_error = float((square / count).sqrt())
        bound = ((eps_out + rounding_in) / 2 + sums) * rms
        # NaN compares false, so it never passes.
        passed = bool(float(worst) <= 0) and rms_error <= bound
        found = {"max": _number(largest), "rel_l2": _number(
            (square / norm).sqrt()), "rms": _number(rms_error),
            "rms_bound": bound, "passed": passed}
        if not passed:
            found["where"] = self.wrong_places(values, rows, eps_out, slack, rms)
        return found

    def wrong_places(self, values, rows, eps_out, slack, rms):
        """In words, which elements of a matrix are wrong, by the same bound."""
        if not rows.numel():
            return "it is empty"
        reference = rows.double()
        of_row = reference.square().mean(-1, keepdim=True).sqrt().clamp_min(rms)
        wrong = ~((values.double() - reference).abs()
                  <= eps_out * reference.abs() + slack * of_row)
        places = wrong.nonzero()
        if not len(places):
            return "all elements are a little off"
        (r0, c0), (r1, c1) = places.min(0).values.tolist(), places.max(0).values.tolist()
        return (f"{len(places)} of {wrong.numel()} elements, all in rows {r0} to {r1}, "
                f"columns {c0} to {c1}")

    def eps(self, type):
        return float(self.torch.finfo(self.type(type)).eps)

    def scaled(self, tensor, scales, rows, columns):
        """In double precision, each block of so many rows and columns by its element of
        `scales`."""
        spread = scales.double().repeat_interleave(rows, 0)[:tensor.shape[0]]
        spread = spread.repeat_interleave(columns, 1)[:, :tensor.shape[1]]
        return tensor.double() * spread

    def matmul_reference(self, a, b):
        """a @ b in double precision on the GPU."""
        return a.double() @ b.double()

    def attention_reference(self, q, k, v, places=None):
        """O and the logarithms of its rows' sums, of heads x S x D, head by head in
        double precision. `places`: where in the sequence the queries are, of which
        each sees the keys up to its own."""
        torch, scale = self.torch, q.shape[-1] ** -0.5
        out = torch.empty(q.shape, dtype=torch.float64, device=self.where)
        lse = torch.empty(q.shape[:2], dtype=torch.float64, device=self.where)
        if places is not None:
            places = self.integers(places, "i64")
            columns = torch.arange(k.shape[1], device=self.where)
        step = max(1, min(q.shape[1], (1 << 28) // k.shape[1]))
        for head in range(q.shape[0]):
            keys, values = k[head].double().t(), v[head].double()
            for row in range(0, q.shape[1], step):
                scores = q[head, row:row + step].double() @ keys
                scores *= scale
                if places is not None:
                    scores.masked_fill_(
                        columns > places[row:row + step, None], -float("inf"))
                sums = torch.logsumexp(scores, -1)
                lse[head, row:row + step] = sums
                scores -= sums[:, None]
                out[head, row:row + step] = scores.exp_() @ values
        return out, lse

    def residual_norm(self, product, residual, weight, eps):
        """product + residual, and its rows by their root mean squares and the weight,
        in double precision."""
        y = product + residual.double()
        roots = (y.square().mean(-1, keepdim=True) + eps).sqrt()
        return y, y / roots * weight.double()

    def row_sums(self, tensor):
        return tensor.double().sum(-1).float()

    def normalized(self, rows, product, sums, eps):
        """`product` of matrix `rows`, as if these had been divided by their root mean squares before; with
        `sums` of what they were multiplied by, by their deviations from their means."""
        rows = rows.double()
        means = 0 if sums is None else rows.mean(-1, keepdim=True)
        scales = ((rows - means).square().mean(-1, keepdim=True) + eps).rsqrt()
        return (product if sums is None else product - means * sums.double()) * scales

    def gated(self, gate, up):
        """silu(gate) * up"""
        return self.torch.nn.functional.silu(gate) * up

    def gelu(self, product, bias):
        """Of product + bias, in its tanh form, in double precision."""
        return self.torch.nn.functional.gelu(product + bias.double(), approximate="tanh")

    def added(self, product, other):
        return product + other.double()

    def add_rows(self, out, rows, values, factors, places):
        """out[rows[i]] += values[i] * factors.flat[places[i]]; rows are distinct."""
        factors = factors.reshape(-1)[self.integers(places, "i64")].double()
        out.index_add_(0, self.integers(rows, "i64"), values * factors[:, None])
