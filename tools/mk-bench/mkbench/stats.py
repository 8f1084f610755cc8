"""Statistics of samples; nothing here knows what was measured."""
import math


def percentile(values, share):
    """Linear interpolation between the nearest ranks; share from 0 to 1."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("percentile of no samples")
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median(values):
    return percentile(values, 0.5)


def summarize(samples):
    """What goes with a list of samples into the JSON; milliseconds."""
    return {"median": median(samples), "p5": percentile(samples, 0.05),
            "p95": percentile(samples, 0.95), "count": len(samples),
            "samples": [round(sample, 7) for sample in samples]}


def geometric_mean(values):
    values = list(values)
    if not values or min(values) <= 0:
        raise ValueError("geometric mean of nothing, or of what is not positive")
    return math.exp(sum(map(math.log, values)) / len(values))
