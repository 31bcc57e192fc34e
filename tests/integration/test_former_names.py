"""Measurements and databases of versions that called metrics otherwise: "lock wait" was the time of the lock's holder,
"lock delay" that of the thread that waits, "blocked" time off the CPU. They are read, and shown with the names of today."""
import gzip
import json
import os

import measurement_writer as mw
import v4_writer
import viewer
from hpcprof_case import HpcprofCase
from viewer_screen import Viewer

FORMER = ("work", "lock wait", "lock delay", "blocked")
TODAY = ("work", "lock blame", "lock wait", "off CPU")
SECONDS = (8, 4, 2, 1)


def write_database(folder, names, version):
    """`hot`, line 11, with SECONDS."""
    db = v4_writer.Database("app", names, 1)
    program, m_c = db.module("/bin/app"), db.file("/src/m.c")
    line = db.entry(1, "main thread").call(db.function("hot", program, 0x1000, m_c, 10)).statement(m_c, 11)
    for metric, value in enumerate(SECONDS):
        line.charge(value, metric)
    v4_writer.write_database(db, folder)
    viewer.describe_run(folder, viewer.measured(*names, event="REALTIME"), version=version)
    with gzip.open(os.path.join(folder, "instructions.json.gz"), "wt", encoding="utf-8") as file:
        json.dump({"format": "hpctoolkit-instructions 1", "metrics": names, "files": ["/src/m.c"],
                   "procedures": [{"module": "/bin/app", "name": "hot", "entry": 0x1000, "parts": [[0x1000, "90c3"]],
                                   "statements": [[0x1000, 2, 0, 11]],
                                   "costs": [[0x1000, i, value] for i, value in enumerate(SECONDS)]}]}, file)


class Measurements(HpcprofCase):
    def totals(self, *versions_and_names):
        """The totals of the database of processes, each with SECONDS in metrics of these names."""
        for i, (version, names) in enumerate(versions_and_names):
            process = self.process(self.program(), pid=100 + i)
            process.format_version = version
            process.agents.append(("pthread", "1.0", 4, "", ""))
            process.workers.append((0, [(5, 2, 2)]))
            for name, value in zip(names[1:], SECONDS[1:]):
                process.threads[0].add(1, process.metric(name, 0), mw.seconds(value))
        self.scenario.write()
        self.scenario.run("-o", self.at("db"))
        root = viewer.printed_json("top-down", self.at("db"))["root"]
        return {name: cost["inclusive"] for name, cost in root["metrics"].items() if name in FORMER + TODAY}

    def test_a_former_version(self):
        for version in ((1, 1), (2, 1)):
            with self.subTest(version=version):
                self.setUp()
                self.assertEqual(self.totals((version, FORMER)), dict(zip(TODAY, (3, *SECONDS[1:]))))

    def test_this_version(self):
        self.assertEqual(self.totals(((2, 2), TODAY)), dict(zip(TODAY, (3, *SECONDS[1:]))))

    def test_both_in_one_directory(self):
        self.assertEqual(self.totals(((2, 1), FORMER), ((2, 2), TODAY)),
                         dict(zip(TODAY, (6, *(2 * value for value in SECONDS[1:])))))


class Databases(HpcprofCase):
    def setUp(self):
        super().setUp()
        write_database(self.at("old"), FORMER, 1)
        write_database(self.at("new"), TODAY, 2)

    def test_values(self):
        for db in ("old", "new"):
            root = viewer.printed_json("top-down", self.at(db))["root"]
            self.assertEqual({name: cost["inclusive"] for name, cost in root["metrics"].items()}, dict(zip(TODAY, SECONDS)))

    def test_of_several_events(self):
        write_database(self.at("two"), ("work (CPUTIME)", "blocked (REALTIME)"), 1)
        self.assertEqual([metric["name"] for metric in viewer.printed_json("flat", self.at("two"))["metrics"]],
                         ["work (CPUTIME)", "off CPU (REALTIME)"])

    def test_old_and_new_are_compared(self):
        shown = viewer.printed_json("top-down", self.at("old"), self.at("new"))["root"]["metrics"]
        for name, value in zip(TODAY, SECONDS):
            self.assertEqual([shown[f"{name} {column}"]["inclusive"] for column in ("[old]", "[new]", "difference")],
                             [value, value, 0])

    def test_costs_of_instructions(self):
        for db in ("old", "new"):
            with Viewer("--sort", "off CPU", self.at(db)) as terminal:
                terminal.press("3", "/")
                terminal.type("^hot$")
                terminal.press_until("Enter D", "off CPU of hot, its own instructions: 1.000 s")


class Internal(HpcprofCase):
    """`incomplete` is in JSON and in formulas. No view, column or list has it."""
    def setUp(self):
        super().setUp()
        self.db = self.at("db")
        write_database(self.db, ("work", "incomplete"), 2)

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
