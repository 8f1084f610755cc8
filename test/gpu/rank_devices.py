"""What ranks.py does with memory and streams, on each kind of device."""
import ctypes as C
import os

from pointers import GpuMemory, HostMemory


class Host:
    """Copies and streams of the host target: everything is done at once."""
    streams = (None, None)
    Memory = HostMemory

    def copy(self, to, source, size, _stream):
        C.memmove(to, source, size)

    def poison(self, to, size, _stream):
        C.memset(to, 0xff, size)

    def order(self, before, after):
        pass

    def capture(self, _stream, launches):
        """There are no graphs: the launches."""
        def replay(_stream):
            for launch in launches:
                launch()
        return replay


class Interpreter(Host):
    """GPUs that are not there (ptx-run), whose memory is the process's."""
    bound = None

    def __init__(self):
        self.library = C.CDLL(os.environ["MK_CUDA_LIBRARY"])
        self.streams = tuple(self.make_stream() for _ in range(2))

    # The version that each function came with, by which it is asked for.
    SINCE = {"cuStreamCreate": 2000, "cuStreamBeginCapture": 10010, "cuStreamEndCapture": 10000,
             "cuGraphInstantiateWithFlags": 11040, "cuGraphLaunch": 10000}

    def call(self, name, *arguments):
        address = C.c_void_p()
        GpuMemory.check(self.library.cuGetProcAddress_v2(
            name.encode(), C.byref(address), self.SINCE[name], C.c_ulonglong(0), C.byref(C.c_int())), name)
        GpuMemory.check(C.CFUNCTYPE(C.c_int)(address.value)(*arguments), name)

    def make_stream(self):
        stream = C.c_void_p()
        self.call("cuStreamCreate", C.byref(stream), C.c_uint(1))
        return stream

    def capture(self, stream, launches):
        """As of a GPU."""
        graph, exec_ = C.c_void_p(), C.c_void_p()
        self.call("cuStreamBeginCapture", stream, C.c_int(1))
        for launch in launches:
            launch()
        self.call("cuStreamEndCapture", stream, C.byref(graph))
        self.call("cuGraphInstantiateWithFlags", C.byref(exec_), graph, C.c_ulonglong(0))
        return lambda on: self.call("cuGraphLaunch", exec_, on)

    def copy(self, to, source, size, stream):
        self.bound.synchronize()
        super().copy(to, source, size, stream)

    def poison(self, to, size, stream):
        self.bound.synchronize()
        super().poison(to, size, stream)


class Gpu:
    Memory = GpuMemory

    def __init__(self, ordinal):
        GpuMemory.ordinal = ordinal
        GpuMemory.start()
        self.cuda = GpuMemory.cuda
        self.streams = tuple(self.make("cuStreamCreate", 1) for _ in range(2))
        self.event = self.make("cuEventCreate", 2)

    def make(self, function, flags):
        handle = C.c_void_p()
        GpuMemory.check(getattr(self.cuda, function)(C.byref(handle), flags), function)
        return handle

    def copy(self, to, source, size, stream):
        GpuMemory.check(self.cuda.cuMemcpyDtoDAsync_v2(
            C.c_uint64(to), C.c_uint64(source), C.c_size_t(size), stream), "copy")

    def poison(self, to, size, stream):
        GpuMemory.check(self.cuda.cuMemsetD8Async(
            C.c_uint64(to), C.c_ubyte(0xff), C.c_size_t(size), stream), "memset")

    def order(self, before, after):
        GpuMemory.check(self.cuda.cuEventRecord(self.event, before), "cuEventRecord")
        GpuMemory.check(self.cuda.cuStreamWaitEvent(after, self.event, 0),
                        "cuStreamWaitEvent")

    def capture(self, stream, launches):
        """A graph of them, captured by the driver's own functions."""
        graph, exec_ = C.c_void_p(), C.c_void_p()
        GpuMemory.check(self.cuda.cuStreamBeginCapture_v2(stream, 1), "cuStreamBeginCapture")
        for launch in launches:
            launch()
        GpuMemory.check(self.cuda.cuStreamEndCapture(stream, C.byref(graph)),
                        "cuStreamEndCapture")
        GpuMemory.check(self.cuda.cuGraphInstantiateWithFlags(
            C.byref(exec_), graph, C.c_ulonglong(0)), "cuGraphInstantiateWithFlags")
        return lambda on: GpuMemory.check(self.cuda.cuGraphLaunch(exec_, on), "cuGraphLaunch")
