"""hpcviewer's three views of random trees, compared with view_oracle, which works by brute force."""
import tempfile
import unittest

import v4_writer
import viewer
from v4_writer import Layout
from view_oracle import Oracle

SEEDS = 40

# Variants of the format and databases that lack parts, used in turn.
LAYOUTS = [
    Layout(),
    Layout(ids="shuffled", arrays="upwards"),
    Layout(ids="sparse", extra=8),
    Layout(scopes=("point", "function", "execution")),
    Layout(scopes=("execution",), totals=False),
    Layout(scopes=("function", "lex_aware")),
    Layout(scopes=("point",), ids="shuffled"),
    Layout(scopes=("execution", "lex_aware", "function")),
]


class Views(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, view, expected, *options):
        shown = viewer.printed_json(view, *options, self.folder.name)
        self.assertIsNone(viewer.difference(viewer.canonical(shown["root"]),
                                            viewer.canonical(expected)))

    def for_each_database(self, size, check):
        for seed in range(SEEDS):
            layout = LAYOUTS[seed % len(LAYOUTS)]
            with self.subTest(seed=seed, layout=layout):
                db = viewer.random_database(seed, size)
                v4_writer.write_database(db, self.folder.name, layout)
                check(Oracle(db))

    def test_top_down(self):
        self.for_each_database(200, lambda oracle: self.check("top-down", oracle.topdown()))

    def test_bottom_up(self):
        self.for_each_database(120, lambda oracle: self.check("bottom-up", oracle.bottomup(5),
                                                              "--depth", 5))

    def test_flat(self):
        self.for_each_database(200, lambda oracle: self.check("flat", oracle.flat()))

    def test_a_procedure_with_lines_that_cost_nothing(self):
        """It has no scopes in it, so the flat view ends with it."""
        db = v4_writer.Database("t", ["work"])
        main = db.entry().call(db.function("main", db.module("/bin/t"), 0x10, db.file("/src/t.c"), 1))
        main.charge(1.0)
        main.statement(db.file("/src/t.c"), 5)
        v4_writer.write_database(db, self.folder.name)
        shown = viewer.run("--print", "flat", "--depth", "3", self.folder.name).stdout
        self.assertIn("main", shown)
        self.assertNotIn("below level 3", shown)
        main.statement(db.file("/src/t.c"), 6).charge(2.0)
        v4_writer.write_database(db, self.folder.name)
        self.assertIn("below level 3", viewer.run("--print", "flat", "--depth", "3", self.folder.name).stdout)

    def test_a_large_tree(self):
        db = viewer.random_database(1000, 3000)
        v4_writer.write_database(db, self.folder.name)
        oracle = Oracle(db)
        self.check("top-down", oracle.topdown())
        self.check("bottom-up", oracle.bottomup(3), "--depth", 3)
        self.check("flat", oracle.flat())
