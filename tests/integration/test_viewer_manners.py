"""What people expect who come from other programs, and names that no screen is wide enough for."""
import pathlib
import re
import tempfile
import unittest

import v4_writer
import viewer_screen

ARGUMENTS = "<" + "std::pair<int, std::string>, " * 40 + "int>"
FOLDERS = "/home/somebody/a/long/way/down/to/the/build/folder/of/this/program"

# Each calls the next one.
CHAIN = ["main"] + [f"std::map{ARGUMENTS}::step_{i}(std::map{ARGUMENTS} const&)"
                    for i in range(1, 13)]


def deep_database():
    """The chain; its last function costs 3 in one and 1 in another function that it calls."""
    db = v4_writer.Database("deep", ["work"], 1)
    module = db.module(f"{FOLDERS}/libdeep.so")
    file = db.file(f"{FOLDERS}/deep.cpp")
    context = db.entry(1, "main thread")
    for number, name in enumerate(CHAIN):
        function = db.function(name, module, 0x1000 + 16 * number, file, 10 * number + 7)
        context = context.statement(file, 10 * number) if number else context
        context = context.call(function)
    for number, (name, cost) in enumerate([("one", 3), ("other", 1)]):
        leaf = db.function(f"std::vector{ARGUMENTS}::{name}(int)", module, 0x2000 + 16 * number)
        context.statement(file, 200).call(leaf).charge(cost)
    return db


class InTerminal(unittest.TestCase):
    database = staticmethod(deep_database)

    @classmethod
    def setUpClass(cls):
        cls.db = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()), "db")
        cls.db.mkdir()
        v4_writer.write_database(cls.database(), cls.db)

    def start(self, *arguments, **more):
        return viewer_screen.start(self, *arguments, self.db, **more)


class LongNames(InTerminal):
    def test_arguments_give_place_where_a_name_does_not_fit(self):
        terminal = self.start()
        terminal.press("2")
        terminal.until_seen("std::vector<…>::one(…)", "std::vector<…>::other(…)",
                            *(f"std::map<…>::step_{i}(…)" for i in (1, 2, 3, 4, 5, 10, 11, 12)))

    def test_what_fits_is_whole(self):
        terminal = self.start(width=len(f"std::vector{ARGUMENTS}::one(int)") + 100)
        terminal.press_until("2", f"▸ std::vector{ARGUMENTS}::one(int)")

    def test_names_without_utf_8(self):
        terminal = self.start(environment={"LC_ALL": "C"})
        terminal.press_until("2", "std::vector<...>::one(int)", "std::vector<...>::other(int)")

    def test_rows_above_a_deep_one_can_be_read(self):
        """The tree is shifted to the left; what would lie beyond the edge stands at it."""
        terminal = self.start(height=40)
        lines = terminal.press_until("H", "16/17")
        tree = [line[34:] for line in lines if re.match(r" +4 100\.0%", line)]
        self.assertEqual(tree[:4], ["▾ <whole program>", "▾ main thread", "▾ main  deep.cpp:7",
                                    "▾ 10 » std::map<…>::step_1(…)  deep.cpp:17"])
        self.assertEqual([re.search(r"step_(\d+)", line)[1] for line in tree[3:]],
                         [str(i) for i in range(1, 13)])
        terminal.press_until("g", "    ▾ main thread")

    def test_paths_end_with_the_name(self):
        terminal = self.start()
        terminal.press("3")
        terminal.until_seen("▾ …/build/folder/of/this/program/libdeep.so",
                            "▸ …/build/folder/of/this/program/deep.cpp")
        terminal.press_until("1 H u", "/folder/of/this/program/deep.cpp:127 ──")

    def test_questions_end_with_the_answers(self):
        terminal = self.start()
        terminal.press_until("H x", "hide std::vector<…>::one(…)?  s: itself   a: with all that is below ")
        terminal.press_until("s", "filters: [without std::vector<…>::one(…)]   \\: list  U: undo")
        terminal.press("\\")
        terminal.until_seen("  without std::vector<…>::one(…)", "hpcviewer: filters")


class Pages(InTerminal):
    """Text that fills the screen is read as in less."""

    def whole(self, key):
        """All lines of a page, from a terminal that is high enough, without title and help."""
        terminal = self.start(height=250)
        terminal.press(key)
        lines = terminal.until_seen("q: back")
        return [line.rstrip() for line in "\n".join(lines[1:-1]).split("q: back")[0].rsplit(
            "\n", 1)[0].rstrip().split("\n")]

    def shows(self, terminal, lines, first, height=22):
        """Waits until the page shows these lines from that one (from 0) on."""
        last = min(first + height, len(lines))
        position = f" {first + 1}-{last}/{len(lines)}"
        terminal.until(lambda seen: position in seen[0] and
                       [line.rstrip() for line in seen[1:1 + last - first]] == lines[first:last],
                       "\n".join([position, *lines[first:last]]))

    def test_nothing_is_cut_off(self):
        """At the smallest usual width every word of the help is there."""
        wide, narrow = self.start(width=400, height=200), self.start(width=80, height=200)
        words = []
        for terminal in (wide, narrow):
            lines = terminal.press_until("?", "hpcviewer: help", "callers.", "q: back")
            words.append(" ".join(lines[1:]).split())
        self.assertEqual(words[0], words[1])
        self.assertGreater(len(words[0]), 300)

    def test_moving(self):
        lines = self.whole("?")
        self.assertGreater(len(lines), 100)
        end = len(lines) - 22
        terminal = self.start()
        terminal.press("?")
        for key, first in [("Space", 22), ("b", 0), ("f", 22), ("d", 33), ("u", 22), ("C-d", 33),
                           ("C-u", 22), ("PPage", 0), ("j", 1), ("k", 0), ("G", end), ("b", end - 22),
                           ("g", 0)]:
            terminal.press(key)
            self.shows(terminal, lines, first)
        terminal.press_until("q", "?:help")

    def test_finding(self):
        lines = self.whole("?")
        found = [i for i, line in enumerate(lines) if "find" in line.lower()]
        self.assertGreaterEqual(found[0], 22)
        self.assertGreater(found[-1], found[0] + 22)
        terminal = self.start()
        terminal.answer("?", "/", "find")
        self.shows(terminal, lines, found[0])
        terminal.press("N")  # the last one, around the beginning
        self.shows(terminal, lines, min(found[-1], len(lines) - 22))
        terminal.answer("/", "no such word").until_seen("not found")
        terminal.press("/")
        terminal.type("zoo")
        terminal.press_until("Escape n", "not found")
        terminal.press_until("q", "?:help")

    def test_the_path_of_a_row_is_a_line_for_each_call(self):
        terminal = self.start(height=60, width=2 * len(CHAIN[1]))
        lines = terminal.press_until("H i", "one row", "path, outermost first", "q: back")
        at = next(i for i, line in enumerate(lines) if line.startswith("path,"))
        self.assertEqual([line.strip() for line in lines[at + 1:at + 3 + len(CHAIN)]],
                         ["main thread", *CHAIN, f"std::vector{ARGUMENTS}::one(int)"])
        lines = terminal.press_until("q 2 j l j i", "path, each called by the next", "q: back")
        at = next(i for i, line in enumerate(lines) if line.startswith("path,"))
        self.assertEqual([line.strip() for line in lines[at + 1:at + 3]],
                         [f"std::vector{ARGUMENTS}::one(int)", CHAIN[-1]])


class Typing(InTerminal):
    """Lines are edited as in shells and editors."""

    def typed(self, terminal, prompt, text):
        """Waits until that has been typed; a remark may follow."""
        terminal.until(lambda lines: any(line.rstrip().split("   ")[0] == (prompt + text).rstrip()
                                         for line in lines), prompt + text)

    def test_editing(self):
        terminal = self.start()
        terminal.press("d")
        terminal.type("one two größe")
        for keys, text in ((["Left"] * 2 + ["BSpace"], "one two grße"),
                           (["DC"], "one two gre"),
                           (["C-b", "ü"], "one two güre"),
                           (["C-w"], "one two re"),
                           (["Home", "1"], "1one two re"),
                           (["C-e", "2", "C-a", "C-d"], "one two re2"),
                           (["Right", "C-f", "Right", "Right", "C-u"], "two re2"),
                           (["End", "Left", "Left", "C-k"], "two r"),
                           (["C-w", "C-w", "a"], "a")):
            terminal.press(*keys)
            self.typed(terminal, "NAME = FORMULA of $METRIC: ", text)
        terminal.press("BSpace", "BSpace")  # there is nothing left: given up
        terminal.until_gone("NAME = FORMULA")
        terminal.press_until("j", "2/4")

    def test_the_cursor_of_a_long_line_is_on_the_screen(self):
        terminal = self.start()
        terminal.press("d")
        terminal.type("abc" + 100 * "x" + "xyz")
        terminal.until(lambda lines: any(line.rstrip().endswith("xyz") for line in lines), "end")
        terminal.press_until("Home 0", "$METRIC: 0abcxx")

    def test_earlier_answers(self):
        terminal = self.start()
        for answer in ("one", "other"):
            terminal.answer("/", answer)
            terminal.until_gone("/" + answer)
        terminal.press("d", "Up")
        self.typed(terminal, "NAME = FORMULA of $METRIC: ", "")  # it was not asked before
        terminal.press("Escape", "/")
        terminal.type("st")
        for key, text in (("Up", "other"), ("Up", "one"), ("Up", "one"), ("Down", "other"),
                          ("Down", "st"), ("Down", "st"), ("C-p", "other"), ("C-n", "st")):
            terminal.press(key)
            self.typed(terminal, "/", text)
        terminal.press("Up", "Up", "Enter")
        terminal.until_gone("/one")
        terminal.press("Escape")  # nor what was said of it
        terminal.until_seen("> std::vector<…>::one(…)")

    def test_what_is_being_done_can_be_given_up(self):
        """^C leaves what is in front; in the views themselves it quits."""
        terminal = self.start()
        for keys, seen in ((["/", "x"], "/x"), (["d"], "NAME = FORMULA"), (["?"], "hpcviewer: help"),
                           (["?", "/", "x"], "/x"), (["4"], "hpcviewer: threads"),
                           (["C"], "hpcviewer: columns"), (["H", "x"], "hide std::"),
                           (["."], "go to the same scope")):
            terminal.press(*keys)
            terminal.until_seen(seen)
            terminal.press("C-c")
            terminal.press("C-c") if keys[:2] == ["?", "/"] else None
            terminal.until(lambda lines: "?:help" in lines[23] and not
                           any(seen in line for line in lines[1:]), "the view again")
        terminal.press_until("C-c", "ended 0")


class Hands(InTerminal):
    def test_keys_of_others(self):
        """F3, F4 and F6 of htop; what no key is says so."""
        terminal = self.start()
        terminal.answer("F3", "one").until_seen("> std::vector<…>::one(…)")
        terminal.answer("F4", "no such row").until_seen("filters: [&no such row]", "0 rows match")
        terminal.press_until("U F6", "hpcviewer: columns")
        terminal.press_until("q :", ": does nothing here; ? lists the keys")
        terminal.press_until("C-g", "^G does nothing here; ? lists the keys")
        terminal.press("j")
        terminal.until_gone("does nothing")

    def test_what_is_there_can_be_seen(self):
        """The wider the screen, the more keys it names; all of them whole."""
        keys = ["?:help", "q:quit", "Enter:open", "H:hot path", "s:sort", "a:advice", "/:find",
                "v:source", "p:physical", "&:filter", "z:zoom", "i:inspect", "C:columns",
                "d:define", ".:other views", "W:write", "e:edit", "[:back",
                "J,K,(,):scroll source"]
        terminal = self.start()

        def resize(width):
            terminal.resize(width, 24)
            lines = [" " + " ".join(keys[:n]) for n in range(len(keys) + 1)]
            widest = max((line for line in lines if len(line) <= width), key=len)
            return terminal.until(lambda now: now[23].rstrip() == widest, widest)

        for width in (120, 47, 12):
            resize(width)
        for width in (200, 80):
            self.assertIn(" 1 top-down  2 bottom-up  3 flat  4 threads  5 summary", resize(width)[1])
        terminal.press_until("z", "the view begins with this row")

    def test_empty_lists_say_what_would_be_in_them(self):
        terminal = self.start()
        terminal.press("\\")
        terminal.until_seen("No filters: &, x, X and % add them.")
        terminal.press_until("d c", "No filters: &, x, X and % add them.")
        terminal.press_until("q", "?:help")


class WithoutSource(InTerminal):
    def test_what_would_help_is_said(self):
        terminal = self.start()
        terminal.press("j", "j")  # main, whose file is not there
        terminal.until_seen("no source: …", "Start with -I DIR to search it", "-R OLD=NEW")
        terminal.press("H")  # a procedure without lines
        terminal.until_seen("no source file is known", "its binary was built without")
        terminal.press("g")  # the whole program has no source
        terminal.until_gone("The source lines of this code")
        terminal.until_seen("no source file is known")
        terminal.press_until("3 j", "2/4")
        self.assertNotIn("The source lines of this code", "".join(terminal.screen()))


class Empty(InTerminal):
    @staticmethod
    def database():
        return v4_writer.Database("empty", ["work"], 1)

    def test_it_is_said(self):
        terminal = self.start()
        terminal.until_seen("nothing was recorded; press 5 for the summary, ? for the keys")
        for key in ("j", "H", "*", "z", "2", "3", "i", "q", "a", "q", "4", "q", "1"):
            terminal.press(key)
        terminal.until_seen("1/1", "<whole program>")


def odd_names():
    db = v4_writer.Database("odd", ["work"], 1)
    module, file = db.module("/bin/program"), db.file("/src/odd.c")
    main = db.entry(1, "main thread").call(db.function("main", module, 0x10, file, 1))
    for i, name in enumerate(["", "\u202eturned", "two\u2028lines"]):
        main.statement(file, 2).call(db.function(name, module, 0x100 + i, file, 3)).charge(5 - i)
    return db


class OddNames(InTerminal):
    database = staticmethod(odd_names)

    def test_names_that_cannot_be_seen(self):
        terminal = self.start()
        terminal.press("2")
        terminal.until_seen("▸ <program+0x100>  odd.c:3", "▸ \\u202eturned  odd.c:3",
                            "▸ two\\u2028lines  odd.c:3")
