"""The command line of mk-bench."""
import argparse
import os
import sys

from . import compile_suite, gates, measure, report, tune
from .budget import Budget
from .errors import BenchError
from .places import Places
from .session import Session, say
from .suites import Suites

DESCRIPTION = """Measures kernels beside cuBLAS, cuDNN and torch: same data, one
process, random order; checked before timed. docs/benchmarking.md says how.

  mk-bench                              all suites, less than 8 minutes
  mk-bench --quick --suite gemm         fewer samples: not for quoting
  mk-bench --gates --json bench.json    are the ratios as large as asked for?
  mk-bench --tune gemm --time-budget 500   rewrites the tuning file
"""


def words(text):
    return [word for word in text.split(",") if word]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="mk-bench", description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--suite", type=words, metavar="NAME,...", default=None)
    add("--shapes", type=words, metavar="AxBxC,...",
        help="instead of those of the suite")
    add("--variants", type=words, metavar="NAME,...", help="of the suite")
    add("--quick", action="store_true", help="fewer samples, 2 minutes")
    add("--time-budget", type=float, metavar="SECONDS")
    add("--json", metavar="FILE", help="everything that was measured")
    add("--gates", action="store_true",
        help="evaluate the gates; exit status 1 if one fails")
    add("--conditions", type=words, default=list(measure.CONDITIONS),
        metavar="burst,steady")
    add("--no-rivals", dest="rivals", action="store_false")
    add("--set", type=words, default=[], metavar="NAME=V,...",
        help="parameters of the kernels, instead of the tuning file's")
    add("--tuning", default="", metavar="FILE|none",
        help="a tuning file (default: the target's)")
    add("--tune", metavar="SUITE", help="find the best parameters of a suite's "
        "kernels and rewrite the tuning file")
    add("--space", metavar="FILE", help="what --tune tries (default: "
        "share/mkernel/tuning/space.json)")
    add("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 1),
        help="compilations at a time")
    add("--seed", type=int, default=1)
    add("--target", choices=["sm_90a", "host"], default="sm_90a",
        help="host: a rehearsal without a GPU, its figures mean nothing")
    add("--prefix", help="folder with bin/ and lib/ of mKernel")
    add("--suites", metavar="FILE", help="other suites and gates")
    add("--list", action="store_true", help="print suites and cases, of --suite or all")
    options = parser.parse_args(arguments)
    pairs = [pair.partition("=") for pair in options.set]
    try:
        options.set = {name: int(value) for name, _, value in pairs}
    except ValueError:
        parser.error("--set: NAME=INTEGER,... is needed")
    for condition in options.conditions:
        if condition not in measure.CONDITIONS:
            parser.error(f"--conditions: {condition} is neither burst nor "
                         "steady")
    if options.time_budget is None:
        options.time_budget = 540 if options.tune else \
            115 if options.quick else 470
    return options


def make_device(options):
    if options.target == "host":
        from .device_host import HostDevice
        return HostDevice()
    from .device_torch import TorchDevice
    return TorchDevice()


def list_cases(suites, options):
    """Returns whether all can be measured, as far as that is known before."""
    good = True
    for name in options.suite or suites.data:
        suite = suites.get(name)
        print(name + (" (not in the default run)" if suite.get("optional")
                      else ""))
        if suite["problem"] == "compile":
            good &= compile_suite.list_kernels(Places(options.prefix), suite,
                                               name, options.target)
        for case in suites.cases(name):
            print(f"  {case.name}" + (", reported" if case.reported else ""))
    return good


def show(session, rows, options):
    for line in report.case_table(
            [r for r in session.records if r["suite"] != "compile"],
            options.conditions):
        print(line)
    for line in compile_suite.lines(session.records):
        print(line)
    for line in report.problems(session.records):
        print("! " + line)
    if options.quick:
        print("--quick: fewer than 30 samples, not for quoting")
    for line in gates.text(rows):
        print(line)


def bench(options, budget):
    suites = Suites(options.suites)
    if options.list:
        return 0 if list_cases(suites, options) else 1
    # All of that is found out before a GPU is used.
    names = options.suite or [n for n in suites.names()
                              if not options.quick or n != "compile"]
    cases = [case for name in names
             for case in suites.cases(name, options.shapes, options.variants)]
    places = Places(options.prefix)
    device = make_device(options)
    from .library import Library
    library = Library(places, device)
    session = Session(places, device, library, suites, options, budget)
    for name in names:
        if suites.get(name)["problem"] == "compile":
            session.records += compile_suite.run(session, suites.get(name),
                                                 name)
    if cases:
        session.run(cases)
    rows = gates.evaluate(suites, session.records, options.conditions)
    show(session, rows if options.gates else [], options)
    if options.json:
        report.write_json(options.json, session.document(
            rows, options.tuning or places.tuning(device.target + ".json")))
        say(f"written: {options.json}")
    wrong = [r for r in session.records if r.get("problem") or any(
        c["problem"] for c in r.get("contestants", [])
        if c["name"] == "mkernel")]
    if options.gates:
        return 0 if rows and all(row["passed"] for row in rows) else 1
    return 1 if wrong else 0


def main(arguments):
    options = parse(arguments)
    budget = Budget(options.time_budget)
    try:
        if options.tune:
            return tune.main(options, budget, make_device)
        return bench(options, budget)
    except BenchError as error:
        print(f"mk-bench: error: {error}", file=sys.stderr)
        return 2
