"""The rule that every fault is held to: the right result, or one clear error on
every rank within deadline + 1 s of the fault, and nothing is left."""
import os
import random
import re
import statistics
import sys

from watch import Pauses

DEADLINE = 2.0  # seconds, of every wait of a job
CHECKED = ["--bind", "M=37,N=20", "--check"]
SIZES = [*CHECKED, "--deadline", str(DEADLINE)]
# Of jobs that have to come out right: a machine that stands still is no fault.
PATIENT = [*CHECKED, "--deadline", "30"]
JOIN = ["--join-timeout", str(DEADLINE)]


class Setup:
    def __init__(self, arguments, folder):
        self.bin = arguments.bin
        self.packages = arguments.packages
        self.package = f"{arguments.packages}/allgather.mkpkg"
        self.folder = folder
        self.temporary = f"{folder}/tmp"
        os.mkdir(self.temporary)
        self.random = random.Random(arguments.seed)
        self.kills = arguments.kills
        self.alter = arguments.alter
        self.launches = getattr(arguments, "launches", 0)
        self.seed = arguments.seed
        drop = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "SLURM_", "OMPI_",
                "PMIX_", "TORCHELASTIC_", "GROUP_", "MK_JOB", "MK_NODE",
                "MK_STORE")
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(drop)}
        self.environment["TMPDIR"] = self.temporary
        # A sanitizer looks for leaks when a process ends.
        with open(f"{self.bin}/mk-run", "rb") as file:
            program = file.read()
        sanitized = b"libasan" in program or b"libtsan" in program
        self.grace = 10 if sanitized else 1
        self.pauses = Pauses()
        self.failures = []
        self.checks = 0
        self.took = []

    def expect(self, condition, what, job=None):
        self.checks += 1
        if not condition:
            self.failures.append(what)
            print(f"FAILED: {what}")
            if job:
                print(job.describe())
            sys.stdout.flush()

    def in_time(self, ended, since, what, job, deadline=DEADLINE):
        """`ended`: when each process did."""
        took = max([0, *(e - since for e in ended)])
        self.took.append(took)
        paused = self.pauses.since(since)
        self.expect(took <= deadline + self.grace + paused,
                    f"{what}: the last rank ends {took:.2f} s after the fault, "
                    f"later than {deadline} + {self.grace} s, {paused:.2f} s of "
                    "pauses of the machine counted off", job)

    def describe_times(self):
        """Of the faults since the last call."""
        took, self.took = sorted(self.took), []
        if not took:
            return ""
        return (f", ended {statistics.median(took):.2f} s after the fault, "
                f"{took[-1]:.2f} s at most")


def one_error(setup, p, what, job, text="", notices="$^"):
    """Exactly one line, from mk-run, with the cause in it."""
    lines = [line for line in p.errors() if not re.search(notices, line)]
    setup.expect(len(lines) == 1, f"{what}: {p.name} has {len(lines)} errors", job)
    setup.expect(all(re.match(r"(mk-run|mkernel_\w+): .*\w{3}", line) for line in lines),
                 f"{what}: {p.name} does not say who it is", job)
    setup.expect(all(re.search(text, line) for line in lines),
                 f"{what}: {p.name} does not say '{text}'", job)


def ends_well(setup, job, what, since, text="", must_fail=False, lost=(),
              deadline=DEADLINE, notices="$^"):
    """The rule. `text`: an expression that every rank's error has; `lost`: pids
    that were killed; `notices`: an expression for lines that are no errors."""
    hung = job.wait(60)
    setup.expect(not hung, f"{what}: hangs: {hung}", job)
    setup.in_time([p.ended for p in job.processes
                   if p.ended and p.pid not in lost], since, what, job, deadline)
    failed = must_fail or not job.passed(lost)
    if failed:
        setup.expect(not must_fail or not job.printed_result(),
                     f"{what}: has a result", job)
        for p in job.processes:
            if p.pid not in lost:
                setup.expect(p.poll() in (1, 2),
                             f"{what}: {p.name} ended with {p.poll()}", job)
                one_error(setup, p, what, job, text, notices)
    nothing_left(setup, job, what)
    return failed


def right(setup, job, what, seconds=60, notices="$^"):
    """`notices`: an expression for lines that are no errors."""
    hung = job.wait(seconds)
    setup.expect(not hung, f"{what}: hangs: {hung}", job)
    setup.expect(job.passed(), f"{what}: does not pass", job)
    setup.expect(not any(line for p in job.processes for line in p.errors()
                         if not re.search(notices, line)),
                 f"{what}: has errors", job)
    nothing_left(setup, job, what)


def nothing_left(setup, job, what):
    left = job.remains()
    setup.expect(not left, f"{what}: processes are left: {left}")
    files = os.listdir(setup.temporary)
    setup.expect(not files, f"{what}: files are left: {files}")
    job.close()
