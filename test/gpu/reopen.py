#!/usr/bin/env python3
"""Launches that fail, and life after them: whatever an op of bounds.mlir names that does not
exist ends in a report, as does one CTA of a cluster of clusters.mlir; then the same process closes
the context, makes a new one and gets right products from it. On a GPU its memory, made before all
that, still has what was put there.

usage: reopen.py PREFIX TARGET
"""
import array
import ctypes as C
import gc
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
sys.path.append(os.path.dirname(os.path.realpath(__file__)))

from pointers import GpuMemory, HostMemory, Library, Places  # noqa: E402
from launches import run  # noqa: E402
from mkbench.errors import BenchError  # noqa: E402

# The op that is wrong, for each value of the argument that says which.
OPS = {1: "mk.put", 2: "mk.put", 5: "mk.put", 6: "mk.wait", 7: "mk.count",
       8: "memref.load", 9: "memref.store", 10: "mk.put", 13: "mk.push"}
# Tiles of 8 rows and 8 columns: of the first and second CTA of a cluster, of the last one.
TILES = {0: "mk.count", 8: "mk.count", 63: "mk.count"}
ROWS = [0, 1, 2, 0, 1, 2, 0, 1]
FILES = [("bounds", {"M": 8, "C": 6}, lambda n: {"wrong": [n], "at": ROWS}, OPS),
         ("clusters", {"M": 1024, "N": 1024, "K": 512}, lambda n: {"at": [n]}, TILES)]


def words(values):
    """32-bit integers as the 16-bit words that memory is made of."""
    return array.array("H", array.array("i", values).tobytes())


def fail(library, target, package, key, dims, values):
    """What the launch says, by whom."""
    memory = HostMemory if target == "host" else GpuMemory
    held = {name: memory(words(data)) for name, data in values.items()}
    bound = library.load(package, key).bind(dims)
    known = bound.arguments()
    for name, data in held.items():
        bound.attach(known[name][0], data.address, [1])
    launch, said = bound.launcher(None, deadline_s=5), []

    def take(call):
        try:
            call()
        except BenchError as error:
            said.append(str(error))
        else:
            said.append("")
    # On a GPU launches are enqueued: those behind the one that fails do nothing.
    for _ in range(1 if target == "host" else 3):
        take(launch)
    take(bound.synchronize)
    take(launch)
    context = library.contexts.pop(key)
    take(lambda: library.check(library.c.mkernel_context_close(context.pointer),
                               "close"))
    for data in held.values():
        data.free()
    return said


def main(prefix, target):
    library = Library(Places(prefix))
    for name, arguments in {"capture": 3, "graph_launch": 2,
                            "context_close": 1}.items():
        getattr(library.c, f"mkernel_{name}").argtypes = [C.c_void_p] * arguments
    library.c.mkernel_graph_destroy.argtypes = [C.c_void_p]
    kept = (HostMemory if target == "host" else GpuMemory)(words(range(1000)))
    failed = 0
    for kernel, dims, values, ops in FILES:
        file = f"{kernel}.mlir"
        with open(os.path.join(ROOT, "test", "gpu", file), encoding="utf-8") as source:
            package = library.compile(source.read(), file, {
                "target": target, "kernel": kernel, "bind": {"gpu": 1}, "set": {},
                "grid": 0, "tuning": "none"})
        for number, op in ops.items():
            said = fail(library, target, package, f"{kernel} {number}", dims,
                        values(number))
            gc.collect()
            bad = [text for text in said[-3:]
                   if not re.search(rf"{re.escape(op)} \({file}:\d+", text)]
            if bad or any("serves this process no longer" in text for text in said):
                failed += 1
                print(f"FAILED {kernel} {number}: {op} is to be named: {said}")
            # In a context of its own, as good as new.
            for params in ({"SCHEDULE": 1, "TM": 64, "TN": 64}, {"CLUSTER_M": 2}):
                failed += run(library, target, params, 72, 3, None) != 0
            library.contexts.pop("", None)
            gc.collect()
    failed += kept.read() != words(range(1000))
    count = sum(len(ops) for *_, ops in FILES)
    print(f"{count - failed} of {count} failures survived")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
