"""kill -9 at random points: jobs, and jobs one after the other in processes that
survive."""
import os
import signal
import subprocess
import time

from jobs import Job
from rules import DEADLINE, JOIN, SIZES, ends_well, nothing_left, right
from watch import Holdings, alive


def victim_of(setup, job):
    """A rank or the launcher that runs: (name, pid)."""
    running = [(f"rank {r}", pid) for r, pid in sorted(job.ranks().items())]
    if job.mode == "launcher":
        running.append(("launcher", job.processes[0].pid))
    return setup.random.choice(running) if running else ("nobody", 0)


def cause_of(name, mode):
    """What the errors of the others say."""
    if mode == "launcher":
        return rf"{name} was killed by signal 9 \(Killed\)"
    rank = name.split()[1]
    gone = rf"rank {rank} was lost|rank\(s\) .*\b{rank}\b.* did not come within"
    if rank == "0":
        gone += "|rank 0 is gone|for rank 0 of this job" \
                "|closed the connection before it admitted" \
                "|nobody listened at .*: check that rank 0 runs"
    return gone


def kills(setup):
    """As many kills as asked for hit a running process: half of them at any point of
    a run, half while kernels run."""
    options = [*SIZES, *JOIN, "--launches", "12", "--seed", "3",
               "--loopback", "delay=3ms"]
    whole, kernels = {}, {}
    for mode in ("launcher", "ranks"):
        job = Job(setup, mode, options)
        job.wait_for(job.in_kernels)
        begun = time.monotonic()
        right(setup, job, f"whole run, {mode}")
        ended = max(p.ended for p in job.processes)
        whole[mode], kernels[mode] = ended - job.start, ended - begun
    hits = {"launcher": 0, "rank of mk-run": 0, "rank of torchrun": 0}
    tries = late = survived = in_kernels = 0
    while sum(hits.values()) < setup.kills and tries < 2 * setup.kills:
        mode = ("launcher", "ranks")[tries % 2]
        while_running = tries // 2 % 2
        tries += 1
        job = Job(setup, mode, options)
        if while_running:
            job.wait_for(job.in_kernels)
            time.sleep(setup.random.uniform(0, 0.8 * kernels[mode]))
        else:
            time.sleep(setup.random.uniform(0, 0.9 * whole[mode]))
        name, pid = victim_of(setup, job)
        inside = job.in_kernels()
        hit = pid and not job.printed_result() and alive(pid)
        what = f"kill {tries}: {mode}, {name} at " \
               f"{(time.monotonic() - job.start) * 1e3:.0f} ms"
        since = time.monotonic()
        if not hit:
            late += 1
            # The machine has become faster since the whole run was timed.
            whole[mode] *= 0.9
            kernels[mode] *= 0.9
            right(setup, job, what)
            continue
        os.kill(pid, signal.SIGKILL)
        if mode == "ranks":
            since = job.up()  # a rank can miss another once it runs
        failed = ends_well(setup, job, what, since,
                           cause_of(name, mode) if name != "launcher" else "",
                           must_fail=name == "launcher", lost=(pid,))
        survived += not failed
        in_kernels += bool(inside)
        hits[name if name == "launcher" else "rank of mk-run"
             if mode == "launcher" else "rank of torchrun"] += 1
    hit = sum(hits.values())
    setup.expect(hit == setup.kills, f"{hit} of {setup.kills} kills hit")
    setup.expect(min(hits.values()) > 0, f"nobody of a kind was killed: {hits}")
    setup.expect(in_kernels >= setup.kills // 4,
                 f"{in_kernels} of {setup.kills} kills came while kernels ran")
    setup.expect(survived <= setup.kills // 10,
                 f"{survived} of {setup.kills} jobs passed with a rank killed")
    print(f"kills: {hit} hit ({hits}), {in_kernels} of them while kernels ran; "
          f"{survived} jobs were right nonetheless; {late} more kills came too late")


class Survivors:
    """Processes with a job after the other; the one that was killed is replaced."""

    def __init__(self, setup):
        self.setup = setup
        program = [f"{setup.bin}/mkernel-c-job", setup.package]
        self.job = Job(setup, "ranks", [], program=program,
                       stdin=subprocess.PIPE, variables={
                           "JOB_ROUNDS": "1", "JOB_LAUNCHES": "15",
                           "JOB_TIMEOUT_MS": str(int(DEADLINE * 1000)),
                           # One arena: memory that is held is then memory lost.
                           "MALLOC_ARENA_MAX": "1"})
        self.rounds = 0
        self.dead = []

    def begin(self):
        self.rounds += 1
        for p in self.job.processes:
            p.said, p.wrote = len(p.stderr), len(p.stdout)
            p.process.stdin.write(f"{self.job.mark}-{self.rounds}\n".encode())
            p.process.stdin.flush()

    def replies(self, p):
        return p.stdout[p.wrote:]

    def end(self, but=None):
        """Until all but one have come to the end of the round."""
        limit = time.monotonic() + 30
        waiting = [p for p in self.job.processes if p is not but]
        while waiting and time.monotonic() < limit:
            waiting = [p for p in waiting if "done" not in self.replies(p)]
            time.sleep(0.002)
        self.setup.expect(not waiting, f"round {self.rounds}: hangs", self.job)
        return time.monotonic()

    def replace(self, rank):
        self.dead.append(self.job.processes[rank])
        self.job.processes[rank] = self.job.start_rank(
            rank, f"survivor.{self.rounds}.{rank}")

    def close(self):
        for p in self.job.processes:
            p.process.stdin.close()
        hung = self.job.wait(20)
        self.setup.expect(not hung, f"survivors hang: {hung}", self.job)
        for p in self.job.processes:
            self.setup.expect(p.poll() == 0, f"survivor: status {p.poll()}",
                              self.job)
        for p in self.dead:
            p.close()
        nothing_left(self.setup, self.job, "survivors")


def survivors(setup):
    """Ranks outlive a job whose rank is killed: descriptors, threads, mappings and
    memory of the process are what they were, and the next job is right."""
    s = Survivors(setup)
    watched = s.job.processes[:2]  # never killed: rank 0 holds the store
    before = {}
    warm = 3
    rounds = warm + max(6, setup.kills // 4)
    span = 0.3
    failed = 0
    for i in range(rounds):
        kill = i % 3 != 0  # the first job, and each third, is left alone
        what = f"survivors, round {i}"
        begun = time.monotonic()
        s.begin()
        rank = setup.random.choice((2, 3))
        victim = s.job.processes[rank]
        if kill:
            time.sleep(setup.random.uniform(0, span))
            os.kill(victim.pid, signal.SIGKILL)
            since = s.job.up()
            victim.process.wait()
        ended = s.end(but=victim if kill else None)
        others = [p for p in s.job.processes if not (kill and p is victim)]
        if kill:
            setup.in_time([ended], since, what, s.job)
        elif i == 0:
            span = 0.9 * (ended - begun)
        # One that had its result may still fail to leave.
        right_ranks = [p for p in others if ": right" in s.replies(p)
                       and not p.stderr[p.said:]]
        for p in others:
            errors = p.stderr[p.said:].splitlines()
            setup.expect(len(errors) == (p not in right_ranks),
                         f"{what}: {p.name} has {len(errors)} errors", s.job)
        setup.expect(kill or right_ranks == others, f"{what}: not right", s.job)
        failed += kill and len(right_ranks) < len(others)
        if kill:
            s.replace(rank)
        if i + 1 < warm:
            continue
        for p in watched:
            if p.pid not in before:
                time.sleep(0.2)
            now = settled(p.pid, before.get(p.pid))
            was = before.setdefault(p.pid, now)
            setup.expect(now.counted() == was.counted(),
                         f"{what}: {p.name} holds {now.counted()}, before "
                         f"{was.counted()}", s.job)
    now = [Holdings(p.pid) for p in watched]
    grown = [n.resident - before[p.pid].resident for n, p in zip(now, watched)]
    setup.expect(now[0].sanitized or max(grown) < 2 << 20,
                 f"survivors: memory has grown by {grown} bytes", s.job)
    setup.expect(failed > 0, "survivors: no job has failed")
    s.close()
    print(f"survivors: {rounds} jobs in one process, {failed} failed by a kill; "
          f"memory grew by {max(grown) >> 10} KiB")


def settled(pid, was):
    """What a process holds once it rests: a thread that was joined leaves /proc a
    moment later."""
    end = time.monotonic() + 2
    while True:
        now = Holdings(pid)
        if not was or now.counted() == was.counted() or time.monotonic() > end:
            return now
        time.sleep(0.02)
