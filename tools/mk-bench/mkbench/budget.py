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

    def share(self, parts):
        """A budget for the first of `parts` equal parts of what is left."""
        return Budget(max(0.0, self.left()) / max(1, parts), self.clock)

    def need(self, seconds, what):
        if self.left() < seconds:
            raise BenchError(what, f"{self.left():.0f} s are left of the time "
                             f"budget of {self.seconds:.0f} s")
