"""Jobs for fault injection: started in two ways, watched, cleaned up.

"launcher": mk-run starts all ranks. "ranks": this script starts every rank with
torchrun's variables, as a launcher on several hosts would.
"""
import os
import re
import signal
import subprocess
import time

from watch import MARK, alive, children, marked, state, threads

# Threads of a rank beside those of CTAs, at most.
OTHER_THREADS = 6


class Process:
    """One process of a job, its output in files so that it never blocks."""

    def __init__(self, command, folder, name, environment, stdin=None):
        self.out = open(f"{folder}/{name}.out", "w+")
        self.err = open(f"{folder}/{name}.err", "w+")
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=stdin or subprocess.DEVNULL, stdout=self.out,
            stderr=self.err, env=environment)
        self.pid = self.process.pid
        self.ended = None

    def poll(self):
        if self.ended is None and self.process.poll() is not None:
            self.ended = time.monotonic()
        return self.process.returncode

    def text(self, file):
        file.flush()
        with open(file.name) as again:
            return again.read()

    @property
    def stdout(self):
        return self.text(self.out)

    @property
    def stderr(self):
        return self.text(self.err)

    def errors(self):
        """Lines that it wrote, but for the one that says who started it."""
        return [line for line in self.stderr.splitlines()
                if not re.fullmatch(r"mk-run: \d+ ranks? on \d+ nodes?, started "
                                    r"by \w+", line)]

    def close(self):
        if self.process.stdin:
            self.process.stdin.close()
        self.out.close()
        self.err.close()


class Job:
    """All processes of a job of `nodes` times `local` ranks."""
    count = 0

    def __init__(self, setup, mode, options, package=None, nodes=2, local=2,
                 variables=(), per_rank=None, late=None, program=None,
                 stdin=None):
        """`late`: a rank, and what is called (with this) before it starts."""
        Job.count += 1
        self.mark = f"{os.getpid()}-{Job.count}"
        self.mode = mode
        self.local = local
        self.command = [*(program or [f"{setup.bin}/mk-run",
                                      package or setup.package]), *options]
        self.environment = {**setup.environment, MARK: self.mark,
                            **dict(variables)}
        self.folder = setup.folder
        self.stdin = stdin
        self.per_rank = per_rank
        self.processes = []
        self.world = nodes * local
        self.start = time.monotonic()
        if mode == "launcher":
            self.processes.append(Process(
                [*self.command, "--nodes", str(nodes), "--gpus", str(local)],
                setup.folder, f"{Job.count}", self.environment))
            return
        for rank in range(self.world):
            if late and late[0] == rank:
                late[1](self)
            self.processes.append(self.start_rank(rank, f"{Job.count}.{rank}"))

    def start_rank(self, rank, name):
        place = {"RANK": rank, "WORLD_SIZE": self.world,
                 "LOCAL_RANK": rank % self.local,
                 "LOCAL_WORLD_SIZE": self.local,
                 "GROUP_RANK": rank // self.local, "MASTER_ADDR": "127.0.0.1",
                 "MASTER_PORT": 29500, "TORCHELASTIC_RUN_ID": self.mark}
        own = {**{k: str(v) for k, v in place.items()}, **self.environment,
               **(self.per_rank(rank) if self.per_rank else {})}
        return Process(self.command, self.folder, name, own, self.stdin)

    def ranks(self):
        """Processes that are ranks now: {rank: pid}."""
        if self.mode == "ranks":
            return {i: p.pid for i, p in enumerate(self.processes)
                    if p.poll() is None}
        found = {}
        for pid in children(self.processes[0].pid):
            try:
                with open(f"/proc/{pid}/cmdline") as file:
                    named = re.search(r"--internal-rank=(\d+):", file.read())
            except OSError:
                continue
            if named and alive(pid):
                found[int(named[1])] = pid
        return found

    def over(self):
        return any(p.poll() is not None for p in self.processes)

    def in_kernels(self):
        """Every rank has the threads of a launch: a CTA is one."""
        ranks = self.ranks()
        return len(ranks) == self.world and all(
            threads(pid) > OTHER_THREADS for pid in ranks.values())

    def wait_for(self, condition, seconds=20):
        """What the condition was when it held, if that was before the job was over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.over():
            if held := condition():
                return held
            time.sleep(0.002)
        return None

    def up(self):
        """When all processes run: each has threads, waits for something, or has
        ended. What comes before is the machine's: starting programs."""
        starting = set(self.processes)
        end = time.monotonic() + 20
        while starting and time.monotonic() < end:
            starting = {p for p in starting if p.poll() is None
                        and threads(p.pid) < 2 and state(p.pid) != "S"}
            time.sleep(0.001)
        return time.monotonic()

    def wait(self, seconds):
        """Waits for all processes; those that hang are ended and returned."""
        end = time.monotonic() + seconds
        # All are looked at in each round: when they ended is noted.
        while any([p.poll() is None for p in self.processes]):
            if time.monotonic() > end:
                hung = [p.name for p in self.processes if p.poll() is None]
                self.kill()
                return hung
            time.sleep(0.002)
        return []

    def kill(self):
        for pid in marked(self.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for p in self.processes:
            p.process.wait()

    def printed_result(self):
        return any("check: PASS" in p.stdout for p in self.processes)

    def passed(self, lost=()):
        """All processes but those that were killed ended well, and the result
        was printed, if need be by one that was killed after that."""
        return self.printed_result() and all(
            p.poll() == 0 for p in self.processes if p.pid not in lost)

    def remains(self):
        """Processes that outlive the job by more than a moment."""
        for _ in range(40):
            found = marked(self.mark)
            if not found:
                break
            time.sleep(0.025)
        return found

    def close(self):
        for p in self.processes:
            p.close()

    def describe(self):
        lines = []
        for p in self.processes:
            lines.append(f"  {p.name}: status {p.process.returncode}")
            lines += [f"    {line}" for line in p.stderr.splitlines()[-6:]]
        return "\n".join(lines)
