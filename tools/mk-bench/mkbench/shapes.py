"""Shapes of matrix products drawn from a seed: what nobody has tuned for.

Layers of known models at several degrees of tensor parallelism times numbers of tokens, and
sizes between which the logarithm is even. Tune on some seeds, and quote others.
"""
import math
import random
import re

from .errors import BenchError

# (columns, rows of the weights as N, K; which of them tensor parallelism divides) by layer. From the
# models' published configurations: hidden size, intermediate size, heads x their size, heads of keys.
MODELS = {
    "llama3-8b": {"qkv": (6144, 4096, "N"), "out": (4096, 4096, "K"), "up": (28672, 4096, "N"),
                  "down": (4096, 14336, "K")},
    "llama3-70b": {"qkv": (10240, 8192, "N"), "out": (8192, 8192, "K"), "up": (57344, 8192, "N"),
                   "down": (8192, 28672, "K")},
    "llama3-405b": {"qkv": (18432, 16384, "N"), "out": (16384, 16384, "K"),
                    "up": (106496, 16384, "N"), "down": (16384, 53248, "K")},
    "qwen3-32b": {"qkv": (10240, 5120, "N"), "out": (5120, 8192, "K"), "up": (51200, 5120, "N"),
                  "down": (5120, 25600, "K")},
    "mixtral-8x7b": {"qkv": (6144, 4096, "N"), "out": (4096, 4096, "K"),
                     "up": (28672, 4096, "N"), "down": (4096, 14336, "K")},
    "deepseek-v3": {"q": (24576, 1536, "N"), "kv": (32768, 512, "N"), "out": (7168, 16384, "K"),
                    "up": (36864, 7168, "N"), "down": (7168, 18432, "K"),
                    "shared up": (4096, 7168, "N"), "shared down": (7168, 2048, "K")},
}
PARALLEL = (1, 2, 4, 8)
TOKENS = tuple(2 ** i for i in range(15))
# least, most, multiple of each of M, N, K
RANGES = {"multiples16": (64, 16384, 16), "multiples8": (64, 16384, 8), "any": (64, 16384, 1),
          "ragged": (64, 16384, 1), "ranks": (2048, 16384, 64),
          # For rehearsals on the host target, and what is smaller than a tile.
          "tiny": (1, 48, 1), "tiny8": (8, 64, 8)}
# Of these shapes at least one size is no multiple of so much.
OFF = {"ragged": 8}
MOST = 1000
KINDS = ("models", *RANGES)
# Operands and result of 2 bytes: as much as leaves room for a reference in f32 or f64 beside them.
MOST_ELEMENTS = 2 ** 31


def of_models(draw, tokens):
    """All layers with all numbers of tokens."""
    every = {(m, n // p if split == "N" else n, k // p if split == "K" else k)
             for layers in MODELS.values() for n, k, split in layers.values()
             for p in PARALLEL for m in tokens}
    every = sorted(every)
    draw.shuffle(every)
    return every


def between(draw, least, most, multiple):
    """One number, its logarithm even between the ends."""
    value = math.exp(draw.uniform(math.log(least), math.log(most)))
    return min(max(round(value / multiple), -(-least // multiple)), most // multiple) * multiple


def draw_shapes(kind, seed, count, rows=(1, 16384), without=()):
    """`count` different (M, N, K), with M from rows[0] to rows[1], none of `without`; fewer if there are
    no more."""
    if kind not in KINDS:
        raise BenchError(f"drawn shapes '{kind}'", "are not known", "one of " + ", ".join(KINDS))
    least, most = rows
    if not 1 <= least <= most:
        raise BenchError(f"drawn shapes with {least} to {most} rows", "there are none",
                         "give 1 or more, the least first")
    draw = random.Random(f"{kind} {seed}")
    fits = lambda m, n, k: m * k + n * k + m * n <= MOST_ELEMENTS and (m, n, k) not in without
    if kind == "models":
        tokens = [t for t in TOKENS if least <= t <= most]
        return [s for s in of_models(draw, tokens) if fits(*s)][:count]
    low, high, multiple = RANGES[kind]
    low, high = max(low, least), min(high, most)
    if low > high:
        raise BenchError(f"drawn shapes '{kind}' with {least} to {most} rows",
                         f"these have {RANGES[kind][0]} to {RANGES[kind][1]}")
    shapes = {}
    for _ in range(100 * count):
        shape = (between(draw, low, high, multiple), between(draw, *RANGES[kind]),
                 between(draw, *RANGES[kind]))
        if fits(*shape) and (kind not in OFF or any(size % OFF[kind] for size in shape)):
            shapes[shape] = None
        if len(shapes) == count:
            break
    return list(shapes)


def reseeded(text, seeds):
    """The same for each of these seeds; as it is, if there are none."""
    kind, _, *rest = text.split(":")
    return [":".join([kind, str(seed), *rest]) for seed in seeds] or [text]


def parse_seeds(text):
    """Seeds of "1-10" or "3,7,9-11"."""
    seeds = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last <= first + MOST:
            raise BenchError(f"seeds '{text}'", "are not of the form 1-10 or 3,7,9-11")
        seeds += range(first, last + 1)
    return seeds


def spell(shapes):
    return ["x".join(map(str, shape)) for shape in shapes]


def parse(text, without=()):
    """KIND:SEED[:COUNT[:LEAST-MOST]], the last of M; none of the shapes `without`."""
    parts = text.split(":")
    try:
        kind, seed = parts[0], int(parts[1])
        count = int(parts[2]) if len(parts) > 2 else 100
        rows = tuple(map(int, parts[3].split("-"))) if len(parts) > 3 else (1, 16384)
        if len(parts) > 4 or len(rows) != 2 or not 1 <= count <= MOST:
            raise ValueError
    except (IndexError, ValueError):
        raise BenchError(f"drawn shapes '{text}'", "are not of the form KIND:SEED[:COUNT[:LEAST-MOST]]",
                         f"as in models:1:100:65-16384, with at most {MOST} shapes; kinds are "
                         + ", ".join(KINDS)) from None
    return spell(draw_shapes(kind, seed, count, rows, {
        tuple(map(int, shape.split("x"))) for shape in without}))
