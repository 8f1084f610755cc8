"""Which of several callables that do the same is the fastest."""
import math

from . import stats

# A graph of so many calls of each is timed, or of as many as take so long, if these are fewer, but
# of one with each copy of the weights at least.
CALLS, SHORT_MS = 4, 1.0
# What the first go finds to take so many times as long as the best one is not tried again.
BEHIND = 1.25
# Calls that take so long run into the limit of power, where the fastest one may be another than on a
# device that has been idle, as is timed behind so many seconds: both count alike.
LONG_MS, IDLE_S = 0.5, 0.02


def find_fastest(device, calls, copies):
    """The index of the call with the least median, each tried in three separate goes with all
    `copies` of the weights, those far behind in one; and the medians of all, in milliseconds of a
    call. Of long calls the geometric mean of bursts and steady use."""
    times, bursts = {}, {}
    for call in calls:
        call()  # loads what it needs, which cannot be captured
    least = min(min(device.record(call, 2)) for call in calls)
    count = max(copies, min(CALLS, math.ceil(SHORT_MS / max(least, 1e-6))))
    runs = {i: device.capture(call, count) for i, call in enumerate(calls)}
    for _ in range(3):
        for i, run in runs.items():
            run()
            times.setdefault(i, []).extend(device.record(run, 2))
        if least > LONG_MS:
            for i, run in runs.items():
                device.idle(IDLE_S)
                bursts.setdefault(i, []).extend(device.record(run, 1))

        def score(i):
            return stats.geometric_mean([stats.median(t[i]) for t in (times, bursts) if i in t])
        limit = BEHIND * min(map(score, runs))
        runs = {i: run for i, run in runs.items() if score(i) <= limit}
    medians = [score(i) / count for i in range(len(calls))]
    return min(runs, key=lambda i: medians[i]), medians
