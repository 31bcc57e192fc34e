"""The short form of the stress suite: a tenth of its programs, others at each commit, once in one of the ways to
sample, and its watchdog on a program that hangs. `make stress-own` is the long form."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import profiling
from profiling import HPCRUN, program

STRESS = profiling.ROOT / "tests" / "stress"
sys.path.insert(0, str(STRESS))
import own_programs  # noqa: E402 (needs the path above)
import watchdog  # noqa: E402

FUTEX, WAIT4 = "202", "61"


def may_trace():
    """Whether gdb is here and may look at a process that is not its child."""
    with subprocess.Popen(["sleep", "60"]) as process:
        seen = watchdog.stacks(process.pid)
        process.kill()
    return any(line.startswith("#0") for line in seen)


class OwnPrograms(profiling.ProfilingTest):
    def test_programs(self):
        """The others have tests of their own, too."""
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=profiling.ROOT, capture_output=True, text=True).stdout
        names = list(own_programs.all_programs())[int(commit[:8] or "0", 16) % 10::10]
        done = self.run_tool(STRESS / "own_programs.py", "--one-way", "--learn", 1, "--programs", ",".join(names),
                             timeout=3 * profiling.HANG, env=dict(os.environ, BUILD=str(profiling.BUILD)))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("programs**", done.stdout)


class Watchdog(unittest.TestCase):
    def waits_for_a_lock(self, run):
        """Whether two threads of one process wait for a futex each."""
        return any(sum(watchdog.read(task / "syscall").decode().startswith(FUTEX + " ")
                       for task in pathlib.Path(f"/proc/{pid}/task").glob("*")) == 2
                   for pid in run.processes())

    def hang(self, *words):
        """The report on the program that deadlocks, made when it has."""
        run = watchdog.Run([*words, program("deadlock")])
        self.addCleanup(run.kill)
        while not self.waits_for_a_lock(run):
            self.assertIsNone(run.process.poll())
        with self.assertRaises(watchdog.Hung) as caught:
            run.finish(0)
        self.assertEqual(run.processes(), [])
        return str(caught.exception)

    def check(self, report, threads_in=FUTEX):
        """The two threads of the program are in that system call, and the main process waits for it."""
        self.assertEqual(report.count("\nprocess "), 2, report)
        self.assertEqual(report.count("State") + report.count("  thread "), 3, report)
        self.assertIn("SigBlk", report)
        self.assertEqual(len(re.findall(f"system call ({threads_in}|{WAIT4})\\b", report)), 3, report)
        if not may_trace():
            self.skipTest("gdb is not here, or may not look at other processes")
        for function in ("waitpid", "take_second", "left_then_right", "right_then_left"):
            self.assertIn(function, report)

    def test_deadlock(self):
        self.check(self.hang())

    def test_deadlock_while_it_is_sampled(self):
        """When the report looks, samples may be being handled, so that a thread is in another system call or in
        none; but its stack shows the lock."""
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.check(self.hang(HPCRUN, "-q", "-e", "REALTIME@f5000", "-o", f"{directory}/m", "--"), r"\w+")

    def test_program_that_ends(self):
        run = watchdog.Run(["sh", "-c", "echo out; echo errors >&2; exit 3"])
        self.assertEqual(run.finish(600), (3, b"out\n", b"errors\n"))
        self.assertEqual(run.processes(), [])
