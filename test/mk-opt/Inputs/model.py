"""model.py EXPRESSION: whether it holds of what --emit=params has printed (stdin). `model`, `params`, `loop`
(the first one), `inner` and `outer` (of its items), near(a, b), together(a, b), cover(a, b): ceil(a / b),
hypot(a, b)."""
import json
import math
import sys

document = json.load(sys.stdin)
model = document["model"]
names = {"model": model, "params": {k: p["value"] for k, p in document["params"].items()},
         "origin": {k: p["from"] for k, p in document["params"].items()},
         "together": lambda a, b: max(a, b) * (1 + (min(a, b) / max(a, b)) ** 8) ** (1 / 8),
         "near": lambda a, b: math.isclose(a, b, rel_tol=1e-9),
         "hypot": math.hypot, "cover": lambda a, b: -(-a // b), "max": max, "min": min, "set": set}
if "loops" in model:
    loop = model["loops"][0]
    names.update(loop=loop, inner=loop["inner"], outer=loop["outer"], ms=model["ms"])
try:
    holds = eval(sys.argv[1], {"__builtins__": {}}, names)
except Exception as error:
    holds = False
    print(error)
if not holds:
    sys.exit(f"does not hold: {sys.argv[1]}\n{json.dumps({**document, 'params': names['params']}, indent=1)}")
