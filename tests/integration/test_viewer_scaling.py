"""hpcviewer --print scaling: the tables and plots of a set of runs."""
import csv
import itertools
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import profiling
import viewer
from set_case import WORK_SPAN, KnownSet, SetWriter

SVG = "{http://www.w3.org/2000/svg}"
FORMULAS = {
    "maximal": lambda p, serial, one, own, idle: p * serial / one,
    "idle_specific": lambda p, serial, one, own, idle: p * serial / (one + idle),
    "inflation_specific": lambda p, serial, one, own, idle: p * serial / (p * own - idle),
    "actual": lambda p, serial, one, own, idle: serial / own,
}


class Tables(KnownSet):
    def add_all(self):
        self.add(4, 1, 3.5, (11, 1, 2))
        self.add(1, 1, 10, (9, 1, 0))
        self.add(4, 2, 3.5, (11, 1, 2))
        self.add(8, 1, 3, (12, 2, 4))
        self.add(2, 1, 5, (1, 1, 1), status=3)

    def test_json(self):
        self.add_all()
        found = json.loads(self.printed("json"))
        self.assertEqual((found["title"], found["baseline"], found["baseline_time"]), ("./app {P}", "one worker", 10))
        self.assertEqual(found["failed"], [{"workers": 2, "repeat": 1, "status": 3}])
        one, four, eight = found["rows"]
        self.assertEqual([row["workers"] for row in found["rows"]], [1, 4, 8])
        self.assertEqual((four["runs"], four["time"], four["interval"]), (2, 3.5, [3.5, 3.5]))
        self.assertAlmostEqual(four["coverage"], 0.5)
        self.assertEqual([four[key] for key in ("work", "overhead", "idleness", "inflation")], [11, 1, 2, 2])
        expected = {"linear": 4, "maximal": 4, "idle_specific": 40 / 12, "inflation_specific": 40 / 12,
                    "actual": 10 / 3.5}
        self.assertEqual(four["factored"].keys(), expected.keys())
        for name, value in expected.items():
            self.assertAlmostEqual(four["factored"][name], value)
        self.assertEqual(one["speedup"], 1)
        self.assertEqual((eight["factored"]["idle_specific"], eight["factored"]["inflation_specific"]), (None, None))

    def test_serial_baseline(self):
        self.writer.lines.append("serial ./serial")
        self.add_all()
        self.add(0, 1, 7)
        found = json.loads(self.printed("json"))
        self.assertEqual((found["baseline"], found["baseline_time"]), ("serial", 7))
        self.assertEqual(found["serial"]["command"], "./serial")
        self.assertAlmostEqual(found["rows"][1]["factored"]["maximal"], 4 * 7 / 10)
        self.assertIn("T_s: the serial program, 7.000 s (7.000 to 7.000), 1 runs", self.printed("text"))
        self.assertIn("serial,1,7,7,7,-,-", self.printed("csv"))

    def test_text(self):
        self.add_all()
        text = self.printed("text")
        self.assertIn("T_s: the program with one worker, 10.000 s (no --serial was given)", text)
        self.assertRegex(text, r"\n +4 +2 +3\.500 +3\.500 to 3\.500 +2\.86 +11\.000 +1\.000 +2\.000 +2\.000\n")
        self.assertRegex(text, r"\n +4 +4 +4\.00 +3\.33 +3\.33 +2\.86\n")
        self.assertRegex(text, r"\n +8 +8 +8\.00 +- +- +3\.33\n")
        self.assertIn("not used, status 3: run-2-1", text)
        self.assertIn("95% need 6 runs or more", text)
        self.assertIn("more workers than CPUs", text)

    def test_busy_cpus(self):
        self.add(1, 1, 10, (9, 1, 0))
        self.assertNotIn("others had its CPUs", self.printed("text"))
        self.add(4, 1, 5, (6, 1, 2))
        self.assertIn("work, overhead and idleness are only 45% of P T_P with 4 workers", self.printed("text"))

    def test_csv(self):
        self.add_all()
        lines = self.printed("csv").split("\n")
        self.assertEqual(lines[0].rstrip("\r"), "workers,runs,time,time low,time high,work,overhead,idleness,inflation,"
                         "maximal,idle_specific,inflation_specific,actual,maximal low,maximal high,"
                         "idle_specific low,idle_specific high,inflation_specific low,inflation_specific high,"
                         "actual low,actual high,work_law,span_law,burdened")
        self.assertTrue(lines[2].startswith("4,2,3.5,3.5,3.5,11,1,2,2,4,"), lines[2])

    def test_more_idleness_than_time(self):
        self.add(1, 1, 10, (8, 2, 0))
        self.add(2, 1, 6, (9, 1, 13))
        self.assertIsNone(json.loads(self.printed("json"))["rows"][1]["factored"]["inflation_specific"])

    def test_neither_baseline_nor_one_worker(self):
        self.add(4, 1, 3, (9, 1, 2))
        found = json.loads(self.printed("json"))
        self.assertEqual((found["baseline"], found["rows"][0]["speedup"]), (None, None))
        self.assertIn("T_s: none; hpcrun needs --serial, or --workers with 1", self.printed("text"))

    def test_a_run_without_measurements_has_its_time(self):
        self.add_all()
        (self.set / "run-4-2" / "x.hpcrun").unlink()
        done = viewer.run("--print", "scaling", "--format", "json", self.set)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run-4-2: has no measurements", done.stderr)
        self.assertEqual(json.loads(done.stdout)["rows"][1]["runs"], 2)

    def test_refusals(self):
        self.refused("not a set of runs, which hpcrun --workers makes", "--print", "scaling", self.folder)
        self.add(4, 1, 3, (9, 1, 2), status=1)
        self.refused("no run of the set has ended with status 0", "--print", "scaling", self.set)
        self.refused(f"is a set of runs; to see it: hpcviewer {self.set}, or hpcviewer --print scaling", "--print", "summary", self.set)
        self.refused("--print scaling and losses take one set", "--print", "scaling", self.set, self.set, status=2)
        self.refused("--print scaling and losses take one set", "--print", "scaling", status=2)

    def test_a_real_set(self):
        """hpcprof makes the databases."""
        self.set.rmdir()
        fib = profiling.BUILD / "tests" / "programs" / "cilk" / "fib"
        self.assertEqual(self.hpcrun("--workers", "1,2", "--repeat", "1", "--work-span", fib, 24).returncode, 0)
        found = json.loads(self.printed("json"))
        self.assertEqual((found["work_span"]["workers"], found["work_span"]["runs"]), (1, 1))
        self.assertEqual([row["workers"] for row in found["rows"]], [1, 2])
        self.assertTrue((self.set / "workers-2-repeat-1-database" / "meta.db").exists())
        self.assertEqual(found["rows"][0]["factored"]["actual"], 1)


def ends(values):
    """Of six values, between which their median is with 96.9 %."""
    return min(values), max(values)


class Plots(unittest.TestCase):
    """Six runs of each number of workers, a serial baseline, work and span."""
    SERIAL, CPUS = 0, 8  # workers of the baseline
    TIMES = {0: 9, 1: 10, 2: 5.5, 4: 3, 8: 2.5}
    IDLE = {1: 0, 2: 0.5, 4: 1, 8: 5}
    WORK, SPAN, BURDENED = 9.5, 0.5, 0.7

    COMMAND = r"./a<b>&\\n 'x' " + '"y" `rm` {P}'

    @classmethod
    def setUpClass(cls):
        cls.known = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        writer = SetWriter(cls.known, f"command {cls.COMMAND}", *([] if cls.SERIAL else ["serial ./serial"]))
        for p, time in cls.TIMES.items():
            for i in range(6):
                costs = (10, 1, cls.IDLE.get(p, 0) * (1 + i / 20), cls.WORK, cls.SPAN, cls.BURDENED)
                writer.add(p, i + 1, time * (1 + i / 50), costs, cpus=cls.CPUS, metrics=WORK_SPAN)

    def printed(self, kind):
        return viewer.printed("scaling", "--format", kind, self.known)

    def runs(self, p):
        """Times and idleness of the runs."""
        idle = self.IDLE.get(p, 0)
        return [self.TIMES[p] * (1 + i / 50) for i in range(6)], [idle * (1 + i / 20) for i in range(6)]

    def is_known(self, curve, p):
        """The idleness of more workers than CPUs is not that of workers."""
        return p <= self.CPUS or curve in ("maximal", "actual")

    def band(self, curve, p):
        """The least and the largest speedup, whatever the medians within their intervals, and the probability that all
        of these have the true ones. Times of the same number of workers are one."""
        serial, one, own = (ends(self.runs(q)[0]) for q in (self.SERIAL, 1, p))
        at = [FORMULAS[curve](p, *times) for times in itertools.product(serial, one, own, ends(self.runs(p)[1]))
              if (p > 1 or times[1] == times[2]) and (self.SERIAL == 0 or times[0] == times[1])]
        medians = {"maximal": {self.SERIAL, 1}, "idle_specific": {self.SERIAL, 1, "idleness"},
                   "inflation_specific": {self.SERIAL, p, "idleness"}, "actual": {self.SERIAL, p}}
        return min(at), max(at), 1 - len(medians[curve]) / 32

    def speedup(self, curve, p):
        def median(values):
            return (values[2] + values[3]) / 2
        return FORMULAS[curve](p, *(median(self.runs(q)[0]) for q in (self.SERIAL, 1, p)), median(self.runs(p)[1]))

    def laws(self, p):
        serial = sum(self.runs(self.SERIAL)[0][2:4]) / 2
        return {"work_law": serial * p / self.WORK, "span_law": serial / self.SPAN,
                "burdened": serial / (self.WORK / p + 1.7 * self.BURDENED)}

    def test_json(self):
        found = json.loads(self.printed("json"))
        self.assertEqual(found["work_span"],
                         {"workers": 1, "runs": 6, "state": "measured", "work": 9.5, "span": 0.5, "burdened_span": 0.7})
        for row in found["rows"]:
            p = row["workers"]
            for curve in FORMULAS:
                if self.is_known(curve, p):
                    for value, expected in zip(row["bands"][curve], self.band(curve, p), strict=True):
                        self.assertAlmostEqual(value, expected, msg=(curve, p))
                else:
                    self.assertEqual((row["factored"][curve], row["bands"][curve]), (None, [None] * 3))
            for law, value in self.laws(p).items():
                self.assertAlmostEqual(row["laws"][law], value)

    def test_text(self):
        text = self.printed("text")
        self.assertIn("work 9.500 s, span 0.500 s, burdened span 0.700 s, with 1 worker (6 runs)", text)
        laws = self.laws(8)
        self.assertRegex(text, rf"\n +8 +{laws['work_law']:.2f} +{laws['span_law']:.2f} +{laws['burdened']:.2f}\n")

    def test_csv(self):
        rows = list(csv.DictReader(self.printed("csv").splitlines()))
        if self.SERIAL == 0:
            known = ("workers", "runs", "time", "time low", "time high")
            self.assertEqual({value for key, value in rows.pop(0).items() if key not in known}, {"-"})
        for row in rows:
            p = int(row["workers"])
            for curve in FORMULAS:
                if self.is_known(curve, p):
                    low, high, _ = self.band(curve, p)
                    self.assertAlmostEqual(float(row[f"{curve} low"]), low)
                    self.assertAlmostEqual(float(row[f"{curve} high"]), high)
            for law, value in self.laws(p).items():
                self.assertAlmostEqual(float(row[law]), value)

    def drawing(self):
        """The drawing, and a function from its pixels to workers and speedup, by the axes' labels."""
        svg = self.printed("svg")
        root = ElementTree.fromstring(svg.encode())
        groups = {group.get("id"): group for group in root.iter(SVG + "g")}
        axes = []
        for name, at in (("x-axis", "x"), ("y-axis", "y")):
            labels = [(float(text.text), float(text.get(at))) for text in groups[name].iter(SVG + "text")
                      if re.fullmatch(r"[\d.]+", text.text or "")]
            self.assertGreater(len(labels), 2)
            (a, at_a), (b, at_b) = min(labels), max(labels)
            for value, place in labels:
                self.assertAlmostEqual(value, a + (place - at_a) * (b - a) / (at_b - at_a), delta=0.01)
            if name == "y-axis":
                self.assertRegex(f"{sorted(labels)[1][0]:.3e}", r"^[125]\.000e")
            axes.append((a, at_a, (b - a) / (at_b - at_a)))

        def back(place):
            return tuple(a + (pixel - at_a) * scale for pixel, (a, at_a, scale) in zip(place, axes))
        return root, groups, back

    @staticmethod
    def points(path, back):
        return [back(map(float, point.split(","))) for point in re.findall(r"[ML]([\d.]+,-?[\d.]+)", path.get("d"))]

    def check_points(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for point, wanted in zip(found, expected):
            self.assertAlmostEqual(point[0], wanted[0], delta=0.01)
            self.assertAlmostEqual(point[1], wanted[1], delta=0.01)

    def test_svg_points(self):
        _, groups, back = self.drawing()
        for curve in FORMULAS:
            paths = {path.get("class"): self.points(path, back) for path in groups[curve].iter(SVG + "path")}
            bands = {p: self.band(curve, p) for p in (1, 2, 4, 8) if self.is_known(curve, p)}
            self.check_points(paths["line"], [(p, self.speedup(curve, p)) for p in bands])
            self.check_points(paths["band"], [(p, bands[p][1]) for p in bands] +
                              [(p, bands[p][0]) for p in reversed(bands)])
        line = {path.get("class"): path for path in groups["linear"].iter(SVG + "path")}["line"]
        self.check_points(self.points(line, back), [(0, 0), (8, 8)])
        for law in self.laws(1):
            line, = groups[law].iter(SVG + "path")
            self.check_points(self.points(line, back), [(p, self.laws(p)[law]) for p in range(1, 9)])

    def test_svg_text(self):
        root, groups, _ = self.drawing()
        self.assertEqual(root.find(SVG + "title").text, f"Speedups of {self.COMMAND}")
        texts = ["".join(text.itertext()) for text in root.iter(SVG + "text")]
        for text in (self.COMMAND, "workers P", "speedup Ts / TP", "P Ts / (T1 + IP)", "P Ts / (P TP - IP)",
                     "Ts / (work / P + 1.7 burdened span)", "bands: the true speedup is inside",
                     "with a probability of 90.6% or more"):
            self.assertIn(text, texts)
        legend = ["".join(text.itertext()) for text in groups["legend"].iter(SVG + "text")]
        self.assertEqual(legend[0:10:2], ["linear", "maximal", "idle-specific", "inflation-specific", "actual"])
        self.assertEqual([e.tag for e in root.iter() if e.tag in (SVG + "script", SVG + "style", SVG + "image")], [])
        self.assertNotIn("href", self.printed("svg"))


class PlotsOverOneWorker(Plots):
    """Without a serial program, and on fewer CPUs than workers."""
    SERIAL, CPUS = 1, 4
    TIMES = {p: time for p, time in Plots.TIMES.items() if p}


class BadInput(KnownSet):
    """Each problem is one line; the rest is used."""

    def test_damaged_index(self):
        self.add(1, 1, 10, (9, 1, 0))
        with open(self.set / "set.index", "a", encoding="utf-8") as index:
            index.write("run 2 x\n")
        done = viewer.run("--print", "scaling", self.set)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("set.index: line 4 is damaged", done.stderr)

    def test_a_damaged_database_costs_its_values(self):
        self.add(1, 1, 10, (9, 1, 0))
        self.add(2, 1, 5, (9, 1, 1))
        (self.set / "run-2-1-database" / "meta.db").write_bytes(b"HPCTOOLKITmeta")
        done = viewer.run("--print", "scaling", "--format", "json", self.set)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("run-2-1-database", done.stderr)
        two = json.loads(done.stdout)["rows"][1]
        self.assertEqual((two["time"], two["work"], two["factored"]["actual"]), (5, None, 2))

    def test_plots_are_of_scaling_only(self):
        self.refused("flat, timeline, scaling; summary", "--print", "summary", "--format", "svg", self.folder, status=2)
        for kind in ("folded", "pprof", "flamegraph"):
            self.refused("is for top-down, bottom-up, flat; scaling can be printed as text, csv, json, svg\n", "--print",
                         "scaling", "--format", kind, self.set, status=2)

    def test_the_run_of_work_and_span_has_no_time(self):
        self.add(1, 1, 10, (9, 1, 0))
        self.add(4, 1, 3, (9, 1, 2))
        self.add(1, 0, 99, (90, 10, 0, 8, 2, 4), metrics=WORK_SPAN)
        found = json.loads(self.printed("json"))
        one, four = found["rows"]
        self.assertEqual([one[key] for key in ("workers", "runs", "time", "work")], [1, 1, 10, 9])
        self.assertEqual(found["work_span"], {"workers": 1, "runs": 1, "state": "measured", "work": 8, "span": 2,
                                              "burdened_span": 4})
        self.assertEqual(four["laws"], {"work_law": 5, "span_law": 5, "burdened": 10 / (2 + 1.7 * 4)})
        root = json.loads(self.printed("json", "losses"))["root"]
        self.assertEqual(root["metrics"]["work [1]"]["inclusive"], 9)

    def test_one_number_of_workers(self):
        self.add(4, 1, 3, (9, 1, 2))
        text = self.printed("text")
        self.assertIn("only one number of workers; hpcrun --workers 1,2,4 adds more", text)
        self.assertIn("-: without a run with one worker", text)
        root = ElementTree.fromstring(self.printed("svg").encode())
        self.assertEqual([group.get("id") for group in root.iter(SVG + "g")], ["x-axis", "y-axis", "linear", "legend"])
        self.assertIn("no baseline: no run with one worker", "".join(root.itertext()))
        self.printed("csv")
