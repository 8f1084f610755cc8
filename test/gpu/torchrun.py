#!/usr/bin/env python3
"""Starts a program as the ranks of a job on this machine, with the variables that torchrun sets.

usage: torchrun.py RANKS PROGRAM [ARGUMENTS]
"""
import os
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.realpath(__file__)))


def main(ranks, *command):
    from ranks import free_port
    port = free_port()
    processes = [subprocess.Popen(
        command, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": ranks,
                      "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": ranks,
                      "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                      "TORCHELASTIC_RUN_ID": f"test-{os.getpid()}"})
        for rank in range(int(ranks))]
    return max(abs(process.wait()) for process in processes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
