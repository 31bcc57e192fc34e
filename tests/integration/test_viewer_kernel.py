"""Folding the kernel into the lines that called it, on a program whose every number is known:

    main (a.c:10)  line 12: 1 s
                            entry [kernel]: 2 s
                                 read_it [kernel]: 4 s
                   line 13: 8 s
                            copy (a.c:40), inlined        line 41: 16 s
                                                                   entry [kernel]: 32 s
    entry [kernel], of a thread of which nothing else is known: 64 s, read_it [kernel]: 128 s"""
import os
import tempfile

import v4_writer
from folding_case import FoldingTest
from viewer_screen import Viewer


def describe():
    db = v4_writer.Database("reads", ["work"], 2)
    program, kernel, a_c = db.module("/bin/reads"), db.module("[kernel]"), db.file("/src/a.c")
    entry, read_it = db.function("entry", kernel, 0x10), db.function("read_it", kernel, 0x20)
    main = db.entry().call(db.function("main", program, 0x10, a_c, 10))
    called = main.statement(a_c, 12).charge(1.0).call(entry).charge(2.0)
    called.call(read_it).charge(4.0)
    copy = main.statement(a_c, 13).charge(8.0).inline(db.function("copy", program, 0, a_c, 40))
    copy.statement(a_c, 41).charge(16.0).call(entry).charge(32.0)
    db.entry().call(entry).charge(64.0).call(read_it).charge(128.0)
    return db


class Known(FoldingTest):
    describe = describe

    def test_top_down(self):
        main = ("main thread", "main")
        costs = self.costs("top-down")
        self.assertEqual({path: cost for path, cost in costs.items() if path[:2] == main}, {
            main: (63, 15), main + ("a.c:12",): (7, 7), main + ("a.c:13",): (8, 8),
            main + ("copy",): (48, 48), main + ("copy", "a.c:41"): (48, 48)})
        self.assertEqual([cost for path, cost in costs.items() if path[-1] == "entry"], [(192, 192)])
        self.assertFalse(any("read_it" in path for path in costs))

    def test_with_inlined_code(self):
        costs = self.costs("top-down", "--fold-inlined")
        main = ("main thread", "main")
        self.assertEqual(costs[main], (63, 63))
        self.assertEqual(costs[main + ("a.c:13",)], (56, 56))

    def test_shown(self):
        costs = self.costs("top-down", "--kernel")
        main = ("main thread", "main")
        self.assertEqual(costs[main], (63, 9))
        self.assertEqual(costs[main + ("entry",)], (6, 2))
        self.assertEqual(costs[main + ("entry", "read_it")], (4, 4))
        self.assertEqual(costs[main + ("copy", "entry")], (32, 32))

    def test_other_views(self):
        self.assertEqual(self.costs("bottom-up")[("main",)], (63, 15))
        self.assertEqual(self.costs("flat", "--kernel")[("[kernel]",)][1], 230)
        self.assertEqual(self.costs("flat")[("[kernel]",)], (192, 192))


class InTerminal(FoldingTest):
    describe = describe

    def start(self, config="/nonexistent"):
        return self.enterContext(Viewer(self.db, width=120, height=200, environment={"XDG_CONFIG_HOME": config}))

    def test_the_key(self):
        terminal = self.start()
        self.assertFalse(any("read_it" in line for line in terminal.press_until("*", "copy")))
        terminal.press_until("O", "the kernel's procedures are shown")
        terminal.press_until("*", "read_it")
        terminal.press_until("O", "the kernel is counted in the line that called it")
        self.assertFalse(any("read_it" in line for line in terminal.press_until("*", "copy")))

    def test_it_is_kept(self):
        config = self.enterContext(tempfile.TemporaryDirectory())
        self.start(config).press_until("O C S", "saved for the next time")
        with open(os.path.join(config, "hpctoolkit", "hpcviewer.conf")) as file:
            self.assertIn("kernel\n", file.read())
        self.start(config).press_until("*", "read_it")
