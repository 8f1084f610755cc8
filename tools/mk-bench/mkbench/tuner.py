"""What tuners of one GPU and of several share: what is tried, what is chosen of it, and
what becomes of it in the tuning file."""
import os
import random

from . import measure, report, stats
from .budget import Budget
from .errors import first_line
from .kernels import interface
from .space import ModelSpace, find_space

FINALISTS = 6
# Of the finalists, each in turn: what is a few percent apart differs less than the GPU's
# clock from one moment to the next.
ROUNDS = 4
# Of all time at most, for compilation.
COMPILING = 0.5
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


def by_graph(times):
    """Milliseconds by condition of one contestant of measure()."""
    return {condition: modes["graph"]["median"] for condition, modes in times.items()
            if "graph" in modes}


def score(times):
    """One number for each contestant that was captured: less is faster."""
    known = {name: by_graph(conditions) for name, conditions in times.items()}
    return {name: stats.geometric_mean(ms.values()) for name, ms in known.items() if ms}


def final_plan():
    return measure.Plan(rounds=ROUNDS, warm_ms=30.0, idle_s=0.02)


class Tuner:
    """What the tuners of one GPU and of several have in common. `file`: the tuning file, None if
    only the first timings are asked for."""

    def __init__(self, session, spaces, space_path, file):
        self.session, self.file = session, file
        self.spaces, self.space_path = spaces, space_path
        self.refused, self.results = [], []

    def configurations(self, case):
        if isinstance(self.spaces, ModelSpace):
            found = interface(self.session.places, self.session.request(case, {}, tuning="model"),
                              self.spaces.number)
            return self.spaces.take(case, found)
        choices = interface(self.session.places, self.session.request(
            case, {}, tuning="none"))["choices"]
        space = find_space(self.spaces, case.variant["kernel"], self.space_path, choices)
        return space.configurations(case.dims)

    def compile(self, requests):
        """If time is short, some of each case are compiled."""
        random.Random(self.session.options.seed).shuffle(requests)
        left = self.session.budget
        self.session.compile(requests, "configurations",
                             Budget(COMPILING * left.left(), left.clock))

    def refuse(self, case, name, why):
        self.refused.append((case.variant["kernel"], name, first_line(why)))

    def present(self, case, names):
        """What the file has for exactly these sizes: these parameters, and others that it
        sets. None if it has nothing."""
        if not os.path.exists(self.file.path):
            return None
        found = interface(self.session.places, self.session.request(
            case, {}, tuning=self.file.path))
        entry = (found.get("tuning") or {}).get("entry")
        if not entry or not entry["exact"]:
            return None
        return {**{name: found["params"][name]["value"] for name in names}, **entry["set"]}

    def keep(self, case, chosen, ms, flops, tried):
        """Makes what was chosen the file's entry for these sizes. `ms` by condition."""
        found = interface(self.session.places, self.session.request(case, chosen, tuning="none"))
        self.file.put({"kernel": found["kernel"], "types": found["types"],
                       "grid": found["grid"], "dims": found["dims"], "set": chosen,
                       "ms": {condition: round(value, 5) for condition, value in ms.items()},
                       "of": tried})
        self.results.append([
            case.name, spell(chosen), tried,
            *(report.number(ms.get(c), 4) for c in measure.CONDITIONS),
            report.number(flops / min(ms.values()) * 1e-9, 0)])
