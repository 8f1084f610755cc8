"""What each instruction does to the thread that executes it, as Python functions."""
import collections
import random
import re

from arithmetic import compile_arithmetic, get_width
from memory import PARAMETERS, SHARED, Fault, Memory
from parser import Parser

NOTHING = re.compile(r"fence\.|prefetch\.|griddepcontrol\.|setmaxnreg\.|mbarrier\.init\."
                     r"|mbarrier\.arrive\.")
MEETINGS = re.compile(r"bar\.|shfl\.sync\.|vote\.sync\.|redux\.sync\.min\.u32")
SYMBOLS = {"%ctaid.x": 0, "mk_shared": SHARED, "mk_kernel_param_0": PARAMETERS}


class Steps:
    """A function of a thread for each instruction of `code`, and the state they share.

    `at_once`: the share of pieces that land when they are issued.
    `on_complete(thread)` is called when a thread has counted itself at a slot's barrier.
    """

    def __init__(self, module, parameters, base, array, seed, at_once, on_complete):
        parser = Parser(module)
        self.code, self.labels = parser.code, parser.labels
        self.random = random.Random(seed)
        self.memory = Memory(parameters, base, array, self.random)
        self.at_once, self.on_complete = at_once, on_complete
        self.expected = collections.Counter()
        self.most_groups = 0
        self.steps = [self.compile(index) for index in range(len(self.code))]

    def source(self, text):
        if text == "%tid.x":
            return lambda thread: thread.number
        name, _, offset = text.partition("+")
        if name in SYMBOLS:
            value = SYMBOLS[name] + int(offset or 0)
            return lambda thread: value
        if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text):
            return lambda thread, value=int(text, 0): value
        return lambda thread: thread.registers[text]

    def address(self, text):
        base, _, offset = text.strip("[]").partition("+")
        base, offset = self.source(base), int(offset or 0)
        return lambda thread: base(thread) + offset

    def compile(self, index):
        guard, op, operands = self.code[index]
        if MEETINGS.match(op):
            step = self.compile_meeting(index)
        else:
            step = self.compile_plain(op, operands)
        if guard is None:
            return step
        predicate, is_false = guard

        def guarded(thread):
            if bool(thread.registers[predicate]) != is_false:
                step(thread)
        return guarded

    @staticmethod
    def compile_meeting(index):
        def wait(thread):
            thread.waits = index
        return wait

    def compile_plain(self, op, operands):
        if NOTHING.match(op):
            return lambda thread: None
        for pattern, build in (
                (r"bra(\.uni)?", self.compile_branch),
                (r"ret", self.compile_return),
                (r"mov\.b64", self.compile_move),
                (r"ld\.", self.compile_load),
                (r"st\.(volatile\.)?shared\.", self.compile_store),
                (r"mbarrier\.(expect|complete)_tx\.", self.compile_bytes),
                (r"cp\.async\.c[ag]\.", self.compile_fetch),
                (r"cp\.async\.(commit|wait)_group", self.compile_group)):
            if re.match(pattern, op):
                return build(op, operands)
        return self.compile_result(op, operands)

    def compile_branch(self, _, operands):
        target = self.labels[operands[0]]

        def branch(thread):
            thread.pc = target
        return branch

    @staticmethod
    def compile_return(_op, _operands):
        def leave(thread):
            thread.done = True
        return leave

    def compile_result(self, op, operands):
        """Consumers have others: what is not known is an error when it is reached."""
        if op.startswith("mbarrier.try_wait."):
            width, compute = 1, lambda thread: 1
        else:
            try:
                sources = [self.source(text) for text in operands[1:]]
                width, compute = compile_arithmetic(op, sources)
            except (KeyError, IndexError, ValueError):
                def unknown(_):
                    raise Fault(f"no model of {op} {operands}")
                return unknown
        mask, result = (1 << width) - 1, operands[0]

        def run(thread):
            thread.registers[result] = compute(thread) & mask
        return run

    def compile_move(self, op, operands):
        """Two halves of 64 bits, or any result."""
        if operands[0][0] != "{":
            return self.compile_result(op, operands)
        low, high = operands[0].strip("{}").split(", ")
        source = self.source(operands[1])

        def split(thread):
            value = source(thread)
            thread.registers[low] = value & 0xffffffff
            thread.registers[high] = value >> 32
        return split

    def compile_load(self, op, operands):
        names = [name.strip() for name in operands[0].strip("{}").split(",")]
        size = get_width(op.split(".")[-1]) // 8
        count, address = size * len(names), self.address(operands[1])
        load = self.memory.load_shared if ".shared." in op else self.memory.load

        def run(thread):
            data = load(address(thread), count)
            for place, name in enumerate(names):
                part = data[size * place:size * (place + 1)]
                thread.registers[name] = int.from_bytes(part, "little")
        return run

    def compile_store(self, op, operands):
        sources = [self.source(name.strip()) for name in operands[1].strip("{}").split(",")]
        width, address = get_width(op.split(".")[-1]), self.address(operands[0])
        mask = (1 << width) - 1

        def run(thread):
            data = b"".join((source(thread) & mask).to_bytes(width // 8, "little")
                            for source in sources)
            self.memory.store_shared(address(thread), data)
        return run

    def compile_bytes(self, op, operands):
        address, count = self.address(operands[0]), self.source(operands[1])

        def expect(thread):
            self.expected[address(thread)] += count(thread)

        def complete(thread):
            self.expected[address(thread)] -= count(thread)
            if self.expected[address(thread)] < 0:
                raise Fault("more bytes have come than a slot expects")
            self.on_complete(thread)
        return expect if "expect" in op else complete

    def compile_fetch(self, _, operands):
        target, source = (self.address(text) for text in operands[:2])
        piece = int(operands[2])
        count = self.source(operands[-1])

        def run(thread):
            place = target(thread)
            self.memory.check_shared(place, piece)
            data = self.memory.fetch(source(thread), piece, count(thread))
            if self.random.random() < self.at_once:
                self.memory.store_shared(place, data)
            else:
                thread.pieces.append((place, data))
        return run

    def compile_group(self, op, operands):
        if "commit" in op:
            def commit(thread):
                thread.groups.append(thread.pieces)
                thread.pieces = []
                self.most_groups = max(self.most_groups, len(thread.groups))
            return commit
        others = int(operands[0])

        def wait(thread):
            while len(thread.groups) > others:
                for place, data in thread.groups.pop(0):
                    self.memory.store_shared(place, data)
        return wait
