"""hpcviewer A B: two databases merged into one tree, checked against comparison_oracle, against each
database alone, and by hand."""
import json
import pathlib
import re
import tempfile
import unittest

import v4_writer
import viewer
import viewer_screen
from comparison_oracle import NoSources, Program, Sources, merged
from view_oracle import Oracle

SEEDS = 16
NAMES = ("before", "after")
VIEWS = ("top-down", "bottom-up", "flat")
DEPTH = 4  # of the bottom-up view
PARTS = ("inclusive", "exclusive")


def canonical(row):
    """viewer.canonical with the databases that have a row, and with undefined costs."""
    site = row.get("call_site")
    costs = tuple((name, *("undefined" if cost[part] is None else cost[part] for part in PARTS))
                  for name, cost in sorted(row["metrics"].items()))
    itself = (row["kind"], row["name"], row["file"] or "", row["line"] or 0, row["module"] or "",
              (site["file"] or "", site["line"] or 0) if site else ("", -1), tuple(row["in"]),
              costs)
    return (itself, sorted((canonical(child) for child in row["children"]), key=repr))


def of_side(row, name):
    """One side's part of a merged tree: the rows and metrics that this side has."""
    costs = tuple((metric[:-len(f" [{name}]")], *(cost[part] for part in PARTS))
                  for metric, cost in sorted(row["metrics"].items())
                  if metric.endswith(f" [{name}]"))
    below = [of_side(child, name) for child in row["children"] if name in child["in"]]
    return (costs, sorted(below))


def costs_of(row):
    """The same for the tree of one database."""
    costs = tuple((metric, *(cost[part] for part in PARTS))
                  for metric, cost in sorted(row["metrics"].items()))
    return (costs, sorted(costs_of(child) for child in row["children"]))


def oracle_trees(db):
    oracle = Oracle(db)
    return {"top-down": oracle.topdown(), "bottom-up": oracle.bottomup(DEPTH),
            "flat": oracle.flat()}


def write_sources(folder, texts):
    """Copies of source files as hpcprof makes them."""
    for path, lines in texts.items():
        copy = folder / "src" / path.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("".join(f"{line}\n" for line in lines))


class Compared(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folders = [self.place / name for name in NAMES]

    def write(self, *databases):
        for db, folder in zip(databases, self.folders):
            v4_writer.write_database(db, folder)

    def describe_runs(self, *runs):
        for run, folder in zip(runs, self.folders):
            (folder / "run.json").write_text(json.dumps({"format": "hpctoolkit-run", "version": 2,
                                                         **run}))

    def compared(self, view, *options):
        depth = ("--depth", DEPTH) if view == "bottom-up" else ()
        return viewer.printed_json(view, *depth, *options, *self.folders)

    def refused(self, status, *arguments):
        """The error message: one line, or two for a wrong command line."""
        done = viewer.run(*arguments)
        self.assertEqual(done.returncode, status)
        self.assertEqual(done.stdout, "")
        self.assertLessEqual(len(done.stderr.splitlines()), status)
        return done.stderr


class Trees(Compared):
    def test_an_edited_program(self):
        """With copies of its source in the databases, and without."""
        for seed in range(SEEDS):
            program = Program(seed, sources=seed % 2)
            self.write(*program.databases)
            sources = NoSources
            if seed % 2:
                sources = Sources(*program.sources())
                for folder, texts in zip(self.folders, program.sources()):
                    write_sources(folder, texts)
            sides = [oracle_trees(db) for db in program.databases]
            for view in VIEWS:
                with self.subTest(seed=seed, view=view):
                    expected = merged(sides[0][view], sides[1][view], NAMES, view == "bottom-up",
                                      sources)
                    shown = self.compared(view)["root"]
                    self.assertIsNone(viewer.difference(canonical(shown), canonical(expected)))
                    for _, row in viewer.rows_of(shown):
                        for part in PARTS:
                            a, b, difference = (row["metrics"][f"work {column}"][part] for column
                                                in ("[before]", "[after]", "difference"))
                            self.assertEqual(difference, b - a)

    def test_each_side_keeps_its_rows_and_costs(self):
        """Random trees, in some of which siblings differ in nothing."""
        for seed in range(SEEDS):
            self.write(viewer.random_database(seed), viewer.random_database(seed + 1))
            for view in VIEWS:
                shown = self.compared(view)["root"]
                for name, folder in zip(NAMES, self.folders):
                    depth = ("--depth", DEPTH) if view == "bottom-up" else ()
                    alone = viewer.printed_json(view, *depth, folder)["root"]
                    self.assertEqual(of_side(shown, name), costs_of(alone), (seed, view, name))

    def test_a_run_with_itself(self):
        for seed in range(SEEDS):
            v4_writer.write_database(viewer.random_database(seed), self.folders[0])
            for view in VIEWS:
                alone = viewer.printed_json(view, "--depth", 9, self.folders[0])["root"]
                both = viewer.printed_json(view, "--depth", 9, *2 * self.folders[:1])["root"]
                n_alone, rows = len(list(viewer.rows_of(alone))), list(viewer.rows_of(both))
                self.assertEqual(len(rows), n_alone)
                for _, row in rows:
                    self.assertEqual(row["in"], ["A", "B"])
                    for part in PARTS:
                        cost = {name: row["metrics"][f"work {name}"][part]
                                for name in ("[A]", "difference", "ratio")}
                        self.assertEqual(cost["difference"], 0)
                        self.assertEqual(cost["ratio"], 1 if cost["[A]"] else None)

    def test_rows_are_in_the_order_of_their_differences(self):
        program = Program(3)
        self.write(*program.databases)
        for _, row in viewer.rows_of(self.compared("top-down")["root"]):
            differences = [child["metrics"]["work difference"]["inclusive"]
                           for child in row["children"]]
            self.assertEqual(differences, sorted(differences, reverse=True))

    def test_a_long_chain(self):
        """Memory is needed for one path only, and no recursion: 20,000 levels."""
        databases = []
        for extra in (0, 1):
            db = v4_writer.Database("deep")
            function = db.function("f", file=db.file("f.c"), line=1 + extra)
            at = db.entry()
            for _ in range(20000 + extra):
                at = at.call(function)
            at.charge(1 + extra)
            databases.append(db)
        self.write(*databases)
        lines = viewer.printed("top-down", "--format", "csv", *self.folders).splitlines()
        self.assertEqual(len(lines), 1 + 2 + 20001)
        self.assertTrue(lines[-1].startswith("20002,procedure,f,f.c,2,"), lines[-1])


class ByHand(Compared):
    """The rules of matching one by one, with calls and lines of main."""

    def matched(self, build, view="top-down"):
        """(name, call line, the databases it is in: "b", "a" or "ba") of the rows below main, of the
        databases that `build` makes for side 0 and 1."""
        self.write(*(build(side) for side in (0, 1)))
        main = viewer.find(self.compared(view)["root"], "main", "procedure")
        return sorted((row["name"], *([row["call_site"]["line"]] if "call_site" in row else []),
                       "".join(name[0] for name in row["in"])) for row in main["children"])

    @staticmethod
    def program(calls=(), statements=(), loops=(), declared=10, folder="/src", program="/bin/p",
                inlined=False, is_copied=False):
        db = v4_writer.Database("p")
        module = db.module(program)
        file = db.file(f"{'src' if is_copied else ''}{folder}/main.c", is_copied)
        main = db.entry().call(db.function("main", module, 0, file, declared))
        functions = {}
        for name, line in calls:
            if name not in functions:
                functions[name] = db.function(name, module, 64 + len(functions), file, 500)
            at = main.statement(file, line)
            (at.inline if inlined else at.call)(functions[name]).charge(1)
        for line in statements:
            main.statement(file, line).charge(1)
        for line in loops:
            main.loop(file, line).charge(1)
        return db

    def test_the_same_line_comes_first(self):
        calls = [[("f", 12), ("f", 20)], [("f", 11), ("f", 12)]]
        self.assertEqual(self.matched(lambda side: self.program(calls[side])),
                         [("f", 11, "ba"), ("f", 12, "ba")])

    def test_then_the_nearest_one_of_the_same_callee(self):
        calls = [[("f", 12), ("g", 30)], [("f", 14), ("f", 40), ("g", 90)]]
        self.assertEqual(self.matched(lambda side: self.program(calls[side])),
                         [("f", 14, "ba"), ("f", 40, "a"), ("g", 90, "ba")])

    def test_a_procedure_that_moved(self):
        """By 100 lines: what is at 12 is at 112, and what is at 120 was at 20 and not there."""
        def build(side):
            return self.program([("f", 12 + 100 * side)], [[20, 120], [120]][side], [],
                                10 + 100 * side)
        self.assertEqual(self.matched(build), [("f", 112, "ba"), ("main.c:120", "b"),
                                               ("main.c:120", "ba")])

    def test_statements_are_of_their_line_only(self):
        self.assertEqual(self.matched(lambda side: self.program(statements=[12 + side])),
                         [("main.c:12", "b"), ("main.c:13", "a")])

    def test_loops_have_the_nearest_line(self):
        self.assertEqual(self.matched(lambda side: self.program(loops=[[12, 30], [13]][side])),
                         [("loop at main.c:13", "ba"), ("loop at main.c:30", "b")])

    def test_another_folder_and_program(self):
        def build(side):
            return self.program([("f", 12)], [12], [12], folder=("/old", "/new/tree")[side],
                                program=("/old/bin/p-1", "/new/bin/p-2")[side])
        self.assertEqual(self.matched(build), [("f", 12, "ba"), ("loop at main.c:12", "ba"),
                                               ("main.c:12", "ba")])
        self.assertEqual(self.matched(build, "flat"), [("loop at main.c:12", "ba"),
                                                       ("main.c:12", "ba")])

    def test_what_was_inlined_is_called(self):
        self.assertEqual(self.matched(lambda side: self.program([("f", 12)], inlined=side == 0)),
                         [("f", 12, "ba")])

    def matched_with_sources(self, texts):
        """As `matched`, for statements and calls of f in all lines that begin with these words."""
        for folder, text in zip(self.folders, texts):
            write_sources(folder, {"/src/main.c": text})

        def build(side):
            lines = list(enumerate(texts[side], 1))
            return self.program([("f", n) for n, line in lines if line.startswith("call")],
                                [n for n, line in lines if line.startswith("line")], [], 1,
                                is_copied=True)
        return self.matched(build)

    def test_lines_are_followed_through_edits(self):
        """With the source known: an edit in the middle of a procedure, and lines moved within it."""
        before = ["main", "line a", "call b", "line c", "}", "line d", "call e", "line f"]
        after = ["main", "new 1", "new 2", "line a", "line c", "}", "new 3", "line d", "call e",
                 "line changed"]
        self.assertEqual(self.matched_with_sources([before, after]), [
            ("f", 3, "b"),     # call b is gone, and no call is new
            ("f", 9, "ba"),    # call e
            ("main.c:10", "ba"),  # line f was changed
            ("main.c:4", "ba"), ("main.c:5", "ba"), ("main.c:8", "ba")])

    def test_in_unchanged_source_no_line_is_another(self):
        text = ["main", "line", "line 2", "call 1", "x", "call 2"]
        for folder in self.folders:
            write_sources(folder, {"/src/main.c": text})
        calls = [[("f", 4)], [("f", 6)]]
        self.assertEqual(self.matched(lambda side: self.program(calls[side], is_copied=True)),
                         [("f", 4, "b"), ("f", 6, "a")])

    def test_another_name_is_another_procedure(self):
        self.assertEqual(self.matched(lambda side: self.program([("fg"[side], 12)])),
                         [("f", 12, "b"), ("g", 12, "a")])


def parallel(name, events):
    """A program whose main has work, overhead and idleness in lines 11, 12, 13."""
    db = v4_writer.Database("parallel", [part for part, _ in events], 2)
    file = db.file("/src/m.c")
    main = db.entry().call(db.function("main", db.module(f"/{name}/parallel"), 0, file, 10))
    for metric, (_, cost) in enumerate(events):
        main.statement(file, 11 + metric).charge(cost, metric)
    return db


class Metrics(Compared):
    def root(self, *options):
        return self.compared("top-down", *options)["root"]["metrics"]

    def inclusive(self, *options):
        return {name: cost["inclusive"] for name, cost in self.root(*options).items()}

    def test_only_what_both_have(self):
        self.write(parallel("a", [("work", 2), ("cycles", 3)]),
                   parallel("b", [("misses", 5), ("work", 3)]))
        self.assertEqual(self.inclusive(), {"work [before]": 2, "work [after]": 3,
                                            "work difference": 1, "work ratio": 1.5})
        self.assertRegex(viewer.printed("flat", *self.folders),
                         r"work \[before\] +2\n +work \[after\] +3\n +work difference +1\n")

    def test_nothing_in_common(self):
        self.write(parallel("a", [("cycles", 3)]), parallel("b", [("misses", 5)]))
        said = self.refused(1, "--print", "flat", *self.folders)
        self.assertEqual(said, f"hpcviewer: {self.folders[1]}: has no metric in common with "
                               f"{self.folders[0]}. Only in before: cycles. Only in "
                               "after: misses.\n")

    def test_what_was_not_measured_on_one_side(self):
        described = viewer.measured("work", "off CPU")
        why = {"name": "off CPU", "unit": "s", "state": "not measurable", "why": "no event for it"}
        self.write(parallel("a", [("work", 2)]), parallel("b", [("work", 3), ("off CPU", 1)]))
        self.describe_runs({"metrics": [described[0], why]}, {"metrics": described})
        costs = self.inclusive()
        self.assertEqual({name: cost for name, cost in costs.items() if "off CPU" in name},
                         {"off CPU [before]": None, "off CPU [after]": 1,
                          "off CPU difference": None, "off CPU ratio": None})
        text = viewer.printed("summary", *self.folders)
        self.assertIn("off CPU: not measured in before: no event for it", text)

    def test_effort_against_work(self):
        """A run without a parallel runtime has no effort, so its work is compared."""
        self.write(parallel("a", [("work", 2)]),
                   parallel("b", [("work", 3), ("overhead", 1), ("idleness", 4)]))
        described = viewer.measured("work", "overhead", "idleness")
        self.describe_runs({"metrics": described[:1]}, {"metrics": described})
        self.assertEqual(self.inclusive(), {
            "work [before]": 2, "work [after]": 3, "work difference": 1, "work ratio": 1.5,
            "effort [before]": 2, "effort [after]": 8, "effort difference": 6, "effort ratio": 4})

    def test_metrics_and_sort(self):
        self.write(*Program(1).databases)
        self.assertEqual(list(self.root("--metrics", "misses")),
                         ["misses [before]", "misses [after]", "misses difference", "misses ratio"])
        said = self.refused(2, "--print", "flat", "--metrics", "nonsense", *self.folders)
        self.assertIn("no metric 'nonsense'; there are: work, misses", said)
        said = self.refused(2, "--print", "flat", "--sort", "nonsense", *self.folders)
        self.assertIn("no metric 'nonsense' to sort by; there are: work [before]", said)
        for wanted, metric, part in (("misses", "misses difference", "inclusive"),
                                     ("work:exclusive", "work difference", "exclusive"),
                                     ("work [before]", "work [before]", "inclusive"),
                                     ("misses ratio:exclusive", "misses ratio", "exclusive")):
            with self.subTest(wanted):
                for _, row in viewer.rows_of(self.compared("flat", "--sort", wanted)["root"]):
                    costs = [child["metrics"][metric][part] for child in row["children"]]
                    known = [cost for cost in costs if cost is not None]
                    self.assertEqual(costs, sorted(known, reverse=True) +
                                     [None] * (len(costs) - len(known)))

    def test_metrics_of_one_side(self):
        """are no columns, but they are named."""
        self.write(parallel("a", [("work", 2), ("misses", 7), ("faults", 8)]), parallel("b", [("work", 3), ("waits", 9)]))
        self.assertEqual(list(self.root()), ["work [before]", "work [after]", "work difference", "work ratio"])
        for view in ("top-down", "summary"):
            self.assertIn("in percent of before. Only in before: misses, faults. Only in after: waits.",
                          viewer.printed(view, *self.folders))

    def test_derived_from_both(self):
        self.write(parallel("a", [("work", 2)]), parallel("b", [("work", 3)]))
        shown = self.inclusive("--derive", 'sum = $"work [before]" + $"work [after]"')
        self.assertEqual(shown["sum"], 5)
        said = self.refused(2, "--print", "flat", "--derive", "x = $work + 1", *self.folders)
        self.assertIn("'x = $work + 1'", said)

    def test_kinds(self):
        self.write(*(parallel(name, [("work", 2), ("overhead", 3 + i), ("overhead:spawn", 1 + i)])
                     for i, name in enumerate("ab")))
        shown = self.inclusive("--kinds")
        self.assertEqual(shown["overhead:spawn difference"], 1)
        self.assertEqual(shown["overhead ratio"], 4 / 3)
        self.assertNotIn("work [before]", shown)

    def test_small_on_both_sides_is_left_out(self):
        """But not what is large in one of them."""
        databases = []
        for costs in ((990, 4, 4, 2), (1988, 2, 0, 10)):
            db = v4_writer.Database("p")
            file = db.file("/m.c")
            main = db.entry().call(db.function("main", file=file, line=1))
            for line, cost in enumerate(costs, 1):
                main.statement(file, line).charge(cost)
            databases.append(db)
        self.write(*databases)
        rows = self.compared("top-down", "--min-percent", 0.41)["root"]
        self.assertEqual({row["name"] for _, row in viewer.rows_of(rows)} - {"main"},
                         {"<whole program>", "main thread", "m.c:1", "m.c:4"})
        text = viewer.printed("top-down", "--min-percent", 0.41, *self.folders)
        self.assertIn("2 scopes with less than 0.41% of work [before] and work [after] are left "
                      "out", text)


class Workers(Compared):
    def setUp(self):
        super().setUp()
        self.write(parallel("a", [("work", 6)]), parallel("b", [("work", 7)]))

    def said(self):
        shown, = [line.split() for line in viewer.printed("summary", *self.folders).splitlines() if line.endswith(" workers")]
        return shown

    def test_of_all_processes(self):
        self.describe_runs(*({"processes": [{"workers": n}, {"workers": 1}]} for n in (1, 2)))
        self.assertEqual(self.said(), ["2", "3", "workers"])

    def test_of_others_are_threads(self):
        self.assertEqual(self.said(), ["2", "2", "workers"])


class Names(Compared):
    def test_what_cannot_be_understood(self):
        self.write(parallel("a", [("work", 6)]), parallel("b", [("work", 7)]))
        for arguments, expected in (
                (["--names", "a,b", self.folders[0]], "needs two databases"),
                (["--names", "a", *self.folders], "takes two different names"),
                (["--names", "a,a", *self.folders], "takes two different names")):
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.refused(2, "--print", "flat", *arguments))


class Printed(Compared):
    def test_csv_has_the_rows_of_json(self):
        self.write(*Program(5).databases)
        for view in VIEWS:
            shown = self.compared(view)
            depth = ("--depth", DEPTH) if view == "bottom-up" else ()
            records = viewer.records(view, *depth, *self.folders)
            rows = list(viewer.rows_of(shown["root"]))
            self.assertEqual(len(records), len(rows))
            for record, (depth, row) in zip(records, rows):
                self.assertEqual((int(record["depth"]), record["name"]), (depth, row["name"]))
                self.assertEqual(record["in"], ",".join(row["in"]))
                for metric, cost in row["metrics"].items():
                    for part in PARTS:
                        value = record[f"{metric}:{part}"]
                        self.assertEqual(None if value == "-" else float(value), cost[part])

    def test_json_says_what_is_compared(self):
        self.write(*Program(1).databases)
        self.assertEqual(self.compared("flat")["databases"],
                         [{"name": name, "path": str(folder)}
                          for name, folder in zip(NAMES, self.folders)])

    def test_names_of_paths(self):
        for paths, names in ((("p4/db", "p8/db"), ["p4", "p8"]),
                             (("x-database", "x-database-2"), ["database", "database-2"]),
                             (("runs/xz-old-1", "runs/xz-new-1/"), ["old", "new"]),
                             (("r", "r/"), ["A", "B"])):
            folders = [self.place / path for path in paths]
            for folder in folders:
                v4_writer.write_database(parallel("a", [("work", 1)]), folder)
            shown = viewer.printed_json("flat", *(f"{self.place}/{path}" for path in paths))
            self.assertEqual([one["name"] for one in shown["databases"]], names)

    def test_text(self):
        self.write(parallel("a", [("work", 8)]), parallel("b", [("work", 12)]))
        text = viewer.printed("top-down", *self.folders)
        lines = [line.split() for line in text.splitlines()]
        self.assertIn("work difference  work [before]    work [after]     work ratio", text)
        self.assertIn(["4", "50.0%", "8", "100.0%", "12", "100.0%", "1.500", "main", "m.c:10"],
                      lines)
        self.assertIn("Differences: after - before, in percent of before.", text)

    def test_summary(self):
        self.write(*Program(7).databases)
        bottom_up = self.compared("bottom-up", "--sort", "work:exclusive")["root"]
        by_name = {name: [] for name in ("grew", "shrank")}
        for row in bottom_up["children"]:
            cost = row["metrics"]["work difference"]["exclusive"]
            by_name["grew"] += [(row["name"], cost)] if cost > 0 else []
            by_name["shrank"] += [(row["name"], cost)] if cost < 0 else []
        by_name["shrank"].reverse()
        shown = viewer.printed_json("summary", *self.folders)
        text = viewer.printed("summary", *self.folders)
        for change, expected in by_name.items():
            self.assertEqual([(one["name"], one["work difference"]) for one in shown[change]],
                             expected[:5])
            for name, _ in expected[:5]:
                self.assertRegex(text, rf"(?m)^ .*\d  (\[I\] )?{re.escape(name)}\b")
        total = bottom_up["metrics"]
        self.assertEqual(shown["metrics"], {name: cost["inclusive"]
                                            for name, cost in total.items()})
        for format in ("csv", "folded"):
            self.assertIn("summary can be printed as text, json",
                          self.refused(2, "--print", "summary", "--format", format, *self.folders))

    def test_summary_as_markdown(self):
        """The lines of the text as rows of tables, with the characters escaped that Markdown would take for its own."""
        self.write(*Program(7).databases)
        options = "--names", "a|b,c_d", *self.folders
        lines = {" ".join(line.split()) for line in viewer.printed("summary", *options).splitlines()}
        shown = viewer.printed("summary", "--format", "markdown", *options)
        rows = [[re.sub(r"\\(.)", r"\1", cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                for line in shown.splitlines() if line.startswith("|")]
        heads = [row for row in rows if row[0] == " a|b "]
        tables = 1 + shown.count("### Procedures whose own ")
        self.assertGreater(tables, 1)
        self.assertEqual(heads, tables * [[" a|b ", " c_d ", " difference ", "  ", " ratio ", "  "]])
        self.assertEqual(rows.count(5 * ["--:"] + ["---"]), tables)
        for row in rows:
            self.assertEqual(len(row), 6)
            if row not in heads and row[-1] != "---":
                self.assertIn(" ".join(" ".join(row).split()), lines)
        self.assertIn(r"c\_d", shown)
        self.assertIn("Advice", shown.split("```")[3])
        self.assertIn("is for the summary of a comparison",
                      self.refused(2, "--print", "summary", "--format", "markdown", self.folders[0]))

    def test_what_is_of_one_database(self):
        self.write(*Program(1).databases)
        self.assertIn("print them for each database",
                      self.refused(2, "--print", "threads", *self.folders))

    def test_one_is_damaged_or_missing(self):
        self.write(*Program(1).databases)
        missing = self.place / "missing"
        self.assertEqual(self.refused(1, "--print", "flat", self.folders[0], missing),
                         f"hpcviewer: {missing}: No such file or directory\n")
        (self.folders[1] / "profile.db").write_bytes(b"nothing")
        said = self.refused(1, "--print", "flat", *self.folders)
        self.assertIn(f"{self.folders[1]}/profile.db: ", said)
        self.assertIn("no physical projection", self.refused(1, "--print", "flat", "--physical",
                                                             *self.folders))


COST = r"(?:-?[<\d.]+(?: +-?[<\d.]+%)?|-)"
ROW = re.compile(rf"^ +({COST}) +({COST}) +({COST}) +({COST})  +[▸▾]? *(\S.*?) *$")


class Terminals(Compared):
    """Whole numbers are shown as they are, so that the screen can be compared with JSON."""

    def setUp(self):
        super().setUp()
        self.write(*Program(11, unit=1).databases)

    def start(self, *arguments, width=120, height=50, **more):
        return viewer_screen.start(self, *arguments, *self.folders, width=width, height=height, **more)

    @staticmethod
    def rows(lines):
        """(value of each of the four columns, scope) of the rows on the screen."""
        found = []
        for line in lines:
            match = ROW.match(line)
            if match:
                found.append((*(match[i].split()[0] for i in range(1, 5)), match[5]))
        return found

    def check(self, lines, root, metric, part):
        """The first two levels of a view as they are on the screen."""
        def number(value):
            return "-" if value is None else f"{value:g}"

        expected = []
        for row in [root, *root["children"]]:
            costs = [row["metrics"][f"{metric} {column}"][part] for column in
                     ("difference", "[before]", "[after]")]
            expected.append([number(cost) for cost in costs])
        shown = self.rows(lines)[:len(expected)]
        self.assertEqual([list(row[:3]) for row in shown], expected)
        for row, shown_row in zip(root["children"], shown[1:]):
            self.assertIn(row["name"], shown_row[4])

    def test_the_trees_are_those_of_json(self):
        terminal = self.start()
        lines = terminal.until_seen("work difference", "main thread")
        self.check(lines, self.compared("top-down")["root"], "work", "inclusive")
        lines = terminal.press_until("2", "▼ exclusive", "without_source")
        self.check(lines, self.compared("bottom-up")["root"], "work", "exclusive")

    def test_sorting(self):
        terminal = self.start("--sort", "misses")
        lines = terminal.until_seen("misses diff", "▼ inclusive")
        self.check(lines, self.compared("top-down", "--sort", "misses")["root"], "misses",
                   "inclusive")

    def test_the_source_is_that_of_the_side(self):
        """The source of the second run if it has the scope, else that of the first."""
        for side, name in enumerate(NAMES):
            db = v4_writer.Database("p")
            file = db.file(f"/nowhere/{name}/main.c")
            main = db.entry().call(db.function("main", db.module("/p"), 0, file, 1))
            main.charge(5)
            main.statement(file, 2).charge(8 + side)
            main.statement(file, 3 + side).charge(1)
            v4_writer.write_database(db, self.folders[side])
            copy = self.folders[side] / "src/nowhere" / name / "main.c"
            copy.parent.mkdir(parents=True)
            copy.write_text("".join(f"{name} {n}\n" for n in range(1, 9)))
        terminal = self.start("-R", f"/nowhere/before={self.folders[0]}/src/nowhere/before",
                              "-R", f"/nowhere/after={self.folders[1]}/src/nowhere/after",
                              height=30)
        terminal.press_until("j j +", "/nowhere/after/main.c:1", "main.c:2", "main.c:3", "main.c:4")
        terminal.answer("/", "main.c:3").until_seen("/nowhere/before/main.c:3", "before 3")
        terminal.answer("/", "main.c:4").until_seen("/nowhere/after/main.c:4", "after 4")

    def test_the_hot_path_leads_to_what_got_worse(self):
        """The row that got worse most, not the largest; if all got better, the one that did most."""
        for side, folder in enumerate(self.folders):
            db = v4_writer.Database("p")
            file = db.file("/m.c")
            functions = [db.function(name, file=file, line=line) for name, line in
                         (("main", 1), ("large", 10), ("grown", 20))]
            main = db.entry().call(functions[0])
            main.statement(file, 2).call(functions[1]).statement(file, 11).charge(1000)
            grown = main.statement(file, 3).call(functions[2])
            grown.statement(file, 21).charge(30)
            grown.statement(file, 22).charge(10 + 90 * side)
            v4_writer.write_database(db, folder)
        for folders in self.folders, self.folders[::-1]:
            self.folders = folders
            terminal = self.start(width=80, height=24)
            terminal.press("H")
            terminal.until(lambda lines: any(re.match(r"\d+/\d+ .*grown > m.c:22", line)
                                             for line in lines), "the line that changed is selected")

    def test_projections(self):
        """The physical one is there if both have it."""
        for program, folder in zip((Program(1, unit=1), Program(2, unit=1)), self.folders):
            v4_writer.write_database(program.databases[0], folder / "physical")
        terminal = self.start()
        lines = terminal.press_until("p", "[physical]", "main thread")
        self.check(lines, self.compared("top-down", "--physical")["root"], "work", "inclusive")

    def test_the_summary(self):
        """It sorts the rows of its view, which later are in the user's order again."""
        terminal = self.start()
        terminal.press("2", "r")
        rows = self.rows(terminal.until_seen("▲ exclusive", "without_source"))
        terminal.press("5")
        text = viewer.printed("summary", *self.folders)
        wanted = [line for line in text.splitlines() if line.strip()]
        lines = terminal.until_seen(wanted[-1].rstrip())
        for line in wanted:
            self.assertIn(line.rstrip(), [shown.rstrip() for shown in lines])
        terminal.press_until("q", "▲ exclusive")
        terminal.press("1", "2")
        terminal.until(lambda lines: "▲ exclusive" in "\n".join(lines) and self.rows(lines) == rows, "the reversed rows")

    def test_threads_of_either_run(self):
        """The page has the threads of the second run, of the first one where only that has the row; Tab changes."""
        costs = {"before": [1, 4, 2, 3], "after": [2, 2]}
        databases = []
        for values in costs.values():
            db = v4_writer.Database("uneven", ["work", "misses"], len(values))
            main = db.entry().call(db.function("main"))
            main.call(db.function("both"))
            for i, value in enumerate(values):
                main.children[0].charge(value, profile=i + 1)
                main.charge(10 * value, 1, i + 1)
            databases.append(db)
        databases[0].entries[0].call(databases[0].function("gone")).charge(1)
        self.write(*databases)
        terminal = self.start()

        def until(values, *texts):
            terminal.until(lambda lines: [line.split()[0] for line in lines if " THREAD " in line] == values and
                           all(any(t in line for line in lines) for t in texts), f"{values} {texts}")

        terminal.answer("/", "both")
        terminal.press("4")
        until(["2", "2"], "threads: [after] both", "work, inclusive: 2 threads, by value", "min 2  mean 2  median 2")
        terminal.press("Enter")  # nothing to restrict
        terminal.press("Tab")
        until(["4", "3", "2", "1"], "threads: [before] both", "min 1  mean 2.5  median 2.5  max 4")
        terminal.press("s")
        until(["1", "4", "2", "3"], "in their order")
        terminal.press(">", ">")
        until(["0"] * 4, "misses, inclusive")
        terminal.press("Tab")
        until(["2", "2"], "threads: [after] both")
        terminal.press_until("q", "?:help")
        terminal.answer("/", "gone")
        terminal.press("4")
        until(["1", "0", "0", "0"], "threads: [before] gone")
        terminal.press("Tab")  # the other run has no such row
        until(["1", "0", "0", "0"], "threads: [before] gone")

    def test_what_is_of_one_database(self):
        terminal = self.start()
        terminal.press_until("|", "choosing threads works with one database")

    def test_any_key_in_any_view(self):
        """No key crashes the viewer: all keys except those that end it or write files."""
        keys = [chr(code) for code in range(33, 127) if chr(code) not in "qQW;"]
        for width, height, locale in ((80, 24, "C.UTF-8"), (40, 10, "C")):
            terminal = self.start(width=width, height=height,
                                  environment={"LC_ALL": locale, "EDITOR": "true"})
            for view in "123":
                terminal.press(view, "+", "j", "+", "j", "+")
                terminal.press(*(press for key in keys for press in (key, "Enter", "Escape")))
            terminal.press_until("Enter C-l 1 Home", "whole program")
            terminal.press_until("q", "ended 0")
