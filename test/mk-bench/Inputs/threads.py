"""Ranks as threads, for tests of mk-bench."""
import os
import tempfile
import threading

from mkbench.group import Alone, Group


def on_ranks(world, work):
    """What work(group) returns or raises on each rank; ranks are threads."""
    results = [None] * world
    with tempfile.TemporaryDirectory() as folder:
        def run(rank):
            group = Alone()
            try:
                group = Group(rank, world, os.path.join(folder, "s"), b"k")
                results[rank] = work(group)
            except Exception as error:  # for the test to look at
                results[rank] = error
            finally:
                group.close()
        threads = [threading.Thread(target=run, args=(rank,))
                   for rank in range(world)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return results
