"""Reads the LLVM dialect and fails where a string of inline PTX is more than one instruction."""
import collections
import re
import sys


def main():
    seen = collections.Counter()
    wrong = set()
    for string in re.findall(r'llvm\.inline_asm .*?"((?:[^"\\]|\\.)*)"', sys.stdin.read()):
        instructions = [i for i in string.split(";") if i.strip()]
        seen["one instruction" if instructions else "operands alone"] += 1
        if len(instructions) > 1 or re.search(r":\s|[{}]\s*\.reg", string):
            wrong.add(string)
    for name, count in sorted(seen.items()):
        print(f"{name}: {count}")
    for string in sorted(wrong):
        print(f"error: more than one instruction: {string}")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
