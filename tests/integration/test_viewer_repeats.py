"""hpcviewer --compare of repeated runs: means with their intervals, and --fail-if, whose verdicts a calculation by hand
gives."""
import json
import math
import pathlib
import statistics
import tempfile
import unittest

import viewer
from set_case import SetWriter

# Student's t from a printed table, by degrees of freedom: intervals of 95 and of 99.9 %.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447}
T999 = {1: 636.619, 2: 31.599, 3: 12.924, 4: 8.610, 5: 6.869, 6: 5.959}


def half_width(left, right, table=T999):
    """Half of the interval of the mean of right - left: of pairs, or of Welch, with its degrees of freedom rounded down
    as in the table."""
    if len(left) == len(right):
        differences = [r - l for l, r in zip(left, right)]
        return table[len(left) - 1] * statistics.stdev(differences) / math.sqrt(len(left))
    a, b = statistics.variance(left) / len(left), statistics.variance(right) / len(right)
    freedom = (a + b) ** 2 / (a ** 2 / (len(left) - 1) + b ** 2 / (len(right) - 1))
    return table[int(freedom)] * math.sqrt(a + b)


def fieller(left, right):
    """The percent by which the mean of right may be more than that of left, with 99.9 %: the r for which 0 is in the
    interval of the mean of right - r * left, of pairs, are those between the roots of a quadratic equation."""
    n, x, y = len(left), statistics.mean(left), statistics.mean(right)
    g = T999[n - 1] ** 2 / n
    a = x * x - g * statistics.variance(left)
    b = x * y - g * statistics.covariance(left, right)
    c = y * y - g * statistics.variance(right)
    root = math.sqrt(b * b - a * c)
    return tuple(100 * ((b + sign * root) / a - 1) for sign in (-1, 1))


def program(parse, rest):
    def build(db):
        module, file = db.module("/app"), db.file("/src/app.c")
        main = db.entry(1, "main thread").call(db.function("main", module, 16, file, 10))
        for name, line, cost in (("parse", 20, parse), ("rest", 30, rest)):
            main.statement(file, line - 8).call(db.function(name, module, 16 * line, file, line)).charge(cost, 0)
    return build


class Repeats(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def runs(self, name, walls, parse, rest=(10, 10, 10, 10), **more):
        """A set with a run for each wall time and cost of parse."""
        folder = self.folder / name
        folder.mkdir()
        writer = SetWriter(folder)
        for repeat, (wall, *costs) in enumerate(zip(walls, parse, rest), 1):
            writer.add(1, repeat, wall, program(*costs), metrics=("work",), **more)
        return folder

    def compare(self, *limits, base="base", new="new", options=("--format", "json")):
        arguments = [part for limit in limits for part in ("--fail-if", limit)]
        return viewer.run("--compare", self.folder / base, *arguments, "--print", "top-down", *options, self.folder / new)

    def test_means_and_uncertainty(self):
        base, new = (3, 3.5, 4, 3.5), (6, 5, 7)
        self.runs("base", (10, 10, 10, 10), base)
        self.runs("new", (12, 12, 12), new)
        shown = json.loads(self.compare().stdout)
        self.assertEqual(shown["title"], "prog [base, 4 runs] and [new, 3 runs]")
        metrics = viewer.find(shown["root"], "parse")["metrics"]
        for name, expected in (("[base]", 3.5), ("[new]", 6), ("difference", 2.5), ("ratio", 6 / 3.5),
                               ("uncertainty", half_width(base, new, T95))):
            self.assertAlmostEqual(metrics[f"work {name}"]["inclusive"], expected, places=9, msg=name)

    def test_exports_have_means(self):
        self.runs("base", (10, 10), (3, 4))
        self.runs("new", (12, 12, 12), (6, 5, 7))
        folded = self.compare(options=("--format", "folded")).stdout
        self.assertIn("main;parse 3500000000 6000000000\n", folded)
        page = self.compare(options=("--format", "flamegraph")).stdout
        self.assertIn("Widths: what new has of work, the mean of 3 runs. ", page)
        self.assertIn("[base, 2 runs] and [new, 3 runs]", page)

    def test_a_list_of_databases_is_a_set_of_them(self):
        self.runs("base", (10, 10), (3, 4))
        new = self.runs("new", (12, 12), (6, 7))
        named = ("--format", "json", "--names", "a,b")
        by_set = json.loads(self.compare(options=named).stdout)
        listed = ",".join(str(new / f"run-1-{n}-database") for n in (1, 2))
        self.assertEqual(json.loads(self.compare(new=listed, options=named).stdout)["root"], by_set["root"])

    def test_names_of_the_sides(self):
        for lists, names in ((("main-1,main-2", "pr7-1,pr7-2"), ("main", "pr")), (("m1,m2", "m3,m4"), ("base", "new"))):
            for runs in lists:
                for run in runs.split(","):
                    self.runs(run, (10,), (3,))
            left, right = (",".join(f"{self.folder}/{run}/run-1-1-database" for run in runs.split(",")) for runs in lists)
            done = viewer.run("--compare", left, "--print", "summary", right)
            self.assertRegex(done.stdout, rf"\[{names[0]}, 2 runs\] and \[{names[1]}, 2 runs\]")

    def verdicts(self, *limits):
        done = self.compare(*limits)
        return done.returncode, [line.removeprefix("hpcviewer: ") for line in done.stderr.splitlines()]

    def test_limits(self):
        base, new = (10, 10.1, 9.9, 10), (11, 11.05, 10.95, 11)
        self.runs("base", base, (3, 3.1, 2.9, 3))
        self.runs("new", new, (4, 4.05, 3.95, 4))
        low, high = fieller(base, new)
        interval = f"+10.0% ({low:+.1f} to {high:+.1f})"
        status, (kept,) = self.verdicts("wall +9.9%")
        self.assertEqual((status, kept), (0, f"wall +9.9%: undecided, more runs would tell, 10.00 s -> 11.00 s, {interval}"))
        status, (exceeded, _) = self.verdicts("wall +5%", "work:rest +0%")
        self.assertEqual(status, 3)
        self.assertEqual(exceeded,
                         f"wall +5%: exceeded, 10.00 s -> 11.00 s, {interval}: more in parse, app.c:20 (+1.000 s work)")
        self.assertRegex(self.verdicts("wall +20%")[1][0], r"^wall \+20%: kept, ")
        status, lines = self.verdicts("work:parse +10%", "work +50%")
        self.assertEqual(status, 3)
        self.assertRegex(lines[0], r"^work:parse \+10%: exceeded, 3\.000 s -> 4\.000 s, \+33\.3% ")
        self.assertRegex(lines[1], r"^work \+50%: kept, 13\.00 s -> 14\.00 s, \+7\.7% ")

    def test_names_are_those_of_the_run_that_has_them(self):
        """The right runs have their procedures in another order, so that numbers of one are others in the next."""
        self.runs("base", (10, 10), (3, 3.1))
        self.runs("new", (11, 11), (5, 5.1))
        folder = self.folder / "new"
        writer = SetWriter(folder, *(folder / "set.index").read_text().splitlines()[1:])
        def other(db):
            for name in ("zero", "nought", "nil"):
                db.function(name, db.module("/lib/other.so"), 64)
            program(5.2, 10)(db)
        writer.add(1, 3, 11, other, metrics=("work",))
        self.runs("third", (10,), (3,))
        base = ",".join(f"{self.folder}/base/run-1-{n}-database" for n in (1, 2)) + f",{self.folder}/third/run-1-1-database"
        for new in ((1, 2, 3), (3, 2, 1), (3, 2)):
            listed = ",".join(f"{folder}/run-1-{n}-database" for n in new)
            shown = json.loads(viewer.run("--compare", base, "--print", "summary", "--format", "json", listed).stdout)
            self.assertEqual([more["name"] for more in shown["advice"][0]["work"]["more"]], ["parse"])
            self.assertEqual([side["runs"] for side in shown["databases"]], [3, len(new)])

    def test_the_limit_is_beyond_the_interval(self):
        """The change is 10 %; half of the interval of 1 + limit times the base decides."""
        base, new = (9, 10, 11), (10, 12, 11)
        self.runs("base", base, (3, 3, 3))
        self.runs("new", new, (3, 3, 3))
        self.assertLess(11 - 10, half_width(base, new))
        self.assertEqual(self.verdicts("wall +0%")[0], 0)

    def test_few_samples_that_happen_to_be_equal(self):
        """A sample stands for 5 ms: two more in each run are chance, two hundred are not."""
        self.runs("base", (10, 10), (0.010, 0.010))
        self.runs("new", (10, 10), (0.020, 0.020))
        status, (line,) = self.verdicts("work:parse +0%")
        self.assertEqual((status, line.split(",")[0]), (0, "work:parse +0%: undecided"))
        metrics = viewer.find(json.loads(self.compare().stdout)["root"], "parse")["metrics"]
        self.assertAlmostEqual(metrics["work uncertainty"]["inclusive"], 2 * math.sqrt(0.005 * (0.010 + 0.020) / 2))
        self.runs("more", (10, 10), (1.010, 1.010))
        self.assertEqual(self.compare("work:parse +0%", new="more").returncode, 3)

    def test_four_runs_show_the_noise_of_sampling(self):
        """A sample stands for 5 ms. Runs of a procedure in one piece differ by less than independent samples would: by
        99.9 %, costs of 100 ms would be within 33 ms in four runs (3.291 * sqrt(2 * 0.005 * 0.1 / 4)), but the runs
        say 7. Equal runs may be so by chance: one sample in each, 12 ms, is the least."""
        self.runs("base", (10,) * 4, (0.100, 0.101, 0.099, 0.100))
        for more, status in ((0.010, 0), (0.015, 3)):
            self.runs(f"more-{more}", (10,) * 4, [0.1 + more + noise for noise in (0.001, 0, 0, 0.001)])
            self.assertEqual(self.compare("work:parse +0%", new=f"more-{more}").returncode, status, more)
        self.runs("three", (10,) * 3, (0.115, 0.116, 0.114))
        self.runs("base-of-three", (10,) * 3, (0.100, 0.101, 0.099))
        self.assertEqual(self.compare("work:parse +0%", base="base-of-three", new="three").returncode, 0)

    def test_an_undecided_limit_is_in_the_interval(self):
        """The mean of the base is uncertain, too, so the interval of the percentage is not even."""
        base, new = (5, 6, 5, 7, 5, 6), (10, 14, 9, 12, 13, 11)
        self.runs("base", base, (3,) * 6, rest=(10,) * 6)
        self.runs("new", new, (3,) * 6, rest=(10,) * 6)
        low, high = fieller(base, new)
        for limit, verdict in ((math.floor(low), "exceeded"), (math.ceil(low), "undecided"),
                               (math.floor(high), "undecided"), (math.ceil(high), "kept")):
            line = self.compare(f"wall +{limit}%").stderr
            self.assertIn(f"%: {verdict}", line)
            self.assertIn(f"({low:+.1f} to {high:+.1f})", line)

    def test_a_base_that_may_be_nothing(self):
        self.runs("base", (1, 30, 2), (3, 3, 3))
        self.runs("new", (11, 12, 14), (3, 3, 3))
        self.assertRegex(self.compare("wall +5%").stderr, r"undecided, .*, \+12\.1% \(-[0-9.]+ or more\)\n")

    def described(self, folder, repeat, change):
        """Changes run.json of a run."""
        with viewer.changed_run(self.folder / folder / f"run-1-{repeat}-database") as run:
            change(run)

    def test_what_one_of_the_runs_lacks(self):
        """A metric or a wall time that is unknown in the second run is no 0 in the mean."""
        self.runs("base", (10, 10), (3, 3))
        new = self.runs("new", (10, 10), (3, 3))
        self.described("new", 2, lambda run: run["processes"][0].update(wall=None))
        done = self.compare("wall +5%")
        self.assertEqual((done.returncode, done.stderr),
                         (2, f"hpcviewer: --fail-if: wall +5%: not known of {new}/run-1-2-database\n"))
        self.described("new", 2, lambda run: run["metrics"][0].update(state="lower bound", why="it is"))
        done = self.compare("work +5%", options=("--format", "json"))
        self.assertEqual((done.returncode, done.stderr),
                         (2, "hpcviewer: --fail-if: work +5%: only a lower bound in new: it is\n"))
        states = {m["name"]: m["state"] for m in json.loads(done.stdout)["metrics"]}
        self.assertEqual((states["work [base]"], states["work [new]"], states["work difference"]),
                         ("measured", "lower bound", "not measurable"))
        writer = SetWriter(new, *(new / "set.index").read_text().splitlines()[1:])
        writer.add(1, 3, 10, program(3, 10), metrics=("other",))
        done = self.compare("work +5%")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "hpcviewer: --fail-if: work +5%: not measured in new: one of its runs lacks it\n"))
        self.assertIsNone(viewer.find(json.loads(done.stdout)["root"], "parse")["metrics"]["work [new]"]["inclusive"])

    def test_runs_in_turns_are_pairs(self):
        """What both runs of a pair have in common is no difference."""
        self.runs("base", (10, 14, 19, 25), (3, 3, 3, 3))
        self.runs("new", (11, 15.1, 20, 26.1), (3, 3, 3, 3))
        self.assertEqual(self.verdicts("wall +0%")[0], 3)

    def test_chance_of_what_the_limit_allows(self):
        """Samples of 10: twice 400 is allowed. Its mean in two runs has a variance of 2 * 2 * 400 * 10 / 2, so that 99.9 %
        of the difference to 1150 are up to 386, to 1250 up to 393."""
        for after, status, verdict in ((1150, 0, "undecided"), (1250, 3, "exceeded")):
            with self.subTest(after=after):
                self.setUp()
                self.runs("base", (10, 10), (400, 400))
                self.runs("new", (10, 10), (after, after))
                for folder, repeat in (("base", 1), ("base", 2), ("new", 1), ("new", 2)):
                    self.described(folder, repeat, lambda run: run["events"][0].update(period=10))
                done = self.compare("work:parse +100%")
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(verdict, done.stderr)

    def test_what_cannot_be_checked(self):
        self.runs("base", (10, 10), (3, 3))
        self.runs("new", (10, 10), (3, 3))
        self.runs("one", (10,), (3,))
        for limit, why in (("wait +5%", "no metric of that name in both"),
                           ("work:nobody +5%", "no procedure with samples is called 'nobody'")):
            done = self.compare(limit)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"hpcviewer: --fail-if: {limit}: {why}\n"))
        done = self.compare("wall +5%", new="one")
        self.assertEqual((done.returncode, done.stderr.split(": ", 2)[2]),
                         (2, "wall +5%: two runs of each side are needed to know what is chance\n"))

    def test_runs_of_different_programs(self):
        self.runs("base", (10, 10), (3, 3))
        with viewer.changed_run(self.runs("new", (10, 10), (3, 3)) / "run-1-2-database") as run:
            run["title"] = "other"
        done = self.compare()
        self.assertEqual((done.returncode, done.stderr), (0, "hpcviewer: new: runs of different programs: 'prog' and 'other'\n"))

    def test_wrong_arguments(self):
        for arguments, why in ((("--fail-if", "wall", "--compare", "a", "b"), "--fail-if takes 'wall +5%'"),
                               (("--fail-if", "wall +5%", "a", "b"), "--fail-if needs --compare"),
                               (("--compare", "a"), "--compare needs a second list"),
                               (("--compare", "", "b"), "--compare needs a list")):
            done = viewer.run("--print", "summary", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)

    def test_a_set_with_several_numbers_of_workers(self):
        folder = self.runs("base", (10, 10), (3, 3))
        writer = SetWriter(folder, *(folder / "set.index").read_text().splitlines()[1:])
        writer.add(2, 1, 10, program(3, 10), metrics=("work",))
        self.runs("new", (10, 10), (3, 3))
        done = self.compare()
        self.assertEqual(done.returncode, 1)
        self.assertIn("base: runs with several numbers of workers; name those to compare: ", done.stderr)
