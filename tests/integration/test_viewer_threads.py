"""hpcviewer by thread: views restricted to some threads, and the costs of a scope in each thread (key 4), both
checked against view_oracle, which computes them from the costs charged to each thread."""
import json
import math
import os
import pathlib
import re
import statistics
import struct
import tempfile
import unittest

import v4_writer
import viewer
import viewer_screen
import viewer_story as story
from test_viewer_views import LAYOUTS
from view_oracle import ByThread, Oracle
from viewer_screen import bars

METRICS = ("work", "misses")
N_PROFILES = 5


def restrict(db, profiles):
    """Keeps the costs of these profiles, and the contexts in which they have samples."""
    for context in db.contexts():
        context.charges = {(profile, metric): value
                           for (profile, metric), value in context.charges.items()
                           if profile in profiles}
    for context in list(db.contexts()):
        context.children = [c for c in context.children if any(b.charges for b in c.below())]
    db.entries = [e for e in db.entries if any(b.charges for b in e.below())]


class Restricted(unittest.TestCase):
    """--threads."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_views_are_sums_over_the_threads(self):
        for seed in range(16):
            layout = LAYOUTS[seed % len(LAYOUTS)]
            profiles = [(1,), (2, 4), (1, 2, 3, 4, 5), (5, 3)][seed // 4]
            with self.subTest(seed=seed, layout=layout, profiles=profiles):
                db = viewer.random_database(seed, 150, METRICS, N_PROFILES)
                v4_writer.write_database(db, self.folder.name, layout)
                restrict(db, profiles)
                self.db = self.folder.name
                regex = f"thread ({'|'.join(str(p - 1) for p in profiles)})$"
                for shown in viewer.checked_views(self, Oracle(db), "--threads", regex,
                                                  "--metrics", ",".join(METRICS)):
                    self.assertTrue(shown["children"])

    def test_metrics_that_share_their_ids(self):
        """A damaged database: the values of threads of one metric have the ids of the other's."""
        db = viewer.random_database(3, 60, METRICS, N_PROFILES)
        v4_writer.write_database(db, self.folder.name)
        path = pathlib.Path(self.folder.name, "meta.db")
        meta = bytearray(path.read_bytes())
        section, = struct.unpack_from("<Q", meta, 16 + 2 * 16 + 8)  # header, two sections, size
        at, _, size, of_instance = struct.unpack_from("<QIBB", meta, section)
        first, second = (struct.unpack_from("<8xQ8xH", meta, at + i * size) for i in range(2))
        for scope in range(second[1]):
            there, here = (instances + scope * of_instance + 8 for instances, _ in (first, second))
            meta[here:here + 2] = meta[there:there + 2]
        path.write_bytes(meta)
        root = viewer.printed_json("top-down", "--threads", "thread 0", self.folder.name)["root"]
        self.assertGreater(root["metrics"]["work"]["inclusive"], 0)
        self.assertEqual(root["metrics"]["misses"], root["metrics"]["work"])

    def test_table_of_threads(self):
        db = viewer.random_database(1, 100, METRICS, N_PROFILES)
        v4_writer.write_database(db, self.folder.name)
        everything = viewer.printed_json("threads", self.folder.name)["threads"]
        self.assertEqual(len(everything), N_PROFILES)
        for regex, kept in (("THREAD [13]", [1, 3]), ("process 71", [0, 1, 2, 3, 4]),
                            ("^NODE 7 .* THREAD 4$", [4])):
            shown = viewer.printed_json("threads", "--threads", regex, self.folder.name)
            self.assertEqual(shown["threads"], [everything[i] for i in kept])
            for metric in METRICS:
                values = [everything[i]["metrics"][metric] for i in kept]
                self.assertEqual(shown["statistics"]["sum"][metric], sum(values))
                self.assertEqual(shown["statistics"]["max"][metric], max(values))
            self.assertIn(f"({len(kept)} of {N_PROFILES})", shown["title"])

    def test_names_of_run_json(self):
        story.write(self.folder.name, with_sources=False)
        for regex, work in (("worker", 2.5), ("^xz 71/71$", 7.5), ("71/7[12]", 10.0),
                            ("XZ|xz-WORKER", None), ("Worker", None)):
            done = viewer.run("--print", "top-down", "--format", "json", "--threads", regex,
                              self.folder.name)
            if work is None:  # it has upper case, and so counts
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"no thread matches '{regex}'; one is called 'xz-worker 71/72'",
                              done.stderr)
            else:
                root = json.loads(done.stdout)["root"]
                self.assertEqual(root["metrics"]["work"]["inclusive"], work)

    def test_ranks_and_hosts(self):
        """Threads of a parallel job can be distinguished by rank and host."""
        folder = self.folder.name
        story.write(folder, with_sources=False)
        run = json.loads(json.dumps(story.RUN))
        first = run["processes"][0]
        second = dict(first, index=1, host="node2", pid=99, rank=3, threads=[first["threads"][1]])
        first.update(host="node1", rank=2, threads=[first["threads"][0]])
        run["processes"].append(second)
        with open(os.path.join(folder, "run.json"), "w") as file:
            json.dump(run, file)
        for regex, work in (("^rank 3 on node2: xz-worker 99/72$", 2.5), ("node1", 7.5)):
            root = viewer.printed_json("top-down", "--threads", regex, folder)["root"]
            self.assertEqual(root["metrics"]["work"]["inclusive"], work)

    def test_what_cannot_be(self):
        story.write(self.folder.name, with_sources=False)
        for view, regex, said in (("flat", "(", "Unmatched"), ("flat", "nobody", "no thread matches"),
                                  ("summary", "xz", "the summary is about the whole run")):
            done = viewer.run("--print", view, "--threads", regex, self.folder.name)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr.splitlines()[0])


def identity(row):
    site = row.get("call_site")
    return (row["kind"], row["name"], (site["file"] or "", site["line"] or 0) if site else None)


def rows_with_paths(row, above=()):
    path = above + (identity(row),)
    yield path, row
    for child in row["children"]:
        yield from rows_with_paths(child, path)


SPREAD = re.compile(r"^min (\S+)  mean (\S+)  median (\S+)  max (\S+)  stddev (\S+)"
                    r"(?:  max/mean (\S+))?$")


class Page(unittest.TestCase):
    """Key 4 in the terminal."""

    def start(self, folder, *arguments, **more):
        return viewer_screen.start(self, *arguments, folder, **more)

    def check_bars(self, lines, expected):
        """The page shows these values, by profile, in descending order."""
        shown_bars = bars(lines)
        self.assertEqual(len(shown_bars), len(expected), "\n".join(lines))
        shown = {int(bar["label"].split()[-1]) + 1: float(bar["value"].replace("<1", "0.5"))
                 for bar in shown_bars}
        most, total = max(expected.values()), sum(expected.values())
        for profile, value in expected.items():
            self.assertAlmostEqual(shown[profile], value, delta=max(0.51, most * 1e-3),
                                   msg="\n".join(lines))
        order = [expected[int(bar["label"].split()[-1]) + 1] for bar in shown_bars]
        self.assertEqual(order, sorted(order, reverse=True))
        for bar, value in zip(shown_bars, order):
            percent = float((bar["percent"] or "0").replace("<0.1", "0.05"))
            self.assertAlmostEqual(percent, 100 * value / total if total else 0, delta=0.06)
            self.assertEqual(bool(bar["bar"]), value > 0)
        lengths = [len(bar["bar"]) for bar in shown_bars]
        if most:
            room = lengths[0]
            for length, value in zip(lengths, order):
                self.assertLessEqual(abs(length - room * value / most), 1)

    def are_shown(self, lines, expected):
        """check_bars, repeated while the screen may still be drawn."""
        try:
            self.check_bars(lines, expected)
        except (AssertionError, KeyError):
            return False
        return True

    def check_view(self, terminal, folder, key, view, oracle, most):
        """Every row of a view, in every column; the first `most` rows."""
        printed = viewer.printed_json(view, folder)["root"]
        expected = {}
        for path, row in rows_with_paths(oracle):
            expected.setdefault(path, []).append(row["metrics"])
        terminal.press(key, "g")
        for index, (path, row) in enumerate(list(rows_with_paths(printed))[:most]):
            # The costs of its threads distinguish rows of one path.
            wanted = [r for r in expected[path]
                      if all(math.isclose(sum(r[m, p][part] for p in range(1, N_PROFILES + 1)),
                                          row["metrics"][m][part])
                             for m in METRICS for part in ("inclusive", "exclusive"))]
            self.assertTrue(wanted, path)
            lines = terminal.press_until("+ 4", "hpcviewer: threads:", "q:back")
            part = "exclusive" if "exclusive" in lines[1] else "inclusive"
            metric = lines[1].split(",")[0]
            for _ in range(4):
                values = {p: wanted[0][metric, p][part] for p in range(1, N_PROFILES + 1)}
                terminal.until(
                    lambda at: at[1].startswith(metric) and part in at[1] and
                    (len(wanted) > 1 or self.are_shown(at, values)), (metric, part, values))
                if part == "exclusive":
                    metric = METRICS[1 - METRICS.index(metric)]
                part = "exclusive" if part == "inclusive" else "inclusive"
                terminal.press(">")
            terminal.press("q", "Down")
            terminal.until(lambda at: any(re.match(rf"{index + 2}/\d+ ", line + " ") for line in at)
                           or index + 1 == most or any(f"{index + 1}/{index + 1}" in line
                                                       for line in at), index + 2)

    def check_database(self, layout=None):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        db = viewer.random_database(7, 60, METRICS, N_PROFILES)
        v4_writer.write_database(db, folder, layout)
        oracle = ByThread(db)
        terminal = self.start(folder, height=50, width=100)
        self.check_view(terminal, folder, "1", "top-down", oracle.topdown(), 12)
        self.check_view(terminal, folder, "2", "bottom-up", oracle.bottomup(4), 12)
        self.check_view(terminal, folder, "3", "flat", oracle.flat(), 16)

    def test_every_row_of_every_view(self):
        self.check_database()

    def test_shuffled_ids(self):
        self.check_database(v4_writer.Layout(ids="shuffled"))

    def uneven(self):
        """12 threads; a procedure that costs thread i (i + 1)^2 / 4."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        db = v4_writer.Database("uneven", ["work"], 12)
        f = db.function("f", db.module("/bin/p"), 0, db.file("f.c"), 1)
        line = db.entry().call(f).statement(0, 2)
        values = [(i + 1) ** 2 / 4 for i in range(12)]
        for i, value in enumerate(values):
            line.charge(value, profile=i + 1)
        v4_writer.write_database(db, folder)
        return folder, values

    def test_statistics(self):
        folder, values = self.uneven()
        terminal = self.start(folder, height=30)
        terminal.press("4")
        lines = terminal.until(lambda at: SPREAD.match(at[2].rstrip()), "statistics")
        shown = [float(v) for v in SPREAD.match(lines[2].rstrip()).groups()]
        expected = [min(values), statistics.mean(values), statistics.median(values), max(values),
                    statistics.pstdev(values), max(values) / statistics.mean(values)]
        for number, exact in zip(shown, expected):
            self.assertAlmostEqual(number, exact, delta=0.006)

    def labels(self, terminal, order):
        lines = terminal.until(
            lambda at: at[1].rstrip().endswith(order) and len(bars(at)) == 12, order)
        return [int(bar["label"].split()[-1]) for bar in bars(lines)]

    def test_orders(self):
        folder, _ = self.uneven()
        terminal = self.start(folder, height=30)
        terminal.press("4")
        self.assertEqual(self.labels(terminal, ", by value"), list(range(11, -1, -1)))
        terminal.press("r")
        self.assertEqual(self.labels(terminal, ", by value, reversed"), list(range(12)))
        terminal.press("s")
        self.assertEqual(self.labels(terminal, ", in their order"), list(range(12)))
        terminal.press("s")
        self.assertEqual(self.labels(terminal, ", by name"), sorted(range(12), key=str))
        terminal.press("s")
        self.assertEqual(self.labels(terminal, ", by value"), list(range(11, -1, -1)))

    def test_derived_metrics(self):
        """A formula is computed for each thread; where it is not defined the value is -."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        db = v4_writer.Database("derived", METRICS, 4)
        f = db.function("f", db.module("/bin/p"), 0, db.file("f.c"), 1)
        line = db.entry().call(f).statement(0, 2)
        values = {1: (8, 2), 2: (6, 3), 3: (5, 0), 4: (0, 1)}
        for profile, charges in values.items():
            for metric, value in enumerate(charges):
                line.charge(value, metric, profile) if value else None
        v4_writer.write_database(db, folder)
        for formula, expected in (("$work + $misses", {1: 10, 2: 9, 3: 5, 4: 1}),
                                  ("$work / $misses", {1: 4, 2: 2, 3: None, 4: 0}),
                                  ("$work / @work", {1: 8 / 19, 2: 6 / 19, 3: 5 / 19, 4: 0})):
            terminal = self.start(folder, "--derive", f"x = {formula}")
            terminal.press("j", "<", "<", "4")  # from the first metric back to the last
            lines = terminal.until(lambda at: at[1].startswith("x") and len(bars(at)) == 4, "x")
            if "inclusive" not in lines[1]:
                terminal.press("<")
                lines = terminal.until(lambda at: "inclusive" in at[1] and
                                       len(bars(at)) == 4, "inclusive")
            shown = [(int(bar["label"].split()[-1]) + 1, bar["value"], bar["percent"])
                     for bar in bars(lines)]
            order = sorted(expected, key=lambda p: (expected[p] is None, -(expected[p] or 0), p))
            self.assertEqual([profile for profile, _, _ in shown], order)
            for profile, value, percent in shown:
                if expected[profile] is None:
                    self.assertEqual((value, percent), ("-", None))
                else:
                    self.assertAlmostEqual(float(value), expected[profile], delta=0.001)
            spread = [float(v) for v in SPREAD.match(lines[2].rstrip()).groups()]
            defined = [value for value in expected.values() if value is not None]
            self.assertAlmostEqual(spread[1], statistics.mean(defined), delta=0.01)
            self.assertAlmostEqual(spread[3], max(defined), delta=0.01)

    def test_table_and_way_back(self):
        folder, _ = self.uneven()
        printed = viewer.printed("threads", folder).splitlines()
        terminal = self.start(folder, height=40, width=120)
        terminal.press("j", "4", "T")
        terminal.until(lambda at: [line.rstrip() for line in at[1:len(printed) + 1]] ==
                       [line.rstrip() for line in printed], printed)
        for key in ("q", "q"):
            terminal.press(key)
        terminal.until_seen("2/", "?:help")

    def test_one_thread(self):
        """Enter shows the sums of one thread; the row stays selected; an empty | undoes it."""
        folder, values = self.uneven()
        terminal = self.start(folder)
        terminal.press_until("j j 4", "hpcviewer: threads: f")
        terminal.press_until("Enter", "1 of 12 threads: NODE 7 PROCESS 71 THREAD 11", "?:help")
        terminal.until(lambda at: any(re.search(r"\b36 100.0%.* f  f.c:1", line) for line in at), 36)
        terminal.press_until("C-l", "3/4  main thread > f")
        terminal.press_until("| C-u Enter", "all threads")
        self.assertEqual(round(sum(values)), 162)
        terminal.until(lambda at: any(re.search(r"\b162 100.0%.* f  f.c:1", line) for line in at), 162)

    def test_back(self):
        """q goes back to all threads, and to the page on which Enter chose one."""
        folder, _ = self.uneven()
        terminal = self.start(folder)
        terminal.press_until("j j 4", "hpcviewer: threads: f")
        terminal.press_until("Enter", "1 of 12 threads: NODE 7 PROCESS 71 THREAD 11  (q: all threads)")
        terminal.press_until("q", "hpcviewer: threads: f")
        terminal.press("q")
        terminal.until(lambda at: any(re.search(r"\b162 100.0%.* f  f.c:1", line) for line in at), 162)
        terminal.answer("|", "thread [0-3]$").until_seen("threads: thread [0-3]$ (4 of 12)")
        terminal.press("q")
        terminal.until(lambda at: any(re.search(r"\b162 100.0%.* f  f.c:1", line) for line in at), 162)
        terminal.press_until("q", "ended 0")

    def test_threads_of_the_command_line_stay(self):
        folder, _ = self.uneven()
        terminal = self.start(folder, "--threads", "thread [0-3]$")
        terminal.press_until("q", "ended 0")

    def test_regular_expressions(self):
        folder, values = self.uneven()
        terminal = self.start(folder, width=120)
        terminal.answer("|", "thread [0-3]$")
        terminal.until_seen("4 of 12 threads: thread [0-3]$", "threads: thread [0-3]$ (4 of 12)")
        for key, view in (("2", "bottom-up"), ("3", "flat"), ("1", "top-down")):
            terminal.press(key)
            root = viewer.printed_json(view, "--threads", "thread [0-3]$", folder)["root"]
            self.assertEqual(root["metrics"]["work"]["inclusive"], sum(values[:4]))
            terminal.until(lambda at: any(re.match(r" +8 100.0%.*<whole program>", line)
                                          for line in at), "8")
        for typed, said in (("(", "Unmatched"), ("nothing", "no thread matches 'nothing'")):
            terminal.answer("|", "C-u", typed).until_seen(said, "threads: thread [0-3]$ (4 of 12)")
        terminal.press_until("| C-u Escape", "threads: thread [0-3]$ (4 of 12)", "1/")

    def test_both_projections(self):
        """The other projection shows the same threads, opened before or not."""
        for before in ((), ("p", "p")):
            folder = self.enterContext(tempfile.TemporaryDirectory())
            story.write(folder)
            terminal = self.start(folder)
            terminal.press(*before) if before else None
            terminal.until_seen("[logical]")
            terminal.answer("|", "xz 71/71").until_seen("1 of 2 threads", "7.500 100.0%")
            terminal.press_until("p", "1.500 100.0%", "_start")

    def test_sizes_and_ascii(self):
        folder, _ = self.uneven()
        terminal = self.start(folder, environment={"LC_ALL": "C"})
        terminal.press("4")
        lines = terminal.until(lambda at: len(bars(at)) == 12, "bars")
        self.assertIn("#", bars(lines)[0]["bar"])
        self.assertTrue(all(ord(c) < 128 for line in lines for c in line))
        for width, height in ((40, 10), (20, 4), (5, 2), (100, 30)):
            terminal.resize(width, height)
            terminal.until(lambda at: len(at[0].rstrip()) <= width, "smaller")
        terminal.until_seen("by value")
