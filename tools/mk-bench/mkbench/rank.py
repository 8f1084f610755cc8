"""One rank of a measurement of several: a process that job.py starts, with the
environment of a launcher and the description of the job on its standard input.
Each tells what it finds, a line of JSON each, on the descriptor that is named.
Nearly all of that is told by rank 0.
"""
import argparse
import json
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from mkbench import manifest  # noqa: E402
from mkbench.budget import Budget  # noqa: E402
from mkbench.errors import BenchError, first_line  # noqa: E402
from mkbench.group import Group  # noqa: E402
from mkbench.library import Library  # noqa: E402
from mkbench.places import Places  # noqa: E402
from mkbench.session import Session, say  # noqa: E402
from mkbench.suites import Case, Suites  # noqa: E402
from mkbench.tune_ranks import RankTuner, Trial  # noqa: E402


class RankSession(Session):
    """As one of several ranks. What a rank meets alone ends the job: the others
    would wait for it."""

    def __init__(self, tell, *arguments):
        super().__init__(*arguments)
        self.tell = tell

    def compile(self, requests, what, budget=None):
        pass  # the parent has, for rank 0 to find in the cache

    def say(self, text):
        if self.device.group.rank == 0:
            say(text)

    def done(self, record):
        super().done(record)
        self.tell(record=record)

    def measure_ceilings(self, cases):
        super().measure_ceilings(cases)
        self.tell(ceilings=self.ceilings, environment=manifest.environment(
            self.places, self.device, self.options, None))

    def run_case(self, case, request, record, budget):
        self.tell(begin=[case.suite, case.name])
        super().run_case(case, request, record, budget)

    def check(self, contestant, problem):
        super().check(contestant, problem)
        self.tell(checked=contestant.name)


def make_device(target, rank, group):
    if target == "host":
        from mkbench.device_host import HostDevice
        device = HostDevice(group=group)
    else:
        from mkbench.device_torch import TorchDevice
        device = TorchDevice(rank, group)
    device.grid = 0  # the target's own
    return device


def measure(job, environment, tell):
    rank, world = int(environment["RANK"]), int(environment["WORLD_SIZE"])
    group = Group(rank, world, job["address"], bytes.fromhex(job["key"]))
    said = tell if rank == 0 else lambda **message: None
    options = argparse.Namespace(**job["options"])
    places = Places(options.prefix)
    device = make_device(options.target, rank, group)
    library = Library(places, device)
    library.join(gpu=None if options.target == "host" else rank,
                 network=job.get("network"))
    suites = Suites(options.suites)
    session = RankSession(said, places, device, library, suites, options,
                          Budget(job["seconds"], group.clock))
    if "trials" in job:
        RankTuner(session, said).run([Trial(**trial) for trial in job["trials"]])
    else:
        session.run([Case(**case) for case in job["cases"]])
    library.leave()
    group.close()


def main():
    job = json.load(sys.stdin)
    channel = os.fdopen(job["channels"][int(os.environ["RANK"])], "w")

    def tell(**message):
        print(json.dumps(message, allow_nan=False), file=channel, flush=True)

    try:
        measure(job, os.environ, tell)
    except Exception as error:  # torch and ctypes raise what they like
        if not isinstance(error, BenchError):
            traceback.print_exc()
        tell(lost=first_line(error))
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    # What is left may wait for ranks that have gone.
    sys.stderr.flush()
    os._exit(status)
