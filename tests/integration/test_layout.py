"""The layout of the source tree: names that occur once, no arrows to upper folders, no circles of
includes (tests/check_layout.py); and that the check finds each kind of violation."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "tests" / "check_layout.py"


def check(root):
    done = subprocess.run([sys.executable, root / "tests" / "check_layout.py"], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr


class Layout(unittest.TestCase):
    def test_the_tree(self):
        self.assertEqual(check(ROOT), (0, [], ""))


class Violations(unittest.TestCase):
    """A small tree with two folders, `low` below `high`."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for room in ("lib", "agents", "hpcrun", "hpcstruct", "hpcprof", "viewer-tui"):
            self.write(f"{room}/module.mk", "")
        self.write("hpcprof/module.mk", "HPCPROF_FOLDERS = low high\n")
        self.write("hpcprof/low/a.h", "")
        self.write("hpcprof/high/b.c", '#include "hpcprof/low/a.h"\n#include "lib/c.h"\n')
        self.write("hpcprof/high/b.h", "")
        self.write("lib/c.h", "")
        (self.root / "tests").mkdir()
        shutil.copy(CHECK, self.root / "tests")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def found(self):
        status, lines, errors = check(self.root)
        self.assertEqual((status, errors), (1 if lines else 0, ""))
        return lines

    def test_nothing_is_wrong(self):
        self.assertEqual(self.found(), [])

    def test_repeated_name(self):
        self.write("hpcprof/low/b.c", "")
        self.assertEqual(self.found(), ["b.c: occurs 2 times: hpcprof/high/b.c, hpcprof/low/b.c"])

    def test_arrow_to_an_upper_folder(self):
        self.write("hpcprof/low/d.c", '#include "hpcprof/high/b.h"\n')
        self.assertEqual(self.found(), ["hpcprof/low/d.c: includes hpcprof/high/b.h, of a folder that is "
                                        "not below low"])

    def test_folder_that_is_not_listed(self):
        self.write("hpcprof/other/e.c", "")
        self.assertEqual(self.found(), ["hpcprof/other/e.c: folder other is not in the FOLDERS of "
                                        "hpcprof/module.mk"])

    def test_include_of_another_tool(self):
        self.write("hpcstruct/f.c", '#include "hpcprof/low/a.h"\n')
        self.assertEqual(self.found(), ["hpcstruct/f.c: includes hpcprof/low/a.h, of another tool"])

    def test_file_that_is_opened_by_itself(self):
        for path in ("hpcprof/low/j.c", "hpcrun/launch/k.c", "hpcrun/hooks/l.c", "lib/safe-input.c"):
            self.write(path, 'reopen(x);\nview->open(x);\nfile = fopen(path, "re");\n')
        self.assertEqual(self.found(), [f"{path}:3: fopen: use lib/safe-input.h or lib/safe-output.h"
                                        for path in ("hpcrun/launch/k.c", "hpcprof/low/j.c")])

    def test_circle(self):
        self.write("hpcprof/low/g.c", '#include "hpcprof/low/h.h"\n')
        self.write("hpcprof/low/h.h", '#include "hpcprof/low/i.h"\n')
        self.write("hpcprof/low/i.c", '#include "hpcprof/low/g.h"\n')
        self.write("hpcprof/low/i.h", "")
        self.write("hpcprof/low/g.h", "")
        self.assertEqual(self.found(), ["circle of includes: hpcprof/low/g -> hpcprof/low/h -> "
                                        "hpcprof/low/i -> hpcprof/low/g"])
