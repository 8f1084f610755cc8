"""The tuner of several ranks, without a GPU and without a compiler: what is tried, who decides,
and what becomes of configurations on which ranks are lost.

usage: test_tune.py FOLDER-OF-MK-BENCH
"""
import json
import os
import sys
import tempfile
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))

from clocks import Clock  # noqa: E402
from threads import on_ranks  # noqa: E402
from mkbench import cli, job, measure, places, session, space, suites, tune_ranks, tuner  # noqa
from mkbench.budget import Budget  # noqa: E402
from mkbench.device_host import HostDevice  # noqa: E402
from mkbench.errors import BenchError, Lost  # noqa: E402
from mkbench.tuning_file import TuningFile  # noqa: E402

EVERY = suites.Suites()
CASE = EVERY.cases("ag_gemm", ["4096x4096x4096"], gpus=2)[0]


def trial(names, present=None, times=None):
    return tune_ranks.Trial(vars(CASE), {name: {"A": name} for name in names}, present,
                            dict(times or {}))


class Problem:
    flops = 1e9

    def __init__(self, *_):
        pass

    def check(self, contestant):
        contestant.call()
        return {"passed": contestant.name != "wrong", "max": 1.0, "rel_l2": 1.0}


class Ranks(unittest.TestCase):
    """Two ranks, `seconds` of each configuration on each of them."""

    def tune(self, seconds, some, budget=1e9):
        def work(group):
            clock = Clock()
            device = HostDevice(clock=clock, sleep=clock.sleep, group=group)

            def contestant(request, problem, name):
                if request == "bad":
                    raise BenchError("does not load")
                return measure.Contestant(name, clock.work(name, seconds[name][group.rank]))
            run = session.Session(types.SimpleNamespace(prefix="/p"), device, None, EVERY,
                                  cli.parse(["--target", "host"]), Budget(budget, group.clock),
                                  types.SimpleNamespace(jobs=1))
            run.request = lambda case, chosen, tuning: chosen["A"]
            run.kernels = types.SimpleNamespace(contestant=contestant, drop=lambda: None)
            said = []
            tune_ranks.RankTuner(run, lambda **message: said.append(message)).run([some()])
            return said, [name for name in clock.log if name != "idle"]
        usual = tune_ranks.PROBLEMS
        tune_ranks.PROBLEMS = {"ranks_gemm": Problem}
        try:
            results = on_ranks(2, work)
        finally:
            tune_ranks.PROBLEMS = usual
        for result in results:
            if isinstance(result, Exception):
                raise result
        return results

    def test_the_slowest_rank_counts_and_all_do_the_same(self):
        seconds = {"a": (1e-3, 4e-3), "b": (3e-3, 2e-3), "c": (5e-3, 1e-3)}
        (said, log), (others, other_log) = self.tune(seconds, lambda: trial("abc"))
        self.assertEqual((said, log), (others, other_log))
        chosen = said[-1]
        self.assertEqual((chosen["chosen"], chosen["of"]), ("b", 3))
        self.assertAlmostEqual(chosen["ms"]["burst"], 3)
        timed = {m["name"]: m["timed"] for m in said if "timed" in m}
        for name, ms in {"a": 4, "b": 3, "c": 5}.items():
            self.assertAlmostEqual(timed[name], ms)

    def test_what_does_not_load_or_is_wrong_is_told(self):
        seconds = dict.fromkeys(("a", "wrong"), (1e-3, 1e-3))
        said = self.tune(seconds, lambda: trial(("a", "bad", "wrong")))[0][0]
        refused = {m["name"]: m["refused"] for m in said if "refused" in m}
        self.assertEqual(refused, {"bad": "does not load", "wrong":
                                   "wrong result: largest error 1.0, relative 1.0"})
        self.assertEqual(said[-1]["chosen"], "a")
        said = self.tune(seconds, lambda: trial(("bad", "wrong")))[0][0]
        self.assertEqual(said[-1]["failed"],
                         "no configuration could be loaded and computes what it should")

    def test_what_the_file_has_comes_first_and_stays_unless_clearly_beaten(self):
        seconds = {"a": (1e-3, 1e-3), "b": (1.005e-3, 1e-3), "c": (2e-3, 1e-3)}
        said, log = self.tune(seconds, lambda: trial("abc", "b"))[0]
        self.assertEqual((log[0], said[-1]["chosen"]), ("b", "b"))
        self.assertEqual(self.tune(seconds, lambda: trial("abc", "c"))[0][0][-1]["chosen"], "a")

    def test_what_was_timed_before_ranks_were_lost_is_not_timed_again(self):
        seconds = dict.fromkeys("ab", (1e-3, 1e-3))
        said = self.tune(seconds, lambda: trial("ab", times={"a": 9.0}))[0][0]
        self.assertEqual([m["name"] for m in said if "timed" in m], ["b"])
        self.assertEqual(said[-1]["of"], 2)

    def test_ranks_whose_launch_failed_are_not_used_again(self):
        def fails(contestant):
            raise BenchError("waited 10 s")
        usual, Problem.check = Problem.check, lambda self, contestant: fails(contestant)
        try:
            with self.assertRaisesRegex(Lost, "waited 10 s"):
                self.tune({"a": (1e-3, 1e-3)}, lambda: trial("a"))
        finally:
            Problem.check = usual


    def test_a_launch_that_fails_while_it_is_timed_is_nobodys_agreement(self):
        usual = tune_ranks.measure.measure

        def measured(device, contestants, **how):
            raise BenchError("rank 1 was lost")
        measure.measure = measured
        try:
            with self.assertRaisesRegex(BenchError, "rank 1 was lost"):
                self.tune({"a": (1e-3, 1e-3)}, lambda: trial("a"))
        finally:
            measure.measure = usual


RANK = """
import json, os, sys, time
job, rank = json.load(sys.stdin), int(os.environ["RANK"])
channel = os.fdopen(job["channels"][rank], "w")
tell = lambda **message: rank or print(json.dumps(message), file=channel, flush=True)
for trial in job["trials"]:
    case = trial["case"]["variant"]["name"] + " " + trial["case"]["shape"]
    tell(at="", case=case)
    if "no data" in trial["choices"]:
        sys.exit(3)
    for name in [n for n in trial["choices"] if n not in trial["times"]]:
        tell(at=name, case=case)
        if name == "wrong":
            tell(refused="wrong result", name=name, case=case)
            continue
        if name == "hangs":
            if rank == 0:
                time.sleep(60)
            sys.exit(7)
        trial["times"][name] = len(name)
        tell(timed=len(name), name=name, case=case)
    tell(chosen=min(trial["times"]), case=case, ms={"burst": 1.0}, flops=1.0,
         of=len(trial["times"]))
"""


class Compilation(unittest.TestCase):
    def test_it_leaves_half_of_the_time(self):
        asked = []
        of = types.SimpleNamespace(
            options=types.SimpleNamespace(seed=1), budget=Budget(100, lambda: 0.0),
            compile=lambda requests, what, budget: asked.append((sorted(requests), budget.seconds)))
        tuner.Tuner(of, [], "space.json", None).compile([3, 1, 2])
        self.assertEqual(asked, [([1, 2, 3], 50.0)])


class Files(unittest.TestCase):
    """The process that has the file."""

    def setUp(self):
        job.GRACE_S = 1.0
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "t.json")
        found = {"kernel": "ag_gemm", "types": ["bf16"], "grid": 0, "dims": {"gpu": 2}}
        self.usual, tuner.interface = tuner.interface, lambda places, request: found

    def tearDown(self):
        tuner.interface = self.usual
        self.folder.cleanup()

    def tune(self, names):
        run = job.Job(types.SimpleNamespace(prefix="/p", example=lambda name: name), EVERY,
                      cli.parse(["--target", "host"]), Budget(1e9), 2,
                      types.SimpleNamespace(jobs=1), [sys.executable, "-c", RANK])
        made = tune_ranks.TunerOfRanks(run, [], "", TuningFile(self.path, "sm_90a"))
        made.cases, made.trials = {CASE.name: CASE}, {CASE.name: trial(names)}
        return made, made.run(Budget(1e9))

    def test_a_configuration_that_hangs_is_left_out(self):
        made, failed = self.tune(["a", "wrong", "hangs", "b"])
        self.assertEqual(failed, 0)
        self.assertEqual(made.refused, [
            ("ag_gemm", "wrong", "wrong result"),
            ("ag_gemm", "hangs", "rank 1: ended with status 7")])
        with open(self.path, encoding="utf-8") as file:
            entry, = json.load(file)["entries"]
        self.assertEqual((entry["set"], entry["dims"], entry["of"]), ({"A": "a"}, {"gpu": 2}, 2))

    def test_a_case_without_any_is_given_up(self):
        made, failed = self.tune(["hangs"])
        self.assertEqual((failed, len(made.refused), made.results), (1, 1, []))
        made, failed = self.tune(["no data"])
        self.assertEqual((failed, made.refused), (1, []))

    def test_starts_are_counted(self):
        usual, tune_ranks.STARTS = tune_ranks.STARTS, 1
        try:
            made, failed = self.tune(["hangs", "a"])
        finally:
            tune_ranks.STARTS = usual
        self.assertEqual((failed, made.results), (1, []))


class Spaces(unittest.TestCase):
    """What share/mkernel has for the suites' kernels."""

    def test_parameters_are_the_kernels_own_and_not_too_many(self):
        root = os.path.dirname(os.path.dirname(places.HERE))
        known = space.load_spaces(os.path.join(root, "share/mkernel/tuning/space.json"))
        of = {kernel: s for s in known for kernel in s.kernels}
        for name in EVERY.data:
            if not EVERY.several(name) and name != "gemm_few":
                continue
            ranks = (2, EVERY.get(name).get("min_nodes", 1)) if EVERY.several(name) else (1, 1)
            for case in EVERY.cases(name, None, None, *ranks)[:4]:
                kernel = case.variant["kernel"]
                with open(os.path.join(root, case.variant["file"]), encoding="utf-8") as file:
                    text = file.read().split(f"mk.kernel @{kernel} ")[1].split("\nmk.kernel @")[0]
                for param in of[kernel].params:
                    self.assertIn(f'mk.param "{param}"', text, kernel)
                self.assertIn(len(of[kernel].configurations(case.dims)), range(1, 130), case.name)


if __name__ == "__main__":
    unittest.main()
