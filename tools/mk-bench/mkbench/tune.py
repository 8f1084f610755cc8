"""Finds the fastest parameters of kernels by trying all of a space, and writes
them to the tuning file, which the compiler reads."""
import json
import os
import random

from . import measure, report, stats
from .errors import BenchError, first_line
from .kernels import interface
from .places import Places
from .session import PROBLEMS, Session, say
from .space import find_space, load_spaces
from .suites import Suites
from .tuning_file import Measurements, TuningFile

FINALISTS = 6
# Of the finalists, each in turn: what is a few percent apart differs less than the GPU's
# clock from one moment to the next.
ROUNDS = 4
# What the file has stays unless something is faster by so much: the least of many times is
# as likely lucky as fast.
CLEARLY = 1.01
# What the first timings of a configuration take at least, as far as the number of calls allows.
SHORT_MS = 0.1


def spell(chosen):
    return ",".join(f"{name}={value}" for name, value in chosen.items())


def choose(score, present):
    """The name with the least score, or `present` if nothing is clearly less."""
    best = min(score, key=score.get)
    return present if score.get(present, float("inf")) \
        <= CLEARLY * score[best] else best


class Tuner:
    """`file`: the tuning file, None if only the first timings are asked for; `measurements`: where
    these go, or None."""

    def __init__(self, session, spaces, space_path, file, measurements):
        self.session, self.spaces, self.space_path = session, spaces, space_path
        self.file, self.measurements = file, measurements
        self.requests, self.refused, self.results = {}, [], []

    def configurations(self, case):
        choices = interface(self.session.places, self.session.request(
            case, {}, tuning="none"))["choices"]
        space = find_space(self.spaces, case.variant["kernel"], self.space_path, choices)
        return space.configurations(case.dims)

    def prepare(self, cases):
        """Compiles each configuration of each kernel once, sizes left open."""
        for case in cases:
            for chosen in self.configurations(case):
                request = self.session.request(case, chosen, bind=False,
                                               tuning="none")
                self.requests.setdefault(request.key(), request)
        self.session.compile(list(self.requests.values()), "configurations")
        for request in self.requests.values():
            if request.problem:
                self.refused.append((request.options["kernel"],
                                     spell(request.options["set"]),
                                     first_line(request.problem)))

    def tune(self, case, budget):
        """Times all configurations in turn, then the best ones with care."""
        session = self.session
        problem = PROBLEMS[session.suites.get(case.suite)["problem"]](
            session.device, case.variant, case.dims, session.options.seed)
        contestants, chosen_of = [], {}
        for chosen in self.configurations(case):
            request = self.requests[session.request(
                case, chosen, bind=False, tuning="none").key()]
            if request.problem:
                continue
            name = spell(chosen)
            try:
                contestant = session.kernels.contestant(request, problem, name)
            except Exception as error:  # what the driver does not take
                self.refused.append((case.variant["kernel"], name,
                                     first_line(error)))
                session.device.recover()
                continue
            contestants.append(contestant)
            chosen_of[name] = chosen
        if not contestants:
            raise BenchError(case.name, "no configuration could be compiled "
                             "and loaded", "the reasons are listed above")
        selected, times = self.preselect(contestants, budget)
        self.survey(case, problem, chosen_of, times)
        if self.file is None:
            return
        present = self.present(case, list(next(iter(chosen_of.values()))))
        if present:
            chosen_of[spell(present)] = present
            if spell(present) not in selected:
                selected.append(spell(present))
        finalists = self.bind(case, problem,
                              [chosen_of[name] for name in selected])
        good = []
        for contestant in finalists:
            contestant.error = problem.check(contestant)
            if contestant.error["passed"]:
                good.append(contestant)
            else:
                self.refused.append((case.variant["kernel"], contestant.name,
                                     "wrong result"))
        if not good:
            raise BenchError(case.name, "the fastest configurations compute "
                             "wrong results")
        problem.reference = None
        plan = measure.Plan(rounds=ROUNDS, warm_ms=30.0, idle_s=0.02)
        times = measure.measure(session.device, good, plan, budget,
                                modes=("graph",))
        score = {name: stats.geometric_mean(
            modes["graph"]["median"] for modes in conditions.values())
            for name, conditions in times.items()}
        best = choose(score, present and spell(present))
        self.keep(case, chosen_of[best], times[best], problem, len(contestants))

    def present(self, case, names):
        """The configuration that the file has for exactly these sizes, if it sets
        these parameters."""
        if not os.path.exists(self.file.path):
            return None
        found = interface(self.session.places, self.session.request(
            case, {}, tuning=self.file.path))
        entry = (found.get("tuning") or {}).get("entry")
        if not entry or not entry["exact"] or set(entry["set"]) != set(names):
            return None
        return {name: entry["set"][name] for name in names}

    def bind(self, case, problem, configurations):
        """Contestants as the bench compiles them: with sizes bound the code is
        another, and may be faster or slower by more than what is left to find."""
        requests = {spell(chosen): self.session.request(case, chosen,
                                                        tuning="none")
                    for chosen in configurations}
        self.session.compile(list(requests.values()),
                             f"finalists of {case.name}")
        finalists = []
        for name, request in requests.items():
            if request.problem:
                self.refused.append((case.variant["kernel"], name,
                                     first_line(request.problem)))
                continue
            finalists.append(self.session.kernels.contestant(request, problem,
                                                             name))
        return finalists

    def preselect(self, contestants, budget):
        """Names of the fastest by short timings, in rounds of random order, and milliseconds of all."""
        device, order = self.session.device, random.Random(1)
        samples = {c.name: [] for c in contestants}
        units = {c.name: self.unit(c) for c in contestants}
        survivors = list(contestants)
        limits = (1.5, 1.25, 1.15, 1.1, 1.07)
        for number, limit in enumerate(limits):
            order.shuffle(survivors)
            for contestant in survivors:
                unit = units[contestant.name]
                unit.run()
                samples[contestant.name] += [time / unit.calls
                                             for time in device.record(unit.run, 2)]
            # Far behind is out.
            best = min(stats.median(samples[c.name]) for c in survivors)
            survivors = [c for c in survivors if stats.median(
                samples[c.name]) < limit * best]
            if number and budget.left() <= 0:
                break
        survivors.sort(key=lambda c: stats.median(samples[c.name]))
        return [c.name for c in survivors[:FINALISTS]], {
            name: stats.median(times) for name, times in samples.items()}

    def unit(self, contestant):
        """Calls in a graph, so that the host's time does not count."""
        device = self.session.device
        contestant.call()
        estimate = stats.median(device.record(contestant.call, 2))
        return measure.Unit(device, contestant, "graph",
                            measure.Plan(sample_ms=SHORT_MS, warm_ms=0), estimate)

    def survey(self, case, problem, chosen_of, times):
        """Keeps the first timings of all configurations. They follow each other without a pause."""
        best = min(times, key=times.get)
        if self.measurements:
            found = interface(self.session.places, self.session.request(
                case, chosen_of[best], tuning="none"))
            for name, ms in times.items():
                self.measurements.put({
                    "kernel": found["kernel"], "types": found["types"], "grid": found["grid"],
                    "dims": found["dims"], "set": chosen_of[name], "ms": {"steady": round(ms, 6)}})
        if self.file is None:
            self.results.append([case.name, best, len(times), "-", report.number(times[best], 4),
                                 report.number(problem.flops / times[best] * 1e-9, 0)])

    def keep(self, case, chosen, times, problem, tried):
        request = self.session.request(case, chosen, tuning="none")
        found = interface(self.session.places, request)
        entry = {"kernel": found["kernel"], "types": found["types"],
                 "grid": found["grid"], "dims": found["dims"], "set": chosen,
                 "ms": {condition: round(modes["graph"]["median"], 5)
                        for condition, modes in times.items()},
                 "of": tried}
        self.file.put(entry)
        best = min(modes["graph"]["median"] for modes in times.values())
        self.results.append([
            case.name, spell(chosen), tried,
            *(report.number(entry["ms"].get(c), 4)
              for c in measure.CONDITIONS),
            report.number(problem.flops / best * 1e-9, 0)])


def main(options, budget, make_device):
    from .library import Library
    suites = Suites(options.suites)
    if suites.several(options.tune):
        raise BenchError(f"--tune {options.tune}", "its kernels need several "
                         "ranks, and the tuner works on one GPU", "compare values "
                         "by --suite and --set, and write the tuning entry")
    cases = suites.cases(options.tune, options.shapes, options.variants, draw=options.draw)
    places = Places(options.prefix)
    space_path = options.space or places.tuning("space.json")
    spaces = load_spaces(space_path)
    path = options.tuning or places.tuning(options.target + ".json")
    measurements = options.measured and Measurements(options.measured, options.target)
    if path == "none" and not measurements:
        raise BenchError("--tune --tuning=none", "there is no file to write",
                         "--measured FILE takes the first timings of all configurations")
    file = None if path == "none" else TuningFile(path, options.target)
    device = make_device(options)
    session = Session(places, device, Library(places, device), suites, options,
                      budget)
    tuner = Tuner(session, spaces, space_path, file, measurements)
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
