"""Unpacks a bundle and runs its programs in an environment without LLVM.

usage: run-bundle.py ARCHIVE FOLDER
"""
import glob
import os
import re
import subprocess
import sys
import tarfile

archive, folder = sys.argv[1:3]
with tarfile.open(archive) as packed:
    packed.extractall(folder)
(name,) = os.listdir(folder)
root = os.path.join(folder, name)
empty = os.path.join(folder, "empty")
os.mkdir(empty)
environment = {"PATH": empty, "HOME": empty, "TMPDIR": empty}


def run(what, *command, expect=""):
    result = subprocess.run(
        [os.path.join(root, command[0]), *command[1:]], cwd=root,
        env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=100, check=False)
    good = result.returncode == 0 and expect in result.stdout
    print(f"{what}: {'ok' if good else result.stdout}")


run("mk-opt --version", "bin/mk-opt", "--version", expect="mKernel")
run("mk-opt --emit=package", "bin/mk-opt", "--emit=package", "--bind=gpu=1",
    "examples/gemm.mlir", "--kernel=gemm_nt",
    "-o", os.path.join(folder, "gemm.mkpkg"))
run("mk-info", "bin/mk-info", expect="libmkernel_jit.so")
run("mk-run of the package", "bin/mk-run", os.path.join(folder, "gemm.mkpkg"),
    "--bind", "M=70,N=45,K=37", "--check", expect="check: PASS")
run("mk-run of the file", "bin/mk-run", "examples/ag_gemm.mlir", "--nodes",
    "2", "--gpus", "2", "--bind", "M=256,N=256,K=64", "--check",
    expect="check: PASS")
for language in ("cpp", "c"):
    run(f"example in {language}", f"bin/example-gemm-{language}",
        "examples/gemm.mlir", expect="1000 launches on host, all results right")

# Descriptions of ops are where the docs say.
missing = []
docs = glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True)
for text in [os.path.join(root, "README.md"), *docs]:
    with open(text, encoding="utf-8") as opened:
        links = re.findall(r"\]\(([^)#]*dialects/[^)#]*)", opened.read())
    missing += [f"{text}: {link}" for link in links
                if not os.path.exists(os.path.join(os.path.dirname(text), link))]
print(f"descriptions: {missing or 'ok'}")

# glibc and libgcc are everywhere; all else comes along or is linked in.
allowed = ("linux-vdso.so", "libc.so", "libm.so", "libgcc_s.so", "ld-linux",
           "/lib64/ld-linux", "libdl.so", "libpthread.so", "librt.so")
bad = []
for path, _, files in os.walk(root):
    for file in files:
        file = os.path.join(path, file)
        with open(file, "rb") as opened:
            if opened.read(4) != b"\x7fELF":
                continue
        text = subprocess.run(["ldd", file], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        for line in filter(str.strip, text.splitlines()):
            library, _, where = line.strip().partition(" => ")
            if not library.startswith(allowed) and not (
                    library.startswith("libmkernel_")
                    and os.path.realpath(where.split(" ")[0]).startswith(
                        os.path.realpath(root))):
                bad.append(f"{file}: {line.strip()}")
print(f"libraries: {bad or 'ok'}")
