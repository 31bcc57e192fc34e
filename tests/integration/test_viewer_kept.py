"""Columns and bars that are kept from one time to the next: S in the list of columns writes
them to the user's defaults, and nothing else does."""
import os
import pathlib
import re
import stat
import tempfile
import unittest
from unittest import mock

import v4_writer
import viewer
from viewer_screen import Viewer

METRICS = ["work (sec)", "cache, L1:misses", "flops"]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.db, cls.other = pathlib.Path(folder) / "db", pathlib.Path(folder) / "other"
        for path, metrics in (cls.db, METRICS), (cls.other, ["cycles"]):
            path.mkdir()
            v4_writer.write_database(viewer.random_database(5, 60, metrics=metrics), path)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "hpctoolkit" / "hpcviewer.conf"

    def start(self, *arguments, config=None):
        return self.enterContext(Viewer(*(arguments or [self.db]), height=40,
                                        environment={"XDG_CONFIG_HOME": str(config or self.folder)}))

    def in_list(self, terminal, *keys):
        terminal.press_until("C", "hpcviewer: columns")
        terminal.press(*keys)

    def save(self, terminal, *keys):
        """Presses the keys in the list of columns, then S; the settings that are then in the file."""
        self.in_list(terminal, *keys, "S")
        terminal.until_seen(f"saved for the next time: {self.path}")
        return self.path.read_text()

    @staticmethod
    def shape(lines):
        """The heads of the columns and the first row's values."""
        return [line.split("scope")[0].rstrip() for line in lines[2:5]]


class Keeping(Case):
    def test_all_choices_come_back(self):
        terminal = self.start()
        terminal.press_until("b", "█")
        # Work: inclusive after exclusive; misses hidden, flops only inclusive.
        text = self.save(terminal, "J", "j", "Space", "j", "Space", "j", "j", "Space")
        self.assertEqual(text, "bars\n"
                               "columns = work (sec):exclusive,work (sec):inclusive,flops:inclusive\n")
        shape = self.shape(terminal.screen())
        self.assertEqual(shape[1].split(), ["exclusive", "▼", "inclusive", "inclusive"])
        again = self.start()
        self.assertEqual(self.shape(again.until_seen("█")), shape)
        self.in_list(again)  # what is hidden is still in the list
        lines = again.until_seen("hpcviewer: columns")
        self.assertEqual([line[1:4] for line in lines[1:7]], ["[x]"] * 3 + ["[ ]"] * 3)
        again.press("q")
        again.press("3")  # another view
        lines = again.until_seen("/bin/program")
        self.assertEqual(self.shape(lines)[1].split(), ["exclusive", "▼", "inclusive", "inclusive"])

    def test_automatic_columns(self):
        terminal = self.start()
        terminal.press("b")
        self.save(terminal, "Space")
        terminal.press("b")
        terminal.until_gone("█")
        self.assertEqual(self.save(terminal, "a"), "")
        again = self.start()
        self.assertEqual(self.shape(again.screen())[1].split(),
                         ["▼", "inclusive"] + ["exclusive", "inclusive"] * 2 + ["exclusive"])

    def test_derived_metrics_and_other_databases(self):
        terminal = self.start("--derive", "twice = 2 * $flops", self.db)
        text = self.save(terminal, "j", "j", "Space", "j", "Space")
        self.assertIn("columns = work (sec):inclusive,work (sec):exclusive,flops:inclusive,"
                      "flops:exclusive,twice:inclusive,twice:exclusive\n", text)
        again = self.start()
        self.assertIn("flops", self.shape(again.screen())[0])
        self.assertNotIn("L1", self.shape(again.screen())[0])
        again.answer("d", "half = $flops / 2")  # one that is new is shown
        again.until_seen("in the whole program")
        self.assertIn("half", self.shape(again.screen())[0])
        other = self.start(self.other)
        self.assertEqual(self.shape(other.screen())[1].split(), ["▼", "inclusive", "exclusive"])

    def test_options_come_first(self):
        self.path.parent.mkdir()
        self.path.write_text("columns = flops:inclusive\nnumbers = percent\nbars\n")  # of an earlier version
        terminal = self.start("--columns", "cache, L1:misses:exclusive+6,flops:inclusive,nothing", self.db)
        lines = terminal.until_seen("█")
        self.assertEqual(self.shape(lines)[1].split(), ["exclusive", "inclusive"])
        self.assertEqual(lines[3].index("exclusive") + len("exclusive"), 16)  # +6: a width, of an earlier version
        self.assertEqual(self.shape(self.start("--no-config", self.db).screen())[1].split().count(
            "exclusive"), 3)


class File(Case):
    def test_other_lines_stay(self):
        self.path.parent.mkdir()
        self.path.write_text("# mine\n\n  numbers=plain  \ninclude = /a b/c\n#bars\nnumbers = fit\n"
                             "no-mouse")
        self.path.chmod(0o640)
        terminal = self.start()
        terminal.press_until("b", "█")
        text = self.save(terminal)
        self.assertEqual(text, "# mine\n\ninclude = /a b/c\n#bars\nno-mouse\n"
                               "bars\n")
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o640)
        self.assertEqual(os.listdir(self.path.parent), [self.path.name])

    def test_links_stay(self):
        self.path.parent.mkdir()
        real = self.folder / "dotfiles" / "viewer.conf"
        real.parent.mkdir()
        real.write_text("no-mouse\n")
        self.path.symlink_to(real)
        terminal = self.start()
        terminal.press("b")
        self.in_list(terminal, "S")
        terminal.until_seen(f"saved for the next time: {real}")
        self.assertEqual(real.read_text(), "no-mouse\nbars\n")
        self.assertTrue(self.path.is_symlink())

    def test_nothing_is_written_unasked(self):
        terminal = self.start()
        terminal.press("b")
        self.in_list(terminal, "Space", "J", "q")
        terminal.until_seen("?:help")
        terminal.press_until("q", "ended 0")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_cannot_be_written(self):
        terminal = self.start(config="/dev/null")
        self.in_list(terminal, "S")
        terminal.until_seen("not saved: /dev/null/hpctoolkit/hpcviewer.conf: Not a directory")
        terminal = self.start()
        self.in_list(terminal, *["Space", "j"] * 6, "S")
        terminal.until_seen("not saved: no column is shown")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_columns_of_two_databases_are_not_kept(self):
        self.path.parent.mkdir()
        self.path.write_text("columns = flops:inclusive\n")
        terminal = self.start(self.db, self.db)
        terminal.press("b")
        self.in_list(terminal, "Space", "S")
        terminal.until_seen(f"bars saved for the next time: {self.path}")
        self.assertEqual(self.path.read_text(), "columns = flops:inclusive\nbars\n")

    def test_bad_settings_and_options(self):
        self.path.parent.mkdir()
        for line, what in (("bars = yes", "bars: it takes no value"),
                           ("columns", "columns: it needs a value")):
            self.path.write_text(line + "\n")
            with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(self.folder)}):
                done = viewer.run("--print", "flat", self.db)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)
        for options, what in ((("--print", "threads", "--bars"), "are for the viewer, and for trees as text"),
                              (("--print", "flat", "--columns", "a:inclusive"), "no column of 'a:inclusive'; there are "),
                              (("--columns", "a", self.db), "with one database, not with two")):
            done = viewer.run(*options, self.db)
            self.assertEqual(done.returncode, 2)
            self.assertTrue(re.search(re.escape(what), done.stderr), done.stderr)
