"""Which metrics have columns, and in which unit: of a program whose work is seconds and whose idleness
is milliseconds, in text, on the screen, among the threads, in the list of columns.

    main (m.c:10)   line 11: work 2.5 s, of the second thread 0.5 s more, idleness 0.0125 s
                    line 12: work 0.25 s
"""
import csv
import io
import json
import os
import re
import tempfile

import v4_writer
import viewer
from test_viewer_efficiency import Case
from viewer_screen import Viewer

WHY = "no runtime with an agent took part"


def write(folder, metrics, idleness=0.0, scale=1.0):
    """`metrics`: (name, why it was not measured or None)."""
    names = [name for name, why in metrics if not why]
    db = v4_writer.Database("app", names, 2)
    program, m_c = db.module("/bin/app"), db.file("/src/m.c")
    main = db.entry(1, "main thread").call(db.function("main", program, 0x10, m_c, 10))
    line = main.statement(m_c, 11).charge(2.5 * scale, 0).charge(0.5 * scale, 0, profile=2)
    if idleness:
        line.charge(idleness, names.index("idleness"))
    main.statement(m_c, 12).charge(0.25 * scale, 0)
    v4_writer.write_database(db, folder)
    viewer.describe_run(folder, [{"name": name, "event": "REALTIME", "unit": "s", **(
        {"state": "not measurable", "why": why} if why else {"state": "measured"})} for name, why in metrics],
                        title="app")


UNMEASURED = [("work", None), ("idleness", WHY), ("overhead", WHY)]
HALF = [("work", None), ("idleness", None), ("overhead", WHY)]
ALL = [("work", None), ("idleness", None), ("overhead", None)]


class Text(Case):
    def text(self, view, *options):
        return viewer.printed(view, *options, self.db)

    def row(self, view, name, *options):
        """The numbers of a row, without percentages."""
        line = next(line for line in self.text(view, *options).splitlines() if name in line)
        return [cell for cell in line.split(name)[0].split() if not cell.endswith("%")]

    def test_what_was_not_measured_is_in_no_tree_and_no_table(self):
        write(self.db, UNMEASURED)
        for view in ("top-down", "bottom-up", "flat", "threads"):
            self.assertNotRegex(self.text(view), "idleness|overhead|effort|not measured")
        summary = self.text("summary")
        self.assertIn("  work  the program's code\n  Not measured (reasons are below): idleness, overhead.", summary)
        self.assertIn(f"Metrics that were not measured\n  idleness, overhead: {WHY}\n", summary)
        self.assertEqual(summary.count(WHY), 1)

    def test_what_is_asked_for_is_there(self):
        write(self.db, UNMEASURED)
        text = self.text("top-down", "--metrics", "work,idleness")
        self.assertIn(f"idleness  -  not measured: {WHY}", text)
        self.assertEqual(self.row("top-down", "main  m.c:10", "--metrics", "work,idleness"),
                         ["3.250", "3.250", "-", "-"])

    def test_only_what_was_measured_of_the_rest(self):
        write(self.db, HALF, idleness=0.0125)
        self.assertNotRegex(self.text("top-down"), "overhead")
        self.assertRegex(self.text("top-down"), "effort .*= work . idleness")

    def test_an_effort_that_is_work_is_not_shown(self):
        write(self.db, ALL)
        for view in ("top-down", "bottom-up", "flat", "threads", "summary"):
            self.assertNotIn("effort =", self.text(view))
            self.assertNotRegex(self.text(view), "effort, s| s  effort")
        write(self.db, ALL, idleness=0.0125)
        self.assertIn("effort, s", self.text("threads"))

    def test_files_for_programs_have_all(self):
        write(self.db, UNMEASURED)
        [head, whole, *_] = csv.reader(io.StringIO(self.text("top-down", "--format", "csv")))
        record = dict(zip(head, whole))
        self.assertEqual([record[f"{name}:inclusive"] for name in ("work", "idleness", "overhead")],
                         ["3.25", "-", "-"])
        tree = json.loads(self.text("top-down", "--format", "json"))
        self.assertEqual([m["state"] for m in tree["metrics"]],
                         ["measured", "not measurable", "not measurable"])
        write(self.db, ALL)
        tree = json.loads(self.text("flat", "--format", "json"))
        self.assertEqual(tree["root"]["metrics"]["effort"]["inclusive"], 3.25)

    def test_all_times_have_one_unit(self):
        """All have the unit of the largest; each has the digits that its own values need."""
        write(self.db, ALL, idleness=0.0125)
        for view in ("top-down", "threads"):
            units = re.findall("(?:work|idleness|overhead|effort), (m?s)", self.text(view))
            self.assertEqual(set(units), {"s"})
        shown = self.row("top-down", "main  m.c:10", "--metrics", "work,idleness,effort")
        self.assertEqual(shown, ["3.250", "3.250", "0.01250", "0.01250", "3.263", "3.263"])
        self.assertEqual(self.row("top-down", "m.c:12", "--metrics", "work,idleness,effort"),
                         ["0.250", "0.250", "0", "0", "0.250", "0.250"])
        write(self.db, ALL, idleness=0.0000125, scale=1 / 1024)
        shown = self.row("top-down", "main  m.c:10", "--metrics", "work,idleness")
        self.assertEqual(shown, ["3.174", "3.174", "0.01250", "0.01250"])  # ms
        self.assertRegex(self.text("summary"), r" 3\.174 ms    99\.6%  work .*\n +0\.01250 ms     0\.4%  idleness .*\n"
                                               r" .* effort .*\n  0: overhead\. ?\n")

    def test_two_databases(self):
        """A run of 3.25 s and one of a quarter of that, which alone would be shown in ms."""
        other = self.enterContext(tempfile.TemporaryDirectory())
        write(self.db, UNMEASURED)
        write(other, UNMEASURED, scale=0.25)
        text = viewer.printed("top-down", "--names", "a,b", self.db, other)
        heads = re.findall(r"(work \[[ab]\]|work difference)(, \w+)", text)
        self.assertEqual({unit for _, unit in heads}, {", s"})
        summary = viewer.printed("summary", "--names", "a,b", self.db, other)
        self.assertRegex(summary, r"3\.250 s +0\.812 s +-2\.438 s")


class InTerminal(Case):
    def start(self, *options, config=None, width=160):
        environment = {"XDG_CONFIG_HOME": config} if config else {}
        return self.enterContext(Viewer(*options, self.db, width=width, height=40, environment=environment))

    def test_columns_and_their_list(self):
        write(self.db, UNMEASURED)
        terminal = self.start()
        self.assertEqual(terminal.screen()[2].split(), ["work,", "s"])
        lines = terminal.press_until("C", "hpcviewer: columns")
        listed = [line.split(None, 2) for line in lines if "clusive" in line]
        self.assertEqual([(line[:5].strip(), "not measured" in line) for line in lines
                          if "clusive" in line], 2 * [("[x]", False)] + 4 * [("[ ]", True)])
        self.assertTrue(all(WHY in " ".join(line) for line in listed[2:]))
        terminal.press("Down", "Down", "Space", "q")  # all the same
        terminal.until(lambda lines: "idleness" in lines[2], "the column of idleness")
        terminal.press("C", "Down", "Down", "Space", "q")
        terminal.until(lambda lines: "work" in lines[2] and "idleness" not in lines[2], "no more")

    def test_one_unit(self):
        write(self.db, ALL, idleness=0.0125)
        terminal = self.start()
        self.assertEqual(re.findall(r", (\w+)", terminal.screen()[2]), 3 * ["s"], "work, idleness, effort; no overhead, since it is 0")
        self.assertIn("0.01250", terminal.screen()[4])

    def test_columns_that_are_kept(self):
        """A metric chosen in one view is hidden where it was not measured, and comes back."""
        config = self.enterContext(tempfile.TemporaryDirectory())
        folder = os.path.join(config, "hpctoolkit")
        os.mkdir(folder)
        with open(os.path.join(folder, "hpcviewer.conf"), "w") as file:
            file.write("columns = idleness:inclusive,work:inclusive\n")
        write(self.db, UNMEASURED)
        terminal = self.start(config=config)
        terminal.until(lambda lines: lines[2].split() == ["work,", "s"], "work alone")
        terminal.press_until("C S", "saved for the next time")
        terminal.press("q")
        write(self.db, HALF, idleness=0.0125)
        terminal = self.start(config=config)
        terminal.until(lambda lines: lines[2].split() == ["idleness,", "s", "work,", "s"],
                       "idleness first, then work")
