"""Which cases there are: suites.json, and what the command line says of it."""
import dataclasses
import json
import os

from . import shapes as drawn
from .errors import BenchError
from .places import HERE


# What --suite calls all suites that have `gated`: those whose gates are for one GPU.
GATED = "gated"


# The key of gates that are on several suites together.
ACROSS = "across"


@dataclasses.dataclass
class Case:
    suite: str
    variant: dict
    shape: str      # "8192x8192x8192"
    dims: dict      # {"M": 8192, ...}; of several ranks, their number is P
    reported: bool  # measured, but counts for no gate
    nodes: int = 1  # that the ranks of a suite of several are

    @property
    def name(self):
        return f"{self.variant['name']} {self.shape}"


class Suites:
    """`seeds`: drawn from these instead of the seeds that the file has."""

    def __init__(self, path=None, seeds=()):
        self.seeds = seeds
        path = path or os.path.join(HERE, "suites.json")
        try:
            with open(path, encoding="utf-8") as file:
                self.data = json.load(file)
            self.across = self.data.pop(ACROSS, [])
        except (OSError, ValueError) as error:
            raise BenchError(f"suites {path}", str(error)) from error

    def names(self, several=False, networked=False):
        """Those that a run without --suite does: of one GPU, of several, or of
        several nodes."""
        return [n for n, s in self.data.items() if not s.get("optional")
                and self.several(n) == (several or networked)
                and self.networked(n) == networked]

    def expand(self, names):
        """Names as --suite has them: GATED stands for all that belong to it."""
        every = [n for name in names for n in (
            [n for n, s in self.data.items() if s.get(GATED)] if name == GATED else [name])]
        return list(dict.fromkeys(every))

    def several(self, name):
        return "min_gpus" in self.get(name)

    def networked(self, name):
        return "min_nodes" in self.get(name)

    def get(self, name, ranks=None):
        """With what `by_ranks` says of so many ranks."""
        if name not in self.data:
            raise BenchError(f"there is no suite '{name}'",
                             remedy="one of " + ", ".join(self.data) + f", or {GATED}")
        suite = self.data[name]
        return {**suite, **suite.get("by_ranks", {}).get(str(ranks), {})}

    def cases(self, name, shapes=None, variants=None, gpus=1, nodes=1, draw=None):
        """Of one suite; `shapes` replaces those that it has, `draw` (KIND:SEED...) those that it
        draws. Each variant has all shapes; of drawn ones, with `alternate`, the variants have one
        after the other in turn. `gpus`, the ranks of a suite of several, which are `nodes` nodes."""
        suite = self.get(name, gpus)
        if self.networked(name) and nodes < suite["min_nodes"]:
            raise BenchError(f"--nodes {nodes}", f"suite '{name}' is for "
                             f"{suite['min_nodes']} nodes or more")
        if suite["problem"] == "compile":
            return []
        reported = suite.get("reported", [])
        texts = draw or [text for own in suite.get("drawn", [])
                         for text in drawn.reseeded(own, self.seeds)]
        # Layers of models recur, whatever the seed.
        known = set() if draw or self.seeds else {
            s for text in suite.get("tuned_on", [])
            for s in (drawn.parse(text) if ":" in text else [text])}
        found = list(dict.fromkeys(s for text in texts for s in drawn.parse(text, known)))
        own = found if draw else suite.get("shapes", []) + found
        wanted = shapes or (own if draw else own + reported)
        chosen = [v for v in suite["variants"] if not variants or v["name"] in variants]
        cases = []
        for number, variant in enumerate(chosen):
            variant = {**{k: suite[k] for k in ("file", "arguments", "closed")
                          if k in suite}, **variant}
            some = wanted
            if suite.get("alternate") and not shapes:
                some = wanted[number::len(chosen)]
            for shape in some:
                dims = parse_shape(name, shape, suite["dims"])
                if self.several(name):
                    dims["P"] = gpus
                cases.append(Case(name, variant, shape, dims,
                                  variant.get("reported", False)
                                  or shape not in own,
                                  nodes if self.networked(name) else 1))
        if not cases:
            raise BenchError(f"suite '{name}' has no such variant",
                             remedy="one of " + ", ".join(
                                 v["name"] for v in suite["variants"]))
        return cases


def parse_shape(suite, shape, names):
    """Sizes by name. The last names may have a value ("G=1"): shapes may end before them."""
    parts = shape.split("x")
    names, _, values = zip(*(name.partition("=") for name in names))
    least = sum(not value for value in values)
    if not least <= len(parts) <= len(names) or not all(
            p.isdigit() and int(p) > 0 for p in parts):
        raise BenchError(f"shape '{shape}' of suite '{suite}'",
                         "is not of the form " + "x".join(names[:least])
                         + "".join(f"[x{name}]" for name in names[least:]))
    return dict(zip(names, map(int, parts + list(values[len(parts):]))))
