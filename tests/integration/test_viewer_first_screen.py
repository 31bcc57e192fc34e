"""The first screen answers where the time goes: it is open along the hot path, the code that starts the program is
folded into one row, the selected row has a line of the program's own source, and the header has the advice's first line.

    main thread > _start > __libc_start_main > __libc_start_call_main > main (app.c:10)
        line 12: work (app.c:20)    line 22: lock (libc.so.6), in it futex (libc.so.6): 60 s
                                    lines 23 to 33: a procedure each: 1 s
        lines 13, 14: a procedure each: 9 s
    thread root > start_thread > worker (app.c:50)    lines 51 to 56: 1 s each
"""
import os
import re
import subprocess
import tempfile
import unittest

import v4_writer
import viewer
import viewer_story
from terminal import Terminal

LINES = 120  # of the source file


def write(folder, title="app"):
    db = v4_writer.Database(title, ["work"])
    app, libc = db.module("/bin/app"), db.module("/lib/libc.so.6")
    app_c = db.file("src/app.c", copied=True)
    at = db.entry().call(db.function("_start", app, 0x10)).call(db.function("__libc_start_main", libc, 0x10))
    main = at.call(db.function("__libc_start_call_main", libc, 0x20)).call(db.function("main", app, 0x20, app_c, 10))
    work = main.statement(app_c, 12).call(db.function("work", app, 0x30, app_c, 20))
    lock = work.statement(app_c, 22).call(db.function("lock", libc, 0x30))
    lock.call(db.function("futex", libc, 0x40)).charge(60.0)
    for i in range(11):
        work.statement(app_c, 23 + i).call(db.function(f"part_{i}", app, 0x100 + i, app_c, 60 + i)).charge(1.0)
    for line in (13, 14):
        main.statement(app_c, line).call(db.function(f"other_{line}", app, 0x200 + line, app_c, 70)).charge(9.0)
    start = db.entry(kind=2, name="thread root").call(db.function("start_thread", libc, 0x50))
    worker = start.call(db.function("worker", app, 0x60, app_c, 50))
    for line in range(51, 57):
        worker.statement(app_c, line).charge(1.0)
    v4_writer.write_database(db, folder)
    os.makedirs(os.path.join(folder, "src"), exist_ok=True)
    with open(os.path.join(folder, "src", "app.c"), "w") as file:
        file.write("".join(f"line {n} of app\n" for n in range(1, LINES + 1)))


def content(lines):
    """The rows of the tree and the lines of source on the screen."""
    rows = [line for line in lines if re.match(r" +[\d.]+ +[\d.]+% ", line) and "line" not in line]
    return rows, [line for line in lines if re.search(r"line \d+ of app", line)]


class InTerminal(unittest.TestCase):
    def setUp(self):
        self.db = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "db")
        os.mkdir(self.db)
        write(self.db)

    def start(self, *arguments, **more):
        terminal = self.enterContext(Terminal([viewer.VIEWER, *(arguments or [self.db])], **more))
        terminal.until_seen("?:help")
        return terminal


class FirstScreen(InTerminal):
    def test_it_leads_to_a_line_of_the_program(self):
        """Not into the futex, where the hot path ends."""
        lines = self.start(width=120, height=40).until_seen("main thread > ... > main  app.c:10", "22 > line 22 of app")
        self.assertTrue(any("main > work > lock" in line for line in lines[-4:]))
        self.assertTrue(any("futex" in line for line in lines))
        self.assertFalse(any("__libc_start" in line for line in lines))

    def test_there_is_room_for_content(self):
        for width, height, least in ((80, 24, 14), (120, 40, 25), (200, 50, 40)):
            rows, source = content(self.start(width=width, height=height).until_seen("22 > line 22 of app"))
            self.assertGreaterEqual(len(rows) + len(source), least, (width, height))
            self.assertGreaterEqual(len(source), 5)

    def test_a_wide_screen_has_the_source_beside_the_tree(self):
        lines = self.start(width=200, height=50).until_seen("22 > line 22 of app")
        self.assertTrue(any(re.search(r"%.*line \d+ of app", line) for line in lines))

    def test_the_header_has_advice(self):
        viewer_story.write(self.db)
        lines = self.start(width=120, height=40).until_seen("advice: ")
        self.assertTrue(lines[2].startswith(" advice: 60 % of the time is in coder_run, coder.c:25"), lines[2])

    def test_start_code_opens_and_closes_with_the_usual_key(self):
        terminal = self.start(width=120, height=40)
        terminal.until_seen("▸ main thread > ... > main")
        terminal.press("g", "j", "Enter")
        terminal.until_seen("▾ main thread", "▾ _start", "▾ __libc_start_main", "▾ main  app.c:10", "  ▾ 22 » lock")
        terminal.press_until("Enter", "▸ main thread > ... > main", "  ▾ 22 » lock")
        terminal.until_gone("_start")

    def test_what_is_found_in_start_code_is_shown(self):
        terminal = self.start(width=120, height=40)
        terminal.answer("/", "call_main").until_seen("▾ main thread", "▾ _start", "▾ __libc_start_call_main")

    def test_threads_are_folded_too(self):
        self.start(width=120, height=45).until_seen("▸ thread root > ... > worker")

    def test_a_thread_of_cxx_is_folded_below_its_creator(self):
        """Of a stripped libstdc++, the routine that begins the thread has no name; what else it has none for is no
        start code, even if libc is below it."""
        db = v4_writer.Database("app", ["work"])
        app, libc, cxx = db.module("/bin/app"), db.module("/lib/libc.so.6"), db.module("/lib/libstdc++.so.6")
        app_c = db.file("src/app.c", copied=True)
        start = db.entry().call(db.function("_start", app, 0x10)).call(db.function("__libc_start_main", libc, 0x10))
        main = start.call(db.function("main", app, 0x20, app_c, 10))
        begin = main.statement(app_c, 12).call(db.function("<libstdc++.so.6+0xd4490>", cxx, 0x10))
        run = begin.call(db.function("std::thread::_State_impl<std::thread::_Invoker<X> >::_M_run()", app, 0x30))
        invoke = run.call(db.function("std::__invoke<X>", app, 0x40))
        worker = invoke.call(db.function("worker", app, 0x50, app_c, 50))
        for line in range(51, 54):
            worker.statement(app_c, line).charge(4.0)
        other = main.statement(app_c, 14).call(db.function("<libstdc++.so.6+0xd5000>", cxx, 0x20))
        sort = other.call(db.function("qsort", libc, 0x60)).call(db.function("msort", libc, 0x70))
        sort.call(db.function("compare", app, 0x60, app_c, 80)).charge(4.0)
        v4_writer.write_database(db, self.db)
        terminal = self.start(width=120, height=40)
        lines = terminal.until_seen("▸ thread > ... > worker  app.c:50", "▸ 14 » <libstdc++.so.6+0xd5000>")
        self.assertFalse(any("_M_run" in line or "std::__invoke" in line for line in lines))
        terminal.answer("/", "d5000")
        terminal.type("*")
        terminal.until_seen("▾ 14 » <libstdc++.so.6+0xd5000>", "▾ qsort", "▾ msort", "compare")

    def test_a_hot_path_that_ends_in_main(self):
        """Its start code stays folded; main is selected and open."""
        db = v4_writer.Database("app", ["work"])
        app, libc = db.module("/bin/app"), db.module("/lib/libc.so.6")
        app_c = db.file("src/app.c", copied=True)
        start = db.entry().call(db.function("_start", app, 0x10)).call(db.function("__libc_start_main", libc, 0x10))
        main = start.call(db.function("main", app, 0x20, app_c, 10))
        for i in range(3):
            main.statement(app_c, 12 + i).call(db.function(f"part_{i}", app, 0x100 + i, app_c, 60 + i)).charge(1.0)
        v4_writer.write_database(db, self.db)
        lines = self.start(width=120, height=40).until_seen("▸ main thread > ... > main  app.c:10", "part_2", "12 > line 12 of app")
        self.assertFalse(any("_start" in line for line in lines))

    def test_closed(self):
        lines = self.start("--closed", self.db, width=120, height=40).until_seen("1/")
        self.assertFalse(any("futex" in line for line in lines))


class KeysOfViews(InTerminal):
    """1 to 5 and ? work on every page; a page closes with the key that opened it, or with Esc."""
    PAGES = {"5": "hpcviewer: summary", "4": "hpcviewer: threads", "?": "hpcviewer: help", "a": "hpcviewer: advice",
             "i": "hpcviewer: one row", "C": "hpcviewer: columns",
             "\\": "hpcviewer: filters"}

    def from_page_to_page(self, terminal):
        for key, title in self.PAGES.items():
            for view, sign in (("2", "main"), ("3", "/bin/app"), ("1", "lock")):
                terminal.type(key)
                terminal.until_seen(title)
                terminal.press(view)
                terminal.until_gone("hpcviewer: ")
                terminal.until_seen("?:help", sign)
            for other in ("5", "4"):
                terminal.type(key)
                terminal.until_seen(title)
                if other != key:
                    terminal.press(other)
                terminal.until_seen(self.PAGES[other])
                terminal.press_until("Escape", "?:help")

    def pages_close_with_their_key(self, terminal):
        for key, title in self.PAGES.items():
            for closing in (key, "Escape"):
                terminal.type(key)
                terminal.until_seen(title)
                terminal.press("Escape") if closing == "Escape" else terminal.type(key)
                terminal.until_seen("?:help")

    def help_on_top_of_a_page(self, terminal):
        for key in ("5", "4", "a", "C"):
            terminal.type(key)
            terminal.until_seen(self.PAGES[key])
            terminal.press_until("?", self.PAGES["?"])
            terminal.press_until("?", self.PAGES[key])
            terminal.press_until("Escape", "?:help")

    def test_one_session(self):
        terminal = self.start(width=120, height=40)
        terminal.in_turn(self, (self.from_page_to_page, self.pages_close_with_their_key, self.help_on_top_of_a_page),
                         lambda: terminal.press("1"))


class WithoutArgument(InTerminal):
    """hpcviewer opens the only database or measurement directory in the current directory."""
    def printed(self):
        return subprocess.run([viewer.VIEWER, "--print", "top-down"], cwd=os.path.dirname(self.db), text=True,
                              capture_output=True)

    def test_one(self):
        done = self.printed()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("app\ntop-down view", done.stdout)

    def test_several(self):
        os.mkdir(self.db + "2")
        write(self.db + "2", "app2")
        done = self.printed()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no database given, and several are here: db, db2\n", done.stderr)

    def test_none(self):
        done = subprocess.run([viewer.VIEWER], cwd="/proc/self", text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither a database nor a measurement directory is here", done.stderr)

    def test_a_measurement_directory_counts_with_its_database(self):
        folder = os.path.dirname(self.db)
        viewer.describe_run(self.db, viewer.measured("work"), processes=[{"file": "a.hpcrun"}])
        os.rename(self.db, os.path.join(folder, "hpctoolkit-app-database"))
        measurements = os.path.join(folder, "hpctoolkit-app-measurements")
        os.mkdir(measurements)
        with open(os.path.join(measurements, "a.hpcrun"), "w"):
            os.utime(os.path.join(measurements, "a.hpcrun"), (1, 1))
        done = self.printed()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("opening its database hpctoolkit-app-database", done.stderr)
