"""How long compilation takes: mk-opt to PTX, and from IR to a loaded kernel in a
process of its own, with an empty cache on disk and again with a filled one."""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

from .errors import BenchError, first_line
from .kernels import Request
from .places import HERE


def kernels_of(places, path):
    result = subprocess.run([places.program("mk-opt"), "--emit=signature", path],
                            capture_output=True, text=True, timeout=60,
                            check=False)
    if result.returncode:
        raise BenchError(os.path.basename(path), result.stderr.strip())
    return [k["kernel"] for k in json.loads(result.stdout)["kernels"]]


def time_ptx(places, request, repeats=3):
    """Seconds of the fastest of some runs of mk-opt."""
    options = request.options
    emit = "llvmir" if options["target"] == "host" else "ptx"
    command = [places.program("mk-opt"), f"--target={options['target']}",
               f"--emit={emit}", "--kernel", options["kernel"], "--gpus=1",
               "--nodes=1", f"--grid={options['grid']}", request.path, "-o",
               os.devnull]
    command += [f"--bind={n}={v}" for n, v in options["bind"].items()]
    if options["tuning"]:
        command.append(f"--tuning={options['tuning']}")
    best = None
    for _ in range(repeats):
        begin = time.perf_counter()
        result = subprocess.run(command, capture_output=True, text=True,
                                timeout=120, check=False)
        if result.returncode:
            raise BenchError("mk-opt", result.stderr.strip().splitlines()[0]
                             if result.stderr.strip() else "failed")
        seconds = time.perf_counter() - begin
        best = seconds if best is None else min(best, seconds)
    return best


def time_load(places, request, cache):
    """Seconds from IR to a loaded kernel in a fresh process, the start of
    process and GPU not counted."""
    command = [sys.executable, os.path.join(HERE, "mkbench", "worker.py"),
               places.prefix]
    line = json.dumps({"text": request.text(), "path": request.path,
                       "options": request.options}) + "\n"
    result = subprocess.run(command, input=line, capture_output=True, text=True,
                            timeout=180, check=False,
                            env={**os.environ, "MK_CACHE_DIR": cache})
    if not result.stdout:
        raise BenchError("the compiler process", result.stderr.strip()[-500:])
    answer = json.loads(result.stdout.splitlines()[0])
    if answer.get("problem"):
        raise BenchError(os.path.basename(request.path), answer["problem"])
    return answer["seconds"]


def run(session, suite, name):
    """A record for each kernel of each file."""
    places, device, jobs = session.places, session.device, []
    records = []
    for path in sorted(glob.glob(os.path.join(places.root, suite["files"]))):
        try:
            for kernel in kernels_of(places, path):
                jobs.append((record(name, f"{os.path.basename(path)} {kernel}"),
                             Request(path, kernel,
                                     suite.get("bind", {}).get(kernel),
                                     target=device.target, grid=device.grid,
                                     tuning=session.options.tuning)))
        except BenchError as error:
            records.append(record(name, os.path.basename(path),
                                  first_line(error)))
    # Few enough at a time that they do not slow each other down.
    workers = max(1, min(4, (os.cpu_count() or 1) // 4))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda job: measure_one(session, *job), jobs))
    return records + [entry for entry, _ in jobs]


def measure_one(session, entry, request):
    try:
        session.budget.need(8, "not measured")
        entry["ptx_s"] = time_ptx(session.places, request)
        with tempfile.TemporaryDirectory() as cache:
            entry["cold_s"] = time_load(session.places, request, cache)
            entry["cached_s"] = time_load(session.places, request, cache)
    except (BenchError, subprocess.TimeoutExpired) as error:
        entry["problem"] = first_line(error)


def record(suite, name, problem=None):
    return {"suite": suite, "name": name, "problem": problem, "reported": False,
            "contestants": []}


def lines(records):
    from .report import number, table
    rows = [[r["name"], *(number(r.get(k)) for k in
                          ("ptx_s", "cold_s", "cached_s"))]
            for r in records if r["suite"] == "compile"]
    return table(rows, ["kernel", "mk-opt to PTX, s", "IR to loaded, s",
                        "cached, s"]) if rows else []
