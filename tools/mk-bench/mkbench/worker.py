"""A process that compiles and loads kernels, one for each line of its input, and
answers with a line each. Fills the caches on disk for others, and measures. What
is for several ranks is compiled alone.

usage: worker.py PREFIX
  in   {"text": "...", "path": "gemm.mlir", "options": {...}}
  out  {"seconds": 0.8, "compile_s": 0.5} or {"problem": "..."}
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from mkbench.errors import BenchError  # noqa: E402
from mkbench.library import Library  # noqa: E402
from mkbench.places import Places  # noqa: E402


def ranks(options):
    return options.get("gpus", 0) * options.get("nodes", 1)


def answer(library, line):
    job = json.loads(line)
    begin = time.perf_counter()
    try:
        package = library.compile(job["text"], os.path.basename(job["path"]),
                                  job["options"])
        compiled = time.perf_counter()
        if ranks(job["options"]) < 2:  # else it takes those of a job
            library.load(package)
    except BenchError as error:
        return {"problem": str(error)}
    return {"seconds": time.perf_counter() - begin,
            "compile_s": compiled - begin}


def main(prefix):
    library = Library(Places(prefix))
    target = None
    for line in sys.stdin:
        # The start of the GPU is nobody's compilation.
        if target is None:
            options = json.loads(line)["options"]
            target = options["target"]
            if ranks(options) < 2:
                library.start(target)
        print(json.dumps(answer(library, line)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
