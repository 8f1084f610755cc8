"""mKernel's C ABI (mkernel/C/mkernel.h) by ctypes."""
import ctypes as C

from .errors import BenchError


class Size(C.Structure):
    _fields_ = [("name", C.c_char_p), ("value", C.c_int64),
                ("values", C.POINTER(C.c_int64)), ("count", C.c_size_t)]


class CompileOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("target", C.c_char_p),
                ("kernel", C.c_char_p), ("sizes", C.POINTER(Size)),
                ("num_sizes", C.c_size_t), ("params", C.POINTER(Size)),
                ("num_params", C.c_size_t), ("nodes", C.c_int64),
                ("gpus", C.c_int64), ("grid", C.c_int64), ("cpu", C.c_char_p),
                ("tuning", C.c_char_p), ("cache", C.c_char_p),
                ("library", C.c_char_p), ("no_bounds", C.c_int), ("variants", C.c_char_p),
                ("candidates", C.c_int64)]


class JobOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("source", C.c_char_p),
                ("store", C.c_char_p), ("token", C.c_char_p),
                ("node", C.c_char_p), ("timeout_ns", C.c_uint64)]


class ContextOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("axes", C.POINTER(Size)),
                ("num_axes", C.c_size_t), ("rank", C.c_uint32),
                ("endpoint", C.c_char_p), ("job", C.c_char_p),
                ("token", C.c_char_p), ("heap_bytes", C.c_uint64),
                ("slots", C.c_uint32), ("transport", C.c_char_p),
                ("transport_options", C.c_char_p), ("timeout_ns", C.c_uint64),
                ("gpu_plus_one", C.c_int32), ("member_of", C.c_void_p),
                ("ranks_per_gpu", C.c_uint32)]


class LaunchOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("stream", C.c_void_p),
                ("deadline_ns", C.c_uint64), ("seed", C.c_uint64)]


def sizes_of(mapping):
    """An array of Size, and its length."""
    array = (Size * max(1, len(mapping)))()
    for entry, (name, value) in zip(array, mapping.items()):
        entry.name, entry.value = name.encode(), value
    return array, len(mapping)


class Handle:
    """Something of the library; destroyed when nobody holds it."""

    def __init__(self, library, pointer, destroy, keep=()):
        self.library, self.pointer, self.keep = library, pointer, keep
        self.destroy = getattr(library.c, destroy)

    def __del__(self):
        if self.pointer:
            self.destroy(self.pointer)


class Library:
    def __init__(self, places, device=None):
        path = places.library("libmkernel_runtime.so")
        try:
            self.c = C.CDLL(path)
        except OSError as error:
            raise BenchError(f"{path} cannot be loaded", str(error)) from error
        if not hasattr(self.c, "mkernel_version"):
            raise BenchError(f"{path} is older than this program",
                             "it lacks the C interface", "build it again")
        self.contexts, self.job = {}, None
        self.declare()

    def declare(self):
        c, pointer, text = self.c, C.c_void_p, C.c_char_p
        for name in ("mkernel_message", "mkernel_version"):
            getattr(c, name).restype = text
        for name in ("package", "context", "kernel", "bound", "job"):
            getattr(c, f"mkernel_{name}_destroy").argtypes = [pointer]
            getattr(c, f"mkernel_{name}_destroy").restype = None
        c.mkernel_job_join.argtypes = [pointer] * 2
        c.mkernel_job_share_package.argtypes = [pointer] * 3
        c.mkernel_job_leave.argtypes = [pointer]
        c.mkernel_context_close.argtypes = [pointer]
        c.mkernel_compile_text.argtypes = [text, C.c_size_t, text, pointer,
                                           pointer]
        c.mkernel_context_create.argtypes = [pointer] * 3
        c.mkernel_kernel_load.argtypes = [pointer] * 3
        c.mkernel_kernel_bind.argtypes = [pointer, pointer, C.c_size_t, pointer]
        c.mkernel_num_args.argtypes = [pointer]
        c.mkernel_num_args.restype = C.c_size_t
        c.mkernel_arg_name.argtypes = [pointer, C.c_size_t]
        c.mkernel_arg_name.restype = text
        c.mkernel_arg_rank.argtypes = [pointer, C.c_size_t]
        c.mkernel_arg_rank.restype = C.c_size_t
        c.mkernel_arg_sizes.argtypes = [pointer, C.c_size_t]
        c.mkernel_arg_sizes.restype = C.POINTER(C.c_int64)
        c.mkernel_arg_data.argtypes = [pointer, C.c_size_t]
        c.mkernel_arg_data.restype = pointer
        c.mkernel_attach.argtypes = [pointer, C.c_size_t, pointer, pointer]
        c.mkernel_launch.argtypes = [pointer, pointer]
        c.mkernel_synchronize.argtypes = [pointer, pointer]

    def check(self, status, what):
        if status:
            message = self.c.mkernel_message().decode(errors="replace")
            raise BenchError(what, message or f"status {status}")

    def start(self, target):
        """Brings the GPU up, which would else be part of the first load."""
        if target == "host":
            return
        try:
            cuda = C.CDLL("libcuda.so.1")
        except OSError as error:
            raise BenchError("the driver cannot be loaded", str(error)) from error
        context = C.c_void_p()
        if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(C.byref(context), 0):
            raise BenchError("the driver finds no GPU", remedy="see mk-info")

    def compile(self, text, name, options):
        """A package. `options` as in kernels.Request."""
        sizes, num_sizes = sizes_of(options["bind"])
        params, num_params = sizes_of(options["set"])
        given = CompileOptions(
            size=C.sizeof(CompileOptions), target=options["target"].encode(),
            kernel=(options["kernel"] or "").encode() or None, sizes=sizes,
            num_sizes=num_sizes, params=params, num_params=num_params,
            nodes=options.get("nodes", 1) if options.get("gpus") else 0,
            gpus=options.get("gpus", 0),
            grid=options["grid"],
            tuning=(options["tuning"] or "").encode() or None)
        package, source = C.c_void_p(), text.encode()
        self.check(self.c.mkernel_compile_text(
            source, len(source), name.encode(), C.byref(given),
            C.byref(package)), f"compiling {name}")
        return Handle(self, package, "mkernel_package_destroy")

    def join(self, heap_bytes=0, gpu=None, timeout_s=60, network=None):
        """Makes this process the rank of a job that its environment says; waits
        for the others. All kernels share the job's one context from then on, but for
        those that are loaded alone. `network`: options of the emulated network."""
        job = C.c_void_p()
        given = JobOptions(size=C.sizeof(JobOptions),
                           timeout_ns=int(timeout_s * 1e9))
        self.check(self.c.mkernel_job_join(C.byref(given), C.byref(job)), "job")
        self.job = Handle(self, job, "mkernel_job_destroy")
        self.options = ContextOptions(
            size=C.sizeof(ContextOptions), heap_bytes=heap_bytes,
            transport=b"loopback" if network else None,
            transport_options=network.encode() if network else None,
            gpu_plus_one=0 if gpu is None else gpu + 1, member_of=job)
        self.own_gpu = ContextOptions(size=C.sizeof(ContextOptions),
                                      gpu_plus_one=self.options.gpu_plus_one)

    def share(self, package):
        """Rank 0's package, on all ranks; the others pass None. Collective."""
        shared = C.c_void_p()
        self.check(self.c.mkernel_job_share_package(
            self.job.pointer, package.pointer if package else None,
            C.byref(shared)), "sharing a package")
        return Handle(self, shared, "mkernel_package_destroy")

    def leave(self):
        """Ends the job in peace. Collective."""
        for context in self.contexts.values():
            self.check(self.c.mkernel_context_close(context.pointer), "context")
        self.contexts.clear()
        self.check(self.c.mkernel_job_leave(self.job.pointer), "job")

    def context(self, package, key, alone):
        key = "alone" if alone else "job" if self.job else key
        if key not in self.contexts:
            context = C.c_void_p()
            options = None if not self.job else C.byref(
                self.own_gpu if alone else self.options)
            self.check(self.c.mkernel_context_create(
                package.pointer, options, C.byref(context)), "context")
            self.contexts[key] = Handle(self, context,
                                        "mkernel_context_destroy")
        return self.contexts[key]

    def load(self, package, key="", alone=False):
        """Kernels with the same key have the same mesh and share a context. `alone`: of
        one rank, also in a job."""
        context, kernel = self.context(package, key, alone), C.c_void_p()
        self.check(self.c.mkernel_kernel_load(
            context.pointer, package.pointer, C.byref(kernel)), "loading")
        return Kernel(self, kernel, "mkernel_kernel_destroy", (context, package))


class Kernel(Handle):
    def bind(self, dims):
        sizes, count = sizes_of(dims)
        bound = C.c_void_p()
        self.library.check(self.library.c.mkernel_kernel_bind(
            self.pointer, sizes, count, C.byref(bound)), "binding")
        return Bound(self.library, bound, "mkernel_bound_destroy", (self,))


class Bound(Handle):
    def arguments(self):
        """{name: (index, extents)}"""
        c, result = self.library.c, {}
        for i in range(c.mkernel_num_args(self.pointer)):
            sizes = c.mkernel_arg_sizes(self.pointer, i)
            rank = c.mkernel_arg_rank(self.pointer, i)
            result[c.mkernel_arg_name(self.pointer, i).decode()] = (
                i, [sizes[d] for d in range(rank)])
        return result

    def attach(self, index, address, strides):
        array = (C.c_int64 * max(1, len(strides)))(*strides)
        self.library.check(self.library.c.mkernel_attach(
            self.pointer, index, address, array), f"argument {index}")

    def address(self, index):
        """Of the argument's memory on the device."""
        return self.library.c.mkernel_arg_data(self.pointer, index)

    def launcher(self, stream, deadline_s=30):
        """A function without arguments that launches, as quickly as Python
        can."""
        options = LaunchOptions(C.sizeof(LaunchOptions), stream or None,
                                int(deadline_s * 1e9), 0)
        launch, pointer = self.library.c.mkernel_launch, self.pointer
        reference, check = C.byref(options), self.library.check

        def call():
            status = launch(pointer, reference)
            if status:
                check(status, "launch")
        call.keep = (self, options)
        return call

    def synchronize(self, stream=None):
        self.library.check(self.library.c.mkernel_synchronize(
            self.pointer, stream), "synchronize")
