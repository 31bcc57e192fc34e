"""Tests of views in which rows are folded into others."""
import tempfile
import unittest

import v4_writer
import viewer
from test_viewer_views import LAYOUTS
from view_oracle import Oracle


class FoldingTest(unittest.TestCase):
    always = ()  # options of all views
    describe = None  # makes the database of each test

    def setUp(self):
        self.db = self.enterContext(tempfile.TemporaryDirectory())
        if self.describe:
            v4_writer.write_database(type(self).describe(), self.db)

    def costs(self, view, *options):
        """{path of names: (inclusive, exclusive)} below the first procedure rows."""
        root = viewer.printed_json(view, *self.always, *options, self.db)["root"]
        found = {}

        def walk(row, path):
            work = row["metrics"]["work"]
            found[path + (row["name"],)] = (work["inclusive"], work["exclusive"])
            for child in row["children"]:
                walk(child, path + (row["name"],))
        for child in root["children"]:
            walk(child, ())
        return found


class RandomTrees:
    """Random trees, against an oracle of the tree that `fold` makes of each; mixed into a FoldingTest."""

    def test_every_view_against_the_oracle(self):
        for seed in range(self.SEEDS):
            layout = LAYOUTS[seed % len(LAYOUTS)]
            with self.subTest(seed=seed, layout=layout):
                db = viewer.random_database(seed, 200)
                v4_writer.write_database(db, self.db, layout)
                for _ in viewer.checked_views(self, Oracle(type(self).fold(db)), *self.always):
                    pass

    def test_values_of_threads(self):
        """The costs of a procedure in the threads add up to its cost, so the value refs are exact, too."""
        for seed in range(8):
            v4_writer.write_database(viewer.random_database(seed, 150), self.db)
            root = viewer.printed_json("bottom-up", *self.always, "--depth", 1, self.db)["root"]
            named = {row["name"]: row["metrics"]["work"] for row in root["children"] if row["name"].isalnum()}
            self.assertTrue(named)
            for name, work in named.items():
                for part in "inclusive", "exclusive":
                    threads = viewer.printed_json("threads", "--of", f"^{name}$", "--sort", f"work:{part}", *self.always,
                                                  self.db)["threads"]
                    self.assertAlmostEqual(sum(thread["value"] for thread in threads), work[part], places=6)
