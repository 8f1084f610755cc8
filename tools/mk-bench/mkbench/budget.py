"""Time that may be spent."""
import time

from .errors import BenchError


class Budget:
    """`clock` is time.monotonic, or a made-up one in tests."""

    def __init__(self, seconds, clock=time.monotonic):
        self.clock, self.begin, self.seconds = clock, clock(), seconds

    def spent(self):
        return self.clock() - self.begin

    def left(self):
        return self.seconds - self.spent()

    def share(self, parts, each=float("inf")):
        """A budget for the first of `parts` parts of what is left: an equal one, or what the
        others leave, which take about `each` seconds, if that is more."""
        left = max(0.0, self.left())
        equal = left / max(1, parts)
        return Budget(max(equal, left - (parts - 1) * each) if parts > 1 else equal, self.clock)

    def need(self, seconds, what):
        if self.left() < seconds:
            raise BenchError(what, f"{self.left():.0f} s are left of the time "
                             f"budget of {self.seconds:.0f} s")
