"""Metrics that no view shows, and databases of earlier versions."""
import v4_writer
import viewer
from hpcprof_case import HpcprofCase
from viewer_screen import Viewer


def write_database(folder, names, version=2):
    """`hot`, line 11, with 8, 4 ... s."""
    db = v4_writer.Database("app", names, 1)
    program, m_c = db.module("/bin/app"), db.file("/src/m.c")
    line = db.entry(1, "main thread").call(db.function("hot", program, 0x1000, m_c, 10)).statement(m_c, 11)
    for metric in range(len(names)):
        line.charge(8 >> metric, metric)
    v4_writer.write_database(db, folder)
    viewer.describe_run(folder, viewer.measured(*names, event="REALTIME"), version=version)


class EarlierVersion(HpcprofCase):
    """It called `lock blame` `lock wait`."""
    def test_it_is_said(self):
        write_database(self.at("db"), ("work", "lock wait"), 1)
        done = viewer.run("--print", "flat", self.at("db"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("run.json: made by an earlier hpcprof; run hpcprof again", done.stderr)

    def test_another_file_with_a_version(self):
        write_database(self.at("db"), ("work",))
        with open(self.at("db/run.json"), "w") as file:
            file.write('{"format": "of-others", "version": 1}')
        done = viewer.run("--print", "flat", self.at("db"))
        self.assertIn("run.json: not a description of a run by hpcprof", done.stderr)


class Internal(HpcprofCase):
    """`incomplete` is in JSON and in formulas. No view, column or list has it."""
    def setUp(self):
        super().setUp()
        self.db = self.at("db")
        write_database(self.db, ("work", "incomplete"))

    def test_views(self):
        for view in ("top-down", "bottom-up", "flat", "threads", "summary"):
            for text_format in ("text",) if view == "summary" else ("text", "csv"):
                self.assertNotIn("incomplete", viewer.printed(view, "--format", text_format, self.db))

    def test_comparisons(self):
        for view in ("top-down", "summary"):
            self.assertNotIn("incomplete", viewer.printed(view, self.db, self.db))

    def test_json(self):
        self.assertEqual(viewer.printed_json("top-down", self.db)["root"]["metrics"]["incomplete"]["inclusive"], 4)
        self.assertEqual(viewer.printed_json("summary", self.db)["metrics"]["incomplete"], 4)
        thread, = viewer.printed_json("threads", self.db)["threads"]
        self.assertEqual(thread["metrics"]["incomplete"], 4)

    def test_it_has_no_name_in_options(self):
        for option in ("--metrics", "--sort"):
            done = viewer.run("--print", "flat", option, "incomplete", self.db)
            self.assertEqual(done.returncode, 2)
            self.assertIn("there are: work\n" if option == "--metrics" else "incomplete", done.stderr)

    def test_formulas_may_name_it(self):
        self.assertIn("missing", viewer.printed("flat", "--derive", "missing = $incomplete / 2", self.db))

    def test_screen(self):
        with Viewer(self.db) as terminal:
            terminal.press_until("C", "[x]")
            self.assertNotIn("incomplete", "\n".join(terminal.screen()))
            terminal.press_until("q i", "work")
            self.assertNotIn("incomplete", "\n".join(terminal.screen()))
