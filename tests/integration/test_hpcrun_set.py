"""hpcrun --workers: runs of a set, and what hpcviewer says of it."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import profiling
import v4_writer
import viewer
from test_viewer_advice import run_json, thread

HPCRUN = profiling.HPCRUN
# Appends what a run was given.
LOG = 'echo "$1 $MINICILK_WORKERS $CILK_NWORKERS $OMP_NUM_THREADS" >>"$0"; cat'


class SetCase(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.set, self.log = self.folder / "set", self.folder / "log"

    def index(self):
        """Workers, repeat, status and directory of each run."""
        lines = [line.split() for line in (self.set / "set.index").read_text().splitlines()]
        return [(int(w), int(r), int(s), d) for word, w, r, s, _, d in
                (line for line in lines if line[0] == "run")]

    def hpcrun(self, *arguments, **more):
        return subprocess.run([HPCRUN, "-o", self.set, *map(str, arguments)], capture_output=True, text=True,
                              check=False, timeout=profiling.HANG, **more)

    def run_log(self, workers, repeat, *options, script=LOG):
        return self.hpcrun("--workers", workers, "--repeat", repeat, *options, "--", "sh", "-c", script, self.log, "{P}")

    def logged(self):
        return self.log.read_text().split("\n")[:-1]


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
        self.assertIn("12 of 12 runs complete; to see them: hpcviewer --print scaling", done.stderr)

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


class Scaling(SetCase):
    """Databases with known costs."""

    def setUp(self):
        super().setUp()
        self.set.mkdir()
        self.lines = ["hpctoolkit-set 1", "command ./app {P}"]

    def add(self, workers, repeat, wall, costs=None, status=0, cpus=4):
        name = f"run-{workers}-{repeat}"
        self.lines.append(f"run {workers} {repeat} {status} {wall} {name}")
        (self.set / "set.index").write_text("\n".join(self.lines) + "\n")
        (self.set / name).mkdir()
        (self.set / name / "x.hpcrun").touch()
        os.utime(self.set / name / "x.hpcrun", (0, 0))  # older than the database
        metrics = ("work", "overhead", "idleness")
        db = v4_writer.Database("app", metrics)
        main = db.entry(1, "main thread").call(db.function("main", db.module("/app"), 16))
        for metric, cost in enumerate(costs or ()):
            main.charge(cost, metric)
        database = self.set / f"{name}-database"
        database.mkdir()
        v4_writer.write_database(db, str(database))
        (database / "run.json").write_text(json.dumps(run_json([thread(1, 1.0)], wall, cpus, metrics=metrics)))

    def add_all(self):
        self.add(4, 1, 3.5, (11, 1, 2))
        self.add(1, 1, 10, (9, 1, 0))
        self.add(4, 2, 3.5, (11, 1, 2))
        self.add(8, 1, 3, (12, 2, 4))
        self.add(2, 1, 5, (1, 1, 1), status=3)

    def printed(self, kind):
        return viewer.printed("scaling", "--format", kind, self.set)

    def test_json(self):
        self.add_all()
        found = json.loads(self.printed("json"))
        self.assertEqual((found["title"], found["baseline"], found["baseline_time"]), ("./app {P}", "one worker", 10))
        self.assertEqual(found["failed"], [{"workers": 2, "repeat": 1, "status": 3}])
        one, four, eight = found["rows"]
        self.assertEqual([row["workers"] for row in found["rows"]], [1, 4, 8])
        self.assertEqual((four["runs"], four["time"], four["interval"]), (2, 3.5, [3.5, 3.5]))
        self.assertAlmostEqual(four["coverage"], 0.5)
        self.assertEqual([four[key] for key in ("work", "overhead", "idleness", "inflation")], [11, 1, 2, 2])
        expected = {"linear": 4, "maximal": 4, "idle_specific": 40 / 12, "inflation_specific": 40 / 12,
                    "actual": 10 / 3.5}
        self.assertEqual(four["factored"].keys(), expected.keys())
        for name, value in expected.items():
            self.assertAlmostEqual(four["factored"][name], value)
        self.assertEqual(one["speedup"], 1)
        self.assertEqual((eight["factored"]["idle_specific"], eight["factored"]["inflation_specific"]), (None, None))

    def test_serial_baseline(self):
        self.lines.append("serial ./serial")
        self.add_all()
        self.add(0, 1, 7)
        found = json.loads(self.printed("json"))
        self.assertEqual((found["baseline"], found["baseline_time"]), ("serial", 7))
        self.assertEqual(found["serial"]["command"], "./serial")
        self.assertAlmostEqual(found["rows"][1]["factored"]["maximal"], 4 * 7 / 10)
        self.assertIn("T_s: the serial program, 7.000 s (7.000 to 7.000), 1 runs", self.printed("text"))
        self.assertIn("serial,1,7,7,7,-,-", self.printed("csv"))

    def test_text(self):
        self.add_all()
        text = self.printed("text")
        self.assertIn("T_s: the program with one worker, 10.000 s (no --serial was given)", text)
        self.assertRegex(text, r"\n +4 +2 +3\.500 +3\.500 to 3\.500 +2\.86 +11\.000 +1\.000 +2\.000 +2\.000\n")
        self.assertRegex(text, r"\n +4 +4 +4\.00 +3\.33 +3\.33 +2\.86\n")
        self.assertRegex(text, r"\n +8 +8 +8\.00 +- +- +3\.33\n")
        self.assertIn("not used, status 3: run-2-1", text)
        self.assertIn("95% need 6 runs or more", text)
        self.assertIn("more workers than CPUs", text)

    def test_csv(self):
        self.add_all()
        lines = self.printed("csv").split("\n")
        self.assertEqual(lines[0].rstrip("\r"), "workers,runs,time,time low,time high,work,overhead,idleness,inflation,"
                         "maximal,idle_specific,inflation_specific,actual")
        self.assertTrue(lines[2].startswith("4,2,3.5,3.5,3.5,11,1,2,2,4,"), lines[2])

    def test_neither_baseline_nor_one_worker(self):
        self.add(4, 1, 3, (9, 1, 2))
        found = json.loads(self.printed("json"))
        self.assertEqual((found["baseline"], found["rows"][0]["speedup"]), (None, None))
        self.assertIn("T_s: none; hpcrun needs --serial, or --workers with 1", self.printed("text"))

    def test_a_run_without_measurements_has_its_time(self):
        self.add_all()
        (self.set / "run-4-2" / "x.hpcrun").unlink()
        done = viewer.run("--print", "scaling", "--format", "json", self.set)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run-4-2: has no measurements", done.stderr)
        self.assertEqual(json.loads(done.stdout)["rows"][1]["runs"], 2)

    def refused(self, message, *arguments, status=1):
        done = viewer.run(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)

    def test_refusals(self):
        self.refused("not a set of runs, which hpcrun --workers makes", "--print", "scaling", self.folder)
        self.add(4, 1, 3, (9, 1, 2), status=1)
        self.refused("no run of the set has ended with status 0", "--print", "scaling", self.set)
        self.refused("is a set of runs; to see it: hpcviewer --print scaling", "--print", "summary", self.set)
        self.refused("--print scaling takes one set", "--print", "scaling", self.set, self.set, status=2)
        self.refused("--print scaling takes one set", "--print", "scaling", status=2)

    def test_a_real_set(self):
        """hpcprof makes the databases."""
        self.set.rmdir()
        fib = profiling.BUILD / "tests" / "programs" / "cilk" / "fib"
        self.assertEqual(self.hpcrun("--workers", "1,2", "--repeat", "1", fib, 24).returncode, 0)
        found = json.loads(self.printed("json"))
        self.assertEqual([row["workers"] for row in found["rows"]], [1, 2])
        self.assertTrue((self.set / "workers-2-repeat-1-database" / "meta.db").exists())
        self.assertEqual(found["rows"][0]["factored"]["actual"], 1)
