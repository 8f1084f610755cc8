"""cublasLt's matrix product by ctypes: the best of its first 8 heuristics with
a workspace of 256 MiB."""
import ctypes as C
import glob
import os
import sys

from .errors import BenchError
from .fastest import find_fastest
from .measure import in_turn

WORKSPACE = 256 << 20
HEURISTICS = 8
CUDA_TYPES = {"f32": 0, "f16": 2, "bf16": 14, "f8e4m3": 28, "f8e5m2": 29}
COMPUTE_32F = 68
TRANSA, TRANSB, A_SCALE, B_SCALE, FAST_ACCUM = 3, 4, 17, 18, 25
PREFERENCE_WORKSPACE = 1


class Heuristic(C.Structure):
    _fields_ = [("algo", C.c_uint64 * 8), ("workspace", C.c_size_t),
                ("state", C.c_int), ("waves", C.c_float),
                ("reserved", C.c_int * 4)]


def find_library():
    """What torch has loaded, else one of its packages, else the toolkit's."""
    loaded = []
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            loaded = sorted({line.split()[-1] for line in maps
                             if "/libcublasLt.so" in line})
    except OSError:
        pass
    candidates = loaded
    for folder in sys.path:
        candidates += sorted(glob.glob(os.path.join(
            folder, "nvidia", "*", "lib", "libcublasLt.so.*")))
    candidates += ["libcublasLt.so.13", "libcublasLt.so.12"]
    candidates += sorted(glob.glob("/usr/local/cuda/lib64/libcublasLt.so.*"))
    problem = "no candidate"
    for candidate in candidates:
        try:
            return C.CDLL(candidate), candidate
        except OSError as error:
            problem = str(error)
    raise BenchError("cublasLt cannot be loaded", problem,
                     "install the CUDA toolkit or torch's nvidia-cublas package")


class CublasLt:
    def __init__(self, device):
        self.device = device
        self.library, self.path = find_library()
        self.library.cublasLtGetVersion.restype = C.c_size_t
        self.version = int(self.library.cublasLtGetVersion())
        self.handle = C.c_void_p()
        self.check("cublasLtCreate", C.byref(self.handle))
        self.workspace = device.torch.empty(WORKSPACE, device="cuda",
                                            dtype=device.torch.uint8)

    def check(self, function, *arguments):
        status = getattr(self.library, function)(*arguments)
        if status:
            raise BenchError(function, f"cublasStatus_t {status}")

    def layout(self, type, rows, columns, stride):
        """Column-major."""
        layout = C.c_void_p()
        self.check("cublasLtMatrixLayoutCreate", C.byref(layout),
                   CUDA_TYPES[type], C.c_uint64(rows), C.c_uint64(columns),
                   C.c_int64(stride))
        return layout

    def matmul(self, a, b, out, sizes, types, a_rows=True, b_rows=False,
               fast_accum=None):
        """A callable for out = A * B, row-major, in `sizes` (M, N, K). A is stored
        M x K (a_rows) or K x M; `b` are several B, which calls take in turn, stored
        K x N (b_rows) or N x K. Returns it with what was chosen."""
        m, n, k = sizes
        type_a, type_b, type_out = types
        # Column-major, the transposed product: out^T = B^T * A^T.
        desc = C.c_void_p()
        self.check("cublasLtMatmulDescCreate", C.byref(desc), COMPUTE_32F, 0)
        self.attribute(desc, TRANSA, C.c_int32(0 if b_rows else 1))
        self.attribute(desc, TRANSB, C.c_int32(0 if a_rows else 1))
        if type_a.startswith("f8"):
            self.ones = self.device.torch.ones(1, device="cuda")
            for scale in (A_SCALE, B_SCALE):
                self.attribute(desc, scale, C.c_void_p(self.ones.data_ptr()))
            self.attribute(desc, FAST_ACCUM, C.c_int8(bool(fast_accum)))
        left = self.layout(type_b, *((n, k, n) if b_rows else (k, n, k)))
        right = self.layout(type_a, *((k, m, k) if a_rows else (m, k, m)))
        result = self.layout(type_out, n, m, n)
        algorithms = self.heuristics(desc, left, right, result)
        one, zero = C.c_float(1), C.c_float(0)
        pointers = [C.c_void_p(t.data_ptr()) for t in (a, out, self.workspace)]
        function = self.library.cublasLtMatmul
        stream = C.c_void_p(self.device.stream_handle())

        def make(found, weights):
            arguments = (self.handle, desc, C.byref(one), C.c_void_p(weights.data_ptr()), left,
                         pointers[0], right, C.byref(zero), pointers[1], result,
                         pointers[1], result, C.byref(found.algo),
                         pointers[2], C.c_size_t(WORKSPACE), stream)

            def call():
                # Captured on another stream than it was made on, maybe.
                status = function(*arguments)
                if status:
                    raise BenchError("cublasLtMatmul",
                                     f"cublasStatus_t {status}")
            call.keep = (a, weights, out, found)
            return call

        return self.fastest([in_turn([make(found, weights) for weights in b])
                             for found in algorithms], len(b))

    def attribute(self, desc, which, value):
        self.check("cublasLtMatmulDescSetAttribute", desc, which,
                   C.byref(value), C.c_size_t(C.sizeof(value)))

    def heuristics(self, desc, left, right, result):
        preference = C.c_void_p()
        self.check("cublasLtMatmulPreferenceCreate", C.byref(preference))
        size = C.c_uint64(WORKSPACE)
        self.check("cublasLtMatmulPreferenceSetAttribute", preference,
                   PREFERENCE_WORKSPACE, C.byref(size), C.c_size_t(8))
        found, count = (Heuristic * HEURISTICS)(), C.c_int()
        self.check("cublasLtMatmulAlgoGetHeuristic", self.handle, desc, left,
                   right, result, result, preference, HEURISTICS, found,
                   C.byref(count))
        usable = [f for f in found[:count.value] if f.state == 0]
        if not usable:
            raise BenchError("cublasLtMatmulAlgoGetHeuristic",
                             "no algorithm for this product")
        return usable

    def fastest(self, calls, copies):
        best, _ = find_fastest(self.device, calls, copies)
        return calls[best], {"heuristic": best, "of": len(calls),
                             "version": self.version}
