"""hpcviewer on a larger database: what it reads and writes, and that long passes show how far they are
and can be stopped. Nothing here looks at how long things take; `make bench BENCH=viewer` does, on
2,000,000 contexts and 256 threads."""
import pathlib
import re
import tempfile
import unittest

import profiling
import v4_big
import viewer
from viewer_driver import Driver

CONTEXTS, THREADS = 60_000, 8
FAST_CLOCK = profiling.TOOLS / "fast-clock.so"
SANITIZED = b"__asan_init" in viewer.VIEWER.read_bytes()
# A screen of 120 x 40 with colors.
SCREEN = 3 * 120 * 40


class Large(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(tempfile.TemporaryDirectory())
        v4_big.write_big(cls.db, CONTEXTS, THREADS)
        cls.size = sum(file.stat().st_size for file in pathlib.Path(cls.db).iterdir())

    def start(self, *options, **more):
        driver = self.enterContext(Driver([viewer.VIEWER, *(options or ["--closed"]), self.db], **more))
        self.assertIn(b"?:help", driver.first.output)
        return driver

    @unittest.skipIf(SANITIZED, "sanitizers need memory of their own")
    def test_the_first_screen_needs_little_memory(self):
        """Closed, the tree: 26 bytes for each context; the rest of the viewer needs less than half of that here. Open
        along the hot path, with the first line of the advice, which passes over all contexts: also the rows."""
        own, _ = self.start().memory()
        self.assertLess(own, 42 * CONTEXTS)
        own, _ = self.start("--no-config").memory()
        self.assertLess(own, (42 + 2 * 16 + 8) * CONTEXTS)

    @unittest.skipIf(SANITIZED, "sanitizers need memory of their own")
    def test_all_views_need_bounded_memory(self):
        driver = self.start()
        before, _ = driver.memory()
        for keys in (b"2", b"3", b"1", b"|thread [0-3]\r", b"2", b"3"):
            driver.press(keys)
        own, _ = driver.memory()
        # The tree, instances of procedures, scopes with the costs of four metrics, the sums of four
        # threads: some 300 bytes for each context.
        self.assertLess(own - before, 600 * CONTEXTS)

    def test_answers_are_small(self):
        """A key that moves by a row writes lines, no key more than some screens."""
        driver = self.start()
        driver.press(b"gjj+")
        for keys, most in ((b"j", 1500), (b"k", 1500), (b"\x06", SCREEN), (b"g", SCREEN),
                           (b"G", SCREEN), (b"4", SCREEN), (b"q", SCREEN), (b">", SCREEN),
                           (b"2", SCREEN), (b"3", SCREEN), (b"1", SCREEN)):
            answer = driver.press(keys)
            self.assertGreater(len(answer.output), 0, keys)
            self.assertLess(len(answer.output), most, keys)

    def test_the_node_with_many_children(self):
        """All of them are there, in the order of the sorting."""
        children = [row for row in viewer.printed_json("top-down", "--depth", 3, self.db)["root"]
                    ["children"][0]["children"] if row["name"] == "wide"]
        self.assertEqual([len(row["children"]) for row in children], [CONTEXTS // 20])
        costs = [row["metrics"]["work"]["inclusive"] for row in children[0]["children"]]
        self.assertEqual(costs, sorted(costs, reverse=True))
        driver = self.start()
        driver.press(b"gjj+")
        shown = driver.press(b"j").output + driver.press(b"\x0c").output
        number = int(re.search(rb"4/(\d+)  ", shown)[1])
        self.assertGreater(number, CONTEXTS // 20)

    def test_sums_over_all_threads_are_those_of_the_summary(self):
        options = ("--depth", 4, "--min-percent", "0.01", self.db)
        everything = viewer.printed_json("top-down", *options)["root"]
        of_threads = viewer.printed_json("top-down", "--threads", "thread", *options)["root"]
        self.assertEqual(len(list(viewer.rows_of(of_threads))),
                         len(list(viewer.rows_of(everything))))
        self.assertTrue(of_threads == everything)

    def with_fast_clock(self):
        """Passes take long, by the viewer's clock."""
        return self.start(environment={"LD_PRELOAD": str(FAST_CLOCK)})

    def test_advice_is_on_the_threads_in_view(self):
        driver = self.start()
        efforts = []
        for keys in (b"g", b"|thread [0-3]$\r", b"|\x15\r"):
            driver.press(keys)
            efforts.append(int(re.search(rb"effort of (\d+)", driver.press(b"a").output)[1]))
            driver.press(b"q")
        self.assertLess(efforts[1], efforts[0])
        self.assertEqual(efforts[2], efforts[0])

    def finds(self, driver, keys):
        """The number of matches of a search, of which the keys find the first one."""
        driver.press(keys)
        for n in range(1, 100):
            if b"wrapped around" in driver.press(b"n").output:
                return n
        self.fail("a search without an end")

    def test_far_matches(self):
        """A search that has looked at many rows in vain finds out where the others are; when other threads are chosen,
        again."""
        driver, other, only, of_threads = self.start(), self.start(), b"&procedure_17.$\r", b"|thread [0-3]$\r"
        matches = int(re.search(rb"(\d+) rows match", driver.press(only).output)[1])
        screens = []
        for at, keys in ((driver, of_threads), (other, of_threads + only)):
            at.press(keys)
            at.press(b"gjjG")
            screens.append(at.press(b"\x0c").output)
        self.assertIn(b"procedure_17", screens[0])
        self.assertEqual(*screens)
        driver = self.start()
        driver.press(b"/nosuchname\r")
        driver.press(b"k")  # which clears the status line
        self.assertIn(b"not found: nosuchname", driver.press(b"N").output)
        self.assertEqual(self.finds(driver, b"g/procedure_17.$\r"), matches)

    @unittest.skipIf(SANITIZED, "sanitizers want to be the first library")
    def test_progress(self):
        driver = self.with_fast_clock()
        for keys, what in ((b"2", b"adding up callers"), (b"3", b"adding up scopes"),
                           (b"|thread [0-3]\r", b"looking for what threads ran")):
            answer = driver.press(keys)
            self.assertIn(what, answer.output)
            self.assertNotIn(b"reading all calling contexts", answer.output)  # only when it was opened
            percentages = answer.progress()
            self.assertTrue(percentages, keys)
            self.assertLessEqual(max(percentages), 100)

    @unittest.skipIf(SANITIZED, "sanitizers want to be the first library")
    def test_escape_stops(self):
        """What is shown stays; the next time it can be done."""
        for keys, sign in ((b"2", b"procedures"), (b"3", b"/usr/lib/libpart"),
                           (b"|thread [0-3]\r", b"4 of 8")):
            driver = self.with_fast_clock()
            answer = driver.press(keys + b"\x1b")
            self.assertIn(b"stopped", answer.output, keys)
            again = driver.press(b"\x0c").output  # the whole screen
            self.assertIn(b"main thread", again)
            self.assertNotIn(b"of 8)", again)
            done = driver.press(keys)
            self.assertNotIn(b"stopped", done.output)
            self.assertNotIn(b"main thread", driver.press(b"\x0c").output if keys in b"23" else b"")
            self.assertEqual(driver.program.poll(), None)

    @unittest.skipIf(SANITIZED, "sanitizers want to be the first library")
    def test_advice_stops(self):
        driver = self.with_fast_clock()
        stopped = driver.press(b"a\x1b").output
        self.assertIn(b"stopped", stopped)
        self.assertNotIn(b"Idleness is", stopped)
        self.assertIn(b"Idleness is", driver.press(b"a").output)
