"""Whether docs say of a target's description what it says.

    check_fields.py PART DOCS.md DESCRIPTION.mlir

The tables have a row for each field of a part. Of the part "shown", the block that shows a whole
description has its fields and values; "..." stands for any of them.
"""
import re
import sys

TOKEN = re.compile(r'"[^"]*"|\.\.\.|[\w#.]+|[^\s\w]')


def read(path):
    with open(path) as file:
        return file.read()


def check_rows(part, docs, description):
    fields = re.findall(r"(\w+) = ", re.search(rf"\b{part} = <([^>]*)>", description).group(1))
    named = {name for line in docs.splitlines() if line.startswith("|")
             for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    missing = [field for field in fields if field not in named]
    print(f"{len(fields)} fields, missing: {', '.join(missing) or 'none'}")
    return bool(missing)


def check_shown(docs, description):
    shown = TOKEN.findall(re.search(r"^module attributes {mk\.target.*?(?=^```)", docs,
                                    re.M | re.S).group())
    printed, field = iter(TOKEN.findall(description)), ""
    for i, token in enumerate(shown):
        if token == "...":
            continue
        if shown[i + 1:i + 2] == ["="]:
            field = token
        found = next(printed, "nothing")
        while i and shown[i - 1] == "..." and found not in (token, "nothing"):
            found = next(printed, "nothing")
        if found != token:
            print(f"at {field} docs have {token}, the description {found}")
            return True
    print(f"{shown.count('=')} fields as shown")
    return False


def main():
    part, docs, description = sys.argv[1], read(sys.argv[2]), read(sys.argv[3])
    if part == "shown":
        return check_shown(docs, description)
    return check_rows(part, docs, description)


sys.exit(main())
