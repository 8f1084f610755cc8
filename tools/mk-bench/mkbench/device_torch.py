"""The GPU, through torch: data, streams, events, graphs and references."""
import gc
import time

from .errors import BenchError, Lost
from .group import Alone

TYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32",
         "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "i32": "int32",
         "i64": "int64", "f64": "float64"}


class TorchDevice:
    target = "sm_90a"
    has_rivals = True
    where = "cuda"
    deadline_s = 10  # of every wait of a kernel

    def __init__(self, index=0, group=None):
        self.index, self.group = index, group or Alone()
        try:
            import torch
        except ImportError as error:
            raise BenchError("torch cannot be imported", str(error),
                             "run this under a Python that has it; the rivals "
                             "are measured through torch") from error
        self.torch = torch
        if not torch.cuda.is_available():
            raise BenchError("there is no GPU that torch can use", remedy="see "
                             "what mk-info says; --target host needs none")
        torch.cuda.set_device(index)
        if torch.cuda.get_device_capability() != (9, 0):
            raise BenchError(f"{torch.cuda.get_device_name()} has compute "
                             "capability %d.%d" % torch.cuda.get_device_capability(),
                             "kernels are compiled for 9.0 (H100, H200)")
        # Everything on one stream that is not the legacy default stream, which
        # cannot be captured.
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self.sms = torch.cuda.get_device_properties(index).multi_processor_count
        self.grid = self.compile_grid = self.sms
        # What may stay reserved from one case to the next: to give it back and to ask for it again
        # takes longer than most kernels.
        self.most_kept = torch.cuda.get_device_properties(index).total_memory // 4
        self.objects = {}
        self.meet = lambda: None
        if self.group.world > 1:
            from .peers_torch import Peers
            self.meet = self.shared(Peers).meet
        # torch's own objects stay as they are: release() need not look at them each time.
        gc.collect()
        gc.freeze()

    # Data -----------------------------------------------------------------

    def type(self, name):
        return getattr(self.torch, TYPES[name])

    def normal(self, shape, type, seed, scale=1.0):
        """Random normal numbers, the same for a seed in every type."""
        generator = self.torch.Generator(device=self.where).manual_seed(seed)
        values = self.torch.randn(shape, generator=generator, device=self.where,
                                  dtype=self.torch.float32)
        return (values * scale).to(self.type(type))

    def integers(self, values, type="i32"):
        return self.torch.tensor(values, dtype=self.type(type), device=self.where)

    def empty(self, shape, type):
        return self.torch.empty(shape, dtype=self.type(type), device=self.where)

    def zeros(self, shape, type):
        return self.torch.zeros(shape, dtype=self.type(type), device=self.where)

    def ones(self, count):
        return self.torch.ones(count, device=self.where)

    def shaped(self, tensor, shape):
        return tensor.view(shape)

    def joined(self, tensors):
        """One behind the other along the first dimension."""
        return self.torch.cat(tensors)

    def beside(self, tensors):
        """One behind the other along the second dimension."""
        return self.torch.cat(tensors, 1)

    def row(self, tensor, number):
        """One of the first dimension, without it."""
        return tensor[number]

    def part(self, tensor, dimension, begin, end):
        """A copy of what lies there along one dimension."""
        return tensor.narrow(dimension, begin, end - begin).contiguous()

    def take(self, tensor, rows):
        """A copy of some rows of the first dimension, a list of numbers."""
        return tensor[self.integers(rows, "i64")]

    def put(self, tensor, begin, rows):
        """Writes rows of the first dimension, from `begin` on."""
        tensor[begin:begin + rows.shape[0]] = rows

    def memory(self, address, like):
        """A kernel's own memory as a tensor like another: tight, of its type."""
        torch, element = self.torch, like.dtype.itemsize
        view = torch.as_tensor(_Memory(address, like.numel() * element),
                               device=self.where) if like.numel() else \
            torch.empty(0, dtype=torch.uint8, device=self.where)
        return view.view(like.dtype).view(like.shape)

    def copy(self, target, source):
        target.copy_(source)

    def copied(self, tensor):
        return tensor.clone()

    def bytes_of(self, tensor):
        """A copy of them."""
        return tensor.contiguous().view(self.torch.uint8).reshape(-1).clone()

    def count_different(self, one, other):
        return int((one != other).sum())

    def transpose(self, tensor):
        """The last two dimensions swapped in memory."""
        return tensor.transpose(-2, -1).contiguous()

    def view_t(self, tensor):
        return tensor.t()

    def shared(self, factory):
        """One object of a kind for the whole run."""
        if factory not in self.objects:
            self.objects[factory] = factory(self)
        return self.objects[factory]

    def poison(self, tensor):
        """NaN in every element, so that what is not written is found."""
        if not tensor.is_floating_point():
            tensor.fill_(self.torch.iinfo(tensor.dtype).min)
        elif tensor.dtype.itemsize == 1:
            tensor.view(self.torch.uint8).fill_(0x7f)  # NaN in both fp8 types
        else:
            tensor.fill_(float("nan"))

    def pointer(self, tensor):
        return tensor.data_ptr()

    def strides(self, tensor):
        return list(tensor.stride())

    def stream_handle(self):
        return self.torch.cuda.current_stream().cuda_stream

    # Time -----------------------------------------------------------------

    def synchronize(self):
        self.torch.cuda.synchronize()

    def idle(self, seconds):
        self.synchronize()
        time.sleep(seconds)

    def record(self, run, count, meet=False):
        """Milliseconds of each of `count` runs, one after the other. `meet`: ranks
        meet on their devices in front of each, and clocks start behind that."""
        event = lambda: self.torch.cuda.Event(enable_timing=True)
        pairs = [(event(), event()) for _ in range(count)]
        for begin, end in pairs:
            if meet:
                self.meet()
            begin.record()
            run()
            end.record()
        self.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]

    def capture(self, call, count):
        """`count` calls as one graph; what replays it."""
        self.synchronize()
        graph = self.torch.cuda.CUDAGraph()
        # Threads of NCCL go on asking for events meanwhile.
        mode = "global" if self.group.world == 1 else "thread_local"
        # Not torch.cuda.graph(), which collects garbage first: that takes longer than all else here.
        graph.capture_begin(capture_error_mode=mode)
        try:
            for _ in range(count):
                call()
        finally:
            graph.capture_end()
        return graph.replay

    def recover(self):
        """After something has failed; raises if the GPU is lost."""
        try:
            self.synchronize()
        except RuntimeError as error:
            raise Lost("the GPU cannot be used any more",
                       str(error).splitlines()[0]) from error

    def release(self):
        """Frees what nobody holds any more, and gives memory back if that is much."""
        gc.collect()  # contestants hold what they have computed, and themselves
        if self.torch.cuda.memory_reserved() > self.most_kept:
            self.torch.cuda.empty_cache()

    # References -------------------------------------------------------------

    def compare(self, out, reference, rounding_in, terms):
        """Errors of `out` against a reference in double precision, and whether
        they are as small as docs/running.md asks for; an element's slack goes
        with the values of its own row, if these are larger than most."""
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
        return {"max": _number(largest), "rel_l2": _number(
            (square / norm).sqrt()), "rms": _number(rms_error),
            "rms_bound": bound, "passed": passed}

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


class _Memory:
    """What torch makes a tensor of bytes from without copying."""

    def __init__(self, address, bytes):
        self.__cuda_array_interface__ = {
            "shape": (bytes,), "typestr": "|u1", "data": (address, False),
            "version": 3}


def _number(value):
    """JSON has no NaN."""
    value = float(value)
    return value if value == value and abs(value) != float("inf") else None
