"""How long compilation takes: mk-opt to PTX, and from IR to a loaded kernel in a
process of its own, with an empty cache on disk and again with a filled one. Kernels that
reach other ranks are compiled for two GPUs as well: to a package, which a job loads."""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

from .errors import BenchError, first_line
from .kernels import Request, interface
from .places import HERE


SEVERAL = 2  # GPUs, for kernels that reach other ranks


def kernels_of(places, path):
    """{kernel: whether it reaches other ranks}"""
    result = subprocess.run([places.program("mk-opt"), "--emit=signature", path],
                            capture_output=True, text=True, timeout=60,
                            check=False)
    if result.returncode:
        raise BenchError(os.path.basename(path), result.stderr.strip())
    return {k["kernel"]: any(arg["symmetric"] for arg in k["args"])
            for k in json.loads(result.stdout)["kernels"]}


def time_ptx(places, request, repeats=3):
    """Seconds of the fastest of some runs of mk-opt."""
    options = request.options
    emit = "llvmir" if options["target"] == "host" else "ptx"
    command = [places.program("mk-opt"), f"--target={options['target']}",
               f"--emit={emit}", "--kernel", options["kernel"],
               f"--gpus={options['gpus'] or 1}", "--nodes=1", f"--grid={options['grid']}", request.path, "-o",
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


def check_sizes(places, request):
    """Tiles have extents in numbers: what they follow has to be bound."""
    params = interface(places, request)["params"]
    unknown = [name for name, p in params.items() if p["value"] is None]
    if unknown:
        raise BenchError(f"kernel '{request.options['kernel']}'",
                         f"no value for {', '.join(unknown)}: the suite's 'bind' "
                         "has to give the dimensions that "
                         f"{'it follows' if len(unknown) == 1 else 'they follow'}")


def jobs_of(places, suite, name, **options):
    """A record and a request for each kernel of each file, and for each number of GPUs."""
    jobs = []
    for path in sorted(glob.glob(os.path.join(places.root, suite["files"]))):
        file = os.path.basename(path)
        try:
            kernels = kernels_of(places, path)
        except BenchError as error:
            jobs.append((record(name, file, first_line(error)), None))
            continue
        for kernel, gpus in [(kernel, gpus) for kernel, several in kernels.items()
                             for gpus in ((0, SEVERAL) if several else (0,))]:
            request = Request(path, kernel, suite.get("bind", {}).get(kernel),
                              gpus=gpus, **options)
            entry = record(name, f"{file} {kernel}" + (f", {gpus} GPUs" if gpus else ""))
            try:
                check_sizes(places, request)
            except BenchError as error:
                entry["problem"] = first_line(error)
            jobs.append((entry, request))
    return jobs


def list_kernels(places, suite, name, target):
    """Prints what would be compiled, for which sizes; returns whether it can be."""
    jobs = jobs_of(places, suite, name, target=target)
    for entry, request in jobs:
        sizes = request.options["bind"] if request else {}
        print(f"  {entry['name']}"
              + "".join(f" {n}={v}" for n, v in sizes.items())
              + (f": {entry['problem']}" if entry["problem"] else ""))
    return not any(entry["problem"] for entry, _ in jobs)


def run(session, suite, name):
    """A record for each of jobs_of()."""
    device = session.device
    jobs = jobs_of(session.places, suite, name, target=device.target,
                   grid=device.compile_grid, tuning=session.options.tuning)
    # Few enough at a time that they do not slow each other down.
    workers = max(1, min(4, (os.cpu_count() or 1) // 4))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda job: measure_one(session, *job), jobs))
    return [entry for entry, _ in jobs]


def measure_one(session, entry, request):
    if entry["problem"]:
        return
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
                        "cached, s"]) + [
        f"{SEVERAL} GPUs: IR to a package, which is not loaded"] if rows else []
