"""Tables for a terminal, JSON for everything else."""
import json
import os

from . import network

FORMAT = {"format": "mk-bench", "version": 1}


def table(rows, header):
    """Columns as wide as they have to be; numbers to the right."""
    cells = [header] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = []
    for row in cells:
        lines.append("  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return lines


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def case_rows(record, conditions):
    """A row for each contestant and condition."""
    rows = []
    for contestant in record["contestants"]:
        for condition in conditions:
            modes = contestant["times"].get(condition, {})
            call, graph = modes.get("call"), modes.get("graph")
            best = call or graph
            error = contestant["error"] or {}
            first = [f"{record['suite']} {record['name']}", contestant["name"],
                     condition]
            if contestant["problem"] or not best:
                rows.append(first + ["-"] * (len(HEADER) - len(first)))
                break
            worse = max((m["median"] for m in (call, graph) if m))
            bound = record["bound_ms"].get(condition)
            ratio = record["ratios"].get(contestant["name"], {}) \
                .get(condition, {})
            rows.append(first + [
                number(call and call["median"], 4),
                number(graph and graph["median"], 4),
                number(best["p5"], 4), number(best["p95"], 4),
                number(record["flops"] / worse * 1e-9, 0)
                if record["flops"] else "-",
                number(bound, 4),
                f"{100 * bound / worse:.0f} %" if bound else "-",
                number(ratio.get("quoted")),
                f"{error['rel_l2']:.1e}" if error.get("rel_l2") is not None
                else "-"])
    return rows


HEADER = ["case", "who", "condition", "call ms", "graph ms", "p5", "p95",
          "TFLOP/s", "bound ms", "of bound", "x", "error"]


def case_table(records, conditions):
    """`x`: how many times as fast mkernel is as this rival, the worse of call and
    graph; TFLOP/s and bound: of the slower of both."""
    rows = []
    for record in records:
        rows += case_rows(record, conditions)
    return table(rows, HEADER) if rows else []


NETWORK_HEADER = ["across the network", "condition", "ms", "alone ms", "by",
                  "transfer ms", "bound ms", "of bound", "hidden"]


def network_table(records):
    """Of suites of several nodes: the slower of call and graph; the computation alone,
    and by whom; least bytes at the network's rate; the larger of both, and the share
    of it that was reached; the share of the transfer under computation."""
    rows = [[f"{record['suite']} {record['name']}", condition, number(row["ms"], 4),
             number(row["compute_ms"], 4), row["compute_by"],
             number(record["network"]["transfer_ms"], 4), number(row["bound_ms"], 4),
             f"{100 * row['roofline']:.1f} %",
             "-" if row["hidden"] is None else f"{100 * row['hidden']:.1f} %"]
            for record in records for condition, row in network.rows(record)]
    return table(rows, NETWORK_HEADER) if rows else []


LINKS_HEADER = ["over links", "condition", "ms", "alone ms", "by", "transfer ms", "exposed ms",
                "hidden"]


def links_table(records):
    """Of suites of several GPUs: the slower of call and graph; the library alone, and which; least
    bytes at the links' rate; what a launch takes longer than the library alone; the share of the
    transfer that lies under computation."""
    rows = [[f"{record['suite']} {record['name']}", condition, number(row["ms"], 4),
             number(row["compute_ms"], 4), row["compute_by"],
             number(record["links"]["transfer_ms"], 4), number(row["exposed_ms"], 4),
             "-" if row["hidden"] is None else f"{100 * row['hidden']:.1f} %"]
            for record in records for condition, row in network.rows(record, "links")]
    return table(rows, LINKS_HEADER) if rows else []


def problems(records):
    """One line for everything that was not measured or is wrong."""
    lines = []
    for record in records:
        where = f"{record['suite']} {record['name']}"
        if record.get("problem"):
            lines.append(f"{where}: {record['problem']}")
        for contestant in record.get("contestants", []):
            who = f"{where}, {contestant['name']}"
            if contestant["problem"]:
                lines.append(f"{who}: {contestant['problem']}")
            for mode, why in contestant["not_measured"].items():
                lines.append(f"{who}: not measured by {mode}: {why}")
    return lines


QUOTED = 30  # samples, at least


def too_few_samples(records):
    """A line about cases for which time was too short; none if there are none."""
    few = [f"{r['suite']} {r['name']}" for r in records if any(
        mode["count"] < QUOTED for c in r["contestants"] for modes in c.get("times", {}).values()
        for mode in modes.values())]
    some = ", ".join(few[:3]) + (", ..." if len(few) > 3 else "")
    return [f"{len(few)} cases have fewer than {QUOTED} samples, for lack of time, not for quoting: "
            f"{some}"] if few else []


def write_json(path, data):
    """Complete or not at all."""
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({**FORMAT, **data}, file, indent=1, allow_nan=False)
        file.write("\n")
    os.replace(temporary, path)
