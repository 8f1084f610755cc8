"""What the proxy adds to the posts it makes: runs mkernel-proxy-speed, and says what it found."""
import json
import os
import subprocess

from .errors import BenchError
from .places import Places


def run(options):
    """The exit status: that of the gates, or 0 without them."""
    program = Places(options.prefix).program("mkernel-proxy-speed")
    if not os.path.exists(program):
        raise BenchError(f"{program} was not found", "ninja -C build mkernel-proxy-speed "
                         "makes it, and a bundle has it")
    try:
        done = subprocess.run([program, "--json"], stdout=subprocess.PIPE, text=True,
                              timeout=options.time_budget)
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{program} took longer than {options.time_budget:.0f} s",
                         "--time-budget SECONDS gives it more") from error
    if not done.stdout:
        raise BenchError(f"{program} measured nothing (status {done.returncode})",
                         "its messages stand above")
    figures = json.loads(done.stdout)
    latency, gpu = figures["latency_us"], figures.get("gpu")
    print(f"requests of {figures['post_ns']} ns: {figures['share']:.3f} of a bare loop of posts, "
          f"{figures['share_of_groups']:.3f} of one that posts groups\n"
          f"free requests: {figures['commands_per_second'] / 1e6:.1f} million commands a second\n"
          f"a thread's store to the post: median {latency['median']:.2f} us, "
          f"99 % within {latency['p99']:.2f} us")
    print(f"a store of {gpu['name']} to the post: median {gpu['median']:.2f} us, 99 % within "
          f"{gpu['p99']:.2f} us, both +- {gpu['uncertainty']:.2f} us; and back to the GPU: "
          f"median {gpu['round_trip']:.2f} us" if gpu else
          f"a GPU's store to the post: skipped, {figures['no_gpu']}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(done.stdout)
    if options.gates:
        print("gates: " + ("met" if done.returncode == 0 else "missed"))
    return done.returncode if options.gates else 0
