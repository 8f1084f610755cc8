"""Runs guests; scripts/test-roce says with which arguments."""

import argparse
import os
import sys
import tempfile
import time

from machine import Cache, Guest, Image, Problem


def main():
    parser = argparse.ArgumentParser(prog="scripts/test-roce")
    parser.add_argument("--build", required=True)
    parser.add_argument("--cache", default=os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "mkernel", "roce"))
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=600)
    args = parser.parse_args()
    began = time.time()
    cache = Cache(args.cache)
    image = Image(cache)
    image.program("mk/bin/verbs-tests", args.build + "/bin/verbs-tests")
    failed = []
    with tempfile.TemporaryDirectory(prefix="mk-roce.") as folder:
        initrd = folder + "/initrd"
        image.write(initrd)
        for script in ["verbs"]:
            if args.only and args.only not in script:
                continue
            print(f"== {script}", flush=True)
            start = time.time()
            status = Guest(cache, initrd, "/guest/" + script, folder, args.limit,
                           lambda line: print(line, flush=True)).wait()
            print(f"== {script}: {'passed' if not status else f'FAILED ({status})'} "
                  f"({time.time() - start:.0f} s)", flush=True)
            if status:
                failed.append(script)
    print(f"{'FAILED: ' + ', '.join(failed) if failed else 'passed'} "
          f"({time.time() - began:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
