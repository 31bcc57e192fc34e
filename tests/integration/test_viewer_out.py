"""Output of the terminal viewer: the view to a file (W; more in test_viewer_written.py)."""
import json
import pathlib
import re
import tempfile

import viewer
import viewer_story as story
from test_viewer_tui import InTerminal

FORMATS = {".csv": "csv", ".json": "json", ".html": "flamegraph",
           ".folded": "folded", ".pb.gz": "pprof", ".speedscope.json": "speedscope"}


class Writing(InTerminal):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, terminal, name):
        """W with that name; the file's path."""
        path = self.folder / name
        terminal.press_until("W", "write to: ")
        terminal.answer("C-u", str(path))
        return path

    def written(self, terminal, name):
        path = self.write(terminal, name)
        terminal.until_seen(f"written: {path}")
        return path

    def expected(self, *arguments):
        """The same by --print --output."""
        path = self.folder / "expected"
        viewer.printed(*arguments, "--output", path, self.db)
        return path.read_bytes()

    def every_format_is_what_is_printed(self, terminal):
        """Text is what is on the screen: test_viewer_written.py."""
        for suffix, name in FORMATS.items():
            path = self.written(terminal, f"view{suffix}")
            self.assertEqual(path.read_bytes(), self.expected("top-down", "--format", name), suffix)

    def views_projections_and_sorting(self, terminal):
        terminal.press_until("3", "libc.so.6")
        self.assertEqual(self.written(terminal, "flat.csv").read_bytes(),
                         self.expected("flat", "--format", "csv"))
        terminal.press_until("2 <", "▼ inclusive")
        self.assertEqual(self.written(terminal, "bottom-up.json").read_bytes(),
                         self.expected("bottom-up", "--format", "json", "--sort", "work:inclusive"))
        terminal.press_until("1 p", "[physical]")
        self.assertEqual(self.written(terminal, "physical.csv").read_bytes(),
                         self.expected("top-down", "--physical", "--format", "csv"))

    def rows_that_are_open_change_nothing(self, terminal):
        terminal.press("2", "j", "+", "j", "j", "j", "+")  # deep calls of coder_run
        self.at(terminal, "5/10", "coder_run > coder_run")
        self.assertEqual(self.written(terminal, "open.json").read_bytes(),
                         self.expected("bottom-up", "--format", "json"))

    def what_it_is_zoomed_into(self, terminal):
        terminal.press_until("H z", "1/4 zoomed")
        whole = viewer.printed_json("top-down", self.db)
        coder_run = viewer.find(whole["root"], "coder_run")
        shown = json.loads(self.written(terminal, "zoomed.json").read_text())
        self.assertEqual(shown["root"], coder_run)
        records = self.written(terminal, "zoomed.csv").read_text().splitlines()
        depths = [int(record.split(",")[0]) for record in records[1:]]
        self.assertEqual(depths, [depth for depth, _ in viewer.rows_of(coder_run)])
        terminal.press_until("*", "1/8 zoomed")
        rows = self.written(terminal, "zoomed.txt").read_text().split(story.RULE)[1]
        expected = story.TOP_DOWN.split(story.RULE)[1].splitlines()[5:13]
        expected = [row[:32] + row[32:].replace(" " * 8, "", 1) for row in expected]
        self.assertEqual(rows.splitlines()[1:], expected)
        folded = dict(line.rsplit(" ", 1) for line in
                      self.written(terminal, "zoomed.folded").read_text().splitlines())
        self.assertEqual(folded, {"coder_run": "5000000000", "coder_run;min_size": "1000000000",
                                  "coder_run;coder_run": "500000000"})
        page = self.written(terminal, "zoomed.html").read_text()
        frames = re.findall(r'data-own="(\d+)" data-total="(\d+)".*?width:([\d.]+)%;.*>(\w+)</div>',
                            page)
        self.assertEqual(frames[0], ("5000000000", "6500000000", "100.0000", "coder_run"))
        self.assertEqual({frame[3] for frame in frames}, {"coder_run", "min_size"})

    def a_loop_is_a_frame_where_the_tree_begins(self, terminal):
        terminal.press_until("H u z", "zoomed")
        folded = dict(line.rsplit(" ", 1) for line in
                      self.written(terminal, "loop.folded").read_text().splitlines())
        self.assertEqual(folded, {"loop at xz.c:110": "250000000",
                                  "loop at xz.c:110;coder_run": "5000000000",
                                  "loop at xz.c:110;coder_run;min_size": "1000000000",
                                  "loop at xz.c:110;coder_run;coder_run": "500000000"})

    def test_one_session(self):
        self.in_turn(self.start(width=120),
            self.what_it_is_zoomed_into, self.a_loop_is_a_frame_where_the_tree_begins,
            self.rows_that_are_open_change_nothing, self.every_format_is_what_is_printed,
            self.views_projections_and_sorting)

    def test_two_databases(self):
        terminal = self.start("--names=a,b", self.db, self.db, width=150)
        path = self.written(terminal, "both.json")
        self.assertEqual(json.loads(path.read_text()),
                         viewer.printed_json("top-down", "--names=a,b", self.db, self.db))
        both = json.loads(self.written(terminal, "both.speedscope.json").read_text())
        self.assertEqual([profile["name"] for profile in both["profiles"]], ["work [a]", "work [b]"])

    def test_files_are_overwritten_only_if_the_user_says_so(self):
        terminal = self.start(width=150)
        path = self.folder / "there.txt"
        for answer, message in [("n", "nothing was written"), ("", "nothing was written"),
                                ("yes", "nothing was written"), ("y", "written: ")]:
            path.write_text("old")
            self.write(terminal, path.name)
            terminal.until_seen(f"{path} exists: overwrite it (y, n)?")
            terminal.type(answer)
            terminal.press_until("Enter", message)
            self.assertEqual(path.read_text() == "old", answer != "y")
            terminal.press("j")
            terminal.until_gone(message)
        self.write(terminal, path.name)
        terminal.until_seen("overwrite it")
        terminal.press_until("Escape", "nothing was written")

    def test_what_cannot_be_written(self):
        terminal = self.start(width=150)
        self.write(terminal, "no/such/folder.txt")
        path = self.folder / "no/such/folder.txt"
        terminal.until_seen(f"cannot write {path}: No such file or directory")
        self.write(terminal, "view.doc")
        terminal.until_seen("the name must end with .txt .csv")
        self.assertEqual(list(self.folder.iterdir()), [])
        terminal.press_until("W", "write to: top-down.txt")
        terminal.press("Escape")
        self.at(terminal, "1/3", "1/3")

    def test_a_full_disk(self):
        full = self.folder / "full.txt"
        full.symlink_to("/dev/full")
        terminal = self.start(width=150)
        self.write(terminal, full.name)
        terminal.until_seen("overwrite it")
        terminal.type("y")
        terminal.press_until("Enter", f"cannot write {full}: No space left on device")
