#!/usr/bin/env python3
"""Faults of NICs in jobs of mk-run, over NICs in software, by seeds.

Every seed draws an example, a number of nodes, a transport, its options, the
weather and a fault. The job must end with the right result, or with one clear
error on every rank in time, and nothing may be left: no process, file, memory or
socket.

  matrix.py --bin BUILD/bin --packages FOLDER [--library LIBSOFTRDMA] [--seeds N] [--seed S]

With mk-opt in BUILD/bin all examples that communicate are drawn, else the test
packages of FOLDER.
"""
import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../Faults/Inputs"),
                os.path.join(HERE, "../../../softrdma")]

import examples  # noqa: E402
from jobs import Job  # noqa: E402
from kills import cause_of  # noqa: E402
from rules import Setup, ends_well, right  # noqa: E402
from watch import left_behind, may_be_left  # noqa: E402

DEADLINE = 4  # seconds, of a wait of a job and of a request
# Until the fault happens, on a machine with other work.
RUNNING = 20

# Launches of a job in which a rank is killed, so that kernels run when it is.
LONG = 40

# Lines that are no errors; the launcher's of a machine that is busy.
NOTICES = r"warning|^mk-run: \d+ of \d+ ranks have started$"

Fault = collections.namedtuple("Fault", "name knobs outcome text")
RIGHT, EITHER, ERROR = "right", "either", "error"


def some(low, high):
    return lambda random: str(random.randint(low, high))


# What may happen to a job. Bytes that were lost are sent again, so a fault may end
# well; a signal that was lost, or might have been, is an error.
FAULTS = [
    Fault("none", {}, RIGHT, ""),
    Fault("lost", {"FAIL_NTH": some(1, 30)}, EITHER, "failed on NIC"),
    Fault("unreachable", {"FAIL_NTH": some(1, 30), "FAIL_STATUS": "15"}, EITHER, "failed on NIC"),
    Fault("no receive", {"FAIL_NTH": some(1, 30), "FAIL_STATUS": "10"}, EITHER, "failed on NIC"),
    Fault("failed after delivery", {"FAIL_NTH": some(1, 30), "FAIL_LATE": "1"}, EITHER,
          "failed on NIC"),
    Fault("acknowledgement lost", {"ACK_LOST": some(1, 30), "TIMEOUT": "100000"}, EITHER,
          "failed on NIC"),
    Fault("packets lost", {"LOSS": "1%", "TIMEOUT": "100000"}, EITHER, "failed on NIC"),
    Fault("dead NIC", {"DEAD_NIC": some(1, 20), "TIMEOUT": "100000"}, EITHER, "NIC"),
    Fault("link down", {"LINK_DOWN": some(1, 20), "TIMEOUT": "100000"}, EITHER, "NIC"),
    Fault("fatal", {"FATAL": some(1, 20), "TIMEOUT": "100000"}, EITHER, "NIC"),
    Fault("no RDMA write", {"CAPS": "0x7", "VICTIMS": ""}, ERROR, "has no RDMA write"),
    Fault("posted receives", {"CAPS": "0xf", "VICTIMS": ""}, RIGHT, ""),
    Fault("a queue that refuses", {"REFUSE_NTH": some(1, 30)}, RIGHT, ""),
    Fault("small queues", {"QP_DEPTH": "16", "VICTIMS": ""}, EITHER, "NIC"),
    Fault("small completion queue", {"CQ_DEPTH": "256", "VICTIMS": ""}, EITHER, "NIC|requests"),
    Fault("completion queue overrun", {"CQ_ENTRIES": some(1, 12), "OVERRUN": "event"}, EITHER,
          "reports: CQ error|failed on NIC|acknowledged nothing"),
    Fault("registration refused", {"REFUSE_REG": some(1, 3)}, ERROR, "regist"),
    Fault("rank killed", {}, EITHER, ""),
]
OPTIONS = ["", "", "depth=16,signals=16,request=4K", "unsolicited=0", "stripe=4K,request=8K"]
EFA_ONLY = ("no RDMA write", "posted receives")


def draw(index, seed, names):
    """All of a job from its seed; examples and faults in turn, so that few seeds
    have all of both."""
    r = random.Random(f"{seed}/{index}")
    fault = FAULTS[index % len(FAULTS)]
    transport = "verbs" if index % 4 == 3 and fault.name not in EFA_ONLY else "efa"
    options = [f"deadline={DEADLINE}s", *filter(None, [r.choice(OPTIONS)])]
    if transport == "verbs":
        options = [o.replace("unsolicited=0", "qps=2") for o in options] + ["timeout=13", "retries=2"]
    nics = r.choice(["a:KIND", "a:KIND", "a:KIND:100,b:KIND:200"])
    knobs = {"SEED": str(r.randrange(1 << 30)), "LOG": "0", "VICTIMS": "1",
             "MTU": r.choice(["512", "1024", "4096"]), "JITTER": r.choice(["50", "200", "800"]),
             "NICS": nics.replace("KIND", "efa" if transport == "efa" else "roce"),
             "JOB": f"matrix{os.getpid()}.{index}", "OBJECTS": "1"}
    for name, value in fault.knobs.items():
        knobs[name] = value(r) if callable(value) else value
    if transport == "verbs":
        knobs.pop("FAIL_STATUS", None)
        knobs.pop("TIMEOUT", None)
    which = (index * 7 + seed) % len(names)
    # Few seeds have each example on one number of nodes only: it is compiled once.
    nodes = 2 + (which + seed + index // (2 * len(names))) % 2
    return (fault, transport, ",".join([transport, *options]), knobs, names[which], nodes,
            r.choice(["launcher", "ranks"]),
            LONG if fault.name == "rank killed" else r.randint(1, 6))


def sockets(mark):
    with open("/proc/net/unix") as table:
        return [line.split()[-1] for line in table if mark in line]


class Packages:
    def __init__(self, setup, mk_opt, source):
        self.setup, self.mk_opt, self.source = setup, mk_opt, source
        self.names = list(examples.JOBS) if os.path.exists(mk_opt) else ["mix", "allgather"]
        self.done = {}

    def get(self, name, nodes):
        """The package and its arguments."""
        if name not in examples.JOBS:
            return (f"{self.setup.packages}/{name}.mkpkg",
                    ["--bind", "T=13" if name == "mix" else "M=37,N=20"])
        path = f"{self.setup.folder}/{name}-{nodes}.mkpkg"
        if path not in self.done:
            subprocess.run(examples.compile_command(self.mk_opt, self.source, name, nodes, path),
                           check=True)
            self.done[path] = True
        return path, examples.arguments(name)


def kill_one(setup, job, index, seed):
    """A rank, once kernels run: its pid, and what the others say."""
    r = random.Random(f"kill {seed}/{index}")
    running = job.wait_for(job.in_kernels) and job.ranks()
    if not running:
        return (), ""
    time.sleep(r.uniform(0, 0.3))
    rank, pid = r.choice(sorted(running.items()))
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    # A request to it may fail before its end is known.
    return (pid,), cause_of(f"rank {rank}", job.mode) + "|failed on NIC"


def run(setup, packages, index, seed, report):
    fault, transport, options, knobs, name, nodes, mode, launches = draw(
        index, seed, packages.names)
    package, arguments = packages.get(name, nodes)
    what = f"seed {seed}, job {index}: {fault.name}, {name} on {nodes} nodes, {options}, {mode}"
    variables = {f"MK_SOFTRDMA_{k}": v for k, v in knobs.items() if v}
    variables.update(MK_IBVERBS_LIBRARY=setup.library, MK_EFA_LIBRARY=setup.library,
                     MK_HWLOC_LIBRARY="off")
    job = Job(setup, mode, [*arguments, "--transport", options, "--check", "--launches",
                            str(launches), "--deadline", str(DEADLINE)],
              package=package, nodes=nodes, variables=variables)
    before = len(setup.failures)
    lost, text = (), fault.text
    if fault.name == "rank killed":
        lost, text = kill_one(setup, job, index, seed)
    if fault.outcome == RIGHT:
        right(setup, job, what, 90, notices=NOTICES)
        failed = False
    else:
        failed = ends_well(setup, job, what, job.up(), text, lost=lost,
                           must_fail=fault.outcome == ERROR, deadline=DEADLINE + RUNNING,
                           notices=NOTICES)
    left = sockets(knobs["JOB"])
    setup.expect(not left, f"{what}: sockets are left: {left}")
    if len(setup.failures) > before:
        print("  " + " ".join(f"{k}={v}" for k, v in sorted(variables.items())), flush=True)
    report[fault.name, "error" if failed else "right"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--library", default=os.environ.get("MK_IBVERBS_LIBRARY"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20))
    parser.add_argument("--first", type=int, default=0, help="number of the first job")
    arguments = parser.parse_args()
    arguments.kills = arguments.alter = 0
    report = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder:
        setup = Setup(arguments, folder)
        setup.grace = 10
        setup.library = arguments.library
        packages = Packages(setup, f"{arguments.bin}/mk-opt",
                            os.path.join(HERE, "../../../../examples"))
        before = may_be_left(setup.temporary)
        begin = time.monotonic()
        for index in range(arguments.first, arguments.first + arguments.seeds):
            run(setup, packages, index, arguments.seed, report)
        left = left_behind(setup.temporary, before)
        setup.expect(not left, f"files or segments are left: {left}")
    for fault in FAULTS:
        ends = [f"{report[fault.name, end]} {end}" for end in ("right", "error")
                if report[fault.name, end]]
        if ends:
            print(f"{fault.name}: {', '.join(ends)}")
    print(f"{arguments.seeds} jobs, {setup.checks} checks, {len(setup.failures)} failed, "
          f"seed {arguments.seed}, {time.monotonic() - begin:.0f} s")
    return 1 if setup.failures or not setup.checks else 0


if __name__ == "__main__":
    sys.exit(main())
