"""Finds the fastest parameters of kernels by trying all of a space, and writes
them to the tuning file, which the compiler reads."""
from . import report, tune_ranks
from .errors import BenchError
from .job import count_gpus, ranks_of
from .places import Places
from .session import Session, say
from .space import ModelSpace, load_spaces
from .suites import Suites
from .tune_alone import TunerAlone
from .tuning_file import Measurements, TuningFile


def alone(options, budget, device, places, suites, cases, spaces, file, measurements):
    """The tuner of one GPU, and how many cases it has no entry for."""
    from .library import Library
    session = Session(places, device, Library(places, device), suites, options,
                      budget)
    tuner = TunerAlone(session, *spaces, file, measurements)
    tuner.prepare(cases)
    failed = 0
    for number, case in enumerate(cases):
        try:
            budget.need(3, "not tuned")
            tuner.tune(case, budget.share(len(cases) - number))
            for known in (file, measurements):
                if known:
                    known.write()  # what is known is kept, whatever comes
            say(f"[{budget.spent():5.0f} s] {case.name}: "
                f"{tuner.results[-1][1]}")
        except BenchError as error:
            failed += 1
            say(f"! {case.name}: {error}")
        device.release()
    return tuner, failed


def several(options, budget, places, suites, cases, spaces, file, ranks):
    """The same of several ranks."""
    need = max(suites.get(options.tune)["min_gpus"], ranks[0])
    there = need if options.target == "host" else count_gpus(places)[0]
    if ranks[0] < need or there < need:
        raise BenchError(f"--tune {options.tune}", f"{need} GPUs are needed, there "
                         f"{'is' if there == 1 else 'are'} {there}", "--gpus N says how many ranks "
                         "there are; each has a GPU of its own")
    tuner = tune_ranks.make(places, suites, options, budget, ranks, *spaces, file)
    tuner.prepare(cases)
    return tuner, tuner.run(budget)


def main(options, budget, make_device):
    suites, places = Suites(options.suites, options.seeds), Places(options.prefix)
    ranks = ranks_of(suites, options.tune, places, options)
    cases = suites.cases(options.tune, options.shapes, options.variants, *ranks,
                         draw=options.draw)
    space_path = options.space or places.tuning("space.json")
    by_model = space_path.startswith(ModelSpace.PREFIX)
    spaces = ModelSpace(space_path) if by_model else load_spaces(space_path), space_path
    path = options.tuning or places.tuning(options.target + ".json")
    of_ranks = suites.several(options.tune)
    if of_ranks and options.measured:
        raise BenchError(f"--tune {options.tune} --measured", "the rates that such times are for "
                         "are of one GPU", "leave --measured out")
    measurements = options.measured and Measurements(options.measured, options.target)
    if path == "none" and not measurements:
        raise BenchError("--tune --tuning=none", "there is no file to write",
                         "--measured FILE takes the first timings of all configurations")
    file = None if path == "none" else TuningFile(path, options.target)
    tuner, failed = several(options, budget, places, suites, cases, spaces, file, ranks) \
        if of_ranks else alone(options, budget, make_device(options), places, suites, cases,
                               spaces, file, measurements)
    for kernel, chosen, why in tuner.refused:
        print(f"refused: {kernel} {chosen}: {why}")
    if tuner.results:
        for line in report.table(tuner.results, [
                "case", "best", "of", "burst ms", "steady ms", "TFLOP/s"]):
            print(line)
    print(f"{path if file else options.measured}: {len(tuner.results)} "
          f"{'entries' if file else 'cases'} written, "
          f"{len(tuner.refused)} configurations refused")
    return 1 if failed else 0
