"""What this GPU can do at best, measured in the same run: the rates of cublasLt's
products and of a copy. The bound of a case follows from them."""
from . import cublaslt, measure, stats


def matmul_rate(device, type, size, plan, budget):
    a, b = (device.normal((size, size), type, seed) for seed in (11, 12))
    out_type = "bf16" if type.startswith("f8") else type
    out = device.empty((size, size), out_type)
    call, _ = device.shared(cublaslt.CublasLt).matmul(
        a, [b], out, (size,) * 3, (type, type, out_type))
    times = measure.measure(device, [measure.Contestant("cublaslt", call)],
                            plan, budget, modes=("call",))["cublaslt"]
    return {condition: 2.0 * size ** 3 / modes["call"]["median"] * 1e3
            for condition, modes in times.items()}


def copy_rate(device, size=1 << 30):
    source = device.normal((size // 4,), "f32", 13)
    target = device.empty((size // 4,), "f32")
    copy = lambda: target.copy_(source)
    copy()
    return 2.0 * size / stats.median(device.record(copy, 10)) * 1e3


def measure_ceilings(device, rates, plan, budget):
    """{"copy": bytes/s, rate: {condition: flop/s}}"""
    result = {"copy": copy_rate(device)}
    for rate in sorted(rates):
        result[rate] = matmul_rate(
            device, {"f8": "f8e4m3"}.get(rate, rate), 8192, plan, budget)
        device.release()
    return result


def bound_ms(problem, ceilings, condition, link=None):
    """The largest of what products, memory and links (`link` bytes/s, to or from
    one rank) take at least; None where nothing is known of the device."""
    rate = ceilings.get(problem.rate, {}).get(condition)
    if not rate or not ceilings.get("copy"):
        return None
    return 1e3 * max(problem.flops / rate, problem.bytes / ceilings["copy"],
                     problem.link_bytes / link if link else 0.0)
