"""Is a kernel right at every shape, and the same from run to run? Nothing is timed.

Of each case: inputs of its own, outputs full of NaN, the kernel, the reference; the same once
more, and both results compared bit by bit. On several ranks each rank looks at its own part.
"""
from .errors import BenchError


def run(session, request, problem, record):
    """Fills record["verify"]; raises with what is wrong."""
    contestant, why = session.agreed("mkernel", lambda: session.ours(request, problem, sets=1))
    if why:
        raise BenchError(why)
    record["contestants"] = [contestant]
    try:
        record["verify"] = twice(session, problem, contestant)
        if contestant.problem:
            raise BenchError(contestant.problem)
        different = record["verify"]["different"]
        if different:
            raise BenchError("two runs differ in " + " and ".join(
                f"{count} bytes of '{name}'" for name, count in different.items()))
    finally:
        record["contestants"] = [contestant.describe({})]


def twice(session, problem, contestant):
    device = session.device
    outputs = lambda: problem.rival_outputs(contestant)
    session.check(contestant, problem)
    if contestant.problem:
        return {"runs": 1, "different": {}}
    first = {name: device.bytes_of(tensor) for name, tensor in outputs().items()}
    session.check(contestant, problem)
    if contestant.problem:
        return {"runs": 2, "different": {}}
    own = {name: device.count_different(first[name], device.bytes_of(tensor))
           for name, tensor in outputs().items()}
    each = session.device.group.gather("differences", own)
    total = {name: sum(of[name] for of in each) for name in own}
    return {"runs": 2, "different": {name: n for name, n in total.items() if n}}


def lines(records):
    """A line for each suite; what is wrong is listed with all other problems."""
    found = []
    for suite in dict.fromkeys(r["suite"] for r in records):
        of = [r for r in records if r["suite"] == suite]
        looked = [r for r in of if "verify" in r]
        right = sum(not r["problem"] for r in looked)
        largest = max((c["error"]["rel_l2"] or 0.0 for r in looked for c in r["contestants"]
                       if c["error"]), default=0.0)
        found.append(f"{suite}: {right} of {len(looked)} right, with the same bits twice; "
                     f"largest relative error {largest:.1e}"
                     + (f"; {len(of) - len(looked)} not verified" if len(of) > len(looked) else ""))
    return found
