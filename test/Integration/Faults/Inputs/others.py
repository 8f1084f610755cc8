"""All faults but kills: no memory, late ranks, jobs beside each other, strangers, wrong
tokens, damaged packages, a damaged cache, and stalls."""
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from jobs import Job
from rules import (CHECKED, DEADLINE, JOIN, PATIENT, SIZES, ends_well, nothing_left,
                   right)
from watch import alive, listening_ports


def memory(setup):
    """The heap is too small, on all ranks or on one; the machine is."""
    program = [f"{setup.bin}/mkernel-c-job", setup.package]
    for who, size, text in (("all", 532480, "of symmetric memory"),
                            ("1", 1 << 20, "a heap of"),
                            ("0", 4096, "a heap of")):
        job = Job(setup, "ranks", [], program=program, variables={
            "JOB_HEAP_BYTES": str(size), "JOB_HEAP_RANK": who,
            "JOB_TIMEOUT_MS": str(int(DEADLINE * 1000))})
        ends_well(setup, job, f"heap of {who}", job.up(), text, must_fail=True)
    huge = ["--bind", "M=4000000,N=1000000", "--deadline", str(DEADLINE)]
    for mode in ("launcher", "ranks"):
        job = Job(setup, mode, huge)
        ends_well(setup, job, f"memory, {mode}", job.up(), "GiB of memory left",
                  must_fail=True)


def late(setup):
    """A rank that comes late, or stands still for a while."""
    job = Job(setup, "ranks", PATIENT, late=(2, lambda job: time.sleep(3)))
    right(setup, job, "a rank 3 s late")
    for mode in ("launcher", "ranks"):
        for pause, deadline in ((1.5, 30), (None, 1)):
            what = f"{mode}: a rank stands still for {pause or 'ever'}"
            job = Job(setup, mode, [*CHECKED, "--launches", "150", "--deadline",
                                    str(deadline), "--loopback", "delay=2ms"])
            running = job.wait_for(job.in_kernels)
            setup.expect(running, f"{what}: too late", job)
            stopped = job.ranks().get(1)
            if not running or not stopped:
                job.wait(60)
                job.close()
                continue
            os.kill(stopped, signal.SIGSTOP)
            since = time.monotonic()
            if pause:
                time.sleep(pause)
                os.kill(stopped, signal.SIGCONT)
                right(setup, job, what)
                continue
            # The others must not wait for it.
            others = [p for p in job.processes if p.pid != stopped]
            while any([p.poll() is None for p in others]):
                if time.monotonic() - since > 20:
                    break
                time.sleep(0.002)
            setup.in_time([p.ended or time.monotonic() for p in others], since,
                          what, job, deadline)
            since = time.monotonic()
            if alive(stopped):
                os.kill(stopped, signal.SIGCONT)
            # What the last launch needs of it may all have come.
            ends_well(setup, job, what, since,
                      "waited 1 s for|has not closed launch", must_fail=True)


def two_jobs(setup):
    """Jobs beside each other, of different names and of one."""
    jobs = [Job(setup, mode, [*PATIENT, "--launches", "20"])
            for mode in ("launcher", "ranks", "launcher", "ranks")]
    for job in jobs:
        right(setup, job, "two jobs at once")
    same = {"TORCHELASTIC_RUN_ID": "same"}
    jobs = [Job(setup, "ranks", [*SIZES, *JOIN, "--launches", "20"],
                variables=same) for _ in range(2)]
    since = max(job.up() for job in jobs)
    # Of both at once, so that each end is seen when it comes.
    everybody = [p for job in jobs for p in job.processes]
    while any([p.poll() is None for p in everybody]):
        if time.monotonic() - since > 60:
            break
        time.sleep(0.002)
    hung = [name for job in jobs for name in job.wait(0)]
    setup.expect(not hung, f"two jobs of one name hang: {hung}")
    # Which ranks meet is chance, even that both jobs are right, one after the other;
    # nobody may get a wrong result or hang.
    for job in jobs:
        failed = [p for p in job.processes if p.poll() != 0]
        root = job.processes[0]
        setup.expect(root in failed or "check: PASS" in root.stdout,
                     "two jobs of one name: no result", job)
        for p in failed:
            setup.expect(len(p.errors()) == 1 and p.poll() in (1, 2),
                         f"two jobs of one name: {p.name}", job)
        setup.in_time([p.ended for p in failed], since, "two jobs of one name",
                      job)
        nothing_left(setup, job, "two jobs of one name")


def stranger(setup):
    """Somebody else on the port of the store."""
    sockets = []

    def knock(job):
        port = job.wait_for(lambda: listening_ports(job.processes[0].pid))
        for i in range(40 if port else 0):
            try:
                s = socket.create_connection(("127.0.0.1", port[0]), 1)
                s.sendall((b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"",
                           setup.random.randbytes(300))[i % 4])
                sockets.append(s)
            except OSError:
                pass

    for mode in ("launcher", "ranks"):
        # Once all ranks have come a job of torchrun's does not listen any more.
        job = Job(setup, mode, [*PATIENT, "--launches", "40"], late=(3, knock))
        if mode == "launcher":
            knock(job)
        setup.expect(sockets, f"stranger, {mode}: nobody let it connect", job)
        # It is told of, but changes nothing.
        right(setup, job, f"stranger, {mode}", notices="store: refused")
        for s in sockets:
            s.close()
        sockets.clear()
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
        for what, variables in (
                ("port in use", {}),
                ("port in use, with a token",
                 {"MASTER_ADDR": "192.0.2.1",
                  "MK_JOB_TOKEN": "0123456789abcdef"})):
            job = Job(setup, "ranks", [*SIZES, *JOIN], variables={
                "MK_STORE": f"127.0.0.1:{port}", **variables})
            ends_well(setup, job, what, job.up(),
                      "Address already in use|for rank 0 of this job",
                      must_fail=True)
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
    # The store logs whom it refuses.
    ends_well(setup, job, "wrong token", job.up(), "the job token is wrong",
              must_fail=True, notices=r"\[mk rank 0\] warning: store: refused")


def package(setup):
    """Packages that were cut, altered, or made for another ABI."""
    with open(setup.package, "rb") as file:
        good = file.read()

    def run(bytes_, what, text, modes=("launcher",)):
        path = f"{setup.folder}/bad.mkpkg"
        with open(path, "wb") as file:
            file.write(bytes_)
        for mode in modes:
            job = Job(setup, mode, [*SIZES, *JOIN], package=path)
            ends_well(setup, job, f"{what}, {mode}", job.up(), text,
                      must_fail=True)

    both = ("launcher", "ranks")
    abi = bytearray(good)
    abi[40] ^= 1
    run(abi, "wrong ABI", "was compiled for another ABI", both)
    run(good[:len(good) // 2], "half a package", "is truncated", both)
    changed = bytearray(good)
    changed[len(good) // 2] ^= 4
    run(changed, "altered package", "was altered", both)
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
        run(bytes(bad), f"package {i} of {setup.alter}",
            "truncated|altered|another ABI|has a header of|ABI version|not a package|"
            "bytes of|bytes behind its end|is empty")


def cache(setup):
    """Damage in the cache of compiled code; needs the compiler."""
    program = f"{setup.bin}/example-gemm-cpp"
    example = os.path.join(os.path.dirname(__file__), "../../../../examples")
    if not os.path.exists(f"{setup.bin}/mk-opt"):
        print("cache: skipped, there is no compiler")
        return
    folder = f"{setup.folder}/cache"

    def start():
        return Job(setup, "ranks", [f"{example}/gemm.mlir"],
                   program=[program, "--launches=20"], nodes=1, local=1,
                   variables={"MK_CACHE_DIR": folder})

    def run(what, cached):
        job = start()
        job.wait(60)
        out = job.processes[0].stdout
        setup.expect(job.processes[0].poll() == 0 and "all results right" in out,
                     f"cache, {what}: no right result", job)
        if cached is not None:
            setup.expect(("from the cache" in out) == cached,
                         f"cache, {what}: {out}", job)
        nothing_left(setup, job, f"cache, {what}")

    run("empty", False)
    if not os.path.isdir(folder):
        return
    run("filled", True)
    entries = sorted(os.listdir(folder))
    for i in range(max(4, setup.alter // 10)):
        for name in entries:
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
        setup.expect(sorted(os.listdir(folder)) == entries,
                     f"cache: has {os.listdir(folder)}, before {entries}")
    # Whoever fills it is killed: what is found is whole, or not found.
    for i in range(max(4, setup.alter // 10)):
        shutil.rmtree(folder)
        job = start()
        time.sleep(setup.random.uniform(0.02, 0.6))
        job.kill()
        nothing_left(setup, job, f"cache, kill {i}")
        run(f"filled by one that was killed, {i}", None)
        run(f"filled again, {i}", True)
    for name in os.listdir(folder):
        os.unlink(f"{folder}/{name}")
        os.mkdir(f"{folder}/{name}")
    run("folders instead of files", None)
    shutil.rmtree(folder)
    with open(folder, "w"):
        pass
    run("a file instead of the folder", False)


def stalls(setup):
    """Many launches while ranks, proxies and NICs stand still at random."""
    program = f"{setup.bin}/mkernel-unit-tests"
    if not os.path.exists(program):
        print("stalls: skipped, the unit tests are not built")
        return
    done = subprocess.run(
        [program, "--gtest_brief=1", "--gtest_filter=*/Stalls.*"], text=True,
        env={**setup.environment, "MK_TEST_LAUNCHES": str(setup.launches),
             "MK_TEST_SEED": str(setup.seed)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ran = [line for line in done.stdout.splitlines() if " stalls, " in line]
    print("\n".join(ran))
    setup.expect(done.returncode == 0 and ran,
                 f"stalls: status {done.returncode}\n{done.stdout[-3000:]}")
