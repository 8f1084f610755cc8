"""Runs the producer's side of a kernel: warp 0 and the three that help it.

Modelled: threads that go on until they meet others (shuffles, votes, minima, bar.warp, named
barriers), warps scheduled at random, cp.async whose pieces land as late as its groups
allow or, some of them, at once, the bytes that a slot's mbarrier expects, bounds and
alignment of all accesses. Divergence where a warp has to meet is an error.

Not modelled: the copy engine (an instruction of it is an error), consumers (a slot counts
as free at once, so that rings have to be deeper than requests are in flight), the
ordering of memory accesses (fences do nothing).
"""
import collections

from memory import Fault
from steps import Steps

WARPS = 4


class Thread:
    """Registers that were never written hold rubbish. `waits`: where it meets others."""

    def __init__(self, number):
        self.number = number
        self.registers = collections.defaultdict(lambda: 0xdeadbeef)
        self.pc = 0
        self.waits = None
        self.done = False
        self.pieces, self.groups = [], []


class Machine(Steps):
    """The threads of the producer's side, and where they meet."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.threads = [Thread(number) for number in range(32 * WARPS)]

    def run_thread(self, thread):
        steps = self.steps
        while thread.waits is None and not thread.done:
            index = thread.pc
            thread.pc = index + 1
            steps[index](thread)

    def run_warp(self, threads):
        """True if it met within itself, false if it is done or waits at a barrier."""
        for thread in threads:
            self.run_thread(thread)
        places = {thread.waits for thread in threads}
        if len(places) > 1:
            raise Fault(f"a warp diverged: {[p and self.code[p] for p in places]}")
        place = places.pop()
        if place is None or self.code[place].op == "bar.sync":
            return False
        self.exchange(threads, *self.code[place][1:])
        for thread in threads:
            thread.waits = None
        return True

    def exchange(self, threads, op, operands):
        if op.startswith("bar.warp.sync"):
            return
        name, _, mode = op.split(".")[:3]
        values = [self.source(operands[1])(thread) for thread in threads]
        if name == "vote":
            results = [{"any": any, "all": all}[mode](values)] * 32
        elif name == "redux":
            results = [min(value & 0xffffffff for value in values)] * 32
        else:
            lanes = [self.source(operands[2])(thread) for thread in threads]
            results = [values[{"idx": other, "bfly": lane ^ other,
                               "down": min(lane + other, 31)}[mode]]
                       for lane, other in enumerate(lanes)]
        for thread, result in zip(threads, results):
            thread.registers[operands[0]] = int(result)

    def open_barriers(self):
        """True if some barrier had all that it waits for; without a number that is all."""
        arrived = collections.defaultdict(list)
        for thread in self.threads:
            if thread.waits is not None:
                operands = self.code[thread.waits].operands
                numbers = tuple(self.source(text)(thread) for text in operands)
                arrived[numbers].append(thread)
        opened = False
        for numbers, threads in arrived.items():
            needed = numbers[1] if len(numbers) > 1 else len(self.threads)
            if len(threads) > needed:
                raise Fault(f"{len(threads)} threads at barrier {numbers}")
            if len(threads) == needed:
                opened = True
                for thread in threads:
                    thread.waits = None
        return opened

    def run(self):
        """Until all threads are done; warps take turns of random length and order."""
        warps = [self.threads[32 * warp:32 * (warp + 1)] for warp in range(WARPS)]
        while not all(thread.done for thread in self.threads):
            self.random.shuffle(warps)
            moved = False
            for warp in warps:
                turns = self.random.choice((5, 200, 100000))
                while turns and self.run_warp(warp):
                    moved = True
                    turns -= 1
            if not self.open_barriers() and not moved:
                raise Fault("all threads that are not done wait for others")
