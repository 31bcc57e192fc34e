"""The list of faults in tests/mutants/ fits the tree; and ten of those that a unit test must notice are
noticed, others at every commit. `make mutants` plants all of them."""
import os
import re
import shutil
import subprocess
import sys
import unittest

import profiling

BUILD = os.environ.get("BUILD", profiling.ROOT / "build")


class Mutants(unittest.TestCase):
    def test_the_tree_has_the_lines_of_all_faults(self):
        """A change of the lines of a fault must change the list, too."""
        done = subprocess.run([sys.executable, profiling.ROOT / "tests" / "mutants.py", BUILD, "--list"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, [line for line in done.stdout.splitlines() if "NOWHERE" in line])

    def test_ten_faults(self):
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        if not (profiling.ROOT / ".git").exists():
            self.skipTest("the list of the tree's files comes from git, and this is no checkout")
        done = subprocess.run([sys.executable, profiling.ROOT / "tests" / "mutants.py", BUILD, "--sample", "10",
                               "unit/"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, re.compile(r"^10 noticed, 0 survived in", re.M))


if __name__ == "__main__":
    unittest.main()
