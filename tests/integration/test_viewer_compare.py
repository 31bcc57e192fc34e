"""hpcviewer A B: two databases merged into one tree, against what comparison_oracle merges."""
import pathlib
import tempfile
import unittest

import comparison_oracle
import v4_writer
import viewer
from comparison_oracle import Program, merged
from view_oracle import Oracle

SEEDS = 25
NAMES = ("before", "after")
DEPTH = 4  # of the bottom-up view


def canonical(row):
    """As viewer.canonical, with the databases that a row is in, and without undefined costs."""
    site = row.get("call_site")
    costs = tuple((name, *("undefined" if cost[part] is None else float(cost[part])
                           for part in ("inclusive", "exclusive")))
                  for name, cost in sorted(row["metrics"].items()))
    itself = (row["kind"], row["name"], row["file"] or "", row["line"] or 0, row["module"] or "",
              (site["file"] or "", site["line"] or 0) if site else ("", -1), tuple(row["in"]),
              costs)
    return (itself, sorted((canonical(child) for child in row["children"]), key=repr))


def oracle_trees(db):
    oracle = Oracle(db)
    return {"top-down": oracle.topdown(), "bottom-up": oracle.bottomup(DEPTH),
            "flat": oracle.flat()}


class Compared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folders = [pathlib.Path(folder.name, name) for name in NAMES]

    def write(self, *databases):
        for db, folder in zip(databases, self.folders):
            v4_writer.write_database(db, folder)

    def compared(self, view, *options):
        depth = ("--depth", DEPTH) if view == "bottom-up" else ()
        return viewer.printed_json(view, *depth, *options, *self.folders)


class Trees(Compared):
    def test_an_edited_program(self):
        for seed in range(SEEDS):
            program = Program(seed)
            self.write(*program.databases)
            sides = [oracle_trees(db) for db in program.databases]
            for view in sides[0]:
                with self.subTest(seed=seed, view=view):
                    expected = merged(sides[0][view], sides[1][view], NAMES, view == "bottom-up")
                    shown = self.compared(view)
                    self.assertIsNone(viewer.difference(canonical(shown["root"]),
                                                        canonical(expected)))


if __name__ == "__main__":
    unittest.main()
