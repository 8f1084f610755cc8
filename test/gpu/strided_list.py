#!/usr/bin/env python3
"""A list of gathered rows whose entries are not side by side, as a column of a
table is not: through the C ABI. Small integers, so that results are exact.

usage: strided_list.py PREFIX
"""
import array
import ctypes as C
import os
import random
import sys

from pointers import Library, Places, ROOT, decode, encode

S, M, N, K, MOST = 40, 70, 64, 64, 3


def upload(library, bound, name, bits):
    index = bound.arguments()[name][0]
    library.check(library.c.mkernel_upload(bound.pointer, index, bits.tobytes(), None), name)


def main():
    library = Library(Places(sys.argv[1]))
    for function in (library.c.mkernel_upload, library.c.mkernel_download):
        function.argtypes = [C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p]
    with open(os.path.join(ROOT, "test/gpu/gathered.mlir")) as file:
        text = file.read()
    package = library.compile(text[:text.index("func.func")], "gathered.mlir", {
        "target": "sm_90a", "kernel": "gathered", "bind": {}, "set": {}, "grid": 2, "tuning": ""})
    kernel = library.load(package)
    sizes = {"S": S, "M": M, "N": N, "K": K, "FIRST": 0, "USED": M}
    bound, table = kernel.bind(sizes), kernel.bind({**sizes, "M": MOST * M})
    random.seed(3)
    a, b = ([float(random.randint(-2, 2)) for _ in range(n * K)] for n in (S, N))
    rows = [random.randrange(S) for _ in range(M)]
    wanted = decode(encode([sum(a[row * K + k] * b[j * K + k] for k in range(K))
                            for row in rows for j in range(N)], "bf16"), "bf16")
    upload(library, bound, "a", array.array("H", encode(a, "bf16")))
    upload(library, bound, "b", array.array("H", encode(b, "bf16")))
    index, failed = bound.arguments()["list"][0], False
    for stride in range(1, MOST + 1):
        entries = array.array("i", [-1]) * (MOST * M)
        entries[:stride * M:stride] = array.array("i", rows)
        upload(library, table, "list", entries)
        bound.attach(index, table.address(index), [stride])
        bound.launcher(None)()
        bound.synchronize()
        result = C.create_string_buffer(2 * M * N)
        library.check(library.c.mkernel_download(
            bound.pointer, bound.arguments()["c"][0], result, None), "c")
        wrong = sum(x != y for x, y in zip(decode(array.array("H", result.raw), "bf16"), wanted))
        print(f"stride {stride}: {wrong} of {M * N} elements are wrong")
        failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
