"""The terminal viewer, driven through a real terminal: every key, and what is on the screen against
the numbers of --print json."""
import os
import pathlib
import re
import shlex
import signal
import textwrap

import v4_writer
import viewer
import viewer_screen
import viewer_story as story
from terminal import Terminal

COST = r"(-|<1|\d[\d.]*)(?: +(?:[<\d.]+)%|       )"
ROW = re.compile(rf"^ +{COST} +{COST}  (?P<tree> *[▸▾ ] .*)$")

# The rows of viewer_story in the top-down view, all open, sorted by inclusive cost: what the
# status line calls the selected one.
TOP_DOWN = ["", "main thread", "main", "loop at xz.c:110", "coder_run", "coder.c:25",
            "loop at coder.c:30", "coder.c:31", "[I] min_size", "util.h:41", "coder_run",
            "coder.c:25", "xz.c:112", "write_out", "application thread", "worker", "coder_run",
            "coder.c:25"]


class InTerminal(story.StoryTest):
    def start(self, *arguments, **more):
        return viewer_screen.start(self, *(arguments or [self.db]), **more)

    def at(self, terminal, position, path):
        """Waits until the status line tells that position ("2/18") and that end of the path."""
        def is_there(lines):
            status = [line for line in lines if re.match(r"^\d+/\d+( zoomed)?  ", line + "  ")]
            return any(line.split()[0] == position and line.rstrip().endswith(path)
                       for line in status)
        return terminal.until(is_there, f"{position} ... {path}")

    @staticmethod
    def rows(lines):
        """The rows of the tree on the screen: (inclusive, exclusive, depth, name and location)."""
        found = []
        for line in lines:
            match = ROW.match(line)
            if match:
                tree = match["tree"]
                depth = (len(tree) - len(tree.lstrip(" ▸▾"))) // 2 - 1
                found.append((match[1], match[2], depth, tree.strip(" ▸▾")))
        return found

    def in_turn(self, terminal, *scenarios):
        """Runs scenarios in one terminal, each from closed rows in all views."""
        def close_all():
            for view in "321":
                terminal.press("Escape", view, *"ZZZg_")
            self.at(terminal, "1/3", "1/3")
        terminal.in_turn(self, scenarios, close_all)

    def open_everything(self, terminal):
        """From the start, in the top-down view."""
        terminal.press("g")
        for number, name in enumerate(TOP_DOWN):
            terminal.press("+")
            if number + 1 < len(TOP_DOWN):
                terminal.press("Down")
        return self.at(terminal, "18/18", "coder.c:25")


class Keys(InTerminal):
    def all_open(self, height=40):
        terminal = self.start(height=height)
        self.open_everything(terminal)
        terminal.press("g")
        self.at(terminal, "1/18", "1/18")
        return terminal

    def test_moving_to_what_does_not_open(self):
        terminal = self.all_open()
        for keys, position in [("Down", 2), ("j", 3), ("C-n", 4), ("Up", 3), ("k", 2), ("C-p", 1),
                               ("Up", 1), ("End", 18), ("Home", 1), ("G", 18), ("Down", 18),
                               ("g", 1)]:
            terminal.press(keys)
            self.at(terminal, f"{position}/18", TOP_DOWN[position - 1])
        # statements do not open
        terminal.press("j", "j", "j", "j", "j")
        for key in ("Right", "Enter", "Space", "+", "l"):
            terminal.press(key)
            self.at(terminal, "6/18", "coder.c:25")
        terminal.press_until("H", "the hot path ends here: no row below has work")
        terminal.press("l")
        self.at(terminal, "6/18", "coder.c:25")

    def test_pages(self):
        terminal = self.all_open(height=11)  # room for 6 rows, so that a page is 5
        for keys, position in [("PPage", 1), ("NPage", 6), ("C-f", 11), ("PPage", 6), ("C-b", 1),
                               ("C-d", 4), ("C-d", 7), ("C-u", 4), ("NPage", 9), ("NPage", 14),
                               ("NPage", 18)]:
            terminal.press(keys)
            lines = self.at(terminal, f"{position}/18", TOP_DOWN[position - 1])
            self.assertTrue(any(TOP_DOWN[position - 1] in line for line in lines[3:9]))

    def opening_and_closing(self, terminal):
        for keys, position, path in [
                ("Down", "2/3", "main thread"), ("Right", "2/4", "main thread"),
                ("Right", "3/4", "main"), ("l", "3/6", "main"), ("l", "4/6", "loop at xz.c:110"),
                ("Left", "3/6", "main"), ("h", "3/4", "main"), ("h", "2/4", "main thread"),
                ("Enter", "2/3", "main thread"), ("Space", "2/4", "main thread"),
                ("-", "2/3", "main thread"), ("-", "2/3", "main thread"),
                ("+", "2/4", "main thread"), ("+", "2/4", "main thread"), ("=", "2/4", "main thread"),
                ("j", "3/4", "main"), ("u", "2/4", "main thread"), ("u", "1/4", "1/4"),
                ("u", "1/4", "1/4")]:
            terminal.press(keys)
            self.at(terminal, position, path)

    def test_summary_is_what_is_printed(self):
        printed = viewer.printed("summary", self.db).splitlines()
        terminal = self.start(width=120, height=len(printed) + 10)
        lines = terminal.press_until("5", "hpcviewer: summary", printed[-1].rstrip())
        self.assertEqual([line.rstrip() for line in lines[1:len(printed) + 1]],
                         [line.rstrip() for line in printed])
        terminal.press("q")
        self.at(terminal, "1/3", "1/3")

    def test_finding_in_a_page(self):
        """A search stays when the help has covered the page; the question comes below the page, with earlier answers."""
        terminal = self.start(width=120, height=12)
        terminal.press_until("5", "hpcviewer: summary", "1 process, 2 threads")
        terminal.answer("/", "damaged").until_seen(story.RUN["problems"][0])
        terminal.press_until("?", "hpcviewer: help")
        terminal.press_until("q", "hpcviewer: summary")
        terminal.press_until("g", "1 process, 2 threads")
        terminal.press_until("n", story.RUN["problems"][0])
        terminal.press_until("/ Up", "/damaged", "hpcviewer: summary")

    def test_long_lines_of_the_summary_are_broken(self):
        terminal = self.start(width=50, height=12)
        terminal.press_until("5", "hpcviewer: summary", "1 process, 2 threads")
        terminal.press("End")
        problem = story.RUN["problems"][0]
        printed = next(line for line in viewer.printed("summary", self.db).splitlines()
                       if problem in line)
        self.assertGreater(len(printed), 50)
        broken = textwrap.wrap(printed.strip(), 50, initial_indent="  ", subsequent_indent="  ")
        self.assertGreater(len(broken), 1)
        terminal.until_seen(*broken)
        terminal.press_until("g", "1 process, 2 threads")

    def hot_path(self, terminal):
        terminal.press("H")  # 7.5 of 10, ..., 6.5 of 6.75; then 3.0 of 6.5 is less than half
        self.at(terminal, "5/8", "main > loop at xz.c:110 > coder_run")
        terminal.press("G", "H")
        self.at(terminal, "11/11", "application thread > worker > coder_run > coder.c:25")

    def zoom(self, terminal):
        terminal.press("H", "z")
        lines = self.at(terminal, "1/4", "coder_run")
        self.assertEqual([row[2:] for row in self.rows(lines)],
                         [(0, "111 » coder_run  coder.c:20"), (1, "coder.c:25"),
                          (1, "loop at coder.c:30"), (1, "40 » coder_run  coder.c:20")])
        terminal.until_seen("1/4 zoomed")
        terminal.press("j", "j", "z")
        self.at(terminal, "1/3", "loop at coder.c:30")
        terminal.press("Left", "Left")  # closes it; there is no way out but Z
        self.at(terminal, "1/1", "loop at coder.c:30")
        terminal.press("Z")
        self.at(terminal, "3/4", "loop at coder.c:30")
        terminal.press("BSpace")
        self.at(terminal, "7/11", "loop at coder.c:30")
        terminal.press_until("Z", "this is the whole program")

    def views(self, terminal):
        for key, first in [("2", "coder_run  coder.c:20"), ("3", "/usr/bin/xz"),
                           ("1", "main thread"), ("Tab", "coder_run  coder.c:20"),
                           ("Tab", "/usr/bin/xz"), ("Tab", "main thread"), ("BTab", "/usr/bin/xz"),
                           ("BTab", "coder_run  coder.c:20"), ("BTab", "main thread")]:
            terminal.press(key)
            terminal.until(lambda lines: len(self.rows(lines)) > 1 and
                           self.rows(lines)[1][3] == first, first)

    def each_view_keeps_its_place(self, terminal):
        terminal.press("H", "2", "G")
        self.at(terminal, "6/6", "worker")
        terminal.press("1")
        self.at(terminal, "5/8", "coder_run")
        terminal.press("2")
        self.at(terminal, "6/6", "worker")

    def projection(self, terminal):
        terminal.press_until("p", "[physical]", "  _start", "1.500 100.0%")
        terminal.press_until("2", "_start", "[physical]")
        terminal.press_until("p", "[logical]", "write_out")

    def sorting(self, terminal):
        terminal.press("2")

        def names(mark, *expected):
            terminal.until(lambda lines: any(mark in line for line in lines) and
                           [re.sub(r"^\[I\] |  .*", "", row[3])
                            for row in self.rows(lines)[1:]] == list(expected),
                           f"{mark} {expected}")

        by_own = ("coder_run", "min_size", "write_out", "main", "worker")
        by_all = ("coder_run", "main", "worker", "min_size", "write_out")
        by_name = ("coder_run", "main", "min_size", "worker", "write_out")
        names("▼ exclusive", *by_own)
        terminal.press("<")
        names("▼ inclusive", *by_all)
        terminal.press("r")
        names("▲ inclusive", *reversed(by_all))
        terminal.press("s")
        names("▼ exclusive", *by_own)
        terminal.press(">")  # not by idleness, which was not measured
        names("scope ▼", *by_name)
        terminal.press("r")
        names("scope ▲", *reversed(by_name))
        terminal.press("S")
        names("▼ exclusive", *by_own)

    def test_what_is_undefined_comes_last_in_both_orders(self):
        terminal = self.start("--derive", "times = 1 / $work", "--sort", "times:exclusive", self.db)
        terminal.press("2")
        order = ["main", "write_out", "min_size", "coder_run"]
        for key, names in (("", order), ("r", order[::-1])):
            terminal.press(*key)
            terminal.until(lambda lines: re.findall(r"^ .*[0-9-]  [ ▸]*(?:\[I\] )?(\w+)  ", "\n".join(lines), re.M) ==
                           [*names, "worker"], str(names))

    def sorting_keeps_the_selected_row(self, terminal):
        terminal.press("2", "G")
        self.at(terminal, "6/6", "worker")
        terminal.press("<")
        self.at(terminal, "4/6", "worker")

    def finding(self, terminal):
        terminal.press("/")
        terminal.type("min_size")
        terminal.until_seen("/min_size")
        terminal.press("Enter")
        self.at(terminal, "9/13", "[I] min_size")
        terminal.press("g", "/")
        terminal.type("CODERX")
        terminal.press("BSpace")
        terminal.until(lambda lines: any(line.split()[:1] == ["/CODER"] for line in lines), "/CODER")
        terminal.answer("C-u", "coder_run")
        self.at(terminal, "5/13", "coder_run")
        terminal.press("n")
        self.at(terminal, "10/13", "coder_run")
        terminal.press("n")  # in a thread that is closed
        self.at(terminal, "15/15", "worker > coder_run")
        terminal.press_until("n", "search wrapped around")
        terminal.press("u", "j")
        self.at(terminal, "5/15", "coder_run")
        terminal.press_until("N", "search wrapped around")
        terminal.press("k", "j")
        self.at(terminal, "15/15", "worker > coder_run")
        terminal.press("N")
        self.at(terminal, "10/15", "coder_run")
        terminal.press("/")
        terminal.type("Main")  # upper case: not the same as main
        terminal.press_until("Enter", "not found: Main")
        terminal.press("/")
        terminal.type("nothing")
        terminal.press("Escape")
        self.at(terminal, "10/15", "coder_run")
        terminal.press("/", "Enter")  # an empty answer: as before
        terminal.until_seen("not found: Main")

    def finding_says_when_there_is_nothing_to_find(self, terminal):
        terminal.press_until("n", "no search yet: press /")

    def finding_places_and_in_other_views(self, terminal):
        for view, what, path in [("1", "coder.c:31", "coder.c:31"), ("2", "util.h", "[I] min_size"),
                                 ("3", "xz.c:201", "worker > xz.c:201"),
                                 ("3", "libc.so", "/lib/libc.so.6")]:
            terminal.answer(view, "/", what)
            terminal.until(lambda lines: any(line.rstrip().endswith(path) and "/" in line[:4]
                                             for line in lines), path)

    def finding_gives_up_rows_that_do_not_match(self, terminal):
        terminal.answer("/", "nowhere").until_seen("not found: nowhere")
        terminal.press("j")
        self.at(terminal, "2/3", "main thread")
        terminal.press("+", "j", "+")
        self.at(terminal, "3/6", "main")

    def source(self, terminal):
        terminal.press_until("H", "/src/coder.c:20", "    20 > /* line 20 */")
        terminal.press("c")  # the call
        terminal.until_seen("/src/xz.c:111", "   111 > xz line 111")
        terminal.press_until("c l l", "/src/coder.c:25", "    25 >     state = step(state); // here")
        lines = terminal.until_seen("    26           line_26();")  # the tab became spaces
        first = next(line for line in lines if re.match(r"^ +\d+   ", line)).split()[0]
        terminal.press("J")
        terminal.until(lambda lines: not any(re.match(rf"^ +{first}  ", line) for line in lines),
                       "scrolling down")
        terminal.press_until("K", f"    {first}   ")
        terminal.press("v")
        terminal.until_gone("line_26")
        terminal.press_until("v", "line_26")

    def source_of_callers(self, terminal):
        terminal.press("2", "j", "+", "j")  # coder_run, called by main
        terminal.until_seen("/src/xz.c:111 ")
        terminal.press_until("c", "/src/xz.c:100 ")
        terminal.press("c")

    def source_that_is_not_there(self, terminal):
        terminal.answer("/", "min_size").until_seen("no source: /src/util.h:40")
        terminal.press_until("3 G", "no source file is known")

    def test_help(self):
        terminal = self.start(height=30)
        for key in ("?", "F1"):
            terminal.press(key)
            terminal.until_seen("hpcviewer: help", "one row up")
            terminal.press_until("End", "callers.")
            terminal.press_until("Home", "one row up")
            terminal.press("NPage", "PPage", "Down", "Up", "j", "k", "G", "q")
            self.at(terminal, "1/3", "1/3")
        for key in ("?", "Escape", "F1", "Enter"):
            terminal.press(key)
        self.at(terminal, "1/3", "1/3")

    def test_the_help_names_every_key(self):
        terminal = self.start(height=140)
        terminal.press("?")
        shown = "\n".join(terminal.until(
            lambda lines: any(re.match("  q, F10, .C, Q +quit", line) for line in lines), "the last key"))
        for key in ("Up, k, ^P", "Down, j, ^N", "PgUp, ^B", "PgDn, ^F", "^U", "^D", "Home, g", "End, G",
                    "Right, l", "Left, h", "Enter, Space", "+, =", "-", "H", "z", "Z, Backspace", "u",
                    "1", "2", "3", "Tab", "Shift-Tab", "p", "s, >", "S, <", "r", "/, F3", "n", "N", "v",
                    "c", "K", "J", "), Shift-Right", "(, Shift-Left", "a", "^L", "?, F1", "q, F10, ^C, Q", "*", "_",
                    "T", "[", "]", ".", "&, F4", "x", "X", "%", "\\", "U", "^R", "Esc"):
            self.assertRegex(shown, r"(?m)^  " + re.escape(key) + r"  +\S")

    def redraw(self, terminal):
        before = terminal.screen()
        # Somebody else writes to the terminal.
        tty = terminal.tmux("display-message", "-p", "#{pane_tty}").strip()
        with open(tty, "w") as other:
            other.write("\033[5;1Hrubbish")
        terminal.until_seen("rubbish")
        terminal.press("C-l")
        terminal.until_gone("rubbish")
        self.assertEqual(terminal.screen(), before)

    def keys_without_meaning_do_nothing(self, terminal):
        before = terminal.screen()
        terminal.press("F5", "é", "M-9", "IC", "9")
        terminal.press("j", "k")
        self.at(terminal, "1/3", "1/3")
        self.assertEqual(terminal.screen(), before)

    def test_quitting_gives_the_terminal_back(self):
        for key in ("q", "C-c"):
            terminal = self.start()
            terminal.press(key)
            lines = terminal.until_seen("ended 0")
            self.assertEqual(lines[0], "before")
            self.assertNotIn("hpcviewer", "".join(lines))
            terminal.type("echoed")  # by the terminal itself, to cat
            terminal.press("Enter")
            terminal.until(lambda now: now.count("echoed") == 2, "echo")

    def test_interrupting_gives_the_terminal_back(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            terminal = self.start()
            os.kill(int(terminal.pid_file.read_text()), number)
            lines = terminal.until_seen("ended 1")
            self.assertEqual(lines[0], "before")

    def test_one_session(self):
        """The first searches are said to be the first; the other scenarios begin with closed rows in each view."""
        self.in_turn(
            self.start(), self.finding_says_when_there_is_nothing_to_find, self.redraw,
            self.keys_without_meaning_do_nothing,
            self.opening_and_closing, self.hot_path, self.zoom, self.views, self.each_view_keeps_its_place,
            self.projection, self.sorting, self.sorting_keeps_the_selected_row, self.finding,
            self.finding_places_and_in_other_views, self.finding_gives_up_rows_that_do_not_match, self.source,
            self.source_of_callers, self.source_that_is_not_there)


class Values(InTerminal):
    def test_a_random_program(self):
        """The screen against --print json, for all rows of the first levels."""
        folder = viewer.written(self, viewer.random_database(7, 120, metrics=["work (sec)"]))
        terminal = self.start(folder, width=160, height=200)
        terminal.press("v")
        for key, view in (("1", "top-down"), ("2", "bottom-up"), ("3", "flat")):
            terminal.press(key, "g")
            tree = viewer.printed_json(view, "--depth", "3", folder)["root"]
            expected = [(*(round(r["metrics"]["work (sec)"][part], 1) for part in ("inclusive", "exclusive")), depth)
                        for depth, r in viewer.rows_of(tree)]
            self.assertLess(len(expected), 190)
            first = [e for e in expected if e[2] <= 1]
            terminal.until(lambda lines: len(self.rows(lines)) >= len(first), "the first level")
            # Open every row above the third level that is shown; leave the others alone.
            for _, _, depth in expected:
                terminal.press(*(["+", "j"] if depth < 3 else ["j"]))
            lines = terminal.until(lambda lines: any(
                line.startswith(f"{len(expected)}/{len(expected)} ") for line in lines), f"{len(expected)} rows of {view}")
            shown = [(float(i), float(e), depth) for i, e, depth, _ in self.rows(lines)]
            for (i, e, d), (x, y, z) in zip(shown, expected, strict=True):
                self.assertEqual(d, z)
                self.assertAlmostEqual(i, x, delta=0.06)
                self.assertAlmostEqual(e, y, delta=0.06)

    def test_several_metrics(self):
        db = v4_writer.Database("t", ["a (sec)", "b", "c"])
        db.entry().call(db.function("f")).charge(2.0, 0).charge(300, 1).charge(7e9, 2)
        terminal = self.start(viewer.written(self, db), width=140)
        lines = terminal.until_seen("a (sec), s", "c, G")
        row = next(line for line in lines if "f" == line.split()[-1])
        self.assertEqual(row.split()[:12:2], ["2.000", "2.000", "300", "300", "7.000", "7.000"])
        self.assertEqual(row.split()[1:12:2], ["100.0%"] * 6)
        terminal.resize(80, 24)
        terminal.until_gone("c, G")
        terminal.press(">", ">")
        terminal.until(lambda lines: any("▼ inclusive" in line for line in lines) and
                       any(line.split() == ["b"] for line in lines), "b in front")
        terminal.press_until("> > >", "c, G", "▼ exclusive")


class Terminals(InTerminal):
    def test_any_size(self):
        terminal = self.start()
        terminal.press("H")
        self.at(terminal, "5/8", "coder_run")
        for width, height in [(1, 1), (2, 1), (1, 2), (3, 3), (10, 5), (20, 2), (5, 24), (80, 1),
                              (80, 3), (80, 7), (17, 13), (33, 14), (40, 15), (300, 100), (80, 24)]:
            terminal.resize(width, height)
            terminal.press("?", "G", "g", "q", "/", "z", "Escape", "2", "j", "1", "v", "v", "k",
                           "j", "s", "S")
            terminal.until(lambda lines: len(lines) >= height, f"{height} lines")
        self.at(terminal, "5/8", "coder_run")

    def test_resizing_draws_what_fits(self):
        terminal = self.start()
        terminal.press_until("H", "> /* line 20 */")
        terminal.resize(60, 10)
        terminal.until_gone("/* line 20 */")
        lines = terminal.until_seen("coder_run", "?:help")
        self.assertTrue(all(len(line) <= 60 for line in lines))
        terminal.resize(100, 30)
        terminal.until_seen("> /* line 20 */", "p:physical", "3 flat")
        terminal.resize(40, 5)
        terminal.until(lambda lines: not any("?:help" in line for line in lines) and
                       any("coder_run" in line for line in lines), "the selected row")

    def test_resizing_while_help_or_a_question_is_open(self):
        terminal = self.start()
        terminal.press_until("?", "hpcviewer: help")
        terminal.resize(60, 12)
        terminal.until(lambda lines: lines[11].startswith(" Up, Down"), "the last line")
        terminal.press("q", "/")
        terminal.type("abc")
        terminal.until_seen("/abc")
        terminal.resize(80, 24)
        terminal.until(lambda lines: lines[22].startswith("/abc"), "the question")

    def test_starts_in_a_tiny_terminal(self):
        for width, height in ((1, 1), (4, 2), (30, 4)):
            terminal = self.start(width=width, height=height)
            terminal.press("G", "H")
            terminal.resize(80, 24)
            terminal.until_seen("?:help")

    def test_other_locales(self):
        terminal = self.start(environment={"LC_ALL": "C"})
        terminal.press("H", "+", "?")
        self.assertTrue("".join(terminal.until_seen("hpcviewer: help")).isascii())
        terminal.press("q", "2", "j", "+")
        shown = "".join(terminal.until_seen("<- main"))
        self.assertTrue(shown.replace("─", "").replace("│", "").isascii(), shown)

    def test_wide_and_odd_names(self):
        names = ["名前の長い関数", "e\u0301te\u0301", "x" * 500, "évil\x1b[2Jname", "\u200dzero"]
        db = v4_writer.Database("プログラム", ["work (sec)"])
        main = db.entry()
        for name in names:
            main.call(db.function(name)).charge(1.0)
        terminal = self.start(viewer.written(self, db))
        lines = terminal.until_seen("名前の長い関数", "プログラム", "xxxx")
        self.assertTrue(all(line.startswith("    1.000  20.0%    1.000  20.0%")
                            for line in lines[6:11]), lines[6:11])
        self.assertTrue(any(r"évil\x1b[2Jname" in line for line in lines))
        terminal.answer("/", "長い")
        terminal.until(lambda now: any(line.startswith("5/7") or "> 名前の長い関数" in line
                                       for line in now), "the name")
        terminal.resize(39, 24)
        terminal.until(lambda now: any("名" in line for line in now), "a part of the name")

    def test_deep_rows_can_be_read(self):
        db = v4_writer.Database("deep", ["work (sec)"])
        at = db.entry()
        for level in range(200):
            at = at.call(db.function(f"level_{level}"))
        at.charge(1.0)
        terminal = self.start(viewer.written(self, db))
        terminal.press("H")
        terminal.until(lambda lines: any(re.search(r"% +level_199$", line.rstrip())
                                         for line in lines[3:18]), "the innermost row")
        terminal.press_until("g", "<whole program>")

    def test_terminals_that_cannot_do_it(self):
        for term, expected in (("dumb", "cannot place text"), ("no-such-terminal", "is not known")):
            terminal = self.enterContext(Terminal([viewer.VIEWER, "--closed", self.db], term=term))
            terminal.until_seen(expected, "ended 1")

    def test_input_that_is_no_terminal(self):
        terminal = self.enterContext(Terminal(["sh", "-c", f"{shlex.quote(str(viewer.VIEWER))} {self.db} < /dev/null"]))
        terminal.until_seen("standard input is not a terminal", "ended 1")

    def test_it_ends_when_the_terminal_goes_away(self):
        terminal = self.start()
        pid = int(terminal.pid_file.read_text())
        terminal.__exit__()
        end = 3000
        while os.path.exists(f"/proc/{pid}") and end:
            # Gone, or left as a zombie if init does not wait for orphans.
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
            signal.sigtimedwait([], 0.01)
            end -= 1
        self.assertTrue(end, "still running")


class CommandLine(InTerminal):
    def test_sort_metrics_and_physical(self):
        terminal = self.start("--sort", "work:exclusive", "--metrics", "work", self.db)
        terminal.until_seen("▼ exclusive")
        terminal = self.start("--physical", self.db)
        terminal.until_seen("[physical]", "_start")

    def test_a_database_without_the_other_projection(self):
        terminal = self.start(viewer.written(self, story.describe()))
        terminal.until_seen("[logical]")
        terminal.press_until("p", "this database has no physical projection")
        terminal.press("j")
        self.at(terminal, "2/3", "main thread")
        terminal.press_until("q", "ended 0")

    def test_a_damaged_database(self):
        folder = viewer.written(self, story.describe())
        path = pathlib.Path(folder, "meta.db")
        data = bytearray(path.read_bytes())
        section = int.from_bytes(data[0x48:0x50], "little")
        entry = int.from_bytes(data[section:section + 8], "little")
        data[entry + 8:entry + 16] = (1 << 40).to_bytes(8, "little")  # its children
        path.write_bytes(data)
        terminal = self.start(folder)
        terminal.until_seen("meta.db: corrupt: contexts lie outside of their section")
        terminal.press("j", "+", "G")  # it is said once
        self.at(terminal, "3/3", "application thread")
        terminal.press_until("q", "corrupt: contexts lie outside", "ended 1")
