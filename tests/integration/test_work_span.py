"""hpcrun --work-span: exact work and span, against the ledger that the program's own strands keep."""
import re

import profiling
from logical_case import LogicalTest, walk
from test_incomplete import SPANS, read_ledger

SERIAL = "<serial code, between computations>"
SHORT = SPANS.parent / "short-strands"
PROCEDURES = {"phases": {"phases", "row", "crowd", "strand"}, "chain": {"chain", "row", "crowd", "strand"},
              "tree": {"tree"}}


class WorkSpan(LogicalTest):
    # The program's ledger has no time between two strands: starting a worker, printing, the runtime, and what it
    # costs to lose the CPU at the last reading of a strand's clock (0.3 to 0.7 % of the work in 18 looks with ten
    # busy processes on each CPU, 2026-11-23). On a machine that halts us, such a moment may last milliseconds; in
    # each look this is so with a probability far below 1/10. So six looks that all differ from the ledger have a
    # probability below 1e-6. Later looks have longer strands: where all calls of the kernel are slow, losing the CPU
    # took 1.05 % of strands of 5 ms (2026-11-25).
    LOOKS = (5, 5, 10, 10, 20, 20)  # milliseconds of a strand
    TOLERANCE = 0.01

    def run_spans(self, workers, shape, milliseconds=5, more=()):
        done, self.images = self.profile(SPANS, workers, shape, milliseconds, *more, options=("--work-span",))
        span, pieces = read_ledger(done.stdout)
        return sum(piece.cpu for piece in pieces), span, pieces

    def value_of(self, metric, name):
        return self.value(metric, name) if name != "" else self.tree["metrics"][metric]["inclusive"]

    def computation(self, metric):
        """Without the serial code before and behind it."""
        return self.value_of(metric, "") - self.value_of(metric, SERIAL)

    def exclusive(self, metric, name):
        return sum(path[-1]["metrics"][metric]["exclusive"] or 0 for path in walk(self.tree)
                   if path[-1]["kind"] == "procedure" and path[-1]["name"] == name)

    def look(self, workers, shape, milliseconds, more=()):
        """The largest difference from the ledger, as a share of the work."""
        work, span, pieces = self.run_spans(workers, shape, milliseconds, more)
        pairs = [(work, self.computation("exact work")), (span, self.computation("span"))]
        if shape != "tree":
            in_a_row = sum(piece.cpu for piece in pieces if piece.procedure == "first")
            pairs += [(in_a_row, self.exclusive("exact work", "row")),
                      (in_a_row, self.exclusive("span", "row")),
                      (work - in_a_row, self.exclusive("exact work", "strand")),
                      (span - in_a_row, self.exclusive("span", "strand"))]
        self.seen = pairs
        return max(abs(seen - truth) for truth, seen in pairs) / work

    def check(self, workers, shape, more=()):
        self.assertTrue(any(self.look(workers, shape, milliseconds, more) <= self.TOLERANCE
                            for milliseconds in self.LOOKS), self.seen)

    def check_shape(self, shape):
        for workers in (1, 2, 8):
            with self.subTest(workers=workers):
                self.check(workers, shape)

    def test_phases(self):
        self.check_shape("phases")

    def test_chain(self):
        self.check_shape("chain")

    def test_tree(self):
        self.check_shape("tree")

    def test_values_written_before_an_exec_that_fails_are_written_once(self):
        self.check(2, "chain", ("exec",))

    def test_contexts_are_the_chains_of_spawns_below_their_caller(self):
        for shape, names in PROCEDURES.items():
            self.run_spans(2, shape, 1)
            paths = [[node["name"] for node in path if node["kind"] == "procedure"] for path in walk(self.tree)
                     if path[-1]["kind"] == "procedure" and path[-1]["metrics"]["exact work"]["exclusive"]]
            self.assertEqual({path[-1] for path in paths}, names | {SERIAL})
            for path in paths:
                self.assertTrue(path == [SERIAL] or path[path.index("main") + 1] == shape, path)

    def test_burdens_lengthen_the_span(self):
        """The path with burdens is, without them, no longer than the span; it has at most 22 spawns."""
        self.run_spans(1, "phases", 1)
        burdens = self.computation("burdened span") - self.computation("span")
        self.assertGreaterEqual(burdens, -1e-9)
        self.assertLessEqual(burdens, 22 * 5e-6 + 1e-9)

    def summary(self):
        return self.view(view="summary")

    def test_parallelism_in_the_summary(self):
        self.run_spans(2, "phases", 2)
        of = self.summary()["work_span"]
        self.assertAlmostEqual(of["work"], self.value_of("exact work", ""))
        self.assertAlmostEqual(of["span"], self.value_of("span", ""))
        self.assertAlmostEqual(of["parallelism"], of["work"] / of["span"])
        self.assertAlmostEqual(of["burdened_parallelism"], of["work"] / of["burdened_span"])
        text = self.run_tool(profiling.BUILD / "bin" / "hpcviewer", "--print", "summary", self.database).stdout
        self.assertRegex(text, r"%.2f  parallelism: work / span" % of["parallelism"])
        upper = min(4, of["parallelism"])
        lower = of["work"] / (of["work"] / 4 + 1.7 * of["burdened_span"])
        self.assertIn("4 CPUs  %.2f to %.2f times faster" % (lower, upper), text)
        self.assertRegex(text, r"Parallelism is %.1f: " % of["parallelism"])

    def states(self):
        return {m["name"]: m for m in self.summary()["metric_states"]}

    def test_without_a_runtime_it_is_said_and_not_measured(self):
        done, _ = self.measure("true", options=("--work-span",))
        self.assertEqual(done.returncode, 0)
        self.assertIn("work and span were not measured: no runtime that can report them ran a computation",
                      done.stderr)
        self.analyse()
        for name in ("exact work", "span", "burdened span"):
            self.assertEqual(self.states()[name]["state"], "not measurable")
            self.assertIn("no runtime", self.states()[name]["why"])

    def test_not_asked_for(self):
        self.profile(SPANS, 2, "chain", 1)
        self.assertNotIn("span", self.states())
        self.assertNotIn("span", self.tree["metrics"])

    def test_results_do_not_change(self):
        programs = profiling.BUILD / "tests" / "programs" / "cilk"
        for name, size in (("fib", 24), ("nqueens", 9), ("cilksort", 100000), ("cholesky", 200)):
            for workers in (1, 2, 8):
                with self.subTest(program=name, workers=workers):
                    done, _ = self.measure(programs / name, "-w", workers, size, options=("--work-span",))
                    self.assertIn("ok", done.stdout)


class ShortStrands(LogicalTest):
    """Programs whose strands take some ten nanoseconds, less than it takes to measure one. hpcrun measures subtrees of
    some microseconds as one strand each; so the process takes little more CPU time than without it."""
    PROGRAMS = profiling.BUILD / "tests" / "programs" / "cilk"
    LOOKS = 5  # in each, a hypervisor or an interrupt may take some percent, with a probability far below 1/16

    def work_of(self, name, workers, size):
        """Exact work, as a part of the process's CPU time."""
        done, (image,) = self.profile(self.PROGRAMS / name, "-w", workers, size, options=("--work-span",))
        self.assertIn("ok", done.stdout)
        self.of = self.view(view="summary")["work_span"]
        return self.of["work"] / image.cpu

    def test_the_work_is_the_programs(self):
        """Of one worker most is work: 0.91 of the CPU time of cholesky in 9 of 12 runs, and 0.82 where the machine was so
        slow that smaller subtrees took as long as a strand. Of two, some of the time is spent looking for work."""
        for name, size in (("cholesky", 1000), ("fib", 32)):
            for workers, least in ((1, 0.75), (2, 0.6)):
                with self.subTest(program=name, workers=workers):
                    seen = []
                    while len(seen) < self.LOOKS and not (seen and least <= seen[-1] <= 1):
                        seen.append(self.work_of(name, workers, size))
                    self.assertTrue(least <= seen[-1] <= 1, seen)
                    self.assertLess(self.of["work_error"], 0.1 * self.of["work"])
                    self.assertGreater(self.of["work_error"], 0)
                    self.assertGreater(self.of["parallelism"], 10)  # 25 and more than 100; 2 without events after a grain

    def test_what_is_too_short_is_said(self):
        """Procedures that do nothing take less time than is uncertain of each."""
        why = r"strands are too short to be measured: \d+ ns on average, uncertain by \d+ ns"
        done, _ = self.measure("env", "MINICILK_WORKERS=1", SHORT, 200000, options=("--work-span",))
        self.assertRegex(done.stderr, "work and span were not measured: " + why)
        self.make_database()
        states = {m["name"]: m for m in self.view(view="summary")["metric_states"]}
        self.assertEqual(states["exact work"]["state"], "not measurable")
        self.assertRegex(states["exact work"]["why"], why)

    def test_threads_are_created_in_no_strand(self):
        """With 64 workers, creating and joining them would take 3.8 to 4.9 ms of serial code. Without that it takes 0.4 to
        1.1 ms more than with one, as their caches are cold (22 looks beside 20 busy processes, 2026-11-27)."""
        seen = []
        while len(seen) < 4 * self.LOOKS and not (seen and seen[-1] < 1.5e-3):
            serial = []
            for workers in (1, 64):
                self.profile(SPANS, workers, "chain", 2, options=("--work-span",))
                serial.append(self.value("span", SERIAL))
            seen.append(serial[1] - serial[0])
        self.assertLess(seen[-1], 1.5e-3, seen)


class Examples(LogicalTest):
    """The examples of Cilkview. What holds for any lengths of strands: doc/scalability.md has the numbers."""
    BURDEN = 5e-6
    LOOPS = profiling.BUILD / "tests" / "programs" / "logical" / "nested-loops"

    def loops(self, shape, width, count):
        """The sum that the program prints, work, span and burdened span."""
        done, _ = self.profile("env", "MINICILK_WORKERS=2", self.LOOPS, shape, width, count, options=("--work-span",))
        of = self.view(view="summary")["work_span"]
        return done.stdout, of["work"], of["span"], of["burdened_span"]

    def test_loops(self):
        """A parallel loop outside has a burden for each level of its halving, one inside for each iteration of the
        serial loop, too. `width` chains cannot do more work than `width` times the longest."""
        count = 500
        for width in (4, 8):
            sum_outside, work, span, burdened = self.loops("outer", width, count)
            self.assertLessEqual(work, width * span * (1 + 1e-9))
            self.assertLessEqual(burdened - span, 2 * width * self.BURDEN)
            sum_inside, work, span, burdened = self.loops("inner", width, count)
            self.assertLessEqual(work, width * span * (1 + 1e-9))
            self.assertGreaterEqual(burdened, count * self.BURDEN)
            self.assertEqual(sum_inside, sum_outside)

    def test_quicksort(self):
        """The span is the sum of what its procedures have of it; partitioning runs in a procedure of its own."""
        quicksort = profiling.BUILD / "tests" / "programs" / "cilk" / "quicksort"
        self.profile(quicksort, "-w", 2, 50000, options=("--work-span",))
        rows = [(path[-1]["name"], path[-1]["metrics"]) for path in walk(self.tree) if path[-1]["kind"] == "procedure"]
        own = {name: sum(metrics["span"]["exclusive"] for other, metrics in rows if other == name)
               for name in ("quicksort", "partition", SERIAL)}
        self.assertAlmostEqual(sum(own.values()), self.tree["metrics"]["span"]["inclusive"])
        self.assertGreater(own["partition"], 0)
        self.assertEqual({name for name, metrics in rows if metrics["exact work"]["exclusive"]},
                         {"quicksort", "partition", SERIAL})


class Regions(LogicalTest):
    """Regions that the program names: the serial code between two of them is as much work as span."""
    REGIONS = profiling.BUILD / "tests" / "programs" / "logical" / "named-regions"
    DUMP = re.compile(r"region (\w+): (\d+) times?, work ([\d.]+) ms, span ([\d.]+) ms, burdened span ([\d.]+) ms, spawns "
                      r"(\d+); parallelism ([\d.]+), burdened ([\d.]+); 2 CPUs: ([\d.]+) to ([\d.]+) times faster, 4: ")

    def dumps(self, workers):
        done, _ = self.profile(self.REGIONS, "-w", workers, options=("--work-span",))
        return done, {match[1]: tuple(map(float, match.groups()[1:])) for match in self.DUMP.finditer(done.stderr)}

    def test_regions(self):
        rounded = 0.003  # ms: of three values, each cut to a microsecond
        for workers in (1, 2):
            done, regions = self.dumps(workers)
            every, pairs = regions["all"], regions["pairs"]
            self.assertEqual((every[0], pairs[0], every[4], pairs[4]), (1, 2, 4, 4))
            serial = [every[i] - pairs[i] for i in (1, 2, 3)]
            self.assertGreater(serial[0], 0)
            self.assertLessEqual(max(serial) - min(serial), rounded, (serial, regions))
            of = self.view(view="summary")["work_span"]
            self.assertLessEqual(every[1], of["work"] * 1e3 + rounded)
            self.assertLessEqual(self.value("exact work", "pair") * 1e3, pairs[1] + rounded)
            self.assertLessEqual(pairs[1], 2 * pairs[2] + rounded)
            self.assertAlmostEqual(pairs[5], pairs[1] / pairs[2], delta=0.006 + rounded / pairs[2])
            lower = pairs[1] / (pairs[1] / 2 + 1.7 * pairs[3])
            self.assertAlmostEqual(pairs[7], lower, delta=0.006 + rounded / pairs[2])
            self.check_summary(regions)
            self.assertIn("region none: stop without start; ignored", done.stderr)
            self.assertIn("region never: it was never started", done.stderr)
            self.assertEqual(done.stderr.count("region inside: not measured: it begins or ends inside of a computation"), 1)

    def check_summary(self, dumps):
        """Every view's summary has what dumps said, and a region that is open at the end."""
        found = {region["name"]: region for region in self.view(view="summary")["regions"]}
        self.assertEqual(set(found), {"all", "pairs", "rest"})
        for name, (times, work, span, burdened, spawns, *_) in dumps.items():
            region = found[name]
            self.assertEqual((region["times"], region["spawns"], region["partial"]), (times, spawns, False))
            for key, dumped in (("work", work), ("span", span), ("burdened_span", burdened)):
                self.assertAlmostEqual(region[key] * 1e3, dumped, delta=0.003)
        rest = found["rest"]
        self.assertEqual((rest["times"], rest["spawns"]), (1, 0))
        self.assertGreater(rest["work"], 0)
        self.assertAlmostEqual(rest["work"], rest["span"], delta=1e-9)
        self.assertAlmostEqual(rest["work"], rest["burdened_span"], delta=1e-9)

    def test_without_work_and_span(self):
        done, _ = self.measure(self.REGIONS)
        self.assertEqual(done.stderr.count("not measured: hpcrun --work-span measures work and span"), 3)
        self.assertEqual(self.run_tool(self.REGIONS).stderr, "")
