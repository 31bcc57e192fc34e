"""The time in which a region or a procedure ran: all views of it, alone, in a piece of time, and of two databases."""
import pathlib
import random
import tempfile
import unittest

import test_viewer_range
import timeline_writer as tw
import viewer
from test_viewer_range import Recorded
from test_viewer_timeline import MS, Phases


class Views(test_viewer_range.Range):
    def test_views_are_those_of_the_pieces_alone(self):
        """Of regions that overlap, touch and are nested, in two threads; others have other names."""
        recorded = Recorded(5)
        end, rng = recorded.end, random.Random(5)
        bounds = sorted(rng.sample(range(1, end // 1000), 8))
        a, b, c, d, e, f, g, h = (1000 * bound for bound in bounds)
        regions = {1: [("sort", a, c), ("other", 0, end), ("sort", d, e)], 2: [("sort", b, b + 1000), ("sort", e, f)],
                   3: [("sort", g, None), ("sor", a, h)]}
        recorded.processes = [{"pid": 7, "command": "p", "executable": "/p", "time_line_begin": 0, "threads": [
            {"profile": profile, "tid": profile, "name": "t", "regions": [
                {"name": name, "begin": begin / 1e9, "end": until and until / 1e9} for name, begin, until in its]}
            for profile, its in regions.items()]}]
        with tempfile.TemporaryDirectory() as folder:
            recorded.write(pathlib.Path(folder) / "db")
            self.compare(recorded, folder, ("--during", "sort"), (a, c), (d, f), (g, end))
            middle = ("--from", f"{b / 1e9:.9f}s", "--to", f"{e / 1e9:.9f}s")
            self.compare(recorded, folder, ("--during", "sort", *middle), (b, c), (d, e))

    test_views_of_any_piece_are_those_of_its_records_alone = test_metrics_without_records_say_so = None


class Named(Phases):
    REGIONS = {1: [("sort", 0.1, 0.2), ("sort", 0.15, 0.25), ("<b>", 0.9, 0.95), ("short", 0.3, 0.3),
                   ("tail", 0.96, 0.97)],
               2: [("sort", 0.5, 0.6), ("merge", 0.5, 0.7)], 3: [("solver", 0, None)]}


class During(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        self.db = self.folder / "db"
        Named().write(self.db)

    def pieces(self, *options, db=None):
        """From, to, number and length of the pieces."""
        found = viewer.printed_json("summary", *options, db or self.db)["range"]
        return tuple(key in found and round(found[key], 9) for key in ("from", "to", "pieces", "length"))

    def assert_work(self, seconds, *options, db=None):
        root = viewer.printed_json("top-down", *options, db or self.db)["root"]
        self.assertAlmostEqual(root["metrics"]["work"]["inclusive"], seconds, delta=1e-9)

    def test_regions(self):
        self.assertEqual(self.pieces("--during", "sort"), (0.1, 0.6, 2, 0.25))
        self.assert_work(0.15 + 0.1 * 2.25, "--during", "sort")  # assemble on one thread; kernel on two, a quarter of the third
        self.assertEqual(self.pieces("--during", "sort", "--to", "30%"), (0.1, 0.25, False, False))
        self.assertEqual(self.pieces("--during", "solver"), (0, 1, False, False))

    def test_the_title_names_it(self):
        text = viewer.printed("summary", "--during", "sort", self.db)
        self.assertIn("time: 'sort', 0.25 s in 2 pieces\n", text)
        text = viewer.printed("summary", "--during", "sort", "--from", "0.2s", self.db)
        self.assertIn("time: 0.2 s to 1 s: 'sort', 0.15 s in 2 pieces\n", text)

    def test_procedures(self):
        """If no region has the name: those that match, and what they call."""
        for name, begin, end in ("assemble", 0, 0.4), ("kern", 0.4, 0.8), ("^main$", 0, 1), ("join", 0.8, 1), ("solve", 0.4, 0.8):
            self.assertEqual(self.pieces("--during", name), (begin, end, False, False), name)
        self.assert_work(0.4 + 0.3 + 0.1, "--during", "kernel")

    def test_a_procedure_goes_on_between_its_samples(self):
        phases = Phases("CPUTIME")
        phases.line = tw.Timeline()
        db = self.folder / "gaps"
        for time, first, second in ((20, "kernel", "kernel"), (28, "assemble", "kernel"), (33, "kernel", "kernel"),
                                    (42, "kernel", "kernel"), (60, "assemble", "assemble"), (90, "kernel", "join")):
            phases.line.record(1, time * MS, 1 * MS, tw.WORK, phases.places[first])
            phases.line.record(1, time * MS, 3 * MS, tw.WORK, phases.places[second])
        phases.line.record(1, 100 * MS, 4 * MS, tw.IDLE, 0)
        phases.line.record(1, 120 * MS, 4 * MS, tw.WORK, phases.places["kernel"])
        phases.line.record(2, 5 * MS, 1 * MS, tw.WORK, phases.places["kernel"])
        phases.write(db)
        self.assertEqual(self.pieces("--during", "kernel", db=db), (0.004, 0.12, 5, 0.03))
        self.assert_work(0.025, "--during", "kernel", db=db)

    def test_with_a_phase(self):
        whole = viewer.printed_json("phases", self.db)["phases"]
        self.assertGreater(len(whole), 1)
        begin, end, *_ = self.pieces("--during", "sort", "--phase", "1")
        self.assertEqual((begin, end), (0.1, 0.25))

    def refused(self, *options):
        done = viewer.run("--print", "summary", *options)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def test_unknown(self):
        """The names of the first regions; there are more."""
        self.assertIn("no region or procedure 'sorts' ran; there are: solver, sort, short, merge, <b>, ...\n",
                      self.refused("--during", "sorts", self.db))
        self.assertIn("no region or procedure 'short' ran", self.refused("--during", "short", self.db))
        self.assertIn("'sort' did not run in that time\n", self.refused("--during", "sort", "--from", "0.7s", self.db))

    def test_two_databases(self):
        both = f"{self.db}@during:sort", f"{self.db}@during:^kernel$"
        text = viewer.printed("summary", *both)
        self.assertIn("time: 'sort', 0.25 s in 2 pieces [sort] and program  time: '^kernel$', 0.4 s [^", text)
        cost = viewer.printed_json("top-down", *both)["root"]["metrics"]["work difference"]
        self.assertAlmostEqual(cost["inclusive"], 0.8 - 0.375, delta=1e-9)

    def test_any_name_after_the_database(self):
        for name in "a/b", "load@start", "x@during:y":
            self.assertIn(f"no region or procedure '{name}' ran", self.refused(f"{self.db}@during:{name}"))

    def test_wrong_names(self):
        for name in ("", "x" * 256):
            done = viewer.run("--during", name, "--print", "summary", self.db)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--during takes the name of a region or procedure, of 1 to 255 bytes", done.stderr)


if __name__ == "__main__":
    unittest.main()
