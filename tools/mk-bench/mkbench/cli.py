"""The command line of mk-bench."""
import argparse
import os
import sys

from . import (compile_suite, gates, measure, model, network, proxy, report, shapes, tune,
               verify)
from .budget import Budget
from .errors import BenchError
from .job import Job, count_gpus, ranks_of
from .places import Places
from .session import Session, say
from .suites import GATED, Suites

DESCRIPTION = """Measures kernels beside cuBLAS, cuDNN and torch: same data, one
process, random order; checked before timed. docs/benchmarking.md says how.

  mk-bench                              all suites of one GPU, less than 8 minutes
  mk-bench --quick --suite gemm         fewer samples: not for quoting
  mk-bench --gates --json gates.json    are the ratios as large as asked for? Of the suites
                                        of one GPU that are 'gated', less than 10 minutes
  mk-bench --verify --suite gated --seeds 1-10    right at every shape? nothing is timed
  mk-bench --gpus 2                     suites of several ranks, one process a GPU
  mk-bench --nodes 2 --gpus 1           suites of several nodes, emulated
  mk-bench --tune gemm --time-budget 500   rewrites the tuning file
  mk-bench --gpus 2 --tune ag_gemm      the same for a kernel of several ranks
"""


def words(text):
    return [word for word in text.split(",") if word]


def positive(text):
    """An integer of at least 1, or argparse's error that names the option."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: give an integer of at least 1, or leave "
                                         "the option out")
    return value


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="mk-bench", description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--suite", type=words, metavar="NAME,...", default=None, help="--list names them; "
        f"'{GATED}' stands for all whose gates are for one GPU")
    add("--gpus", type=positive, metavar="N", help="ranks of suites of several, which are "
        "run if there is no --suite (default: all GPUs; 2 on the host target); with "
        "--nodes, ranks of each node (default: 1)")
    add("--nodes", type=positive, metavar="N", help="nodes of suites across a network, which "
        "are run if there is no --suite (default: 2); emulated on this machine")
    add("--rate", default=network.RATE, metavar="RATE", help="of that network for each "
        "GPU, in decimal units (default: 50GB/s)")
    add("--path", choices=["copy-engine", "staged"], default="", help="of that network: "
        "the copy engine writes the peer's memory (default), or through the host's")
    add("--shapes", type=words, metavar="AxBxC,...",
        help="instead of those of the suite")
    add("--draw", type=words, metavar="KIND:SEED[:COUNT[:LEAST-MOST]],...",
        help="shapes of matrix products drawn from a seed, instead of those of the suite, among "
        "whose variants they are divided as its own are; kinds: "
        + ", ".join(shapes.KINDS) + "; LEAST-MOST: of M")
    add("--seeds", metavar="FIRST-LAST,...", help="draw the shapes that suites draw from each of these "
        "seeds, instead of their own")
    add("--variants", type=words, metavar="NAME,...", help="of the suite")
    add("--quick", action="store_true", help="fewer samples, 2 minutes")
    add("--time-budget", type=float, metavar="SECONDS")
    add("--json", metavar="FILE", help="everything that was measured")
    add("--gates", action="store_true",
        help="evaluate the gates; exit status 1 if one fails. "
        f"Without --suite, --gpus and --nodes: of --suite {GATED}")
    add("--verify", action="store_true", help="time nothing: run each case twice on data of its own, "
        "compare with the reference, and both runs bit by bit; exit status 1 if one is wrong")
    add("--model", action="store_true", help="what the compiler's cost model predicts beside "
        "what was measured")
    add("--measured", metavar="FILE", help="add what was measured to this file, from which "
        "scripts/fit-rates makes the rates of the cost model; with --tune, the first timings of all "
        "configurations, and with --tuning=none nothing else")
    add("--conditions", type=words, default=list(measure.CONDITIONS),
        metavar="burst,steady")
    add("--no-rivals", dest="rivals", action="store_false")
    add("--set", type=words, default=[], metavar="NAME=V,...",
        help="parameters of the kernels, instead of the tuning file's")
    add("--tuning", default="", metavar="FILE|model|none",
        help="a tuning file (default: the target's)")
    add("--candidates", type=positive, metavar="N", default=1, help="where the tuning file has no entry "
        "for the very sizes, measure so many sets of parameters that the cost model takes for the "
        "fastest, and compete with the best one, as cublasLt does with its heuristics (one GPU; default: 1, "
        "the model's choice)")
    add("--tune", metavar="SUITE", help="find the best parameters of a suite's "
        "kernels and rewrite the tuning file")
    add("--space", metavar="FILE|model:N", help="what --tune tries (default: "
        "share/mkernel/tuning/space.json); model:N: of each case the N sets of parameters that the cost "
        "model takes for the fastest")
    add("--jobs", type=positive, default=max(1, (os.cpu_count() or 2) - 1),
        help="compilations at a time")
    add("--seed", type=int, default=1)
    add("--proxy", action="store_true", help="what the proxy adds to the posts it makes, "
        "and how long a GPU's store takes to become one; nothing else")
    add("--target", choices=["sm_90a", "host"], default="sm_90a",
        help="host: a rehearsal without a GPU, its figures mean nothing")
    add("--prefix", help="folder with bin/ and lib/ of mKernel")
    add("--suites", metavar="FILE", help="other suites and gates")
    add("--list", action="store_true", help="print suites and cases, of --suite or all")
    options = parser.parse_args(arguments)
    if options.draw:
        if options.shapes:
            parser.error("--draw and --shapes: both say which shapes; give one of them")
        try:
            for text in options.draw:
                shapes.parse(text)
        except BenchError as error:
            parser.error(str(error))
    if options.verify and (options.gates or options.tune or options.measured or options.model):
        parser.error("--verify times nothing: leave out --gates, --tune, --model and --measured")
    if options.candidates > 1 and (options.verify or options.tune or options.set
                                   or options.target == "host" or (options.gpus or 1) > 1
                                   or options.nodes):
        parser.error("--candidates: measured are kernels of one GPU, with parameters that the model "
                     "chooses: leave out --gpus, --nodes, --set, --verify, --tune (which takes "
                     "--space model:N) and --target host")
    try:
        options.seeds = shapes.parse_seeds(options.seeds) if options.seeds else []
    except BenchError as error:
        parser.error(f"--seeds: {error}")
    pairs = [pair.partition("=") for pair in options.set]
    try:
        options.set = {name: int(value) for name, _, value in pairs}
    except ValueError:
        parser.error("--set: NAME=INTEGER,... is needed")
    for condition in options.conditions:
        if condition not in measure.CONDITIONS:
            parser.error(f"--conditions: {condition} is neither burst nor "
                         "steady")
    if options.gates and not (options.suite or options.gpus or options.nodes or options.proxy):
        options.suite = [GATED]
    options.many = GATED in (options.suite or [])
    if options.time_budget is None:
        options.time_budget = 540 if options.tune else 570 if options.many or options.verify else \
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
    for name in suites.expand(options.suite or suites.data):
        suite = suites.get(name)
        notes = ["not in the default run"] if suite.get("optional") else \
            [f"at least {suite['min_nodes']} nodes"] if suites.networked(name) else \
            [f"at least {suite['min_gpus']} GPUs"] if suites.several(name) else []
        notes += [f"in '{GATED}'"] if suite.get(GATED) else []
        print(name + (f" ({', '.join(notes)})" if notes else ""))
        if suite["problem"] == "compile":
            good &= compile_suite.list_kernels(Places(options.prefix), suite,
                                               name, options.target)
        for case in suites.cases(name, options.shapes, options.suite and options.variants,
                                 nodes=suite.get("min_nodes", 1), draw=options.draw):
            print(f"  {case.name}" + (", reported" if case.reported else ""))
    return good


def show(records, rows, options):
    if options.verify:
        for line in [*verify.lines(records), *("! " + p for p in report.problems(records))]:
            print(line)
        return
    for line in report.case_table(
            [r for r in records if r["suite"] != "compile"],
            options.conditions):
        print(line)
    for line in [*report.network_table(records), *report.links_table(records)]:
        print(line)
    for line in compile_suite.lines(records):
        print(line)
    for line in report.problems(records):
        print("! " + line)
    for line in ["--quick: fewer than 30 samples, not for quoting"] if options.quick \
            else report.too_few_samples(records):
        print(line)
    for line in gates.text(rows) if options.gates else []:
        print(line)


def bench_alone(names, cases, places, suites, options, budget, keep):
    """Suites of one GPU."""
    device = make_device(options)
    from .library import Library
    session = Session(places, device, Library(places, device), suites, options,
                      budget)
    session.keep = keep
    for name in names:
        if suites.get(name)["problem"] == "compile":
            session.records += compile_suite.run(session, suites.get(name),
                                                 name)
    if cases:
        session.run(cases)
    return session


def bench_several(cases, places, suites, options, budget, keep, world, nodes=1):
    """Suites of several ranks; those for which there are too few GPUs are not
    measured."""
    session = Job(places, suites, options, budget, world, nodes=nodes)
    session.keep = keep
    there, why = (world, "") if options.target == "host" else count_gpus(places)
    if why:
        say(why)
    can = []
    for case in cases:
        need = max(world, suites.get(case.suite)["min_gpus"])
        if need <= min(world, there):
            can.append(case)
        else:
            session.fail([case], f"not measured: {need} GPUs are needed, there "
                         f"{'is' if there == 1 else 'are'} {there}")
    if can:
        session.run(can)
    return session


def write(sessions, rows, places, options):
    """What sessions have measured, as one document."""
    target = sessions[0].device.target
    tuning = options.tuning or places.tuning(target + ".json")
    first, *rest = [s.document(rows, tuning) for s in sessions]
    first["cases"] = list(first["cases"])
    for other in rest:
        first["cases"] += other["cases"]
        first["nodes" if other["environment"].get("nodes", 1) > 1 else "several"] \
            = {key: other[key] for key in ("environment", "ceilings")}
    report.write_json(options.json, first)


def bench(options, budget):
    suites = Suites(options.suites, options.seeds)
    if options.list:
        return 0 if list_cases(suites, options) else 1
    # All of that is found out before a GPU is used.
    names = suites.expand(options.suite or [n for n in suites.names(
        options.gpus is not None, options.nodes is not None)
                                            if not options.quick or n != "compile"])
    if options.verify:
        names = [name for name in names if suites.get(name)["problem"] != "compile"]
    places = Places(options.prefix)
    networked = [name for name in names if suites.networked(name)]
    several = [name for name in names if suites.several(name)
               and name not in networked]
    alone = [name for name in names if not suites.several(name)]
    ranks = {name: ranks_of(suites, name, places, options) for name in names}
    network.parse_rate(options.rate)
    cases = {name: suites.cases(name, options.shapes, options.variants, *ranks[name],
                                options.draw) for name in names}
    if options.many and not options.verify and not options.shapes:
        cases = {name: [case for case in of if not (case.reported and suites.get(name).get("gated"))]
                 for name, of in cases.items()}
    of = lambda some: [case for name in some for case in cases[name]]
    sessions = []
    keep = options.json and (lambda session: write(
        [*sessions, session], [], places, options))
    if alone:
        sessions.append(bench_alone(alone, of(alone), places, suites, options,
                                    budget, keep))
    if several:
        sessions.append(bench_several(of(several), places, suites, options,
                                      budget, keep, *ranks[several[0]]))
    if networked:
        sessions.append(bench_several(of(networked), places, suites, options, budget,
                                      keep, *ranks[networked[0]]))
    records = [record for session in sessions for record in session.records]
    rows = gates.evaluate(suites, records, options.conditions)
    show(records, rows, options)
    for line in model.lines(records) if options.model else []:
        print(line)
    if options.measured:
        added = model.keep(options.measured, records, sessions[0].device.target)
        say(f"{options.measured}: {added} entries written")
    if options.json:
        write(sessions, rows, places, options)
        say(f"written: {options.json}")
    wrong = [r for r in records if r.get("problem") or any(
        c["problem"] for c in r.get("contestants", [])
        if c["name"] == "mkernel")]
    if options.gates:
        return 0 if rows and all(row["passed"] for row in rows) else 1
    return 1 if wrong else 0


def main(arguments):
    options = parse(arguments)
    budget = Budget(options.time_budget)
    try:
        if options.proxy:
            return proxy.run(options)
        if options.tune:
            return tune.main(options, budget, make_device)
        return bench(options, budget)
    except BenchError as error:
        print(f"mk-bench: error: {error}", file=sys.stderr)
        return 2
