"""The GPU, through torch: data, streams, events, graphs and references."""
import gc
import time

from .errors import BenchError, Lost
from .group import Alone
from .references_torch import TorchReferences

TYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32",
         "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "i32": "int32",
         "i64": "int64", "f64": "float64"}


class TorchDevice(TorchReferences):
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


class _Memory:
    """What torch makes a tensor of bytes from without copying."""

    def __init__(self, address, bytes):
        self.__cuda_array_interface__ = {
            "shape": (bytes,), "typestr": "|u1", "data": (address, False),
            "version": 3}
