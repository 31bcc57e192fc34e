"""Overhead by kind in hpcviewer: in every view and format on request, in words unasked. The program
is that of test_viewer_efficiency.py, of whose overhead of 2.0 of 14.0625 spawns are 1.5, syncs
0.375 and steals 0.125."""
import random

import v4_writer
import viewer
from test_viewer_efficiency import (IDLENESS, MEASURED, OVERHEAD, PARTS, WORK, Case, EffortOracle,
                                    describe, run_json)
from v4_writer import Layout

KINDS = ("overhead:loop", "overhead:spawn", "overhead:steal", "overhead:sync")
LOOP, SPAWN, STEAL, SYNC = range(3, 7)
SHOWN = ("overhead", "overhead:spawn", "overhead:steal", "overhead:sync", "effort")
RUN = run_json(MEASURED + [(name, "REALTIME", None) for name in KINDS])


def with_kinds(db):
    """The known program, without overhead of the kind "loop"."""
    db.metrics = (*PARTS, *KINDS)
    outer, inner = [c for c in db.contexts() if (1, OVERHEAD) in c.charges]
    outer.charge(1.0, SPAWN).charge(0.375, SYNC).charge(0.125, STEAL)
    inner.charge(0.5, SPAWN)
    return db


def random_kinds(seed, events=("",)):
    """A random program whose overhead is split at random, and exactly; the first kind is zero."""
    rng = random.Random(seed)
    parts = [part + event for event in events for part in PARTS]
    db = viewer.random_database(seed, 120, parts)
    db.metrics = (*parts, *(kind + event for event in events for kind in KINDS))
    for context in db.contexts():
        for (profile, metric), value in list(context.charges.items()):
            if db.metrics[metric].startswith("overhead"):
                first = len(parts) + len(KINDS) * (metric // len(PARTS))
                units = round(value / viewer.UNIT)
                a, b = sorted((rng.randint(0, units), rng.randint(0, units)))
                for kind, size in enumerate((a, b - a, units - b), 1):
                    context.charge(size * viewer.UNIT, first + kind, profile)
    return db


class KindsOracle(EffortOracle):
    """A row exists if it has any cost, even one that is not shown."""

    def has_own_cost(self, context):
        return any(EffortOracle(self.db, self.events).cost(self.own(context)).values())


class Views(Case):
    def check_sum(self, costs, event=""):
        """Kinds without cost are not shown; the others add up to overhead."""
        for part in ("inclusive", "exclusive"):
            kinds = [costs[name + event][part] for name in KINDS if name + event in costs]
            self.assertEqual(sum(kinds), costs["overhead" + event][part])

    def test_random_programs(self):
        layouts = [Layout(), Layout(ids="shuffled"), Layout(scopes=("execution",), totals=False),
                   Layout(scopes=("point",))]
        for seed in range(8):
            events = ("",) if seed % 2 else (" (CPUTIME)", " (REALTIME)")
            with self.subTest(seed=seed):
                db = random_kinds(seed, events)
                self.write(db, layout=layouts[seed // 2])
                usual = [part + event for event in events for part in (*PARTS, "effort")]
                for _ in viewer.checked_views(self, KindsOracle(db, events, usual)):
                    pass
                # If a file has no totals, it is unknown in advance which kinds are zero.
                kinds = KINDS if seed // 2 >= 2 else KINDS[1:]
                by_kind = [name + event for event in events
                           for name in ("overhead", "effort", *kinds)]
                for shown in viewer.checked_views(self, KindsOracle(db, events, by_kind), "--kinds"):
                    for _, row in viewer.rows_of(shown):
                        for event in events:
                            self.check_sum(row["metrics"], event)

    def test_percentages_are_of_effort(self):
        self.write(with_kinds(describe()), RUN)
        shown = viewer.printed_json("top-down", "--kinds", self.db)["root"]
        cost = viewer.find(shown, "fib")["metrics"]["overhead:spawn"]
        self.assertEqual((cost["inclusive"], cost["exclusive"]), (1.5, 1.0))
        self.assertAlmostEqual(cost["inclusive_percent_of_effort"], 150 / 14.0625)
        self.assertAlmostEqual(cost["exclusive_percent_of_effort"], 100 / 14.0625)
        # Also if overhead itself is not shown.
        shown = viewer.printed_json("top-down", "--metrics", "effort,overhead:spawn", self.db)
        self.assertEqual(shown["metrics"][0]["sum_of"], ["work", "overhead", "idleness"])
        cost = viewer.find(shown["root"], "fib")["metrics"]
        self.assertEqual(cost["effort"]["inclusive"], 5.0)
        self.assertAlmostEqual(cost["overhead:spawn"]["inclusive_percent_of_effort"],
                               150 / 14.0625)

    def test_named_kinds(self):
        self.write(with_kinds(describe()), RUN)
        shown = viewer.printed_json("flat", "--metrics", "overhead:loop,work,overhead:sync",
                                    self.db)
        self.assertEqual([m["name"] for m in shown["metrics"]],
                         ["overhead:loop", "work", "overhead:sync"])
        folded = viewer.printed("top-down", "--format", "folded", "--sort", "overhead:sync",
                                self.db)
        self.assertEqual(folded, "main thread;main;fib 375000000\n")
        lines = viewer.printed("bottom-up", "--kinds", "--sort", "overhead:steal:inclusive",
                               self.db).splitlines()
        heads = next(i for i, line in enumerate(lines) if line.startswith("  effort")) + 2
        self.assertEqual(lines[heads].split()[:3], ["overhead:", "overhead,", "s"])
        self.assertEqual(lines[heads + 1].split()[0], "steal,")
        done = viewer.run("--print", "flat", "--sort", "overhead:none", self.db)
        self.assertEqual(done.returncode, 2)
        self.assertIn("work, overhead, overhead:loop, overhead:spawn", done.stderr)
        done = viewer.run("--print", "flat", "--kinds", "--metrics", "work", self.db)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--metrics and --kinds cannot be combined", done.stderr)

    def test_threads(self):
        for seed in range(3):
            db = random_kinds(seed)
            self.write(db)
            records = [r for r in self.records("threads", "--kinds") if r["kind"] == "thread"]
            self.assertEqual(len(records), 3)
            for profile, record in enumerate(records, 1):
                for metric, name in enumerate(db.metrics):
                    if name not in SHOWN:
                        self.assertNotIn(name, record)
                        continue
                    total = sum(c.charges.get((profile, metric), 0) for c in db.contexts())
                    self.assertEqual(float(record[name]), total)
                self.assertEqual(sum(float(record[kind]) for kind in KINDS[1:]),
                                 float(record["overhead"]))
            self.assertNotIn("overhead:spawn", self.records("threads")[0])
            shown = viewer.printed_json("threads", "--kinds", self.db)
            self.assertEqual([m["name"] for m in shown["metrics"]], list(SHOWN))
            self.assertIn("overhead: spawn", viewer.printed("threads", "--kinds", self.db))


class Words(Case):
    def test_summary(self):
        self.write(with_kinds(describe()), RUN)
        shown = viewer.printed("summary", self.db)
        self.assertIn("       2.000 s    14.2%  overhead  the parallel runtime itself: 10.7% spawn, 2.7% sync, "
                      "0.9% steal\n", shown)
        self.assertNotIn("overhead:spawn", shown)
        self.assertRegex(" ".join(shown.split()),
                         r"overhead 14 % \([^;]*; 10\.7% spawn, 2\.7% sync, 0\.9% steal\) of the "
                         r"effort of 14\.06 s\.")
        self.assertIn("  Most of the overhead is of the kind spawn: ", shown)
        summary = viewer.printed_json("summary", self.db)
        self.assertEqual(list(summary["metrics"]), ["work", "overhead", "idleness", "effort"])
        advice, = viewer.parallelization(summary)
        kinds = {"spawn": 1.5, "sync": 0.375, "steal": 0.125}
        found = advice["overhead_kinds_percent_of_effort"]
        self.assertEqual(list(found), list(kinds))
        for kind, cost in kinds.items():
            self.assertAlmostEqual(found[kind], 100 * cost / 14.0625)

    def test_summary_with_kinds(self):
        self.write(with_kinds(describe()), RUN)
        summary = viewer.printed_json("summary", "--kinds", self.db)
        self.assertEqual(summary["metrics"], {"overhead": 2.0, "overhead:spawn": 1.5,
                                              "overhead:steal": 0.125, "overhead:sync": 0.375,
                                              "effort": 14.0625})
        self.assertIn("       1.500 s    10.7%  overhead:spawn  a part of overhead\n",
                      viewer.printed("summary", "--kinds", self.db))

    def simple(self, overhead, kinds):
        """f works for 100 - `overhead`; kinds by name."""
        db = v4_writer.Database("simple", (*PARTS, *("overhead:" + kind for kind in kinds)))
        f = db.entry().call(db.function("f")).charge(100 - overhead, 0).charge(overhead, OVERHEAD)
        for metric, cost in enumerate(kinds.values(), len(PARTS)):
            f.charge(cost, metric)
        self.write(db, run_json(MEASURED))
        return " ".join(viewer.printed("summary", self.db).split())

    def test_the_dominant_kind(self):
        shown = self.simple(40, {"sync": 25, "spawn": 15})
        self.assertRegex(shown, r"overhead 40 % \([^;]*; 25\.0% sync, 15\.0% spawn\) of")
        self.assertIn("is of the kind sync: ", shown)
        self.assertIn("is of the kind barrier.", self.simple(40, {"barrier": 40, "spawn": 0}))
        self.assertNotIn("of the kind", self.simple(40, {"sync": 20, "spawn": 20}))
        shown = self.simple(2, {"sync": 2, "spawn": 0})  # too little to say more
        self.assertRegex(shown, r"overhead 2\.0 % \([^;]*; 2\.0% sync\) of")
        self.assertNotIn("of the kind", shown)

    def test_many_kinds(self):
        """The largest kinds are named."""
        kinds = {f"kind {i}": i / 2 for i in range(1, 21)}
        self.simple(sum(kinds.values()) / 2, kinds)
        advice, = viewer.parallelization(viewer.printed_json("summary", self.db))
        self.assertEqual(list(advice["overhead_kinds_percent_of_effort"]),
                         [f"kind {i}" for i in range(20, 4, -1)])

    def test_not_measurable(self):
        db = v4_writer.Database("serial", ["work"])
        db.entry().call(db.function("f")).charge(1.0)
        why = "no code is tagged as a runtime's, and no runtime with an agent took part"
        self.write(db, run_json([("work", "REALTIME", None), ("overhead", "REALTIME", why)]))
        shown = viewer.printed_json("top-down", "--kinds", self.db)
        self.assertEqual(shown["metrics"], [{"name": "overhead", "unit": "s",
                                             "state": "not measurable", "why": why}])
        self.assertEqual(shown["root"]["metrics"],
                         {"overhead": {"inclusive": None, "exclusive": None}})
        text = viewer.printed("top-down", "--kinds", self.db)
        self.assertIn(f"  overhead  -  not measured: {why}\n", text)

    def test_no_overhead(self):
        db = v4_writer.Database("other", ["cycles"])
        db.entry().call(db.function("f")).charge(1.0)
        self.write(db)
        done = viewer.run("--print", "flat", "--kinds", self.db)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"{self.db}: no overhead in it that could be shown by kind", done.stderr)

    def test_overhead_that_is_not_told_apart(self):
        self.write(describe(), run_json(MEASURED))
        shown = viewer.printed_json("top-down", "--kinds", self.db)
        self.assertEqual([m["name"] for m in shown["metrics"]], ["overhead", "effort"])
        self.assertIn("       2.000 s    14.2%  overhead  the parallel runtime itself\n",
                      viewer.printed("summary", self.db))

    def test_names_that_only_look_like_kinds(self):
        """A kind without its metric of overhead is an ordinary metric."""
        db = v4_writer.Database("other", ["work", "overhead:spawn", "overhead:sync (CPUTIME)"])
        db.entry().call(db.function("f")).charge(1.0, 0).charge(2.0, 1).charge(3.0, 2)
        self.write(db)
        shown = viewer.printed_json("top-down", self.db)
        self.assertEqual([m["name"] for m in shown["metrics"]], list(db.metrics))


def runtime_program():
    """main (m.c:10)
         11 fib (m.c:20)   line 21: overhead 1.0, tagged code of its own
                           22 pop, inlined (TAG:spawn, line 5), line 6: overhead 2.0
                              7 announce, inlined (TAG:spawn, line 8), line 9: overhead 4.0
                              30 lock (libc), line 40: overhead 8.0
                                 41 wait, inlined, line 50: overhead 16.0, idleness 32.0
         12 lock (libc)    line 40: idleness 64.0
         13 pop, inlined   23 task (m.c:60), line 61: idleness 128.0
                              62 lock (libc), line 40: idleness 256.0"""
    db = v4_writer.Database("runtime", PARTS)
    program, libc = db.module("/bin/program"), db.module("/lib/libc.so.6")
    m_c, lock_c = db.file("/src/m.c"), db.file("/libc/lock.c")
    tag = db.file("/build/hpctoolkit:parallel-overhead:spawn")
    main, fib, task = (db.function(name, program, 16 * line, m_c, line)
                       for name, line in (("main", 10), ("fib", 20), ("task", 60)))
    pop, announce = (db.function(name, file=tag, line=line)
                     for name, line in (("pop", 5), ("announce", 8)))
    lock, wait = db.function("lock", libc, 64, lock_c, 39), db.function("wait", None, 0, lock_c, 49)
    main = db.entry().call(main)
    fib = main.statement(m_c, 11).call(fib)
    fib.statement(m_c, 21).charge(1.0, OVERHEAD)
    popping = fib.statement(m_c, 22).inline(pop)
    popping.statement(tag, 6).charge(2.0, OVERHEAD)
    popping.statement(tag, 7).inline(announce).statement(tag, 9).charge(4.0, OVERHEAD)
    locking = popping.statement(tag, 30).call(lock)
    locking.statement(lock_c, 40).charge(8.0, OVERHEAD)
    waiting = locking.statement(lock_c, 41).inline(wait).statement(lock_c, 50)
    waiting.charge(16.0, OVERHEAD).charge(32.0, IDLENESS)
    main.statement(m_c, 12).call(lock).statement(lock_c, 40).charge(64.0, IDLENESS)
    called = main.statement(m_c, 13).inline(pop).statement(tag, 23).call(task)
    called.statement(m_c, 61).charge(128.0, IDLENESS)
    called.statement(m_c, 62).call(lock).statement(lock_c, 40).charge(256.0, IDLENESS)
    main.statement(m_c, 14).charge(100.0, WORK)
    return db


class Carriers(Case):
    """The user code on whose behalf the runtime works."""

    def found(self, advice, waste):
        return [(c["name"], c["line"], c["exclusive"]) for c in advice[waste + "_in"]]

    def test_of_the_whole_program(self):
        self.write(runtime_program(), run_json(MEASURED))
        advice, = viewer.parallelization(viewer.printed_json("summary", self.db))
        # line 21 has 1 of its own
        self.assertEqual(self.found(advice, "overhead"), [("fib", 22, 31.0)])
        # what libraries cost is carried by the lines that call them
        self.assertEqual(self.found(advice, "idleness"), [("task", 62, 384.0), ("main", 12, 64.0), ("fib", 22, 32.0)])


class InTerminal(Case):
    def heads(self, *expected):
        return lambda lines: lines[2].split() == list(expected)

    def test_kinds_come_and_go(self):
        self.write(with_kinds(describe()), RUN)
        terminal = self.start(width=120)
        terminal.until_seen("work, s")
        terminal.press("o")
        lines = terminal.until(self.heads("overhead,", "s", "spawn,", "s", "steal,", "s", "sync,",
                                          "s", "effort,", "s"), "the kinds")
        self.assertEqual(lines[3].split(), ["▼", *["inclusive"] * 5, "scope"])
        whole = next(line for line in lines if "<whole program>" in line)
        self.assertEqual(whole.split()[:10], ["2.000", "14.2%", "1.500", "10.7%", "0.1250", "0.9%",
                                              "0.3750", "2.7%", "14.06", "100.0%"])
        terminal.press("s", "s")  # by own overhead, then by spawns, which come first now
        terminal.until(self.heads("spawn,", "s", "overhead,", "s", "steal,", "s", "sync,", "s",
                                  "effort,", "s"), "spawn first")
        terminal.press("3")       # the other view shows them, too
        terminal.until(lambda lines: "spawn, s" in lines[2] and "/bin/parallel" in "".join(lines),
                       "the flat view by spawns")
        terminal.press("o")       # back, by overhead
        lines = terminal.until(self.heads("overhead,", "s", "work,", "s", "idleness,", "s",
                                          "effort,", "s"), "the usual metrics")
        terminal.press("1")       # and so is the first view
        terminal.until(lambda lines: "overhead, s" in lines[2] and "spawn" not in lines[2] and
                       "main thread" in "".join(lines), "the top-down view")

    def test_as_an_option(self):
        self.write(with_kinds(describe()), RUN)
        terminal = self.start("--kinds", width=220)
        terminal.until_seen("overhead: spawn, s", "overhead: sync, s", "effort, s")

    def test_tagged_code_is_explained_in_place_of_its_source(self):
        """Whatever the width; what is called from there has source again, or none by its own name."""
        self.write(runtime_program(), run_json(MEASURED))
        for width in (40, 120):
            terminal = self.start(width=width, height=40)
            lines = terminal.answer("/", "pop").until_seen(" overhead of the runtime: spawn ")
            start = next(i for i, line in enumerate(lines) if " overhead of the runtime" in line)
            words = " ".join(" ".join(lines[start + 1:]).split())
            self.assertIn("tagged as overhead of the kind spawn: what making a task costs", words)
            self.assertIn("there is no source to show", words)
            self.assertFalse(any("no source: " in line for line in lines))
            terminal.press_until("e", "no source file to edit")
            terminal.press("c")  # where it is called
            terminal.until_seen("no source: /src/m.c:22" if width > 40 else "no source: /src")
            terminal.press("q")

    def test_advice_names_kinds(self):
        self.write(with_kinds(describe()), RUN)
        terminal = self.start(width=100)
        terminal.press("/")
        terminal.type("fib")
        lines = terminal.press_until("Enter a", "hpcviewer: advice", "Too fine a grain")
        page = " ".join(" ".join(lines).split())
        # of fib's effort of 5
        self.assertRegex(page, r"overhead 40 % \([^;]*; 30\.0% spawn, 7\.5% sync, 2\.5% steal\) "
                               r"of its effort of 5\.000 s")
        self.assertIn("Most of the overhead is of the kind spawn: ", page)

    def test_advice_on_a_part_of_the_runtime(self):
        """It gets the share of its callers outside of the selection."""
        self.write(runtime_program(), run_json(MEASURED))
        terminal = self.start(width=100)
        for name, overhead in (("pop", "48 %"), ("lock", "43 %")):
            terminal.answer("g", "/", name)
            terminal.until(lambda lines: any(line[:1].isdigit() and line.rstrip().endswith(name)
                                             for line in lines), f"{name} selected")
            terminal.press("a")
            terminal.until_seen("hpcviewer: advice", f"overhead is {overhead}, 100 % of that in fib, m.c:22")
            terminal.press_until("q", "?:help")

    def test_advice_on_the_whole_program_is_the_same_in_all_views(self):
        self.write(runtime_program(), run_json(MEASURED))
        terminal = self.start(width=100)
        for view in "123":
            terminal.press(view, "g", "a")
            terminal.until_seen("hpcviewer: advice", "<whole program>",
                                "overhead is 5.1 %, 100 % of that in fib, m.c:22")
            terminal.press_until("q", "?:help")

    def test_without_kinds(self):
        self.write(describe(), run_json(MEASURED))
        terminal = self.start(width=100)
        terminal.press_until("o", "this database has no kinds of overhead", "work, s")
