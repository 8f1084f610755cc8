"""What crosses the network between nodes, emulated on one machine, or the links between
GPUs: how long that takes at least, and how much of it computation hides."""
import re

from .errors import BenchError

UNITS = {"": 1, "K": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9, "T": 10 ** 12}
# Of a rank's GPU: what 400 Gb/s carry.
RATE = "50GB/s"
# Contestants whose time is that of the computation alone.
COMPUTE = ("alone", "cublas", "cudnn", "grouped")


def parse_rate(text):
    """Bytes a second of "50GB/s"; units are decimal, as those of links are."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B/s", text)
    rate = float(found[1]) * UNITS[found[2]] if found else 0
    if rate < 1:
        raise BenchError(f"--rate {text}", "is no rate",
                         "write bytes a second, like 50GB/s")
    return rate


def transport_options(rate, path):
    """Of the transport `loopback`. In bytes: nothing is left to units."""
    return f"rate={rate:.0f}" + (f",path={path}" if path else "")


def rows(record, of="network"):
    """(condition, figures) of a record, for conditions that were measured; `of` links or the network."""
    found = record.get(of) or {}
    return [(key, row) for key, row in found.items() if isinstance(row, dict)]


def worse(times, condition):
    """Milliseconds of the slower of call and graph; None if it was not measured."""
    modes = times.get(condition, {})
    return max((m["median"] for m in modes.values()), default=None)


def figures(times, conditions, net_bytes, rate):
    """What a case's times (of measure.measure) say of the network, or of links:
    {"transfer_ms", condition: {"ms", "compute_ms", "compute_by", "bound_ms", "roofline",
    "exposed_ms", "hidden"}}.

    `bound_ms` is the larger of the computation alone, as the fastest of those does it
    in this run, and of the bytes at the network's rate; `roofline` its share of `ms`.
    The emulated network carries `net_bytes` in exactly `transfer_ms`, links in about that. What a launch
    takes longer than the computation alone counts as exposed, also where it is not the
    network's fault: CTAs that send, products that are slower meanwhile. So `hidden`,
    the share of the transfer under computation, is not less than it says. What is longer
    than the computation cannot be hidden by it: that much is exposed at least."""
    transfer = 1e3 * net_bytes / rate
    result = {"net_bytes": net_bytes, "rate": rate, "transfer_ms": transfer}
    for condition in conditions:
        ours = worse(times.get("mkernel", {}), condition)
        alone = {name: worse(times[name], condition) for name in COMPUTE
                 if name in times}
        alone = {name: ms for name, ms in alone.items() if ms}
        if not ours or not alone:
            continue
        by = min(alone, key=alone.get)
        bound = max(alone[by], transfer)
        exposed = max(0.0, ours - alone[by])
        result[condition] = {
            "ms": ours, "compute_ms": alone[by], "compute_by": by,
            "bound_ms": bound, "roofline": bound / ours, "exposed_ms": exposed,
            "hidden": max(0.0, 1 - exposed / transfer) if transfer else None}
    return result
