"""model.py EXPRESSION: whether it holds of what --emit=params has printed (stdin). `model`, `params`, `loop`
(the first one that has products), `inner` and `outer` (of its items), `item`
(ns of one with a tile of 128 x 256, by the rates of machine.mlir, without waiting), near(a, b), cover(a, b): ceil(a / b),
together(a, ...), beside(a, ...): what things take that overlap, in a loop or with device memory."""
import json
import math
import sys


def norm(power, times):
    return sum(time ** power for time in times) ** (1 / power)


document = json.load(sys.stdin)
model = document["model"]
names = {"model": model, "params": {k: p["value"] for k, p in document["params"].items()},
         "origin": {k: p["from"] for k, p in document["params"].items()},
         "together": lambda *times: norm(10, times), "beside": lambda *times: norm(3, times),
         "near": lambda a, b: math.isclose(a, b, rel_tol=1e-9),
         "cover": lambda a, b: -(-a // b), "max": max, "min": min, "set": set}
if "loops" in model:
    # The first one that has products.
    loop = next((l for l in model["loops"] if "products" in l["inner"]), model["loops"][0])
    names.update(loop=loop, inner=loop["inner"], outer=loop["outer"], ms=model["ms"])
    if "products" in loop["inner"]:
        names["item"] = loop["inner"]["products"] / 1000 + 4000 + loop["outer"].get("elements", 0) / 100 \
            + loop["outer"]["stores"] / 1000
try:
    holds = eval(sys.argv[1], {"__builtins__": {}}, names)
except Exception as error:
    holds = False
    print(error)
if not holds:
    sys.exit(f"does not hold: {sys.argv[1]}\n{json.dumps({**document, 'params': names['params']}, indent=1)}")
