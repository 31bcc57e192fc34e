"""hpcrun --work-span with OpenMP programs of gcc, and of clang on libomp: tasks and burdens are counted. The longest paths themselves are those
of tests/unit/hpcrun/test_task_span.c."""

import openmp_case
import test_work_span
from logical_case import walk
from openmp_case import CLANG

BURDEN = 0.005  # ms
ROUNDED = 0.003  # of three values, each cut to a microsecond
TASKS = 8
ORDER = "the order of OpenMP's dependences and ordered loops was not followed"
SPAWNS = {"row": TASKS, "at_once": TASKS, "crowd": TASKS, "loop": TASKS, "loop_at_once": TASKS,
          "tree": 2 * (2 ** 4 - 1), "last": 1 + 2 * (2 ** 4 - 1)}
# Each look fails if code between two tasks, some instructions, is held up for longer than a task of 0.1 ms takes, with a
# probability far below 1/10: six looks that all fail have one below 1e-6.
LOOKS = 6


class TaskShapes(openmp_case.OpenMp):
    CANCELLATION, OPTIONS, MORE = "true", (), ()
    LOOPS_AT_ONCE = ("loop_at_once",)

    def shapes(self, threads, *arguments):
        """Of each shape: work, span, burdened span (ms), spawns."""
        with self.environment(threads):
            done, self.images = self.measure(self.program, *arguments, options=("--work-span", *self.MORE))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {match[1]: [float(match[i]) for i in (3, 4, 5, 6)] for match in test_work_span.Regions.DUMP.finditer(done.stderr)}
        return done.stderr, found

    def setUp(self):
        super().setUp()
        self.program = self.build("task-shapes.c", *self.OPTIONS)

    def check_laws(self, threads, found):
        self.assertEqual({name: spawns for name, (*_, spawns) in found.items()}, SPAWNS)
        for name, (work, span, burdened, _) in found.items():
            self.assertLessEqual(span, work + ROUNDED, name)
            self.assertGreaterEqual(burdened, span - ROUNDED, name)
        for name, most in (("crowd", 1), ("loop", 1), ("at_once", 0), ("row", TASKS), ("tree", 4), ("last", 1)):
            _, span, burdened, _ = found[name]
            others = threads > 1  # the longest path may begin in another thread than the one that began the region
            self.assertLessEqual(burdened - span, (most + others) * BURDEN + ROUNDED, name)
        work, span, _, _ = found["at_once"]
        if threads == 1:
            self.assertAlmostEqual(work, span, delta=ROUNDED)
            for name in "last", *self.LOOPS_AT_ONCE:  # if they were parallel: 5/31 or 1/8
                work, span, _, _ = found[name]
                self.assertGreater(span, work / 2, name)

    def row_is_one_path(self, threads):
        _, found = self.shapes(threads)
        self.check_laws(threads, found)
        _, span, burdened, _ = found["row"]
        return burdened - span >= TASKS * BURDEN - ROUNDED

    def test_tasks_and_burdens(self):
        for threads in (1, 2, 4):
            with self.subTest(threads=threads):
                self.assertTrue(any(self.row_is_one_path(threads) for _ in range(LOOKS)))

    def test_contexts_are_those_of_samples(self):
        """The call path of the region, then the chain of tasks, each below the function that creates it."""
        with self.environment(2):
            self.profile(self.program, options=("--work-span",))
        paths = set()
        for path in walk(self.tree):
            if path[-1]["kind"] == "procedure" and path[-1]["metrics"]["exact work"]["exclusive"]:
                paths.add(tuple(node["name"].split(" @ ")[0] for node in path if node["kind"] == "procedure"))
        self.assertIn((test_work_span.SERIAL,), paths)
        below_main = {path[path.index("main") + 1:] for path in paths if "main" in path}
        region = ("construct",)
        self.assertEqual({tuple("construct" if name in ("parallel", "task", "taskloop") else name for name in path)
                          for path in below_main},
                         {region, region + ("last", "construct", "tree", "construct")} |
                         {region + (name, "construct") for name in SPAWNS})

    def known(self):
        states = {m["name"]: (m["state"], m.get("why")) for m in self.view(view="summary")["metric_states"]}
        return [states[name] for name in ("exact work", "span", "burdened span")]

    def states(self, *arguments):
        with self.environment(2):
            self.profile(self.program, *arguments, options=("--work-span",))
        return self.known()

    def test_a_lower_bound_is_named(self):
        said, found = self.shapes(2, "depend")
        self.assertEqual(found["depend"][3], 2)
        self.assertIn("the span is a lower bound: the order of OpenMP's dependences and ordered loops was not followed", said)
        self.assertNotIn("lower bound", self.shapes(2)[0])
        self.assertEqual(self.states("depend"), [("measured", None)] + [("lower bound", ORDER)] * 2)
        self.assertEqual(self.states(), [("measured", None)] * 3)

    def test_what_cannot_be_measured_is_said(self):
        for mode, why in (("end", "the program ended in a parallel region"),
                          ("overlap", "several threads ran parallel regions at the same time")):
            said, _ = self.shapes(2, mode)
            self.assertIn("work and span were not measured: " + why, said)
            self.analyse()
            self.assertEqual(self.known(), [("not measurable", why)] * 3)

    def test_results_do_not_change(self):
        program = self.build("constructs.c")
        with self.environment(4, OMP_CANCELLATION=self.CANCELLATION):
            done, _ = self.measure(program, options=("--work-span",))
        self.assertEqual(done.stdout, "")
        program = self.build("cilk-tasks.c")
        for command in (("fib", 16), ("nqueens", 9), ("cilksort", 50000)):
            with self.environment(4):
                done, _ = self.measure(program, *command, options=("--work-span",))
            self.assertEqual(done.stdout, "%s %d: ok\n" % command)

    def test_only_the_work_is_too_short(self):
        """Of 28,000 tasks of some nanoseconds, the longest chain has few."""
        program = self.build("cilk-tasks.c")
        with self.environment(1):
            done, _ = self.measure(program, "fib", 22, options=("--work-span",))
        self.assertRegex(done.stderr, r"hpcrun: work was not measured: strands are too short to be measured: \d+ ns on average")
        self.analyse()
        self.assertEqual([state for state, _ in self.known()], ["not measurable", "measured", "measured"])


class TaskShapesOfClang(TaskShapes):
    """Without cancellation, on which libomp 14 hangs in constructs.c, with and without hpcrun; without tail calls, which
    leave the function that creates a task."""
    compilers = CLANG
    CANCELLATION, OPTIONS = "false", ("-fno-optimize-sibling-calls",)
    LOOPS_AT_ONCE = ()  # libomp tells nothing of the clause


class KnownStrands(openmp_case.OpenMp):
    """Work and span are counted by hand: strands have a known length, by the clock of their thread's CPU time. Beyond the
    serial code, which is measured, each may be longer by the last turn of its loop and by an interrupt, and regions
    create threads. Later looks have longer strands, beside which that is less."""
    compilers = CLANG
    SHARES = (0.002, 0.002, 0.004, 0.004, 0.008, 0.008)

    def excess(self, program, threads, calls, chain, share):
        """Of work and of span without the serial code, the larger share."""
        with self.environment(threads, KMP_DEVICE_THREAD_LIMIT="16", KMP_TEAMS_THREAD_LIMIT="16"):
            self.profile(program, str(share), options=("--work-span",), events=("CPUTIME@1000000",))
        self.assertEqual(self.known(), [("measured", None)] * 3)
        excess = []
        for metric, known in (("exact work", calls * share), ("span", chain * share)):
            measured = self.tree["metrics"][metric]["inclusive"] - self.value(metric, test_work_span.SERIAL)
            self.assertGreaterEqual(measured, 0.99 * known, metric)
            excess.append(measured / known - 1)
        return max(excess)

    def check(self, source, threads, calls, chain):
        program = self.build(source, "-fno-optimize-sibling-calls")
        with self.subTest(threads=threads):
            self.assertTrue(any(self.excess(program, threads, calls, chain, share) < 0.03 for share in self.SHARES))

    known = TaskShapes.known

    def test_parts_of_untied_tasks(self):
        """Of task-parts.c, each round: 6 tasks of 3 strands; 6 of 3, beside a child of one; 4 leaves; 120 iterations; 2 members
        in the region of each thread."""
        for threads in (1, 2, 4):
            calls = 6 * 3 + 6 * 4 + 4 + 120 + 2 * threads
            self.check("task-parts.c", threads, 2 * calls, 2 * (3 + 3 + 1 + 1 + 1))

    def test_leagues(self):
        for threads in (2, 4):
            self.check("leagues.c", threads, 10, 4)


class TaskShapesOnLlvm(TaskShapes):
    """Programs of gcc on libomp, which tells tasks with if(0) in another way."""
    MORE = ("--openmp=llvm",)
    LOOPS_AT_ONCE = ()
    test_contexts_are_those_of_samples = test_a_lower_bound_is_named = test_what_cannot_be_measured_is_said = None
    test_results_do_not_change = None

    def setUp(self):
        self.need_libomp()
        super().setUp()
