"""Loops, compared with those that compilers say are in their code: the short form of tests/bench/loop_truth.py."""
import shutil
import sys
import unittest

from structure_case import HPCSTRUCT, ROOT, SOURCES

sys.path.insert(0, str(ROOT / "tests" / "bench"))
import loop_truth  # noqa: E402


class LoopTruth(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang"), "needs clang")
    def test_loops_of_compilers(self):
        source, options = SOURCES / "loops.c", [f"-I{ROOT}"]
        statements = {source: loop_truth.source_loops(source, options)}
        for compiler in ("gcc", "clang"):
            found = loop_truth.report(HPCSTRUCT, compiler, "-O2", options, statements, True)
            with self.subTest(compiler=compiler):
                self.assertGreater(found["found"], 10)
                self.assertEqual([found[bad] for bad in ("missing", "false", "wrong")], [0, 0, 0])

    def test_natural_loops(self):
        """The oracle itself: 2 and 3 are headers; 6 and 7 are a loop with two entries."""
        edges = {1: [2], 2: [3], 3: [3, 4], 4: [2, 5], 5: [6, 7], 6: [7], 7: [6, 8], 8: []}
        self.assertEqual(loop_truth.natural_loops(1, edges), ({2, 3}, {6, 7}))
