"""Compiles a kernel for each row of a table of targets, for each target of the table.

  check_targets.py MK_OPT TABLE.md KERNELS.mlir

A cell says `yes` or `no`. What is refused is refused with a place and, where another target
takes it, the name of the target; words in backticks of the last column stand in the message.
"""
import os
import re
import subprocess
import sys
import tempfile

LAST_PHASE = {"host": "package", "sm_90a": "ptx"}


def read_rows(path):
    """Those of the first table."""
    with open(path) as file:
        table = re.search(r"(?:^\|.*\n)+", file.read(), flags=re.M).group()
    lines = [line.strip("|").split("|") for line in table.splitlines()]
    head = [cell.strip() for cell in lines[0]]
    return [dict(zip(head, (cell.strip() for cell in line))) for line in lines[2:]]


def read_kernels(path):
    with open(path) as file:
        parts = re.split(r"^// ROW: (.*)$", file.read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def check(row, target, run):
    takes = row[target] == "yes"
    if takes != (run.returncode == 0) or run.returncode not in (0, 1):
        return f"ended with {run.returncode}: {run.stderr.strip()[:500]}"
    if takes:
        return None
    message = run.stderr.split("\n", 1)[0]
    if not re.search(r"\.mlir:[1-9]\d*:\d+: error: ", message):
        return f"is refused without a place: {message}"
    others = [row[other] for other in LAST_PHASE if other != target]
    if "yes" in others and target not in message:
        return f"is refused without the target's name: {message}"
    missing = [word for word in re.findall(r"`([^`]*)`", row["instead"])
               if word not in message]
    return f"does not say {missing}: {message}" if missing else None


def main(mk_opt, table, kernels):
    rows, texts = read_rows(table), read_kernels(kernels)
    problems = [f"{name}: is no row of {table}"
                for name in set(texts) - {row["what"] for row in rows}]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "row.mlir")
        for row in rows:
            if row["what"] not in texts:
                problems.append(f"{row['what']}: has no kernel in {kernels}")
                continue
            with open(path, "w") as file:
                file.write(texts[row["what"]])
            for target, phase in LAST_PHASE.items():
                run = subprocess.run(
                    [mk_opt, "--target=" + target, "--emit=" + phase, "--gpus=1",
                     "--tuning=none", path, "-o", os.devnull],
                    capture_output=True, text=True)
                problem = check(row, target, run)
                if problem:
                    problems.append(f"{row['what']}, {target}: {problem}")
    print(f"{len(rows)} rows, {len(problems)} problems")
    sys.exit("\n".join(problems) if problems else 0)


main(*sys.argv[1:])
