#!/usr/bin/env python3
"""Arguments in any memory: bases that are aligned to their element alone, row
strides that are no multiple of 16 bytes, strides of views. Needs no torch: the
C ABI and the driver, both by ctypes. Products of small integers, so that every
result is exact; what lies between the rows of the result must stay as it was.

usage: pointers.py PREFIX TARGET [FILE.mlir]
"""
import array
import ctypes as C
import itertools
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
for folder in ("tools/mk-bench", "share/mkernel/bench"):
    sys.path.append(os.path.join(ROOT, folder))

from mkbench.device_host import decode, encode  # noqa: E402
from mkbench.library import Library  # noqa: E402
from mkbench.places import Places  # noqa: E402

M, N, K = 70, 90, 40
SENTINEL = 0x7fc1  # a NaN


class HostMemory:
    def __init__(self, bits):
        self.bits = bits
        self.buffer = (C.c_char * (len(bits) * 2)).from_buffer(bits)
        self.address = C.addressof(self.buffer)

    def read(self):
        return self.bits

    def free(self):
        pass


class GpuMemory:
    cuda, ordinal = None, 0

    @classmethod
    def check(cls, status, what):
        if status:
            sys.exit(f"{what}: CUresult {status}")

    @classmethod
    def start(cls):
        """Makes the GPU's primary context current."""
        if cls.cuda:
            return
        cls.cuda = C.CDLL("libcuda.so.1")
        device, context = C.c_int(), C.c_void_p()
        cls.check(cls.cuda.cuInit(0), "cuInit")
        cls.check(cls.cuda.cuDeviceGet(C.byref(device), cls.ordinal), "cuDeviceGet")
        cls.check(cls.cuda.cuDevicePrimaryCtxRetain(C.byref(context), device),
                  "cuDevicePrimaryCtxRetain")
        cls.check(cls.cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")

    def __init__(self, bits):
        self.start()
        self.count = len(bits)
        pointer = C.c_uint64()
        self.check(self.cuda.cuMemAlloc_v2(C.byref(pointer),
                                           C.c_size_t(2 * self.count)),
                   "cuMemAlloc")
        self.address = pointer.value
        self.check(self.cuda.cuMemcpyHtoD_v2(
            pointer, bits.tobytes(), C.c_size_t(2 * self.count)), "copy")

    def read(self):
        data = C.create_string_buffer(2 * self.count)
        self.check(self.cuda.cuMemcpyDtoH_v2(
            data, C.c_uint64(self.address), C.c_size_t(2 * self.count)), "copy")
        return array.array("H", data.raw)

    def free(self):
        self.cuda.cuMemFree_v2(C.c_uint64(self.address))


class View:
    """A matrix inside of memory: `offset` elements from its start, rows `pad`
    elements farther apart than they have to be, maybe transposed."""

    def __init__(self, memory, rows, columns, offset, pad, transposed, values):
        inner = rows if transposed else columns
        step = inner + pad
        self.strides = [1, step] if transposed else [step, 1]
        self.offset, self.shape = offset, (rows, columns)
        length = offset + step * (columns if transposed else rows) + 8
        bits = array.array("H", [SENTINEL]) * length
        if values:
            for (i, j), value in zip(self.places(), encode(values, "bf16")):
                bits[self.at(i, j)] = value
        self.memory = memory(bits)
        self.address = self.memory.address + 2 * offset

    def places(self):
        return itertools.product(*map(range, self.shape))

    def at(self, i, j):
        return self.offset + i * self.strides[0] + j * self.strides[1]

    def check(self, wanted):
        """What is wrong, or nothing."""
        bits = self.memory.read()
        inside = {self.at(i, j): value
                  for (i, j), value in zip(self.places(), wanted)}
        values = decode(bits, "bf16")
        for place, value in enumerate(values):
            if place in inside and value != inside[place]:
                return f"element {place}: {value}, not {inside[place]}"
            if place not in inside and bits[place] != SENTINEL:
                return f"element {place} is outside and was written"
        return None


def product(a, b, b_stored_t):
    """In exact integers, rounded to bf16 as the kernel's result is."""
    columns = [b[j * K:(j + 1) * K] if b_stored_t else b[j::N]
               for j in range(N)]
    sums = [float(sum(x * y for x, y in zip(a[i * K:(i + 1) * K], column)))
            for i in range(M) for column in columns]
    return decode(encode(sums, "bf16"), "bf16")


LAYOUTS = {  # offset, pad, transposed
    "tight": (0, 0, False), "base + 2 bytes": (1, 0, False),
    "base + 8 bytes": (4, 0, False), "stride + 2 bytes": (0, 1, False),
    "stride + 16 bytes": (0, 8, False), "both odd": (3, 5, False),
    "transposed": (0, 0, True), "transposed, odd": (1, 3, True)}


def choose(target):
    """Layouts of a, b and c: each in each, the others tight; then all alike."""
    usable = [name for name, (_, pad, transposed) in LAYOUTS.items()
              if target != "host" or not (pad or transposed)]
    choices = [tuple(layout if arg == which else "tight" for arg in "abc")
               for layout in usable for which in "abc"]
    return list(dict.fromkeys(choices + [(layout,) * 3 for layout in usable]))


def run(library, target, path, kernel, b_stored_t, sizes):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    package = library.compile(text, os.path.basename(path), {
        "target": target, "kernel": kernel, "bind": sizes, "set": {}, "grid": 0,
        "tuning": ""})
    loaded = library.load(package)
    memory = HostMemory if target == "host" else GpuMemory
    rng = random.Random(7)
    a = [rng.randint(-2, 2) for _ in range(M * K)]
    b = [rng.randint(-2, 2) for _ in range(N * K)]
    wanted = product(a, b, b_stored_t)
    failed = 0
    choices = choose(target)
    for choice in choices:
        shapes = {"a": (M, K), "b": (N, K) if b_stored_t else (K, N),
                  "c": (M, N)}
        views = {name: View(memory, *shape, *LAYOUTS[layout], values)
                 for (name, shape), layout, values in zip(
                     shapes.items(), choice, (a, b, None))}
        bound = loaded.bind({"M": M, "N": N, "K": K})
        known = bound.arguments()
        for name, view in views.items():
            bound.attach(known[name][0], view.address, view.strides)
        launch = bound.launcher(None)
        for _ in range(2):
            launch()
        bound.synchronize()
        problem = views["c"].check(wanted)
        if problem:
            failed += 1
            print(f"FAILED {kernel}: a {choice[0]}, b {choice[1]}, "
                  f"c {choice[2]}: {problem}")
        for view in views.values():
            view.memory.free()
    print(f"{kernel}, sizes {'given' if sizes else 'open'} when compiled: "
          f"{len(choices) - failed} of {len(choices)} right")
    return failed


def main(prefix, target, path=os.path.join(ROOT, "examples", "gemm.mlir")):
    library = Library(Places(prefix))
    failed = 0
    for sizes in ({}, {"M": M, "N": N, "K": K}):
        failed += run(library, target, path, "gemm_nt", True, sizes)
        failed += run(library, target, path, "gemm_nn", False, sizes)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
