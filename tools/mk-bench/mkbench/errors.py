"""The one exception that a user gets to see as a message, not a traceback."""


class BenchError(Exception):
    """What went wrong, why, and what to do about it."""

    def __init__(self, what, reason="", remedy=""):
        text = what + (f": {reason}" if reason else "")
        super().__init__(text + (f"\nremedy: {remedy}" if remedy else ""))


class Lost(BenchError):
    """This process cannot go on: its GPU or another rank is lost."""


def first_line(error):
    """What goes into a table of problems."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines[0]) < 300 else lines[0][:297] + "..."
