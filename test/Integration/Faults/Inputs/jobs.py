"""Jobs of mk-run for fault injection: started in two ways, watched, cleaned up.

"launcher": mk-run starts all ranks. "ranks": this script starts every rank with
torchrun's variables, as a launcher on several hosts would.
"""
import os
import re
import signal
import subprocess
import time

MARK = "FAULT_TEST_ID"


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(") ", 1)[1][0] not in "ZX"
    except (OSError, IndexError):
        return False


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(p) for p in file.read().split()]
    except OSError:
        return []


def marked(mark):
    """Processes that carry the mark in their environment."""
    found = []
    wanted = f"{MARK}={mark}\0".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read() + b"\0" and alive(int(name)):
                    found.append(int(name))
        except OSError:
            pass
    return found


def left_behind():
    """What could outlive a job: files in memory file systems."""
    names = set()
    for folder in ("/dev/shm", "/tmp"):
        if os.path.isdir(folder):
            names |= {f"{folder}/{n}" for n in os.listdir(folder)
                      if re.match(r"(mk-|mkernel)", n)}
    return names


def listening_ports(pid):
    """TCP ports on which a process listens."""
    inodes = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
            if link.startswith("socket:["):
                inodes.add(link[8:-1])
    except OSError:
        return []
    ports = []
    with open("/proc/net/tcp") as table:
        for line in list(table)[1:]:
            field = line.split()
            if field[3] == "0A" and field[9] in inodes:
                ports.append(int(field[1].split(":")[1], 16))
    return ports


class Process:
    """One mk-run, its output in files so that it never blocks on a pipe."""

    def __init__(self, command, folder, name, environment):
        self.out = open(f"{folder}/{name}.out", "w+")
        self.err = open(f"{folder}/{name}.err", "w+")
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.out,
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
        return [line for line in self.stderr.splitlines()
                if line.startswith("mk-run: ") and "started by" not in line]

    def close(self):
        self.out.close()
        self.err.close()


class Job:
    """All processes of a job of `nodes` times `local` ranks."""
    count = 0

    def __init__(self, setup, mode, options, package=None, nodes=2, local=2,
                 variables=(), per_rank=None, late=None, program=None):
        Job.count += 1
        self.mark = f"{os.getpid()}-{Job.count}"
        self.mode = mode
        command = program or [f"{setup.bin}/mk-run", package or setup.package]
        environment = {**setup.environment, MARK: self.mark, **dict(variables)}
        self.processes = []
        self.world = nodes * local
        self.start = time.monotonic()
        if mode == "launcher":
            self.processes.append(Process(
                [*command, "--nodes", str(nodes), "--gpus", str(local),
                 *options], setup.folder, f"{Job.count}", environment))
            return
        for rank in range(self.world):
            if late and late[0] == rank:
                time.sleep(late[1])
            place = {"RANK": rank, "WORLD_SIZE": self.world,
                     "LOCAL_RANK": rank % local, "LOCAL_WORLD_SIZE": local,
                     "GROUP_RANK": rank // local, "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": 29500, "TORCHELASTIC_RUN_ID": self.mark}
            own = {**{k: str(v) for k, v in place.items()}, **environment,
                   **(per_rank(rank) if per_rank else {})}
            self.processes.append(Process([*command, *options], setup.folder,
                                          f"{Job.count}.{rank}", own))

    def ranks(self):
        """Pids of the rank processes that run now."""
        if self.mode == "launcher":
            return children(self.processes[0].pid)
        return [p.pid for p in self.processes if p.poll() is None]

    def wait_for_ranks(self, seconds=20):
        end = time.monotonic() + seconds
        while len(self.ranks()) < self.world and time.monotonic() < end:
            if self.processes[0].poll() is not None:
                break
            time.sleep(0.005)

    def wait_for_launch(self, seconds=30):
        """Until every rank has the threads of a launch: a CTA is one."""
        self.wait_for_ranks()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if all(len(os.listdir(f"/proc/{pid}/task")) > 6
                       for pid in self.ranks()):
                    return
            except OSError:
                pass
            time.sleep(0.005)

    def wait(self, seconds):
        """Waits for all processes; those that hang are ended and returned."""
        end = time.monotonic() + seconds
        while any(p.poll() is None for p in self.processes):
            if time.monotonic() > end:
                hung = [p.name for p in self.processes if p.poll() is None]
                self.kill()
                return hung
            time.sleep(0.005)
        return []

    def kill(self):
        for pid in marked(self.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for p in self.processes:
            p.process.wait()

    def passed(self, lost=()):
        """All processes but those that were killed ended well, and the result
        was printed, if need be by one that was killed after that."""
        return all(p.poll() == 0 for p in self.processes
                   if p.pid not in lost) and any(
            "check: PASS" in p.stdout for p in self.processes)

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
