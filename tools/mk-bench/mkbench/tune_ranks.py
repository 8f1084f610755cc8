"""The tuner of several ranks. One process has the file, and starts a process for each rank;
these load one configuration after the other, check it and time it, all of them the same one.
Each has memory that peers reach, so that only the best are there at once.

Rank 0 draws the order and picks what is fastest, by the slowest rank. What a rank meets alone
ends them all: the configuration that they were at is left out, and new ranks go on.
"""
import dataclasses
import random

from . import measure
from .errors import BenchError, Lost, first_line
from .job import Job, reason
from .problems import PROBLEMS
from .session import say
from .suites import Case
from .tuner import FINALISTS, SHORT_MS, Tuner, by_graph, choose, final_plan, score, spell

STARTS = 8  # of ranks, one for each configuration that hangs; each takes half a minute
# Of the time of a case for first timings; the rest is the finalists'.
FIRST = 0.7


@dataclasses.dataclass
class Trial:
    """A case and what is tried for it, by name; what ranks have found out stays when they are
    lost: `times`, milliseconds of the first timings."""
    case: dict
    choices: dict
    present: str = None
    times: dict = dataclasses.field(default_factory=dict)


class NotTuned(BenchError):
    """All ranks agree about it. Whatever else fails ends them."""


class RankTuner:
    """One rank's part. `tell` says something to the process that has the file."""

    def __init__(self, session, tell):
        self.session, self.tell = session, tell
        self.group = session.device.group

    def run(self, trials):
        for number, trial in enumerate(trials):
            budget = self.session.budget.share(len(trials) - number)
            try:
                self.tune(Case(**trial.case), trial, budget)
            except NotTuned as error:
                self.tell(failed=first_line(error), case=Case(**trial.case).name)
            self.session.kernels.drop()
            self.session.device.release()

    def tune(self, case, trial, budget):
        session = self.session
        self.tell(at="", case=case.name)
        problem, why = session.agreed("data", lambda: PROBLEMS[
            session.suites.get(case.suite)["problem"]](
                session.device, case.variant, case.dims, session.options.seed))
        if why:
            raise NotTuned(why)
        self.try_all(case, trial, problem, budget)
        names = sorted(trial.times, key=trial.times.get)[:FINALISTS]
        if trial.present in trial.times and trial.present not in names:
            names.append(trial.present)
        finalists = [c for c in (self.load(case, trial, problem, name) for name in names) if c]
        if not finalists:
            raise NotTuned("no configuration could be loaded and computes what it should")
        # Who of them is to blame if ranks are lost now is not known: the fastest of the first timings.
        self.tell(at=finalists[0].name, case=case.name)
        times = session.times(finalists, budget, plan=final_plan(), modes=("graph",),
                              conditions=measure.CONDITIONS)
        known = score(times)
        if not known:
            raise NotTuned("no configuration could be captured in a graph")
        best = self.group.first("choice", choose(known, trial.present))
        self.tell(chosen=best, case=case.name, ms=by_graph(times[best]), flops=problem.flops,
                  of=len(trial.times))

    def try_all(self, case, trial, problem, budget):
        """First timings of what has none yet, in an order that rank 0 draws; what the file has
        comes first."""
        order = [name for name in trial.choices if name not in trial.times]
        random.Random(self.session.options.seed).shuffle(order)
        order.sort(key=lambda name: name != trial.present)
        for name in self.group.first("order", order):
            if trial.times and budget.left() < (1 - FIRST) * budget.seconds:
                break
            contestant = self.load(case, trial, problem, name)
            if contestant:
                times = self.session.times(
                    [contestant], budget, modes=("graph",), conditions=("steady",),
                    plan=measure.Plan(rounds=2, samples=3, sample_ms=SHORT_MS, warm_ms=5))
                ms = by_graph(times[name]).get("steady")
                if ms is None:
                    self.tell(refused=contestant.modes["graph"], name=name, case=case.name)
                else:
                    trial.times[name] = ms
                    self.tell(timed=ms, name=name, case=case.name)
            contestant = None
            self.session.kernels.drop()
            self.session.device.release()

    def load(self, case, trial, problem, name):
        """The configuration with its data, checked; None if it is nothing. Launches that fail
        leave a rank of which nobody knows what it still can do."""
        session = self.session
        self.tell(at=name, case=case.name)
        contestant, why = session.agreed(name, lambda: session.kernels.contestant(
            session.request(case, trial.choices[name], tuning="none"), problem, name))
        if why:
            self.tell(refused=why, name=name, case=case.name)
            return None
        session.check(contestant, problem)
        if not contestant.problem:
            return contestant
        self.tell(refused=contestant.problem, name=name, case=case.name)
        if contestant.error is None:
            raise Lost(contestant.problem)
        return None


class TunerOfRanks(Tuner):
    """The part of the process that has the file."""

    def prepare(self, cases):
        """Compiles each configuration of each case, with its sizes."""
        self.cases, self.trials, requests = {}, {}, {}
        for case in cases:
            self.cases[case.name] = case
            found = self.configurations(case)
            choices = {spell(chosen): chosen for chosen in found}
            present = found and self.present(case, list(found[0]))
            if present:
                choices.setdefault(spell(present), present)
            requests[case.name] = {name: self.session.request(case, chosen, tuning="none")
                                   for name, chosen in choices.items()}
            self.trials[case.name] = Trial(dataclasses.asdict(case), choices,
                                           present and spell(present))
        every = [r for of in requests.values() for r in of.values()]
        self.compile(every)
        for case in cases:
            for name, request in requests[case.name].items():
                if request.problem:
                    self.leave_out(case.name, name, request.problem)

    def leave_out(self, case, name, why):
        self.refuse(self.cases[case], name, why)
        for known in (self.trials[case].choices, self.trials[case].times):
            known.pop(name, None)

    def run(self, budget):
        """Returns how many cases are left without an entry."""
        failed = 0
        for name, trial in list(self.trials.items()):
            if not trial.choices:
                failed += self.give_up(name, "no configuration could be compiled")
        for _ in range(STARTS):
            if not self.trials or budget.left() < 3:
                break
            failed += self.attempt()
        why = "the time budget is spent" if budget.left() < 3 else \
            f"ranks were lost {STARTS} times"
        return failed + sum(self.give_up(name, why) for name in list(self.trials))

    def give_up(self, name, why):
        del self.trials[name]
        say(f"! {name}: not tuned: {why}")
        return 1

    def attempt(self):
        """One start of ranks. What they were at when they were lost is to blame."""
        self.at, failed = None, 0
        left = {name: dataclasses.asdict(trial) for name, trial in self.trials.items()}

        def take(message):
            nonlocal failed
            if "failed" in message:
                failed += self.give_up(message["case"], message["failed"])
                self.at = False
            else:
                self.take(message)
        lost = self.session.listen({"trials": list(left.values())}, take)
        if not self.trials:
            return failed
        case, name = self.at or (None, None)
        if name:
            self.leave_out(case, name, reason(lost))
            if not self.trials[case].choices:
                failed += self.give_up(case, "no configuration is left")
        elif self.at is None or case:  # before any configuration: so it would be again
            for case in [case] if case else list(self.trials):
                failed += self.give_up(case, reason(lost))
        return failed

    def take(self, message):
        """Keeps what rank 0 has said."""
        case, name = message.get("case"), message.get("name")
        if "at" in message:
            self.at = case, message["at"]
        elif "timed" in message:
            self.trials[case].times[name] = message["timed"]
            self.at = False
        elif "refused" in message:
            self.leave_out(case, name, message["refused"])
            self.at = False
        elif "chosen" in message:
            trial, self.at = self.trials.pop(case), False
            self.keep(self.cases[case], trial.choices[message["chosen"]], message["ms"],
                      message["flops"], message["of"])
            self.file.write()
            say(f"[{self.session.budget.spent():5.0f} s] {case}: {message['chosen']}")


def make(places, suites, options, budget, ranks, spaces, space_path, file):
    """The tuner for so many ranks and nodes."""
    world, nodes = ranks
    return TunerOfRanks(Job(places, suites, options, budget, world, nodes=nodes), spaces,
                        space_path, file)
