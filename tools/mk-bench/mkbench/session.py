"""One run: compiles, checks and measures the cases of some suites."""
import concurrent.futures
import random
import subprocess
import sys
import time

from . import ceilings, gates, manifest, measure, network, verify
from .budget import Budget
from .errors import BenchError, Lost, first_line
from .fastest import find_fastest
from .kernels import Kernels, Pool, Request, interface
from .problem import kernel_dims, severity
from .problems import PROBLEMS

KEEP_S = 15  # at least, between two times that results so far are written
# A case takes about so long, as far as nothing is known; it counts as so many cases that were measured.
TYPICAL_S, TYPICAL_CASES = 1.2, 10
# Of the GPU's state: to ask for it takes a tenth of a second.
STATE_EVERY_S = 5.0


def say(text):
    print(text, file=sys.stderr, flush=True)


class Session:
    def __init__(self, places, device, library, suites, options, budget,
                 pool=None):
        self.places, self.device, self.library = places, device, library
        self.suites, self.options, self.budget = suites, options, budget
        self.pool = pool or Pool(places, options.jobs)
        self.kernels = Kernels(places, library, device)
        self.plan = (measure.Plan.quick() if options.quick else
                     measure.Plan.many() if options.many else measure.Plan())
        self.plan.seed = options.seed
        self.order = random.Random(options.seed)  # of contestants, for all cases
        self.ceilings = {}
        self.records = []
        self.state_at = None  # when the GPU was asked for its state
        self.keep, self.kept_at = None, 0.0  # writes what there is, and when it last did

    # Compilation ------------------------------------------------------------

    def request(self, case, set=None, bind=True, tuning=None):
        """Not `bind`: of the sizes only those that cannot be left open."""
        variant = case.variant
        sizes = kernel_dims(variant, case.dims)
        if not bind:
            sizes = {n: v for n, v in sizes.items()
                     if n in variant.get("closed", [])}
        return Request(
            self.places.example(variant["file"]), variant["kernel"], sizes,
            self.options.set if set is None else set, variant.get("replace"),
            self.device.target, self.device.grid,
            self.options.tuning if tuning is None else tuning,
            case.dims.get("P", 0) // case.nodes, case.nodes)

    def request_alone(self, case):
        """The kernel that computes what a rank does, without the others; None: the
        variant has none."""
        about = case.variant.get("alone")
        return about and Request(
            self.places.example(about["file"]), about["kernel"],
            kernel_dims(about, case.dims), target=self.device.target,
            grid=self.device.grid, tuning=self.options.tuning, gpus=1, alone=True)

    def compile(self, requests, what, budget=None):
        say(f"{what}: {len(requests)} to compile, {self.pool.jobs} at a time")
        self.pool.run(requests, budget or self.budget)

    def describe(self, requests, candidates=0):
        """Asks for the interfaces of all that could be compiled, many at a time, before the
        GPU is in use, and with what other parameters they are to be measured, too."""
        def ask(request):
            if not request.problem and not request.interface and self.budget.left() > 1:
                try:
                    request.interface = interface(self.places, request, candidates)
                except (BenchError, OSError, ValueError, subprocess.SubprocessError):
                    return  # config() tries again, and its case says why
                if candidates:  # the first one is what the request compiles to
                    found = request.interface["model"].get("candidates", [])[1:]
                    request.candidates = [request.with_params(c["set"]) for c in found]
        with concurrent.futures.ThreadPoolExecutor(self.pool.jobs) as threads:
            list(threads.map(ask, requests))

    # Measurement --------------------------------------------------------------

    def run(self, cases):
        requests = {}
        for case in cases:
            try:
                requests[case.suite, case.name] = self.request(case)
            except BenchError as error:
                self.records.append(self.record(case, str(error)))
        alone = [] if self.options.verify else [
            self.request_alone(c) for c in cases if (c.suite, c.name) in requests]
        if self.options.candidates > 1 and self.device.group.world == 1:
            self.describe(requests.values(), self.options.candidates)
        more = [other for request in requests.values() for other in request.candidates]
        self.compile([*requests.values(), *filter(None, alone), *more], "kernels")
        self.measure([c for c in cases if (c.suite, c.name) in requests],
                     requests)
        return self.records

    def measure(self, cases, requests):
        if self.device.group.world == 1:
            self.describe(filter(None, requests.values()))
        self.measure_ceilings(cases)
        begin = self.budget.spent()
        for number, case in enumerate(cases):
            record = self.record(case)
            self.records.append(record)
            each = (TYPICAL_S * TYPICAL_CASES + self.budget.spent() - begin) \
                / (TYPICAL_CASES + number)
            share = self.budget.share(len(cases) - number, each)
            try:
                self.budget.need(3, "not measured")
                self.run_case(case, requests[case.suite, case.name], record,
                              share)
            except Exception as error:  # torch raises what it likes
                record["problem"] = first_line(error)
                # Of several ranks the others wait, unless all agree about it.
                if self.device.group.world > 1 and (
                        isinstance(error, Lost)
                        or not isinstance(error, BenchError)):
                    raise
            self.done(record)
            self.keep_some()

    def keep_some(self):
        """A run that is ended loses the cases of the last KEEP_S seconds at most."""
        if self.keep and self.budget.spent() - self.kept_at >= KEEP_S:
            self.keep(self)
            self.kept_at = self.budget.spent()

    say = staticmethod(say)

    def done(self, record):
        self.say(f"[{self.budget.spent():5.0f} s] {record['suite']} "
                 f"{record['name']}: "
                 + (record["problem"] or self.short(record)))

    def measure_ceilings(self, cases):
        if self.device.target == "host" or self.options.verify:
            return
        rates = {PROBLEMS[self.suites.get(c.suite)["problem"]].rate
                 for c in cases}
        rates = {"bf16"} | ({"f8"} if any(c.suite.startswith("fp8") for c in cases)
                            else set()) if rates else set()
        try:
            self.ceilings = ceilings.measure_ceilings(
                self.device, rates, self.plan,
                Budget(5 * len(rates), self.budget.clock))
        except Lost:
            raise
        except BenchError as error:
            self.say(f"no bounds: {error}")

    @staticmethod
    def record(case, problem=None):
        return {"suite": case.suite, "name": case.name,
                "variant": case.variant["name"], "shape": case.shape,
                "dims": case.dims, "reported": case.reported,
                "problem": problem, "contestants": [], "ratios": {},
                "bound_ms": {}, "flops": None, "bytes": None,
                "link_bytes": None, "nodes": case.nodes}

    @staticmethod
    def short(record):
        parts = [f"roofline {condition} {row['roofline']:.3f}" for condition, row
                 in network.rows(record)]
        for rival, conditions in record["ratios"].items():
            parts += [f"{rival} {condition} {row['quoted']:.3f}"
                      for condition, row in conditions.items()]
        return ", ".join(parts) or ("right" if "verify" in record else "no ratio")

    def run_case(self, case, request, record, budget):
        suite = self.suites.get(case.suite)
        self.device.release()
        kind = PROBLEMS[suite["problem"]]
        problem, why = self.agreed("data", lambda: kind(
            self.device, case.variant, case.dims, self.seed()))
        if why:
            raise BenchError(why)
        if self.options.verify:
            try:
                return verify.run(self, request, problem, record)
            finally:
                self.kernels.drop()
        for key in ("flops", "bytes", "link_bytes"):
            record[key] = getattr(problem, key)
        contestants = self.contestants(self.rivals(case, suite), request, problem,
                                       self.request_alone(case))
        for contestant in contestants:
            self.check(contestant, problem)
        problem.reference = None
        self.device.release()
        good = [c for c in contestants if not c.problem]
        conditions = self.options.conditions
        times = self.times(good, budget) if good else {}
        record["contestants"] = [c.describe(times.get(c.name, {}))
                                 for c in contestants]
        if case.nodes > 1:
            record["network"] = network.figures(
                times, conditions, problem.net_bytes(case.nodes),
                network.parse_rate(self.options.rate))
            record["bound_ms"] = {c: row["bound_ms"]
                                  for c, row in network.rows(record)}
        else:
            record["bound_ms"] = {c: ceilings.bound_ms(
                problem, self.ceilings, c, suite.get("link")) for c in conditions}
            if suite.get("link"):
                record["links"] = network.figures(times, conditions, problem.link_bytes,
                                                  suite["link"])
        if "mkernel" in times:
            for contestant in good[1:]:
                record["ratios"][contestant.name] = measure.ratios(
                    times, "mkernel", contestant.name, self.plan.graphs_below_ms)
        if self.device.target != "host" and self.device.group.rank == 0:
            self.note_state(record)
        self.kernels.drop()
        self.device.release()

    def seed(self):
        """Of a case's data. What is only verified has other data in each case."""
        return self.options.seed + (1000 * len(self.records) if self.options.verify else 0)

    def note_state(self, record):
        """The state of the GPU now, unless it was asked for a moment ago."""
        now = time.monotonic()
        if self.state_at is None or now - self.state_at >= STATE_EVERY_S:
            record["gpu"], self.state_at = manifest.gpu_state(), now

    def times(self, contestants, budget, **how):
        how = {"plan": self.plan, "conditions": self.options.conditions, **how}
        try:
            return measure.measure(self.device, contestants, budget=budget,
                                   order=self.order, **how)
        except BenchError:
            raise
        except Exception as error:  # torch only knows that the GPU has failed
            why = first_line(error)
            for contestant in contestants:
                try:
                    (contestant.wait or self.device.recover)()
                except BenchError as report:
                    why = f"{contestant.name}: {first_line(report)}"
                    break
            raise Lost(why) from error

    def agreed(self, what, make):
        """What `make` returns and None, or None and why it failed, on whichever
        rank."""
        value, problem = None, None
        try:
            value = make()
        except Lost:
            raise
        except Exception as error:  # torch and ctypes raise what they like
            problem = first_line(error)
            try:
                self.device.recover()
            except Lost as lost:
                raise Lost(f"{what}: {problem}") from lost
        problem = self.device.group.problem(what, problem)
        return (None, problem) if problem else (value, None)

    def rivals(self, case, suite):
        """Names of a case's rivals; of a gated suite among hundreds of cases those that gates are on."""
        listed = case.variant.get("rivals", suite.get("rivals", []))
        if not (self.options.many and suite.get("gated")):
            return listed
        asked = {rival for gate in suite["gates"] for rival in gates.rivals_of(gate)}
        return [name for name in listed if name in asked]

    def contestants(self, rivals, request, problem, alone=None):
        makers = [("mkernel", lambda: self.ours(request, problem))]
        if alone:
            makers.append(("alone", lambda: self.alone(alone, problem)))
        if self.options.rivals and self.device.has_rivals:
            makers += [(name, lambda name=name: problem.rival(name))
                       for name in rivals]
        result = []
        for name, make in makers:
            contestant, why = self.agreed(name, make)
            if why:
                contestant = measure.Contestant(name, None)
                contestant.problem = why
            result.append(contestant)
        return result

    def ours(self, request, problem, sets=None):
        """Of several candidates the fastest, found as cublasLt's heuristic is."""
        if request.problem:
            raise BenchError(request.problem)
        contestant, chosen = self.kernels.contestant(request, problem, sets=sets), request
        others = [r for r in request.candidates if not r.problem]
        if others:
            requests = [request, *others]
            made = [contestant, *(self.kernels.contestant(r, problem, sets=sets) for r in others)]
            best, times = find_fastest(self.device, [c.call for c in made], contestant.turns)
            contestant, chosen = made[best], requests[best]
        contestant.config = self.config(chosen)
        if others:
            contestant.config["candidate"] = {"number": best, "of": len(made), "ms": times}
        return contestant

    def alone(self, request, problem):
        arguments, outputs = problem.alone()
        contestant = self.kernels.bound("alone", request, request.options["bind"],
                                        arguments, outputs)
        contestant.config = self.config(request)
        return contestant

    def config(self, request):
        found = request.interface or interface(self.places, request)
        return {key: found[key] for key in ("kernel", "types", "grid", "dims", "params",
                                            "model", "tuning")}

    def check(self, contestant, problem):
        """What is timed has just been checked, on all ranks."""
        if contestant.problem:
            return
        error, contestant.problem = self.agreed(
            f"check of {contestant.name}", lambda: problem.check(contestant))
        if contestant.problem:
            return
        each = self.device.group.gather("errors", error)
        contestant.error = max(each, key=severity)
        if not contestant.error["passed"]:
            contestant.problem = (
                "wrong result: largest error {max}, relative {rel_l2}".format(
                    **contestant.error))
            if "where" in contestant.error:
                contestant.problem += f": {contestant.error['where']}"

    def document(self, gates, tuning_file):
        return {"environment": self.environment(tuning_file),
                "plan": vars(self.plan), "ceilings": self.ceilings,
                "seconds": round(self.budget.spent(), 1),
                "cases": self.records, "gates": gates}

    def environment(self, tuning_file):
        return manifest.environment(self.places, self.device, self.options,
                                    tuning_file)
