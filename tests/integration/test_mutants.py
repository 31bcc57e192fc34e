"""The list of faults in tests/mutants/ fits the tree; and five of those that a unit test must notice are
noticed, others at every commit. `make mutants` plants all of them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import profiling

sys.path.insert(0, str(profiling.ROOT / "tests"))
import mutants  # noqa: E402 (needs the path above)

BUILD = os.environ.get("BUILD", profiling.ROOT / "build")


class Place:
    """A copy of the tree in which the tests of a fault give these verdicts, one after the other."""

    def __init__(self, *verdicts):
        self.verdicts = list(verdicts)

    def try_fault(self, _):
        return self.verdicts.pop(0)


class TooLittleEvidence(unittest.TestCase):
    """A fault whose tests were skipped is planted again."""

    def counts(self, *verdicts):
        """Of one fault, and the verdicts that were not asked for."""
        place = Place(*verdicts)
        work = mutants.Work([place])
        work.all(work.faults_of_a_file, [["the fault"]])
        work.all(work.undecided_faults, [work.undecided])
        return {kind: count for kind, count in work.counts.items() if count}, place.verdicts

    def test_a_later_verdict_counts(self):
        self.assertEqual(self.counts("noticed", "rest"), ({"noticed": 1}, ["rest"]))
        self.assertEqual(self.counts("skipped", "skipped", "noticed", "rest"), ({"noticed": 1}, ["rest"]))
        self.assertEqual(self.counts("skipped", "survived", "rest"), ({"survived": 1}, ["rest"]))

    def test_no_verdict_is_an_error(self):
        skips = ["skipped"] * (1 + mutants.MORE_TRIES)
        self.assertEqual(self.counts(*skips, "rest"), ({"errors": 1}, ["rest"]))


class Format(unittest.TestCase):
    def test_what_is_planted(self):
        text = "if (a[i - 1])\n\tb = 1;\nelse\n\tb = 2;\n"
        for fault, result in (
                ("b = [-1-]{+3+};", text.replace("1;", "3;")),
                ("a[i[- - 1-]]", text.replace(" - 1", "")),
                ("a[i - 1]{+ && c+})  b = 1", text.replace("])", "] && c)")),
                ("[-b = 1; else-]", text.replace("b = 1;\nelse", "")),
                ("b = [-3-]", None),
                ("[-b-] =", None)):
            self.assertEqual(mutants.planted(text, mutants.Fault("", 1, "", [], fault)), result, fault)


class Processes(unittest.TestCase):
    """What a command has started in another session does not outlive it."""

    def setUp(self):
        self.said = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "said"
        # The orphan keeps the pipe of the command's output open. The command goes on when it has said its number.
        self.command = (f"mkfifo {self.said}.begun; (setsid sh -c 'trap \"\" HUP INT TERM; echo $$ >{self.said}; "
                        f"echo >{self.said}.begun; exec sleep {profiling.HANG}' &); read begun <{self.said}.begun; ")

    def check_ended(self):
        pid = int(self.said.read_text())
        with self.assertRaises(ProcessLookupError, msg=pid):
            os.kill(pid, 0)

    def test_a_command_that_ends(self):
        done = mutants.run(["sh", "-c", self.command + "echo said; exit 3"], "/", profiling.HANG / 2)
        self.assertEqual(done, (3, "said\n"))
        self.check_ended()

    def test_a_command_that_never_ends(self):
        """It has more and more time until it has begun its orphan."""
        timeout = 0.5
        while not self.said.exists() or not self.said.read_text():
            timeout *= 2
            command = f"rm -f {self.said}*; {self.command} sleep {profiling.HANG}"
            self.assertEqual(mutants.run(["sh", "-c", command], "/", timeout), (None, ""))
        self.check_ended()

    def test_a_run_that_is_killed(self):
        begun = self.said.with_suffix(".both")
        os.mkfifo(begun)
        command = f"{self.command} echo >{begun}; sleep {profiling.HANG}"
        code = f"import mutants; mutants.run(['sh', '-c', {command!r}], '/', {profiling.HANG})"
        with subprocess.Popen([sys.executable, "-c", code], cwd=profiling.ROOT / "tests") as tool:
            begun.read_text()
            tool.kill()
        process = pathlib.Path(f"/proc/{int(self.said.read_text())}")
        profiling.wait_until(lambda: not process.exists(), "end of the orphan")


class Folders(unittest.TestCase):
    def test_a_run_beside_another(self):
        """The first one's folder stays as long as it runs, and goes when it was killed."""
        parent = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "mutants"
        code = ("import mutants, pathlib, sys\n"
                "print(mutants.folder_of_this_run(pathlib.Path(sys.argv[1])), flush=True)\n"
                "input()\n")
        with subprocess.Popen([sys.executable, "-c", code, parent], cwd=profiling.ROOT / "tests", stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as other:
            first = pathlib.Path(other.stdout.readline().strip())
            second = mutants.folder_of_this_run(parent)
            self.assertEqual(set(parent.iterdir()), {first, second})
            other.kill()
        third = mutants.folder_of_this_run(parent)
        self.assertEqual(set(parent.iterdir()), {second, third})


class Mutants(unittest.TestCase):
    def test_the_tree_has_the_lines_and_tests_of_all_faults(self):
        """A change of the lines of a fault, or of the name of a test, must change the list, too."""
        done = subprocess.run([sys.executable, profiling.ROOT / "tests" / "mutants.py", BUILD, "--list"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, [line for line in done.stdout.splitlines() if "NOWHERE" in line or "NO TEST" in line])

    def test_a_test_that_is_not_there(self):
        for name in ("unit/hpcrun/test_cfi", "test_mutants", "test_mutants.Mutants",
                     "test_mutants.Mutants.test_a_test_that_is_not_there"):
            self.assertTrue(mutants.is_a_test(name), name)
        for name in ("unit/hpcrun/test_nothing", "test_nothing", "test_mutants.Nothing", "test_mutants.Mutants.test_nothing"):
            self.assertFalse(mutants.is_a_test(name), name)

    def test_five_faults(self):
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        if not (profiling.ROOT / ".git").exists():
            self.skipTest("the list of the tree's files comes from git, and this is no checkout")
        done = subprocess.run([sys.executable, profiling.ROOT / "tests" / "mutants.py", BUILD, "--sample", "5",
                               "--jobs", "1", "unit/"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, re.compile(r"^5 noticed, 0 survived in", re.M))
