"""Search in the terminal viewer, compared with the rows of the tree with everything open."""
import re
import tempfile
import unittest

import v4_writer
import viewer
import viewer_screen


class Finding(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        v4_writer.write_database(viewer.random_database(11, 130, metrics=["work (sec)"]),
                                 folder)
        self.db = folder
        self.described = [row for _, row in
                          viewer.rows_of(viewer.printed_json("top-down", self.db)["root"])]
        self.n = len(self.described)

    def start(self, **more):
        """The viewer with everything open."""
        terminal = self.enterContext(viewer_screen.Viewer(self.db, **more))
        terminal.press("v", "g", "*")
        terminal.until_at(1, self.n)
        self.rows = list(terminal.tree().rows())
        return terminal

    def matches(self, pattern, flags=re.IGNORECASE):
        """Positions, from 1 on, of rows whose name or location matches."""
        return [i + 1 for i, row in enumerate(self.rows)
                if any(re.search(pattern, text, flags) for text in (row.name, row.location))]

    def the_selection_moves_while_typing(self, terminal):
        terminal.press("/")
        typed = ""
        for letter in "loop at b.h:2":
            terminal.type(letter)
            typed += letter
            after = [i for i in self.matches(typed) if i > 1]
            terminal.until_seen("/" + typed.rstrip())
            terminal.until(lambda lines: terminal.selected()[0] == after[0], f"{typed}: {after[0]}")
        for _ in range(3):  # and back
            terminal.press("BSpace")
            typed = typed[:-1]
        first = [i for i in self.matches(typed) if i > 1][0]
        terminal.until(lambda lines: terminal.selected()[0] == first, typed)
        terminal.press("Enter")
        terminal.until_at(first, self.n)

    def escape_goes_back(self, terminal):
        terminal.press("_")
        n = 1 + sum(1 for row in self.rows if row in self.rows[0].children)
        terminal.press("G")
        terminal.until_at(n, n)
        before = terminal.tree().key()
        terminal.press("/")
        terminal.type("loop")
        terminal.until(lambda lines: len(list(viewer_screen.tree(lines).rows())) > n, "opened rows")
        terminal.press("Escape")
        terminal.until_at(n, n)
        self.assertEqual(terminal.tree().key(), before)
        terminal.press_until("n", "no search yet")

    def next_and_previous_and_what_stands_there(self, terminal):
        for pattern in ("f1$", "^i[01]$", "a\\.c:[23]", "B.H:3|loop at a", "<"):
            places = self.matches(pattern, re.IGNORECASE if pattern == pattern.lower() else 0)
            self.assertGreater(len(places), 1)
            terminal.press("g")
            terminal.until_at(1, self.n)
            terminal.answer("/", pattern)
            after = [i for i in places if i > 1]
            terminal.until_at(after[0], self.n)
            for place in after[1:]:
                terminal.press("n")
                terminal.until_at(place, self.n)
            terminal.press_until("n", "search wrapped around")
            terminal.press("v", "v")  # shows the position again
            terminal.until_at(places[0], self.n)
            terminal.press_until("N", "search wrapped around")
            terminal.press("v", "v")
            for place in reversed(after[:-1]):
                terminal.press("N")
                terminal.until_at(place, self.n)

    def files_modules_and_names(self, terminal):
        tests = [("file:^/home/user/b", lambda row: row["file"] == "/home/user/b.h"),
                 ("module:libother", lambda row: row.get("module") == "/lib/libother.so.1"),
                 ("name:a.c", lambda row: "a.c" in row["name"])]
        for pattern, is_meant in tests:
            places = [i + 1 for i, row in enumerate(self.described) if is_meant(row)]
            terminal.press("g")
            terminal.answer("/", pattern)
            terminal.until_at(places[0], self.n)
            for place in places[1:6]:
                terminal.press("n")
                terminal.until_at(place, self.n)

    def what_is_no_regular_expression(self, terminal):
        terminal.answer("/", "partial (")
        terminal.until_seen("not found: partial (; invalid regular expression; searching for it literally")
        terminal.answer("/", "call path>")  # a regular expression that has no special meaning
        place = self.matches("call path>")[0]
        terminal.until_at(place, self.n)

    def test_matches_are_marked(self):
        terminal = self.start(environment={"NO_COLOR": "1"})
        n = len(self.matches("f1"))

        def marked():
            return len(re.findall(r"(?:\033\[[\d;]*m)+f1\033", terminal.colored()))
        self.assertEqual(marked(), 0)
        terminal.answer("/", "F1|f1")
        terminal.until(lambda _: marked() == n, f"{n} marks")
        terminal.press("Escape")
        terminal.until(lambda _: marked() == 0, "no marks")
        terminal.press("n")
        terminal.until(lambda _: marked() == n, f"{n} marks again")

    def only_what_is_shown_is_found(self, terminal):
        terminal.answer("&", "!^f1$")
        terminal.until_gone(" » f1")
        terminal.answer("/", "^f1$").until_seen("not found: ^f1$")
        terminal.press("&", "C-u")
        terminal.answer("&", "^f2$").until_seen("rows match")
        shown = list(terminal.tree().rows())
        places = [i + 1 for i, row in enumerate(shown) if row.name == "f2"]
        terminal.press("g")
        terminal.answer("/", "f2")
        for place in places:
            terminal.until_at(place, len(shown))
            terminal.press("n")

    def test_one_session(self):
        """The first scenario is before any search."""
        terminal = self.start()

        def open_all():
            terminal.press("Escape", "\\", "c", "q", "g", "*")
            terminal.until_at(1, self.n)
        terminal.in_turn(self, (
            self.escape_goes_back, self.the_selection_moves_while_typing,
            self.next_and_previous_and_what_stands_there, self.files_modules_and_names,
            self.what_is_no_regular_expression, self.only_what_is_shown_is_found), open_all)
