"""Kernels of mKernel as contestants: what to compile, compiled by several
processes at a time, loaded, bound to a problem's data."""
import json
import os
import subprocess
import sys
import threading
import queue

from .errors import BenchError
from .measure import Contestant, in_turn
from .places import HERE


class Request:
    """One compilation. `bind` may be empty: sizes are given when bound. `gpus`, the
    ranks of each of `nodes` nodes; 0: whatever there is. `alone`: of one rank, loaded
    beside the kernels of a job."""

    def __init__(self, path, kernel, bind=None, set=None, replace=None,
                 target="sm_90a", grid=0, tuning="", gpus=0, nodes=1, alone=False):
        self.path, self.replace, self.alone = path, dict(replace or {}), alone
        self.options = {"target": target, "kernel": kernel,
                        "bind": dict(bind or {}), "set": dict(set or {}),
                        "grid": grid, "tuning": tuning, "gpus": gpus,
                        "nodes": nodes}
        self.problem, self.seconds = None, None
        self.interface = None  # what interface() says of it, once that was asked
        self.candidates = []   # requests for other parameters, to be measured beside it

    def with_params(self, params):
        """The same with these parameters, where none are given."""
        options = self.options
        return Request(self.path, options["kernel"], options["bind"], {**params, **options["set"]},
                       self.replace, options["target"], options["grid"], options["tuning"],
                       options["gpus"], options["nodes"], self.alone)

    def text(self):
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        for old, new in self.replace.items():
            if old not in text:
                raise BenchError(f"{self.path}", f"there is no '{old}' in it to "
                                 f"replace by '{new}'")
            text = text.replace(old, new)
        return text

    def key(self):
        return json.dumps([self.path, self.replace, self.options],
                          sort_keys=True)


def interface(places, request, candidates=0):
    """The compiler's own words for what a tuning entry is looked up by, the value
    of each parameter, and the entry that was used; with `candidates`, also so many sets of
    parameters that its model takes for the fastest."""
    return ask_compiler(places, request, "params",
                        [f"--candidates={candidates}"] if candidates else [])


def ask_compiler(places, request, emit, more=()):
    options = request.options
    pairs = lambda mapping: ",".join(f"{k}={v}" for k, v in mapping.items())
    command = [places.program("mk-opt"), f"--target={options['target']}",
               f"--emit={emit}", "--kernel", options["kernel"],
               f"--gpus={options['gpus'] or 1}",
               f"--nodes={options['nodes']}", *more, "-"]
    if options["grid"]:
        command.append(f"--grid={options['grid']}")
    for option, value in (("bind", pairs(options["bind"])),
                          ("set", pairs(options["set"])),
                          ("tuning", options["tuning"])):
        if value:
            command.append(f"--{option}={value}")
    result = subprocess.run(command, input=request.text(), text=True,
                            capture_output=True, timeout=60, check=False)
    if result.returncode:
        raise BenchError(f"{emit} of kernel '{options['kernel']}'",
                         result.stderr.strip())
    return json.loads(result.stdout)


class Pool:
    """Processes that compile and load, so that both caches on disk are filled
    and this process finds everything there. None of them holds a torch."""

    def __init__(self, places, jobs, limit=120.0, command=None):
        self.jobs, self.limit = jobs, limit
        self.command = command or [sys.executable, os.path.join(
            HERE, "mkbench", "worker.py"), places.prefix]

    def run(self, requests, budget, progress=None):
        """Sets `problem` or `seconds` of each request."""
        waiting, lock = queue.Queue(), threading.Lock()
        for request in requests:
            waiting.put(request)
        done = [0]

        def work():
            process = None
            while True:
                try:
                    request = waiting.get_nowait()
                except queue.Empty:
                    break
                if budget.left() <= 1:
                    request.problem = "not compiled: the time budget is spent"
                    continue
                process = process if process and process.poll() is None \
                    else self.start()
                self.one(process, request, min(self.limit, budget.left()))
                with lock:
                    done[0] += 1
                    if progress:
                        progress(done[0], len(requests))
            if process and process.poll() is None:
                process.stdin.close()
                process.wait(timeout=30)

        threads = [threading.Thread(target=work)
                   for _ in range(min(self.jobs, len(requests)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def start(self):
        return subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)

    def one(self, process, request, limit):
        timer = threading.Timer(limit, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps(
                {"text": request.text(), "path": request.path,
                 "options": request.options}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            answer = json.loads(line) if line else {
                "problem": "the compiler process ended without an answer "
                f"(limit: {limit:.0f} s)"}
            request.problem = answer.get("problem")
            request.seconds = answer.get("seconds")
        except (OSError, ValueError, BenchError) as error:
            request.problem = str(error)
        finally:
            timer.cancel()


class Kernels:
    """Makes contestants; keeps what is loaded."""

    def __init__(self, places, library, device):
        self.places, self.library, self.device = places, library, device
        self.loaded = {}

    def load(self, request):
        key = request.key()
        if key not in self.loaded:
            name = os.path.basename(request.path)
            self.loaded[key] = self.library.load(
                self.package(request, name), name, request.alone)
        return self.loaded[key]

    def package(self, request, name):
        """Of several ranks the first one compiles."""
        compile = lambda: self.library.compile(request.text(), name,
                                               request.options)
        group = self.device.group
        if group.world == 1:
            return compile()
        package, problem = None, None
        try:
            package = compile() if group.rank == 0 else None
        except BenchError as error:
            problem = str(error)
        problem = group.problem("package", problem)
        if problem:
            raise BenchError(problem)
        return self.library.share(package)

    def contestant(self, request, problem, name="mkernel", sets=None):
        """Each of the problem's sets of arguments is bound, or the first `sets` of them; calls take
        them in turn."""
        each = [self.bound(name, request, problem.kernel_dims(), {
            problem.kernel_name(own): tensor for own, tensor in arguments.items()},
            problem.outputs()) for arguments in problem.argument_sets()[:sets]]
        contestant, contestant.turns = each[0], len(each)
        if len(each) > 1:
            contestant.call, contestant.keep = in_turn([c.call for c in each]), each[1:] + [
                contestant.keep]
            waits = [c.wait for c in each]
            contestant.wait = lambda: [wait() for wait in waits]
        return contestant

    def bound(self, name, request, dims, arguments, outputs):
        """A kernel with its data: tensors by names of its arguments."""
        bound = self.load(request).bind(dims)
        known, kept = bound.arguments(), []
        inherent = self.symmetric(request)
        for argument, tensor in arguments.items():
            if argument not in known:
                continue
            index, extents = known[argument]
            if extents != list(tensor.shape):
                raise BenchError(
                    f"argument '{argument}' of {request.options['kernel']}",
                    f"has extents {extents}, the data {list(tensor.shape)}")
            if argument in inherent:
                place = self.device.memory(bound.address(index), tensor)
                if argument in outputs:
                    outputs[argument] = place
                else:
                    self.device.copy(place, tensor)
                tensor = place
            else:
                bound.attach(index, self.device.pointer(tensor),
                             self.device.strides(tensor))
            kept.append(tensor)
        stream = self.device.stream_handle()
        contestant = Contestant(name, bound.launcher(
            stream, self.device.deadline_s))
        contestant.wait = lambda: bound.synchronize(stream or None)
        contestant.keep = (bound, kept)
        contestant.outputs = outputs
        return contestant

    def symmetric(self, request):
        """Arguments whose memory peers reach: it is the runtime's, in the heap."""
        if self.device.group.world == 1 or request.alone:
            return set()
        found = ask_compiler(self.places, request, "signature")
        return {arg["name"] for kernel in found["kernels"]
                if kernel["kernel"] == request.options["kernel"]
                for arg in kernel["args"] if arg["symmetric"]}

    def drop(self):
        self.loaded.clear()
