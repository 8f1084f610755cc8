"""Cuts the code of a package short and packs it again, with a digest that is right.

usage: cut_code.py MK-PACK PACKAGE BYTES OUTPUT
"""
import json
import os
import subprocess
import sys
import tempfile

pack, package, size, output = sys.argv[1:]
with open(package, "rb") as file:
    data = file.read()
begin, code = data.index(b'{"'), data.index(b"\x7fELF")
metadata, _ = json.JSONDecoder().raw_decode(data[begin:code].decode())
with tempfile.TemporaryDirectory() as folder:
    texts = [os.path.join(folder, name) for name in ("m.json", "code.so")]
    with open(texts[0], "w", encoding="utf-8") as file:
        json.dump(metadata, file)
    with open(texts[1], "wb") as file:
        file.write(data[code:][:int(size)])
    subprocess.run([pack, *texts, output], check=True)
