"""Times contestants side by side: rounds in pairs, the first of a pair in a random order and
the second in the opposite one, so that none profits from what ran before it
(docs/benchmarking.md says why).

A contestant is measured in two conditions, `burst` (after the device was idle)
and `steady` (after it has run the same work for a while), and in two modes,
`call` (from the host's calls) and `graph` (calls captured once and replayed).
All rounds of a condition come before those of the next.
Graphs come first: where rivals are so fast by them that calls do not count
(`graphs_below_ms`), these are not measured.

Several ranks go through all of that alike: the same order, as many calls. They
meet on their devices right before each sample, and a sample is the largest of
all ranks.
"""
import dataclasses
import itertools
import math
import random

from . import stats
from .errors import first_line

CONDITIONS = ("burst", "steady")
MODES = ("call", "graph")
IDLE_EVERY = 5


@dataclasses.dataclass
class Plan:
    rounds: int = 6          # of each condition, an even number
    samples: int = 5         # of a contestant in a round
    sample_ms: float = 0.25  # calls of a sample take at least that long ...
    max_calls: int = 16      # ... if they are no more than these
    warm_ms: float = 50.0    # of the same work before steady samples
    idle_s: float = 0.03     # before every IDLE_EVERY burst samples
    min_rounds: int = 2      # also when time runs out
    graphs_below_ms: float = 0.02  # of less than that only graphs count: calls are the host's time
    seed: int = 1

    @staticmethod
    def quick():
        return Plan(rounds=2, warm_ms=30.0, idle_s=0.02)

    @staticmethod
    def many():
        """For hundreds of cases: as many samples, between which less time is spent on warming up."""
        return Plan(rounds=2, samples=15, min_rounds=1)


class Contestant:
    """Something that computes: `call` enqueues it once on the device, on the next of its
    `turns` sets of data. `wait`, if it is not None, waits for that and raises with what it
    knows of a failure."""

    def __init__(self, name, call, config=None, turns=1):
        self.name, self.call, self.wait, self.turns = name, call, None, turns
        self.config = config or {}
        self.problem = None  # why it takes no part
        self.error = None    # what check.py found
        self.modes = {}      # mode -> why it is not measured in it

    def describe(self, times):
        return {"name": self.name, "config": self.config, "error": self.error,
                "problem": self.problem, "not_measured": self.modes,
                "times": times}


def in_turn(calls):
    """A call that makes the next of them each time."""
    if len(calls) == 1:
        return calls[0]
    turns = itertools.cycle(calls)
    return lambda: next(turns)()


class Unit:
    """A contestant in one mode: what is called for one sample. All its sets of data have
    their turn in it."""

    def __init__(self, device, contestant, mode, plan, estimate):
        self.calls = max(contestant.turns, min(
            plan.max_calls, math.ceil(plan.sample_ms / max(estimate, 1e-6))))
        if mode == "graph":
            self.run = device.capture(contestant.call, self.calls)
        elif self.calls == 1:
            self.run = contestant.call
        else:
            self.run = _repeat(contestant.call, self.calls)
        self.warm = max(1, math.ceil(plan.warm_ms / max(estimate * self.calls,
                                                        1e-6)))

    def warm_up(self):
        for _ in range(self.warm):
            self.run()


def _repeat(call, count):
    def run():
        for _ in range(count):
            call()
    return run


def _estimate(device, call):
    """Milliseconds of one call, roughly; the same on all ranks."""
    for _ in range(3):
        call()
    device.synchronize()
    return device.group.largest(
        "estimate", stats.median(device.record(call, 5, meet=True)))


def _make_unit(device, contestant, mode, plan, estimate):
    """None for all ranks, if one of them cannot."""
    unit, problem = None, None
    try:
        unit = Unit(device, contestant, mode, plan, estimate)
    except Exception as error:  # whatever the capture raised
        problem = first_line(error)
        device.recover()
    problem = device.group.problem(f"{contestant.name} by {mode}", problem)
    if problem:
        contestant.modes[mode] = problem
        return None
    if mode == "graph":
        unit.run()  # the first replay takes longer
        device.synchronize()
    return unit


def _of_all_ranks(group, samples):
    """The largest of each sample."""
    each = group.gather("samples", samples)
    return {turn: list(map(max, zip(*(ranks[turn] for ranks in each))))
            for turn in samples}


def _turn(device, unit, condition, plan):
    if condition == "burst":
        times = []
        for number in range(plan.samples):
            if number % IDLE_EVERY == 0:
                device.idle(plan.idle_s)
                unit.run()
            # Each sample starts on an idle device: launch costs are in it.
            device.synchronize()
            times += device.record(unit.run, 1, meet=True)
    else:
        unit.warm_up()
        times = device.record(unit.run, plan.samples, meet=True)
    return [time / unit.calls for time in times]


def _rounds(device, units, mode, condition, plan, budget, order):
    """{(contestant name, mode, condition): samples} of one mode and condition, of all ranks."""
    group = [(name, mode, condition) for name, own in units if own == mode]
    samples = {turn: [] for turn in group}
    if condition == "steady":
        # Clocks fall for longer than one contestant warms up: all have to come after others' work.
        for turn in group:
            units[turn[:2]].warm_up()
    for number in range(plan.rounds):
        if number % 2:
            group.reverse()
        else:
            order.shuffle(group)
        for turn in group:
            samples[turn].extend(_turn(device, units[turn[:2]], condition, plan))
        spent = budget.spent() / (number + 1)
        if number + 1 >= plan.min_rounds and budget.left() < spent:
            break
    device.synchronize()
    return _of_all_ranks(device.group, samples)


def _where_calls_count(contestants, conditions, result, plan):
    """Conditions in which calls are still to be measured: not those in which graphs of all
    rivals take less than plan.graphs_below_ms. The first contestant is ours."""
    ours, *rivals = contestants
    by_graph = lambda contestant, condition: result[contestant.name][condition].get("graph")
    return [c for c in conditions if not rivals or not by_graph(ours, c) or not all(
        by_graph(r, c) and by_graph(r, c)["median"] < plan.graphs_below_ms for r in rivals)]


def measure(device, contestants, plan, budget, conditions=CONDITIONS,
            modes=MODES, order=None):
    """{contestant name: {condition: {mode: summary}}}. A contestant that cannot
    be captured is measured by calls alone and says why. `order` is a random.Random: cases that
    share one do not all begin with the same contestant."""
    units = {}
    for contestant in contestants:
        estimate = _estimate(device, contestant.call)
        for mode in modes:
            unit = _make_unit(device, contestant, mode, plan, estimate)
            if unit:
                units[contestant.name, mode] = unit
    order = order or random.Random(plan.seed)
    result = {c.name: {condition: {} for condition in conditions}
              for c in contestants}
    for number, mode in enumerate(sorted(modes, key=("graph", "call").index)):
        counted = conditions
        if mode == "call" and "graph" in modes:
            counted = _where_calls_count(contestants, conditions, result, plan)
        if not counted:
            continue
        own = budget.share(len(modes) - number)
        for place, condition in enumerate(counted):
            samples = _rounds(device, units, mode, condition, plan,
                              own.share(len(counted) - place), order)
            for (name, _, _), times in samples.items():
                summary = stats.summarize(times)
                summary["calls"] = units[name, mode].calls
                result[name][condition][mode] = summary
    return result


def ratios(times, ours, rival, graphs_below_ms=0.0):
    """Rival's median over ours, for each condition and mode; `quoted` is the
    worst of a condition's modes, or that of graphs where the rival takes less than
    so long by them; `more_ms`, how much longer ours takes in that mode. Above 1: ours
    is faster."""
    result = {}
    for condition, modes in times[ours].items():
        row = {}
        for mode, summary in modes.items():
            other = times.get(rival, {}).get(condition, {}).get(mode)
            if other:
                row[mode] = other["median"] / summary["median"]
        if row:
            mode = min(row, key=row.get)
            graph = times[rival][condition].get("graph")
            if "graph" in row and graph["median"] < graphs_below_ms:
                mode = "graph"
            result[condition] = {
                **row, "quoted": row[mode], "quoted_mode": mode,
                "rival_ms": times[rival][condition][mode]["median"],
                "more_ms": modes[mode]["median"] - times[rival][condition][mode]["median"]}
    return result
