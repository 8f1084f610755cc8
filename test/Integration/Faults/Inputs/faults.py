#!/usr/bin/env python3
"""Faults in jobs of mk-run, each injected into real processes.

After every fault: the right result, or one clear error on every rank within
deadline + 1 s; no process, file or listening socket is left.

  faults.py --bin BUILD/bin --packages FOLDER [--kills N] [--seed S] [--only NAME]
"""
import argparse
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

from jobs import Job, alive, left_behind, listening_ports

DEADLINE = 2.0  # of every wait of a job
SIZES = ["--bind", "M=37,N=20", "--check", "--deadline", str(DEADLINE)]
JOIN = ["--join-timeout", str(DEADLINE)]


class Setup:
    def __init__(self, arguments, folder):
        self.bin = arguments.bin
        self.packages = arguments.packages
        self.package = f"{arguments.packages}/allgather.mkpkg"
        self.folder = folder
        self.random = random.Random(arguments.seed)
        self.kills = arguments.kills
        self.alter = arguments.alter
        drop = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "SLURM_", "OMPI_",
                "PMIX_", "TORCHELASTIC_", "GROUP_", "MK_JOB", "MK_NODE",
                "MK_STORE")
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(drop)}
        self.failures = []
        self.checks = 0
        # What a crowded machine adds to the bound of DEADLINE + 1.
        self.slack = 1.0
        job = Job(self, "launcher", SIZES)
        right(self, job, "a run without faults")
        self.slack = max(1.0, 4 * (time.monotonic() - job.start))
        self.time = DEADLINE + 1 + self.slack

    def expect(self, condition, what, job=None):
        self.checks += 1
        if not condition:
            self.failures.append(what)
            print(f"FAILED: {what}")
            if job:
                print(job.describe())
            sys.stdout.flush()


def ends_well(setup, job, what, since, text="", must_fail=False, lost=()):
    """The rule for every fault. `lost`: pids that were killed."""
    hung = job.wait(60)
    setup.expect(not hung, f"{what}: hangs: {hung}", job)
    slow = [p.name for p in job.processes
            if p.ended and p.ended - since > setup.time]
    setup.expect(hung or not slow,
                 f"{what}: later than {setup.time:.1f} s: {slow}", job)
    if must_fail or not job.passed(lost):
        for p in job.processes:
            if p.pid in lost:
                continue
            setup.expect(p.poll() in (1, 2),
                         f"{what}: {p.name} ended with {p.poll()}", job)
            setup.expect(len(p.errors()) == 1,
                         f"{what}: {p.name} has {len(p.errors())} errors", job)
        said = "\n".join(p.stderr for p in job.processes)
        setup.expect(text in said, f"{what}: nobody says '{text}'", job)
    left = job.remains()
    setup.expect(not left, f"{what}: processes are left: {left}")
    job.close()


def right(setup, job, what, seconds=60):
    hung = job.wait(seconds)
    setup.expect(not hung, f"{what}: hangs: {hung}", job)
    setup.expect(job.passed(), f"{what}: does not pass", job)
    setup.expect(not job.remains(), f"{what}: processes are left")
    job.close()


def kills(setup):
    """kill -9 of a rank or the launcher at random points of a run."""
    options = [*SIZES, *JOIN, "--launches", "12", "--seed", "3",
               "--loopback", "delay=3ms"]
    span = {}
    for mode in ("launcher", "ranks"):
        job = Job(setup, mode, options)
        right(setup, job, f"whole run, {mode}")
        span[mode] = max(p.ended for p in job.processes) - job.start
    ended_early = 0
    for i in range(setup.kills):
        mode = ("launcher", "ranks")[i % 2]
        at = setup.random.uniform(0, span[mode])
        victim = setup.random.randrange(-1 if mode == "launcher" else 0, 4)
        what = f"kill {i}: {mode}, {'launcher' if victim < 0 else victim} at " \
               f"{at * 1e3:.0f} ms"
        job = Job(setup, mode, options)
        time.sleep(max(0, job.start + at - time.monotonic()))
        ranks = job.ranks()
        if mode == "ranks":
            pid = job.processes[victim].pid
        elif victim < 0 or victim >= len(ranks):
            pid = job.processes[0].pid
        else:
            pid = ranks[victim]
        since = time.monotonic()
        lost = ()
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
            lost = (pid,)
        else:
            ended_early += 1
        ends_well(setup, job, what, since, lost=lost)
    print(f"kills: {setup.kills}, {ended_early} came after the end")


def memory(setup):
    """The heap is too small, on all ranks or on one; the machine is."""
    program = [f"{setup.bin}/mkernel-c-job", setup.package]
    for who, size, text in (("all", 532480, "of symmetric memory"),
                            ("1", 1 << 20, "a heap of"),
                            ("0", 4096, "a heap of")):
        job = Job(setup, "ranks", [], program=program, variables={
            "JOB_HEAP_BYTES": str(size), "JOB_HEAP_RANK": who})
        since = time.monotonic()
        hung = job.wait(30)
        setup.expect(not hung, f"heap of {who}: hangs", job)
        for p in job.processes:
            setup.expect(p.poll() == 1 and text in p.stderr,
                         f"heap of {who}: {p.name} does not say '{text}'", job)
        setup.expect(time.monotonic() - since < 10, "heap: slow")
        setup.expect(not job.remains(), "heap: processes are left")
        job.close()
    huge = ["--bind", "M=4000000,N=1000000", "--deadline", str(DEADLINE)]
    for mode in ("launcher", "ranks"):
        job = Job(setup, mode, huge)
        ends_well(setup, job, f"memory, {mode}", time.monotonic(),
                  "GiB of memory left", must_fail=True)


def late(setup):
    """A rank that comes late, or stands still for a while."""
    job = Job(setup, "ranks", SIZES, late=(2, 3.0))
    right(setup, job, "a rank 3 s late")
    for mode in ("launcher", "ranks"):
        for pause, deadline, fails in ((1.5, 10, False), (20, 1, True)):
            job = Job(setup, mode, ["--bind", "M=37,N=20", "--check",
                                    "--launches", "120", "--deadline",
                                    str(deadline), "--loopback", "delay=2ms"])
            job.wait_for_launch()
            ranks = job.ranks()
            if len(ranks) < 4:
                right(setup, job, "stopped too late")
                continue
            stopped = ranks[1]
            os.kill(stopped, signal.SIGSTOP)
            since = time.monotonic()
            if not fails:
                time.sleep(pause)
                os.kill(stopped, signal.SIGCONT)
                right(setup, job, f"{mode}: a rank pauses {pause} s")
                continue
            # The others must not wait for it.
            while any(p.poll() is None and p.pid != stopped
                      for p in job.processes):
                if time.monotonic() - since > 20:
                    break
                time.sleep(0.01)
            took = time.monotonic() - since
            setup.expect(took < deadline + 2 + setup.slack,
                         f"{mode}: a stopped rank holds the others {took:.1f} s",
                         job)
            if alive(stopped):
                os.kill(stopped, signal.SIGCONT)
            ends_well(setup, job, f"{mode}: a rank that stands still",
                      time.monotonic(), must_fail=True)


def two_jobs(setup):
    """Jobs beside each other, of different names and of one."""
    jobs = [Job(setup, mode, [*SIZES, "--launches", "20"])
            for mode in ("launcher", "ranks", "launcher", "ranks")]
    for job in jobs:
        right(setup, job, "two jobs at once")
    same = {"TORCHELASTIC_RUN_ID": "same"}
    jobs = [Job(setup, "ranks", [*SIZES, *JOIN, "--launches", "20"],
                variables=same) for _ in range(2)]
    since = time.monotonic()
    for job in jobs:
        job.wait(60)
    # Which ranks meet is chance; nobody may get a wrong result or hang.
    for job in jobs:
        for p in job.processes:
            setup.expect(p.poll() == 0 or len(p.errors()) == 1,
                         f"two jobs of one name: {p.name}", job)
        setup.expect(not job.remains(), "two jobs of one name: left")
        job.close()
    setup.expect(time.monotonic() - since < 30, "two jobs of one name: slow")


def stranger(setup):
    """Somebody else on the port of the store."""
    for mode in ("launcher", "ranks"):
        job = Job(setup, mode, [*SIZES, "--launches", "40"])
        # After all ranks have come a job of torchrun's does not listen any more.
        ports, end = [], time.monotonic() + 5
        while not ports and time.monotonic() < end:
            ports = listening_ports(job.processes[0].pid)
        sockets = []
        for i in range(40):
            for port in ports:
                try:
                    s = socket.create_connection(("127.0.0.1", port), 1)
                    s.sendall((b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"",
                               setup.random.randbytes(300))[i % 4])
                    sockets.append(s)
                except OSError:
                    pass
        setup.expect(ports, f"stranger, {mode}: no port found", job)
        right(setup, job, f"stranger, {mode}")
        for s in sockets:
            s.close()
    # Somebody has the port before rank 0, and answers nonsense.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        stop = threading.Event()

        def answer():
            server.settimeout(0.1)
            while not stop.is_set():
                try:
                    with server.accept()[0] as peer:
                        peer.sendall(b"220 welcome to something else\r\n")
                except OSError:
                    pass
        thread = threading.Thread(target=answer)
        thread.start()
        job = Job(setup, "ranks", [*SIZES, *JOIN], variables={
            "MK_STORE": f"127.0.0.1:{port}"})
        ends_well(setup, job, "port in use", time.monotonic(),
                  "Address already in use", must_fail=True)
        job = Job(setup, "ranks", [*SIZES, *JOIN], variables={
            "MK_STORE": f"127.0.0.1:{port}", "MASTER_ADDR": "192.0.2.1",
            "MK_JOB_TOKEN": "0123456789abcdef"})
        ends_well(setup, job, "port in use, with a token", time.monotonic(),
                  "Address already in use", must_fail=True)
        stop.set()
        thread.join()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def token(setup):
    """One rank has another secret."""
    job = Job(setup, "ranks", [*SIZES, *JOIN],
              variables={"MK_STORE": f"127.0.0.1:{free_port()}"},
              per_rank=lambda rank: {
                  "MK_JOB_TOKEN": f"0123456789abcde{rank == 3:d}"})
    ends_well(setup, job, "wrong token", time.monotonic(),
              "the job token is wrong", must_fail=True)


def package(setup):
    """Packages that were cut, altered, or made for another ABI."""
    with open(setup.package, "rb") as file:
        good = file.read()

    def run(bytes_, what, text=""):
        path = f"{setup.folder}/bad.mkpkg"
        with open(path, "wb") as file:
            file.write(bytes_)
        for mode in ("launcher", "ranks") if text else ("launcher",):
            job = Job(setup, mode, [*SIZES, *JOIN], package=path)
            ends_well(setup, job, f"{what}, {mode}", time.monotonic(), text,
                      must_fail=True)

    abi = bytearray(good)
    abi[40] ^= 1
    run(abi, "wrong ABI", "was compiled for another ABI")
    run(good[:len(good) // 2], "half a package", "is truncated")
    changed = bytearray(good)
    changed[len(good) // 2] ^= 4
    run(changed, "altered package", "was altered")
    for i in range(setup.alter):
        bad = bytearray(good)
        if i % 3 == 0:
            bad = bad[:setup.random.randrange(len(bad))]
        elif i % 3 == 1:
            at = setup.random.randrange(len(bad))
            bad[at] ^= 1 << setup.random.randrange(8)
        else:
            at = setup.random.randrange(len(bad))
            bad[at:at + 64] = setup.random.randbytes(64)
        run(bytes(bad), f"package {i} of {setup.alter}")


def cache(setup):
    """Damage in the cache of compiled code; needs the compiler."""
    program = f"{setup.bin}/example-gemm-cpp"
    example = os.path.join(os.path.dirname(__file__), "../../../../examples")
    if not os.path.exists(f"{setup.bin}/mk-opt"):
        print("cache: skipped, there is no compiler")
        return
    folder = f"{setup.folder}/cache"
    variables = {"MK_CACHE_DIR": folder}

    def run(what, cached):
        job = Job(setup, "ranks", [], program=[program,
                  f"{example}/gemm.mlir"], nodes=1, local=1,
                  variables=variables)
        job.wait(60)
        out = job.processes[0].stdout
        setup.expect(job.processes[0].poll() == 0 and "all results right" in out,
                     f"cache, {what}: no right result", job)
        if cached is not None:
            setup.expect(("from the cache" in out) == cached,
                         f"cache, {what}: {out}", job)
        setup.expect(not job.remains(), f"cache, {what}: left")
        job.close()

    run("empty", False)
    run("filled", True)
    for i in range(max(4, setup.alter // 5)):
        for name in os.listdir(folder):
            path = f"{folder}/{name}"
            with open(path, "r+b") as file:
                size = os.path.getsize(path)
                at = setup.random.randrange(size)
                if i % 2:
                    file.truncate(at)
                else:
                    file.seek(at)
                    byte = file.read(1)[0]
                    file.seek(at)
                    file.write(bytes([byte ^ 0x20]))
        run(f"damaged {i}", False)
        run(f"mended {i}", True)
    for name in os.listdir(folder):
        os.unlink(f"{folder}/{name}")
        os.mkdir(f"{folder}/{name}")
    run("folders instead of files", None)
    shutil.rmtree(folder)
    with open(folder, "w"):
        pass
    run("a file instead of the folder", False)


SCENARIOS = [kills, memory, late, two_jobs, stranger, token, package, cache]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--alter", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--only", action="append", default=[],
                        choices=[s.__name__ for s in SCENARIOS])
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    before = left_behind()
    descriptors = len(os.listdir("/proc/self/fd"))
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        setup = Setup(arguments, folder)
        for scenario in SCENARIOS:
            if arguments.only and scenario.__name__ not in arguments.only:
                continue
            begin = time.monotonic()
            scenario(setup)
            print(f"{scenario.__name__}: {time.monotonic() - begin:.1f} s")
            sys.stdout.flush()
    left = left_behind() - before
    setup.expect(not left, f"files are left: {left}")
    setup.expect(len(os.listdir("/proc/self/fd")) == descriptors,
                 "descriptors of the test itself are left")
    print(f"{setup.checks} checks, {len(setup.failures)} failed, "
          f"seed {arguments.seed}")
    return 1 if setup.failures else 0


if __name__ == "__main__":
    sys.exit(main())
