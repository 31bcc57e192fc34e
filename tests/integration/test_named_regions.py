"""Regions that a program names: from the measurement file to run.json and the summary. tests/integration/test_work_span.py
has those of real runs."""
import json
import pathlib

import measurement_writer as mw
import viewer
from hpcprof_case import HpcprofCase

PARTIAL, NEWER = 1, 2  # flags; the latter of a later version
NAMES = ("exact work", "span", "burdened span")


def region(number, name, times, work, span, burdened, spawns, flags=0):
    return (number, name, times, *map(mw.seconds, (work, span, burdened)), spawns, flags)


class NamedRegions(HpcprofCase):
    def add_process(self, pid, *regions, state=0, why=""):
        process = self.process(self.program(), pid=pid)
        strands = process.event("STRANDS", flags=mw.TIME | 16)
        for name, value in zip(NAMES, (6, 2, 3)):
            metric = process.metric(name, strands)
            process.threads[0].add(1, metric, mw.seconds(value))
            process.metric_states.append((metric, state if name != NAMES[0] else 0, why))
        process.regions += regions

    def open(self):
        self.scenario.database()
        return self.at("db")

    def test_of_all_processes(self):
        self.add_process(70, region(0, "sort", 2, 4, 1, 1.5, 7), region(1, "merge", 1, 2, 2, 2.5, 3, PARTIAL))
        self.add_process(71, region(0, "sort", 1, 0.25, 0.125, 0.5, 9, NEWER))
        database = self.open()
        expected = [(70, "sort", 2, 4, 1, 1.5, 7, False), (70, "merge", 1, 2, 2, 2.5, 3, True),
                    (71, "sort", 1, 0.25, 0.125, 0.5, 9, False)]
        keys = ("pid", "name", "times", "work", "span", "burdened_span", "spawns", "partial")
        written = json.loads(pathlib.Path(database, "run.json").read_text())["regions"]
        self.assertEqual([tuple(one[key] for key in keys) for one in written], expected)
        self.assertEqual(viewer.printed_json("summary", database)["regions"], written)

    def test_in_the_summary(self):
        self.add_process(70, region(0, "sort", 2, 4, 1, 1.5, 7), region(1, "me\x1brge", 1, 2, 2, 2.5, 3, PARTIAL))
        text = viewer.printed("summary", self.open())
        self.assertIn("Regions that the program names\n   parallelism    work, ms    span, ms    burdened    times  region\n", text)
        self.assertIn("          4.00    4000.000    1000.000    1500.000        2  sort\n", text)
        self.assertRegex(text, r"          1\.00    2000\.000    2000\.000    2500\.000        1  me[^\x1b\n]*rge "
                               r"\(a part of it is not measured\)\n")

    def test_lower_bounds(self):
        self.add_process(70, region(0, "sort", 2, 4, 1, 1.5, 7), state=1, why="no order")
        self.assertIn("\n  at most 4.00    4000.000    1000.000 ", viewer.printed("summary", self.open()))

    def test_the_last_ones_count(self):
        """An image whose exec failed writes its regions again."""
        self.add_process(70, region(0, "sort", 1, 1, 1, 1, 1), region(1, "merge", 1, 1, 1, 1, 1),
                         region(0, "sort", 2, 2, 2, 2, 2))
        written = json.loads(pathlib.Path(self.open(), "run.json").read_text())["regions"]
        self.assertEqual([(one["name"], one["times"]) for one in written], [("sort", 2)])

    def test_without_any(self):
        self.add_process(70)
        database = self.open()
        self.assertNotIn("Regions", viewer.printed("summary", database))
        self.assertEqual(viewer.printed_json("summary", database)["regions"], [])
