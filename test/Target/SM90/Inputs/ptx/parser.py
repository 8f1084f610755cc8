"""Reads the body of the only kernel of a PTX module.

What mk-opt emits is known: one statement up to each semicolon, scopes in braces that
declare registers by name and labels, no calls. Names of an inner scope are made unique.
"""
import re
from typing import NamedTuple

LABEL = re.compile(r"([A-Za-z_$][\w$]*):(?!:)")
NAME = re.compile(r"[%A-Za-z_$][\w$.]*")


class Instruction(NamedTuple):
    """`guard` is None, or the predicate and whether it has to be false."""
    guard: tuple
    op: str
    operands: list


class Scope(NamedTuple):
    """What is declared between two braces, and what follows its names."""
    suffix: str
    names: set


def split_operands(text):
    """Splits at commas outside braces and brackets."""
    operands, depth, current = [], 0, ""
    for char in text:
        depth += (char in "{[") - (char in "}]")
        if char == "," and not depth:
            operands.append(current.strip())
            current = ""
        else:
            current += char
    return operands + [current.strip()] if current.strip() else operands


def find_labels(text, start):
    """The labels of the scope that begins at `start`, not those of scopes within."""
    depth, labels = 0, set()
    for match in re.finditer(r"[{}]|(?<![\w$%.])([A-Za-z_$][\w$]*):(?!:)", text[start:]):
        depth += (match[0] == "{") - (match[0] == "}")
        if depth < 0:
            break
        if depth == 0 and match[1]:
            labels.add(match[1])
    return labels


class Parser:
    """Fills `code`, a list of instructions, and `labels`, indices into it."""

    def __init__(self, module):
        text = re.sub(r"//.*", "", module[module.index(".entry"):])
        self.text = text[text.index("\n{") + 2:]
        self.code, self.labels = [], {}
        self.scopes = [Scope("", find_labels(self.text, 0))]
        self.opened = 0
        self.parse()

    def rename(self, name):
        for scope in reversed(self.scopes):
            if name in scope.names:
                return name + scope.suffix
        return name

    def parse(self):
        at = 0
        while self.scopes:
            char = self.text[at]
            label = LABEL.match(self.text, at)
            if label:
                self.labels[self.rename(label[1])] = len(self.code)
                at = label.end()
            elif char == "{":
                self.opened += 1
                labels = find_labels(self.text, at + 1)
                self.scopes.append(Scope(f"#{self.opened}", labels))
                at += 1
            elif char == "}":
                self.scopes.pop()
                at += 1
            elif char.isspace():
                at += 1
            else:
                end = self.text.index(";", at)
                self.parse_statement(" ".join(self.text[at:end].split()))
                at = end + 1

    def parse_statement(self, text):
        if text.startswith(".reg"):
            names = split_operands(text.split(" ", 2)[2])
            # LLVM's own, %r<9>, are unique.
            self.scopes[-1].names.update(name for name in names if "<" not in name)
            return
        guard = None
        match = re.match(r"@(!?)([%\w$]+)\s+(.*)", text)
        if match:
            guard = self.rename(match[2]), match[1] == "!"
            text = match[3]
        op, _, rest = text.partition(" ")
        rest = NAME.sub(lambda name: self.rename(name[0]), rest)
        self.code.append(Instruction(guard, op, split_operands(rest)))
