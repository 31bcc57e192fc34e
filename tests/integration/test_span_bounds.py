"""A span that is only a lower bound, since some order of tasks was not followed: from the measurement file to every
view. No view claims more than the bound does: parallelism and speedups are at most something."""
import csv
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import measurement_writer as mw
import viewer
from hpcprof_case import HpcprofCase
from set_case import WORK_SPAN, KnownSet
from test_viewer_advice import Program, run_json, thread
from test_viewer_efficiency import Case
from test_what_if import COSTS, METRICS, SERIAL

WHY = "the order of OpenMP's dependences and ordered loops was not followed"
OVERLAP = "several threads ran parallel regions at the same time"
EXACT, LOWER_BOUND, NOTHING_KNOWN = range(3)
SPANS = ("exact work", "span", "burdened span")


class Database(HpcprofCase):
    """hpcprof, from measurement files that say how well work and span are known."""

    def add_process(self, pid, values=(6, 2, 3), states=(), why=WHY, errors=()):
        """States of the three metrics, and seconds of error; `values` None: none of them."""
        process = self.process(self.program(), pid=pid)
        strands = process.event("STRANDS", flags=mw.TIME | 16)
        metrics = [process.metric(name, strands) for name in SPANS]
        for metric, value in zip(metrics, values or ()):
            process.threads[0].add(1, metric, mw.seconds(value))
        for metric, state in zip(metrics, states):
            process.metric_states.append((metric, state, why if state else "",
                                          *(mw.seconds(error) for error in errors[len(process.metric_states):][:1])))

    def states(self):
        self.scenario.database()
        run = json.loads(pathlib.Path(self.at("db"), "run.json").read_text())
        return [(m["state"], m.get("why"), m.get("bounds")) for name in SPANS for m in run["metrics"] if m["name"] == name]

    MEASURED, BOUND = ("measured", None, None), ("lower bound", WHY, "total")

    def test_states(self):
        for states, expected in (((), [self.MEASURED] * 3), ((EXACT, EXACT, EXACT), [self.MEASURED] * 3),
                                 ((EXACT, LOWER_BOUND, LOWER_BOUND), [self.MEASURED, self.BOUND, self.BOUND]),
                                 ((7, 7, 7), [self.MEASURED] * 3)):  # of a later version
            with self.subTest(states=states):
                self.setUp()
                self.add_process(1, states=states)
                self.assertEqual(self.states(), expected)

    def test_errors(self):
        """Those of all processes are added; without any, none is said."""
        self.add_process(1, states=(EXACT,) * 3, errors=(0.5, 0.25, 0.125))
        self.add_process(2, states=(EXACT,) * 3, errors=(1, 0, 0))
        self.add_process(3)
        self.scenario.database()
        run = json.loads(pathlib.Path(self.at("db"), "run.json").read_text())
        self.assertEqual([m.get("error") for name in SPANS for m in run["metrics"] if m["name"] == name],
                         [1.5, 0.25, 0.125])
        self.setUp()
        self.add_process(1, states=(EXACT,) * 3)
        self.scenario.database()
        self.assertNotIn('"error"', pathlib.Path(self.at("db"), "run.json").read_text())

    def test_the_last_state_counts(self):
        """An image whose exec failed says it again."""
        self.add_process(1, states=(NOTHING_KNOWN,) * 3 + (EXACT,))
        self.scenario.processes[0].metric_states = [(1, 2, OVERLAP), (2, 2, OVERLAP), (3, 2, OVERLAP),
                                                    (1, 0, ""), (2, 1, WHY), (3, 1, WHY)]
        self.assertEqual(self.states(), [self.MEASURED, self.BOUND, self.BOUND])

    def test_not_measured(self):
        self.add_process(1, None, (NOTHING_KNOWN,) * 3, OVERLAP)
        self.assertEqual(self.states(), [("not measurable", OVERLAP, None)] * 3)

    def test_not_recorded(self):
        """As hpcrun did before it recorded states."""
        self.add_process(1, None)
        for state, why, _ in self.states():
            self.assertEqual(state, "not measurable")
            self.assertIn("no runtime", why)

    def test_two_processes(self):
        """A bound of one is a bound of the sum; without what one lacks, the sum is a lower bound, also of the work."""
        self.add_process(1)
        self.add_process(2, states=(EXACT, LOWER_BOUND, LOWER_BOUND))
        self.add_process(3, None)
        self.assertEqual(self.states(), [self.MEASURED, self.BOUND, self.BOUND])
        self.setUp()
        self.add_process(1)
        self.add_process(77, None, (NOTHING_KNOWN,) * 3, OVERLAP)
        why = "process 77 was not measured: " + OVERLAP
        self.assertEqual(self.states(), [("lower bound", why, None)] + [("lower bound", why, "total")] * 2)


class Bounded(Case):
    """The program of test_what_if.py."""
    BOUNDS = SPANS[1:]

    def setUp(self):
        super().setUp()
        self.work, self.span, self.burdened = (sum(column) for column in zip(*COSTS.values()))
        p = Program(METRICS)
        qsort = p.main.statement(p.file, 11).call(p.function("sample_qsort", 40))
        rows = {"sample_qsort": qsort, "partition": qsort.statement(p.file, 42).call(p.function("partition", 50)),
                SERIAL: p.db.entry(1, "main thread").call(p.db.function(SERIAL))}
        for name, costs in COSTS.items():
            for metric, cost in enumerate(costs, 1):
                rows[name].charge(cost, metric)
        run = run_json([thread(1, 4.0)], 4.0, metrics=METRICS)
        for metric in run["metrics"]:
            if metric["name"] in self.BOUNDS:
                metric.update(state="lower bound", why=WHY, **({} if metric["name"] == SPANS[0] else {"bounds": "total"}))
        self.write(p.db, run)

    def summary(self, *options):
        return viewer.printed_json("summary", *options, self.db)


class Views(Bounded):
    def test_summary(self):
        text = viewer.printed("summary", self.db)
        self.assertRegex(text, rf"≥ 0\.7000 s +span +the longest chain of strands; lower bound: {WHY}")
        self.assertIn("  at most %.2f  parallelism: work / span\n" % (self.work / self.span), text)
        self.assertIn("  at most %.2f  burdened parallelism: work / burdened span\n" % (self.work / self.burdened), text)
        self.assertIn(f"\n  the span is at least 700.0 ms: {WHY}\n", text)
        self.assertIn("\n         4 CPUs  at most 4.00 times faster than one\n", text)
        self.assertNotRegex(text, r"\d to \d\S* times faster")

    def test_json(self):
        of = self.summary()["work_span"]
        self.assertEqual((of["state"], of["why"]), ("lower bound", WHY))
        self.assertAlmostEqual(of["span"], self.span)
        self.assertEqual([s["at_least"] for s in of["speedups"]], [None] * 6)
        self.assertAlmostEqual(of["speedups"][2]["at_most"], self.work / self.span)
        states = {m["name"]: (m["state"], m.get("why"), m.get("bounds")) for m in self.summary()["metric_states"]}
        self.assertEqual(states["span"], ("lower bound", WHY, "total"))
        self.assertEqual(states["exact work"], ("measured", None, None))

    def test_csv(self):
        self.assertIn("span (lower bound):inclusive", self.records("flat")[0])

    def test_only_the_program_s_span_has_a_bound(self):
        """A context's part of the longest known chain may be no part of the longest one."""
        text = viewer.printed("top-down", "--metrics", "span", self.db)
        self.assertRegex(text, rf"span +≥ 700\.0 ms  lower bound: {WHY}")
        partition = next(line for line in text.splitlines() if "partition" in line)
        self.assertRegex(partition, r" 610\.0 +87\.1%")
        self.assertNotIn("≥", partition)
        derived = viewer.printed_json("flat", "--derive", "x = 2 * $span", self.db)["metrics"]
        self.assertEqual({m["name"]: m.get("bounds") for m in derived}["x"], "total")
        ratio = viewer.printed_json("flat", "--derive", "x = $work / $span", self.db)["metrics"]
        self.assertEqual({m["name"]: m["state"] for m in ratio}["x"], "not measurable")

    def test_advice(self):
        found, = (f for f in self.summary()["advice"] if f["kind"] == "parallelism")
        self.assertIn("Parallelism is at most %.1f: work 3.940 s, span at least 700.0 ms; at most %.1f if every spawn is "
                      "stolen. The span is a lower bound: %s." % (self.work / self.span, self.work / self.burdened, WHY),
                      found["text"])
        self.assertIn("87.1%% of the longest known chain is in partition, p.c:50: if it "
                      "were parallel, parallelism would be at most %.1f." % (self.work / (self.span - 0.61)), found["text"])
        self.assertNotIn("raises", found["text"])
        self.assertNotIn("Tasks are so small", found["text"])

    def test_what_if(self):
        found, = self.summary("--what-if", "partition 2x")["what_if"]
        least, work = self.span - 0.305, self.work - 1.2
        self.assertAlmostEqual(found["span"]["at_least"], least)
        self.assertIsNone(found["span"]["at_most"])
        self.assertIsNone(found["burdened_span"]["at_most"])
        self.assertIsNone(found["parallelism"]["at_least"])
        self.assertAlmostEqual(found["parallelism"]["at_most"], work / least)
        self.assertEqual([s["at_least"] for s in found["speedups"]], [None] * 6)
        text = viewer.run("--what-if", "partition 2x", self.db).stdout
        self.assertIn("    ≥ 395.0 ms  span (was ≥ 700.0 ms)\n"
                      "        ≤ %.2f  parallelism (was ≤ %.2f)\n" % (work / least, self.work / self.span), text)
        self.assertIn("4 CPUs  at most 4.00 times faster than one (was at most 4.00)\n", text)
        serial, = self.summary("--what-if", SERIAL + " 4x")["what_if"]
        self.assertAlmostEqual(serial["span"]["at_least"], self.span - 0.03)
        self.assertIsNone(serial["span"]["at_most"])


class Errors(Case):
    """Work, span and burdened span that are right within an error: the program of test_what_if.py."""
    ERRORS = (0.05, 0.02, 0.03)

    def setUp(self):
        super().setUp()
        self.values = [sum(column) for column in zip(*COSTS.values())]
        p = Program(METRICS)
        rows = {"sample_qsort": p.main.statement(p.file, 11).call(p.function("sample_qsort", 40))}
        for name in COSTS:
            rows.setdefault(name, p.db.entry(1, "main thread").call(p.db.function(name)))
            for metric, cost in enumerate(COSTS[name], 1):
                rows[name].charge(cost, metric)
        run = run_json([thread(1, 4.0)], 4.0, metrics=METRICS)
        for metric, error in zip((m for m in run["metrics"] if m["name"] in SPANS), self.ERRORS):
            metric["error"] = error
        self.write(p.db, run)

    def test_intervals(self):
        work, span, burdened = self.values
        text = viewer.printed("summary", self.db)
        self.assertRegex(text, r"%.3f s .* exact work .*[a-z] \(%.3f s to %.3f s\)\n" % (work, work - 0.05, work + 0.05))
        self.assertIn("  parallelism: work / span (%.2f to %.2f)\n"
                      % ((work - 0.05) / (span + 0.02), (work + 0.05) / (span - 0.02)), text)
        self.assertIn("  burdened parallelism: work / burdened span (%.2f to %.2f)\n"
                      % ((work - 0.05) / (burdened + 0.03), (work + 0.05) / (burdened - 0.03)), text)
        self.assertIn("Parallelism is %.1f (%.1f to %.1f): " % (work / span, (work - 0.05) / (span + 0.02),
                                                              (work + 0.05) / (span - 0.02)), text)

    def test_data(self):
        summary = viewer.printed_json("summary", self.db)
        self.assertEqual(tuple(summary["work_span"][key] for key in ("work_error", "span_error", "burdened_span_error")),
                         self.ERRORS)
        self.assertEqual({m["name"]: m.get("error") for m in summary["metric_states"] if m["name"] in SPANS},
                         dict(zip(SPANS, self.ERRORS)))


class BoundedWork(Bounded):
    """If the work is a lower bound, too, nothing is known about parallelism."""
    BOUNDS = SPANS

    def test_no_parallelism(self):
        summary = self.summary()
        self.assertNotIn("work_span", summary)
        self.assertNotIn("parallelism", [f["kind"] for f in summary["advice"]])
        self.assertRegex(viewer.printed("summary", self.db),
                         rf"≥ 3\.940 s +exact work +all strands of a fork-join program; lower bound: {WHY}")


class Sets(KnownSet):
    """One run of three has work and span."""

    def setUp(self):
        super().setUp()
        self.add(1, 1, 10, (9, 1, 0))
        self.add(4, 1, 3, (9, 1, 2))
        self.add(1, 0, 99, (90, 10, 0, 8, 3.5, 4), metrics=WORK_SPAN)
        with viewer.changed_run(self.set / "run-1-0-database") as run:
            for metric in run["metrics"][-2:]:
                metric.update(state="lower bound", why=WHY, bounds="total")

    def test_tables(self):
        found = json.loads(self.printed("json"))
        self.assertEqual(found["work_span"], {"workers": 1, "runs": 1, "state": "lower bound", "why": WHY, "work": 8,
                                              "span": 3.5, "burdened_span": 4})
        self.assertEqual(found["rows"][1]["laws"], {"work_law": 5, "span_law": 10 / 3.5, "burdened": None})
        text = self.printed("text")
        self.assertIn("  work 8.000 s, span at least 3.500 s, burdened span at least 4.000 s, with 1 worker (1 run)\n"
                      f"  the span is a lower bound: {WHY}; so no speedup is certain\n", text)
        self.assertRegex(text, r"\n +4 +5\.00 +2\.86 +-\n")
        rows = list(csv.DictReader(self.printed("csv").splitlines()))
        self.assertEqual([row["burdened"] for row in rows], ["-", "-"])

    def test_plots(self):
        drawing = ElementTree.fromstring(self.printed("svg").encode())
        self.assertIn("law of known span, at most", "".join(drawing.itertext()))
        self.assertNotIn("burdened", "".join(drawing.itertext()))
