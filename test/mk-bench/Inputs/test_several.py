"""What mk-bench adds for several ranks, without a GPU and without a compiler:
agreement among ranks, times of all of them, ranks that are lost, routing.

usage: test_several.py FOLDER-OF-MK-BENCH
"""
import itertools
import sys
import threading
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))

from clocks import Clock  # noqa: E402
from threads import on_ranks  # noqa: E402
from mkbench import (ceilings, cli, gates, job, kernels, measure,  # noqa
                     network, report, session, suites)
from mkbench.budget import Budget  # noqa: E402
from mkbench.device_host import HostDevice  # noqa: E402
from mkbench.errors import BenchError, Lost  # noqa: E402
from mkbench.group import Alone  # noqa: E402
from mkbench.ranks_attention import RanksAttention, places  # noqa: E402
from mkbench.ranks_gemm import RanksGemm  # noqa: E402
from mkbench.ranks_norm import RanksGemmNorm  # noqa: E402
from mkbench.ranks_moe import RanksMoe, Routing  # noqa: E402


class Agreement(unittest.TestCase):
    def test_all_get_the_same(self):
        results = on_ranks(3, lambda g: (
            g.gather("name", g.rank), g.largest("time", 1.0 / (g.rank + 1)),
            g.clock()))
        self.assertEqual(results[0][:2], ([0, 1, 2], 1.0))
        self.assertEqual(results, [results[0]] * 3)

    def test_a_problem_is_everyones(self):
        problem = lambda g: g.problem("x", "no memory" if g.rank == 1 else None)
        self.assertEqual(on_ranks(2, problem), ["rank 1: no memory"] * 2)
        self.assertEqual(on_ranks(2, lambda g: g.problem("x", "bad shape")),
                         ["bad shape"] * 2)
        self.assertEqual(on_ranks(2, lambda g: g.problem("x", None)), [None] * 2)
        self.assertEqual(Alone().problem("x", "bad shape"), "bad shape")

    def test_ranks_that_go_apart_are_lost(self):
        for result in on_ranks(3, lambda g: g.gather(f"round {g.rank // 2}", 0)):
            self.assertIsInstance(result, Lost)
            self.assertIn("rank 0 is at 'round 0', rank 2 at 'round 1'",
                          str(result))

    def test_a_rank_that_goes_or_is_silent_is_missed(self):
        def leaves(group):
            if group.rank == 0:
                return group.gather("x", 0)
            return None
        self.assertIn("rank 1: has gone", str(on_ranks(2, leaves)[0]))
        done = threading.Event()

        def sleeps(group):
            if group.rank:
                done.wait(60)
                return None
            group.limit = 0.2
            try:
                return group.gather("x", 0)
            finally:
                done.set()
        self.assertIn("said nothing for 0 s", str(on_ranks(2, sleeps)[0]))


class Measuring(unittest.TestCase):
    def run_ranks(self, refuse=None):
        def work(group):
            clock = Clock()
            device = HostDevice(clock=clock, sleep=clock.sleep, group=group)
            if refuse == group.rank:
                def capture(call, count):
                    raise RuntimeError("no capture")
                device.capture = capture
            # Who is slower differs from one contestant to the other.
            speeds = ({"a": 1e-3, "b": 3e-3}, {"a": 2e-3, "b": 1e-3})[group.rank]
            contestants = [measure.Contestant(n, clock.work(n, s))
                           for n, s in speeds.items()]
            times = measure.measure(device, contestants, measure.Plan(
                warm_ms=8, sample_ms=6), Budget(1e9, group.clock))
            return times, clock.log, [c.modes for c in contestants]
        results = on_ranks(2, work)
        for result in results:
            if isinstance(result, Exception):
                raise result
        return results

    def test_a_sample_is_the_largest_and_all_call_alike(self):
        (times, log, _), (others, other_log, _) = self.run_ranks()
        self.assertEqual((times, log), (others, other_log))
        for condition, mode in itertools.product(measure.CONDITIONS,
                                                 measure.MODES):
            self.assertAlmostEqual(times["a"][condition][mode]["median"], 2)
            self.assertAlmostEqual(times["b"][condition][mode]["median"], 3)
        self.assertEqual(times["a"]["burst"]["call"]["calls"], 3)

    def test_what_one_rank_cannot_capture_nobody_replays(self):
        for times, _, modes in self.run_ranks(refuse=1):
            self.assertEqual(list(times["a"]["burst"]), ["call"])
            self.assertEqual(modes[0], {"graph": "rank 1: no capture"})


class Bounds(unittest.TestCase):
    def test_the_link_counts(self):
        problem = types.SimpleNamespace(rate="bf16", flops=2e12, bytes=1e9,
                                        link_bytes=1e9)
        known = {"bf16": {"burst": 1e15}, "copy": 4e12}
        self.assertAlmostEqual(ceilings.bound_ms(problem, known, "burst"), 2.0)
        self.assertAlmostEqual(
            ceilings.bound_ms(problem, known, "burst", 4e11), 2.5)
        self.assertIsNone(ceilings.bound_ms(problem, {}, "burst", 4e11))


def times(**contestants):
    """{name: (ms by calls, ms by graph)}, or calls alone, as measure() returns them."""
    modes = lambda ms: dict(zip(measure.MODES, ({"median": m} for m in ms)))
    return {name: {"burst": modes(ms)} for name, ms in contestants.items()}


class Networks(unittest.TestCase):
    def test_rates_are_decimal(self):
        self.assertEqual(network.parse_rate("50GB/s"), 50e9)
        self.assertEqual(network.parse_rate("1.5MB/s"), 1.5e6)
        for bad in ("50", "50GB", "0GB/s", "fastGB/s", "50GiB/s"):
            with self.assertRaisesRegex(BenchError, f"--rate {bad}: is no rate"):
                network.parse_rate(bad)
        self.assertEqual(network.transport_options(50e9, "staged"),
                         "rate=50000000000,path=staged")

    def figures(self, net_bytes=4e6, **contestants):
        return network.figures(times(**contestants), ["burst", "steady"], net_bytes, 1e9)

    def test_computation_is_the_bound_and_hides_the_transfer(self):
        # 4 ms of transfer; the faster of both alone, by its slower mode.
        found = self.figures(mkernel=(6.0, 6.25), alone=(4.5, 5.0), cublas=(5.5, 5.2))
        self.assertEqual(found["transfer_ms"], 4)
        row = found["burst"]
        self.assertEqual((row["ms"], row["compute_ms"], row["compute_by"]),
                         (6.25, 5.0, "alone"))
        self.assertEqual((row["bound_ms"], row["roofline"]), (5.0, 0.8))
        self.assertEqual((row["exposed_ms"], row["hidden"]), (1.25, 1 - 1.25 / 4))
        self.assertNotIn("steady", found)

    def test_the_network_is_the_bound(self):
        row = self.figures(mkernel=(5.0,), cudnn=(1.0,))["burst"]
        self.assertEqual((row["bound_ms"], row["roofline"]), (4.0, 0.8))
        # It has nothing to hide more than a quarter of the transfer.
        self.assertEqual(row["hidden"], 0)
        self.assertEqual(self.figures(mkernel=(4.0,), cudnn=(1.0,))["burst"]["hidden"], 0.25)
        self.assertEqual(self.figures(mkernel=(0.9,), alone=(1.0,))["burst"]["hidden"], 1)

    def test_what_was_not_measured_has_no_figures(self):
        self.assertNotIn("burst", self.figures(mkernel=(5.0,)))
        self.assertNotIn("burst", self.figures(alone=(5.0,)))

    def record(self, name, reported=False, **contestants):
        return {"suite": "net_ag_gemm", "name": name, "reported": reported,
                "network": self.figures(**contestants) if contestants else None}

    def test_gates_and_table(self):
        every = suites.Suites()
        good = self.record("a", mkernel=(5.0,), alone=(4.6,))
        bad = self.record("b", mkernel=(5.0,), alone=(4.4,))
        rows = lambda *records: gates.evaluate(every, records, ["burst"])
        self.assertTrue(rows(good, {**bad, "reported": True})[0]["passed"])
        failed = rows(good, bad)
        self.assertEqual((failed[0]["passed"], failed[0]["least"]), (False, "b"))
        self.assertIn("least 0.880 (b)", gates.text(failed)[0])
        missing = rows(good, self.record("c"))
        self.assertFalse(missing[0]["passed"])
        self.assertIn("not measured: c", gates.text(missing)[0])
        self.assertIn("92.0 %", report.network_table([good])[2])
        self.assertEqual(report.network_table([self.record("c")]), [])


class Links(unittest.TestCase):
    """The same figures over links between GPUs, by the library alone."""

    def test_hidden_share_and_table(self):
        # 1 ms of transfer; a launch takes .25 ms longer than the library alone.
        found = network.figures(times(mkernel=(2.0, 2.25), cublas=(1.9, 2.0), nccl=(3.0, 3.0)),
                                ["burst", "steady"], 370e6, 370e9)
        row = found["burst"]
        self.assertEqual((row["compute_by"], row["compute_ms"]), ("cublas", 2.0))
        self.assertAlmostEqual(row["hidden"], 0.75)
        line = report.links_table([{"suite": "ag_gemm", "name": "a", "links": found}])[2].split()
        self.assertEqual(line, "ag_gemm a burst 2.2500 2.0000 cublas 1.0000 0.2500 75.0 %".split())
        self.assertEqual(report.network_table([{"suite": "ag_gemm", "name": "a", "links": found}]), [])
        self.assertEqual(report.links_table([{"suite": "gemm", "name": "a"}]), [])

    def test_a_case_of_several_gpus_has_them(self):
        every = suites.Suites()
        places = types.SimpleNamespace(prefix="/p", example=lambda name: name)
        run = session.Session(places, HostDevice(group=One(0, 2)), None, every,
                              cli.parse(["--target", "host"]), Budget(1e9),
                              types.SimpleNamespace(jobs=1))
        run.contestants = lambda *arguments: [
            measure.Contestant(name, lambda: None) for name in ("mkernel", "cublas")]
        run.agreed, run.check = lambda what, make: (make(), None), lambda *arguments: None
        run.times = lambda *arguments: times(mkernel=(2.0,), cublas=(1.0,))
        run.device.group.gather = lambda what, value: [value] * 2
        case = every.cases("ag_gemm", ["4x4x4"], gpus=2)[0]
        record = run.record(case)
        run.run_case(case, None, record, Budget(1e9))
        self.assertEqual(record["links"]["net_bytes"], 16)
        self.assertEqual(record["links"]["burst"]["hidden"], 0)


class One(Alone):
    """One of several ranks, for what needs no agreement."""

    def __init__(self, rank, world):
        self.rank, self.world = rank, world


class Problems(unittest.TestCase):
    def problem(self, kind, variant, dims, rank, world=2):
        return kind(HostDevice(group=One(rank, world)), variant, dims, 1)

    def test_parts_of_ranks_make_the_whole(self):
        dims = {"M": 4, "N": 6, "K": 8}
        whole = self.problem(RanksGemm, {"collective": "ar"}, dims, 0, 1)
        c = whole.compute_reference()["c"].values()
        for kind in ("ag", "rs", "ar"):
            parts = [self.problem(RanksGemm, {"collective": kind}, dims, rank)
                     for rank in range(2)]
            values = [p.compute_reference()["c"].values() for p in parts]
            if kind == "ar":
                self.assertEqual(values, [c, c])
            elif kind == "rs":
                self.assertEqual(values[0] + values[1], c)
            else:
                columns = [v[row * 3:row * 3 + 3] for row in range(4)
                           for v in values]
                self.assertEqual(sum(columns, []), c)
            self.assertEqual(parts[0].flops, 2 * 4 * 6 * 8 / 2)
        # What crosses the network between two nodes of one rank, or of two.
        for kind, one, two in (("ag", 32, 16), ("rs", 32, 16), ("ar", 64, 32)):
            of = lambda world: self.problem(RanksGemm, {"collective": kind},
                                            {**dims, "N": 8}, 0, world).net_bytes(2)
            self.assertEqual((of(2), of(4)), (one, two))
        # Half of A; half of the sums; both ways.
        self.assertEqual([self.problem(
            RanksGemm, {"collective": kind}, dims, 0).link_bytes
            for kind in ("ag", "rs", "ar")], [32, 24, 48])

    def test_norms_are_of_whole_rows(self):
        dims = {"M": 3, "N": 4, "K": 8}
        each = [self.problem(RanksGemmNorm, {"collective": "ar"}, dims, rank)
                for rank in range(2)]
        known = each[0].compute_reference()
        values = {name: known[name].values() for name in ("c", "y", "out")}
        for name, wanted in values.items():
            self.assertEqual(each[1].compute_reference()[name].values(), wanted)
        residual, weights = each[0].r.values(), each[0].w.values()
        for at in range(0, 12, 4):
            row = slice(at, at + 4)
            for y, c, r in zip(values["y"][row], values["c"][row], residual[row]):
                self.assertAlmostEqual(y, c + r)
            squares = [(o / w) ** 2 for o, w in zip(values["out"][row], weights)]
            self.assertAlmostEqual(sum(squares) / 4, 1, places=4)  # eps
        # A, B, the residual of the own half, both results.
        self.assertEqual(each[0].bytes, 2 * (3 * 4 + 4 * 4 + 6 + 24))
        self.assertEqual(each[0].link_bytes, 2 * 12)

    def test_uneven_parts_are_refused(self):
        with self.assertRaisesRegex(BenchError, "M = 5: 2 ranks do not share"):
            self.problem(RanksGemm, {"collective": "ag"},
                         {"M": 5, "N": 6, "K": 8}, 0)

    def test_an_exchange_brings_every_row_and_sends_it_home(self):
        routing = Routing(tokens=12, experts=8, choices=3, world=2, seed=4)
        how = [routing.exchange(rank) for rank in range(2)]
        send = [[rank * 6 + token for token in how[rank]["tokens"]]
                for rank in range(2)]
        for rank in range(2):
            arrived = []
            for source in range(2):
                begin = sum(how[source]["to"][:rank])
                arrived += send[source][begin:begin + how[source]["to"][rank]]
            self.assertEqual(len(arrived), sum(how[rank]["from"]))
            self.assertEqual([arrived[i] for i in how[rank]["rows"]],
                             [token for _, token in routing.rows(rank)])
            # Behind the way back, each token's choices.
            self.assertEqual([send[rank][place] for place in how[rank]["home"]],
                             [rank * 6 + t for t in range(6) for _ in range(3)])

    def test_tokens_cross_the_link_once(self):
        moe = self.problem(RanksMoe, {"layer": False}, {
            "T": 4, "H": 10, "I": 2, "E": 4, "K": 2}, 0)
        moe.routing.tokens_of = [[0, 2], [0, 1, 2, 3], [0, 1, 2], []]
        # To rank 1 go tokens 0 and 1; from there come 2 and 3.
        self.assertEqual(moe.link_bytes, 2 * 10 * 2)

    def test_alone_is_as_much_as_a_rank_has_to_do(self):
        dims = {"B": 1, "H": 4, "S": 8, "D": 16}
        for causal in (False, True):
            ring = self.problem(RanksAttention, {
                "ring": True, "causal": causal, "alone": {}}, dims, 1)
            arguments, outputs = ring.alone()
            self.assertEqual(arguments["q"].shape, (1, 2, 8, 16))
            # Rows, keys and heads: 4 * 4 * 8 for a rank's part.
            self.assertEqual(ring.flops * (2 if causal else 1), 4 * 2 * 8 * 8 * 16)
            reference = ring.compute_reference()
            self.assertEqual({n: reference[n].shape for n in outputs},
                             {n: t.shape for n, t in outputs.items()})
            self.assertEqual(ring.net_bytes(2), 2 * 4 * 16 * 2 * 4)
        with self.assertRaisesRegex(BenchError, "3 heads have no 2 equal parts"):
            self.problem(RanksAttention, {"ring": True, "causal": False, "alone": {}},
                         {**dims, "H": 3}, 0).alone()
        gemm = {"M": 4, "N": 6, "K": 8}
        for kind in ("ag", "rs"):
            p = self.problem(RanksGemm, {"collective": kind}, gemm, 0)
            arguments, outputs = p.alone()
            self.assertEqual(outputs["part"].shape, p.compute_reference()["part"].shape)
            self.assertEqual((*arguments["a"].shape, arguments["b"].shape[0]),
                             {"ag": (4, 8, 3), "rs": (4, 4, 6)}[kind])

    def test_zigzag(self):
        self.assertEqual([places(12, rank, 3, True) for rank in range(3)],
                         [[(0, 2), (10, 12)], [(2, 4), (8, 10)],
                          [(4, 6), (6, 8)]])
        self.assertEqual(places(12, 1, 3, False), [(4, 8)])


RANK = """
import json, os, sys, time
job, rank = json.load(sys.stdin), int(os.environ["RANK"])
channel = os.fdopen(job["channels"][rank], "w")
tell = lambda **message: print(json.dumps(message), file=channel, flush=True)
assert os.environ["NCCL_NVLS_ENABLE"] == "0" and os.environ["WORLD_SIZE"] == "2"
tell(ceilings={"copy": 1.0})
for case in job["cases"]:
    name = case["variant"]["name"] + " " + case["shape"]
    if rank == 0:
        tell(begin=[case["suite"], name])
    if case["shape"] == "2x2x2":  # one rank says why, the other one hangs
        if rank == 1:
            tell(lost="its GPU is lost")
            sys.exit(1)
        time.sleep(60)
    gone = job["address"] + ".gone"
    if case["shape"] == "3x3x3" and rank == 1:
        open(gone, "w").close()
        os._exit(7)
    if case["shape"] == "3x3x3":
        while not os.path.exists(gone):
            time.sleep(0.01)
        tell(lost="rank 1: has gone")
        sys.exit(1)
    if rank == 0:
        tell(record={"suite": case["suite"], "name": name, "problem": None,
                     "contestants": [], "ratios": {}})
tell(environment={"python": "9"})
"""


class Jobs(unittest.TestCase):
    def run_job(self, shapes, budget=1e9):
        every = suites.Suites()
        places = types.SimpleNamespace(prefix="/p", example=lambda name: name)
        options = cli.parse(["--target", "host"])
        pool = types.SimpleNamespace(jobs=1, run=lambda requests, budget: None)
        run = job.Job(places, every, options, Budget(budget), 2, pool,
                      [sys.executable, "-c", RANK])
        run.say = lambda text: None
        self.kept = []
        run.keep = lambda session: self.kept.append(len(session.records))
        run.run(every.cases("ag_gemm", shapes, gpus=2))
        return run, {r["name"][5:]: r["problem"] for r in run.records}

    def test_ranks_are_started_again_behind_a_case_on_which_they_fail(self):
        job.GRACE_S = 2.0
        run, problems = self.run_job(["1x1x1", "2x2x2", "3x3x3", "4x4x4"])
        self.assertEqual(problems, {
            "1x1x1": None, "2x2x2": "rank 1: its GPU is lost",
            "3x3x3": "rank 1: ended with status 7", "4x4x4": None})
        self.assertEqual((run.ceilings, run.of_ranks["python"]),
                         ({"copy": 1.0}, "9"))

    def test_what_is_there_is_kept_from_time_to_time(self):
        session.KEEP_S, usual = 0.0, session.KEEP_S
        try:
            self.run_job(["1x1x1", "4x4x4"])
        finally:
            session.KEEP_S = usual
        self.assertEqual(self.kept, [1, 2])
        self.run_job(["1x1x1", "4x4x4"])
        self.assertEqual(self.kept, [])

    def test_no_more_starts_than_time_and_patience(self):
        job.GRACE_S, starts = 2.0, job.ATTEMPTS
        _, problems = self.run_job(["3x3x3"], budget=5)
        self.assertIn("time budget", problems["3x3x3"])
        job.ATTEMPTS = 1
        try:
            _, problems = self.run_job(["3x3x3", "4x4x4"])
        finally:
            job.ATTEMPTS = starts
        self.assertEqual(problems["4x4x4"],
                         "not measured: ranks were lost 1 times")

    def test_what_fails_before_any_case_is_not_tried_again(self):
        global RANK
        good, RANK = RANK, "import sys; sys.exit(3)"
        try:
            _, problems = self.run_job(["1x1x1", "4x4x4"])
        finally:
            RANK = good
        self.assertEqual(len(problems), 2)
        for problem in problems.values():
            self.assertRegex(problem, "^rank [01]: ended with status 3$")


class Failures(unittest.TestCase):
    """What happens to the cases of a session in which something fails."""

    def run_cases(self, world, failure):
        class Failing(session.Session):
            def run_case(self, case, request, record, budget):
                raise failure
        device = HostDevice(group=One(0, world))
        run = Failing(types.SimpleNamespace(prefix="/p"), device, None,
                      suites.Suites(), cli.parse(["--target", "host"]),
                      Budget(1e9), types.SimpleNamespace(jobs=1))
        run.say = lambda text: None
        cases = run.suites.cases("ag_gemm", ["1x1x1", "2x2x2"], gpus=world)
        run.measure(cases, {(c.suite, c.name): None for c in cases})
        return [r["problem"] for r in run.records]

    def test_what_ranks_agree_about_is_one_cases_problem(self):
        for world in (1, 2):
            self.assertEqual(self.run_cases(world, BenchError("bad shape")),
                             ["bad shape"] * 2)

    def test_what_one_rank_meets_alone_ends_them_all(self):
        for failure in (Lost("gone"), RuntimeError("CUDA error")):
            self.assertEqual(self.run_cases(1, failure), [str(failure)] * 2)
            with self.assertRaises(type(failure)):
                self.run_cases(2, failure)

    def test_a_kernels_own_report_is_the_reason(self):
        def fails():
            raise RuntimeError("CUDA error: unspecified launch failure")

        def reports():
            raise BenchError("role 'gemm' waited 10 s")
        device = HostDevice()
        run = session.Session(types.SimpleNamespace(prefix="/p"), device, None,
                              None, cli.parse(["--target", "host"]),
                              Budget(1e9), types.SimpleNamespace(jobs=1))
        ours, rival = (measure.Contestant(n, fails) for n in ("mkernel", "nccl"))
        with self.assertRaisesRegex(Lost, "^CUDA error"):
            run.times([rival], Budget(1e9))
        ours.wait = reports
        with self.assertRaisesRegex(Lost, "^mkernel: role 'gemm' waited 10 s"):
            run.times([ours, rival], Budget(1e9))


class Suites(unittest.TestCase):
    every = suites.Suites()

    def test_by_ranks(self):
        every = suites.Suites()
        shapes = lambda ranks: [c.shape for c in every.cases("ag_gemm", gpus=ranks)]
        self.assertEqual(shapes(2)[-1], "16384x16384x16384")
        self.assertEqual(shapes(4)[-1], "32768x32768x32768")
        self.assertEqual(shapes(8), shapes(4))
        # Of numbers that nothing is said of the suite's own count.
        self.assertEqual(shapes(3)[-1], "16384x16384x16384")
        asked = lambda **record: [row["each"] for row in gates.evaluate(every, [
            {"reported": False, "name": "a", "ratios": {"nccl": {"burst": {"quoted": 2.0}}}, **record}], ["burst"])]
        self.assertEqual([asked(suite="ag_gemm", shape="4096x4096x4096", dims={"P": ranks}) for ranks in (2, 4)],
                         [[1.6], [1.2]])
        # Eight are reported, whatever two have to reach.
        for name in filter(every.several, every.data):
            self.assertEqual(every.get(name, 8).get("gates", []), [], name)
        self.assertEqual(gates.text(gates.evaluate(every, [], ["burst"])),
                         ["nothing of what was run has a gate"])
        self.assertEqual(asked(suite="moe", shape="8192x7168x2048x256x8", variant="dispatch", dims={"P": 2}),
                         [1.6])

    def test_gates_on_several_suites_together(self):
        every = suites.Suites()
        whole, ag = every.across

        def rows(names, ranks=2, **ratios):
            return [row for row in gates.evaluate(every, [
                {"suite": name, "name": "bf16 16x1x1", "variant": "bf16", "shape": "16x1x1",
                 "reported": False, "dims": {"P": ranks}, "ratios": {
                     rival: {"burst": {"quoted": ratios.get(name, 1.1) + more}}
                     for rival, more in (("nccl", 0.0), ("torch", 0.5), ("torch-one-shot", 0.5))}}
                for name in names], ["burst"]) if row["suite"] in (whole["name"], ag["name"])]
        found = rows(whole["suites"])
        self.assertEqual([(r["passed"], r["geomean"], len(r["ratios"])) for r in found],
                         [(True, 1.1, 6), (True, 1.03, 2)])
        # The mean counts, not each.
        found = rows(whole["suites"], ag_gemm_few=1.05, gemm_rs_few=1.3)
        self.assertEqual([r["passed"] for r in found], [True, True])
        found = rows(whole["suites"], ag_gemm_few=1.0, ag_gemm_tokens=1.04)
        self.assertEqual([r["passed"] for r in found], [False, False])
        self.assertIn("geometric mean 1.020, asked 1.03", gates.text(found)[1])
        # Not of some of the suites, and not of other numbers of ranks.
        self.assertEqual([r["suite"] for r in rows(ag["suites"])], [ag["name"]])
        self.assertEqual(rows(["ag_gemm_few"]), [])
        self.assertEqual(rows(whole["suites"], ranks=4), [])

    def test_ranks_are_a_dimension(self):
        several = self.every.names(several=True)
        self.assertIn("ag_gemm", several)
        self.assertFalse(set(several) & set(self.every.names()))
        case = self.every.cases("moe", gpus=4)[0]
        self.assertEqual(case.dims["P"], 4)
        self.assertEqual(
            kernels.Request("f", "k", gpus=4).options["gpus"], 4)
        self.assertNotIn("P", self.every.cases("gemm")[0].dims)

    def test_nodes(self):
        networked = self.every.names(networked=True)
        self.assertIn("net_gemm_rs", networked)
        self.assertFalse(set(networked) & {*self.every.names(),
                                           *self.every.names(several=True)})
        case = self.every.cases("net_gemm_rs", gpus=4, nodes=2)[0]
        self.assertEqual((case.nodes, case.dims["P"]), (2, 4))
        self.assertEqual(self.every.cases("ag_gemm", gpus=2)[0].nodes, 1)
        with self.assertRaisesRegex(BenchError, "--nodes 1: .* for 2 nodes or more"):
            self.every.cases("net_gemm_rs", gpus=2)

    def test_what_is_compiled_for_nodes(self):
        places = types.SimpleNamespace(prefix="/p", example=lambda name: name)
        run = session.Session(places, HostDevice(), None, self.every,
                              cli.parse(["--target", "host", "--set", "TM=8"]),
                              Budget(1e9), types.SimpleNamespace(jobs=1))
        case = self.every.cases("net_ring_attention", ["4x16x24576x128"],
                                gpus=4, nodes=2)[0]
        ours, alone = run.request(case), run.request_alone(case)
        self.assertEqual((ours.options["nodes"], ours.options["gpus"], ours.alone),
                         (2, 2, False))
        self.assertEqual((alone.options["nodes"], alone.options["gpus"], alone.alone),
                         (1, 1, True))
        self.assertEqual((ours.options["set"], alone.options["set"]), ({"TM": 8}, {}))
        self.assertEqual(alone.options["bind"],
                         {"B": 1, "HQ": 16, "HKV": 16, "S": 24576, "D": 128})
        self.assertIsNone(run.request_alone(self.every.cases("ag_gemm", gpus=2)[0]))


if __name__ == "__main__":
    unittest.main()
