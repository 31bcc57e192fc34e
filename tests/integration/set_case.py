"""Sets of runs (hpcrun --workers) for tests: real ones, and such with databases of known costs."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import profiling
import v4_writer
import viewer
from test_viewer_advice import run_json, thread

HPCRUN = profiling.HPCRUN
COSTS = ("work", "overhead", "idleness")
WORK_SPAN = (*COSTS, "exact work", "span", "burdened span")
# Appends what a run was given.
LOG = 'echo "$1 $MINICILK_WORKERS $CILK_NWORKERS $OMP_NUM_THREADS" >>"$0"; cat'


class SetCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
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


class SetWriter:
    """Writes a set whose runs have databases with known costs, into a folder that exists."""

    def __init__(self, folder, *lines):
        self.set = folder
        self.lines = ["hpctoolkit-set 1", *(lines or ("command ./app {P}",))]

    def write_index(self):
        (self.set / "set.index").write_text("\n".join(self.lines) + "\n")

    def add(self, workers, repeat, wall, costs=None, status=0, cpus=4, metrics=COSTS):
        """A run; `costs` of main, or a function that adds code with costs to the database."""
        name = f"run-{workers}-{repeat}"
        self.lines.append(f"run {workers} {repeat} {status} {wall} {name}")
        self.write_index()
        (self.set / name).mkdir()
        (self.set / name / "x.hpcrun").touch()
        os.utime(self.set / name / "x.hpcrun", (0, 0))  # older than the database
        db = v4_writer.Database("app", metrics)
        if callable(costs):
            costs(db)
        else:
            main = db.entry(1, "main thread").call(db.function("main", db.module("/app"), 16))
            for metric, cost in enumerate(costs or ()):
                main.charge(cost, metric)
        database = self.set / f"{name}-database"
        database.mkdir()
        v4_writer.write_database(db, str(database))
        run = run_json([thread(1, 1.0)], wall, cpus, metrics=metrics)
        run["processes"][0].update(file="x.hpcrun", origin="launched")
        (database / "run.json").write_text(json.dumps(run))


class KnownSet(SetCase):
    """A set of a SetWriter for each test."""

    def setUp(self):
        super().setUp()
        self.set.mkdir()
        self.writer = SetWriter(self.set)
        self.add = self.writer.add

    def printed(self, kind, view="scaling"):
        return viewer.printed(view, "--format", kind, self.set)

    def refused(self, message, *arguments, status=1):
        done = viewer.run(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
