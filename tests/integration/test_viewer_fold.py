"""Folding inlined code into the procedures that contain it, against an oracle that moves charges on
random trees, and on a program whose every number is known:

    main (a.c:10)  loop at a.c:11
                     line 12: 1 s
                              sort, inlined (a.h:5)   loop at a.h:6, line 7: 2 s
                                                      line 8: swap, inlined (a.h:20)  line 21: 4 s
                                                      line 9: copy (a.c:40)           line 41: 8 s
                              copy                                                    line 41: 16 s
                   line 13: sort, inlined             line 7: 32 s
"""
import csv
import io
import os
import tempfile

import v4_writer
import viewer
from folding_case import FoldingTest, RandomTrees
from view_oracle import fold_inlined
from viewer_screen import Viewer, costs_of_threads


def describe():
    db = v4_writer.Database("sorts", ["work"], 2)
    program, a_c, a_h = db.module("/bin/sorts"), db.file("/src/a.c"), db.file("/src/a.h")
    main = db.entry().call(db.function("main", program, 0x10, a_c, 10))
    sort_function = db.function("sort", program, 0, a_h, 5)
    copy_function = db.function("copy", program, 0x40, a_c, 40)
    line = main.loop(a_c, 11).statement(a_c, 12).charge(1.0)
    sort = line.inline(sort_function)
    sort.loop(a_h, 6).statement(a_h, 7).charge(2.0)
    swap = sort.statement(a_h, 8).inline(db.function("swap", program, 0, a_h, 20))
    swap.statement(a_h, 21).charge(4.0, profile=2)
    sort.statement(a_h, 9).call(copy_function).statement(a_c, 41).charge(8.0)
    line.call(copy_function).statement(a_c, 41).charge(16.0)
    main.statement(a_c, 13).inline(sort_function).statement(a_h, 7).charge(32.0)
    return db


class Case(FoldingTest):
    always = ("--fold-inlined",)


class Known(Case):
    describe = describe

    def test_top_down(self):
        main = ("main thread", "main")
        loop = main + ("loop at a.c:11",)
        self.assertEqual(self.costs("top-down"), {
            ("main thread",): (63, 0), main: (63, 39), loop: (31, 7), loop + ("a.c:12",): (7, 7),
            loop + ("copy",): (24, 24), loop + ("copy", "a.c:41"): (24, 24),
            main + ("a.c:13",): (32, 32)})

    def test_it_is_told(self):
        text = viewer.printed("flat", "--fold-inlined", self.db)
        self.assertIn("logical projection, inlined code folded\n", text)
        self.assertEqual(viewer.printed_json("flat", "--fold-inlined", self.db)["inlined"],
                         "folded")
        self.assertNotIn("inlined", viewer.printed_json("flat", self.db))

    def test_stacks_and_threads(self):
        folded = viewer.printed("top-down", "--fold-inlined", "--format", "folded", self.db)
        self.assertEqual(set(folded.splitlines()),
                         {"main thread;main 39", "main thread;main;copy 24"})
        values = {(name, part): values for name, part, values in costs_of_threads(self, "--fold-inlined", self.db)}
        self.assertEqual(sorted(values["main", "exclusive"].values()), [4, 35])

    def test_two_databases(self):
        """A comparison of before and after a procedure was inlined: if folded, nothing changed."""
        other = self.enterContext(tempfile.TemporaryDirectory())
        v4_writer.write_database(fold_inlined(describe()), other)
        for view in ("top-down", "bottom-up", "flat"):
            records = list(csv.DictReader(io.StringIO(viewer.printed(
                view, "--fold-inlined", "--names", "a,b", "--format", "csv", self.db,
                other))))
            self.assertEqual({r["work difference:inclusive"] for r in records}, {"0"})
            self.assertEqual({r["in"] for r in records}, {"a,b"})


class Random(RandomTrees, Case):
    SEEDS, fold = 48, fold_inlined

    def test_of_some_threads(self):
        """The values of single threads add up to those of all."""
        for seed in range(12):
            db = viewer.random_database(seed, 150)
            v4_writer.write_database(db, self.db)
            whole = viewer.printed_json("flat", "--fold-inlined", self.db)["root"]
            parts = [viewer.printed_json("flat", "--fold-inlined", "--threads",
                                         f"THREAD {i}$|/{i}$|{i}$", self.db)["root"]
                     for i in range(3)]
            for name in db.metrics:
                self.assertAlmostEqual(
                    sum(part["metrics"][name]["inclusive"] for part in parts),
                    whole["metrics"][name]["inclusive"], places=6)


class InTerminal(Case):
    describe = describe

    def start(self, *options, config="/nonexistent"):
        return self.enterContext(Viewer(*options, self.db, width=120, height=200,
                                        environment={"XDG_CONFIG_HOME": config}))

    def test_the_key(self):
        terminal = self.start()
        terminal.answer("/", "swap").until_seen("[I] sort > [I] swap")
        terminal.press("I")
        lines = terminal.until_seen("[logical, inlined code folded]",
                                    "inlined code is counted in the procedure that contains it")
        self.assertFalse(any("[I]" in line for line in lines))
        lines = terminal.press_until("*", "copy")
        self.assertTrue(any(line.split()[:3] == ["7", "11.1%", "7"] and "a.c:12" in line
                            for line in lines))
        for view in "23":
            terminal.press(view, "*")
            lines = terminal.until(lambda lines: any("copy" in line for line in lines), "copy")
            self.assertFalse(any("[I]" in line for line in lines))
        terminal.press_until("1 I *", "[logical]", "[I] swap")
        terminal.press_until("?", "  I  ", "fold inlined code into the procedures that contain it")

    def test_it_is_kept(self):
        config = self.enterContext(tempfile.TemporaryDirectory())
        terminal = self.start(config=config)
        terminal.press_until("I C S", "saved for the next time")
        path = os.path.join(config, "hpctoolkit", "hpcviewer.conf")
        with open(path) as file:
            self.assertIn("fold-inlined\n", file.read())
        terminal.press("q")
        terminal = self.start(config=config)
        terminal.until_seen("[logical, inlined code folded]")
        terminal.press_until("I C S", "saved for the next time")
        with open(path) as file:
            self.assertNotIn("fold-inlined", file.read())

    def test_two_databases(self):
        terminal = self.start("--names", "a,b", self.db)
        lines = terminal.press_until("I *", "[logical, inlined code folded]", "copy")
        self.assertFalse(any("[I]" in line for line in lines))
        terminal.press_until("I *", "[logical]", "[I] swap")
