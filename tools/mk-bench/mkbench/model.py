"""What the compiler's cost model predicts beside what was measured."""
from . import report, stats
from .errors import BenchError
from .tuning_file import Measurements

HEADER = ["case", "condition", "bound by", "predicted ms", "measured ms", "ratio"]


def measured(contestant, condition):
    """The median of graphs, in which nothing of the host counts; else of calls."""
    modes = contestant["times"].get(condition, {})
    mode = modes.get("graph") or modes.get("call")
    return mode and mode["median"]


def pairs(records):
    """(case, condition, model, measured ms) of every kernel that the model knows, and
    [(case, why)] of those that it does not know."""
    found, unknown = [], []
    for record in records:
        name = f"{record['suite']} {record['name']}"
        for contestant in record.get("contestants", []):
            model = (contestant.get("config") or {}).get("model")
            if not model or contestant["problem"]:
                continue
            if contestant["name"] != "mkernel":
                name = f"{record['suite']} {record['name']}, {contestant['name']}"
            if "ms" not in model:
                unknown.append((name, model["why"]))
                continue
            for condition in contestant["times"]:
                ms = measured(contestant, condition)
                if ms and condition in model["ms"]:
                    found.append((name, condition, model, ms))
    return found, unknown


def summary(ratios):
    """How far predictions are from what was measured, in percent of it."""
    errors = sorted(abs(ratio - 1) * 100 for ratio in ratios)
    count = len(errors)
    return (f"median error {stats.median(errors):.1f} %, nine of ten within "
            f"{errors[min(count - 1, int(.9 * count))]:.1f} %, worst {errors[-1]:.1f} % "
            f"({count} times)")


def lines(records):
    found, unknown = pairs(records)
    rows = [[name, condition, model["bound"] + ("" if model["alone"] else ", without others"),
             report.number(model["ms"][condition], 4), report.number(ms, 4),
             report.number(model["ms"][condition] / ms, 2)]
            for name, condition, model, ms in found]
    text = report.table(rows, HEADER) if rows else []
    # What waits for other ranks is not predicted.
    ratios = [model["ms"][condition] / ms for _, condition, model, ms in found if model["alone"]]
    text.append("predicted against measured: " + summary(ratios) if ratios
                else "the model knows none of these kernels")
    return text + [f"{name}: not known to the model: {why}" for name, why in unknown]


def entries(records):
    """As a tuning file has them: what was measured, with the parameters that were used."""
    result = []
    for record in records:
        for contestant in record.get("contestants", []):
            config = contestant.get("config")
            ms = {condition: measured(contestant, condition)
                  for condition in contestant["times"]}
            ms = {condition: round(value, 5) for condition, value in ms.items() if value}
            # Rivals have no parameters.
            if not config or "params" not in config or contestant["problem"] or not ms:
                continue
            chosen = {name: param["value"] for name, param in config["params"].items()
                      if param["value"] is not None}
            result.append({"kernel": config["kernel"], "types": config["types"],
                           "grid": config["grid"], "dims": config["dims"], "set": chosen,
                           "ms": ms})
    return result


def keep(path, records, target):
    """Adds what was measured to a file, in the place of what it has for the same sizes and parameters."""
    file, new = Measurements(path, target), entries(records)
    for entry in new:
        file.put(entry)
    file.write()
    return len(new)


def draw(points, out):
    """`points`: (kernel, predicted ms, measured ms). Needs matplotlib."""
    try:
        import matplotlib
    except ImportError as error:
        raise BenchError("plot", "matplotlib cannot be imported",
                         "python3 -m pip install matplotlib") from error
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "mkernel"
    from matplotlib import pyplot
    figure, axis = pyplot.subplots(figsize=(6, 6), layout="constrained")
    for kernel in dict.fromkeys(p[0] for p in points):
        some = [p for p in points if p[0] == kernel]
        axis.scatter([p[2] for p in some], [p[1] for p in some], s=14, label=kernel)
    ends = [min(p[2] for p in points) / 1.5, max(p[2] for p in points) * 1.5]
    axis.plot(ends, ends, color="black", linewidth=0.8)
    axis.fill_between(ends, [e * .9 for e in ends], [e * 1.1 for e in ends], color="black",
                      alpha=0.1, label="within 10 %")
    axis.set(xscale="log", yscale="log", xlabel="measured ms", ylabel="predicted ms", xlim=ends,
             ylim=ends)
    axis.legend()
    figure.savefig(out, metadata={"Date": None} if out.endswith(".svg") else None)
