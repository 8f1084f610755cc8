#!/usr/bin/env python3
"""A list of gathered rows whose entries are not side by side, as a column of a
table is not: through the C ABI, on a GPU. Small integers, so that results are exact.

usage: strided_list.py PREFIX
"""
import array
import os
import random
import sys

from pointers import GpuMemory, Library, Places, ROOT, decode, encode

S, M, N, K = 40, 70, 64, 64


def main():
    library = Library(Places(sys.argv[1]))
    with open(os.path.join(ROOT, "test/gpu/gathered.mlir")) as file:
        text = file.read()
    package = library.compile(text[:text.index("func.func")], "gathered.mlir", {
        "target": "sm_90a", "kernel": "gathered", "bind": {}, "set": {}, "grid": 2, "tuning": ""})
    bound = library.load(package).bind({"S": S, "M": M, "N": N, "K": K, "FIRST": 0, "USED": M})
    random.seed(3)
    a, b = ([float(random.randint(-2, 2)) for _ in range(n * K)] for n in (S, N))
    rows = [random.randrange(S) for _ in range(M)]
    wanted = decode(encode([sum(a[row * K + k] * b[j * K + k] for k in range(K))
                            for row in rows for j in range(N)], "bf16"), "bf16")
    known, failed = bound.arguments(), False
    for stride in (1, 2, 3):
        table = array.array("i", [-1]) * (stride * M)
        table[::stride] = array.array("i", rows)
        memory = {"list": GpuMemory(array.array("H", table.tobytes())),
                  "a": GpuMemory(array.array("H", encode(a, "bf16"))),
                  "b": GpuMemory(array.array("H", encode(b, "bf16"))),
                  "c": GpuMemory(array.array("H", [0]) * (M * N))}
        for name, strides in (("list", [stride]), ("a", [K, 1]), ("b", [K, 1]), ("c", [N, 1])):
            bound.attach(known[name][0], memory[name].address, strides)
        bound.launcher(None)()
        bound.synchronize()
        wrong = sum(x != y for x, y in zip(decode(memory["c"].read(), "bf16"), wanted))
        print(f"stride {stride}: {wrong} of {M * N} elements are wrong")
        failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
