"""Tests of views in which rows are folded into others."""
import tempfile
import unittest

import v4_writer
import viewer
from test_viewer_views import LAYOUTS
from view_oracle import ByThread, Oracle
from viewer_screen import costs_of_threads


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
        """The costs of each procedure in each thread, on the page of threads."""
        for seed in range(3):
            db = viewer.random_database(seed, 150)
            v4_writer.write_database(db, self.db)
            viewer.describe_run(self.db, [{"name": name, "unit": "s", "state": "measured"} for name in db.metrics])
            rows = {row["name"]: row["metrics"] for row in ByThread(type(self).fold(db)).bottomup(1)["children"]}
            n = 0
            for name, part, values in costs_of_threads(self, *self.always, "--filter", "name:^[a-z0-9]+$", self.db):
                expected = {profile: rows[name]["work", profile][part] for profile in values}
                for profile, value in values.items():
                    self.assertAlmostEqual(value, expected[profile], delta=max(expected.values()) * 1e-3)
                n += len(values)
            self.assertGreater(n, 0)
