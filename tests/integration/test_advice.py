"""The first line of advice names the cause and the line of code, for programs without an agent. The
lines are those that the programs' own comments mark."""
import json
import os
import pathlib
import re
import shutil
import subprocess
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


def marked(source, words):
    """The line with the comment MARK words."""
    for number, line in enumerate((SOURCES / source).read_text().splitlines(), 1):
        if re.search(rf"MARK {words}\b", line):
            return number
    raise LookupError(words)


class Programs(OfChance, unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def compile(self, source, *flags):
        binary = self.folder / pathlib.Path(source).stem
        done = subprocess.run(["gcc", "-pthread", *flags, "-o", binary, SOURCES / source],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return binary

    def profile(self, command, *options, **environment):
        """The findings of a run."""
        measurements, database = self.folder / "measurements", self.folder / "database"
        for folder in (measurements, database):
            shutil.rmtree(folder, ignore_errors=True)
        for tool in ([TOOLS / "hpcrun", "--agent", "none", *options, "-o", measurements, "--", *map(str, command)],
                     [TOOLS / "hpcprof", "-o", database, measurements]):
            done = subprocess.run(tool, capture_output=True, text=True, timeout=600, cwd=self.folder,
                                  env=dict(os.environ, **environment))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.database = database
        done = subprocess.run([TOOLS / "hpcviewer", "--print", "summary", "--format", "json",
                               database], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["advice"]

    def first(self, kind, command, *options, gains=True, **environment):
        """The first finding, which is to be of that kind, with a gain or without. The program's
        last argument is its length."""
        *program, length = command
        most_taken = 0
        for attempt in range(TRIES):
            others, began = profiling.cpu_of_others(), time.monotonic()
            found = self.profile([*program, length << attempt], *options, **environment)
            if found and found[0]["kind"] == kind and (found[0]["gain"] is not None) == gains:
                return found[0]
            available = len(os.sched_getaffinity(0)) * (time.monotonic() - began)
            most_taken = max(most_taken, (profiling.cpu_of_others() - others) / available)
        if most_taken > MOST_OTHERS:
            self.skipTest(f"not enough evidence after {TRIES} runs: others took up to {100 * most_taken:.0f} % of the CPUs")
        self.fail(found)
        return None

    def check_place(self, finding, source, words, scope, lines=1):
        """It is one of so many lines, from the one that is marked: which of a loop's has most samples is chance."""
        self.assertEqual((pathlib.Path(finding["file"]).name, finding["scope"]), (source, scope))
        self.assertIn(finding["line"], range(marked(source, words), marked(source, words) + lines))
        self.assertIn(f"{scope}, {source}:{finding['line']}", finding["text"])

    def needs_two_cpus(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU: nothing is gained by more threads that run")

    def test_a_convoy(self):
        self.needs_two_cpus()
        binary = self.compile("convoy.c", "-g", "-O2")
        found = self.first("blocked", [binary, 100], "-e", "REALTIME")
        self.check_place(found, "convoy.c", "wait", "worker")
        self.assertRegex(found["text"], "^Threads wait for a lock: .*, in pthread_mutex_lock; on "
                                        "average [0-9.]+ of 33 threads ")
        self.assertGreater(found["gain"], 1)

    def test_a_convoy_by_cpu_time(self):
        """It is unknown where the threads wait, so the advice says how to find out."""
        self.needs_two_cpus()
        found = self.first("one thread", [self.compile("convoy.c", "-g", "-O2"), 100], gains=False)
        self.assertRegex(found["text"], "^At most one of 33 threads runs for at least .* hpcrun -e "
                                        "REALTIME shows what the others wait for")
        self.assertEqual((found["gain"], found["file"]), (None, None))

    def test_a_lock(self):
        """With the agent for plain threads: the lock, and the line of the loop that holds it. 800 samples of the one
        thread that runs stand for the waiting of 31."""
        binary = self.compile("convoy.c", "-g", "-O2")
        found, = (f for f in self.profile([binary, 300], "-e", "CPUTIME@f2000", "--agent", "pthread")
                  if f["kind"] == "lock")
        self.assertRegex(found["text"], "^Threads wait at least .* for lock lock. [0-9]+% of that time the holder is "
                                        "at worker, .*convoy.c:[0-9]+.$")
        self.assertEqual((found["gain"], pathlib.Path(found["file"]).name), (None, "convoy.c"))

    def test_an_unequal_loop(self):
        """The first of 4 threads has 16 items of size 1000, the others have 48 of size 20."""
        self.needs_two_cpus()
        binary = self.compile("unequal_loop.c", "-g", "-O2", "-fopenmp")
        found = self.first("imbalance", [binary, 30], "-e", "CPUTIME@f1000", OMP_NUM_THREADS="4")
        self.assertEqual(pathlib.Path(found["file"]).name, "unequal_loop.c")
        self.assertIn(found["line"], range(marked("unequal_loop.c", "loop"),
                                           marked("unequal_loop.c", "items") + 1))
        self.assertRegex(found["text"], "^Unequal parts: of the 4 threads in ")

    def test_a_serial_phase(self):
        self.needs_two_cpus()
        found = self.first("one thread", [self.compile("serial_phase.c", "-g", "-O2"), 60])
        self.check_place(found, "serial_phase.c", "serial", "prepare", lines=2)
        self.assertRegex(found["text"], "^Only one thread runs for at least .*: the main thread")
        # prepare has 8 of 10 parts, so that on two CPUs 5 of 9 parts of the wall clock are left;
        # what is known of it is what the main thread has more than the other one
        self.assertGreater(found["gain"], 1)
        self.assertLess(found["gain"], 2)

    def test_system_calls(self):
        found = self.first("system calls", [self.compile("writes.c", "-g", "-O2"), 1000])
        self.check_place(found, "writes.c", "call", "main")

    def test_a_stripped_binary(self):
        found = self.first("no lines", [self.compile("serial_phase.c", "-O2", "-s"), 30], gains=False)
        self.assertRegex(found["text"], "^No source lines: .* is in serial_phase, .* compile it "
                                        "with -g, and do not strip it")
        self.assertEqual(found["gain"], None)

    def test_without_optimization(self):
        found = self.first("not optimized", [self.compile("serial_phase.c", "-g"), 20],
                           gains=False)
        self.assertRegex(found["text"], "^Not optimized: .* is in serial_phase, which was compiled "
                                        "without -O: compile it with -O2 first")

    def test_symbols_without_lines(self):
        found = self.first("no lines", [self.compile("serial_phase.c", "-O2"), 30], gains=False)
        self.assertIn("most of it in prepare. To see lines, compile it with -g", found["text"])

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_code_of_a_jit(self):
        script = SOURCES / "compiled_late.js"
        found = self.first("no names", ["node", script, 60], gains=False)
        self.assertRegex(found["text"], "^Code without names: .* code that node made at run time. "
                                        "To see its names, run node --perf-basic-prof")
        found = self.first("hot place", ["node", "--perf-basic-prof", script, 60],
                           gains=False)
        self.assertIn(f"hot {script}:{marked(script.name, 'hot')}:", found["text"])

    def test_few_lines(self):
        """The summary has few lines of advice, each of the terminal's width at most."""
        self.profile([self.compile("serial_phase.c", "-g", "-O2"), 60])
        shown = subprocess.run([TOOLS / "hpcviewer", "--print", "summary", self.database],
                               capture_output=True, text=True).stdout
        lines = shown.split("\nAdvice\n")[1].split("\n\n")[0].splitlines()
        self.assertLessEqual(len(lines), 9)
        for line in lines:
            self.assertLessEqual(len(line), 96)


if __name__ == "__main__":
    unittest.main()
