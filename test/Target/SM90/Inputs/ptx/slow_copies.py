"""Runs slow copies as PTX, and compares every element that they leave in shared memory.

  slow_copies.py MK_OPT

The kernel of a case copies tiles of an argument of rank 2 into a ring of 4 slots, which
the copy engine cannot do, since the parameters have no tensor maps.
"""
import random
import re
import struct
import subprocess
import sys
from dataclasses import dataclass, replace

from machine import Machine
from memory import SHARED, Fault

DEPTH = 4
HELPER_WARPS = (1, 2, 3)
SIZES = {"bf16": 2, "f32": 4, "f8E4M3FN": 1}
ONE = {"bf16": 0x3f80, "f32": 0x3f800000, "f8E4M3FN": 0x38}
CHUNK = 128
# Parameters: tensor maps of 128 bytes each, the launch, dims M and N, the argument (its
# address, sizes and strides).
LAUNCH_BYTES, DIMS_BYTES, ARGUMENT_BYTES = 112, 16, 40
BASE = 0x10000000


@dataclass
class Copy:
    """A tile and where it is from: offsets are added to its place in the grid of tiles."""
    rows: int
    columns: int
    row_offset: int = 0
    column_offset: int = 0
    valid: tuple = None
    pads_with_one: bool = False


@dataclass
class Case:
    """Strides and `start`, of the argument behind an aligned address, are in elements."""
    name: str
    type: str
    copies: list
    rows: int
    columns: int
    row_stride: int
    start: int = 0
    column_stride: int = 1
    grid: tuple = (2, 2)


TILE = Copy(16, 64)
CASES = [
    Case("aligned to 16 bytes", "bf16", [TILE], 40, 128, 136, grid=(3, 2)),
    Case("aligned to 8 bytes", "bf16", [TILE], 32, 128, 132),
    Case("aligned to 4 bytes", "bf16", [TILE], 32, 126, 126),
    Case("aligned to 2 bytes, tiles end with the argument", "bf16", [TILE], 32, 127, 127),
    Case("aligned to 2 bytes, starts at an odd one", "bf16", [TILE], 35, 140, 141, 3),
    Case("aligned to 1 byte", "f8E4M3FN", [Copy(16, 128)], 27, 230, 231, 3),
    Case("aligned to 1 byte, starts within a word", "f8E4M3FN", [Copy(8, 144, 1, 5)], 14, 300,
         301, 1),
    Case("f32", "f32", [Copy(24, 40)], 45, 77, 77, 1),
    Case("f32, offsets in front of the argument", "f32", [Copy(16, 32, -3, -5)], 27, 57, 57),
    Case("offsets in front of the argument", "bf16", [Copy(16, 64, -5, -7)], 30, 100, 101, 1),
    Case("valid", "bf16", [replace(TILE, valid=(9, 35))], 40, 127, 127, 1),
    Case("valid and a pad", "bf16", [replace(TILE, valid=(9, 35), pads_with_one=True)], 19, 99,
         99),
    Case("a pad behind the argument", "f8E4M3FN", [Copy(16, 128, pads_with_one=True)], 21, 199,
         203, 2),
    Case("inner stride 2", "bf16", [Copy(8, 40)], 13, 70, 150, column_stride=2),
    Case("two tiles in a slot, more than the ring has", "bf16",
         [Copy(16, 64), Copy(24, 40, 2, 1)], 60, 150, 151, grid=(3, 2)),
    Case("the last row within a tile", "bf16", [TILE], 19, 101, 102),
    Case("beyond the argument", "bf16", [Copy(16, 64, 12)], 20, 99, 99),
]


def describe_copy(number, copy, type_name, slot):
    """The ops of one copy. %i and %j are the tile's place in the grid."""
    lines = []

    def constant(name, value, of="index"):
        lines.append(f"%{name}{number} = arith.constant {value} : {of}")
        return f"%{name}{number}"

    offsets = []
    for index, extent, offset in (("i", copy.rows, copy.row_offset),
                                  ("j", copy.columns, copy.column_offset)):
        extent = constant(f"extent_{index}", extent)
        offset = constant(f"offset_{index}", offset)
        lines.append(f"%scaled_{index}{number} = arith.muli %{index}, {extent} : index")
        lines.append(f"%at_{index}{number} = arith.addi %scaled_{index}{number}, {offset}"
                     " : index")
        offsets.append(f"%at_{index}{number}")
    clauses = ""
    if copy.valid:
        limits = [constant("valid_i", copy.valid[0]), constant("valid_j", copy.valid[1])]
        clauses += f" valid({', '.join(limits)})"
    if copy.pads_with_one:
        clauses += f" pad({constant('pad', '1.0', type_name)} : {type_name})"
    lines.append(f"mk_sm.copy %a[{', '.join(offsets)}]{clauses} to %slot[{number}] : "
                 f"memref<?x?x{type_name}>, {slot}")
    return "\n".join(lines)


def build_kernel(case):
    tiles = ", ".join(f"tensor<{copy.rows}x{copy.columns}x{case.type}>"
                      for copy in case.copies)
    ring, slot = f"!mk_sm.ring<{DEPTH}, {tiles}>", f"!mk_sm.slot<{tiles}>"
    copies = "\n".join(describe_copy(number, copy, case.type, slot)
                       for number, copy in enumerate(case.copies))
    loops = "scf.for %i = %c0 to %ci step %c1 { scf.for %j = %c0 to %cj step %c1 {"
    return f"""
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @t on @mesh dims(uniform M, uniform N) (in %a : memref<?x?x{case.type}> [M, N]) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ci = arith.constant {case.grid[0]} : index
  %cj = arith.constant {case.grid[1]} : index
  mk.role @r ctas(rest) {{
    %ring = mk_sm.create_ring : {ring}
    mk_sm.partition producer warps(1) registers(40) {{
      {loops}
        %slot = mk_sm.acquire %ring : {ring} -> {slot}
        {copies}
        mk_sm.commit %ring, %slot : {ring}, {slot}
      }} }}
    }}
    mk_sm.partition consumer warps(8) registers(232) {{
      {loops}
        %slot = mk_sm.wait %ring : {ring} -> {slot}
        mk_sm.release %ring : {ring}
      }} }}
    }}
  }}
}}"""


def compile_kernel(mk_opt, case):
    command = [mk_opt, "--target=sm_90a", "--emit=ptx", "--gpus=1", "-"]
    run = subprocess.run(command, input=build_kernel(case), capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{case.name}: {run.stderr}")
    return run.stdout


class Run:
    """One case: the argument, the machine, and the comparison of tiles as they come."""

    def __init__(self, case, module, seed):
        self.case, self.size = case, SIZES[case.type]
        count = (case.rows - 1) * case.row_stride + (case.columns - 1) * case.column_stride + 1
        self.array = random.Random(seed).randbytes(count * self.size)
        base = BASE + case.start * self.size
        self.machine = Machine(module, self.make_parameters(module, base), base, self.array,
                               seed, at_once=0.5 * (seed % 2), on_complete=self.count)
        rows, columns = case.grid
        self.order = [(slot, i, j, number)
                      for slot, (i, j) in enumerate((i, j) for i in range(rows)
                                                    for j in range(columns))
                      for number in range(len(case.copies))]
        self.finished = dict.fromkeys(HELPER_WARPS, 0)
        self.compared = self.elements = self.existing = 0

    def make_parameters(self, module, base):
        case = self.case
        count = int(re.search(r"mk_kernel_param_0\[(\d+)\]", module)[1])
        known = LAUNCH_BYTES + DIMS_BYTES + ARGUMENT_BYTES
        maps = (count - known) // 128 * 128
        values = (case.rows, case.columns, base, case.rows, case.columns, case.row_stride,
                  case.column_stride)
        parameters = bytearray(count)
        struct.pack_into("<7q", parameters, maps + LAUNCH_BYTES, *values)
        return parameters

    def count(self, thread):
        """Warps finish tiles in the order of requests; the last of three completes one."""
        self.finished[thread.number // 32] += 1
        if min(self.finished.values()) > self.compared:
            self.compare(*self.order[self.compared])
            self.compared += 1

    def compare(self, slot, i, j, number):
        copy = self.case.copies[number]
        top, left = i * copy.rows + copy.row_offset, j * copy.columns + copy.column_offset
        start = self.find_tile(slot, number)
        for row in range(copy.rows):
            for column in range(copy.columns):
                want = self.expect(copy, row, column, top + row, left + column)
                chunk, byte = divmod(column * self.size, CHUNK)
                at = start + (chunk * copy.rows + row) * CHUNK + (byte ^ row % 8 * 16)
                got = int.from_bytes(self.machine.memory.load_shared(at, self.size), "little")
                if got != want:
                    raise Fault(f"tile {number} of [{i}, {j}]: row {row}, column {column} is "
                                f"{got:#x} and should be {want:#x}")
        self.elements += copy.rows * copy.columns

    def find_tile(self, slot, number):
        """Chunks of 128 bytes in each row, slots of whole 1024 bytes."""
        sizes = [copy.rows * -(-copy.columns * self.size // CHUNK) * CHUNK
                 for copy in self.case.copies]
        slot_bytes = -(-sum(sizes) // 1024) * 1024
        return SHARED + slot % DEPTH * slot_bytes + sum(sizes[:number])

    def expect(self, copy, row, column, source_row, source_column):
        case = self.case
        is_valid = not copy.valid or row < copy.valid[0] and column < copy.valid[1]
        if not (is_valid and 0 <= source_row < case.rows
                and 0 <= source_column < case.columns):
            return ONE[case.type] if copy.pads_with_one else 0
        self.existing += 1
        at = (source_row * case.row_stride + source_column * case.column_stride) * self.size
        return int.from_bytes(self.array[at:at + self.size], "little")

    def run(self):
        self.machine.run()
        if self.compared != len(self.order) or any(self.machine.expected.values()):
            raise Fault(f"{self.compared} of {len(self.order)} tiles have come")
        return (f"{self.compared} tiles, {self.elements} elements, {self.existing} of the "
                f"argument, up to {self.machine.most_groups} in flight")


def main():
    failed = False
    for seed, case in enumerate(CASES):
        run = Run(case, compile_kernel(sys.argv[1], case), seed)
        try:
            print(f"{case.name}: {run.run()}", flush=True)
        except Fault as fault:
            failed = True
            print(f"{case.name}: FAILED: {fault}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
