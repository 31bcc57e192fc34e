"""Derived metrics (--derive) in all printed output, compared with values that Python computes from
view_oracle's values of stored metrics."""
import csv
import io
import json
import math

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


def arguments(formulas=FORMULAS):
    return [word for name, (formula, _) in formulas.items()
            for word in ("--derive", f"{name} = {formula}")]


def or_none(function, *values):
    """Undefined values are None, and so is everything computed from them."""
    try:
        return function(*values)
    except (ZeroDivisionError, TypeError):
        return None


class OnRandomTrees(parallel.Case):
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


class Printed(parallel.Case):
    """The program of test_viewer_efficiency: work 9, overhead 2, idleness 3.0625 of two threads, of
    which the second has 2 of the work."""

    def setUp(self):
        super().setUp()
        self.write(parallel.describe(), parallel.run_json(parallel.MEASURED))

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
        for formula, order in (("$effort", [1, 2]), ("$work / $effort", [2, 1]), ("$overhead / $idleness", [1, 2]),
                               ("1 / ($work - 7)", [2, 1])):  # not defined in the first thread
            shown = viewer.printed_json("threads", "--derive", f"by = {formula}", "--sort", "by", self.db)["threads"]
            self.assertEqual([thread["profile"] for thread in shown], order, formula)

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


class NotMeasured(story.StoryTest):
    def test_why(self):
        """Idleness was not measured there."""
        shown = viewer.printed_json("flat", "--derive", "waste = $idleness + 0 * $work", self.db)
        waste = next(one for one in shown["metrics"] if one["name"] == "waste")
        self.assertEqual(waste["state"], "not measurable")
        self.assertIn("no runtime with an agent took part", waste["why"])
        self.assertEqual(shown["root"]["metrics"]["waste"], {"inclusive": None, "exclusive": None})
