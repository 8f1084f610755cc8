"""What processes hold, and what is left of them."""
import os
import re
import threading
import time

MARK = "FAULT_TEST_ID"


def state(pid):
    """A letter as in ps, X for a process that is not there."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(") ", 1)[1][0]
    except (OSError, IndexError):
        return "X"


def alive(pid):
    return state(pid) not in "ZX"


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(p) for p in file.read().split()]
    except OSError:
        return []


def threads(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


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


def left_behind(folder, before):
    """Of what could outlive a job that which is there now, was not `before`, and stays: what
    other programs have made in the meantime goes."""
    left = may_be_left(folder) - before
    for _ in range(60):
        if not left:
            break
        time.sleep(0.5)
        left &= may_be_left(folder)
    return left


def may_be_left(folder):
    """What could outlive a job: files in memory file systems and where temporary
    files go (`folder` is TMPDIR of all jobs), shared memory of System V."""
    names = {f"{folder}/{n}" for n in os.listdir(folder)}
    for place in ("/dev/shm", "/tmp", "/var/tmp"):
        if os.path.isdir(place):
            names |= {f"{place}/{n}" for n in os.listdir(place)
                      if re.match(r"(mk-|mkernel)", n)}
    try:
        with open("/proc/sysvipc/shm") as table:
            names |= {f"segment {line.split()[1]} of process {line.split()[4]}"
                      for line in list(table)[1:]}
    except OSError:
        pass
    return names


def shared_memory():
    """Bytes of shared memory in the whole system: anonymous files too."""
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) << 10 for line in file
                    if line.startswith("Shmem:"))


class Holdings:
    """What a process holds at a moment."""

    def __init__(self, pid):
        self.descriptors = sorted(
            re.sub(r"\d+", "N", os.readlink(f"/proc/{pid}/fd/{fd}"))
            for fd in os.listdir(f"/proc/{pid}/fd"))
        self.threads = threads(pid)
        with open(f"/proc/{pid}/maps") as file:
            maps = file.read().splitlines()
        self.mapped = sum("memfd" in m or "(deleted)" in m for m in maps)
        # A sanitizer keeps memory that was given back.
        self.sanitized = any(re.search("lib[at]san", m) for m in maps)
        with open(f"/proc/{pid}/status") as file:
            self.resident = next(int(line.split()[1]) << 10 for line in file
                                 if line.startswith("VmRSS:"))

    def counted(self):
        return self.descriptors, self.threads, self.mapped


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


class Pauses:
    """When nothing ran on this machine: a thread that wakes each 10 ms wakes later
    than it should have. A virtual machine is stopped at times, for seconds."""
    LEAST = 0.1  # seconds

    def __init__(self):
        self.seen = []  # when each ended, its length
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        last = time.monotonic()
        while True:
            time.sleep(0.01)
            now = time.monotonic()
            if now - last > self.LEAST:
                self.seen.append((now, now - last))
            last = now

    def since(self, begin):
        """Seconds of pauses after `begin`."""
        return sum(min(length, end - begin) for end, length in list(self.seen)
                   if end > begin)
