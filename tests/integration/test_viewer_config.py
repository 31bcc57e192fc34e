"""The user's defaults, hpctoolkit/hpcviewer.conf."""
import os
import pathlib
import tempfile
from unittest import mock

import v4_writer
import viewer
import viewer_story as story
from test_viewer_tui import InTerminal


class WithConfig(InTerminal):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "hpctoolkit" / "hpcviewer.conf"
        self.path.parent.mkdir()
        patch = mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(self.folder)})
        patch.start()
        self.addCleanup(patch.stop)

    def configure(self, *lines):
        self.path.write_text("".join(f"{line}\n" for line in lines))

    def two_metrics(self):
        """A database with the metrics "first" and "second" (of which g has more)."""
        folder = self.folder / "two"
        db = v4_writer.Database("two", ["first", "second"])
        main = db.entry()
        main.call(db.function("f")).charge(3, 0).charge(1, 1)
        main.call(db.function("g")).charge(1, 0).charge(2, 1)
        v4_writer.write_database(db, folder)
        return folder

    @staticmethod
    def shape(folder, *options):
        """The metrics that are shown, and the procedures in their order."""
        shown = viewer.printed_json("top-down", *options, folder)
        return ([metric["name"] for metric in shown["metrics"]],
                [row["name"] for row in shown["root"]["children"][0]["children"]])


class Settings(WithConfig):
    def test_each(self):
        db = self.two_metrics()
        self.assertEqual(self.shape(db), (["first", "second"], ["f", "g"]))
        self.configure("# mine", "", "sort=second", "  # too", " metrics =  second,first ")
        self.assertEqual(self.shape(db), (["second", "first"], ["g", "f"]))
        self.configure("physical", f"include = {self.folder}/now", "replace = /src=/nowhere",
                       f"replace = /src={self.folder}/later")
        for name in ("now/util.h", "later/util.h"):
            (self.folder / name).parent.mkdir()
            (self.folder / name).write_text(f"{name}\n" * 50)
        self.assertIn("_start", viewer.printed("top-down", self.db))
        shown = viewer.printed("flat", "--no-config", "-I", self.folder / "later", self.db)
        self.assertIn("util.h:41  later/util.h", shown)
        self.configure(f"include = {self.folder}/now")
        self.assertIn("util.h:41  now/util.h", viewer.printed("flat", self.db))

    def test_the_command_line_comes_first(self):
        db = self.two_metrics()
        self.configure("sort = second", "metrics = second")
        self.assertEqual(self.shape(db, "--metrics", "first"), (["first"], ["f", "g"]))
        self.assertEqual(self.shape(db, "--metrics", "first,second", "--sort", "first")[1],
                         ["f", "g"])
        self.assertEqual(self.shape(db, "--no-config"), (["first", "second"], ["f", "g"]))
        (self.folder / "util.h").write_text("configured\n" * 50)
        (self.folder / "given").mkdir()
        (self.folder / "given" / "util.h").write_text("given\n" * 50)
        self.configure(f"include = {self.folder}")
        self.assertIn("util.h:41  given",
                      viewer.printed("flat", "-I", self.folder / "given", self.db))

    def test_what_a_database_does_not_have_is_passed_over(self):
        db = self.two_metrics()
        self.configure("sort = idleness", "metrics = work,second,nothing", "physical")
        self.assertEqual(self.shape(db), (["second"], ["g", "f"]))
        self.configure("metrics = work,nothing")
        self.assertEqual(self.shape(db), (["first", "second"], ["f", "g"]))
        self.configure("sort = idleness")  # not measured
        shown = viewer.printed("top-down", self.db)
        self.assertIn(story.TOP_DOWN.split(story.RULE)[1], shown)

    def test_in_the_terminal(self):
        self.configure("sort = work:exclusive", "physical")
        terminal = self.start(environment={"XDG_CONFIG_HOME": str(self.folder)})
        terminal.until_seen("[physical]", "▼ exclusive")
        terminal.press_until("2 p", "[logical]", "▼ exclusive")
        flag = ("display-message", "-p", "#{mouse_any_flag}#{mouse_standard_flag}")
        self.assertIn("1", terminal.tmux(*flag))
        self.configure("no-mouse")
        terminal = self.start(environment={"XDG_CONFIG_HOME": str(self.folder)})
        self.assertEqual(terminal.tmux(*flag), "00\n")


class Files(WithConfig):
    def refused(self, message, *options):
        done = viewer.run("--print", "flat", *options, self.db)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, f"hpcviewer: {self.path}{message}\n")
        self.assertEqual(viewer.run("--print", "flat", "--no-config", self.db).returncode, 0)

    def test_bad_lines(self):
        end = "; --no-config ignores this file"
        for line, what in [("colour = red", ":2: colour: there is no such option"),
                           ("sort", ":2: sort: it needs a value"),
                           ("sort = ", ":2: sort: it needs a value"),
                           ("physical = yes", ":2: physical: it takes no value"),
                           ("replace = nothing", ":2: replace: it takes OLD=NEW"),
                           ("print = flat", ":2: print: it is for the command line only"),
                           ("--physical", ":2: --physical: there is no such option"),
                           ("= work", ":2: no name before the '='")]:
            self.configure("# a comment", line, "sort = work")
            self.refused(what + end)

    def test_a_file_that_cannot_be_read(self):
        self.path.mkdir()
        self.refused(": Is a directory; --no-config ignores it")

    def test_where_it_is(self):
        self.configure("nonsense")
        home = self.folder / "home"
        usual = home / ".config" / "hpctoolkit" / "hpcviewer.conf"
        usual.parent.mkdir(parents=True)
        usual.write_text("rubbish\n")
        for environment, expected in [({"XDG_CONFIG_HOME": str(self.folder)}, self.path),
                                      ({"XDG_CONFIG_HOME": "", "HOME": str(home)}, usual),
                                      ({"XDG_CONFIG_HOME": "not/absolute", "HOME": str(home)}, usual),
                                      ({"XDG_CONFIG_HOME": "", "HOME": ""}, None),
                                      ({"XDG_CONFIG_HOME": "", "HOME": "/dev/null"}, None)]:
            with mock.patch.dict(os.environ, environment):
                done = viewer.run("--print", "flat", self.db)
                self.assertEqual(done.returncode, 2 if expected else 0)
                self.assertIn(f"{expected}:1: " if expected else "", done.stderr)

    def test_bytes_of_all_kinds(self):
        self.path.write_bytes(bytes(range(1, 256)) + b"\n")
        self.assertEqual(viewer.run("--print", "flat", self.db).returncode, 2)
        self.path.write_bytes(b"sort = work\r\nphysical\r\n# no end")
        self.assertIn("_start", viewer.printed("flat", self.db))
