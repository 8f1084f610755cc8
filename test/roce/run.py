"""Runs guests; scripts/test-roce says with which arguments."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from machine import HERE, Cache, Guest, Image, Problem

sys.path.insert(0, os.path.join(HERE, "..", "softrdma"))
import examples  # noqa: E402

# name: what the guest runs
SCENARIOS = {
    "verbs": "/guest/verbs",
    "conformance": "/guest/conformance",
    "examples-2": "/guest/examples 2 0",
    "examples-3": "/guest/examples 3 0",
    "loss": "/guest/examples 2 2",
    "cut": "/guest/link-cut",
    "run": "sh /guest/run",
}
# Of two guests each, joined by a wire.
PAIRS = ["two-machines", "two-machines-cut"]
# Numbers of nodes that packages are compiled for; others need none. Those that cut a link
# run one example.
NODES = {"examples-2": (2,), "examples-3": (3,), "loss": (2,), "cut": (2,), "run": (2, 3),
         "two-machines": (2,), "two-machines-cut": (2,)}
CUT_EXAMPLE = "ag_gemm"


def compile_packages(image, args, folder, scenarios):
    source = os.path.join(HERE, "..", "..", "examples")
    wanted = set()
    for scenario in scenarios:
        for nodes in NODES.get(scenario, ()):
            jobs = [CUT_EXAMPLE] if scenario.endswith("cut") else args.example or examples.JOBS
            wanted.update((nodes, name) for name in jobs)
    for nodes, name in sorted(wanted):
        package = f"{folder}/{name}-{nodes}.mkpkg"
        done = subprocess.run(examples.compile_command(args.build + "/bin/mk-opt", source,
                                                   name, nodes, package),
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Problem(f"mk-opt does not compile {name}: {done.stdout}")
        with open(package, "rb") as f:
            image.file(f"mk/packages/{nodes}/{name}.mkpkg", f.read())
        image.file(f"mk/packages/{nodes}/{name}.args",
                   " ".join(examples.arguments(name)).encode())


def say(text):
    print(text, flush=True)


def run_scenario(cache, initrd, name, folder, args):
    say(f"== {name}")
    start = time.time()
    if name in PAIRS:
        path = f"{folder}/wire-{name}"
        guests = []
        for k in (0, 1):
            guests.append(Guest(cache, initrd, f"/guest/{name} {k}", folder, args.limit,
                                lambda line, k=k: say(f"[{k}] {line}"), link=(path, k == 0)))
            while k == 0 and not os.path.exists(path):
                time.sleep(0.05)
        status = max([guest.wait() for guest in guests])
    else:
        status = Guest(cache, initrd, SCENARIOS[name], folder, args.limit, say).wait()
    say(f"== {name}: {'passed' if not status else f'FAILED ({status})'} "
        f"({time.time() - start:.0f} s)")
    return status


def names_of_all():
    return [name for name in SCENARIOS if name != "run"]


def main():
    parser = argparse.ArgumentParser(prog="scripts/test-roce")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", default=os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "mkernel", "roce"),
        help="where the packages are kept")
    parser.add_argument("--only", action="append", default=[],
                        choices=[*names_of_all(), *PAIRS])
    parser.add_argument("--example", action="append", choices=list(examples.JOBS),
                        help="these instead of all")
    parser.add_argument("--two-machines", action="store_true",
                        help="also as two guests on one wire")
    parser.add_argument("--run", metavar="COMMANDS",
                        help="this in a guest with five devices instead, to try things")
    parser.add_argument("--limit", type=int, default=1500, help="seconds for a guest")
    args = parser.parse_args()
    names = args.only or [*names_of_all(), *(PAIRS if args.two_machines else [])]
    began = time.time()
    cache = Cache(args.cache)
    image = Image(cache)
    for program in ("verbs-tests", "mk-run", "mkernel-unit-tests"):
        image.program("mk/bin/" + program, f"{args.build}/bin/{program}")
    failed = []
    with tempfile.TemporaryDirectory(prefix="mk-roce.") as folder:
        compile_packages(image, args, folder, ["run"] if args.run else names)
        initrd = folder + "/initrd"
        if args.run:
            names = ["run"]
            image.file("guest/run", f". /guest/nodes.sh\nnodes_up 5\n{args.run}\n".encode())
        image.write(initrd)
        say(f"guest made ({time.time() - began:.0f} s)")
        failed = [name for name in names if run_scenario(cache, initrd, name, folder, args)]
    say(f"{'FAILED: ' + ', '.join(failed) if failed else 'passed'} "
        f"({time.time() - began:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
