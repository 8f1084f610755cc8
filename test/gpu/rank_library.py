"""mKernel's C ABI as ranks.py uses it: a rank of a job, with one context."""
import ctypes as C
import os

import pointers  # noqa: F401 (where mkbench is)
from mkbench.errors import BenchError
from mkbench.library import CompileOptions, Handle, Library, sizes_of
from pointers import ROOT

INTERPRETED = "PTX_RUN_SOCKET" in os.environ
TILES = {"TM": 64, "TN": 64}


class JobOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("source", C.c_char_p), ("store", C.c_char_p),
                ("token", C.c_char_p), ("node", C.c_char_p), ("timeout_ns", C.c_uint64)]


class ContextOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("axes", C.c_void_p), ("num_axes", C.c_size_t),
                ("rank", C.c_uint32), ("endpoint", C.c_char_p), ("job", C.c_char_p),
                ("token", C.c_char_p), ("heap_bytes", C.c_uint64), ("slots", C.c_uint32),
                ("transport", C.c_char_p), ("transport_options", C.c_char_p),
                ("timeout_ns", C.c_uint64), ("gpu_plus_one", C.c_int32),
                ("member_of", C.c_void_p)]


class RankLibrary(Library):
    """The library in one rank of a job."""

    def __init__(self, places, target, gpu):
        super().__init__(places)
        self.places = places
        self.target, self.gpu, self.packages = target, gpu, {}
        c = self.c
        c.mkernel_arg_data.argtypes = [C.c_void_p, C.c_size_t]
        c.mkernel_arg_data.restype = C.c_void_p
        c.mkernel_arg_bytes.argtypes = [C.c_void_p, C.c_size_t]
        c.mkernel_arg_bytes.restype = C.c_uint64
        c.mkernel_job_compile_file.argtypes = [C.c_void_p, C.c_char_p, C.c_void_p,
                                               C.c_void_p]
        c.mkernel_job_leave.argtypes = c.mkernel_context_close.argtypes = [C.c_void_p]
        c.mkernel_capture.argtypes = [C.c_void_p] * 3
        c.mkernel_graph_launch.argtypes = [C.c_void_p] * 2
        c.mkernel_graph_destroy.argtypes = [C.c_void_p]
        self.member = C.c_void_p()
        options = JobOptions(C.sizeof(JobOptions), source=b"torchrun")
        self.check(c.mkernel_job_join(C.byref(options), C.byref(self.member)), "joining")

    def collective(self, name):
        """A kernel of the job, loaded, in one context for all."""
        if name in self.packages:
            return self.load(self.packages[name], "job")
        params, num_params = sizes_of(TILES)
        options = CompileOptions(size=C.sizeof(CompileOptions), tuning=b"none",
                                 target=self.target.encode(), params=params,
                                 num_params=num_params, grid=8 if INTERPRETED else 0)
        package = C.c_void_p()
        path = os.path.join(ROOT, "examples", name + ".mlir")
        self.check(self.c.mkernel_job_compile_file(
            self.member, path.encode(), C.byref(options), C.byref(package)), name)
        self.packages[name] = Handle(self, package, "mkernel_package_destroy")
        return self.load(self.packages[name], "job")

    def context(self, package, key, alone=False):
        if key != "job" or key in self.contexts:
            return super().context(package, key, alone)
        options = ContextOptions(C.sizeof(ContextOptions), heap_bytes=256 << 20,
                                 gpu_plus_one=self.gpu + 1, member_of=self.member)
        context = C.c_void_p()
        self.check(self.c.mkernel_context_create(
            package.pointer, C.byref(options), C.byref(context)), "context")
        self.contexts[key] = Handle(self, context, "mkernel_context_destroy")
        return self.contexts[key]

    def give_up(self):
        """Closes the context that has failed; why."""
        context = self.contexts.pop("job")
        try:
            self.check(self.c.mkernel_context_close(context.pointer), "closing")
        except BenchError as error:
            return str(error)
        raise BenchError("closing", "a context that has failed closed in peace", "")

    def leave(self):
        """Waits for the other ranks."""
        for context in self.contexts.values():
            self.check(self.c.mkernel_context_close(context.pointer), "closing")
        self.check(self.c.mkernel_job_leave(self.member), "leaving")
