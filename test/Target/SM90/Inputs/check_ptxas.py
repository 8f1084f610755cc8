"""Assembles PTX and fails where ptxas spills, uses a stack or serialises products, and where the
code traps.

  check_ptxas.py PTXAS FILE.ptx...    (newer releases than CUDA 12.9's may spill a little)
  check_ptxas.py PTXAS --mk-opt MK_OPT --tuning FILE.json --examples FOLDER
                 [--kernels PATTERN] [--distinct]

The second form compiles every configuration that a tuning file names, with its sizes
bound, as mk-bench does; with --distinct one of those that differ only in sizes, in the order of
tiles and in numbers of CTAs (scripts/test-spills compiles all parameters, for several meshes).
An entry may say "spills": measured to be the fastest though it does.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

# wgmma serialised: C7510 by a call, C7514 by a touched accumulator, C7517, C7518 and
# C7515, C7520 by fences or waits that the assembler has to insert; C7508 setmaxnreg ignored.
BAD = {"C7508", "C7510", "C7512", "C7514", "C7515", "C7517", "C7518", "C7520"}


# Code is made for the oldest ptxas. Newer ones allocate registers in their own way: what fits exactly may spill a little.
OLDEST, SLACK = (12, 9), 16


def get_slack(ptxas):
    """Bytes that may be spilled, or lie on a stack."""
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True)
    release = re.search(r"release (\d+)\.(\d+),", version.stdout)
    return SLACK if release and (int(release[1]), int(release[2])) > OLDEST else 0


def assemble(ptxas, slack, name, path, spills=False):
    """What is wrong, or nothing; prints what was found. `spills`: it may, and has to with the oldest."""
    # A launch that fails comes to its end: a trap would take the CUDA context with it, and
    # a thread that ends early would be missed by barriers.
    with open(path) as file:
        ends = re.search(r"\b(trap|exit)\b", file.read())
    if ends:
        return f"{name}: the code has '{ends[1]}'"
    run = subprocess.run([ptxas, "-v", "-arch=sm_90a", path, "-o", os.devnull],
                         capture_output=True, text=True)
    text = run.stdout + run.stderr
    if run.returncode:
        return f"{name}: ptxas failed: {text.strip()}"
    sizes = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                      r"(\d+) bytes spill loads", text)
    registers = re.search(r"Used (\d+) registers", text)
    if not sizes or not registers:
        return f"{name}: ptxas says nothing of registers: {text.strip()}"
    codes = sorted(set(re.findall(r"\bC7\d\d\d\b", text)) & BAD)
    print(f"{name}: registers {registers[1]}, stack {sizes[1]}, spilled {sizes[2]}, "
          f"{' '.join(codes) or 'no warnings'}")
    spilled = max(int(sizes[1]), int(sizes[2]))
    if codes or (spilled > slack and not spills):
        return f"{name}: see above"
    if spills and not spilled and not slack:
        return f"{name}: see above, its entry says that it spills"
    return None


def find_file(examples, kernel):
    for path in sorted(glob.glob(os.path.join(examples, "*.mlir"))):
        with open(path) as file:
            if re.search(rf"mk\.kernel @{kernel}\b", file.read()):
                return path
    sys.exit(f"no example has the kernel '{kernel}'")


# What a tuning file sets besides these changes the code of products.
ORDERS = {"RASTER", "LAG", "PIECE", "PUSH", "REDUCE"}


def distinct(entries):
    """The first of those whose code differs in numbers only."""
    found = {}
    for entry in entries:
        key = (entry["kernel"], entry["dims"].get("D"),
               *sorted((k, v) for k, v in entry["set"].items() if k not in ORDERS))
        found.setdefault(key, entry)
    return list(found.values())


def compile_tuned(args, folder):
    with open(args.tuning) as file:
        entries = json.load(file)["entries"]
    chosen = [e for e in entries if re.fullmatch(args.kernels, e["kernel"])]
    if not chosen:
        sys.exit(f"{args.tuning} has no entry of a kernel '{args.kernels}'")
    if args.distinct:
        chosen = distinct(chosen)
    for number, entry in enumerate(chosen):
        values, bind = entry["set"], entry["dims"]
        path = os.path.join(folder, f"{number}.ptx")
        command = [args.mk_opt, "--target=sm_90a", "--emit=ptx", "--tuning=none",
                   *([] if "gpu" in bind else ["--gpus=1"]), "--kernel=" + entry["kernel"], "-o", path,
                   "--set=" + ",".join(f"{k}={v}" for k, v in values.items()),
                   "--bind=" + ",".join(f"{k}={v}" for k, v in bind.items()),
                   find_file(args.examples, entry["kernel"])]
        subprocess.run(command, check=True)
        yield " ".join([entry["kernel"], *(
            f"{k}={v}" for k, v in {**bind, **values}.items())]), path, entry.get("spills", False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxas")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--mk-opt")
    parser.add_argument("--tuning")
    parser.add_argument("--examples")
    parser.add_argument("--kernels", default=".*")
    parser.add_argument("--distinct", action="store_true")
    args = parser.parse_args()
    problems, slack = [], get_slack(args.ptxas)
    with tempfile.TemporaryDirectory() as folder:
        cases = [(os.path.basename(path), path) for path in args.files]
        if args.tuning:
            cases = compile_tuned(args, folder)
        for case in cases:
            problems.append(assemble(args.ptxas, slack, *case))
    problems = [problem for problem in problems if problem]
    sys.stdout.flush()
    sys.exit("\n".join(problems) if problems else 0)


main()
