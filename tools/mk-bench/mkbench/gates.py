"""Whether the ratios of a run are as large as the suites ask for."""
from . import network, stats


def quoted(record, rival, condition):
    """The worst of the modes of one condition; None if it was not measured."""
    row = record.get("ratios", {}).get(rival, {}).get(condition)
    return row["quoted"] if row else None


def rivals_of(gate):
    """Those of which the best one counts."""
    return gate.get("rivals") or [gate["rival"]]


def best_quoted(record, gate, condition):
    """The ratio to the best of the gate's rivals; None if none was measured."""
    return min((value for rival in rivals_of(gate)
                if (value := quoted(record, rival, condition)) is not None), default=None)


def asked(gate, record):
    """What a case has to reach, if anything: `each` is one number, or one for each shape."""
    each = gate.get("each")
    return each.get(record["shape"]) if isinstance(each, dict) else each


def is_short(record, gate, condition):
    """Whether a case that takes the rival less than `below_ms` is slower by no more than `more_ms`."""
    short, row = gate.get("short"), record["ratios"].get(rivals_of(gate)[0], {}).get(condition)
    return bool(short and row) and row.get("rival_ms", float("inf")) < short["below_ms"] \
        and row["more_ms"] <= short["more_ms"]


def evaluate_ratios(suite, gate, records, conditions):
    """One row for each condition: the least ratio (`each`; those of cases that are `short` do not count
    there), their geometric mean, and the share of cases whose ratio is at least `share`'s "at"."""
    counted = [r for r in records if not r["reported"]]
    limits = {r["name"]: asked(gate, r) for r in counted}
    rows = []
    for condition in conditions:
        values = {r["name"]: best_quoted(r, gate, condition) for r in counted}
        missing = [name for name, value in values.items() if value is None]
        known = {n: v for n, v in values.items() if v is not None}
        row = {"suite": suite, "rival": " or ".join(rivals_of(gate)), "condition": condition,
               "ratios": values, "missing": missing, "passed": not missing
               and bool(known), "each": None,
               "geomean": gate.get("geomean"), "share": gate.get("share")}
        if known:
            short = {r["name"] for r in counted if is_short(r, gate, condition)}
            # By how far it is above what is asked of it.
            row["least"] = min({n: v for n, v in known.items() if n not in short} or known,
                               key=lambda n: known[n] / (limits[n] or 1))
            row["least_value"] = known[row["least"]]
            row["each"] = limits[row["least"]]
            row["geomean_value"] = stats.geometric_mean(known.values())
            if "share" in gate:
                good = sum(v >= gate["share"]["at"] for v in known.values())
                row["share_value"] = good / len(known)
                if row["share_value"] < gate["share"]["least"]:
                    row["passed"] = False
            if row["each"] is not None and row["least_value"] < row["each"]:
                row["passed"] = False
            if "geomean" in gate and row["geomean_value"] < gate["geomean"]:
                row["passed"] = False
        rows.append(row)
    return rows


def evaluate_limits(suite, gate, records):
    """Gates on times of compilation: {"ptx_s": 1.0} means at most 1 s each."""
    rows = []
    for key, limit in gate.items():
        values = {r["name"]: r.get(key) for r in records}
        missing = [n for n, v in values.items() if v is None]
        known = {n: v for n, v in values.items() if v is not None}
        worst = max(known, key=known.get) if known else None
        rows.append({"suite": suite, "limit": key, "at_most": limit,
                     "values": values, "missing": missing, "worst": worst,
                     "worst_value": known.get(worst),
                     "passed": bool(known) and not missing
                     and known[worst] <= limit})
    return rows


def evaluate_roofline(suite, gate, records, conditions):
    """Gates on the share of the bound: {"roofline": 0.9} means at least that, one row
    for each condition."""
    rows = []
    for condition in conditions:
        values = {r["name"]: dict(network.rows(r)).get(condition, {}).get("roofline")
                  for r in records if not r["reported"]}
        missing = [n for n, v in values.items() if v is None]
        known = {n: v for n, v in values.items() if v is not None}
        least = min(known, key=known.get) if known else None
        rows.append({"suite": suite, "condition": condition,
                     "at_least": gate["roofline"], "values": values,
                     "missing": missing, "least": least,
                     "least_value": known.get(least), "passed": bool(known)
                     and not missing and known[least] >= gate["roofline"]})
    return rows


def evaluate_across(suites, records, conditions):
    """Gates on several suites together ("across"), for so many `ranks`: judged where all of these
    suites were run."""
    rows = []
    for gate in suites.across:
        some = [{**r, "name": f"{r['suite']} {r['name']}"} for r in records
                if r["suite"] in gate["suites"]
                and r.get("dims", {}).get("P", 1) in gate.get("ranks", [1])]
        if {r["suite"] for r in some} == set(gate["suites"]):
            rows += evaluate_ratios(gate["name"], gate, some, conditions)
    return rows


def evaluate(suites, records, conditions):
    """Rows for all gates of the suites that have records."""
    rows = []
    for name in dict.fromkeys(r["suite"] for r in records):
        of_suite = [r for r in records if r["suite"] == name]
        ranks = of_suite[0].get("dims", {}).get("P")
        for gate in suites.get(name, ranks).get("gates", []):
            if "variants" in gate:  # of those that were run
                asked_of = [r for r in of_suite if r["variant"] in gate["variants"]]
                if asked_of:
                    rows += evaluate_ratios(name, gate, asked_of, conditions)
            elif "rival" in gate or "rivals" in gate:
                rows += evaluate_ratios(name, gate, of_suite, conditions)
            elif "roofline" in gate:
                rows += evaluate_roofline(name, gate, of_suite, conditions)
            else:
                rows += evaluate_limits(name, gate, of_suite)
    return rows + evaluate_across(suites, records, conditions)


def text(rows):
    """Lines for a terminal."""
    lines = [] if rows else ["nothing of what was run has a gate"]
    for row in rows:
        verdict = "PASS" if row["passed"] else "FAIL"
        missing = (f"; not measured: {', '.join(row['missing'])}"
                   if row["missing"] else "")
        if "limit" in row:
            worst = row["worst_value"]
            lines.append(
                f"{verdict}  {row['suite']} {row['limit']}: at most "
                f"{row['at_most']:g}; worst " + (f"{worst:.3f} ({row['worst']})"
                                                 if worst is not None else "-")
                + missing)
            continue
        if "at_least" in row:
            least = f"{row['least_value']:.3f} ({row['least']})" \
                if row["least"] else "-"
            lines.append(f"{verdict}  {row['suite']}, {row['condition']}: at least "
                         f"{row['at_least']:g} of the bound; least {least}{missing}")
            continue
        parts = []
        if "least_value" in row:
            if row["each"] is not None:
                parts.append(f"least {row['least_value']:.3f} "
                             f"({row['least']}), asked {row['each']:g}")
            if row["geomean"] is not None:
                parts.append(f"geometric mean {row['geomean_value']:.3f}, "
                             f"asked {row['geomean']:g}")
            if row["share"] is not None:
                parts.append(f"{100 * row['share_value']:.0f} % at {row['share']['at']:g} or more, "
                             f"asked {100 * row['share']['least']:g} %")
        lines.append(f"{verdict}  {row['suite']} / {row['rival']}, "
                     f"{row['condition']}: " + (
                         "; ".join(parts) or "nothing measured that counts")
                     + missing)
    return lines
