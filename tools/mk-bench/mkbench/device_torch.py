"""The GPU, through torch: data, streams, events, graphs and references."""
import time

from .errors import BenchError

TYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32",
         "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "i32": "int32",
         "i64": "int64", "f64": "float64"}


class TorchDevice:
    target = "sm_90a"
    has_rivals = True

    def __init__(self, index=0):
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
        self.objects = {}

    # Data -----------------------------------------------------------------

    def type(self, name):
        return getattr(self.torch, TYPES[name])

    def normal(self, shape, type, seed, scale=1.0):
        """Random normal numbers, the same for a seed in every type."""
        generator = self.torch.Generator(device="cuda").manual_seed(seed)
        values = self.torch.randn(shape, generator=generator, device="cuda",
                                  dtype=self.torch.float32)
        return (values * scale).to(self.type(type))

    def integers(self, values, type="i32"):
        return self.torch.tensor(values, dtype=self.type(type), device="cuda")

    def empty(self, shape, type):
        return self.torch.empty(shape, dtype=self.type(type), device="cuda")

    def ones(self, count):
        return self.torch.ones(count, device="cuda")

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
        if tensor.dtype.itemsize == 1:
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

    def record(self, run, count):
        """Milliseconds of each of `count` runs, one after the other."""
        event = lambda: self.torch.cuda.Event(enable_timing=True)
        pairs = [(event(), event()) for _ in range(count)]
        for begin, end in pairs:
            begin.record()
            run()
            end.record()
        self.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]

    def capture(self, call, count):
        """`count` calls as one graph; what replays it."""
        self.synchronize()
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph, stream=self.stream):
            for _ in range(count):
                call()
        graph.replay()
        self.synchronize()
        return graph.replay

    def recover(self):
        """After something has failed; raises if the GPU is lost."""
        try:
            self.synchronize()
        except RuntimeError as error:
            raise BenchError("the GPU cannot be used any more",
                             str(error).splitlines()[0]) from error

    def release(self):
        """Gives memory back that nobody holds any more."""
        self.torch.cuda.empty_cache()

    # References -------------------------------------------------------------

    def compare(self, out, reference, rounding_in, terms):
        """Errors of `out` against a reference in double precision, and whether
        they are as small as docs/running.md asks for; an element's slack goes
        with the values of its own row, if these are larger than most."""
        torch = self.torch
        eps_out = float(torch.finfo(out.dtype).eps)
        sums = terms ** 0.5 * 2.0 ** -23
        square = torch.zeros((), dtype=torch.float64, device="cuda")
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

    def matmul_reference(self, a, b):
        """a @ b in double precision on the GPU."""
        return a.double() @ b.double()


def _number(value):
    """JSON has no NaN."""
    value = float(value)
    return value if value == value and abs(value) != float("inf") else None
