"""The time view: cells of random records against sums in rational numbers, and a run of known phases in every
format and on the screen."""
import fcntl
import json
import math
import os
import re
import pathlib
import pty
import struct
import subprocess
import tempfile
import termios
import unittest
import xml.dom.minidom
from collections import defaultdict
from fractions import Fraction

import test_viewer_mouse
import timeline_writer as tw
import v4_writer
import viewer
from terminal import HAVE_TMUX
from test_viewer_range import Recorded
from test_viewer_tui import InTerminal

STATES = {tw.WORK: "work", tw.OVERHEAD: "overhead", tw.WAITING: "waiting", tw.IDLE: "idle",
          tw.NOBODY: "nobody working", tw.RUNTIME: "runtime", tw.READY: "ready", tw.OFF_CPU: "off CPU",
          tw.DROPPED: "dropped"}
MS = 10**6
PERIOD = 10 * MS


class Phases:
    """Threads 1 to 3, for a second: `assemble` on the first one, then `kernel` on all. Each tuple: from and to in
    periods, a state, a place."""
    PHASES = {1: [(0, 40, tw.WORK, "assemble"), (40, 80, tw.WORK, "kernel"), (80, 100, tw.WAITING, "join")],
              2: [(0, 40, tw.IDLE, None), (40, 70, tw.WORK, "kernel"), (70, 100, tw.IDLE, None)],
              3: [(0, 40, tw.NOBODY, None), (40, 80, None, "solve")]}  # None: a quarter is work, the rest ready
    # Of the program, by thread; from and to in seconds from the begin of the process, None: it did not end.
    REGIONS = {1: [("build", 0.1, 0.4), ("inner", 0.2, 0.3)], 2: [("tail", 0.9, None)]}

    def __init__(self, event="REALTIME", names=None, stripped=False):
        """`names`: of functions in the database, if others than in PHASES. Stripped: without _start and source files."""
        self.event, names = event, names or {}
        self.db = db = v4_writer.Database("phases", ("work", "waiting", "ready"), 4)
        module, file = db.module("/home/user/phases"), db.file("/home/user/phases.c")
        libc = db.module("/lib/x86_64-linux-gnu/libc.so.6")
        functions = {name: db.function(names.get(name, name), module, 16 * i, *(() if stripped else (file, 10 * i)))
                     for i, name in enumerate(("main", "assemble", "solve", "kernel", "join"), 1)}
        start = db.entry(1, "main thread").call(db.function("<phases+0x8>" if stripped else "_start", module, 8)).call(
            db.function("__libc_start_main", libc, 8, db.file("csu/libc-start.c"), 1))
        main = start.call(functions["main"])
        solve = main.call(functions["solve"]).statement(file, 33)  # which calls kernel
        self.contexts = {"assemble": main.call(functions["assemble"]), "solve": solve,
                         "kernel": solve.call(functions["kernel"]).statement(file, 42),
                         "join": main.call(functions["join"])}
        self.line, self.records = tw.Timeline(), []  # (profile, begin, end, state, place)
        self.places = {name: i for i, name in enumerate([None, *self.contexts])}
        for profile, phases in self.PHASES.items():
            for since, until, state, place in phases:
                for at in range(since, until):
                    self.add(profile, at * PERIOD, state, place)

    def add(self, profile, begin, state, place):
        parts = [(Fraction(1), state)] if state else [(Fraction(1, 4), tw.WORK), (Fraction(3, 4), tw.READY)]
        for part, of in parts:
            self.line.record(profile, begin + PERIOD, part * PERIOD, of, self.places[place])
            self.records.append((profile, begin, begin + PERIOD, part * PERIOD, of, place))
            if place:
                metric = 0 if of == tw.WORK else 1 if of == tw.WAITING else 2
                self.contexts[place].charge(float(part) / 100, metric, profile)

    def write(self, folder):
        v4_writer.write_database(self.db, folder)
        self.line.places = [(self.contexts[name].id, 0, 4, 2, 0, 0) if name else (0,) * 6 for name in self.places]
        self.line.threads.setdefault(4, [])  # a thread without records
        self.line.write(pathlib.Path(folder))
        threads = [{"profile": i, "tid": 70 + i, "name": "t", "start_routine": "run" if i > 1 else "",
                    "regions": [{"name": name, "begin": begin - 0.05, "end": end and end - 0.05}
                                for name, begin, end in self.REGIONS.get(i, ())]} for i in (1, 2, 3, 4)]
        viewer.describe_run(folder, viewer.measured(*self.db.metrics, event=self.event),
                            events=[{"name": self.event, "unit": "s", "period": 0.01}],
                            processes=[{"pid": 70, "command": "phases", "executable": "/home/user/phases", "time_line_begin": 0.05,
                                        "threads": threads}])

    def seconds(self, key):
        """Sums of the records by a key of (profile, begin, end, amount, state, place)."""
        sums = defaultdict(Fraction)
        for record in self.records:
            sums[key(*record)] += record[3] / 10**9
        return {k: float(v) for k, v in sums.items()}


def slices_of(test, trace):
    """Seconds by (tid, name) of Chrome's trace events; slices are nested in each thread, and ascending in time."""
    stacks, last, found = defaultdict(list), defaultdict(float), defaultdict(float)
    for event in trace["traceEvents"]:
        test.assertIn(event["ph"], "MBECbe")
        if event["ph"] not in "BE":
            continue
        thread = event["pid"], event["tid"]
        test.assertGreaterEqual(event["ts"], last[thread])
        for name in {name for name, _ in stacks[thread]}:
            found[event["tid"], name] += (event["ts"] - last[thread]) / 1e6
        last[thread] = event["ts"]
        if event["ph"] == "B":
            stacks[thread].append((event["name"], event["cat"]))
        else:
            test.assertEqual(stacks[thread].pop(), (event["name"], event["cat"]))
    test.assertFalse(any(stacks.values()))
    return found


class OfPhases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.db = self.folder.name
        self.phases = Phases()
        self.phases.write(self.db)

    def assert_sums(self, found, expected):
        self.assertEqual(set(found), set(expected))
        for key, value in expected.items():
            self.assertAlmostEqual(found[key], value, delta=1e-6, msg=key)


class Cells(OfPhases):
    """JSON."""

    def test_random_records(self):
        for seed in 1, 2, 3:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                recorded = Recorded(seed, wall_time=seed != 2)
                recorded.write(folder)
                self.check_cells(recorded, viewer.printed_json("timeline", folder), Fraction(recorded.end, 100), 0)
                begin, end = recorded.end // 3, recorded.end // 2
                piece = viewer.printed_json("timeline", "--from", f"{begin / 1e9:.9f}s", "--to", f"{end / 1e9:.9f}s",
                                            folder)
                self.check_cells(recorded, piece, Fraction(end - begin, 100), begin)

    def check_cells(self, recorded, shown, column, begin):
        """All states of all threads in all columns, which begin and end at whole nanoseconds."""
        expected = defaultdict(lambda: [0.0] * 100)
        for profile, since, until, amount, word, _ in recorded.records:
            for i in range(max(0, math.floor((since - begin) / column)), min(100, math.ceil((until - begin) / column))):
                inside = min(until, begin + (i + 1) * column) - max(since, begin + i * column)
                if inside > 0:
                    expected[profile, STATES[word & 15]][i] += float(Fraction(amount, 1024) * inside / (until - since))
        found = {(thread["profile"], state): amounts
                 for thread in shown["threads"] for state, amounts in thread["states"].items()}
        self.assertEqual(set(found), set(expected))
        for key, amounts in expected.items():
            for i, amount in enumerate(amounts):
                self.assertAlmostEqual(found[key][i] * 1e9, amount, delta=4, msg=(key, i))
        for i, working in enumerate(shown["strip"]["working"]):
            threads = sum(expected[profile, "work"][i] for profile in (1, 2, 3)) / float(column)
            self.assertAlmostEqual(working, threads, delta=1e-3)

    def test_phases(self):
        shown = viewer.printed_json("timeline", self.db)
        self.assertEqual([t["thread"] for t in shown["threads"]], ["t 70/71", "t 70/72", "t 70/73"])
        self.assertEqual((shown["event"], shown["unit"], shown["from"], shown["to"]), ("REALTIME", "s", 0, 1))
        for column in range(100):
            working = 1 if column < 40 else 2.25 if column < 70 else 1.25 if column < 80 else 0
            self.assertAlmostEqual(shown["strip"]["working"][column], working, delta=1e-5)
            self.assertAlmostEqual(shown["strip"]["cpus"][column], working, delta=1e-5)
            self.assertAlmostEqual(shown["strip"]["ready"][column], 0.75 if 40 <= column < 80 else 0, delta=1e-5)

    def test_procedures_at_a_depth(self):
        """Start code does not count, and of shorter paths the innermost procedure is shown."""
        deeper = {1: ("main", "main", "main"), 2: ("assemble", "solve", "join"), 3: ("assemble", "kernel", "join"),
                  9: ("assemble", "kernel", "join")}
        for depth, names in deeper.items():
            threads = viewer.printed_json("timeline", "--depth", depth, self.db)["threads"]
            first = [cell and cell["name"] for cell in threads[0]["procedures"]]
            self.assertEqual(first, [names[0]] * 40 + [names[1]] * 40 + [names[2]] * 20)
            self.assertEqual([cell is None for cell in threads[1]["procedures"]],
                             [True] * 40 + [False] * 30 + [True] * 30)
            self.assertAlmostEqual(threads[1]["procedures"][50]["amount"], 0.01, delta=1e-8)

    def test_start_code_of_a_stripped_program(self):
        Phases(stripped=True).write(self.db)
        for depth, names in {1: ("main",), 2: ("assemble", "solve", "join")}.items():
            threads = viewer.printed_json("timeline", "--depth", depth, self.db)["threads"]
            self.assertEqual({cell["name"] for cell in threads[0]["procedures"]}, set(names))

    def test_some_threads(self):
        shown = viewer.printed_json("timeline", "--threads", "70/7[13]", self.db)
        self.assertEqual([t["profile"] for t in shown["threads"]], [1, 3])
        self.assertAlmostEqual(sum(shown["strip"]["working"]) / 100, 0.8 + 0.1, delta=1e-5)


class Text(OfPhases):
    def rows(self, text):
        return [line[19:] for line in text.splitlines() if line.startswith("t 70/")]

    def test_states(self):
        """Cells show what has most of their time: a quarter of work is less than the rest."""
        text = viewer.printed("timeline", self.db)
        rows = self.rows(text)
        self.assertRegex(rows[0], r"^#{64,65}w{16,17}$")
        self.assertRegex(rows[1], r"^\.{32,33}#{24,25}\.{24,25}$")
        self.assertRegex(rows[2], r"^\.{32,33}r{31,33}$")
        self.assertRegex(text, r"\nworking +1\.20 .*\nwaiting +0\.20 .*\nidle +1\.10 .*\nready +0\.30 .*\n"
                               r"CPUs used +1\.20 ")
        self.assertNotIn("overhead   ", text.split("# working")[0])
        self.assertIn("0.000 s to 1.000 s of 1.000 s, states, a column is 12.3 ms", text)

    def test_procedures(self):
        text = viewer.printed("timeline", "--depth", 2, self.db)
        self.assertRegex(text, r"\nA solve   B assemble   C join   \. idle\n")
        rows = self.rows(text)
        self.assertRegex(rows[0], r"^B{32,33}A{31,33}C{16,17}$")
        self.assertRegex(rows[2], r"^\.{32,33}A{31,33}$")

    def test_procedures_of_one_name_have_their_lines(self):
        Phases(names={"join": "assemble"}).write(self.db)
        text = viewer.printed("timeline", "--depth", 2, self.db)
        self.assertIn("\nA solve   B assemble (phases.c:20)   C assemble (phases.c:50)   . idle\n", text)

    def test_long_names_keep_begin_and_end(self):
        with viewer.changed_run(self.db) as run:
            run["processes"][0]["threads"][0]["name"] = "assembler-of-all-sparse-matrices-and-vectors"
        text = viewer.printed("timeline", self.db)
        self.assertRegex(text, "\nassembler[a-z-]*….* 70/71 #")

    def test_a_damaged_time_line_is_not_called_missing(self):
        path = pathlib.Path(self.db, "timeline.db")
        path.write_bytes(path.read_bytes()[:30])
        done = viewer.run("--print", "timeline", self.db)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"hpcviewer: {path}: truncated: the header ends early\n"))

    def test_a_damaged_unit_of_times(self):
        """Ticks up to the last time that 64 bits hold would never end."""
        path = pathlib.Path(self.db, "timeline.db")
        self.phases.line.threads[1].append((2**32 - 1, 0, tw.WORK | 1 << 8))
        for unit in 2**32 - 1, 2**24:
            self.phases.line.unit = unit
            self.phases.line.write(pathlib.Path(self.db))
            done = viewer.run("--print", "timeline", self.db)
            self.assertEqual((done.returncode, done.stderr), (1, f"hpcviewer: {path}: corrupt: its times\n"))

    def test_ascii(self):
        text = viewer.printed("timeline", self.db, locale="C")
        self.assertTrue(text.isascii())
        self.assertRegex(text, r"\nready +0\.30 +:?-{30,33}:?\n")

    def test_what_cpu_time_lacks_is_said(self):
        said = "empty: off CPU or ready, not measured; hpcrun -e REALTIME measures it\n"
        self.assertNotIn(said, viewer.printed("timeline", self.db))
        Phases("CPUTIME").write(self.db)
        self.assertIn(said, viewer.printed("timeline", self.db))

    def printed_on_terminal(self, columns, *arguments):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([viewer.VIEWER, "--print", *arguments, self.db], stdout=slave,
                              env=dict(os.environ, LC_ALL="C.UTF-8")) as program:
            os.close(slave)
            written = b""
            try:
                while piece := os.read(master, 65536):
                    written += piece
            except OSError:  # the other end is closed
                pass
            self.assertEqual(program.wait(), 0)
        os.close(master)
        return written.decode().splitlines()

    def test_lines_are_as_wide_as_the_terminal(self):
        for columns in 80, 130:
            lines = self.printed_on_terminal(columns, "timeline")
            self.assertIn(max(map(len, lines)), (columns - 1, columns))
        Phases(names={"assemble": "assemble" * 9}).write(self.db)
        for columns in 80, 130:
            lines = self.printed_on_terminal(columns, "phases")
            self.assertEqual(max(map(len, lines)), columns)
            self.assertEqual("wall" in lines[3], columns > 100)

    def test_phases_have_only_shares_that_there_are(self):
        heads = viewer.printed("phases", self.db).split("\n 1 ")[0]
        for head, is_there in {"work,": True, "wait-": True, "ready": True, "over-": False, "off": False, "idle": False}.items():
            self.assertEqual(head in heads, is_there, head)

    def test_thinned_records_are_said(self):
        self.phases.line.write(pathlib.Path(self.db), step=8)
        self.assertIn("a record stands for up to 8 samples; hpcrun --trace full keeps all\n",
                      viewer.printed("timeline", self.db))

    def test_how_far_clocks_of_hosts_are_apart(self):
        path = pathlib.Path(self.db, "run.json")
        run = json.loads(path.read_text())
        first = run["processes"][0]
        other = dict(first, pid=80, host="b", threads=[first["threads"].pop(2)])
        run["processes"].append(other)
        for host, error, of_other, said in (
                ("b", 0.001, 0.0025, None), ("a", 0.001, 0.0025, "the hosts' clocks are less than 5 ms apart\n"),
                ("a", 16, 0.001, "the hosts' clocks are not synchronized: their rows may be shifted\n"),
                ("a", 0.001, None, "how far the hosts' clocks are apart is not known\n")):
            first.update(host=host, clock_error=error)
            other.update(clock_error=of_other)
            path.write_text(json.dumps(run))
            text = viewer.printed("timeline", self.db)
            self.assertIn(said, text) if said else self.assertNotIn("hosts", text)

    def test_a_database_without_time_line(self):
        pathlib.Path(self.db, "timeline.db").unlink()
        done = viewer.run("--print", "timeline", self.db)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no time line", done.stderr)

    def test_two_databases(self):
        done = viewer.run("--print", "timeline", self.db, self.db)
        self.assertEqual(done.returncode, 2)
        self.assertIn("time lines of two runs cannot be matched", done.stderr)


class OtherPrograms(OfPhases):
    """Formats of others, by their documents."""

    def test_chrome(self):
        trace = json.loads(viewer.printed("timeline", "--format", "chrome", self.db))
        names = {(event["name"], event["tid"]): event["args"]["name"]
                 for event in trace["traceEvents"] if event["ph"] == "M"}
        self.assertEqual((names["thread_name", 72], names["process_name", 72]), ("t 70/72", "phases"))
        self.assert_sums(slices_of(self, trace), {
            (71, "main"): 1, (71, "assemble"): 0.4, (71, "solve"): 0.4, (71, "kernel"): 0.4, (71, "join"): 0.2,
            (71, "waiting"): 0.2, (72, "idle"): 0.7, (72, "main"): 0.3, (72, "solve"): 0.3, (72, "kernel"): 0.3,
            (73, "nobody working"): 0.4, (73, "main"): 0.4, (73, "solve"): 0.4, (73, "ready"): 0.3})
        counts = [event["args"] for event in trace["traceEvents"] if event["ph"] == "C"]
        self.assertAlmostEqual(sum(c["working"] for c in counts) / len(counts), 1.2, delta=1e-4)
        regions = [(event["ph"], event["tid"], event["name"], event["id"], round(event["ts"] / 1e6, 6))
                   for event in trace["traceEvents"] if event["ph"] in "be"]
        self.assertEqual(regions, [("b", 71, "build", 1, 0.1), ("e", 71, "build", 1, 0.4),
                                   ("b", 71, "inner", 2, 0.2), ("e", 71, "inner", 2, 0.3),
                                   ("b", 72, "tail", 3, 0.9), ("e", 72, "tail", 3, 1)])

    def test_pieces_of_time(self):
        """Of records and regions that are partly in the piece, the part; none of others."""
        piece = ("--from", "0.365s", "--to", "0.415s", self.db)
        trace = json.loads(viewer.printed("timeline", "--format", "chrome", *piece))
        self.assert_sums(slices_of(self, trace), {
            (71, "main"): 0.05, (71, "assemble"): 0.035, (71, "solve"): 0.015, (71, "kernel"): 0.015,
            (72, "idle"): 0.035, (72, "main"): 0.015, (72, "solve"): 0.015, (72, "kernel"): 0.015,
            (73, "nobody working"): 0.035, (73, "main"): 0.015, (73, "solve"): 0.015, (73, "ready"): 0.01125})
        self.assertEqual([event["name"] for event in trace["traceEvents"] if event["ph"] == "b"], ["build"])

    def test_time_without_samples(self):
        """No procedure has it: a thread that sleeps has no samples by CPU time."""
        class Asleep(Phases):
            PHASES = {1: [(0, 10, tw.WORK, "assemble"), (50, 60, tw.WORK, "assemble")]}
        db = self.enterContext(tempfile.TemporaryDirectory())
        Asleep("CPUTIME").write(db)
        trace = json.loads(viewer.printed("timeline", "--format", "chrome", db))
        self.assert_sums(slices_of(self, trace), {(71, "main"): 0.2, (71, "assemble"): 0.2})

    def test_counters_of_several_processes(self):
        """A viewer shows them in one process; their name says that they are about all."""
        run = json.loads(pathlib.Path(self.db, "run.json").read_text())
        other = dict(run["processes"][0], pid=80, threads=[run["processes"][0]["threads"].pop(2)])
        run["processes"].append(other)
        for is_one in False, True:
            trace = json.loads(viewer.printed("timeline", "--format", "chrome", self.db))
            names = {event["name"] for event in trace["traceEvents"] if event["ph"] == "C"}
            self.assertEqual(names, {"threads of all processes" if is_one else "threads"})
            pathlib.Path(self.db, "run.json").write_text(json.dumps(run))

    def test_counts_are_no_cpu_time(self):
        with viewer.changed_run(self.db) as run:
            run["events"][0].update(name="PAGE-FAULTS", unit="count")
        self.assertNotIn("cpus", viewer.printed_json("timeline", self.db)["strip"])
        self.assertNotIn("CPUs used", viewer.printed("timeline", self.db))

    def test_page_for_browsers(self):
        """A flame graph has the strip above it, if there is a time line."""
        page = viewer.printed("top-down", "--format", "flamegraph", self.db)
        strip = xml.dom.minidom.parseString(page[page.index('<svg id="strip"'):page.index("</svg>") + 6])
        self.assertEqual([text.firstChild.data.split()[0] for text in strip.getElementsByTagName("text")][:5],
                         ["working", "waiting", "idle", "ready", "CPUs"])
        pathlib.Path(self.db, "timeline.db").unlink()
        self.assertNotIn("<svg", viewer.printed("top-down", "--format", "flamegraph", self.db))

    def test_svg(self):
        for depth in (), ("--depth", 2):
            drawing = xml.dom.minidom.parseString(viewer.printed("timeline", "--format", "svg", *depth, self.db))
            groups = [g for g in drawing.getElementsByTagName("g") if g.getAttribute("class") == "row"]
            self.assertEqual([g.getElementsByTagName("text")[0].firstChild.data for g in groups],
                             ["t 70/71", "t 70/72", "t 70/73"])
            colors = [path.getAttribute("fill") for path in groups[2].getElementsByTagName("path")]
            self.assertEqual(colors, ["#56b4e9", "#0072b2"] if depth else ["#009e73", "#56b4e9", "#cc79a7"])

    def test_labels_of_the_axis_fit(self):
        """A tick is at 0.60 s, a period before the end of the drawing."""
        drawing = xml.dom.minidom.parseString(
            viewer.printed("timeline", "--format", "svg", "--from", "0.1", "--to", "0.603", self.db))
        labels = [text for text in drawing.getElementsByTagName("text") if text.getAttribute("font-size") == "11"]
        self.assertEqual(labels[-1].firstChild.data, "0.60 s")
        width = int(drawing.documentElement.getAttribute("width"))
        for label in labels:
            begins, length = int(label.getAttribute("x")), 7 * len(label.firstChild.data)
            self.assertLess(begins + (0 if label.getAttribute("text-anchor") == "end" else length), width)


@unittest.skipUnless(HAVE_TMUX, "needs tmux")
class Screen(InTerminal):
    def setUp(self):
        self.phases_folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.phases_folder.cleanup)
        self.db = self.phases_folder.name
        Phases().write(self.db)

    def test_cursor(self):
        """What the thread did at the cursor, and its row in the tree."""
        terminal = self.start(width=100)
        terminal.press("6")
        terminal.until_seen("time line: 0.000 s to 1.000 s", "0.006 s  t 70/71: working; 2 of 4 workers work",
                            "main > assemble")
        terminal.press("Down", *["Right"] * 50)
        terminal.until_seen("0.623 s  t 70/72: working", "main > solve > kernel  phases.c:42", "cell: working 100 %")
        terminal.press("Down", "+", "+", "+")
        terminal.until_seen(", depth 3, ", "t 70/73: ready 75 %, working 25 %",
                            "; solve 100 %", "A kernel  B solve  C assemble  D join")
        terminal.press("+")
        terminal.until_seen("no path is deeper")
        terminal.press("W")  # of the tree
        terminal.until_seen("W does nothing here; ? lists the keys")
        terminal.press("Up", "Enter")
        terminal.until_seen("main > solve > kernel > phases.c:42", "1 top-down")
        terminal.press("6")
        lines = terminal.until_seen(", depth 3, ")
        line = next(i for i, text in enumerate(lines) if text.startswith("t 70/73"))
        test_viewer_mouse.Mouse.send(self, terminal, test_viewer_mouse.LEFT, line, 19 + 40)  # the middle of 81 columns
        terminal.until_seen("0.500 s  t 70/73")
        test_viewer_mouse.Mouse.send(self, terminal, test_viewer_mouse.WHEEL_UP, line, 19 + 40)
        terminal.until_seen("500.0 ms  t 70/73: ready")

    def test_narrow_screens_leave_out_whole_parts(self):
        """Of the title and of the keys, rather than to cut them anywhere."""
        terminal = self.start(width=80)
        lines = terminal.press_until("6", "hpcviewer: time line: ")
        self.assertRegex(lines[0], r"^ hpcviewer: time line: 0\.000 s to 1\.000 s of 1\.000 s, a column is [0-9.]+ ms$")
        keys, = [line.rstrip() for line in lines if "q: back" in line]
        self.assertTrue(keys.endswith("  /: find"), keys)
        terminal.press("+")
        terminal.until(lambda lines: lines[0].rstrip().endswith(" of 1.000 s, depth 1"), "the depth, no column")
        terminal.resize(84, 24)
        terminal.until(lambda lines: re.search(r", depth 1, a column is [0-9.]+ ms *$", lines[0]), "both")
        terminal.press("-")
        terminal.until(lambda lines: re.search(r", states, a column is [0-9.]+ ms *$", lines[0]), "both")

    def test_zoom_ends_at_the_sampling_period(self):
        """Of 10 ms; a column of the whole run is 12 ms."""
        terminal = self.start(width=100)
        terminal.press("6", "z")
        terminal.until_seen("a column is 6.2 ms")
        terminal.press("z")
        terminal.until_seen("a column is 6.2 ms", "no closer: a column is at most a sampling period (10 ms)")
        terminal.press("Z", "z")
        terminal.until_gone("no closer")

    def test_help_begins_with_the_keys_of_the_view(self):
        terminal = self.start(width=100)
        for keys, heading in (("6 ?", "Time line (key 6)"), ("q 4 ?", "Threads (key 4)"), ("q q \\ ?", "Filters"),
                              ("q q ?", "Moving")):
            terminal.press(*keys.split())
            terminal.until(lambda lines, heading=heading: lines[1].rstrip() == heading, heading)
            if keys == "6 ?":
                terminal.until_seen("Z, wheel down, Backspace  zoom out")

    def test_legend_has_the_lines_it_needs(self):
        terminal = self.start(width=40)
        terminal.press("6", "+", "+", "+")
        lines = terminal.until_seen("A kernel  B solve  C assemble  D join")
        after = next(i for i, line in enumerate(lines) if line.startswith("A kernel")) + 1
        self.assertEqual(lines[after].rstrip(), ". idle")

    def test_threads_that_did_not_live_in_a_range(self):
        """Thread 3 ends at 0.8 s."""
        terminal = self.start("--from", "0.9", self.db)
        terminal.press("6")
        terminal.until_seen("900.0 ms to 1000.0 ms", "t 70/72", "t 70/73")
        terminal.press("0")
        terminal.until_seen("0.000 s to 1.000 s", "t 70/73", "working       1.20")
        self.assertEqual([t["profile"] for t in viewer.printed_json("timeline", "--from", "0.9", self.db)["threads"]],
                         [1, 2])

    def test_regions_of_the_program(self):
        terminal = self.start(width=100)
        terminal.press("6", "m")
        terminal.until_seen("region build: 0.300 s", "0.105 s  t 70/71: working; 2 of 4 workers work; in build")
        terminal.press("m")
        terminal.until_seen("region inner: 0.100 s", "; in build > inner")
        terminal.press("m")
        terminal.until_seen("region tail: 0.100 s", "t 70/72: idle; in tail")
        terminal.press("m")
        terminal.until_seen("there is no other region")
        terminal.press("M")
        terminal.until_seen("region inner: 0.100 s", "; in build > inner")
        terminal.press(*["Right"] * 20)  # to 0.45 s
        terminal.until_gone("; in ")

    def test_marks_and_idle_time(self):
        terminal = self.start(width=100, environment={"NO_COLOR": "1"})
        terminal.press("6", "/")
        terminal.type("kern")
        terminal.press("Enter")
        lines = terminal.until_seen("1 procedure, with what they call", "; only kern")
        rows = [line[19:].strip() for line in lines if line.startswith("t 70/")]
        self.assertRegex(rows[0][1:], r"^ *#{31,33}$")  # the first cell is the cursor's
        self.assertRegex(rows[1], r"^#{24,25}$")
        self.assertEqual(rows[2], "")
        terminal.press("Escape", "i")
        terminal.until_seen("0.000 s to 0.800 s of 1.000 s", "idle or waiting for 0.400 s", "0.202 s  t 70/72: idle")
        terminal.press("i")
        terminal.until_seen("t 70/73: nobody working")
        terminal.press("0", "o")
        terminal.until_seen("phases 70 (3 threads)", "a row for each process")
        terminal.press("o")
        terminal.until_seen("run (2 threads)", "t (1 thread)")
        terminal.press("Down", "Enter")
        terminal.until_seen("  t 70/73")
        terminal.press("Escape")
        terminal.until_seen("?:help", "1 top-down")

    def test_an_invalid_expression_is_said(self):
        terminal = self.start(width=100)
        terminal.press("6", "/")
        terminal.type("[")
        terminal.press("Enter")
        terminal.until_seen("not found: [; invalid regular expression; searching for it literally")

    def test_workers_of_a_runtime_without_names(self):
        with viewer.changed_run(self.db) as run:
            for thread in run["processes"][0]["threads"]:
                thread["start_routine"] = "<libgomp.so.1+0x1cc40>"
        terminal = self.start(width=100, environment={"NO_COLOR": "1"})
        terminal.press("6", "o", "o")
        terminal.until_seen("worker of libgom", "so.1 (1 thread)", "40> (2 threads)")

    def test_an_open_group_has_room_for_its_threads(self):
        with viewer.changed_run(self.db) as run:
            run["processes"][0]["threads"][0]["name"] = "assembler-of-matrices"
        terminal = self.start(width=100)
        terminal.press("6", "o", "Space")
        terminal.until_seen("  assembler-of-matrices 70/71 ")

    def test_a_range_restricts_all_views(self):
        terminal = self.start(width=100)
        terminal.press("6", *["Right"] * 10, "r")
        terminal.until_seen("the range begins here", "[")
        terminal.press(*["Right"] * 10, "r")
        terminal.until_seen("in all views, the summary and the advice  (q: the whole run)", "time: 0.1235 s to 0.2593 s")
        terminal.press("H")
        lines = terminal.until_seen("assemble")
        self.assertFalse(any("kernel" in line for line in lines))
        terminal.press("6")
        terminal.until_seen("123.5 ms to 259.3 ms of 1.000 s")
        terminal.press("Escape", "Escape")
        terminal.until_seen("?:help", "solve", "join")  # the whole run again
        terminal.press("6", "n")
        terminal.until_seen("phase 1 of ", "R: all views about it")
        terminal.press("R")
        terminal.until_seen("in all views, the summary and the advice")
        terminal.press("q", "q")
        terminal.until_seen("?:help", "solve", "join")
        terminal.press("t")
        terminal.until_seen("; only")


if __name__ == "__main__":
    unittest.main()
