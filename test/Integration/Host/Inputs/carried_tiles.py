"""Random kernels whose loops and branches pass tiles on, run and compared.

  carried_tiles.py FOLDER FIRST END

All elements of a tile are the same number: an interpreter of numbers says what the kernel gives.
A product adds 1 to its accumulator.
"""
import os
import random
import struct
import subprocess
import sys

KERNEL = """!x = tensor<4x4xf32>
!m = memref<4x4xf32>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform N) (in %a : !m [4, 4], in %b : !m [4, 4], in %l : !m [4, 4],
                                       out %c : !m [4, 4], out %d : !m [4, 4]) {
  %n0 = arith.subi %N, %N : index
  %n1 = arith.constant 1 : index
  %n2 = arith.addi %n0, %n1 : index
  mk.role @r ctas(1) {
    %n3 = arith.addi %n2, %n2 : index
    %x = mk.load %a[%n0, %n0] : !m -> !x
    %y = mk.load %b[%n0, %n0] : !m -> !x
    %z = mk.load %l[%n0, %n0] : !m -> !x
BODY
    mk.store OUT0, %c[%n0, %n0] : !x, !m
    mk.store OUT1, %d[%n0, %n0] : !x, !m
  }
}
"""
# Values of %n0 to %n3.
COUNTS = [0, 1, 1, 2]


def write_npy(path, value):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                   + struct.pack("<16f", *[value] * 16))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    return set(struct.unpack("<16f", data[begin:begin + 64]))


class Generator:
    """Writes statements, and keeps them as tuples for the interpreter."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names, self.lines = 0, []

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    def emit(self, text):
        self.lines.append("    " + text)

    def block(self, tiles, depth, index):
        """Statements and the tiles behind them; `index` is the number of an iteration."""
        statements, tiles = [], list(tiles)
        choose = self.random.choice
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.4:
                name, acc = self.name(), choose(tiles)
                self.emit(f"{name} = mk.dot %z, %z, {acc} : !x, !x, !x")
                statements.append(("dot", name, acc))
                tiles.append(name)
            elif kind < 0.5:
                name, left, right = self.name(), choose(tiles), choose(tiles)
                self.emit(f"{name} = arith.subf {left}, {right} : !x")
                statements.append(("sub", name, left, right))
                tiles.append(name)
            elif kind < 0.55:
                name = self.name()
                self.emit(f"{name} = mk.load %a[%n0, %n0] : !m -> !x")
                statements.append(("load", name))
                tiles.append(name)
            elif depth and kind < 0.8:
                statements.append(self.loop(tiles, depth))
                tiles += statements[-1][-1]
            elif depth:
                statements.append(self.branch(tiles, depth, index))
                tiles += statements[-1][-1]
        return statements, tiles

    def loop(self, tiles, depth):
        count, trips = self.random.randint(1, 3), self.random.randint(0, 3)
        inits = [self.random.choice(tiles) for _ in range(count)]
        carried = [self.name() for _ in range(count)]
        index, result, types = self.name(), self.name(), ", ".join(["!x"] * count)
        starts = ", ".join(f"{a} = {b}" for a, b in zip(carried, inits))
        is_fold = self.random.random() < 0.3
        if is_fold:
            self.emit(f"{result}:{count} = mk.fold ({index}) in (%n{trips}) "
                      f"iter({starts}) : {types} {{")
        else:
            self.emit(f"{result}:{count} = scf.for {index} = %n0 to %n{trips} step %n1 "
                      f"iter_args({starts}) -> ({types}) {{")
        body, inner = self.block(tiles + carried * 2, depth - 1, index)
        yields = [self.random.choice(inner[-count - 4:]) for _ in range(count)]
        self.emit(f"{'mk' if is_fold else 'scf'}.yield {', '.join(yields)} : {types} }}")
        return ("loop", COUNTS[trips], index, carried, inits, body, yields,
                [f"{result}#{i}" for i in range(count)])

    def branch(self, tiles, depth, index):
        count, limit = self.random.randint(1, 2), self.random.choice([1, 3])
        condition, result, types = self.name(), self.name(), ", ".join(["!x"] * count)
        self.emit(f"{condition} = arith.cmpi ult, {index}, %n{limit} : index")
        self.emit(f"{result}:{count} = scf.if {condition} -> ({types}) {{")
        arms = []
        for arm in range(2):
            is_empty = arm and self.random.random() < 0.4
            body, inner = ([], tiles) if is_empty else self.block(tiles, depth - 1, index)
            yields = [self.random.choice(inner[-4:]) for _ in range(count)]
            self.emit(f"scf.yield {', '.join(yields)} : {types} }}" + ("" if arm else " else {"))
            arms.append((body, yields))
        return ("if", index, COUNTS[limit], *arms, [f"{result}#{i}" for i in range(count)])


def run(statements, values):
    for kind, *rest in statements:
        if kind == "dot":
            values[rest[0]] = values[rest[1]] + 1
        elif kind == "sub":
            values[rest[0]] = values[rest[1]] - values[rest[2]]
        elif kind == "load":
            values[rest[0]] = values["%x"]
        elif kind == "loop":
            trips, index, carried, inits, body, yields, results = rest
            current = [values[i] for i in inits]
            for trip in range(trips):
                inner = {**values, **dict(zip(carried, current)), index: trip}
                run(body, inner)
                current = [inner[y] for y in yields]
            values.update(zip(results, current))
        else:
            index, limit, then, otherwise, results = rest
            body, yields = then if values[index] < limit else otherwise
            inner = dict(values)
            run(body, inner)
            values.update(zip(results, [inner[y] for y in yields]))


def test(folder, seed):
    generator = Generator(seed)
    statements, tiles = generator.block(["%x", "%y"], 3, "%n1")
    outs = [generator.random.choice(tiles[-6:]) for _ in range(2)]
    text = KERNEL.replace("BODY", "\n".join(generator.lines))
    path = os.path.join(folder, f"kernel{seed}.mlir")
    with open(path, "w") as file:
        file.write(text.replace("OUT0", outs[0]).replace("OUT1", outs[1]))
    values = {"%x": 3.0, "%y": 10.0, "%n1": 1}
    run(statements, values)
    at = lambda name: os.path.join(folder, name + ".npy")
    done = subprocess.run(["mk-run", path, "--target=host", "--bind", "N=7",
                           *[f"--in={n}={at(n)}" for n in "abl"],
                           *[f"--out={n}={at(n)}" for n in "cd"]], capture_output=True, text=True)
    if done.returncode:
        return done.stderr or done.stdout
    for name, out in zip("cd", outs):
        if read_npy(at(name)) != {values[out]}:
            return f"'{name}' is {read_npy(at(name))}, not {values[out]}"
    return None


def main():
    folder, first, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    for name, value in (("a", 3.0), ("b", 10.0), ("l", 0.5)):
        write_npy(os.path.join(folder, name + ".npy"), value)
    wrong = 0
    for seed in range(first, end):
        problem = test(folder, seed)
        if problem:
            wrong += 1
            print(f"kernel{seed}.mlir: {problem}")
    print(f"{end - first - wrong} of {end - first} kernels are right")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
