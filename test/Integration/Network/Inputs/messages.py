#!/usr/bin/env python3
"""Compares "Messages and remedies" of docs/network.md with the text of the runtime.

  messages.py ROOT

Each message of the first column is divided at what it leaves open: "...", names in quotes, numbers
and ranks (N, A, B). What is between has to stand in string literals of the runtime.
"""
import os
import re
import sys

# What the operating system and libibverbs call their errors.
ELSEWHERE = ["Connection timed out", "transport retry counter exceeded",
             "RNR retry counter exceeded", "remote access error", "local protection error",
             "Work Request Flushed Error", "response timeout error", "port error",
             "device fatal", "CQ error"]


def sources(root):
    """The literals of each file, those side by side as one, with a line for each gap."""
    for folder, _, names in os.walk(os.path.join(root, "runtime")):
        for name in sorted(names):
            if not name.endswith((".cpp", ".h")):
                continue
            with open(os.path.join(folder, name)) as file:
                text = re.sub(r"//[^\n]*", "", file.read())
            text = re.sub(r'"\s*"', "", text)
            yield "\n".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', text))


def pieces(message):
    """What a message says on any occasion."""
    parts = re.split(r"\.\.\.|'[^']*'|\b[NAB]\b|\d+|[*()]", message)
    return [part for part in (p.strip(" :;,") for p in parts) if len(part) > 1]


def is_there(words, text, parts=3):
    """Whether words stand in the text, as a few parts that are joined when it runs."""
    if not words or " ".join(words) in text:
        return True
    return parts > 1 and any(
        " ".join(words[:n]) in text and is_there(words[n:], text, parts - 1)
        for n in range(len(words) - 1, 0, -1))


def is_said(message, text):
    for known in ELSEWHERE:
        message = message.replace(known, "...")
    return all(is_there(piece.split(), text) for piece in pieces(message))


def main(root):
    with open(os.path.join(root, "docs", "network.md")) as file:
        table = file.read().split("## Messages and remedies")[1].split("\n## ")[0]
    text = "\n".join(sources(root))
    rows = missing = 0
    for line in table.splitlines():
        if not line.startswith("| `"):
            continue
        rows += 1
        for message in re.findall(r"`([^`]*)`", line.split(" | ")[0]):
            if not is_said(message, text):
                missing += 1
                print(f"nothing says '{message}': {pieces(message)}")
    print(f"{rows} rows, {missing} that nothing says")


if __name__ == "__main__":
    main(sys.argv[1])
