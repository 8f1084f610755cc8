#!/usr/bin/env python3
"""Faults in jobs of mk-run, each injected into real processes.

After every fault: the right result, or one clear error on every rank within
deadline + 1 s of the fault; no process, file or memory is left (rules.py).

  faults.py --bin BUILD/bin --packages FOLDER [--kills N] [--seed S] [--only NAME]
"""
import argparse
import os
import random
import sys
import tempfile
import time

import kills
import others
from rules import Setup
from watch import left_behind, may_be_left, shared_memory

SCENARIOS = [kills.kills, kills.survivors, others.memory, others.late,
             others.two_jobs, others.stranger, others.token, others.package,
             others.cache, others.stalls]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--alter", type=int, default=30)
    parser.add_argument("--launches", type=int, default=10000,
                        help="of each network, in the scenario stalls")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--alone", action="store_true",
                        help="nothing else uses shared memory meanwhile: the "
                             "system's is counted too")
    parser.add_argument("--only", action="append", default=[],
                        choices=[s.__name__ for s in SCENARIOS])
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    descriptors = len(os.listdir("/proc/self/fd"))
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        setup = Setup(arguments, folder)
        before, shared = may_be_left(setup.temporary), shared_memory()
        for scenario in SCENARIOS:
            if arguments.only and scenario.__name__ not in arguments.only:
                continue
            begin = time.monotonic()
            scenario(setup)
            print(f"{scenario.__name__}: {time.monotonic() - begin:.1f} s"
                  f"{setup.describe_times()}")
            sys.stdout.flush()
        left = left_behind(setup.temporary, before)
        setup.expect(not left, f"files or segments are left: {left}")
        if arguments.alone:
            grown = shared_memory() - shared
            setup.expect(grown < 8 << 20,
                         f"{grown >> 10} KiB of shared memory are left")
    setup.expect(len(os.listdir("/proc/self/fd")) == descriptors,
                 "descriptors of the test itself are left")
    print(f"{setup.checks} checks, {len(setup.failures)} failed, "
          f"seed {arguments.seed}")
    return 1 if setup.failures or not setup.checks else 0


if __name__ == "__main__":
    sys.exit(main())
