"""Derived metrics (--derive) in all printed output, compared with values that Python computes from
view_oracle's values of stored metrics."""
import copy
import csv
import io
import json
import math
import os
import random
import statistics
import tempfile
import unittest

import test_viewer_efficiency as parallel
import v4_writer
import viewer
import viewer_story as story
from view_oracle import Oracle

# Formulas over the metrics of random_database, and the same in Python. Arguments: the row's values
# in the part that is computed (work, misses), the program's (Work, Misses), and both parts (i, e).
FORMULAS = {
    "both": ("$work + $misses", lambda v: v["work"] + v["misses"]),
    "ratio": ("$misses / $work", lambda v: v["misses"] / v["work"]),
    "share [%]": ("100 * $1 / @1", lambda v: 100 * v["work"] / v["Work"]),
    "below": ("$work:inclusive - $work:exclusive", lambda v: v["i"]["work"] - v["e"]["work"]),
    "of both": ("if($both > 2, sqrt($both), -$\"both\" ^ 2) + max($ratio, 1, @misses/@\"both\")",
                lambda v: ((math.sqrt(v["both"]) if v["both"] > 2 else -v["both"] ** 2) +
                           max(v["ratio"], 1, v["Misses"] / v["Both"]))),
}
UNITS = {"both": "", "ratio": "", "share": "%", "below": "", "of both": ""}
ADDITIVE = {"both", "share"}


def arguments(formulas=FORMULAS):
    return [word for name, (formula, _) in formulas.items()
            for word in ("--derive", f"{name} = {formula}")]


def or_none(function, *values):
    """Undefined values are None, and so is everything computed from them."""
    try:
        return function(*values)
    except (ZeroDivisionError, TypeError):
        return None


class OnRandomTrees(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(tempfile.TemporaryDirectory())

    def expected(self, stored, program):
        """A row's values of the derived metrics: {name: {part: value}}."""
        found = {}
        whole = {name.capitalize(): cost["inclusive"] for name, cost in program.items()}
        whole["Both"] = whole["Work"] + whole["Misses"]
        parts = {letter: {name: cost[part] for name, cost in stored.items()}
                 for letter, part in (("i", "inclusive"), ("e", "exclusive"))}
        for letter, part in (("i", "inclusive"), ("e", "exclusive")):
            values = {**parts, **parts[letter], **whole}
            for name, (_, function) in FORMULAS.items():
                name = name.split(" [")[0]
                values[name] = or_none(function, values)
                found.setdefault(name, {})[part] = values[name]
        return found

    def compare(self, shown, expected, program):
        for (_, row), (_, other) in zip(viewer.rows_of(shown), viewer.rows_of(expected)):
            for name, parts in self.expected(other["metrics"], program).items():
                for part, value in parts.items():
                    got = row["metrics"][name][part]
                    what = (row["name"], name, part, got, value)
                    self.assertEqual(got is None, value is None, what)
                    if value is not None:
                        self.assertTrue(math.isclose(got, value, rel_tol=1e-12), what)

    def test_all_views(self):
        """Sorts children, so that trees of equal shape compare equal."""
        for seed in range(4):
            db = viewer.random_database(seed, 150)
            v4_writer.write_database(db, self.db)
            oracle = Oracle(db)
            views = {"top-down": oracle.topdown(), "bottom-up": oracle.bottomup(4),
                     "flat": oracle.flat()}
            for view, tree in views.items():
                depth = ("--depth", 4) if view == "bottom-up" else ()
                shown = viewer.printed_json(view, *depth, *arguments(), self.db)["root"]
                stored = json.loads(json.dumps(shown))
                for _, row in viewer.rows_of(stored):
                    row["metrics"] = {name: row["metrics"][name] for name in db.metrics}
                self.assertIsNone(viewer.difference(viewer.canonical(stored),
                                                    viewer.canonical(tree)))
                # The stored costs are checked first, since derived ones are computed from them.
                self.compare(shown, stored, oracle.topdown()["metrics"])

    def test_json_says_formula_unit_and_state(self):
        v4_writer.write_database(viewer.random_database(1), self.db)
        described = viewer.printed_json("flat", *arguments(), self.db)["metrics"]
        derived = {one["name"]: one for one in described if "formula" in one}
        self.assertEqual({name: one["formula"] for name, one in derived.items()},
                         {name.split(" [")[0]: text for name, (text, _) in FORMULAS.items()})
        self.assertEqual({name: one["unit"] if one["unit"] == "%" else ""
                          for name, one in derived.items()}, UNITS)
        self.assertEqual({one["state"] for one in derived.values()}, {"measured"})

    def test_sorting_puts_what_is_not_defined_last(self):
        v4_writer.write_database(viewer.random_database(5, 300), self.db)
        for view in ("top-down", "bottom-up", "flat"):
            root = viewer.printed_json(view, "--depth", 4, *arguments(), "--sort",
                                       "ratio:exclusive", self.db)["root"]
            seen_undefined = False
            for _, row in viewer.rows_of(root):
                values = [child["metrics"]["ratio"]["exclusive"] for child in row["children"]]
                defined = [value for value in values if value is not None]
                self.assertEqual(values[:len(defined)], sorted(defined, reverse=True))
                seen_undefined |= None in values
            self.assertTrue(seen_undefined)


class Printed(unittest.TestCase):
    """The program of test_viewer_efficiency: work 9, overhead 2, idleness 3.0625 of two threads, of
    which the second has 2 of the work."""

    def setUp(self):
        self.db = self.enterContext(tempfile.TemporaryDirectory())
        v4_writer.write_database(parallel.describe(), self.db)
        metrics = [(name, "REALTIME", None) for name in parallel.PARTS]
        with open(os.path.join(self.db, "run.json"), "w") as file:
            json.dump(parallel.run_json(metrics), file)

    WASTE = ("--derive", "waste [s] = $idleness + $overhead")
    EFFICIENCY = ("--derive", "efficiency = $work / $effort")

    def test_text(self):
        text = viewer.printed("top-down", *self.WASTE, *self.EFFICIENCY, "--sort", "waste", self.db)
        lines = text.splitlines()
        self.assertIn("  waste       5.062 s  = $idleness + $overhead", lines)
        self.assertIn("  efficiency  0.640  = $work / $effort", lines)
        init = next(line for line in lines if "init" in line)
        # 3 of 5.0625; an efficiency of 1 / 4, without a percentage
        self.assertIn("3.000  59.3%", init)
        self.assertRegex(init, r" 0\.250 +12 » init")

    def test_csv(self):
        records = list(csv.DictReader(io.StringIO(
            viewer.printed("flat", "--format", "csv", *self.WASTE, *self.EFFICIENCY, self.db))))
        fib = next(record for record in records if record["name"] == "fib")
        self.assertEqual((fib["waste:inclusive"], fib["efficiency:exclusive"]), ("2", "0.6"))
        call = next(record for record in records if record["name"] == "m.c:13")
        self.assertEqual((call["waste:inclusive"], call["efficiency:exclusive"]), ("2", "-"))
        self.assertNotIn("waste:inclusive_percent_of_effort", fib)

    def test_threads(self):
        threads = viewer.printed_json("threads", *self.WASTE, *self.EFFICIENCY, self.db)
        first, second = (thread["metrics"] for thread in threads["threads"])
        self.assertEqual((first["waste"], second["waste"]), (5.0625, 0))
        self.assertEqual((first["efficiency"], second["efficiency"]), (7 / 12.0625, 1))
        over = threads["statistics"]
        self.assertEqual([over[s]["waste"] for s in ("sum", "min", "mean", "max")],
                         [5.0625, 0, 5.0625 / 2, 5.0625])
        self.assertEqual([over[s]["efficiency"] for s in ("sum", "min", "mean", "max")],
                         [None, 7 / 12.0625, (1 + 7 / 12.0625) / 2, 1])
        # The second thread has no idleness: it counts in no statistic.
        over = viewer.printed_json("threads", "--derive", "r = $overhead / $idleness", self.db)["statistics"]
        self.assertEqual([over[s]["r"] for s in ("sum", "min", "mean", "max")], [None] + [2 / 3.0625] * 3)

    def test_summary(self):
        summary = viewer.printed_json("summary", *self.WASTE, *self.EFFICIENCY, self.db)
        self.assertEqual(summary["metrics"]["waste"], 5.0625)
        self.assertEqual(summary["metrics"]["efficiency"], 9 / 14.0625)
        text = viewer.printed("summary", *self.EFFICIENCY, self.db)
        self.assertIn("         0.640           efficiency  = $work / $effort", text.splitlines())

    def test_a_list_of_metrics_need_not_have_what_formulas_name(self):
        root = viewer.printed_json("top-down", "--metrics", "efficiency,waste", *self.WASTE,
                                   *self.EFFICIENCY, self.db)["root"]
        self.assertEqual({name: cost["inclusive"] for name, cost in root["metrics"].items()},
                         {"efficiency": 9 / 14.0625, "waste": 5.0625})

    def test_what_does_not_add_up_leaves_no_scopes_out(self):
        """Init has an efficiency of a quarter and much more than half a percent of work."""
        text = viewer.printed("top-down", *self.EFFICIENCY, "--sort", "efficiency", self.db)
        self.assertIn("» init", text)
        self.assertIn("less than 0.5% of work", text)

    def test_stacks_are_of_what_adds_up(self):
        for sort, status in (("waste", 0), ("efficiency", 2)):
            done = viewer.run("--print", "flat", "--format", "folded", "--sort", sort, *self.WASTE,
                              *self.EFFICIENCY, self.db)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("'efficiency' does not add up", done.stderr)
        waste = viewer.printed("top-down", "--format", "folded", "--sort", "waste", *self.WASTE,
                               self.db)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in waste.splitlines()),
                         5.0625e9)

    def test_comparison(self):
        """Compares a database with itself, with the expected number of differences."""
        root = viewer.printed_json("top-down", "--names", "a,b", "--derive",
                                   'twice = $"work [a]" + $"work [b]"', "--derive",
                                   "excess = $twice - 2 * @\"work [b]\"", self.db, self.db)["root"]
        for _, row in viewer.rows_of(root):
            work = row["metrics"]["work [a]"]
            for part in ("inclusive", "exclusive"):
                self.assertEqual(row["metrics"]["twice"][part], 2 * work[part])
                self.assertEqual(row["metrics"]["excess"][part], 2 * work[part] - 18)

    def test_errors(self):
        for definition, what in [
                ("waste = $idleness + $overhed", "no metric 'overhed', at character 22"),
                ("waste =", "a value is missing, at character 8"),
                ("= 1", "a name is missing"),
                (" [s] = 1", "a name is missing"),
                ("work = 1", "there is a metric of that name"),
                ("$idleness +", "a value is missing, at character 12"),
                ("a = $a", "no metric 'a', at character 6"),
                ("a = $9", "no metric has number 9; the last is 4, at character 6")]:
            with self.subTest(definition):
                done = viewer.run("--print", "flat", "--derive", definition, self.db)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(f"'{definition}': {what}", done.stderr)
        done = viewer.run("--print", "flat", *64 * ("--derive", "$work"), self.db)
        self.assertEqual(done.returncode, 0)
        done = viewer.run("--print", "flat", *65 * ("--derive", "$work"), self.db)
        self.assertEqual((done.returncode, "no room" in done.stderr), (2, True))

    def test_without_a_name(self):
        root = viewer.printed_json("flat", "--derive", "$work * 2", "--derive",
                                   '$"derived 1" == 18', self.db)["root"]
        self.assertEqual(root["metrics"]["derived 1"]["inclusive"], 18)
        self.assertEqual(root["metrics"]["derived 2"]["inclusive"], 1)

    def test_a_long_chain_costs_one_step_each(self):
        """Each metric names the one before twice: 2^60 steps if values were not reused."""
        chain = ["--derive", "d0 = $work"]
        for i in range(1, 60):
            chain += ["--derive", f"d{i} = $d{i - 1} / 2 + $d{i - 1} / 2"]
        root = viewer.printed_json("top-down", *chain, self.db)["root"]
        for _, row in viewer.rows_of(root):
            self.assertEqual(row["metrics"]["d59"], row["metrics"]["d0"])


STATISTICS = {"thread_min": min, "thread_mean": statistics.fmean, "thread_max": max,
              "thread_stddev": statistics.pstdev}
N_THREADS = 4


class OverThreads(unittest.TestCase):
    """Statistics over threads. Rows are identified by their names and places."""

    def setUp(self):
        self.db = self.enterContext(tempfile.TemporaryDirectory())

    @staticmethod
    def describe():
        """Procedures f0 to f3, each with a loop, a recursive call and something inlined; charged in
        some of the threads."""
        rng = random.Random(3)
        db = v4_writer.Database("threads", ("work", "misses"), N_THREADS)
        program, file = db.module("/bin/threads"), db.file("/src/t.c")
        functions = [db.function(f"f{i}", program, 0x100 * i, file, 100 * i) for i in range(4)]
        main = db.entry(1, "main thread").call(db.function("main", program, 0x900, file, 10))
        inlined = db.function("inlined", file=file, line=77)
        for i, function in enumerate(functions):
            called = main.statement(file, 11 + i).call(function)
            loop = called.loop(file, 100 * i + 1)
            again = loop.statement(file, 100 * i + 3).call(functions[0]).call(function)
            places = [called.statement(file, 100 * i + 1), loop.statement(file, 100 * i + 2),
                      loop.statement(file, 100 * i + 4).inline(inlined).statement(file, 78),
                      again.statement(file, 100 * i + 5)]
            for place in places:
                for profile in rng.sample(range(1, N_THREADS + 1), rng.randint(1, N_THREADS)):
                    for metric in range(2):
                        place.charge(rng.randint(1, 4000) * viewer.UNIT, metric, profile)
        return db

    @staticmethod
    def of_thread(db, profile):
        """The same program with the costs of one thread only."""
        db = copy.deepcopy(db)
        for entry in db.entries:
            for context in entry.below():
                context.charges = {key: value for key, value in context.charges.items()
                                   if key[0] == profile}
        return db

    def by_path(self, row, path=()):
        """The metrics at each path, each path once: {path: metrics}."""
        site = row.get("call_site") or {}
        path += ((row["kind"], row["name"], row["line"], site.get("line")),)
        found = {path: row["metrics"]}
        for child in row["children"]:
            below = self.by_path(child, path)
            self.assertFalse(found.keys() & below.keys())
            found.update(below)
        return found

    def check(self, db, profiles, *options):
        trees = {"top-down": lambda oracle: oracle.topdown(), "flat": lambda oracle: oracle.flat(),
                 "bottom-up": lambda oracle: oracle.bottomup(3)}
        words = [word for name in STATISTICS for metric in db.metrics
                 for word in ("--derive", f"{name} {metric} = {name}(${metric})")]
        words += ["--sort", "thread_max work"]  # which finds those of all rows of a list at once
        for view, tree in trees.items():
            threads = [self.by_path(tree(Oracle(self.of_thread(db, p)))) for p in profiles]
            depth = ("--depth", 3) if view == "bottom-up" else ()
            shown = self.by_path(viewer.printed_json(view, *depth, *words, *options,
                                                     self.db)["root"])
            self.assertGreater(len(shown), 10)
            for path, costs in shown.items():
                for metric in db.metrics:
                    for part in ("inclusive", "exclusive"):
                        values = [thread[path][metric][part] if path in thread else 0
                                  for thread in threads]
                        self.assertAlmostEqual(sum(values), costs[metric][part])
                        for name, function in STATISTICS.items():
                            self.assertAlmostEqual(costs[f"{name} {metric}"][part],
                                                   function(values), 9, (view, path, name, part))

    def test_all_views(self):
        db = self.describe()
        v4_writer.write_database(db, self.db)
        self.check(db, range(1, N_THREADS + 1))

    def test_of_the_threads_that_are_shown(self):
        db = self.describe()
        v4_writer.write_database(db, self.db)
        self.check(db, (2, 3), "--threads", "thread [12]$")

    def test_sorting_and_formulas(self):
        """Imbalance: the maximum over the threads divided by the mean."""
        db = self.describe()
        v4_writer.write_database(db, self.db)
        words = ("--derive", "imbalance = thread_max($work) / thread_mean($work)")
        root = viewer.printed_json("bottom-up", "--depth", 1, *words, "--sort", "imbalance",
                                   self.db)["root"]
        threads = [self.by_path(Oracle(self.of_thread(db, p)).bottomup(1))
                   for p in range(1, N_THREADS + 1)]
        shown = self.by_path(root)
        for path, costs in shown.items():
            values = [thread[path]["work"]["inclusive"] if path in thread else 0
                      for thread in threads]
            self.assertAlmostEqual(costs["imbalance"]["inclusive"],
                                   max(values) / statistics.fmean(values))
        below = [child["metrics"]["imbalance"]["exclusive"] for child in root["children"]]
        defined = [value for value in below if value is not None]
        self.assertEqual(below[:len(defined)], sorted(defined, reverse=True))

    def test_what_there_is_not(self):
        v4_writer.write_database(self.describe(), self.db)
        for formula, what in [("thread_max(@work)", "a metric of the row, $NAME, should stand here"),
                              ("thread_max($work + 1)", "')' is missing"),
                              ("thread_max $work", "'(' is missing"),
                              ("thread_max($d)", "of this metric there are no values of threads")]:
            done = viewer.run("--print", "flat", "--derive", "d = $work", "--derive", formula,
                              self.db)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)
        done = viewer.run("--print", "flat", "--names", "a,b", "--derive",
                          'thread_max($"work [a]")', self.db, self.db)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no values of threads", done.stderr)
        # The total of one thread has no statistics over threads.
        threads = viewer.printed_json("threads", "--derive", "most = thread_max($work)", self.db)
        self.assertEqual({thread["metrics"]["most"] for thread in threads["threads"]}, {None})


class NotMeasured(story.StoryTest):
    def test_why(self):
        """Idleness was not measured there."""
        shown = viewer.printed_json("flat", "--derive", "waste = $idleness + 0 * $work", self.db)
        waste = next(one for one in shown["metrics"] if one["name"] == "waste")
        self.assertEqual(waste["state"], "not measurable")
        self.assertIn("no runtime with an agent took part", waste["why"])
        self.assertEqual(shown["root"]["metrics"]["waste"], {"inclusive": None, "exclusive": None})
