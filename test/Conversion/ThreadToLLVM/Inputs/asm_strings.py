"""Reads the LLVM dialect and looks at its inline PTX: a string is one instruction, or one of the
sequences of lib/Conversion/ThreadToLLVM/Sequences, which are told by what is typical of them."""
import collections
import re
import sys

# What a sequence has that no other one has, in this order.
SEQUENCES = (
    ("wait", r"\bAGAIN: "),
    ("report at the end", r"\bRIGHT: "),
    ("check", r"\bFINE: "),
    ("division", r"\bLARGE: "),
    ("matrix product", r"\bwgmma\.mma_async\b"),
    ("predicate of several threads", r"\bselp\.b32 \$0, 1, 0, p; }$"),
    ("under a predicate", r"^{ \.reg \.pred p; setp\.(ne|eq)\.b32 p, \$\d+, 0; @p [^;]*; }$"),
    ("record of time", r"%globaltimer|%clock"),
)


def main():
    seen = collections.Counter()
    wrong = set()
    for string in re.findall(r'llvm\.inline_asm .*?"((?:[^"\\]|\\.)*)"', sys.stdin.read()):
        instructions = [i for i in string.strip("{} ").split(";") if i.strip()]
        if len(instructions) < 2:
            seen["one instruction" if instructions else "operands alone"] += 1
            continue
        kind = next((name for name, text in SEQUENCES if re.search(text, string)), None)
        if kind:
            seen[kind] += 1
        else:
            wrong.add(string)
    for name, count in sorted(seen.items()):
        print(f"{name}: {count}")
    for string in sorted(wrong):
        print(f"error: more than one instruction: {string}")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
