"""What mk-bench does with sets of parameters that the compiler's cost model takes for the fastest:
it measures them, keeps the best one, and tunes among them. Without a GPU and without a compiler.

usage: test_candidates.py FOLDER-OF-MK-BENCH
"""
import contextlib
import io
import sys
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))

from clocks import Clock  # noqa: E402
from mkbench import cli, fastest, kernels, session, space, tuner  # noqa: E402
from mkbench.budget import Budget  # noqa: E402
from mkbench.device_host import HostDevice  # noqa: E402
from mkbench.errors import BenchError  # noqa: E402
from mkbench.measure import Contestant  # noqa: E402

SETS = [{"TM": 64, "TN": 64}, {"TM": 128, "TN": 64}, {"TM": 128, "TN": 256}]
MODEL = {"candidates": [{"set": s, "ms": {"burst": 1, "steady": 1}} for s in SETS]}


def request(given=None):
    return kernels.Request("gemm.mlir", "gemm_nt", {"M": 8}, given, target="sm_90a", grid=132)


class Candidates(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.device = HostDevice(clock=self.clock, sleep=self.clock.sleep)

    def test_fastest_of_several(self):
        calls = [self.clock.work(n, s) for n, s in (("a", 2e-4), ("b", 1e-4), ("c", 9e-4))]
        best, times = fastest.find_fastest(self.device, calls, 1)
        self.assertEqual(best, 1)
        for ms, wanted in zip(times, (.2, .1, .9)):
            self.assertAlmostEqual(ms, wanted)

    def test_bursts_of_long_calls_count(self):
        def work(name, steady, burst):
            def call():
                idle = self.clock.log[-1:] == ["idle"]
                self.clock.work(name, burst if idle else steady)()
            return call
        for unit, wanted in ((1e-3, 1), (1e-4, 0)):  # short ones are not timed behind idle time
            calls = [work("a", 1.00 * unit, 1.00 * unit), work("b", 1.01 * unit, .90 * unit)]
            best, times = fastest.find_fastest(self.device, calls, 1)
            self.assertEqual(best, wanted)
            self.assertAlmostEqual(times[0], 1e3 * unit)
        self.assertAlmostEqual(times[1], .101)

    def run_session(self, seconds, problems=()):
        """A session with kernels that take `seconds`, by number of the candidate; what `ours` gives."""
        made = session.Session.__new__(session.Session)
        first, bound = request(), []
        first.interface = {**dict.fromkeys(("kernel", "types", "grid", "dims", "params", "tuning")),
                           "model": MODEL}
        first.candidates = [first.with_params(s) for s in SETS[1:]]
        for other in first.candidates:
            other.interface = {**first.interface, "params": other.options["set"]}
        for number in problems:
            first.candidates[number - 1].problem = "does not compile"
        every = [first, *first.candidates]

        def contestant(asked, problem, name="mkernel", sets=None):
            bound.append(asked)
            return Contestant(name, self.clock.work(name, seconds[every.index(asked)]))
        made.device, made.places = self.device, None
        made.kernels = types.SimpleNamespace(contestant=contestant)
        return made.ours(first, None), bound, every

    def test_the_best_one_competes(self):
        contestant, bound, every = self.run_session([3e-4, 1e-4, 2e-4])
        self.assertEqual(bound, every)
        self.assertEqual(contestant.config["params"], SETS[1])
        about = contestant.config["candidate"]
        self.assertEqual((about["number"], about["of"]), (1, 3))
        self.assertAlmostEqual(about["ms"][0] / about["ms"][1], 3)

    def test_what_does_not_compile_is_left_out(self):
        contestant, bound, every = self.run_session([3e-4, 1e-4, 2e-4], problems=[1])
        self.assertEqual(bound, [every[0], every[2]])
        self.assertEqual(contestant.config["params"], SETS[2])

    def test_one_alone_is_not_timed(self):
        contestant, bound, every = self.run_session([3e-4, 1e-4, 2e-4], problems=[1, 2])
        self.assertEqual(bound, every[:1])
        self.assertNotIn("candidate", contestant.config)
        self.assertEqual(self.clock.log, [])

    def test_what_is_given_stays(self):
        other = request({"TN": 128}).with_params(SETS[0])
        self.assertEqual(other.options["set"], {"TM": 64, "TN": 128})
        self.assertNotEqual(other.key(), request().key())

    def test_describe_makes_requests_of_candidates(self):
        made, asked = session.Session.__new__(session.Session), []

        def interface(places, about, candidates):
            asked.append(candidates)
            return {"model": MODEL}
        made.places, made.pool = None, types.SimpleNamespace(jobs=1)
        made.budget = Budget(100, self.clock)
        kept, session.interface = session.interface, interface
        try:
            first = request()
            made.describe([first], 3)
            made.describe([first])  # is known
        finally:
            session.interface = kept
        self.assertEqual(asked, [3])
        self.assertEqual([r.options["set"] for r in first.candidates], SETS[1:])


class Tuning(unittest.TestCase):
    CASE = types.SimpleNamespace(name="case", dims={}, variant={"kernel": "gemm_nt"})

    def test_the_model_is_a_space(self):
        known = space.ModelSpace("model:3")
        self.assertEqual(known.number, 3)
        self.assertEqual(known.take(self.CASE, {"model": MODEL}), SETS)
        with self.assertRaisesRegex(BenchError, "no candidates: no loop is dealt out"):
            known.take(self.CASE, {"model": {"why": "no loop is dealt out"}})
        for text in ("model:", "model:0", "model:65", "model:x"):
            with self.assertRaisesRegex(BenchError, "from 1 to 64"):
                space.ModelSpace(text)

    def test_a_tuner_tries_them(self):
        asked = []

        def interface(places, about, candidates):
            asked.append((about, candidates))
            return {"model": MODEL}
        made = tuner.Tuner.__new__(tuner.Tuner)
        made.spaces = space.ModelSpace("model:2")
        made.session = types.SimpleNamespace(
            places=None, request=lambda case, chosen, tuning: (chosen, tuning))
        kept, tuner.interface = tuner.interface, interface
        try:
            self.assertEqual(made.configurations(self.CASE), SETS)
        finally:
            tuner.interface = kept
        # What the file knows already is no reason to look at nothing else.
        self.assertEqual(asked, [(({}, "model"), 2)])


class CommandLine(unittest.TestCase):
    def test_only_what_the_model_chooses(self):
        self.assertEqual(cli.parse(["--candidates", "4"]).candidates, 4)
        self.assertEqual(cli.parse([]).candidates, 1)
        for more in (["--gpus", "2"], ["--nodes", "2"], ["--set", "TM=64"], ["--verify"],
                     ["--tune", "gemm"], ["--target", "host"]):
            said = io.StringIO()
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(said):
                cli.parse(["--candidates", "4", *more])
            self.assertIn("--candidates: measured are kernels of one GPU", said.getvalue())


if __name__ == "__main__":
    unittest.main()
