"""The fuzz targets (tests/fuzz): all seeds and damaged ones, always the same. `make fuzz-targets` makes new inputs."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ["BUILD"]).resolve()
CORPUS = BUILD / "fuzz" / "corpus"
sys.path.insert(0, str(TESTS / "fuzz"))
import run_targets  # noqa: E402


@unittest.skipUnless(CORPUS.exists(), "needs clang with libFuzzer" if os.environ.get("TEST_ALL") else
                     "long form: make test-all")
class FuzzTargets(unittest.TestCase):
    def run_target(self, target, *options):
        inputs = [folder for folder in (CORPUS / target, CORPUS.with_suffix(".damaged") / target) if folder.exists()]
        with run_targets.fast_folder() as folder:
            new = os.path.join(folder, "new")  # libFuzzer adds inputs to the first folder
            os.mkdir(new)
            command = run_targets.command(BUILD, target, "-timeout=600", "-detect_leaks=0", *options, new, *inputs)
            return subprocess.run(command, cwd=folder, env=run_targets.environment(folder),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")

    def test_each_target(self):
        targets = run_targets.targets(BUILD)
        self.assertEqual(len(targets), 22)
        for target in targets:
            with self.subTest(target=target):
                done = self.run_target(target, "-runs=0")
                self.assertEqual(done.returncode, 0, done.stderr[-4000:])
                runs = int(re.search(r"Done (\d+) runs", done.stderr)[1])
                self.assertGreater(runs, 50)

    def test_too_much_memory_is_noticed(self):
        """The own limit holds for all of a run, not only for one block."""
        done = self.run_target("memory-test", "-runs=1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("allocations are not bounded by the size of the input", done.stderr)
