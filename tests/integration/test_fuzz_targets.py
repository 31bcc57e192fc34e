"""The fuzz targets (tests/fuzz): all seeds and a hundred inputs for each. `make fuzz-targets` runs longer."""
import os
import pathlib
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ["BUILD"]).resolve()
sys.path.insert(0, str(TESTS / "fuzz"))
import run_targets  # noqa: E402

RUNS = 100


@unittest.skipUnless((BUILD / "fuzz" / "corpus").exists(), "needs clang with libFuzzer")
class FuzzTargets(unittest.TestCase):
    def run_target(self, target, *options):
        seeds = BUILD / "fuzz" / "corpus" / target
        with run_targets.fast_folder() as folder:
            new = os.path.join(folder, "new")  # libFuzzer adds inputs to the first folder
            os.mkdir(new)
            folders = [new, seeds] if seeds.exists() else [new]
            command = run_targets.command(BUILD, target, "-timeout=600", "-detect_leaks=0", *options, *folders)
            return subprocess.run(command, cwd=folder, env=run_targets.environment(folder),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")

    def test_each_target(self):
        targets = run_targets.targets(BUILD)
        self.assertEqual(len(targets), 17)
        for target in targets:
            with self.subTest(target=target):
                done = self.run_target(target, f"-runs={RUNS}", "-seed=1")
                self.assertEqual(done.returncode, 0, done.stderr[-4000:])
                self.assertIn(f"Done {RUNS} runs", done.stderr)

    def test_too_much_memory_is_noticed(self):
        """The own limit holds for all of a run, not only for one block."""
        done = self.run_target("memory-test", "-runs=1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("allocations are not bounded by the size of the input", done.stderr)


if __name__ == "__main__":
    unittest.main()
