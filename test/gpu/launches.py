#!/usr/bin/env python3
"""Launches back to back: a thousand in a stream that nobody waits for in between, each
with inputs and results of its own, then a graph replayed as often. On a GPU they are
queued behind long kernels, so that one begins while the one before it ends. What they
compute is exact: each row of A has one element that is not zero.

usage: launches.py PREFIX TARGET [COUNT]
"""
import array
import ctypes as C
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
sys.path.append(os.path.dirname(os.path.realpath(__file__)))

from pointers import GpuMemory, HostMemory, Library, Places, encode  # noqa: E402

M, N = 130, 136
FACTORS = (-3, -1, 1, 2)
# Parameters and K: a ticket counter, clusters, teams and split tails each leave something
# to the next launch; 71 columns are copied without the copy engine.
KINDS = [({}, 72), ({"SCHEDULE": 1, "TM": 64, "TN": 64}, 72),
         ({"CLUSTER_M": 2, "TM": 64, "TN": 64}, 72),
         ({"TEAMS": 2, "TM": 64, "TN": 64}, 72),
         ({"SCHEDULE": 2, "TAIL": 1, "TM": 64, "TN": 64}, 200),
         ({"SCHEDULE": 1, "TM": 64, "TN": 64}, 71)]


def load(library, target, params, sizes):
    path = os.path.join(ROOT, "examples", "gemm.mlir")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    package = library.compile(text, "gemm.mlir", {
        "target": target, "kernel": "gemm_nt", "bind": sizes, "set": params,
        "grid": 0, "tuning": "none"})
    return library.load(package)


def make_rows(k, rng):
    """Values of B, and for each factor and place the rows of A and C as bytes."""
    b = [[rng.randint(-8, 8) for _ in range(k)] for _ in range(N)]
    rows = {}
    for factor in FACTORS:
        for place in range(k):
            a = [0] * k
            a[place] = factor
            c = [factor * row[place] for row in b]
            rows[factor, place] = tuple(
                array.array("H", encode(values, "bf16")).tobytes()
                for values in (a, c))
    return [value for row in b for value in row], rows


def run(library, target, params, k, count, busy):
    memory = HostMemory if target == "host" else GpuMemory
    bound = load(library, target, params, {"K": k}).bind({"M": M, "N": N, "K": k})
    rng = random.Random(3)
    b, rows = make_rows(k, rng)
    choices = [[(rng.choice(FACTORS), rng.randrange(k)) for _ in range(M)]
               for _ in range(count)]
    a_memory = memory(array.array("H", b"".join(
        rows[choice][0] for launch in choices for choice in launch)))
    b_memory = memory(array.array("H", encode(b, "bf16")))
    # One more result: the graph's, which has the last inputs.
    c_memory = memory(array.array("H", [0x7fc1]) * ((count + 1) * M * N))
    known = bound.arguments()
    launch = bound.launcher(None)

    def attach(i, result):
        bound.attach(known["a"][0], a_memory.address + 2 * i * M * k, [k, 1])
        bound.attach(known["c"][0], c_memory.address + 2 * result * M * N, [N, 1])
    bound.attach(known["b"][0], b_memory.address, [k, 1])
    for _ in range(20 if busy else 0):
        busy()
    for i in range(count):
        attach(i, i)
        launch()
    attach(count - 1, count)
    graph = C.c_void_p()
    library.check(library.c.mkernel_capture(bound.pointer, None, C.byref(graph)),
                  "capture")
    for _ in range(count):
        library.check(library.c.mkernel_graph_launch(graph, None), "graph")
    bound.synchronize()
    library.c.mkernel_graph_destroy(graph)
    bits = c_memory.read().tobytes()
    wrong = [i for i, launch in enumerate([*choices, choices[-1]])
             if bits[2 * i * M * N:2 * (i + 1) * M * N] !=
             b"".join(rows[choice][1] for choice in launch)]
    for held in (a_memory, b_memory, c_memory):
        held.free()
    text = ",".join(f"{name}={value}" for name, value in params.items())
    print(f"gemm_nt {text} K={k}: {count + 1 - len(wrong)} of {count + 1} right"
          + (f", the first wrong one is {wrong[0]}" if wrong else ""))
    return len(wrong)


def main(prefix, target, count=1000):
    library = Library(Places(prefix))
    for name, arguments in {"capture": 3, "graph_launch": 2}.items():
        getattr(library.c, f"mkernel_{name}").argtypes = [C.c_void_p] * arguments
    library.c.mkernel_graph_destroy.argtypes = [C.c_void_p]
    busy = None
    if target != "host":
        # Its own memory, whatever is in there: a millisecond each.
        busy = load(library, target, {}, {}).bind(
            {"M": 8192, "N": 8192, "K": 8192}).launcher(None)
    wrong = sum(run(library, target, params, k, int(count), busy)
                for params, k in KINDS)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
