"""Whether the tables of docs have a row for each field of a part of a description.

    check_fields.py PART DOCS.md DESCRIPTION.mlir
"""
import re
import sys


def main():
    part, docs, description = sys.argv[1:]
    with open(description) as file:
        fields = re.findall(r"(\w+) = ", re.search(rf"\b{part} = <([^>]*)>", file.read()).group(1))
    with open(docs) as file:
        named = {name for line in file if line.startswith("|")
                 for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    missing = [field for field in fields if field not in named]
    print(f"{len(fields)} fields, missing: {', '.join(missing) or 'none'}")
    return bool(missing)


sys.exit(main())
