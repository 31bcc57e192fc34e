"""Source code in the viewer: where it is found, its margin, the editor."""
import os
import pathlib
import re
import tempfile

import v4_writer
import viewer
import viewer_story as story
from terminal import Terminal
from test_viewer_tui import InTerminal

# "  30.0% @>    25 > code": percent, loop, call, line, whether it is the selected one.
MARGIN = re.compile(r"^( *<?[\d.]+%|       ) ([↻@ ])([»* ])  ( *\d+) ([> ]) ")

UTIL = "".join(f"util line {n}\n" for n in range(1, 60))


class WithUtil(InTerminal):
    """util.h, of which the database has no copy, is at two places below self.folder."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for place in ("now/src", "include"):
            (self.folder / place).mkdir(parents=True)
            (self.folder / place / "util.h").write_text(UTIL.replace("util", place))


class Finding(WithUtil):
    def code(self, *options):
        """The text after util.h:41 in print, with these options."""
        done = viewer.run("--print", "top-down", *options, self.db)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        line = next(line for line in done.stdout.splitlines() if " util.h:41" in line)
        return line.split(" util.h:41")[1].strip()

    def test_what_is_not_copied_is_searched(self):
        now, include = self.folder / "now", self.folder / "include"
        self.assertEqual(self.code(), "")
        self.assertEqual(self.code("-I", now), "now/src line 41")
        self.assertEqual(self.code("--include", include), "include line 41")
        # src/util.h is a longer part of /src/util.h than util.h is.
        self.assertEqual(self.code("-I", include, "-I", now), "now/src line 41")

    def test_paths_are_replaced(self):
        self.assertEqual(self.code("-R", f"/src={self.folder}/now/src"), "now/src line 41")
        self.assertEqual(self.code(f"--replace=/src/={self.folder}/include"), "include line 41")
        self.assertEqual(self.code("-R", f"/sr={self.folder}/include"), "")

    def test_copies_come_first(self):
        (self.folder / "now/src/coder.c").write_text("another\n" * 60)
        shown = viewer.printed("top-down", "-I", self.folder / "now", self.db)
        self.assertIn("state = step(state); // here", shown)
        self.assertNotIn("another", shown)

    def test_what_is_no_directory_and_no_rule(self):
        done = viewer.run("--print", "flat", "-I", "/nowhere", self.db)
        self.assertEqual(done.stderr, "hpcviewer: /nowhere: not a directory: no source files are "
                         "searched there\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn(story.FLAT.splitlines()[3], done.stdout)
        done = viewer.run("--print", "flat", "-R", "nothing", self.db)
        self.assertIn("-R takes OLD=NEW, not 'nothing'", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_in_the_terminal(self):
        terminal = self.start("-I", self.folder / "now", self.db)
        terminal.answer("/", "min_size").until_seen("/src/util.h:40", "    40 > now/src line 40")


class LongLines(WithUtil):
    """util.h, of which line 41 has 500 columns that tell where they are: 00000000050001000015..."""

    def setUp(self):
        super().setUp()
        self.line = "".join(f"{column:05}" for column in range(0, 500, 5))
        lines = UTIL.splitlines()
        lines[40] = self.line
        (self.folder / "include/util.h").write_text("\n".join(lines) + "\n")

    def until_code(self, terminal, columns, more):
        """Waits for these columns of line 41, up to the edge of the screen."""
        def is_there(lines):
            line = next((line for line in lines if " 41   " in line), None)
            return line and line.split(" 41   ")[1] == columns + more
        terminal.until(is_there, columns + more)

    def select(self, **more):
        terminal = self.start("-I", self.folder / "include", self.db, **more)
        terminal.answer("/", "min_size").until_seen("/src/util.h:40", "    40 > util line 40")
        return terminal

    def test_scrolling_sideways(self):
        terminal = self.select(width=100)  # of which the code has 80
        self.until_code(terminal, self.line[:79], "…")
        for right, left in ((")", "("), ("S-Right", "S-Left")):
            terminal.press(right)
            terminal.until_seen("util.h:40, from column 41 ")
            self.until_code(terminal, self.line[40:119], "…")
            terminal.press(*[right] * 20)  # as far as there is something
            terminal.until_seen("util.h:40, from column 421 ")
            self.until_code(terminal, self.line[420:], "")
            terminal.press(left)
            self.until_code(terminal, self.line[380:459], "…")
            terminal.press(*[left] * 20)
            self.until_code(terminal, self.line[:79], "…")
            terminal.until_gone("from column")
        terminal.press(")", "k")  # another row is seen from its beginning
        terminal.until_seen("coder.c:3")
        terminal.until_gone("from column")

    def test_ascii(self):
        terminal = self.select(width=100, environment={"LC_ALL": "C"})
        self.until_code(terminal, self.line[:79], ">")

    def test_short_lines_stay(self):
        (self.folder / "include/util.h").write_text(UTIL.replace("util", "include"))
        terminal = self.start("-I", self.folder / "include", self.db, width=100)
        before = terminal.answer("/", "min_size").until_seen("    40 > include line 40")
        terminal.press(")", "v")
        terminal.until_gone("include line 40")
        terminal.press("v")
        terminal.until(lambda lines: lines == before, "the same")


def margins(lines):
    """What the margins of the source pane tell: {line: (percent or 0, signs)} where it is anything."""
    found = {}
    for match in filter(None, map(MARGIN.match, lines)):
        percent, signs = match[1].strip(" %"), (match[2] + match[3]).strip()
        if percent or signs:
            found[int(match[4])] = (float(percent.lstrip("<") or 0), signs)
    return found


class Margin(InTerminal):
    def until_margins(self, terminal, **expected):
        """Waits for exactly these margins: l25=(30, "»")."""
        wanted = {int(name[1:]): margin for name, margin in expected.items()}
        terminal.until(lambda lines: margins(lines) == wanted, f"margins {wanted}")

    def a_calling_context(self, terminal):
        terminal.press_until("H", "work, inclusive, % of work")
        self.until_margins(terminal, l25=(30, ""), l30=(0, "↻"), l31=(20, ""), l33=(10, "»"),
                           l40=(5, "»"))
        terminal.press("s")  # exclusive: without what is called and inlined
        terminal.until_seen("work, exclusive, % of work")
        self.until_margins(terminal, l25=(30, ""), l30=(0, "↻"), l31=(20, ""), l33=(0, "»"),
                           l40=(0, "»"))
        terminal.press("S", "l", "G", "H")  # coder_run of the other thread
        self.at(terminal, "14/14", "worker > coder_run > coder.c:25")
        self.until_margins(terminal, l25=(25, ""))

    def test_a_call(self):
        terminal = self.start(height=60)
        terminal.press_until("H c", "   111 > xz line 111")
        self.until_margins(terminal, l110=(0, "↻"), l111=(65, "»"), l112=(2.5, ""),
                           l120=(7.5, "»"))

    def all_contexts(self, terminal):
        terminal.answer("3", "/", "coder.c")
        expected = {"l25": (60, ""), "l30": (0, "↻"), "l31": (20, ""), "l33": (10, "»"),
                    "l40": (5, "»")}
        terminal.until_seen("/src/coder.c ")  # the file
        self.until_margins(terminal, **expected)
        terminal.press_until("+ j + j", "/src/coder.c:25 ")
        self.until_margins(terminal, **expected)

    def callers(self, terminal):
        terminal.press("2", "j")  # coder_run, which calls itself
        self.at(terminal, "2/6", "coder_run")
        self.until_margins(terminal, l40=(5, "»"))
        terminal.press_until("+ j", "   111 > xz line 111")
        self.until_margins(terminal, l111=(50, "»"))
        terminal.press_until("j", "   201 > xz line 201")
        self.until_margins(terminal, l201=(25, "»"))

    def nothing_is_known(self, terminal):
        terminal.press_until("G l l", "/src/xz.c:200 ")
        self.until_margins(terminal, l201=(25, "»"))
        terminal.press_until("g", "no source file is known")
        self.until_margins(terminal)

    def test_one_session(self):
        self.in_turn(self.start(height=120), self.a_calling_context, self.all_contexts, self.callers,
                     self.nothing_is_known)

    def test_narrow_and_ascii(self):
        terminal = self.start(height=120, environment={"LC_ALL": "C"})
        terminal.press("H")
        self.until_margins(terminal, l25=(30, ""), l30=(0, "@"), l31=(20, ""), l33=(10, "*"),
                           l40=(5, "*"))
        terminal.resize(50, 80)
        terminal.until_seen("    20 > /* line 20 */")
        terminal.until(lambda lines: any(line.startswith("    20 > ") for line in lines), "no margin")

    def expected_margins(self, path, total):
        """Of the innermost of the rows `path` of JSON: file, line and margins, as line-costs.h says."""
        procedures = [at for at in path if at["kind"] == "procedure"]
        found = {}
        file = path[-1]["file"]

        def add(where, line, cost, sign):
            if where == file and line:
                costs, signs = found.get(line, (0, ""))
                found[line] = (costs + cost, "".join(sorted(set(signs + sign), reverse=True)))

        def look(at):
            for child in at["children"]:
                cost = child["metrics"]["work"]["inclusive"]
                site = child.get("call_site") or {"file": None, "line": None}
                if child["kind"] == "statement":
                    add(child["file"], child["line"], cost, "")
                elif child["kind"] == "loop":
                    add(child["file"], child["line"], 0, "↻")
                else:
                    add(site["file"], site["line"], cost, "»")
                if child["kind"] != "procedure":
                    look(child)

        if procedures:
            look(procedures[-1])
        return {line: (round(100 * cost / total, 1), signs) for line, (cost, signs) in found.items()
                if cost or signs}

    def test_random_programs(self):
        """All rows of the first levels, against JSON."""
        n = 0
        for seed in (3, 5, 11, 13):
            with tempfile.TemporaryDirectory() as folder:
                v4_writer.write_database(viewer.random_database(seed, 200), folder)
                source = pathlib.Path(folder, "src/home/user/a.c")
                source.parent.mkdir(parents=True)
                source.write_text("x\n" * 60)
                root = viewer.printed_json("top-down", folder)["root"]
                n += self.compare_rows(folder, root)
        self.assertGreater(n, 10)

    def compare_rows(self, folder, root):
        paths, path = [], []
        for depth, row in viewer.rows_of(root):
            path[depth:] = [row]
            if depth <= 5:
                paths.append(list(path))
        total = root["metrics"]["work"]["inclusive"]
        terminal = self.enterContext(Terminal([viewer.VIEWER, "--closed", folder], height=200))
        terminal.until_seen("?:help")
        n_with_source = 0
        for number, path in enumerate(paths, 1):
            terminal.press("+") if len(path) <= 5 else None
            shown = path[-1]["file"] == "/home/user/a.c"
            expected = self.expected_margins(path, total) if shown else {}
            n_with_source += bool(expected)
            terminal.until(lambda lines: any(line.startswith(f"{number}/") for line in lines) and
                           self.are_close(margins(lines), expected), f"{number}: {expected}")
            terminal.press("j")
        return n_with_source

    @staticmethod
    def are_close(shown, expected):
        return shown.keys() == expected.keys() and all(
            abs(shown[line][0] - expected[line][0]) < 0.11 and shown[line][1] == expected[line][1]
            for line in shown)


class Colors(InTerminal):
    def test_comments_and_code_differ(self):
        terminal = self.start(height=60)
        terminal.press_until("H", "state = step(state); // here")
        line = next(line for line in terminal.colored().split("\n") if "here" in line)
        self.assertRegex(line, r"38;5;\d+m// here")
        self.assertIn("state = step(state); ", line)

    def test_without_colors_the_text_is_the_same(self):
        shown = []
        for environment in ({}, {"NO_COLOR": "1"}):
            terminal = self.start(height=60, environment=environment)
            terminal.press_until("H", "// here")
            shown.append(terminal.screen())
        self.assertEqual(shown[0], shown[1])


class Editor(WithUtil):
    """e runs a script in place of an editor, which writes down its arguments, shows something and
    waits for a key."""

    def script(self, body):
        path = self.folder / "an editor"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return {"EDITOR": f"'{path}' -x", "VISUAL": ""}

    def writing(self, status=0):
        return self.script(f'printf "%s\\n" "$@" > "{self.folder}/arguments"; echo editing "$2"; read x; '
                           f'exit {status}')

    def arguments(self):
        return (self.folder / "arguments").read_text().splitlines()

    def test_the_line_of_the_row(self):
        terminal = self.start(environment=self.writing())
        lines = terminal.press_until("H e", "editing")
        self.assertIn("before", lines)  # the terminal's own screen
        copy = os.path.join(self.db, "src/src/coder.c")
        self.assertEqual(self.arguments(), ["-x", "+20", copy])
        terminal.resize(100, 30)
        terminal.press_until("Enter", "    20 > /* line 20 */", "xz -9 file")
        self.at(terminal, "5/8", "coder_run")
        terminal.until(lambda lines: lines[29].startswith(" ?:help"), "the new size")
        terminal.press_until("c e", "editing +111")
        self.assertEqual(self.arguments(), ["-x", "+111", os.path.join(self.db, "src/src/xz.c")])

    def test_the_original_rather_than_the_copy(self):
        (self.folder / "now/src/coder.c").write_text("new\n")
        terminal = self.start("-I", self.folder / "now", self.db, environment=self.writing())
        terminal.press_until("H e", "editing")
        self.assertEqual(self.arguments(), ["-x", "+20", f"{self.folder}/now/src/coder.c"])

    def test_visual_comes_first(self):
        script = self.writing()
        terminal = self.start(environment={"EDITOR": "false", "VISUAL": script["EDITOR"]})
        terminal.press_until("H e", "editing")

    def test_odd_names(self):
        place = self.folder / "it's $HOME" / "src"
        place.mkdir(parents=True)
        (place / "util.h").write_text(UTIL)
        terminal = self.start("-R", f"/src={place}", self.db, environment=self.writing())
        terminal.press("/")
        terminal.type("min_size")
        terminal.press_until("Enter e", "editing")
        self.assertEqual(self.arguments(), ["-x", "+40", f"{place}/util.h"])

    def test_editors_that_fail(self):
        for body, message in [
                ("exit 3", "an editor' -x ended with status 3"),
                ("kill -9 $$", "an editor' -x ended with status 137"),
                (None, "no editor '/no/such/editor'; set VISUAL or EDITOR")]:
            environment = self.script(body) if body else {"VISUAL": "/no/such/editor"}
            terminal = self.start(width=200, environment=environment)
            terminal.press_until("H e", message)
            terminal.press("j", "k")
            self.at(terminal, "5/8", "coder_run")
            terminal.press("q")
            self.assertEqual(terminal.until_seen("ended 0")[0], "before")

    def test_interrupting_the_editor_leaves_the_viewer(self):
        terminal = self.start(environment=self.script("echo editing; exec sleep 100"))
        terminal.press_until("H e", "editing")
        terminal.press_until("C-c", "    20 > /* line 20 */")

    def test_nothing_to_edit(self):
        terminal = self.start(environment=self.writing())
        terminal.press_until("e", "no source file to edit")
