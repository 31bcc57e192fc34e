"""Overhead of which only a lower bound is known: every view says so. The program is that of
test_viewer_efficiency.py, with an overhead of 2.0 of 14.0625 of effort, of which spawns are 1.5.
init has none."""
import os
import re
import tempfile

import viewer
from terminal import Terminal
from test_viewer_efficiency import MEASURED, Case, describe, run_json
from test_viewer_kinds import KINDS, with_kinds

WHY = "no code carries tags: compile it with tags"


def bounded(run):
    for metric in run["metrics"]:
        if metric["name"].startswith("overhead"):
            metric.update(state="lower bound", why=WHY)
    return run


RUN = bounded(run_json(MEASURED + [(name, "REALTIME", None) for name in KINDS]))


def costs(line):
    """The part of a tree's line before the name."""
    return line[:line.index("fib")] if "fib" in line else line


class Text(Case):
    def setUp(self):
        super().setUp()
        self.write(with_kinds(describe()), RUN)

    def test_trees(self):
        for view in ("top-down", "bottom-up", "flat"):
            for sign, locale in (("≥", "C.UTF-8"), (">=", "C")):
                with self.subTest(view=view, locale=locale):
                    text = viewer.printed(view, self.db, locale=locale)
                    self.assertRegex(text, rf"overhead +{sign} 2.000 s  lower bound: {WHY}")
                    fib = next(line for line in text.splitlines() if re.search(r"\bfib\b", line))
                    self.assertEqual(len(re.findall(rf"{sign} \d", costs(fib))), 1)
                    init = next(line for line in text.splitlines() if re.search(r"\binit\b", line))
                    self.assertNotIn(sign, init)
                    self.assertNotRegex(text, rf"{sign} (?![\d.]*[1-9]|overhead)")

    def test_columns_stay_below_each_other(self):
        """≥ takes three bytes and one column."""
        at = [line.index(name) for line in viewer.printed("flat", self.db).splitlines()
              for name in ("m.c  ", "fib  m.c", "init  m.c", "solve  m.c") if name in line]
        self.assertGreaterEqual(len(at), 3)
        self.assertEqual(len(set(at[-3:])), 1)

    def test_summary(self):
        text = viewer.printed("summary", self.db)
        self.assertRegex(text, rf"≥ 2\.000 s  ≥ 14\.2%  overhead  the parallel runtime itself: 10\.7% spawn.*; "
                               rf"lower bound: {WHY}")
        self.assertRegex(viewer.printed("summary", self.db, locale="C"),
                         r">= 2\.000 s >= 14\.2%  overhead  the parallel runtime itself: 10\.7% spawn")

    def test_json_and_csv(self):
        for view in ("top-down", "threads"):
            states = {m["name"]: m for m in viewer.printed_json(view, self.db)["metrics"]}
            self.assertEqual((states["overhead"]["state"], states["overhead"]["why"]),
                             ("lower bound", WHY))
            self.assertEqual(states["work"]["state"], "measured")
            self.assertEqual(states["effort"]["state"], "measured")
        summary = viewer.printed_json("summary", self.db)
        states = {m["name"]: m["state"] for m in summary["metric_states"]}
        self.assertEqual(states["overhead"], "lower bound")
        self.assertEqual(summary["metrics"]["overhead"], 2.0)
        self.assertIn("overhead (lower bound):inclusive", self.records("flat")[0])
        self.assertIn("overhead (lower bound)", self.records("threads")[0])

    def test_threads(self):
        text = viewer.printed("threads", self.db)
        self.assertIn("≥ overhead, s", text)
        self.assertRegex(text, r"≥ 2\.000  ")

    def test_advice_names_no_grain(self):
        text = " ".join(viewer.printed("summary", self.db).split())
        self.assertIn(f"Overhead is a lower bound: {WHY}.", text)
        self.assertNotRegex(text, "(?i)nothing to gain|grain")
        self.assertRegex(text, r"overhead at least 14 %")
        advice, = viewer.parallelization(viewer.printed_json("summary", self.db))
        self.assertEqual(advice["overhead_state"], "lower bound")

    def test_no_overhead_found(self):
        """A lower bound of 0 says nothing, and is shown as `-`."""
        db = describe()
        for context in db.contexts():
            context.charges = {k: v for k, v in context.charges.items() if k[1] != 1}
        self.write(db, RUN)
        text = viewer.printed("summary", self.db)
        self.assertIn("  Not measured (reasons are below): overhead.", text)
        self.assertIn(f"Metrics that were not measured\n  overhead: {WHY}\n", text)
        self.assertNotIn("≥", text)
        self.assertNotRegex(text, "(?i)well parallelized|grain")


class Derived(Case):
    def setUp(self):
        super().setUp()
        self.write(describe(), RUN)

    def state(self, formula):
        shown = viewer.printed_json("flat", "--derive", f"x = {formula}", self.db)
        metric = next(m for m in shown["metrics"] if m["name"] == "x")
        value = shown["root"]["metrics"]["x"]["inclusive"]
        return metric["state"], value is not None

    def test_states(self):
        for formula, state in (
                ("$overhead + $idleness", "lower bound"), ("$overhead / $effort", "lower bound"),
                ("100 * $overhead / @effort", "lower bound"), ("max($overhead, 1)", "lower bound"),
                ("sqrt($overhead)", "lower bound"), ("$work - -$overhead", "lower bound"),
                ("$idleness / $effort", "measured"), ("$work + $idleness", "measured"),
                ("$effort - $overhead", "not measurable"), ("1 / $overhead", "not measurable"),
                ("$overhead / $overhead", "not measurable"),
                ("if($overhead > 1, 1, 0)", "not measurable"),
                ("-1 * $overhead", "not measurable")):
            with self.subTest(formula=formula):
                self.assertEqual(self.state(formula), (state, state != "not measurable"))
        text = viewer.printed("summary", "--derive", "lost [s] = $overhead + $idleness", self.db)
        self.assertRegex(text, r"≥ 5\.062 s +lost +=.*; lower bound: 'overhead' is only")

    def test_derived_from_derived(self):
        shown = viewer.printed_json("flat", "--derive", "a = $overhead + 1", "--derive",
                                    "b = 1 / $a", "--derive", "c = 2 * $a", self.db)
        states = {m["name"]: m["state"] for m in shown["metrics"]}
        self.assertEqual((states["a"], states["b"], states["c"]),
                         ("lower bound", "not measurable", "lower bound"))


class Comparison(Case):
    def test_difference_of_a_bound(self):
        """The difference between a bound and a measured value is unknown."""
        self.write(describe(), RUN)
        bound, self.db = self.db, os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "tagged")
        os.mkdir(self.db)
        self.write(describe(), run_json(MEASURED))
        text = viewer.printed("summary", bound, self.db)
        line = next(line for line in text.splitlines() if re.search(r"  overhead", line))
        self.assertRegex(line, rf"≥ 2\.000 s +2\.000 s +- +- +overhead: only a lower bound in "
                               rf".*: {WHY}")
        self.assertNotRegex(text, r"overhead by")
        shown = viewer.printed_json("summary", bound, self.db)
        states = [m["state"] for m in shown["metric_states"] if m["name"].startswith("overhead")]
        self.assertEqual(states, ["lower bound", "measured", "not measurable", "not measurable"])


class InTerminal(Case):
    def test_columns_inspector_and_threads(self):
        self.write(with_kinds(describe()), RUN)
        with Terminal([viewer.VIEWER, "--closed", "--sort", "overhead", self.db], width=120, height=40) as term:
            term.until_seen("≥ overhead", "≥ 2.000", "fib")
            term.answer("/", "fib")
            term.press("4")
            lines = term.until(lambda at: at[0].rstrip().endswith("threads: fib"), "the threads of fib")
            self.assertRegex(lines[2], r"^min - .*max ≥ 2\.000 *$")
            self.assertRegex(lines[3], r"^ *≥ 2\.000 +100\.0%")
