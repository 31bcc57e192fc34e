"""Tests of views in which rows are folded into others."""
import tempfile
import unittest

import viewer


class FoldingTest(unittest.TestCase):
    always = ()  # options of all views

    def setUp(self):
        self.db = self.enterContext(tempfile.TemporaryDirectory())

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
