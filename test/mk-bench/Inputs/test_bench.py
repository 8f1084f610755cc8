"""mk-bench's own logic, without a GPU and without a compiler: a device whose
clock is made up, contestants of known speed.

usage: test_bench.py FOLDER-OF-MK-BENCH
"""
import itertools
import json
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))

from clocks import Clock  # noqa: E402
from mkbench import (cli, gates, measure, model, report, session, shapes, space, stats,  # noqa
                     suites, tuner, tuning_file)
from mkbench.budget import Budget  # noqa
from mkbench.device_host import HostDevice, decode, encode  # noqa
from mkbench.errors import BenchError  # noqa
from mkbench.gemm import Gemm  # noqa


class Statistics(unittest.TestCase):
    def test_percentiles(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)
        self.assertAlmostEqual(stats.percentile(range(101), 0.05), 5)
        self.assertEqual(stats.percentile([7], 0.95), 7)
        with self.assertRaises(ValueError):
            stats.median([])

    def test_geometric_mean(self):
        self.assertAlmostEqual(stats.geometric_mean([0.5, 2.0]), 1)
        with self.assertRaises(ValueError):
            stats.geometric_mean([1.0, 0.0])


class Measuring(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.device = HostDevice(clock=self.clock, sleep=self.clock.sleep)
        self.plan = measure.Plan(warm_ms=10, sample_ms=2)

    def contestants(self, **seconds):
        return [measure.Contestant(n, self.clock.work(n, s))
                for n, s in seconds.items()]

    def test_times_ratios_and_counts(self):
        times = measure.measure(self.device, self.contestants(a=1e-3, b=3e-3),
                                self.plan, Budget(1e9, self.clock))
        for condition, mode in itertools.product(measure.CONDITIONS,
                                                 measure.MODES):
            self.assertAlmostEqual(times["a"][condition][mode]["median"], 1)
            self.assertEqual(times["a"][condition][mode]["count"], 30)
            self.assertEqual(times["a"][condition][mode]["calls"], 2)
        ratios = measure.ratios(times, "a", "b")
        self.assertAlmostEqual(ratios["steady"]["quoted"], 3)

    def test_steady_is_warm_and_burst_is_idle(self):
        contestant = self.contestants(a=1e-3)[0]
        unit = measure.Unit(self.device, contestant, "call", self.plan, 1.0)
        measure._turn(self.device, unit, "steady", self.plan)
        self.assertEqual(self.clock.log, ["a"] * (10 + 5 * 2))
        self.clock.log.clear()
        measure._turn(self.device, unit, "burst", self.plan)
        self.assertEqual(self.clock.log, ["idle"] + ["a"] * (2 + 5 * 2))

    def test_each_is_as_often_first_as_last(self):
        for seed in range(8):
            self.clock.log.clear()
            self.plan.seed = seed
            measure.measure(self.device, self.contestants(a=1e-3, b=1e-3), self.plan,
                            Budget(1e9, self.clock))
            order = [k for k, _ in itertools.groupby(self.clock.log)]
            burst = [order[i + 1] for i, k in enumerate(order[:-1]) if k == "idle"]
            rounds = len(measure.MODES) * self.plan.rounds
            self.assertEqual(len(burst), 2 * rounds)
            self.assertEqual(burst[::2].count("a"), rounds // 2)

    def test_cases_that_share_an_order_begin_differently(self):
        order, begin = random.Random(1), set()
        for _ in range(16):
            self.clock.log.clear()
            measure.measure(self.device, self.contestants(a=1e-3, b=1e-3), self.plan,
                            Budget(1e9, self.clock), order=order)
            begin.add(self.clock.log[self.clock.log.index("idle") + 1])
        self.assertEqual(begin, {"a", "b"})

    def test_steady_comes_after_work_of_all(self):
        measure.measure(self.device, self.contestants(a=1e-3, b=1e-3), self.plan,
                        Budget(1e9, self.clock), conditions=("steady",), modes=("call",))
        # Behind estimates: both warm up, then each does again before its samples.
        warm = self.clock.log[2 * 8:]
        self.assertEqual(warm[:20], ["a"] * 10 + ["b"] * 10)
        self.assertEqual(len(warm), 20 + 2 * self.plan.rounds * (10 + 5 * 2))

    def test_order_differs_between_rounds(self):
        measure.measure(self.device, self.contestants(a=1e-3, b=1e-3, c=1e-3),
                        self.plan, Budget(1e9, self.clock))
        order = [k for k, _ in itertools.groupby(self.clock.log)]
        first = [order[i + 1] for i, k in enumerate(order[:-1]) if k == "idle"]
        self.assertEqual({tuple(sorted(first[i:i + 3]))
                          for i in range(0, len(first), 3)}, {("a", "b", "c")})
        self.assertGreater(len({tuple(first[i:i + 3])
                                for i in range(0, len(first), 3)}), 1)

    def test_the_budget_ends_rounds_not_turns(self):
        budget = Budget(0.5, self.clock)
        times = measure.measure(self.device, self.contestants(a=1e-3, b=1e-3),
                                self.plan, budget)
        counts = {m["count"] for c in times.values() for s in c.values()
                  for m in s.values()}
        self.assertEqual(len(counts), 1)
        self.assertGreaterEqual(counts.pop(), self.plan.min_rounds * 5)

    def test_what_cannot_be_captured_is_measured_by_calls(self):
        def refuse(call, count):
            raise RuntimeError("no capture\nof this")
        self.device.capture = refuse
        contestant = self.contestants(a=1e-3)[0]
        times = measure.measure(self.device, [contestant], self.plan,
                                Budget(1e9, self.clock))
        self.assertEqual(contestant.modes, {"graph": "no capture"})
        self.assertEqual(list(times["a"]["burst"]), ["call"])


def record(name, ratio, reported=False, suite="gemm"):
    row = {c: {"call": ratio + 0.1, "graph": ratio, "quoted": ratio}
           for c in measure.CONDITIONS} if ratio else {}
    return {"suite": suite, "name": name, "reported": reported,
            "ratios": {"cublaslt": row} if row else {}}


class Gates(unittest.TestCase):
    suites = suites.Suites()

    def rows(self, *records):
        return gates.evaluate(self.suites, records, measure.CONDITIONS)

    def test_passes(self):
        rows = self.rows(record("a", 1.1), record("b", 0.99),
                         record("odd", 0.3, reported=True))
        self.assertTrue(all(r["passed"] for r in rows))
        self.assertEqual(rows[0]["least"], "b")

    def test_least_and_mean(self):
        self.assertFalse(self.rows(record("a", 2.0), record("b", 0.9))[0][
            "passed"])
        self.assertFalse(self.rows(record("a", 1.0), record("b", 1.0))[0][
            "passed"])

    def test_the_best_of_several_rivals_counts(self):
        gate = {"rivals": ["nccl", "torch"], "each": {"64": 1.5, "128": 1.1}, "geomean": 1.2}
        def record(shape, reported=False, **ratios):
            return {"suite": "s", "name": "of " + shape, "shape": shape, "reported": reported,
                    "ratios": {rival: {"burst": {"quoted": value}} for rival, value in ratios.items()}}
        def row(*records):
            return gates.evaluate_ratios("s", gate, records, ["burst"])[0]
        good = row(record("64", nccl=1.6, torch=1.5), record("128", nccl=1.1))
        self.assertTrue(good["passed"])
        self.assertEqual(good["ratios"], {"of 64": 1.5, "of 128": 1.1})
        # What is asked of each shape; the least is what lacks most.
        bad = row(record("64", nccl=2.0, torch=1.4), record("128", nccl=1.2, torch=1.3))
        self.assertFalse(bad["passed"])
        self.assertEqual((bad["least"], bad["least_value"], bad["each"]), ("of 64", 1.4, 1.5))
        self.assertIn("s / nccl or torch, burst: least 1.400 (of 64), asked 1.5", gates.text([bad])[0])
        # Nothing is asked of a shape that is not listed but its part of the mean.
        self.assertTrue(row(record("96", torch=1.2))["passed"])
        self.assertFalse(row(record("96", torch=1.1))["passed"])
        self.assertEqual(row(record("64"))["missing"], ["of 64"])

    def test_what_is_missing_fails(self):
        row = self.rows(record("a", 1.1), record("b", None))[0]
        self.assertFalse(row["passed"])
        self.assertIn("not measured: b", gates.text([row])[0])

    def test_limits(self):
        good = {"suite": "compile", "name": "k", "reported": False, "ptx_s": 0.5,
                "cold_s": 1.0, "cached_s": 0.01}
        self.assertTrue(all(r["passed"] for r in self.rows(good)))
        rows = self.rows({**good, "cached_s": 0.06})
        self.assertEqual([r["passed"] for r in rows], [True, True, False])


class SuitesAndSpaces(unittest.TestCase):
    def test_cases(self):
        every = suites.Suites()
        cases = every.cases("gemm")
        self.assertEqual(sum(not c.reported for c in cases), 24)
        self.assertEqual(every.cases("gemm", ["64x32x16"])[0].dims,
                         {"M": 64, "N": 32, "K": 16})
        for bad in ("64x32", "ax1x1", "0x1x1"):
            with self.assertRaises(BenchError):
                every.cases("gemm", [bad])
        with self.assertRaisesRegex(BenchError, "one of gemm"):
            every.cases("nothing")

    def test_configurations(self):
        s = space.Space({"kernels": ["k"], "params": {
            "TM": [64, 128], "TN": [64, 128]},
            "constraints": ["TM * TN <= 8192", "not (TM == 64 and M < 64)"]})
        self.assertEqual(s.configurations({"M": 128}), [
            {"TM": 64, "TN": 64}, {"TM": 64, "TN": 128}, {"TM": 128, "TN": 64}])
        self.assertEqual(s.configurations({"M": 1}), [{"TM": 128, "TN": 64}])

    def test_constraints_are_arithmetic_alone(self):
        for bad in ("__import__('os')", "TM.real", "X < 1", "TM <", "'a'"):
            with self.assertRaises(BenchError):
                space.evaluate(bad, {"TM": 1})

    def test_the_spaces_of_the_project(self):
        path = os.path.join(os.path.dirname(suites.HERE), "..", "share",
                            "mkernel", "tuning", "space.json")
        for s in space.load_spaces(path):
            self.assertTrue(s.configurations(
                dict.fromkeys("MNKBHSDTGP", 4096)))


class TuningFiles(unittest.TestCase):
    def test_entries_replace_each_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.json")
            file = tuning_file.TuningFile(path, "host")
            entry = {"kernel": "k", "types": ["f32"], "grid": 4,
                     "dims": {"M": 8}, "set": {"A": 1}}
            file.put(entry)
            file.put({**entry, "dims": {"M": 4}})
            file.put({**entry, "set": {"A": 2}})
            file.write()
            with open(path, encoding="utf-8") as opened:
                data = json.load(opened)
            self.assertEqual([(e["dims"]["M"], e["set"]["A"])
                              for e in data["entries"]], [(4, 1), (8, 2)])
            with self.assertRaisesRegex(BenchError, "is for target 'host'"):
                tuning_file.TuningFile(path, "sm_90a")


class DrawnShapes(unittest.TestCase):
    def test_a_seed_gives_the_same_shapes(self):
        for kind in shapes.KINDS:
            some = shapes.draw_shapes(kind, 7, 50)
            self.assertEqual(some, shapes.draw_shapes(kind, 7, 50))
            self.assertNotEqual(some, shapes.draw_shapes(kind, 8, 50))
            self.assertEqual(len(set(some)), 50)

    def test_sizes_are_in_range(self):
        for kind, (least, most, multiple) in shapes.RANGES.items():
            for shape in shapes.draw_shapes(kind, 1, 200):
                self.assertTrue(all(least <= v <= most and v % multiple == 0 for v in shape), shape)
                self.assertTrue(kind != "ragged" or any(v % 8 for v in shape), shape)
        # The logarithm is even: as many below its middle as above.
        rows = [m for m, _, _ in shapes.draw_shapes("any", 1, 400)]
        self.assertTrue(160 < sum(m < 1024 for m in rows) < 240)
        rows = {m for m, _, _ in shapes.draw_shapes("models", 1, 300, (65, 512))}
        self.assertEqual(rows, {128, 256, 512})
        self.assertIn((16, 5120, 1024), shapes.draw_shapes("models", 1, 10 ** 6))

    def test_what_is_asked_wrong(self):
        self.assertEqual(len(shapes.parse("models:1:5:1-64")), 5)
        for bad, why in (("few:1", "are not known"), ("models", "not of the form"),
                         ("models:x", "not of the form"), ("models:1:0", "not of the form"),
                         ("any:1:2000", "not of the form"),
                         ("models:1:5:64-1", "there are none"),
                         ("ranks:1:5:1-64", "these have 2048 to 16384")):
            with self.assertRaisesRegex(BenchError, why):
                shapes.parse(bad)

    def test_suites_and_gates(self):
        cases = suites.Suites().cases("gemm_drawn")
        self.assertEqual(len(cases), 100)
        self.assertFalse(any(c.reported or c.dims["M"] < 65 for c in cases))
        records = [{"suite": "gemm_drawn", "name": str(i), "reported": False,
                    "ratios": {"cublaslt": {"burst": {"quoted": ratio}}}}
                   for i, ratio in enumerate([0.94, 1.1, 1.2, 1.0])]
        row, = gates.evaluate(suites.Suites(), records, ["burst"])
        self.assertEqual((row["passed"], row["share_value"]), (False, 0.75))
        self.assertIn("75 % at 0.95 or more, asked 85 %", gates.text([row])[0])
        records[0]["ratios"]["cublaslt"]["burst"]["quoted"] = 0.95
        self.assertTrue(gates.evaluate(suites.Suites(), records, ["burst"])[0]["passed"])


class CostModel(unittest.TestCase):
    def record(self, name, burst, model, problem=None):
        return {"suite": "gemm", "name": name, "contestants": [
            {"name": "mkernel", "problem": problem, "times": {"burst": {
                "call": {"median": 2 * burst}, "graph": {"median": burst}}},
             "config": {"kernel": "k", "types": ["bf16"], "grid": 132, "dims": {"M": 8},
                        "params": {"TM": {"value": 64, "from": "model"},
                                   "HD": {"value": None, "from": "default"}},
                        "model": model, "tuning": {}}},
            {"name": "cublaslt", "problem": None, "times": {}, "config": None}]}

    def known(self, burst, alone=True):
        return {"ms": {"burst": burst, "steady": 2 * burst}, "bound": "products", "alone": alone}

    def test_predicted_beside_measured(self):
        records = [self.record("a", 1.0, self.known(1.1)), self.record("b", 4.0, self.known(3.0)),
                   self.record("c", 1.0, self.known(9.0, alone=False)),
                   self.record("d", 1.0, {"why": "'scf.for' in line 3 ..."}),
                   self.record("e", 1.0, self.known(1.0), problem="wrong result")]
        text = "\n".join(model.lines(records))
        # Graphs count, what waits for other ranks does not.
        self.assertRegex(text, r"gemm a +burst +products +1\.1000 +1\.0000 +1\.10")
        self.assertRegex(text, r"gemm c .*products, without others")
        self.assertIn("median error 17.5 %, nine of ten within 25.0 %, worst 25.0 % (2 times)", text)
        self.assertIn("gemm d: not known to the model: 'scf.for' in line 3", text)
        self.assertNotIn("gemm e", text)
        self.assertEqual(model.lines([]), ["the model knows none of these kernels"])

    def test_what_was_measured_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.json")
            self.assertEqual(model.keep(path, [self.record("a", 1.0, self.known(1.1))], "host"), 1)
            model.keep(path, [self.record("a", 3.0, self.known(1.1))], "host")
            with open(path, encoding="utf-8") as file:
                entry, = json.load(file)["entries"]
            self.assertEqual(entry, {"kernel": "k", "types": ["bf16"], "grid": 132,
                                     "dims": {"M": 8}, "set": {"TM": 64}, "ms": {"burst": 3.0}})
            with self.assertRaisesRegex(BenchError, "is for target 'host'"):
                model.keep(path, [], "sm_90a")

    def test_spaces_of_kernels_that_list_choices(self):
        found = space.find_space([], "k", "space.json", {"TM": [64, 128], "S": [0, 1]})
        self.assertEqual(len(found.configurations({})), 4)
        with self.assertRaisesRegex(BenchError, "no space for it, and its file lists no choices"):
            space.find_space([], "k", "space.json", {})


class Choice(unittest.TestCase):
    def test_what_is_there_stays_unless_clearly_beaten(self):
        score = {"a": 1.0, "b": 1.009, "c": 1.02}
        self.assertEqual(tuner.choose(score, None), "a")
        self.assertEqual(tuner.choose(score, "b"), "b")
        self.assertEqual(tuner.choose(score, "c"), "a")
        self.assertEqual(tuner.choose(score, "gone"), "a")


class HostData(unittest.TestCase):
    def test_bf16_rounds_to_nearest(self):
        for value, bits in ((1.0, 0x3f80), (1.00390625, 0x3f80),
                            (1.01171875, 0x3f82), (-2.0, 0xc000)):
            self.assertEqual(encode([value], "bf16")[0], bits)
        self.assertEqual(decode(encode([0.5, -3.0], "f16"), "f16"), [0.5, -3.0])

    def test_check_finds_wrong_and_missing_elements(self):
        device = HostDevice()
        problem = Gemm(device, {"types": ["bf16", "bf16", "f32"],
                                "layout": "nn"}, {"M": 3, "N": 5, "K": 7}, 1)
        good = device.matmul_reference(*problem.plain()).values()

        def writes(values):
            def call():
                for i, value in enumerate(values):
                    problem.c.bits[i] = value
            return measure.Contestant("mkernel", call)
        self.assertTrue(problem.check(writes(good))["passed"])
        self.assertFalse(problem.check(writes(good[:-1]))["passed"])
        self.assertFalse(problem.check(writes([good[0] + 1] + good[1:]))[
            "passed"])


class Runs(unittest.TestCase):
    def test_a_run_and_its_documents(self):
        clock = Clock()
        device = HostDevice(clock=clock, sleep=clock.sleep)
        device.has_rivals = True
        options = cli.parse(["--quick", "--target", "host", "--seed", "3"])

        class Small(session.Session):
            def compile(self, requests, what):
                requests[-1].problem = "refused: too many registers"

            def ours(self, request, problem):
                if request.problem:
                    raise BenchError(request.problem)
                return self.copier("mkernel", problem, 1e-3)

            def copier(self, name, problem, seconds):
                values = problem.compute_reference()["c"].values()
                bits = encode(values, problem.c.type)
                tick = clock.work(name, seconds)

                def call():
                    tick()
                    problem.c.bits[:] = bits
                return measure.Contestant(name, call)

        Gemm.rival = lambda problem, name: run.copier(name, problem, 2e-3)
        every = suites.Suites()
        every.data["gemm"]["file"] = os.path.abspath(__file__)

        class Places:
            root = prefix = os.path.dirname(os.path.abspath(__file__))
            example = staticmethod(lambda name: name)
            program = staticmethod(lambda name: "/nonexistent/" + name)

        run = Small(Places(), device, None, every, options,
                    Budget(1e9, clock), pool=type("P", (), {"jobs": 1})())
        records = run.run(every.cases("gemm", ["4x8x8"]))
        self.assertAlmostEqual(
            records[0]["ratios"]["cublaslt"]["burst"]["quoted"], 2)
        self.assertTrue(records[0]["contestants"][0]["error"]["passed"])
        self.assertEqual(records[1]["ratios"], {})
        lines = report.case_table(records, options.conditions)
        self.assertRegex("\n".join(lines), r"cublaslt +burst .* 2\.000")
        self.assertEqual(report.problems(records), [
            "gemm bf16 nn 4x8x8, mkernel: refused: too many registers"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            rows = gates.evaluate(every, records, options.conditions)
            report.write_json(path, run.document(rows, "none"))
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
        self.assertEqual(data["format"], "mk-bench")
        self.assertEqual(len(data["cases"][0]["contestants"][0]["times"][
            "steady"]["graph"]["samples"]), 10)

    def test_wrong_usage(self):
        for bad in (["--set", "TM"], ["--conditions", "warm"]):
            with self.assertRaises(SystemExit), open(os.devnull, "w") as null:
                sys.stderr, old = null, sys.stderr
                try:
                    cli.parse(bad)
                finally:
                    sys.stderr = old


if __name__ == "__main__":
    unittest.main()
