"""Assembles each PTX file of a folder, and says which entries it has.

    assemble.py PTXAS FOLDER
"""
import pathlib
import re
import subprocess
import sys

ptxas, folder = sys.argv[1:]
for path in sorted(pathlib.Path(folder).glob("*.ptx")):
    subprocess.run([ptxas, "--warning-as-error", "-arch=sm_90", str(path), "-o", "/dev/null"], check=True)
    print(f"{path.name}: {', '.join(re.findall(r'[.]entry ([a-z_]+)', path.read_text()))}")
