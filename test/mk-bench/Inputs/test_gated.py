"""The suites whose gates are for one GPU, and what keeps their time short, without a GPU and
without a compiler.

usage: test_gated.py FOLDER-OF-MK-BENCH
"""
import contextlib
import functools
import io
import json
import os
import sys
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))

from clocks import Clock  # noqa: E402
from mkbench import (blocks, cli, cublaslt, gates, grouped, measure, places, report, session,  # noqa
                     shapes, suites)
from mkbench.attention import Attention  # noqa: E402
from mkbench.budget import Budget  # noqa: E402
from mkbench.device_host import HostDevice  # noqa: E402
from mkbench.errors import BenchError  # noqa: E402
from mkbench.problem import kernel_dims  # noqa: E402

EVERY = suites.Suites()


@functools.cache
def measured():
    """(kernel, M, N, K) of the files of share/mkernel/tuning."""
    found = set()
    for name in ("sm_90a.json", "measured-sm_90a.json"):
        with open(os.path.join(os.path.dirname(os.path.dirname(places.HERE)), "share", "mkernel", "tuning", name),
                  encoding="utf-8") as file:
            found |= {(e["kernel"], *map(e["dims"].get, "MNK")) for e in json.load(file)["entries"]}
    return found


class Gates(unittest.TestCase):
    # Suite: rival, geometric mean, least, share at 0.95.
    ASKED = {"gemm": ("cublaslt", 1.03, 0.95, None), "epilogue": ("alone", None, 0.971, None),
             "gemm_drawn": ("cublaslt", 1.0, 0.9, 0.85), "gemm_few_drawn": ("cublaslt", 0.99, 0.93, 0.9),
             "gemm_ragged_drawn": ("cublaslt", 0.95, None, None),
             "fp8_drawn": ("cublaslt", 1.0, 0.9, 0.85), "fp8_block_drawn": ("torch", 1.05, 0.95, 0.95),
             "attention_grid": ("cudnn", 1.06, 1.0, None), "grouped_grid": ("torch", 1.15, 1.0, None)}

    def test_what_is_asked_for(self):
        self.assertEqual(set(EVERY.expand(["gated"])), set(self.ASKED))
        for name, (rival, geomean, least, share) in self.ASKED.items():
            gate, = EVERY.get(name)["gates"]
            self.assertEqual((gate["rival"], gate.get("geomean"), gate.get("each")),
                             (rival, geomean, least), name)
            self.assertEqual(gate.get("share"), share and {"at": 0.95, "least": share}, name)
            self.assertTrue(rival in EVERY.get(name)["rivals"] or all(
                rival in variant for variant in EVERY.get(name)["variants"]))
            self.assertEqual(name in EVERY.names(), name == "gemm")
            self.assertEqual(any(case.reported for case in EVERY.cases(name)), name == "gemm")

    def test_only_rivals_that_gates_are_on_take_time(self):
        def rivals(name, many):
            of = types.SimpleNamespace(options=types.SimpleNamespace(many=many))
            return session.Session.rivals(of, EVERY.cases(name)[0], EVERY.get(name))
        self.assertEqual(rivals("gemm", False), ["cublaslt", "torch"])
        self.assertEqual(rivals("gemm", True), ["cublaslt"])
        # A suite that is asked for beside the gated ones keeps its own.
        self.assertEqual(rivals("f16", True), rivals("f16", False))

    def test_the_set_is_a_name_among_others(self):
        self.assertEqual(EVERY.expand(["fp8", "gated", "fp8_drawn"])[:3], ["fp8", "gemm", "gemm_drawn"])
        self.assertEqual(EVERY.expand(["gated", "fp8_drawn"]), EVERY.expand(["gated"]))
        with self.assertRaisesRegex(BenchError, "or gated"):
            EVERY.cases("gate")
        options = cli.parse(["--suite", "gated"])
        self.assertEqual((options.many, options.time_budget), (True, 570))
        self.assertEqual(cli.parse(["--suite", "gated", "--time-budget", "9"]).time_budget, 9)
        self.assertFalse(cli.parse(["--suite", "gemm_drawn"]).many)
        # What --gates alone means.
        options_of = lambda *words: (cli.parse(words).suite, cli.parse(words).many)
        self.assertEqual(options_of("--gates"), (["gated"], True))
        for words in (["--gates", "--suite", "fp8"], ["--gates", "--gpus", "2"],
                      ["--gates", "--nodes", "2"], ["--gates", "--proxy"], []):
            self.assertFalse(options_of(*words)[1], words)
        listed = io.StringIO()
        with contextlib.redirect_stdout(listed):
            self.assertTrue(cli.list_cases(EVERY, options))
        self.assertIn("fp8_drawn (not in the default run, in 'gated')\n  e4m3 nt ", listed.getvalue())

    def test_ragged_shapes_have_no_least(self):
        records = [{"suite": "gemm_ragged_drawn", "name": str(ratio), "reported": False,
                    "ratios": {"cublaslt": {"burst": {"quoted": ratio}}}} for ratio in (0.5, 1.9)]
        row, = gates.evaluate(EVERY, records, ["burst"])
        self.assertTrue(row["passed"])
        self.assertNotIn("least", gates.text([row])[0])
        self.assertFalse(gates.evaluate(EVERY, records[:1], ["burst"])[0]["passed"])


class Cases(unittest.TestCase):
    def test_variants_share_what_is_drawn(self):
        cases = EVERY.cases("gemm_drawn")
        self.assertEqual([sum(c.variant["layout"] == how for c in cases) for how in ("nt", "nn")],
                         [50, 50])
        self.assertEqual(len({c.shape for c in cases}), 100)
        # Of models and of each range as many to both.
        nt = {c.shape for c in cases if c.variant["layout"] == "nt"}
        known = [s for text in EVERY.get("gemm_drawn")["tuned_on"]
                 for s in (shapes.parse(text) if ":" in text else [text])]
        for text in EVERY.get("gemm_drawn")["drawn"]:
            drawn = {c.shape for c in cases} & set(shapes.parse(text, known))
            self.assertEqual(2 * len(drawn & nt), len(drawn))
        one = EVERY.cases("gemm_drawn", variants=["bf16 nt"])
        self.assertEqual({c.shape for c in one}, {c.shape for c in cases})
        # Shapes that are given go to both, other seeds are shared; both count as its own do.
        self.assertEqual(len(EVERY.cases("gemm_drawn", ["64x64x64"])), 2)
        other = EVERY.cases("gemm_drawn", draw=["models:5:7:65-16384"])
        self.assertEqual([len(other), any(c.reported for c in other)], [7, False])
        self.assertTrue(EVERY.cases("gemm_drawn", ["64x64x64"])[0].reported)
        # What is drawn replaces all that a suite has.
        self.assertEqual({c.shape for c in EVERY.cases("gemm", draw=["models:5:7"])},
                         set(shapes.parse("models:5:7")))

    def test_what_was_tuned_on_is_not_gated_on(self):
        drawn = [name for name in EVERY.data if EVERY.get(name).get("drawn")]
        self.assertEqual(len(drawn), 8)
        for name in drawn:
            suite = EVERY.get(name)
            seed = lambda text: int(text.split(":")[1])
            old = [text for text in suite["tuned_on"] if ":" in text]
            self.assertFalse(set(map(seed, suite["drawn"])) & set(map(seed, old)))
            now = {"gemm_drawn": 14009, "gemm_ragged_drawn": 2028, "ag_gemm_drawn": 2027,
                   "gemm_rs_drawn": 4049, "gemm_ar_drawn": 4049}.get(name, 7129)
            self.assertEqual(set(map(seed, suite["drawn"])), {now})
            known = {shape for text in old for shape in shapes.parse(text)} | set(suite["tuned_on"])
            several = {"gpus": 2} if EVERY.several(name) else {}
            self.assertFalse(known & {c.shape for c in EVERY.cases(name, **several)}, name)
            # Nor what the tuning file has, or rates of the model come from.
            for case in EVERY.cases(name, **several):
                case = (case.variant["kernel"], *(case.dims[d] for d in "MNK"))
                self.assertFalse(case in measured(), case)
        # Which are there for who asks for them.
        old = suites.Suites(None, [101]).cases("gemm_few_drawn")
        self.assertEqual([c.shape for c in old], shapes.parse("models:101:64:1-64"))

    def test_sizes_are_those_of_their_row(self):
        sizes = lambda name: [c.dims for c in EVERY.cases(name)]
        self.assertTrue(all(v % 8 == 0 for d in sizes("gemm_drawn") for v in d.values()))
        self.assertTrue(all(any(v % 8 for v in d.values()) for d in sizes("gemm_ragged_drawn")))
        # One in 512 of those that have any sizes is not among them.
        self.assertTrue(all(any(v % 8 for v in shape) for seed in range(4)
                            for shape in shapes.draw_shapes("ragged", seed, 1000)))
        self.assertTrue(all(d["M"] > 64 for name in ("gemm_drawn", "gemm_ragged_drawn")
                            for d in sizes(name)))
        self.assertTrue(all(d["M"] <= 64 for d in sizes("gemm_few_drawn")))
        for name, multiple in (("fp8_drawn", 16), ("fp8_block_drawn", 128)):
            self.assertTrue(all(d[v] % multiple == 0 for d in sizes(name) for v in "NK"))
            few = sum(d["M"] <= 64 for d in sizes(name))
            self.assertTrue(0.2 < few / len(sizes(name)) < 0.8, name)

    def test_attention(self):
        cases = EVERY.cases("attention_grid")
        of = lambda key: {(c.variant["causal"], c.dims[key]) for c in cases}
        both = lambda values: {(causal, v) for causal in (False, True) for v in values}
        self.assertEqual(of("D"), both((64, 128, 256)))
        self.assertEqual(of("S"), both([2 ** i for i in range(9, 16)]))
        self.assertEqual(of("G"), both((1, 4, 8)))
        self.assertEqual(len(cases), 36)
        for case in cases:
            d = case.dims
            self.assertLessEqual(d["B"] * d["H"] * d["S"], 2 ** 18)
            kernel = kernel_dims(case.variant, d)
            self.assertEqual((kernel["HQ"], kernel["HKV"] * d["G"]), (d["H"], d["H"]))
        # Each head size has heads that are shared, and others.
        self.assertEqual({(c.dims["D"], c.dims["G"] > 1) for c in cases},
                         {(d, shared) for d in (64, 128, 256) for shared in (False, True)})

    def test_the_last_sizes_may_be_left_out(self):
        parse = lambda shape: suites.parse_shape("s", shape, ["B", "D", "G=1"])
        self.assertEqual(parse("2x64"), {"B": 2, "D": 64, "G": 1})
        self.assertEqual(parse("2x64x8"), {"B": 2, "D": 64, "G": 8})
        for bad in ("2", "2x64x8x1", "2x64x0", "2x64x"):
            with self.assertRaisesRegex(BenchError, r"not of the form BxD\[xG\]"):
                parse(bad)

    def test_groups(self):
        for kind in grouped.SIZES:
            for total, groups in ((1024, 8), (65536, 128), (7, 16), (5, 1)):
                sizes = grouped.group_sizes(kind, total, groups, 3)
                self.assertEqual((sum(sizes), len(sizes)), (total, groups))
                self.assertGreaterEqual(min(sizes), 0)
                self.assertEqual(sizes, grouped.group_sizes(kind, total, groups, 3))
        self.assertEqual(set(grouped.even(1026, 4, 1)), {256, 257})
        sizes = sorted(grouped.skewed(32768, 128, 1))
        self.assertEqual(sizes.count(0), 1)
        self.assertTrue(0.5 < sum(sizes[-13:]) / 32768 < 0.7)  # a tenth of the groups
        with self.assertRaisesRegex(BenchError, "groups of odd sizes: are not known"):
            grouped.group_sizes("odd", 1, 1, 1)
        cases = EVERY.cases("grouped_grid")
        self.assertEqual({c.variant["groups"] for c in cases}, {"even", "skewed"})
        self.assertEqual({min(c.dims[v] for c in cases) for v in "TG"}, {1024, 8})
        self.assertEqual({max(c.dims[v] for c in cases) for v in "TG"}, {65536, 256})


class Time(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.device = HostDevice(clock=self.clock, sleep=self.clock.sleep)

    def times(self, device=None, budget=1e9, **seconds):
        return measure.measure(device or self.device, [measure.Contestant(n, self.clock.work(n, s))
                                                       for n, s in seconds.items()],
                               measure.Plan.many(), Budget(budget, self.clock))

    def test_as_many_samples_in_fewer_rounds(self):
        times = self.times(mkernel=1e-3, cublaslt=2e-3)
        self.assertEqual({mode["count"] for who in times.values() for modes in who.values()
                          for mode in modes.values()}, {30})
        plan, usual = measure.Plan.many(), measure.Plan()
        self.assertEqual(plan.rounds * plan.samples, usual.rounds * usual.samples)
        self.assertEqual((plan.warm_ms, plan.idle_s), (usual.warm_ms, usual.idle_s))

    def test_calls_that_do_not_count_are_not_measured(self):
        modes = lambda times: {tuple(modes) for who in times.values() for modes in who.values()}
        times = self.times(mkernel=3e-5, cublaslt=1.9e-5)
        self.assertEqual(modes(times), {("graph",)})
        ratio = measure.ratios(times, "mkernel", "cublaslt", 0.02)["burst"]
        self.assertEqual((ratio["quoted_mode"], round(ratio["quoted"], 6)),
                         ("graph", round(1.9 / 3, 6)))
        # One of the rivals takes longer; there is none; graphs cannot be had.
        both = {("graph", "call")}
        self.assertEqual(modes(self.times(mkernel=1e-5, cublaslt=1e-5, torch=2.1e-5)), both)
        self.assertEqual(modes(self.times(mkernel=1e-5)), both)

        def refuse(call, count):
            raise RuntimeError("no capture")
        self.device.capture = refuse
        self.assertEqual(modes(self.times(mkernel=1e-5, cublaslt=1e-5)), {("call",)})

    def test_a_budget_is_for_both_modes(self):
        times = self.times(budget=1.0, mkernel=1e-3, cublaslt=1e-3)
        counts = {m: times["mkernel"]["burst"][m]["count"] for m in measure.MODES}
        self.assertEqual(set(counts), {"call", "graph"})
        self.assertLess(counts["graph"], 30)

    def test_slack_goes_to_who_needs_it(self):
        clock = Clock()
        budget = Budget(100, clock)
        self.assertEqual(budget.share(10).seconds, 10)
        self.assertEqual(budget.share(10, each=2).seconds, 82)
        self.assertEqual(budget.share(10, each=20).seconds, 10)
        self.assertEqual(budget.share(1, each=20).seconds, 100)
        clock.now = 200
        self.assertEqual(budget.share(10, each=2).seconds, 0)

    def test_too_few_samples_are_told(self):
        record = lambda name, count: {"suite": "gemm", "name": name, "contestants": [
            {"times": {"burst": {"graph": {"count": count}}}}]}
        self.assertEqual(report.too_few_samples([record("a", 30)]), [])
        line, = report.too_few_samples([record(n, 10) for n in "abcd"] + [record("e", 30)])
        self.assertRegex(line, "^4 cases have fewer than 30 samples.*gemm a, gemm b, gemm c, ...$")

    def session(self, places=None):
        return session.Session(places, self.device, None, EVERY, cli.parse(["--suite", "gated"]),
                               Budget(1e9, self.clock), types.SimpleNamespace(jobs=2))

    def test_the_compiler_is_asked_before_the_gpu_is_used(self):
        run, asked = self.session(), []
        self.assertEqual(run.plan.rounds, 2)
        requests = [types.SimpleNamespace(problem=p, interface=None, name=n)
                    for n, p in (("a", None), ("b", "refused"), ("c", None))]

        def interface(places, request, candidates):
            asked.append(request.name)
            if request.name == "c":
                raise BenchError("no answer")
            return {"kernel": request.name}
        old, session.interface = session.interface, interface
        try:
            run.describe(requests)
        finally:
            session.interface = old
        self.assertEqual(sorted(asked), ["a", "c"])
        self.assertEqual([r.interface for r in requests], [{"kernel": "a"}, None, None])

    def test_the_state_of_the_gpu_is_asked_for_now_and_then(self):
        run, records = self.session(), [{}, {}]
        old, session.manifest.gpu_state = session.manifest.gpu_state, lambda: {"name": "H200"}
        try:
            for record in records:
                run.note_state(record)
            run.state_at -= session.STATE_EVERY_S
            run.note_state(records[1])
        finally:
            session.manifest.gpu_state = old
        self.assertEqual(records, [{"gpu": {"name": "H200"}}] * 2)
        run.note_state(third := {})
        self.assertEqual(third, {})


class Rivals(unittest.TestCase):
    def test_the_best_of_cublaslts_heuristics(self):
        clock, lt = Clock(), types.SimpleNamespace(version=1)
        lt.device = HostDevice(clock=clock, sleep=clock.sleep)
        for seconds, copies, count in ((1e-4, 1, 4), (5e-4, 1, 2), (1e-2, 1, 1), (1e-4, 9, 9)):
            clock.log.clear()
            calls = [clock.work(name, factor * seconds)
                     for name, factor in (("a", 1.2), ("b", 1.0), ("c", 2.0))]
            call, config = cublaslt.CublasLt.fastest(lt, calls, copies)
            self.assertEqual((call, config["heuristic"], config["of"]), (calls[1], 1, 3))
            # A call alone and two that say how many make a graph; goes of three replays, and a fourth
            # in a burst where calls are long.
            each = 4 if seconds > 4e-4 else 3
            self.assertEqual([clock.log.count(n) for n in "abc"],
                             [3 + 3 * each * count, 3 + 3 * each * count, 3 + each * count])

    def test_cudnn_gets_shared_heads_as_they_are(self):
        device, seen = HostDevice(), []

        def direct(q, k, v, bias, lse, dropout, causal):
            seen.append((q.shape, k.shape, v.shape, causal))
            return ("o",)
        device.torch = types.SimpleNamespace(ops=types.SimpleNamespace(aten=types.SimpleNamespace(
            _scaled_dot_product_cudnn_attention=direct)))
        dims = {"B": 1, "H": 8, "S": 2, "D": 4, "G": 4}
        problem = Attention(device, {"causal": True}, dims, 1)
        contestant = problem.rival("cudnn")
        contestant.call()
        self.assertEqual(seen, [((1, 8, 2, 4), (1, 2, 2, 4), (1, 2, 2, 4), True)])
        self.assertEqual((contestant.result, problem.k.shape), ("o", (1, 2, 2, 4)))
        self.assertEqual(problem.bytes, 2 * 2 * 4 * (2 * 8 + 2 * 2))
        with self.assertRaisesRegex(BenchError, "8 heads of queries: do not share"):
            Attention(device, {"causal": True}, {**dims, "G": 3}, 1)

    def test_torch_gets_whole_fours_of_rows_and_weights_in_turn(self):
        for m, rows in ((1, 4), (4, 4), (6, 8)):
            torch, seen = Torch(), []
            torch.nn.functional.scaled_mm = lambda a, b, sa, *rest, output_dtype: (
                seen.append((a, b, sa)), Rows([[0]] * a.shape[0]))[1]
            problem = blocks.GemmBlocks.__new__(blocks.GemmBlocks)
            problem.device = types.SimpleNamespace(torch=torch)
            problem.m, problem.c = m, Rows([[0]])
            problem.a, problem.sa = Rows([[1, 2]] * m), Rows([[3] * m])
            problem.weights, problem.sb = [Rows([[7]]), Rows([[8]])], Rows([[5]])
            contestant = problem.rival("torch")
            self.assertEqual(contestant.turns, 2)
            for _ in range(2):
                contestant.call()
                self.assertEqual(contestant.result.shape, (m, 1))
            (a, b, sa), (_, other, _) = seen
            self.assertEqual(a.rows, [[1, 2]] * m + [[0, 0]] * (rows - m))
            self.assertEqual(sa.rows, [[3]] * m + [[0]] * (rows - m))
            self.assertEqual([b.rows, other.rows], [[[7]], [[8]]])


class Rows:
    """As much of a matrix of torch as a rival is made of."""
    dtype = device = None

    def __init__(self, rows):
        self.rows = [list(row) for row in rows]

    shape = property(lambda self: (len(self.rows), len(self.rows[0])))
    float = to = lambda self, *_: self

    def t(self):
        return Rows(zip(*self.rows))

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Rows(self.rows[key])
        return Rows([row[key[1]] for row in self.rows[key[0]]])

    def __setitem__(self, key, value):
        first, second = key if isinstance(key, tuple) else (key, slice(None))
        for i, row in zip(range(len(self.rows))[first], value.rows):
            self.rows[i][second] = row


class Torch:
    __version__, float32 = "0", None

    def __init__(self):
        kinds = types.SimpleNamespace(BlockWise1x128=1, BlockWise128x128=2)
        self.nn = types.SimpleNamespace(functional=types.SimpleNamespace(ScalingType=kinds))

    def zeros(self, shape, dtype=None, device=None):
        return Rows([[0] * shape[1]] * shape[0])


if __name__ == "__main__":
    unittest.main()
