"""Effort and advice: what hpcviewer makes of work, overhead and idleness, against sums over the
contexts of random programs, and on a small program whose every number is known:

    main (m.c:10)
      12 init (m.c:20)    line 21: work 1.0, idleness 3.0       serial
      13 fib (m.c:30)     line 31: work 2.0, overhead 1.5       too fine
           32 fib         line 31: work 1.0, overhead 0.5
      14 solve (m.c:40)   loop at m.c:41, line 42: work 3.0, of the second thread 2.0
                          43 step, inlined (m.c:50), line 51: idleness 0.0625

    effort = 9 + 2 + 3.0625 = 14.0625
"""
import json
import os
import re
import tempfile
import unittest

import v4_writer
import viewer
import viewer_screen
from v4_writer import Layout
from view_oracle import Oracle, is_inlined, is_loop, is_procedure

PARTS = ("work", "overhead", "idleness")
WORK, OVERHEAD, IDLENESS = range(3)


def describe():
    db = v4_writer.Database("parallel", PARTS, 2)
    program, m_c = db.module("/bin/parallel"), db.file("/src/m.c")
    functions = {name: db.function(name, program, 0x100 * line, m_c, line) for name, line in
                 (("main", 10), ("init", 20), ("fib", 30), ("solve", 40), ("step", 50))}
    main = db.entry(1, "main thread").call(functions["main"])
    init = main.statement(m_c, 12).call(functions["init"])
    init.statement(m_c, 21).charge(1.0, WORK).charge(3.0, IDLENESS)
    fib = main.statement(m_c, 13).call(functions["fib"])
    fib.statement(m_c, 31).charge(2.0, WORK).charge(1.5, OVERHEAD)
    inner = fib.statement(m_c, 32).call(functions["fib"])
    inner.statement(m_c, 31).charge(1.0, WORK).charge(0.5, OVERHEAD)
    loop = main.statement(m_c, 14).call(functions["solve"]).loop(m_c, 41)
    loop.statement(m_c, 42).charge(3.0, WORK).charge(2.0, WORK, profile=2)
    step = loop.statement(m_c, 43).inline(functions["step"])
    step.statement(m_c, 51).charge(0.0625, IDLENESS)
    return db


def run_json(metrics, period=0.001, events=("REALTIME",), workers=None):
    """`metrics` are (name, event, why it was not measured or None)."""
    described = []
    for name, event, why in metrics:
        one = {"name": name, "event": event, "unit": "s"}
        described.append({**one, "state": "not measurable", "why": why} if why else
                         {**one, "state": "measured"})
    return {"format": "hpctoolkit-run", "version": 2, "title": "parallel", "metrics": described,
            "events": [{"name": event, "unit": "s", "period": period} for event in events],
            "processes": [{"pid": pid, "command": f"./{pid}", "state": "exit", "workers": n,
                           "threads": []} for pid, n in (workers or {}).items()]}


MEASURED = [(name, "REALTIME", None) for name in ("work", "idleness", "overhead")]


class Case(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(tempfile.TemporaryDirectory())

    def write(self, db, run=None, layout=None):
        v4_writer.write_database(db, self.db, layout)
        path = os.path.join(self.db, "run.json")
        if run:
            with open(path, "w") as file:
                json.dump(run, file)
        elif os.path.exists(path):
            os.remove(path)

    def records(self, *arguments):
        return viewer.records(*arguments, self.db)

    def start(self, *arguments, **more):
        return viewer_screen.start(self, *arguments, self.db, **more)


class EffortOracle(Oracle):
    """Adds what effort is by its definition to the costs; events are what follows the names of the
    metrics. Shows some of the metrics, if they are named."""

    def __init__(self, db, events=("",), shown=None):
        super().__init__(db)
        self.events, self.shown = events, shown

    def cost(self, contexts):
        costs = super().cost(contexts)
        for event in self.events:
            parts = [costs[p + event] for p in PARTS if p + event in costs]
            costs["effort" + event] = sum(parts)
        return {name: costs[name] for name in self.shown or costs}


class Views(Case):
    """Effort in every row of every view."""

    def check_percentages(self, root, events):
        total = {e: root["metrics"]["effort" + e]["inclusive"] for e in events}
        for _, row in viewer.rows_of(root):
            for name, cost in row["metrics"].items():
                of_effort = [e for e in events if name in [p + e for p in (*PARTS, "effort")]]
                if not of_effort:
                    self.assertNotIn("inclusive_percent_of_effort", cost)
                    continue
                for part in ("inclusive", "exclusive"):
                    self.assertAlmostEqual(cost[f"{part}_percent_of_effort"],
                                           100 * cost[part] / total[of_effort[0]])

    def check(self, oracle, *options):
        for shown in viewer.checked_views(self, oracle, *options):
            self.check_percentages(shown, oracle.events)

    def test_random_programs(self):
        layouts = [Layout(), Layout(ids="shuffled"), Layout(scopes=("execution",), totals=False),
                   Layout(scopes=("point",))]
        choices = [(PARTS, ("",)), (("work", "idleness", "misses"), ("",)),
                   (("off CPU", "overhead", "work"), ("",)),
                   ([p + e for e in (" (CPUTIME)", " (REALTIME)") for p in PARTS],
                    (" (CPUTIME)", " (REALTIME)"))]
        for seed in range(16):
            metrics, events = choices[seed % 4]
            layout = layouts[seed // 4]
            with self.subTest(seed=seed, metrics=metrics, layout=layout):
                db = viewer.random_database(seed, 120, metrics)
                self.write(db, layout=layout)
                self.check(EffortOracle(db, events))

    def test_effort_alone(self):
        """Effort without its parts."""
        for seed, scopes in enumerate((v4_writer.SCOPES, ("execution",), ("point",))):
            with self.subTest(scopes=scopes):
                db = viewer.random_database(seed, 120, PARTS)
                self.write(db, layout=Layout(scopes=scopes))
                oracle = EffortOracle(db, shown=("effort",))
                oracle.has_own_cost = lambda context: any(
                    EffortOracle(db).cost(EffortOracle.own(context)).values())
                shown = viewer.printed_json("top-down", "--metrics", "effort", self.db)
                self.assertEqual(shown["metrics"], [{"name": "effort", "unit": "count",
                                                     "state": "measured", "sum_of": list(PARTS)}])
                self.check(oracle, "--metrics", "effort")
                totals = viewer.printed_json("threads", "--metrics", "effort", self.db)
                if "execution" in scopes:
                    self.assertEqual([t["metrics"]["effort"] for t in totals["threads"]],
                                     [self.charged(db, p) for p in (1, 2, 3)])

    @staticmethod
    def charged(db, profile, metrics=None):
        return sum(value for context in db.contexts()
                   for (charged, metric), value in context.charges.items()
                   if charged == profile and (metrics is None or metric in metrics))

    def test_threads(self):
        db = viewer.random_database(5, 120, ("work", "idleness", "off CPU"))
        self.write(db)
        expected = [self.charged(db, p, (0, 1)) for p in (1, 2, 3)]
        shown = viewer.printed_json("threads", self.db)
        self.assertEqual([t["metrics"]["effort"] for t in shown["threads"]], expected)
        self.assertEqual(shown["statistics"]["sum"]["effort"], sum(expected))
        for i, thread in enumerate(shown["threads"]):
            percent = thread["percent_of_effort"]
            self.assertEqual(sorted(percent), ["effort", "idleness", "work"])
            self.assertAlmostEqual(percent["effort"], 100 * expected[i] / sum(expected))
            self.assertAlmostEqual(percent["work"],
                                   100 * self.charged(db, i + 1, (0,)) / sum(expected))
        least = shown["statistics_percent_of_effort"]["min"]["effort"]
        self.assertAlmostEqual(least, 100 * min(expected) / sum(expected))
        rows = [(t["metrics"], t["percent_of_effort"]) for t in shown["threads"]]
        rows += [(values, shown["statistics_percent_of_effort"][name]) for name, values in shown["statistics"].items()]
        self.check_other_formats(rows)

    def check_other_formats(self, rows):
        """The costs and percentages of threads and statistics in CSV and text are those of JSON."""
        records = self.records("threads")
        for record, (values, percent) in zip(records, rows, strict=True):
            self.assertEqual({name: float(record[name]) for name in values}, values)
            self.assertEqual({key.split(":")[0]: float(value) for key, value in record.items() if ":" in key}, percent)
        lines = viewer.printed("threads", self.db).splitlines()
        self.assertIn("effort = work + idleness, whose percentages are of the effort of all threads", lines)
        names = next(line.split() for line in lines if " process " in line)
        lines = [line for line in lines if re.match(" +[0-9]+ ", line)]
        for line, (values, percent) in zip(lines, rows, strict=True):
            for name, (value, share) in zip(names, re.findall(r"([0-9]+)(?: +([0-9.]+)%)?", line)):
                if name in values:
                    self.assertAlmostEqual(float(value), values[name], delta=0.51)
                if share and name in percent:
                    self.assertAlmostEqual(float(share), percent[name], delta=0.051)


class Formats(Case):
    def setUp(self):
        super().setUp()
        self.write(describe(), run_json(MEASURED, workers={71: 4, 72: None, 73: 1}))

    def line(self, view, scope, *options):
        lines = viewer.printed(view, *options, self.db).splitlines()
        return next(line.split() for line in lines if f" {scope}  m.c:" in line)

    def names(self, *options):
        return {row["name"] for _, row in viewer.rows_of(viewer.printed_json(
            "top-down", "--sort", "idleness", *options, self.db)["root"])}

    def test_min_percent_is_of_the_percentages_that_are_shown(self):
        """init has 3 of 3.0625 s of idleness, which is 21.3 % of effort."""
        self.assertIn("init", self.names("--min-percent", 21.3))
        self.assertNotIn("init", self.names("--min-percent", 21.4))
        shown = viewer.printed("top-down", "--sort", "idleness", "--min-percent", 21.4, self.db)
        self.assertIn("with less than 21.4% of effort are left out", shown)
        # Text hides rows with little idleness by default. A tenth of the idleness is shown, although
        # it is 0.4 % of effort.
        db = describe()
        db.entry(1, "main thread").call(db.function("busy")).charge(100.0, WORK)
        db.entries[0].call(db.function("rest")).charge(0.5, IDLENESS)
        self.write(db, run_json(MEASURED))
        shown = viewer.printed("top-down", "--sort", "idleness", self.db)
        self.assertRegex(shown, r" 0\.500 +0\.4% .* rest\b")
        self.assertNotIn("rest", viewer.printed("top-down", "--sort", "idleness", "--min-percent",
                                                0.5, self.db))

    def test_text(self):
        shown = viewer.printed("top-down", self.db).splitlines()
        self.assertIn("  effort    14.06 s  = work + overhead + idleness, whose percentages are of "
                      "effort", shown)
        head = next(i for i, line in enumerate(shown) if line.endswith("  scope"))
        self.assertEqual(shown[head - 1].split(), ["work,", "s", "overhead,", "s", "idleness,", "s",
                                                   "effort,", "s"])
        self.assertEqual(shown[head].split(), ["inclusive"] * 4 + ["scope"])
        # 1, 0, 3 and 4 of 14.0625
        self.assertEqual(self.line("top-down", "init")[:7],
                         ["1.000", "7.1%", "0", "3.000", "21.3%", "4.00", "28.4%"])
        # Sorted by idleness, that column comes first; bottom-up shows exclusive costs.
        self.assertEqual(self.line("bottom-up", "main", "--min-percent", 0, "--depth", 1),
                         ["0", "0", "0", "0", "main", "m.c:10"])
        self.assertEqual(self.line("bottom-up", "init", "--sort", "idleness")[:7],
                         ["3.000", "21.3%", "1.000", "7.1%", "0", "4.00", "28.4%"])
        # Metrics that were asked for have both parts.
        self.assertEqual(self.line("top-down", "fib", "--metrics", "effort,work")[:8],
                         ["5.00", "35.6%", "3.50", "24.9%", "3.000", "21.3%", "2.000", "14.2%"])
        for view in ("top-down", "bottom-up", "flat", "threads"):
            for line in viewer.printed(view, self.db).splitlines():
                self.assertLessEqual(len(line), 130 if view == "threads" else 100, line)

    def test_csv(self):
        total = 14.0625
        for record in self.records("top-down"):
            if record["name"] == "init":
                self.assertEqual(float(record["effort:inclusive"]), 4)
                self.assertEqual(float(record["effort:exclusive"]), 4)
                self.assertAlmostEqual(float(record["idleness:inclusive_percent_of_effort"]),
                                       300 / total)
                self.assertAlmostEqual(float(record["effort:exclusive_percent_of_effort"]),
                                       400 / total)
                return
        self.fail("no init")

    def test_folded(self):
        lines = viewer.printed("top-down", "--format", "folded", "--sort", "effort",
                               self.db).splitlines()
        self.assertEqual({line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines},
                         {"main thread;main;init": 4_000_000_000,
                          "main thread;main;fib": 3_500_000_000,
                          "main thread;main;fib;fib": 1_500_000_000,
                          "main thread;main;solve": 5_000_000_000,
                          "main thread;main;solve;step": 62_500_000})

    def test_summary(self):
        summary = viewer.printed_json("summary", self.db)
        self.assertEqual(summary["metrics"], {"work": 9.0, "overhead": 2.0, "idleness": 3.0625,
                                              "effort": 14.0625})
        self.assertAlmostEqual(summary["percent_of_effort"]["idleness"], 306.25 / 14.0625)
        self.assertEqual([p["workers"] for p in summary["processes"]], [4, None, 1])
        shown = viewer.printed("summary", self.db)
        self.assertIn("       3.062 s    21.8%  idleness  other workers had nothing to do meanwhile\n", shown)
        self.assertIn("       14.06 s   100.0%  effort    work + overhead + idleness\n", shown)
        self.assertIn("./71  [exit; 4 workers]\n", shown)
        self.assertIn("./72  [exit]\n", shown)
        self.assertIn("./73  [exit; 1 worker]\n", shown)

    def test_heads_do_not_run_into_each_other(self):
        names = ["work (CPUTIME)", "a metric whose name is much longer than its column (REALTIME)",
                 "idleness (CPUTIME)", "AnUnbrokenNameThatIsLongerThanItsColumn", "work (REALTIME)",
                 "idleness (REALTIME)"]
        db = v4_writer.Database("t", names)
        context = db.entry().call(db.function("f"))
        for metric in range(len(names)):
            context.charge(2.0, metric)
        self.write(db, run_json([(name, "CPUTIME", None) for name in names]))
        effort = ["effort (CPUTIME)", "effort (REALTIME)"]
        heads = viewer.printed("threads", self.db).split("\n\n")[1].splitlines()
        heads = heads[:next(i for i, line in enumerate(heads) if "2.000" in line)]
        expected = [word for name in names + effort for word in (name + ", s").split()]
        # The long name is broken, the others stay whole.
        self.check_words(" ".join(heads), expected + ["process", "thread", "name"])
        shown = viewer.printed("top-down", "--metrics", ",".join(names), self.db).split("\n\n")[2]
        heads = shown.splitlines()[:-4]
        self.check_words(" ".join(heads),
                         [word for name in names for word in (name + ", s").split()] +
                         ["inclusive", "exclusive"] * len(names) + ["scope"])

    def check_words(self, shown, expected):
        long = "AnUnbrokenNameThatIsLongerThanItsColumn,"
        words = shown.split()
        pieces = [word for word in words if word not in expected]
        self.assertEqual("".join(pieces), long if long not in words else "")
        self.assertEqual(sorted(w for w in words if w in expected),
                         sorted(w for w in expected if w != long or long in words))

    def test_without_idleness_and_overhead_there_is_no_effort(self):
        db = v4_writer.Database("serial", ["work"])
        db.entry().call(db.function("f")).charge(1.0)
        why = "no runtime with an agent took part"
        self.write(db, run_json([("work", "REALTIME", None), ("idleness", "REALTIME", why),
                                 ("overhead", "REALTIME", why)]))
        shown = viewer.printed_json("top-down", self.db)
        self.assertEqual(shown["root"]["metrics"], {
            "work": {"inclusive": 1.0, "exclusive": 0.0},
            "idleness": {"inclusive": None, "exclusive": None},
            "overhead": {"inclusive": None, "exclusive": None}})
        done = viewer.run("--print", "flat", "--sort", "effort", self.db)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no metric 'effort' to sort by; there are: work, idleness, overhead",
                      done.stderr)

    def test_effort_of_others_is_left_alone(self):
        db = v4_writer.Database("other", ["work", "idleness", "effort"])
        db.entry().call(db.function("f")).charge(1.0, 0).charge(2.0, 1).charge(9.0, 2)
        self.write(db)
        shown = viewer.printed_json("top-down", self.db)
        self.assertEqual(shown["root"]["metrics"]["effort"], {"inclusive": 9.0, "exclusive": 0.0})
        self.assertEqual(len(shown["metrics"]), 3)


SYSTEM, PACKAGE, OWN = range(3)


class AdviceOracle(Oracle):
    """The hotspots of a metric, by brute force."""

    def module_of(self, context):
        module = self.describe_procedure(context)["module"]
        return self.module_around(context) if module is None and is_inlined(context) else module

    def owner(self, context):
        """As viewer-tui/tree/code-owner.h has it, for the modules and files of viewer.random_database."""
        procedure, module = self.describe_procedure(context), self.module_of(context)
        if context.function is not None and self.db.functions[context.function].file == 0:
            return OWN  # the only file that the database has a copy of
        if module is None:
            return SYSTEM if (procedure["name"] or "<").startswith("<") else OWN
        return PACKAGE

    def has_name(self, context):
        return context.function is not None and self.db.functions[context.function].name is not None

    def loop_around(self, context):
        """The innermost loop in the procedure that a context is in."""
        while context is not None and not is_procedure(context):
            if is_loop(context):
                return self.place_of(context)
            context = self.parent.get(context)
        return None

    def row_of(self, context):
        """The innermost row of the user's own, else of a package, or around it one of its module with a name, else of
        whoever: procedure and loop."""
        chosen, best, unnamed, at = None, None, None, context
        while at is not None:
            loop = self.loop_around(at)
            while at is not None and not is_procedure(at):
                at = self.parent.get(at)
            if at is None:
                break
            owner, module = self.owner(at), self.module_of(at)
            rank = (owner, owner == OWN or (owner == PACKAGE and self.has_name(at)))
            if best == (PACKAGE, False) and owner == PACKAGE and module != unnamed:
                best = (PACKAGE, True)
            if chosen is None or rank > best:
                chosen, best, unnamed = (self.procedure_of(at), loop), rank, module
            if owner == OWN:
                break
            at = self.parent.get(at)
        return chosen

    def hotspots(self, metric):
        """Costs and names of all rows."""
        costs = {}
        for context in self.db.contexts():
            cost = self.cost([context])[metric]
            row = self.row_of(context) if cost else None
            if row:
                costs[row] = costs.get(row, 0) + cost
        return sorted(((cost, self.describe_procedure_key(key, "procedure")["name"])
                       for (key, _), cost in costs.items()), reverse=True)


class Advice(Case):
    def advice(self, db, run=None, *options):
        """The verdict on idleness and overhead."""
        self.write(db, run or run_json(MEASURED))
        return viewer.parallelization(viewer.printed_json("summary", *options, self.db))

    def simple(self, work, overhead, idleness):
        db = v4_writer.Database("simple", PARTS)
        f = db.entry().call(db.function("f"))
        f.charge(work, WORK).charge(overhead, OVERHEAD).charge(idleness, IDLENESS)
        return db

    def test_the_four_verdicts(self):
        for costs, verdict in (((97, 2, 1), "fine"),
                               ((60, 2, 38), "too little parallelism"),
                               ((60, 38, 2), "too fine a grain"),
                               ((60, 20, 20), "wrong parallelization")):
            advice, = self.advice(self.simple(*costs))
            self.assertEqual(advice["event"], None)
            self.assertEqual(advice["verdict"], verdict)
            self.assertEqual(advice["effort"], 100)
            self.assertAlmostEqual(advice["overhead_percent_of_effort"], costs[1])
            self.assertAlmostEqual(advice["idleness_percent_of_effort"], costs[2])
            for waste, cost in zip(("overhead", "idleness"), costs[1:]):
                low, high = advice[waste + "_interval"]
                self.assertLess(low, cost)
                self.assertGreater(high, cost)
                self.assertEqual(advice[waste + "_state"], "measured")
            # High shares are located; low ones are not mentioned.
            self.assertEqual([c["name"] for c in advice["idleness_in"]],
                             ["f"] if costs[2] >= 5 else [])
            self.assertEqual([c["name"] for c in advice["overhead_in"]],
                             ["f"] if costs[1] >= 5 else [])
            first = "Threads are busy (" if verdict == "fine" else verdict.capitalize() + ": "
            self.assertIn("\n  " + first, viewer.printed("summary", self.db).split("\nAdvice")[1])

    def test_gains(self):
        """Time wasted of 100 s can be saved: a gain of 100 / (100 - 38), and so on."""
        for costs, saved in (((60, 2, 38), 38), ((60, 38, 2), 38), ((60, 20, 20), 40)):
            advice, = self.advice(self.simple(*costs))
            self.assertAlmostEqual(advice["gain"], 100 / (100 - saved))
            low, high = advice["gain_interval"]
            self.assertLess(low, advice["gain"])
            self.assertGreater(high, advice["gain"])
            words = f"; at most {100 / (100 - saved):.1f}x faster." if costs[1] < 5 else f" could win {100 / (100 - saved):.1f}x."
            self.assertIn(words, advice["text"])
            self.assertIn(words, " ".join(viewer.printed("summary", self.db).split()))

    def test_a_limit_is_the_upper_end_of_the_interval(self):
        """Of few samples."""
        advice, = self.advice(self.simple(60, 2, 38), run_json(MEASURED, period=0.5))
        low, high = advice["gain_interval"]
        self.assertGreater(high, 1.1 * advice["gain"])
        self.assertIn(f"; at most {high:.1f}x faster.", advice["text"])

    def test_fine_says_what_is_left(self):
        """7 % of idleness and 2 % of overhead can gain 100 / 91; less than 5 % is not worth a word."""
        for costs, words in (((91, 2, 7), "(7.0 % idle, 2.0 % overhead): better parallelization gains at most 1.1x."),
                             ((97, 2, 1), "(1.0 % idle, 2.0 % overhead): nothing to gain from more parallelism.")):
            advice, = self.advice(self.simple(*costs))
            self.assertEqual((advice["verdict"], advice["text"]), ("fine", "Threads are busy " + words))

    def test_near_the_threshold_both_are_possible(self):
        """11 % of 4 s, in 935 samples: 10 % may well be the truth."""
        db = self.simple(3.56, 0.18, 0.26)
        advice, = self.advice(db, run_json(MEASURED, period=0.004, workers={1: 2}))
        self.assertEqual(advice["verdict"], "cannot tell")
        low, high = (float(p) for p in re.search(r"11 % \((.*?) to (.*?) %\)", advice["text"]).groups())
        self.assertTrue(low < 10 < high)
        times = int(re.search(r"about (\d+) times as long", advice["text"])[1])
        times *= 1.5  # "about"
        longer = self.simple(3.56 * times, 0.18 * times, 0.26 * times)
        advice, = self.advice(longer, run_json(MEASURED, period=0.004, workers={1: 2}))
        self.assertNotEqual(advice["verdict"], "cannot tell")
        # 1001 samples are not enough either: the threshold is too close
        advice, = self.advice(self.simple(3.6, 0.2, 0.2001),
                              run_json(MEASURED, period=0.004, workers={1: 2}))
        self.assertNotIn("as long would tell", advice["text"])

    def test_a_lower_bound_of_overhead(self):
        why = "the runtime carries no tags"
        metrics = MEASURED[:2] + [("overhead", "REALTIME", why)]
        run = run_json(metrics)
        run["metrics"][2]["state"] = "lower bound"
        run["agents"] = [{"name": "minicilk"}]
        for costs, verdict in (((98.5, 0.5, 1), "busy"),
                               ((60, 2, 38), "too little parallelism"),
                               ((60, 38, 2), "high overhead"),
                               ((60, 20, 20), "wrong parallelization")):
            advice, = self.advice(self.simple(*costs), run)
            self.assertEqual((advice["verdict"], advice["overhead_state"]),
                             (verdict, "lower bound"))
            self.assertIn(f"Overhead is a lower bound: {why}.", advice["details"])
            for word in ("Fine", "fine a grain", "smaller", "larger", "% overhead"):
                self.assertNotIn(word, advice["text"])

    def test_a_runtime_whose_code_is_not_tagged(self):
        """2 workers, 8 % idle: 1.84 of them are busy, and at least 1.8. Tags would say the rest."""
        run = run_json([(name, "REALTIME", None) for name in PARTS], workers={1: 2})
        run["metrics"][1].update(state="lower bound", why="not tagged")
        run["agents"] = [{"name": "cilk5"}]
        advice, = self.advice(self.simple(92, 0, 8), run)
        self.assertEqual(advice["verdict"], "busy")
        self.assertEqual(advice["text"], "At least 1.8 of 2 workers are busy: better parallelization gains at most 1.1x; overhead "
                                         "is unknown until tagged: runtime-patches/cilk5/tag-overhead.py FILE.cilkc FILE.cilkc.")
        advice, = self.advice(self.simple(91, 1, 8), run)  # tags, or rules, found some
        self.assertNotIn("tagged", advice["text"])

    def test_too_few_samples_are_not_judged(self):
        # 62 s of samples in working threads, 1 s each
        advice, = self.advice(self.simple(60, 2, 38), run_json(MEASURED, period=1.0))
        self.assertEqual(advice["verdict"], "too few samples")
        self.assertEqual(advice["idleness_in"], [])
        self.assertEqual(advice["gain"], None)
        advice, = self.advice(self.simple(60, 2, 38), run_json(MEASURED, period=0.5))
        self.assertEqual(advice["verdict"], "too little parallelism")

    def test_the_known_program(self):
        advice, = self.advice(describe())
        self.assertEqual(advice["verdict"], "wrong parallelization")
        self.assertEqual((advice["scope"], advice["file"], advice["line"]),
                         ("init", "/src/m.c", 21))
        self.assertEqual(advice["idleness_in"], [
            {"name": "init", "file": "/src/m.c", "line": 21, "loop": False, "exclusive": 3.0},
            {"name": "step", "file": "/src/m.c", "line": 51, "loop": False, "exclusive": 0.0625}])
        self.assertEqual(advice["overhead_in"], [
            {"name": "fib", "file": "/src/m.c", "line": 31, "loop": False, "exclusive": 2.0}])
        self.assertEqual(advice["text"], "Wrong parallelization: threads are idle 22 % of the time, 98 % of that during init, "
                                         "m.c:21; overhead is 14 %, 100 % of that in fib, m.c:31; another one could win 1.6x.")

    def test_a_loop_around_one_of_the_costs(self):
        """The loop in which cell has overhead is not where it is idle. A loop that both have in common is named."""
        for in_loop in (False, True):
            db = v4_writer.Database("cells", PARTS)
            file, module = db.file("/src/m.c"), db.module("/home/u/prog")
            main = db.entry().call(db.function("main", module, 16, file, 10))
            cell = db.function("cell", module, 64, file, 40)
            loop = main.loop(file, 15)
            loop.statement(file, 16).call(cell).statement(file, 41).charge(20, OVERHEAD)
            (loop if in_loop else main).statement(file, 19).call(cell).statement(file, 41) \
                .charge(20, IDLENESS).charge(60, WORK)
            advice, = self.advice(db)
            self.assertEqual(advice["text"].count("cell, m.c:41"), 2, advice["text"])
            self.assertEqual(advice["text"].count("cell, m.c:41, in the loop at m.c:15"), 2 * in_loop, advice["text"])

    def test_hotspots_of_random_programs(self):
        """Costs are at the innermost rows of the user's own, whoever's code has them."""
        for seed in range(20):
            with self.subTest(seed=seed):
                db = viewer.random_database(seed, 200, PARTS)
                advice, = self.advice(db)
                self.assertEqual(advice["verdict"], "wrong parallelization")
                for metric in ("idleness", "overhead"):
                    expected = AdviceOracle(db).hotspots(metric)
                    shown = [(row["exclusive"], row["name"]) for row in advice[metric + "_in"]]
                    self.assertEqual([cost for cost, _ in shown], [cost for cost, _ in expected[:3]])
                    for row in shown:
                        self.assertIn(row, expected)

    def test_what_was_not_measured_is_named(self):
        """Idleness of one half is high, regardless of overhead."""
        db = v4_writer.Database("half", ["work", "idleness"])
        db.entry().call(db.function("f")).charge(5.0, 0).charge(5.0, 1)
        why = "no tagged code was found"
        metrics = [("work", "REALTIME", None), ("idleness", "REALTIME", None),
                   ("overhead", "REALTIME", why)]
        run = run_json(metrics)
        run["agents"] = [{"name": "minicilk"}]
        advice, = self.advice(db, run)
        self.assertEqual((advice["verdict"], advice["overhead_state"],
                          advice["overhead_percent_of_effort"]),
                         ("too little parallelism", "not measurable", None))
        self.assertIn(f"Overhead was not measured: {why}.", advice["details"])
        # Effort exists nevertheless, and names its parts.
        metric = viewer.printed_json("flat", self.db)["metrics"][2]
        self.assertEqual((metric["name"], metric["sum_of"]), ("effort", ["work", "idleness"]))

    def test_metrics_that_are_left_out(self):
        advice, = self.advice(describe(), None, "--metrics", "work,idleness")
        self.assertEqual(advice["overhead_state"], "not measurable")
        self.assertEqual(self.advice(describe(), None, "--metrics", "idleness"), [])

    def test_each_event_has_its_advice(self):
        names = [p + e for e in (" (CPUTIME)", " (REALTIME)") for p in PARTS]
        db = v4_writer.Database("two", names)
        f = db.entry().call(db.function("f"))
        for metric, cost in enumerate((100, 0.5, 1, 50, 1, 49)):
            f.charge(cost, metric)
        run = run_json([(n, n[n.index("(") + 1:-1], None) for n in names],
                       events=("CPUTIME", "REALTIME"))
        advice = self.advice(db, run)
        # the larger gain first
        self.assertEqual([(a["event"], a["verdict"]) for a in advice],
                         [("REALTIME", "too little parallelism"), ("CPUTIME", "fine")])
        shown = viewer.printed("summary", self.db)
        self.assertIn("  By REALTIME: Too little parallelism: ", shown)
        self.assertIn("  By CPUTIME: Threads are busy (", shown)


class InTerminal(Case):
    def select(self, terminal, name):
        terminal.answer("g", "/", name)
        terminal.until(lambda lines: any(line[:1].isdigit() and line.rstrip().endswith(name)
                                         for line in lines), f"{name} selected")

    def test_min_percent(self):
        """As with --min-percent, the limit applies to the percentages that are shown."""
        self.write(describe(), run_json(MEASURED))
        terminal = self.start("--sort", "idleness")
        terminal.press_until("*", "init  m.c:20")
        terminal.answer("%", "C-u", "21.4").until_gone("init  m.c:20")
        terminal.answer("%", "C-u", "21.3").until_seen("init  m.c:20")

    def page(self, terminal, *texts):
        """The advice on the selected row, as one line of words."""
        lines = terminal.press_until("a", "hpcviewer: advice", *texts)
        terminal.press_until("q", "?:help")
        return " ".join(" ".join(lines).split())

    def test_columns(self):
        self.write(describe(), run_json(MEASURED))
        terminal = self.start(width=100)
        lines = terminal.until_seen("% of effort")
        self.assertEqual(lines[2].split(), ["work,", "s", "overhead,", "s", "idleness,", "s",
                                            "effort,", "s"])
        self.select(terminal, "init")
        row = next(line for line in terminal.screen() if " init  m.c:20" in line)
        self.assertEqual(row.split()[:7], ["1.000", "7.1%", "0", "3.000", "21.3%", "4.00", "28.4%"])
        terminal.resize(170, 24)
        terminal.until(lambda lines: lines[3].split()[1:8] == ["inclusive", "exclusive"] * 3 +
                       ["inclusive"], "both parts of all")

    def test_narrow_screens_show_the_largest_parts(self):
        """Work 9, overhead 2, idleness 3.06, effort 14.06 s. The one that is sorted by comes first, the sum last."""
        self.write(describe(), run_json(MEASURED))
        for width, heads in ((80, ("work", "idleness")), (80, ("overhead", "work")), (80, ("idleness", "work")),
                             (80, ("effort", "work")), (96, ("work", "overhead", "idleness"))):
            terminal = self.start("--sort", heads[0], width=width)
            wanted = [word for head in heads for word in (head + ",", "s")]
            terminal.until(lambda lines: any(line.split() == wanted for line in lines), f"columns {heads}")

    def test_narrow_columns_of_several_events(self):
        names = [p + e for e in (" (CPUTIME)", " (REALTIME)") for p in PARTS]
        db = v4_writer.Database("two", names)
        f = db.entry().call(db.function("f"))
        for metric in range(len(names)):
            f.charge(2.0, metric)
        self.write(db, run_json([(name, "CPUTIME", None) for name in names]))
        terminal = self.start(width=100)
        lines = terminal.until_seen("% of effort (CPUTIME)")
        self.assertEqual(lines[2].split(), ["work,", "s", "overhead,", "s", "idleness,", "s",
                                            "effort,", "s"])
        terminal.press("<", "<")  # the last metric, after the name
        lines = terminal.until_seen("% of effort (REALTIME)")
        self.assertEqual(lines[2].split(), ["effort,", "s", "work,", "s", "overhead,", "s",
                                            "idleness,", "s"])
        terminal.resize(170, 24)
        terminal.until_seen("effort (REALTIME), s", "overhead (REALTIME), s")

    def test_advice_on_scopes(self):
        self.write(describe(), run_json(MEASURED))
        terminal = self.start(width=100)
        whole = self.page(terminal, "<whole program>")
        self.assertIn("Wrong parallelization:", whole)
        self.select(terminal, "init")
        page = self.page(terminal, "init  m.c:20", "with everything below it")
        # 3 of 4 s are idleness, and 3 and 4 of 14.0625 s
        self.assertIn("Too little parallelism: threads are idle 75 % of the time, 100 % of that during init, m.c:21; at most "
                      f"{14.0625 / 11.0625:.1f}x faster", page)
        self.assertRegex(page, r"Idleness is 75 % \(.*\), overhead 0 % \(.*\) of its effort of "
                               r"4\.000 s\. That effort is 28 % of the whole run's\.")
        self.select(terminal, "fib")
        page = self.page(terminal, "Too fine a grain:")
        self.assertRegex(page, r"overhead 40 % \(.*\) of its effort of 5\.000 s")
        self.select(terminal, "loop at m.c:41")
        self.assertIn("Threads are busy (", self.page(terminal, "loop at m.c:41"))

    def test_advice_on_a_scope_is_followed_by_the_program_s(self):
        """The line on the first screen, whose key is a, is about the program."""
        self.write(describe(), run_json(MEASURED))
        terminal = self.start(width=100, height=60)
        whole = self.page(terminal, "<whole program>")
        self.select(terminal, "init")
        page = self.page(terminal, "init  m.c:20", "<whole program>")
        self.assertLess(page.index("init m.c:20 with everything below it"), page.index("<whole program>"))
        self.assertTrue(page.partition("<whole program>")[2].startswith(whole.partition("<whole program>")[2][:200]))

    def test_advice_in_other_views(self):
        self.write(describe(), run_json(MEASURED))
        terminal = self.start(width=100)
        terminal.press("2")
        self.select(terminal, "fib")
        page = self.page(terminal, "its own costs, without those of what it calls")
        self.assertRegex(page, r"overhead 40 % \(.*\) of its effort of 5\.000 s")
        # 1.5 of 2 in calls from main, the rest in those from itself
        self.assertIn("Most of the overhead is there in calls from: 75 % main, m.c:13 "
                      "25 % fib, m.c:32", page)
        terminal.press("3")
        self.select(terminal, "/bin/parallel")
        page = self.page(terminal, "Wrong parallelization:")
        self.assertIn("98 % of that during init, m.c:21", page)
        self.assertIn("100 % of that in fib, m.c:31", page)

    def test_a_module_and_a_file_of_the_flat_view(self):
        """Each has the time of its own procedures. The line with most of that of a procedure stands for it."""
        db = v4_writer.Database("parallel", PARTS)
        program, library = db.module("/bin/parallel"), db.module("/bin/other")
        m_c, n_c, o_c = db.file("/src/m.c"), db.file("/src/n.c"), db.file("/src/o.c")
        main = db.entry().call(db.function("main", program, 0x10, m_c, 10))
        main.statement(m_c, 11).charge(1.0, IDLENESS)
        main.statement(m_c, 15).charge(3.0, IDLENESS).charge(1.0, WORK)
        main.statement(m_c, 19).charge(2.0, IDLENESS)
        part = main.statement(m_c, 12).call(db.function("part", program, 0x20, n_c, 20))
        part.statement(n_c, 21).charge(9.0, IDLENESS)
        other = main.statement(m_c, 13).call(db.function("other", library, 0x10, o_c, 30))
        other.statement(o_c, 31).charge(10.0, IDLENESS)
        self.write(db, run_json(MEASURED))
        terminal = self.start(width=100)
        terminal.press("3")
        for row, places in (("/bin/parallel", "is in: 60 % part, n.c:21 40 % main, m.c:15"),
                            ("/src/m.c", "100 % of that during main, m.c:15")):
            terminal.press("g", "*")
            self.select(terminal, row)
            self.assertIn(places, self.page(terminal))

    def test_a_scope_that_wastes_little_of_the_whole(self):
        db = v4_writer.Database("t", PARTS)
        main = db.entry().call(db.function("main"))
        main.call(db.function("big")).charge(1000.0, WORK).charge(1.0, OVERHEAD)
        loop = main.call(db.function("small")).loop(None, 7)
        loop.charge(2.0, WORK).charge(6.0, IDLENESS)
        main.call(db.function("tiny")).charge(0.01, WORK).charge(0.01, IDLENESS)
        self.write(db, run_json(MEASURED))
        terminal = self.start(width=100)
        self.select(terminal, "small")
        self.assertIn("Idleness is 75 %", self.page(terminal, "Too little parallelism:",
                                                     "there is not much to gain here"))
        self.select(terminal, "tiny")
        self.page(terminal, "Too few samples to judge")

    def test_none(self):
        """Nothing was sampled."""
        db = v4_writer.Database("serial", ["work"])
        db.entry().call(db.function("f"))
        self.write(db, run_json([("work", "REALTIME", None)]))
        self.assertIn("None: nothing that was measured stands out", self.page(self.start()))
