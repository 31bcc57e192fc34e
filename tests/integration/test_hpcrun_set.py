"""hpcrun --workers: the runs of a set."""
import os
import pathlib
import signal
import subprocess

import profiling
from set_case import HPCRUN, SetCase


class Runs(SetCase):
    def test_numbers_in_alternating_order(self):
        done = self.run_log("1,3,2", 3, "--serial", f"echo serial >>{self.log}")
        self.assertEqual(done.returncode, 0, done.stderr)
        forth = ["1 1 1 1", "3 3 3 3", "2 2 2 2", "serial"]
        self.assertEqual(self.logged(), forth + forth[::-1] + forth)
        self.assertEqual([run[:3] for run in self.index()],
                         [(w, r, 0) for r in (1, 2, 3) for w in ((1, 3, 2, 0) if r % 2 else (0, 2, 3, 1))])
        for *_, directory in self.index():
            self.assertTrue(list((self.set / directory).glob("*.hpcrun")), directory)
        self.assertRegex(done.stderr, r"set: run 1 of 12: 1 worker, repeat 1: \d+\.\d{3} s\n")
        self.assertRegex(done.stderr, r"set: run 4 of 12: serial, repeat 1: ")
        self.assertIn("12 of 12 runs complete; to see them: hpcviewer ", done.stderr)

    def test_work_and_span_are_measured_in_one_more_run(self):
        """Last, with the fewest workers; w among the letters of HPCRUN_OPTIONS switches it on."""
        script = 'echo "$1 $HPCRUN_OPTIONS" >>"$0"'
        for _ in range(2):  # the second time, all runs are complete
            done = self.run_log("4,2", 1, "--work-span", script=script)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([(line[0], "w" in line) for line in self.logged()],
                             [("4", False), ("2", False), ("2", True)])
        self.assertEqual(self.index()[-1], (2, 0, 0, "workers-2-work-span"))
        self.assertIn("3 of 3 runs complete", done.stderr)

    def test_every_place_is_replaced(self):
        self.run_log("7", 1, script='echo "$1{P}{P}" >>"$0"')
        self.assertEqual(self.logged(), ["777"])

    def test_input_is_empty(self):
        """The first run would read what later ones then lack."""
        with open(__file__, encoding="utf-8") as text:
            done = subprocess.run([HPCRUN, "-o", self.set, "--workers", "1", "--repeat", "1", "cat"], stdin=text,
                                  capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "")

    def test_complete_runs_are_not_repeated(self):
        self.run_log("1,2", 1)
        before = self.index()
        done = self.run_log("1,2,4", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(line.split()[0] for line in self.logged()), ["1", "1", "2", "2", "4", "4"])
        self.assertEqual(self.index()[:2], before)
        self.assertIn("6 of 6 runs complete", done.stderr)

    def test_a_run_that_fails(self):
        """It costs only itself, and is tried again the next time."""
        script = '[ "$1" != 2 ] || [ -e "$0" ] || exit 7'
        done = self.run_log("1,2,4", 1, script=script)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run 2 of 3: 2 workers, repeat 1: exit status 7; this run is not used", done.stderr)
        self.assertIn("2 of 3 runs complete", done.stderr)
        self.assertEqual([run[:3] for run in self.index()], [(1, 1, 0), (2, 1, 7), (4, 1, 0)])
        self.log.touch()
        done = self.run_log("1,2,4", 1, script=script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([run[:3] for run in self.index()], [(1, 1, 0), (2, 1, 0), (4, 1, 0)])
        self.assertEqual(self.index()[1][3], "workers-2-repeat-1-2")

    def test_a_run_that_a_signal_ends(self):
        done = self.run_log("1", 1, script="kill -9 $$")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 worker, repeat 1: ended by signal 9", done.stderr)
        self.assertEqual(self.index()[0][2], 128 + 9)

    def test_a_set_that_is_stopped_goes_on(self):
        """SIGTERM ends the command, too."""
        script = 'trap "" INT; echo $$ >>"$0"; [ "$1" = 1 ] || [ -e "$0.go" ] || exec sleep 1000'
        command = ["--workers", "1,2,4", "--repeat", "1", "--", "sh", "-c", script, self.log, "{P}"]
        hpcrun = subprocess.Popen([HPCRUN, "-o", self.set, *command], stderr=subprocess.PIPE, text=True)
        try:
            profiling.wait_until(lambda: self.log.exists() and len(self.logged()) == 2, "second run")
        finally:
            hpcrun.terminate()
        try:
            _, errors = hpcrun.communicate(timeout=profiling.HANG)
        except subprocess.TimeoutExpired:
            os.kill(int(self.logged()[1]), signal.SIGKILL)
            raise
        self.assertEqual(hpcrun.returncode, 128 + signal.SIGTERM)
        self.assertIn("stopped by signal 15; the same command goes on from here", errors)
        self.assertEqual([run[:3] for run in self.index()], [(1, 1, 0)])
        with self.assertRaises(ProcessLookupError):
            os.kill(int(self.logged()[1]), 0)
        pathlib.Path(f"{self.log}.go").touch()
        done = self.hpcrun(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([run[0] for run in self.index()], [1, 2, 4])
        self.assertEqual(len(self.logged()), 4)


class Refusals(SetCase):
    def refused(self, status, message, *arguments):
        done = self.hpcrun(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)

    def test_numbers(self):
        for numbers in ("", "0", "1,", "1,,2", "a", "1;2", "-1", "1,99999999"):
            self.refused(2, "--workers", "--workers", numbers, "true")
        self.refused(2, "--workers: 2 is there twice", "--workers", "2,1,2", "true")
        for number in ("0", "x", "2x", "99999"):
            self.refused(2, "--repeat", "--workers", "1", "--repeat", number, "true")
        self.refused(2, "--repeat and --serial need --workers", "--repeat", "2", "true")
        self.assertFalse(self.set.exists())

    def test_without_a_directory(self):
        done = subprocess.run([HPCRUN, "--workers", "1", "true"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--workers needs -o SET, the directory for all runs", done.stderr)

    def test_no_such_command(self):
        self.refused(127, "command not found", "--workers", "1,2", "no-such-command")
        self.assertFalse(self.set.exists())

    def test_directories_of_others(self):
        self.set.mkdir()
        (self.set / "file").touch()
        self.refused(1, "exists, and is neither empty nor a set of runs", "--workers", "1", "true")
        (self.set / "file").unlink()
        self.hpcrun("--workers", "1", "--repeat", "1", "true")
        self.refused(1, "is a set of another command: true", "--workers", "1", "false")
        (self.set / "set.index").write_text("hpctoolkit-set 1\ncommand true\nrun\n")
        self.refused(1, "set.index: line 3 is damaged", "--workers", "1", "true")
