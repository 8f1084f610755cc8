#!/usr/bin/env python3
"""Kernels with collectives, run by several processes with a GPU each, through the C ABI.

usage: ranks.py PREFIX TARGET RANKS WHAT [COUNT or DEADLINE] [runs|lost] [KERNEL]

  queue    COUNT launches in a stream that nobody waits for in between, each with inputs
           and results of its own
  graph    the same as replays of one captured launch
  streams  the same on two streams in turn, each launch behind an event of the one before
  pairs    two kernels, each on a stream of its own, in turn
  captured two kernels in one graph that the program itself captures, replayed COUNT times
  order    the last rank launches two kernels in the other order: a report names both;
           ordergraph: the same with captured launches; ordercapture: with graphs of the
           program's own; then as again
  killed   the last rank is killed; the others have to say so within DEADLINE + 1 s
  late     the last rank begins after DEADLINE s; the others have to report their wait
           within DEADLINE + 1 s
  again    as late; then all ranks close the context, make a new one in the same job,
           and everything is right in that
  survivors  as killed, rank 0 or the last one (KERNEL: first or last); the others leave the
           job, join one of another name without it, and everything is right there
  exporter   the last rank is killed; rank 0 writes into its memory, of which it has the
           mapping, and says what became of it

After `killed` and `late` the ranks that are left run another kernel: "runs" says that it has
to be right, "lost" that the GPU no longer serves the process (ends in an error).

All sums are exact: each row of A has one element other than 0 in the part of K of each
rank. Scratch memory and results are poisoned before each launch, in the stream.
"""
import array
import ctypes as C
import functools
import os
import random
import signal
import socket
import subprocess
import sys
import time

sys.path.append(os.path.dirname(os.path.realpath(__file__)))

import pointers  # noqa: E402,F401 (where mkbench is)
from mkbench.errors import BenchError  # noqa: E402
from mkbench.library import LaunchOptions  # noqa: E402
from mkbench.places import Places  # noqa: E402
from pointers import ROOT, encode  # noqa: E402
from rank_devices import Gpu, Host, Interpreter  # noqa: E402
from rank_library import INTERPRETED, RankLibrary  # noqa: E402

M, N, K = 201, 130, 72  # the last shard is smaller
FACTORS = (-3, -1, 1, 2)
# What the ranks split, by argument: rows, columns or nothing.
KERNELS = {
    "ag_gemm": {"a": "rows", "b": "rows", "c": "columns"},
    "gemm_rs": {"a": "columns", "b": "columns", "c": "rows"},
    "gemm_rs_add": {"a": "columns", "b": "columns", "c": "rows"},
    "gemm_ar": {"a": "columns", "b": "columns", "c": None}}
BF16 = {v: array.array("H", encode([v], "bf16")).tobytes() for v in range(-256, 257)}


def part(extent, rank, ranks):
    """What a rank has of a dimension."""
    shard = -(-extent // ranks)
    return range(min(rank * shard, extent), min((rank + 1) * shard, extent))


class Problem:
    """A kernel with the inputs of `count` launches, of which each rank knows all."""

    def __init__(self, library, device, name, rank, ranks, count):
        self.library, self.device, self.name = library, device, name
        split = KERNELS[name]
        self.bound = library.collective(name).bind({"M": M, "N": N, "K": K})
        device.bound = self.bound
        rng = random.Random(name)
        b = [[rng.randint(-8, 8) for _ in range(K)] for _ in range(N)]
        parts = [part(K, r, ranks) for r in range(ranks)]
        own = {"rows": lambda n: part(n, rank, ranks), None: range}
        rows = own.get(split["a"], range)(M)
        inner = part(K, rank, ranks) if split["a"] == "columns" else range(K)
        results = own["rows" if split["c"] == "rows" else None](M)
        columns = own["rows" if split["c"] == "columns" else None](N)

        @functools.cache
        def row_of_a(choice):
            values = {place: factor for factor, place in choice}
            return b"".join(BF16[values.get(k, 0)] for k in inner)

        @functools.cache
        def row_of_c(choice):
            return b"".join(BF16[sum(f * b[n][k] for f, k in choice)] for n in columns)

        a_bytes, c_bytes = [], []
        for _ in range(count):
            # For each row a factor and a place in each part of K.
            choices = [[(rng.choice(FACTORS), rng.choice(p)) for p in parts]
                       for _ in range(M)]
            for row in rows:
                a_bytes.append(row_of_a(tuple(choices[row])))
            for row in results:
                c_bytes.append(row_of_c(tuple(choices[row])))
        b_rows = own["rows" if split["b"] == "rows" else None](N)
        b_own = b"".join(BF16[b[n][k]] for n in b_rows for k in inner)
        self.wanted = b"".join(c_bytes)
        self.a_size, self.c_size = len(rows) * len(inner) * 2, len(results) * len(columns) * 2
        self.count = count
        self.inputs = device.Memory(array.array("H", b"".join(a_bytes)))
        self.results = device.Memory(array.array("H", [0x7fc1]) * (len(self.wanted) // 2))
        known = self.bound.arguments()
        self.place = {argument: library.c.mkernel_arg_data(self.bound.pointer, i)
                      for argument, (i, _) in known.items()}
        self.bytes = {argument: library.c.mkernel_arg_bytes(self.bound.pointer, i)
                      for argument, (i, _) in known.items()}
        assert self.bytes["a"] == self.a_size and self.bytes["c"] == self.c_size
        b_memory = device.Memory(array.array("H", b_own))
        device.copy(self.place["b"], b_memory.address, len(b_own), None)
        self.bound.synchronize()

    def begin(self, i, stream):
        """Inputs of launch `i`, and nothing of the one before."""
        device = self.device
        for argument, place in self.place.items():
            if argument not in ("a", "b") and self.bytes[argument]:
                device.poison(place, self.bytes[argument], stream)
        if self.a_size:
            device.copy(self.place["a"], self.inputs.address + i * self.a_size,
                        self.a_size, stream)

    def end(self, i, stream):
        if self.c_size:
            self.device.copy(self.results.address + i * self.c_size, self.place["c"],
                             self.c_size, stream)

    def wrong(self):
        got, size = self.results.read().tobytes(), self.c_size
        return [i for i in range(self.count)
                if got[i * size:(i + 1) * size] != self.wanted[i * size:(i + 1) * size]]

    def report(self, what):
        wrong = self.wrong()
        print(f"{what} {self.name}: {self.count - len(wrong)} of {self.count} right"
              + (f", the first wrong one is {wrong[0]}" if wrong else ""), flush=True)
        return len(wrong)


def run_queue(library, device, rank, ranks, what, count):
    return sum(run_one(library, device, name, rank, ranks, what, count)
               for name in KERNELS)


def run_one(library, device, name, rank, ranks, what, count):
    problem = Problem(library, device, name, rank, ranks, count)
    bound, streams, graph = problem.bound, device.streams, C.c_void_p()
    if what == "graph":
        library.check(library.c.mkernel_capture(bound.pointer, None, C.byref(graph)),
                      "capture")
    launches = [bound.launcher(stream) for stream in streams]
    for i in range(count):
        which = i % 2 if what == "streams" else 0
        stream = streams[which]
        if what == "streams":
            device.order(streams[1 - which], stream)
        problem.begin(i, stream)
        if graph:
            library.check(library.c.mkernel_graph_launch(graph, stream), "graph")
        else:
            launches[which]()
        problem.end(i, stream)
    for stream in streams:
        bound.synchronize(stream)
    library.c.mkernel_graph_destroy(graph)
    return problem.report(f"{what}, rank {rank},")


def run_pairs(library, device, rank, ranks, count):
    """Two kernels that would wait for each other's GPUs if the ranks began them in
    another order: events keep it."""
    problems = [Problem(library, device, name, rank, ranks, count)
                for name in ("ag_gemm", "gemm_rs")]
    launches = [p.bound.launcher(s) for p, s in zip(problems, device.streams)]
    for i in range(count):
        for which, (problem, stream) in enumerate(zip(problems, device.streams)):
            problem.begin(i, stream)
            device.order(device.streams[1 - which], stream)
            launches[which]()
            problem.end(i, stream)
    for problem, stream in zip(problems, device.streams):
        problem.bound.synchronize(stream)
    return sum(problem.report(f"pairs, rank {rank},") for problem in problems)


def run_captured(library, device, rank, ranks, count):
    problems = [Problem(library, device, name, rank, ranks, count)
                for name in ("ag_gemm", "gemm_rs")]
    stream = device.streams[0]
    replay = device.capture(stream, [p.bound.launcher(stream) for p in problems])
    for i in range(count):
        for problem in problems:
            problem.begin(i, stream)
        replay(stream)
        for problem in problems:
            problem.end(i, stream)
    problems[0].bound.synchronize(stream)
    return sum(problem.report(f"captured, rank {rank},") for problem in problems)


def run_order(library, device, rank, ranks, what, deadline):
    """Both kernels, each on a stream of its own, the last rank in the other order."""
    names = ["ag_gemm", "gemm_rs"]
    problems = {name: Problem(library, device, name, rank, ranks, 2) for name in names}
    c, launches = library.c, {}
    for name, stream in zip(names, device.streams):
        bound, graph = problems[name].bound, C.c_void_p()
        launches[name] = bound.launcher(stream, deadline)
        if what == "ordercapture":
            launches[name] = functools.partial(
                device.capture(stream, [launches[name]]), stream)
        if what == "ordergraph":
            options = LaunchOptions(C.sizeof(LaunchOptions), None, int(deadline * 1e9), 0)
            library.check(c.mkernel_capture(bound.pointer, C.byref(options), C.byref(graph)),
                          "capture")
            launches[name] = functools.partial(
                lambda g, s: library.check(c.mkernel_graph_launch(g, s), "graph"), graph, stream)
    begin, said = time.monotonic(), ""
    try:
        for name in names if rank < ranks - 1 else reversed(names):
            launches[name]()
        for name, stream in zip(names, device.streams):
            problems[name].bound.synchronize(stream)
    except BenchError as error:
        said = str(error)
    print(f"rank {rank}: {what}: after {time.monotonic() - begin:.2f} s: {said or 'nothing'}",
          flush=True)
    # Replays of the program's graphs are not counted: what the other rank is in is known only as long
    # as it is in that.
    named = [f"'{name}'" in said for name in names]
    if not (any if what == "ordercapture" else all)(named) or "in the same order" not in said:
        print(f"rank {rank}: FAILED: a report had to name the kernels")
        return 1
    library.give_up()
    status = all_right(library, device, rank, ranks, "order")
    library.leave()
    return status


def all_right(library, device, rank, ranks, what):
    return sum(run_one(library, device, name, rank, ranks, what, 5)
               for name in ("ag_gemm", "gemm_rs"))


def run_survivors(library, device, rank, ranks, deadline, dead):
    dead = 0 if dead == "first" else ranks - 1
    problem = Problem(library, device, "ag_gemm", rank, ranks, 2)
    stream, said = device.streams[0], ""
    launch = problem.bound.launcher(stream, deadline)
    try:
        for i in range(2):
            if i and rank == dead:
                time.sleep(0.5)  # the others are waiting by then
                os.kill(os.getpid(), signal.SIGKILL)
            problem.begin(i, stream)
            launch()
            problem.bound.synchronize(stream)
    except BenchError as error:
        said = str(error)
    print(f"rank {rank}: survivors: {said or 'nothing'}", flush=True)
    if f"rank {dead} was lost" not in said and f"rank {dead} is gone" not in said:
        return 1
    library.give_up()
    library.c.mkernel_job_leave(library.member)
    # The same process and GPU, in a job of those that are left.
    rank -= rank > dead
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks - 1),
                      LOCAL_WORLD_SIZE=str(ranks - 1),
                      TORCHELASTIC_RUN_ID=os.environ["TORCHELASTIC_RUN_ID"] + "-again")
    left = RankLibrary(library.places, library.target, library.gpu)
    status = all_right(left, device, rank, ranks - 1, "survivors")
    left.leave()
    return status


def run_exporter(library, device, rank, ranks):
    """Whether writes into memory whose exporter was killed stay valid."""
    library.collective("ag_gemm")
    c, context = library.c, library.contexts["job"].pointer
    c.mkernel_symmetric_allocate.argtypes = [C.c_void_p, C.c_uint64, C.c_void_p]
    c.mkernel_symmetric_at.argtypes = [C.c_void_p, C.c_uint32, C.c_void_p, C.c_void_p]
    own, there = C.c_void_p(), C.c_void_p()
    library.check(c.mkernel_symmetric_allocate(context, 1 << 20, C.byref(own)), "memory")
    library.check(c.mkernel_symmetric_at(context, ranks - 1, own, C.byref(there)), "its place")
    if rank == ranks - 1:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    other = C.c_void_p()
    status = 0
    while not status and rank == 0:  # until its end is known
        status = c.mkernel_symmetric_allocate(context, 1 << 20, C.byref(other))
    if rank:
        time.sleep(5)
        return 0
    time.sleep(1)
    values = array.array("H", range(1, 513))
    pattern, back = device.Memory(values), device.Memory(array.array("H", [0] * 512))
    for _ in range(100):
        device.copy(there.value, pattern.address, 1024, None)
    device.copy(back.address, there.value, 1024, None)
    same = back.read().tobytes() == values.tobytes()
    print("exporter: writes into memory of a killed process "
          + ("stay valid, and are read back" if same else "are lost"), flush=True)
    try:
        another_kernel(library, device)
        print("exporter: then another kernel: runs", flush=True)
    except BenchError as error:
        print(f"exporter: then another kernel: lost: {error}", flush=True)
    return 0


def another_kernel(library, device):
    """A product on this rank alone, in the same process."""
    with open(os.path.join(ROOT, "examples", "gemm.mlir"), encoding="utf-8") as file:
        text = file.read()
    bound = library.load(library.compile(text, "gemm.mlir", {
        "target": library.target, "kernel": "gemm_nt", "bind": {}, "set": {}, "grid": 8 if INTERPRETED else 0,
        "tuning": "none"})).bind({"M": 4, "N": 8, "K": 16})
    known = bound.arguments()
    a, b = [1.0] * 64, [float(i // 16) for i in range(128)]
    for name, values in (("a", a), ("b", b)):
        bits = array.array("H", encode(values, "bf16"))
        library.check(library.c.mkernel_upload(
            bound.pointer, C.c_size_t(known[name][0]),
            (C.c_char * (2 * len(bits))).from_buffer(bits), None), "upload")
    bound.launcher(None)()
    got = (C.c_uint16 * 32)()
    library.check(library.c.mkernel_download(
        bound.pointer, C.c_size_t(known["c"][0]), got, None), "download")
    want = list(encode([16.0 * n for _ in range(4) for n in range(8)], "bf16"))
    if list(got) != want:
        raise BenchError("another kernel", "its result is wrong", "")


def run_fault(library, device, rank, ranks, what, deadline, then, kernel):
    problem = Problem(library, device, kernel, rank, ranks, 4)
    stream = device.streams[0]
    launch = problem.bound.launcher(stream, deadline)
    last = rank == ranks - 1
    for i in range(3):
        problem.begin(i, stream)
        launch()
        problem.end(i, stream)
    problem.bound.synchronize(stream)
    if last and what == "killed":
        time.sleep(0.5)  # the others are waiting by then
        os.kill(os.getpid(), signal.SIGKILL)
    if last:
        time.sleep(deadline + 2)
    begin = time.monotonic()
    try:
        problem.begin(3, stream)
        launch()
        problem.bound.synchronize(stream)
        said = ""
    except BenchError as error:
        said = str(error)
    seconds = time.monotonic() - begin
    print(f"rank {rank}: {what}: after {seconds:.2f} s: {said or 'nothing'}", flush=True)
    want = "was lost" if what == "killed" else f"waited {deadline} s for"
    if want not in said or (not last and seconds > deadline + 1):
        print(f"rank {rank}: FAILED: '{want}' was to be said within {deadline + 1} s")
        return 1
    if what == "again":
        library.give_up()
        status = all_right(library, device, rank, ranks, "again")
        library.leave()
        return status
    if last:
        return 0
    try:
        another_kernel(library, device)
        after = "runs"
    except BenchError as error:
        after = "lost"
        print(f"rank {rank}: {error}")
    print(f"rank {rank}: then another kernel: {after}", flush=True)
    return after != then


def run_rank(prefix, target, ranks, what, number, then="runs", kernel="ag_gemm"):
    rank = int(os.environ["RANK"])
    # The GPU's context is made first, or the library would take another.
    device = (Host if target == "host" else Interpreter if INTERPRETED
              else lambda: Gpu(rank))()
    library = RankLibrary(Places(prefix), target, rank)
    if what in ("killed", "late", "again"):
        status = run_fault(library, device, rank, ranks, what, number, then, kernel)
    elif what in ("order", "ordergraph", "ordercapture"):
        status = run_order(library, device, rank, ranks, what, number)
    elif what == "survivors":
        status = run_survivors(library, device, rank, ranks, number, kernel)
    elif what == "exporter":
        status = run_exporter(library, device, rank, ranks)
    else:
        pairs = {"pairs": run_pairs, "captured": run_captured}
        status = (pairs[what](library, device, rank, ranks, number) if what in pairs
                  else run_queue(library, device, rank, ranks, what, number))
        library.leave()
    sys.stdout.flush()
    # Nothing is destroyed, which a lost GPU might not let happen.
    os._exit(1 if status else 0)


def free_port():
    """One whose successor is free as well: that is where the job's store listens."""
    for _ in range(100):
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
                return port
            except (OSError, OverflowError):
                continue
    sys.exit("no port is free")


def main(prefix, target, ranks, what, number="1000", *rest):
    ranks, number = int(ranks), int(number)
    if "RANK" in os.environ:
        run_rank(prefix, target, ranks, what, number, *rest)
    port = free_port()
    processes = [subprocess.Popen(
        [sys.executable, os.path.realpath(__file__), prefix, target, str(ranks), what,
         str(number), *rest],
        env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks),
             "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks),
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
             "TORCHELASTIC_RUN_ID": f"ranks-{os.getpid()}"}) for rank in range(ranks)]
    status = 0
    for rank, process in enumerate(processes):
        code = process.wait()
        killed = (rank == (0 if "first" in rest else ranks - 1)
                  and what in ("killed", "survivors", "exporter"))
        if code != (-signal.SIGKILL if killed else 0):
            print(f"rank {rank} ended with status {code}")
            status = 1
    print("all right" if not status else "FAILED")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
