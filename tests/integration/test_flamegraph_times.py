"""The costs by time of a flame graph's page: their sums are those of its frames, and each is in the bin of its time."""
import pathlib
import random
import re
import tempfile
import unittest
from collections import Counter

import timeline_writer as tw
import viewer
from test_viewer_export import flamegraph_frames
from test_viewer_range import Recorded
from test_viewer_timeline import Phases

ELEMENT = re.compile(r'<script type="text/plain" id="times" data-from="([\d.]+)" data-to="([\d.]+)" data-bins="(\d+)">'
                     r'([\d ;]*)</script>\n')
BINS, MILLION = 120, 10**6


class Times:
    """The costs of a page's frames by bin, in millionths of the whole."""

    def __init__(self, page):
        self.size = len(page)
        self.frames = [path[-1] for path in flamegraph_frames(page)]
        self.element = ELEMENT.search(page)
        if not self.element:
            return
        self.begin, self.end, self.n = float(self.element[1]), float(self.element[2]), int(self.element[3])
        self.bins = [dict(zip(*[map(int, text.split())] * 2)) for text in self.element[4].split(";")]
        self.bins += [{}] * (len(self.frames) - len(self.bins))

    def of(self, name):
        """The sum of all frames of that name."""
        found = Counter()
        for frame, bins in zip(self.frames, self.bins):
            if frame.name == name:
                found.update(bins)
        return found


class FlamegraphTimes(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def page(self, phases, *options, view="top-down"):
        db = self.folder / "db"
        if not db.exists():
            phases.write(db)
        return Times(viewer.printed(view, "--format", "flamegraph", *options, db))

    def check_sums(self, times):
        self.assertEqual(len(times.bins), len(times.frames))
        whole = times.frames[0].total
        for frame, bins in zip(times.frames, times.bins):
            self.assertAlmostEqual(sum(bins.values()), MILLION * frame.own / whole, delta=1.5 + MILLION / whole, msg=frame.name)

    def test_times_and_sums(self):
        times = self.page(Phases())
        self.check_sums(times)
        self.assertEqual((times.begin, times.end, times.n), (0, 1, BINS))
        self.assertEqual(set(times.of("assemble")), set(range(0, 48)))
        self.assertEqual(set(times.of("kernel")), set(range(48, 96)))
        self.assertEqual(set(times.of("solve")), set(range(48, 96)))
        first, last = times.of("kernel")[50], times.of("kernel")[90]  # on two threads, then on one
        self.assertAlmostEqual(first / last, 2, delta=0.01)
        self.assertEqual(times.of("join"), {})

    def test_other_metrics(self):
        times = self.page(Phases(), "--sort", "waiting")
        self.check_sums(times)
        self.assertEqual(set(times.of("join")), set(range(96, 120)))
        recorded = self.folder / "recorded"
        Recorded(4).write(recorded)
        for metric in "effort", "idleness", "wall", "lock blame":
            self.check_sums(Times(viewer.printed("top-down", "--format", "flamegraph", "--sort", metric, recorded)))
        self.assertIsNone(Times(viewer.printed("top-down", "--format", "flamegraph", "--sort", "lock wait", recorded)).element)

    def test_pieces_and_threads(self):
        times = self.page(Phases(), "--from", "0.5s", "--to", "0.75s")
        self.check_sums(times)
        self.assertEqual((times.begin, times.end), (0.5, 0.75))
        self.assertEqual(set(times.of("kernel")), set(range(times.n)))
        times = self.page(Phases(), "--threads", "/72$")
        self.check_sums(times)
        self.assertEqual(set(times.of("kernel")), set(range(48, 84)))
        times = self.page(Phases(), "--during", "inner")
        self.check_sums(times)
        self.assertEqual((times.begin, times.end), (0.2, 0.3))

    def test_frames_that_are_not_shown(self):
        """Their costs are those of the frame around them."""
        phases = Phases()
        tiny = phases.db.function("tiny", phases.db.module("/home/user/phases"), 999)
        phases.contexts["tiny"] = phases.contexts["assemble"].call(tiny)
        phases.contexts["tiny"].charge(5e-6, 0, 3)
        phases.places["tiny"] = len(phases.places)
        phases.line.record(3, 900_000_000, 5000, tw.WORK, phases.places["tiny"])
        for options in (), ("--min-percent", "0"):
            times = self.page(phases, *options)
            self.assertAlmostEqual(sum(map(sum, map(dict.values, times.bins))), MILLION, delta=len(times.frames))
            self.assertEqual(set(times.of("assemble")), {*range(48), 107})
            self.assertNotIn("tiny", {frame.name for frame in times.frames})

    def test_the_page_is_at_most_twice_as_large(self):
        phases, rng = Phases(), random.Random(3)
        for frame in ("assemble", "solve", "kernel", "join"):
            for at in range(100):
                for _ in range(3):
                    phases.contexts[frame].charge(0.001, 0, 2)
        phases.line.threads[2] = []
        for at in range(1, 1200):
            place = rng.choice(("assemble", "solve", "kernel", "join"))
            phases.line.record(2, at * 800_000, rng.randint(1, 800_000), tw.WORK, phases.places[place])
        times = self.page(phases)
        self.assertIn(times.n, (60, 30, 15))
        self.assertLessEqual(2 * len(times.element[4]), times.size)
        self.assertGreaterEqual(max(max(bins, default=0) for bins in times.bins), times.n * 9 // 10)

    def test_pages_without(self):
        for options in ({"view": "bottom-up"}, {"view": "flat"}):
            self.assertIsNone(self.page(Phases(), **options).element)
        for options in (("--fold-inlined",), ("--collapse-recursion",), ("--sort", "ready")):
            self.assertEqual(self.page(Phases(), *options).element is None, options != ("--sort", "ready"))


if __name__ == "__main__":
    unittest.main()
