"""Source code in the viewer: where it is found, its margin, the editor."""
import pathlib
import tempfile
import unittest

import viewer
import viewer_story as story
from test_viewer_tui import InTerminal

UTIL = "".join(f"util line {n}\n" for n in range(1, 60))


class WithUtil(InTerminal):
    """util.h, of which the database has no copy, is at two places below self.folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for place in ("now/src", "include"):
            (self.folder / place).mkdir(parents=True)
            (self.folder / place / "util.h").write_text(UTIL.replace("util", place))


class Finding(WithUtil):
    def code(self, *options):
        """What stands behind util.h:41 in print, for these options."""
        done = viewer.run("--print", "top-down", *options, self.db)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        line = next(line for line in done.stdout.splitlines() if " util.h:41" in line)
        return line.split(" util.h:41")[1].strip()

    def test_what_is_not_copied_is_searched(self):
        now, include = self.folder / "now", self.folder / "include"
        self.assertEqual(self.code(), "")
        self.assertEqual(self.code("-I", now), "now/src line 41")
        self.assertEqual(self.code("--include", include), "include line 41")
        # src/util.h is a longer part of /src/util.h than util.h is.
        self.assertEqual(self.code("-I", include, "-I", now), "now/src line 41")

    def test_paths_are_replaced(self):
        self.assertEqual(self.code("-R", f"/src={self.folder}/now/src"), "now/src line 41")
        self.assertEqual(self.code(f"--replace=/src/={self.folder}/include"), "include line 41")
        self.assertEqual(self.code("-R", f"/sr={self.folder}/include"), "")

    def test_copies_come_first(self):
        (self.folder / "now/src/coder.c").write_text("another\n" * 60)
        shown = viewer.printed("top-down", "-I", self.folder / "now", self.db)
        self.assertIn("state = step(state); // here", shown)
        self.assertNotIn("another", shown)

    def test_what_is_no_directory_and_no_rule(self):
        done = viewer.run("--print", "flat", "-I", "/nowhere", self.db)
        self.assertEqual(done.stderr, "hpcviewer: /nowhere: not a directory: no source files are "
                         "searched there\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn(story.FLAT.splitlines()[3], done.stdout)
        done = viewer.run("--print", "flat", "-R", "nothing", self.db)
        self.assertIn("-R takes OLD=NEW, not 'nothing'", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_in_the_terminal(self):
        terminal = self.start("-I", self.folder / "now", self.db)
        terminal.press("/")
        terminal.type("min_size")
        terminal.press("Enter")
        terminal.until_seen("/src/util.h:40", "    40 > now/src line 40")


if __name__ == "__main__":
    unittest.main()
