"""Suites of several ranks: starts a process for each GPU (rank.py), takes what
they find, and goes on without a case on which they failed."""
import contextlib
import ctypes as C
import dataclasses
import json
import os
import secrets
import selectors
import socket
import subprocess
import sys
import tempfile
import time

from . import network
from .errors import BenchError
from .group import Alone
from .library import Library
from .places import HERE
from .session import Session

SILENCE_S = 120.0  # of all ranks; then they are given up
ATTEMPTS = 4       # starts of ranks; each takes half a minute
GRACE_S = 3.0      # once one is lost: the others may wait for it in a kernel
# NVLink multicast is not used: rivals are measured without it as well.
ENVIRONMENT = {"NCCL_NVLS_ENABLE": "0", "NVSHMEM_DISABLE_NVLS": "1",
               "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
               "MASTER_ADDR": "127.0.0.1", "MK_JOB": "torchrun",
               "GROUP_RANK": "0"}


class Remote:
    """The devices of a job, as far as their parent has to know them."""
    has_rivals, grid = False, 0
    group = Alone()

    def __init__(self, target):
        self.target, self.objects = target, {}


def count_gpus(places):
    """How many there are, and why there are none."""
    library, count = Library(places), C.c_size_t()
    try:
        library.check(library.c.mkernel_num_gpus(C.byref(count)), "GPUs")
    except BenchError as error:
        return 0, str(error)
    return count.value, ""


def count_ranks(places, options):
    if options.gpus is not None:
        return options.gpus
    return 2 if options.target == "host" else count_gpus(places)[0]


def ranks_of(suites, name, places, options):
    """How many ranks a suite is run by, and how many nodes these are."""
    if suites.networked(name):
        nodes = options.nodes or 2
        return nodes * (options.gpus or 1), nodes
    return (count_ranks(places, options) if suites.several(name) else 1), 1


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Ranks:
    """The processes of one attempt, and what they say."""

    def __init__(self, command, world, job, nodes=1):
        self.silence = SILENCE_S
        self.folder = tempfile.TemporaryDirectory(prefix="mk-bench-")
        job = {**job, "address": os.path.join(self.folder.name, "ranks"),
               "key": secrets.token_hex(16), "channels": []}
        pipes = [os.pipe() for _ in range(world)]
        job["channels"] = [write for _, write in pipes]
        common = {**os.environ, **ENVIRONMENT,
                  "WORLD_SIZE": str(world), "LOCAL_WORLD_SIZE": str(world),
                  "MASTER_PORT": str(free_port()),
                  "TORCHELASTIC_RUN_ID": f"mk-bench-{secrets.token_hex(8)}"}
        if nodes > 1:  # emulated: so many ranks in a row are one
            common["MK_NODE"] = f"rank/{world // nodes}"
        self.processes, self.selector = [], selectors.DefaultSelector()
        for rank, (read, write) in enumerate(pipes):
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=sys.stderr,
                pass_fds=[write], env={**common, "RANK": str(rank),
                                       "LOCAL_RANK": str(rank)})
            self.processes.append(process)
            self.selector.register(read, selectors.EVENT_READ, [rank, b""])
            with contextlib.suppress(OSError):  # its status will say why
                process.stdin.write(json.dumps(job).encode())
                process.stdin.close()
        for _, write in pipes:
            os.close(write)

    def messages(self):
        """(rank, message) as they come, until all ranks have closed their
        channels (no message) or nobody has said anything for `silence` seconds
        (no rank)."""
        while self.selector.get_map():
            ready = self.selector.select(self.silence)
            if not ready:
                yield None, None
                return
            for key, _ in ready:
                data = os.read(key.fd, 1 << 20)
                if not data:
                    self.selector.unregister(key.fd)
                    os.close(key.fd)
                    yield key.data[0], None
                    continue
                *lines, key.data[1] = (key.data[1] + data).split(b"\n")
                for line in lines:
                    yield key.data[0], json.loads(line)

    def status(self, rank):
        return self.processes[rank].wait()

    def end(self):
        """Ends those that do not do so by themselves."""
        until = time.monotonic() + GRACE_S
        for process in self.processes:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for key in list(self.selector.get_map().values()):
            self.selector.unregister(key.fd)
            os.close(key.fd)
        self.folder.cleanup()


class Job(Session):
    """A session whose cases are measured by the ranks of a job."""

    def __init__(self, places, suites, options, budget, world, pool=None,
                 command=None, nodes=1):
        super().__init__(places, Remote(options.target), None, suites, options,
                         budget, pool)
        self.world, self.nodes, self.of_ranks = world, nodes, {}
        self.command = command or [sys.executable, os.path.join(
            HERE, "mkbench", "rank.py")]

    def measure(self, cases, requests):
        left = list(cases)
        for _ in range(ATTEMPTS):
            if left and self.budget.left() > 10:
                left = self.attempt(left)
        self.fail(left, "not measured: the time budget is spent"
                  if self.budget.left() <= 10 else
                  f"not measured: ranks were lost {ATTEMPTS} times")

    def fail(self, cases, why):
        for case in cases:
            self.records.append(self.record(case, why))
            self.done(self.records[-1])

    def attempt(self, cases):
        """Returns the cases that are left when ranks were lost on one."""
        known = {(case.suite, case.name): case for case in cases}
        current = None

        def take(message):
            nonlocal current
            current = self.take(message, known, current)
        lost = self.listen({"cases": [dataclasses.asdict(case) for case in cases]}, take)
        if not known:
            return []
        why = reason(lost)
        # What fails before any case does so again.
        failed = [known.pop(current)] if current in known else [*known.values()]
        self.fail(failed, why)
        return [*known.values()] if current else []

    def listen(self, job, take):
        """Starts ranks on a job, and hands over what they say until they have ended;
        returns why by those that are lost."""
        ranks = Ranks(self.command, self.world, {
            **job, "options": {**vars(self.options), "prefix": self.places.prefix},
            "seconds": self.budget.left(),
            "network": self.nodes > 1 and network.transport_options(
                network.parse_rate(self.options.rate), self.options.path)}, self.nodes)
        lost = {}
        try:
            for rank, message in ranks.messages():
                if message:
                    take(message)
                    if "lost" in message:
                        lost[rank] = message["lost"]
                elif rank is None:
                    lost.setdefault(rank, f"nothing for {SILENCE_S:.0f} s")
                elif ranks.status(rank):
                    lost.setdefault(
                        rank, f"ended with status {ranks.status(rank)}")
                if lost:
                    ranks.silence = GRACE_S
        finally:
            ranks.end()
        return lost

    def take(self, message, known, current):
        """Keeps what a rank has said; returns the case that it is at."""
        if "begin" in message:
            return tuple(message["begin"])
        if "record" in message:
            record = message["record"]
            known.pop((record["suite"], record["name"]))
            self.records.append(record)
            self.keep_some()
            return None
        self.ceilings = message.get("ceilings", self.ceilings)
        self.of_ranks = message.get("environment", self.of_ranks)
        return current

    def environment(self, tuning_file):
        """Rank 0's own words, where it had something to say."""
        return {**super().environment(tuning_file), **self.of_ranks,
                "ranks": self.world, "nodes": self.nodes, "tuning": tuning_file,
                "command": sys.argv[1:], "switches": ENVIRONMENT}


def reason(lost):
    """Of what ranks say when they are lost: not that another one has gone."""
    if not lost:
        return "the ranks ended without measuring it"
    first = [(rank, why) for rank, why in lost.items() if "has gone" not in why]
    rank, why = (first or list(lost.items()))[0]
    return f"rank {rank}: {why}" if rank is not None else f"the ranks said {why}"
