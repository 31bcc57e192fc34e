"""Collapsing recursion in the viewer, against an oracle that moves charges to collapsed paths on random trees, and on a
program whose every number is known:

    main  line 2: a  line 5: 1 s
                     line 6: b  line 9: 2 s
                                line 10: a  line 5: 4 s
                                            line 6: b  line 9: 8 s
                                            line 7: c  line 12: 16 s
"""
import pathlib

import timeline_writer as tw
import v4_writer
import viewer
from folding_case import FoldingTest, RandomTrees
from view_oracle import Oracle, collapse_recursion, fold_inlined
from viewer_screen import Viewer, costs_of_threads
import viewer_screen


def describe(unknown=False):
    """With `unknown`, a and b are placeholders, so that it is unknown whether they are recursive."""
    db = v4_writer.Database("program", ["work"], 2)
    program, a_c = db.module("/bin/program"), db.file("/src/a.c")
    if unknown:
        a = db.function("<unknown procedure in program>", program)
        b = db.function("<unknown code>")
    else:
        a = db.function("a", program, 0x40, a_c, 4)
        b = db.function("b", program, 0x80, a_c, 8)
    c = db.function("c", program, 0xc0, a_c, 11)
    main = db.entry().call(db.function("main", program, 0x10, a_c, 1))
    outer = main.statement(a_c, 2).call(a)
    outer.statement(a_c, 5).charge(1.0)
    line = outer.statement(a_c, 6).call(b)
    line.statement(a_c, 9).charge(2.0, profile=2)
    inner = line.statement(a_c, 10).call(a)
    inner.statement(a_c, 5).charge(4.0)
    inner.statement(a_c, 6).call(b).statement(a_c, 9).charge(8.0)
    inner.statement(a_c, 7).call(c).statement(a_c, 12).charge(16.0, profile=2)
    return db


class Case(FoldingTest):
    always = ("--collapse-recursion",)


class Known(Case):
    describe = describe

    def test_top_down(self):
        main = ("main thread", "main")
        a = main + ("a",)
        self.assertEqual(self.costs("top-down"), {
            main[:1]: (31, 0), main: (31, 0), a: (31, 5), a + ("a.c:5",): (5, 5),
            a + ("b",): (10, 10), a + ("b", "a.c:9"): (10, 10),
            a + ("c",): (16, 16), a + ("c", "a.c:12"): (16, 16)})

    def test_unknown_code_is_no_recursion(self):
        v4_writer.write_database(describe(unknown=True), self.db)
        collapsed, self.always = self.costs("top-down"), ()
        self.assertEqual(collapsed, self.costs("top-down"))

    def test_it_is_told(self):
        text = viewer.printed("flat", "--fold-inlined", "--collapse-recursion", self.db)
        self.assertIn("logical projection, inlined code folded, recursion collapsed\n", text)
        self.assertEqual(viewer.printed_json("flat", "--collapse-recursion", self.db)["recursion"],
                         "collapsed")
        self.assertNotIn("recursion", viewer.printed_json("flat", self.db))

    def check_threads(self, *options):
        values = {(name, part): values for name, part, values in
                  costs_of_threads(self, *options, "--collapse-recursion", self.db)}
        self.assertEqual(sorted(values["a", "inclusive"].values()), [13, 18])
        self.assertEqual(sorted(values["b", "inclusive"].values()), [2, 8])

    def test_values_of_threads(self):
        """b keeps nothing of what its recursive call of a cost in the second thread."""
        self.check_threads()

    def test_values_of_threads_in_a_piece_of_time(self):
        """The same, of records: a sample for each charge, the last one after the piece."""
        db, line = describe(), tw.Timeline(unit=10)
        v4_writer.write_database(db, self.db)
        viewer.describe_run(self.db, [{"name": "work", "unit": "s", "state": "measured", "event": "CPUTIME"}],
                            events=[{"name": "CPUTIME", "unit": "s"}])
        begun = [0, 0, 0]  # by profile: ns of its samples so far
        for context in db.contexts():
            for (profile, _), seconds in context.charges.items():
                begun[profile] += seconds * 1e9
                line.record(profile, begun[profile], seconds * 1e9, tw.WORK, line.place(context.id))
        for profile in 1, 2:
            line.record(profile, 20e9, 1e9, tw.WORK, 0)
        line.write(pathlib.Path(self.db))
        self.check_threads("--to", "18s")

    def test_a_loop_in_a_piece_of_time(self):
        """Of thread 1, it has 1 s itself, 2 s in an inner loop and 4 s in a call; of thread 2, 8 s itself."""
        db, line = v4_writer.Database("program", ["work"], 2), tw.Timeline(unit=10)
        a_c = db.file("/src/a.c")
        main = db.entry().call(db.function("main", db.module("/bin/program"), 0x10, a_c, 1))
        loop = main.loop(a_c, 2)
        own = loop.statement(a_c, 3)
        charges = ((own, 1, 1), (loop.loop(a_c, 4).statement(a_c, 5), 1, 2), (own, 2, 8),
                   (loop.statement(a_c, 6).call(db.function("f")), 1, 4), (main.statement(a_c, 9), 1, 16))
        for context, profile, seconds in charges:
            context.charge(seconds, profile=profile)
        v4_writer.write_database(db, self.db)
        begun = [0, 0, 0]
        for context, profile, seconds in charges:
            begun[profile] += seconds * 1e9
            line.record(profile, begun[profile], seconds * 1e9, tw.WORK, line.place(context.id))
        line.write(pathlib.Path(self.db))
        viewer.describe_run(self.db, [{"name": "work", "unit": "s", "state": "measured", "event": "CPUTIME"}],
                            events=[{"name": "CPUTIME", "unit": "s"}])
        for part, values in (("exclusive", ("8.000", "1.000")), ("inclusive", ("8.000", "7.000"))):
            terminal = viewer_screen.start(self, "--sort", f"work:{part}", "--to", "20s", self.db)
            terminal.answer("g", "/", "loop at a.c:2")
            terminal.until_seen("> loop at a.c:2")
            terminal.press("4")
            terminal.until_seen(f"{part}: 2 threads, by value", *values)

    def test_totals_of_threads(self):
        """From a database that has no totals of the program: those of its entry points."""
        v4_writer.write_database(describe(), self.db, v4_writer.Layout(totals=False))
        threads = viewer.printed_json("threads", "--collapse-recursion", self.db)["threads"]
        self.assertEqual([t["metrics"]["work"] for t in threads], [13, 18])


class Random(RandomTrees, Case):
    SEEDS, fold = 20, collapse_recursion

    def test_inlined_code_is_folded_first(self):
        for seed in range(self.SEEDS):
            db = viewer.random_database(seed, 200)
            v4_writer.write_database(db, self.db)
            oracle = Oracle(collapse_recursion(fold_inlined(db)))
            for _ in viewer.checked_views(self, oracle, "--fold-inlined", "--collapse-recursion"):
                pass


class InTerminal(Case):
    describe = describe

    def test_the_key(self):
        terminal = self.enterContext(Viewer(self.db, width=170, height=40,
                                            environment={"XDG_CONFIG_HOME": "/nonexistent"}))
        terminal.press("*", "R")
        terminal.until_seen("[logical, recursion collapsed]",
                            "recursive calls are counted in the outermost call of the procedure")
        terminal.press_until("I", "[logical, inlined code folded, recursion collapsed]")
        terminal.press_until("I R", "[logical]", "recursive calls are shown")
