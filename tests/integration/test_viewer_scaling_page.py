"""hpcviewer SET: the page of a set of runs, in a real terminal."""
import json

import viewer
from set_case import KnownSet
from terminal import Terminal


class Page(KnownSet):
    TIMES = {1: 8, 2: 5, 4: 4}

    def setUp(self):
        super().setUp()
        for p, time in self.TIMES.items():
            for repeat in (1, 2, 3):
                self.add(p, repeat, time + (repeat - 2) / 10, (8 + p, 1, p - 1))

    def open(self, *arguments, **more):
        terminal = self.enterContext(Terminal([viewer.VIEWER, *arguments, self.set], **more))
        terminal.until_seen("q: quit")
        return terminal

    def test_page(self):
        """The lines that --print scaling prints, but for those that the screen has no room for."""
        printed = viewer.printed("scaling", self.set).splitlines()
        terminal = self.open(width=130, height=40)
        lines = [line.rstrip() for line in terminal.screen()]
        self.assertIn("hpcviewer: scaling: ./app {P}", lines[0])
        self.assertEqual(lines[1:len(printed)], printed[1:])
        terminal.resize(80, 24)
        shown = terminal.until_gone("3.900 to 4.100")
        self.assertIn(["4", "4.000", "2.00", "12.000", "1.000", "3.000", "3.000"], [line.split() for line in shown])
        terminal.resize(30, 8)
        rows = [["workers", "T_P,"], ["1", "8.000"], ["2", "5.000"], ["4", "4.000"]]
        terminal.until(lambda at: [line.split()[:2] for line in at[1:5]] == rows, rows)
        terminal.press_until("q", "ended 0")

    def test_plain_characters(self):
        terminal = self.open(environment={"LC_ALL": "C"})
        self.assertTrue(all(line.isascii() for line in terminal.screen()))

    def test_enter_opens_the_median_run(self):
        terminal = self.open("--closed")
        terminal.press_until("Down Down Enter", "?:help", "main")
        self.assertTrue(any(" 12." in line for line in terminal.screen()))
        terminal.press_until("q", "open a run")
        (self.set / "run-4-2-database" / "meta.db").write_bytes(b"damaged")
        terminal.press_until("Enter", "run-4-2 cannot be shown")
        terminal.press_until("q", "ended 1", "run-4-2-database")

    def test_files(self):
        terminal = self.open()
        name = self.folder / "plot.json"
        for answer, message in ((name, "written: "), (name, "File exists"), ("x", "the name must end with .svg")):
            terminal.press_until("W", "write to: scaling.svg")
            terminal.answer("C-u", str(answer)).until_seen(message)
        self.assertEqual(name.read_text(), viewer.printed("scaling", "--format", "json", self.set))
        self.assertEqual(len(json.loads(name.read_text())["rows"]), 3)

    def test_help(self):
        terminal = self.open()
        terminal.press_until("?", "open the run of median time")
        terminal.press_until("q", "open a run")


class Refusals(KnownSet):
    def test_no_terminal(self):
        self.add(1, 1, 3, (9, 1, 2))
        self.refused("standard output is not a terminal", self.set)

    def test_no_run(self):
        self.add(1, 1, 3, (9, 1, 2), status=1)
        self.refused("no run of the set has ended with status 0", self.set)

    def test_damaged_index(self):
        (self.set / "set.index").write_text("hpctoolkit-set 9\n")
        self.refused("set.index: line 1 is damaged", self.set)
