"""The tuner of one GPU: all configurations are loaded at once, and timed in turn."""
import random

from . import measure, report, stats
from .errors import BenchError, first_line
from .kernels import interface
from .problems import PROBLEMS
from .space import ModelSpace
from .tuner import FINALISTS, SHORT_MS, Tuner, by_graph, choose, final_plan, score, spell


class TunerAlone(Tuner):
    """Of one GPU. `measurements`: where the first timings go, or None."""

    def __init__(self, session, spaces, space_path, file, measurements):
        super().__init__(session, spaces, space_path, file)
        self.measurements, self.requests = measurements, {}

    def request(self, case, chosen):
        """To find the best, each configuration is compiled once, sizes left open; the finalists
        again. A survey is of code as it is used: large clusters follow from the sizes. So are the
        few configurations of a model, which differ from case to case."""
        bind = self.file is None or isinstance(self.spaces, ModelSpace)
        return self.session.request(case, chosen, bind=bind, tuning="none")

    def prepare(self, cases):
        for case in cases:
            for chosen in self.configurations(case):
                request = self.request(case, chosen)
                self.requests.setdefault(request.key(), request)
        self.compile(list(self.requests.values()))
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
            request = self.requests[self.request(case, chosen).key()]
            if request.problem:
                continue
            name = spell(chosen)
            try:
                contestant = session.kernels.contestant(request, problem, name)
            except Exception as error:  # what the driver does not take
                self.refuse(case, name, error)
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
                self.refuse(case, contestant.name, "wrong result")
        if not good:
            raise BenchError(case.name, "the fastest configurations compute "
                             "wrong results")
        problem.reference = None
        times = measure.measure(session.device, good, final_plan(), budget,
                                modes=("graph",))
        best = choose(score(times), present and spell(present))
        self.keep(case, chosen_of[best], by_graph(times[best]), problem.flops, len(contestants))

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
                self.refuse(case, name, request.problem)
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
