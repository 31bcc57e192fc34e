"""make tour: what it writes into a page."""
import contextlib
import io
import pathlib
import re
import stat
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
import tour

HPCRUN = """#!/bin/sh
# Plays hpcrun -q -o DIRECTORY PROGRAM: of all runs the third one is the shortest.
runs=$(cat runs 2>/dev/null || echo 0); runs=$((runs + 1)); echo $runs > runs
[ $runs = 3 ] && wall=0.5 || wall=0.$((10 - runs))
mkdir $3 && echo "hpcrun: x: in 0.1 s CPU, $wall s wall" > $3/hpcrun.log && echo run $runs
"""


class Tour(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bin").mkdir()
        hpcrun = self.folder / "bin/hpcrun"
        hpcrun.write_text(HPCRUN)
        hpcrun.chmod(hpcrun.stat().st_mode | stat.S_IXUSR)

    def renewed(self, text, runs=1):
        page = self.folder / "page.md"
        page.write_text(text)
        with contextlib.redirect_stderr(io.StringIO()):
            tour.renew(page, self.folder, runs)
        return page.read_text()

    def test_outputs_are_replaced(self):
        """Both outputs, from one folder; text and other blocks stay."""
        before = ("# A page\n\n```console\n$ echo new > file\n$ cat file; echo error >&2\nold\nolder\n```\n\n"
                  "```\n$ echo a story\nits screen\n```\nThe end.\n")
        after = before.replace("old\nolder\n", "new\nerror\n")
        self.assertEqual(self.renewed(before), after)
        self.assertEqual(self.renewed(after), after)

    def test_the_files_that_commands_name(self):
        page = self.renewed("```console\n$ ls pipe.cc triangle.c four-programs.mk convoy.c\n```\n")
        self.assertIn("convoy.c\nfour-programs.mk\npipe.cc\ntriangle.c\n```", page)

    def test_lines_of_hpcrun_are_broken(self):
        page = self.renewed(f"```console\n$ echo 'hpcrun: {'word ' * 40}'; echo {'word' * 40}\n```\n")
        broken, rest, other = page.splitlines()[2:5]
        self.assertTrue(len(broken) <= 118 and rest.startswith("    word"))
        self.assertEqual(other, "word" * 40)

    def test_the_folder_is_not_shown(self):
        page = self.renewed("```console\n$ echo $PWD/m: written\n```\n")
        self.assertIn("\nm: written\n", page)

    def test_the_shortest_run_stays(self):
        page = self.renewed("```console\n$ hpcrun -q -o m ./pipe\n$ cat m/hpcrun.log\n```\n", runs=4)
        self.assertIn("./pipe\nrun 3\n", page)
        self.assertIn("hpcrun: x: in 0.1 s CPU, 0.5 s wall\n", page)

    def test_other_programs_run_once(self):
        self.assertIn("\nrun 1\n", self.renewed("```console\n$ hpcrun -q -o m ./convoy\n```\n", runs=4))

    def test_a_command_that_fails(self):
        """It ends the tour, with its output, and the page stays."""
        before = "```console\n$ echo new; false\nold\n```\n"
        with self.assertRaisesRegex(SystemExit, re.escape("echo new; false: status 1\nnew\n")):
            self.renewed(before)
        self.assertEqual((self.folder / "page.md").read_text(), before)
