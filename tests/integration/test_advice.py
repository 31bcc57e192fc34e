"""The first line of advice names the cause and the line of code. The lines are those that the programs' own comments mark."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import profiling
from evidence import OfChance

SOURCES = profiling.ROOT / "tests" / "programs" / "advice"
TOOLS = profiling.BUILD / "bin"

# The advice is given with 95 % confidence: a run that has the evidence for it misses it with a probability of 1 in 40 at
# most. So four do with 1 in 2,500,000, each of which is twice as long as the one before.
TRIES = 4

# Others' share of the CPU time from which on a try has no such evidence: the wall clock runs while the program does not.
MOST_OTHERS = 0.05
MUCH = 0.5  # a second try, which is twice as long, finds the same


def marked(source, words):
    """The line with the comment MARK words."""
    for number, line in enumerate((SOURCES / source).read_text().splitlines(), 1):
        if re.search(rf"MARK {words}\b", line):
            return number
    raise LookupError(words)


class Case(OfChance, unittest.TestCase):
    AGENT = "auto"

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def compile(self, source, *flags, compiler=None):
        binary = self.folder / pathlib.Path(source).stem
        compiler = compiler or ("g++" if source.endswith(".cc") else "gcc")
        done = profiling.compile_once(binary, compiler, "-pthread", SOURCES / source, *flags, "-lm")
        self.assertEqual(done.returncode, 0, done.stderr)
        return binary

    def profile(self, command, *options, **environment):
        """The findings of a run."""
        measurements, database = self.folder / "measurements", self.folder / "database"
        for folder in (measurements, database):
            shutil.rmtree(folder, ignore_errors=True)
        for tool in ([TOOLS / "hpcrun", "--agent", self.AGENT, *options, "-o", measurements, "--", *map(str, command)],
                     [TOOLS / "hpcprof", "-o", database, measurements]):
            done = subprocess.run(tool, capture_output=True, text=True, timeout=600, cwd=self.folder,
                                  env=dict(os.environ, **environment))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.database = database
        self.found = self.summary()
        return self.found

    def summary(self):
        done = subprocess.run([TOOLS / "hpcviewer", "--print", "summary", "--format", "json",
                               self.database], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["advice"]

    def of_program(self):
        """The findings on the program. What others take from it precedes them."""
        return [f for f in self.found if f["kind"] not in ("no cpu", "quota")]

    def first(self, kind, command, *options, gains=True, says="", **environment):
        """The first finding, which is to be of that kind, with a gain or without, and with such words. The program's
        last argument is its length."""
        def is_right():
            found = self.of_program()
            return found and found[0]["kind"] == kind and (found[0]["gain"] is not None) == gains and \
                re.search(says, found[0]["text"])
        self.look_until(is_right, command, *options, **environment)
        return self.of_program()[0]

    def look_until(self, is_right, command, *options, **environment):
        """Runs the program for longer and longer until the findings are right. If they never are, that is a failure,
        unless others had the CPUs. The program's last argument is its length."""
        *program, length = command
        most_taken = 0
        for attempt in range(TRIES):
            others, began = profiling.cpu_of_others(), time.monotonic()
            self.profile([*program, length << attempt], *options, **environment)
            if is_right():
                return
            available = len(os.sched_getaffinity(0)) * (time.monotonic() - began)
            most_taken = max(most_taken, (profiling.cpu_of_others() - others) / available)
            if most_taken > (MOST_OTHERS if attempt else MUCH):
                break
        if most_taken > MOST_OTHERS:
            self.skipTest(f"not enough evidence after {attempt + 1} tries: others took up to {100 * most_taken:.0f} % "
                          "of the CPUs")
        self.fail(self.of_program())

    def check_place(self, finding, source, words, scope, lines=1):
        """It is one of so many lines, from the one that is marked: which of a loop's has most samples is chance."""
        self.assertEqual((pathlib.Path(finding["file"]).name, finding["scope"]), (source, scope))
        self.assertIn(finding["line"], range(marked(source, words), marked(source, words) + lines))
        self.assertIn(f"{source}:{finding['line']}", finding["text"])

    def needs_two_cpus(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU: nothing is gained by more threads that run")


class WithoutAgent(Case):
    AGENT = "none"

    def test_a_convoy(self):
        self.needs_two_cpus()
        binary = self.compile("convoy.c", "-g", "-O2")
        found = self.first("blocked", [binary, 100], "-e", "REALTIME",
                           says=r"^[0-9]+ of [23][0-9] threads wait for a lock at worker, convoy\.c:.* "
                                r"\(pthread_mutex_lock\); could win .*x without it\.")
        self.check_place(found, "convoy.c", "wait", "worker")
        self.assertGreater(found["gain"], 1)

    def test_an_unequal_loop(self):
        """The first of 4 threads has 16 items of size 1000, the others have 48 of size 20."""
        self.needs_two_cpus()
        binary = self.compile("unequal_loop.c", "-g", "-O2", "-fopenmp")
        found = self.first("imbalance", [binary, 30], "-e", "CPUTIME@f1000", OMP_NUM_THREADS="4")
        self.assertEqual(pathlib.Path(found["file"]).name, "unequal_loop.c")
        self.assertIn(found["line"], range(marked("unequal_loop.c", "loop"), marked("unequal_loop.c", "items") + 2))
        self.assertRegex(found["text"], "^Thread [0-3] has ")

    def test_a_serial_phase(self):
        self.needs_two_cpus()
        found = self.first("one thread", [self.compile("serial_phase.c", "-g", "-O2"), 60])
        self.check_place(found, "serial_phase.c", "serial", "prepare", lines=2)
        self.assertRegex(found["text"], "^Only the main thread runs for at least ")
        # prepare has 8 of 10 parts, so that on two CPUs 5 of 9 parts of the wall clock are left;
        # what is known of it is what the main thread has more than the other one
        self.assertGreater(found["gain"], 1)
        self.assertLess(found["gain"], 2)

    def test_system_calls(self):
        found = self.first("system calls", [self.compile("writes.c", "-g", "-O2"), 1000], gains=False)
        self.check_place(found, "writes.c", "call", "main")

    def test_a_stripped_binary(self):
        self.profile([self.compile("serial_phase.c", "-O2", "-s"), 30])
        self.check_lines_wanted(r"serial_phase\+0x")

    def check_lines_wanted(self, procedure):
        said = [finding["text"] for finding in self.found]
        self.assertTrue([text for text in said if re.search(rf" of the time is in the loop at .* of <?{procedure}", text)], said)
        self.assertTrue([text for text in said if text.endswith(
            "of the time is in serial_phase, which has no source lines: compile it with -g, and do not strip it.")], said)

    def test_without_optimization(self):
        found = self.first("not optimized", [self.compile("serial_phase.c", "-g"), 20],
                           gains=False)
        self.assertRegex(found["text"], "^serial_phase was compiled without -O, .*: compile with -O2 first.$")

    def test_a_binary_that_is_not_the_run_s(self):
        """Compiled again after the run, and missing."""
        binary = self.compile("serial_phase.c", "-g", "-O2")
        measurements = self.folder / "measurements"
        subprocess.run([TOOLS / "hpcrun", "-q", "-o", measurements, "--", binary, "30"], check=True)
        self.compile("serial_phase.c", "-g", "-O1")
        self.check_unusable(measurements, "it has changed since the run")
        binary.unlink()
        self.check_unusable(measurements, "the file does not exist")

    def check_unusable(self, measurements, why):
        self.database = self.folder / f"database of {why}"
        no_cache = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"))
        subprocess.run([TOOLS / "hpcprof", "-o", self.database, measurements], capture_output=True, env=no_cache)
        said = [finding["text"] for finding in self.summary()]
        self.assertTrue([text for text in said if text.endswith(
            f" % of the time is in serial_phase, which hpcprof could not use: {why}. Profile it again.")], said)

    def test_symbols_without_lines(self):
        self.profile([self.compile("serial_phase.c", "-O2"), 30])
        self.check_lines_wanted("prepare")

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_code_of_a_jit(self):
        script = SOURCES / "compiled_late.js"
        found = self.first("no names", ["node", script, 60], gains=False)
        self.assertRegex(found["text"], "code without names that node made at run time: run node --perf-basic-prof.$")
        found = self.first("hot place", ["node", "--perf-basic-prof", script, 60],
                           gains=False)
        self.assertIn(f"hot {script}:{marked(script.name, 'hot')}:", found["text"])

    def test_few_lines(self):
        """The summary has all advice, in few lines, each of the terminal's width at most."""
        self.profile([self.compile("serial_phase.c", "-g", "-O2"), 60])
        shown = subprocess.run([TOOLS / "hpcviewer", "--print", "summary", self.database],
                               capture_output=True, text=True).stdout
        lines = shown.split("\nAdvice\n")[1].split("\n\n")[0].splitlines()
        self.assertLessEqual(len(lines), 9)
        for line in lines:
            self.assertLessEqual(len(line), 96)


class Cases(Case):
    """Programs of which other versions said something else: their first comments say what is true."""

    def test_a_lock(self):
        """The lock, and the line of the loop that holds it. 800 samples of the one thread that runs stand for the waiting of
        31."""
        binary = self.compile("convoy.c", "-g", "-O2")
        self.profile([binary, 150], "-e", "CPUTIME@f4000")
        found = self.of_program()[0]
        self.assertEqual((found["kind"], pathlib.Path(found["file"]).name), ("lock", "convoy.c"))
        self.assertRegex(found["text"], "^Lock lock: threads wait at least .* s, [0-9]+ % of that while .*convoy.c:[0-9]+ of "
                                        "worker holds it")

    def test_a_triangular_loop(self):
        self.needs_two_cpus()
        binary = self.compile("triangular_loop.c", "-g", "-O2", "-fopenmp")
        found = self.first("imbalance", [binary, 8000], "-e", "CPUTIME@f1000", OMP_NUM_THREADS="2",
                           says=r"^Thread 1 has (2|3)(\.[0-9])? times the work of thread 0 in the loop at triangular_loop\.c:"
                                r"[0-9]+: schedule\(dynamic\) could win 1\.[0-9]x\.$")
        self.assertEqual(pathlib.Path(found["file"]).name, "triangular_loop.c")
        self.assertTrue([f for f in self.found[:3] if f["kind"] == "hot place" and "most of it in sin (libm)" in f["text"]])
        self.assertNotIn("one thread", [f["kind"] for f in self.found])

    def test_a_thread_that_sleeps_on_purpose(self):
        found = self.profile([self.compile("watchdog.c", "-g", "-O2"), 200], "-e", "REALTIME@f1000")
        self.assertNotIn("blocked", [f["kind"] for f in found])
        self.assertNotIn("parallelization", [f["kind"] for f in found])
        place, = (f for f in self.of_program()[:3] if f["kind"] == "hot place")
        self.check_place(place, "watchdog.c", "loop", "compute")

    def test_the_place_has_most_of_the_time(self):
        self.needs_two_cpus()
        found = self.first("one thread", [self.compile("uneven.c", "-g", "-O2"), 20])
        self.check_place(found, "uneven.c", "work", "work")
        self.assertIn(", mostly in the loop at uneven.c:", found["text"])

    def test_threads_that_live_at_once(self):
        """About 4 of 42, and 2 of 61. The runtime lets a thread go before it has ended: others may keep that alive when
        the next one begins. So no sentence has more than lived at one instant of this run."""
        self.profile([self.compile("nested_regions.c", "-g", "-O2", "-fopenmp"), 40], "-e", "CPUTIME@f1000")
        self.check_threads(range(3, self.most_alive() + 1))
        self.profile([self.compile("one_by_one.c", "-g", "-O2"), 60])
        self.check_threads((2,))
        place, = (f for f in self.of_program()[:3] if f["kind"] == "hot place")
        self.check_place(place, "one_by_one.c", "loop", "job")

    def most_alive(self):
        process, = json.loads((self.database / "run.json").read_text())["processes"]
        lives = [(thread["begin"], thread["begin"] + thread["wall"]) for thread in process["threads"]]
        return max(sum(begin <= instant < end for begin, end in lives) for instant, _ in lives)

    def check_threads(self, allowed):
        for finding in self.found:
            for number in re.findall(r"\b(\d+) threads", finding["text"]):
                self.assertIn(int(number), allowed, finding["text"])

    def test_a_pipeline(self):
        """The lock comes before the idleness that it causes."""
        self.needs_two_cpus()
        self.first("lock", [self.compile("pipeline.cc", "-g", "-O2"), 40], "-e", "CPUTIME@f1000",
                   says=r"^Lock table_mutex.*: threads wait at least .* s, [5-9][0-9] % of that while the loop at "
                        r"pipeline\.cc:[0-9]+ of score holds it; could win .*x without it\.$")

    def test_short_regions(self):
        """Of vectors of 200 elements: a region is shorter than what its begin and end take. Longer vectors, and serial code
        or sleeps between regions, are something else."""
        self.needs_two_cpus()
        binary = self.compile("short_regions.c", "-g", "-O2", "-fopenmp")
        self.first("parallelization", [binary, 200, 0, 0, 100], "-e", "CPUTIME@f1000", OMP_NUM_THREADS="2",
                   says=r"^Too fine a grain: no worker has work for [1-7][0-9] % of the time, between pieces of "
                        r".*short_regions\.c:[0-9]+.*; larger pieces could win [1-9].*x; try fewer threads, too ")
        for elements, serial, sleep in ((100_000, 0, 0), (6000, 12_000, 0), (100_000, 0, 3000)):
            self.look_until(lambda: self.of_program() and "Too fine a grain" not in str(self.found),
                            [binary, elements, serial, sleep, 100], "-e", "CPUTIME@f1000", OMP_NUM_THREADS="2")

    def test_the_vdso(self):
        found = self.first("hot place", [self.compile("clock.c", "-g", "-O2"), 10], gains=False)
        self.check_place(found, "clock.c", "loop", "main")
        self.assertRegex(found["text"], r"^[0-9]+ % of the time is in the loop at clock\.c:[0-9]+ of main, most of it in "
                                        r"clock_gettime \(libc\)\.$")
        self.assertNotIn("no lines", [f["kind"] for f in self.found])

    def test_processes_that_wait(self):
        self.first("blocked", [self.compile("waiting_children.c", "-g", "-O2"), 5], "-e", "REALTIME@f500", gains=False,
                   says=r"^4 of 5 threads in 5 processes wait for input or output at main, waiting_children\.c:"
                        rf"{marked('waiting_children.c', 'read')} \(read\)\.$")

    def test_loops_in_the_wrong_order(self):
        """The loop is among the first three, whatever is said of the threads."""
        self.profile([self.compile("wrong_order.c", "-g", "-O2", "-fopenmp"), 30], "-e", "CPUTIME@f1000", OMP_NUM_THREADS="2")
        place, = (f for f in self.of_program()[:3] if f["kind"] == "hot place")
        self.assertEqual(pathlib.Path(place["file"]).name, "wrong_order.c")
        self.assertIn(place["line"], range(marked("wrong_order.c", "columns"), marked("wrong_order.c", "end") + 1))
        self.assertRegex(place["text"], "^(9[0-9]|100) % of the time is in the loop at wrong_order.c:")
        self.assertFalse(self.found[0]["text"].startswith("Cannot tell"), self.found[0])

    @unittest.skipUnless(shutil.which("mpicc") and shutil.which("mpirun"), "needs MPI")
    def test_unequal_ranks(self):
        self.needs_two_cpus()
        program = [self.compile("unequal_ranks.c", "-g", "-O2", compiler="mpicc"), 80]
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        # Rank 0 computes for 0.6 s. What starts MPI takes 0.1 s of each, up to 0.4 s on a busy machine: 3 becomes 2.2.
        self.first("ranks", ["mpirun", "--oversubscribe", "-n", "2", *program], **allowed,
                   says=r"^Rank 1 computes (2\.[2-9]|3|3\.[0-5]) times as long as rank 0; rank 0 waits [0-9]+ % of its time "
                        rf"in P?MPI_Allreduce, unequal_ranks\.c:{marked('unequal_ranks.c', 'wait')}; equal parts could "
                        r"win 1\.[0-9]x\.$")


class OnABusyMachine(Case):
    """With two other processes per CPU that compute all the time, the first line says so, and no gain is claimed for what
    they take."""

    def setUp(self):
        super().setUp()
        for _ in range(2 * len(os.sched_getaffinity(0))):
            hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(hog.wait)
            self.addCleanup(hog.kill)

    def check(self, command, *options, then, **environment):
        """`then`: the kind of the next finding."""
        self.profile(command, *options, **environment)
        with open(self.database / "run.json", encoding="utf-8") as file:
            if not all(process.get("ready") for process in json.load(file)["processes"]):
                self.skipTest("the kernel does not account for time without a CPU")
        self.assertRegex(self.found[0]["text"], "^Others had the CPUs: threads waited for a CPU for .* and ran for ")
        self.assertEqual([f["gain"] for f in self.found], [None] * len(self.found))
        self.assertEqual(self.found[1]["kind"], then)
        self.assertFalse({"blocked", "parallelization", "span", "waiting"} & {f["kind"] for f in self.found}, self.found)

    def test_a_sleeping_thread(self):
        self.check([self.compile("watchdog.c", "-g", "-O2"), 100], "-e", "REALTIME@f1000", then="hot place")

    @unittest.skipUnless("TEST_ALL" in os.environ, "long form: make test-all")
    def test_a_lock(self):
        self.check([self.compile("pipeline.cc", "-g", "-O2"), 20], "-e", "CPUTIME@f1000", then="lock")

    def test_a_triangular_loop(self):
        self.needs_two_cpus()
        self.check([self.compile("triangular_loop.c", "-g", "-O2", "-fopenmp"), 8000], "-e", "CPUTIME@f1000", then="imbalance",
                   OMP_NUM_THREADS="2")

    def test_threads_that_share_one_cpu(self):
        """They take it from each other, too: no more is said than that."""
        binary = self.compile("one_cpu.c", "-g", "-O2")
        cpu = str(min(os.sched_getaffinity(0)))
        self.profile(["taskset", "-c", cpu, binary, 30], "-e", "REALTIME@f500")
        self.assertNotIn("blocked", [f["kind"] for f in self.found])
        self.assertIn("hot place", [f["kind"] for f in self.found[:3]])
