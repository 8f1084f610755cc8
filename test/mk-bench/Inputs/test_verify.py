"""What --verify finds, without a GPU and without a compiler; seeds of shapes.

usage: test_verify.py FOLDER-OF-MK-BENCH
"""
import array
import sys
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))

from threads import on_ranks  # noqa: E402
from mkbench import cli, measure, session, shapes, suites, verify  # noqa: E402
from mkbench.budget import Budget  # noqa: E402
from mkbench.device_host import HostDevice, HostTensor  # noqa: E402
from mkbench.errors import BenchError  # noqa: E402
from mkbench.problem import Problem  # noqa: E402


class Ones(Problem):
    """Its result is all ones."""

    def __init__(self, device, *rest):
        super().__init__(device, *rest)
        self.c = device.empty((4,), "f32")

    def outputs(self):
        return {"c": self.c}

    def compute_reference(self):
        return {"c": HostTensor((4,), "f64", array.array("d", [1.0] * 4))}

    def terms(self, name):
        return 1


class Verify(unittest.TestCase):
    def verify(self, kernel, world=1):
        """`kernel(run, rank)` returns four numbers."""
        def work(group):
            device = HostDevice(group=group)
            problem, runs = Ones(device, {}, {}), []

            def call():
                problem.c.bits[:] = array.array("f", kernel(len(runs), group.rank))
                runs.append(None)
            run = session.Session(types.SimpleNamespace(prefix="/p"), device, None,
                                  suites.Suites(), cli.parse(["--target", "host", "--verify"]),
                                  Budget(1e9, group.clock), types.SimpleNamespace(jobs=1))
            run.ours = lambda request, problem, sets: measure.Contestant("mkernel", call)
            record = {"suite": "s", "name": "n", "problem": None, "contestants": []}
            try:
                verify.run(run, None, problem, record)
            except BenchError as error:
                record["problem"] = str(error)
            return record
        return on_ranks(world, work) if world > 1 else [work(HostDevice().group)]

    def test_right_twice(self):
        record, = self.verify(lambda run, rank: [1.0] * 4)
        self.assertEqual((record["problem"], record["verify"]), (None, {"runs": 2, "different": {}}))
        self.assertEqual(verify.lines([record, {**record, "problem": "late", "verify": record["verify"]}]),
                         ["s: 1 of 2 right, with the same bits twice; largest relative error 0.0e+00"])
        del record["verify"]
        self.assertIn("0 of 0 right", verify.lines([record])[0])
        self.assertIn("; 1 not verified", verify.lines([record])[0])

    def test_right_but_not_the_same_bits(self):
        # Two numbers next to each other differ in their lowest byte.
        near = array.array("f", array.array("I", [0x3f800001]).tobytes())[0]
        record, = self.verify(lambda run, rank: [near if run else 1.0, 1.0, 1.0, 1.0])
        self.assertEqual(record["problem"], "two runs differ in 1 bytes of 'c'")

    def test_wrong_at_once_or_the_second_time(self):
        for wrong in (0, 1):
            record, = self.verify(lambda run, rank: [2.0 if run == wrong else 1.0] + [1.0] * 3)
            self.assertIn("wrong result: largest error 1.0", record["problem"])
            self.assertEqual(record["verify"]["runs"], wrong + 1)

    def test_what_is_not_written_is_wrong(self):
        record, = self.verify(lambda run, rank: [1.0, 1.0, 1.0, float("nan")])
        self.assertIn("wrong result", record["problem"])

    def test_one_ranks_bits_are_everyones_problem(self):
        near = array.array("f", array.array("I", [0x3f800001]).tobytes())[0]
        for record in self.verify(lambda run, rank: [near if run and rank else 1.0] * 4, 2):
            self.assertEqual(record["problem"], "two runs differ in 4 bytes of 'c'")

    def test_each_case_has_data_of_its_own(self):
        of = lambda *words: session.Session(
            types.SimpleNamespace(prefix="/p"), HostDevice(), None, None,
            cli.parse(["--target", "host", *words]), Budget(1), types.SimpleNamespace(jobs=1))
        for run, seeds in ((of("--verify"), {1001, 2001}), (of(), {1})):
            found = set()
            for _ in range(2):
                run.records.append({})
                found.add(run.seed())
            self.assertEqual(found, seeds)


class Seeds(unittest.TestCase):
    def test_lists_and_ranges(self):
        self.assertEqual(shapes.parse_seeds("1-3"), [1, 2, 3])
        self.assertEqual(shapes.parse_seeds("3,7,9-10"), [3, 7, 9, 10])
        for bad in ("", "1-", "x", "3-1", "1,,2", "1-5000"):
            with self.assertRaisesRegex(BenchError, "not of the form 1-10"):
                shapes.parse_seeds(bad)

    def test_they_replace_a_suites_own(self):
        self.assertEqual(shapes.reseeded("models:101:60:65-16384", [1, 2]),
                         ["models:1:60:65-16384", "models:2:60:65-16384"])
        self.assertEqual(shapes.reseeded("models:101", []), ["models:101"])
        names = lambda seeds: [c.shape for c in suites.Suites(None, seeds).cases("gemm_few_drawn")]
        self.assertNotEqual(names([]), names([5]))
        self.assertGreater(len(names([5, 6])), len(names([5])))
        self.assertEqual(len(set(names([5, 6]))), len(names([5, 6])))
        # A suite that draws nothing has its own shapes once.
        of = lambda seeds: len(suites.Suites(None, seeds).cases("grouped_grid"))
        self.assertEqual(of([1, 2, 3]), of([]))

    def test_tiny_shapes(self):
        for kind, most, multiple in (("tiny", 48, 1), ("tiny8", 64, 8)):
            found = shapes.draw_shapes(kind, 1, 30)
            self.assertTrue(all(size <= most and size % multiple == 0
                                for shape in found for size in shape))


if __name__ == "__main__":
    unittest.main()
