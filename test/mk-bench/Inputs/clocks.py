"""Time for tests of mk-bench."""


class Clock:
    """Time of one rank that passes only when something says so; the log has what ran."""

    def __init__(self):
        self.now, self.log = 0.0, []

    def __call__(self):
        return self.now

    def work(self, name, seconds):
        def call():
            self.log.append(name)
            self.now += seconds
        return call

    def sleep(self, seconds):
        self.log.append("idle")
        self.now += seconds
