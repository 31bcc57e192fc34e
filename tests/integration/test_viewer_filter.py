"""Filters of the terminal viewer: the visible rows, compared with this file's own filters applied to
the tree with everything open. That tree is compared with --print json."""
import os
import re
import tempfile
import unittest

import profiling
import v4_big
import v4_writer
import viewer
import viewer_screen
from viewer_driver import Driver

# A tree of some 80 rows in which procedures call each other recursively.
SEED, SIZE = 11, 130

FAST_CLOCK = profiling.TOOLS / "fast-clock.so"
SANITIZED = b"__asan_init" in viewer.VIEWER.read_bytes()


def only(row, matches):
    """Rows that match and those above them; None if there are none."""
    children = [kept for kept in (only(child, matches) for child in row.children) if kept]
    return row.copy(children) if children or matches(row) else None


def without(row, is_left_out):
    """Replaces hidden rows by their children."""
    children = []
    for child in row.children:
        below = without(child, is_left_out)
        children += below.children if is_left_out(child) else [below]
    return row.copy(children)


def without_all(row, is_left_out):
    return row.copy([without_all(child, is_left_out) for child in row.children
                     if not is_left_out(child)])


def folded(row, is_folded):
    return row.copy([] if is_folded(row) else [folded(child, is_folded) for child in row.children])


def count(row, matches):
    return sum(matches(at) for at in row.rows())


class Filters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(tempfile.TemporaryDirectory())
        v4_writer.write_database(viewer.random_database(SEED, SIZE, metrics=["work (sec)"]),
                                 cls.db)

    def start(self, view="1"):
        """The viewer with everything open, and the tree."""
        terminal = self.enterContext(viewer_screen.Viewer(self.db))
        terminal.press("v")
        return terminal, self.opened(terminal, view)

    def opened(self, terminal, view="1"):
        """The tree of a view with everything open."""
        terminal.press(view, "g")
        if view == "2":  # there is no end to callers of callers
            terminal.until_seen("▼ exclusive")
            return None
        terminal.press("*")
        name = {"1": "top-down", "3": "flat"}[view]
        expected = viewer.printed_json(name, self.db)["root"]
        n = sum(1 for _ in viewer.rows_of(expected))
        lines = terminal.until(lambda lines: any(re.match(rf"1/{n}( |$)", line) for line in lines),
                               f"{n} rows")
        shown = viewer_screen.tree(lines)
        self.assertEqual([(row.name, len(row.children)) for row in shown.rows()],
                         [(row["name"], len(row["children"])) for _, row in viewer.rows_of(expected)])
        self.assertTrue(any(row.location for row in shown.rows()))
        return shown

    def in_order(self, row):
        costs = [float(child.costs[0].replace("<1", "0.5")) for child in row.children]
        self.assertEqual(costs, sorted(costs, reverse=True))
        for child in row.children:
            self.in_order(child)

    def select(self, terminal, shown, name):
        """Selects the first row with this name in the tree with everything open."""
        number = [row.name for row in shown.rows()].index(name)
        terminal.press("g", *["j"] * number)
        terminal.until_at(number + 1, sum(1 for _ in shown.rows()))

    def test_only_what_matches(self):
        for view in "1", "3":
            terminal, shown = self.start(view)
            for pattern in ("f1$", "F1|b\\.h:2", "a.c", "loop"):
                def matches(row):
                    flags = re.IGNORECASE if pattern == pattern.lower() else 0
                    return any(re.search(pattern, text, flags) for text in (row.name, row.location))
                terminal.answer("&", "C-u", pattern)
                terminal.until_seen(f"filters: [&{pattern}]",
                                    f"{count(shown, matches)} rows match")
                expected = only(shown, matches) or shown.copy([])
                self.assertLess(count(expected, lambda _: True), count(shown, lambda _: True))
                terminal.until_tree(expected, pattern)
            terminal.press("&", "C-u", "Enter")  # none any more: as it was before the first
            terminal.until_gone("filters:")
            terminal.until_tree(shown, "all")

    def only_files_and_modules(self, terminal):
        shown = self.opened(terminal, "3")
        described = viewer.rows_of(viewer.printed_json("flat", self.db)["root"])
        described = {id(at): row for (_, row), at in zip(described, shown.rows())}
        terminal.answer("&", "file:^/home/user/B").until_seen("0 rows match")
        terminal.answer("&", "C-u", "file:^/home/user/b")
        terminal.until_tree(only(shown, lambda row: described[id(row)]["file"] ==
                                 "/home/user/b.h"), "b.h")
        terminal.answer("&", "C-u", "module:libother")
        terminal.until_tree(only(shown, lambda row: described[id(row)].get("module") ==
                                 "/lib/libother.so.1"), "libother")

    def what_was_closed_is_closed_again(self, terminal):
        shown = self.opened(terminal)
        terminal.press("_")
        terminal.until_at(1, 1 + len(shown.children))
        terminal.answer("&", "loop")
        terminal.until_tree(only(shown, lambda row: "loop" in row.text), "loop")
        terminal.press("U")
        terminal.until_at(1, 1 + len(shown.children))

    def callers_are_no_matter_of_what_matches(self, terminal):
        self.opened(terminal, "2")
        shown = terminal.tree()
        names = sorted(row.name for row in shown.children)
        self.assertIn("f1", names)
        terminal.answer("&", "^f1$")
        terminal.until(lambda lines: viewer_screen.first_level(lines) == ["f1"], "f1")
        terminal.press("j", "+")
        procedures = viewer.printed_json("bottom-up", "--depth", 2, self.db)["root"]["children"]
        f1 = next(row for row in procedures if row["name"] == "f1")
        callers = {"f1"} | {row["name"] for row in f1["children"]}
        self.assertGreater(len(callers), 2)
        terminal.until(lambda lines: {row.name for row in viewer_screen.tree(lines).rows()} ==
                       {"<whole program>"} | callers, "callers of f1")

    def all_but_what_matches(self, terminal):
        shown = self.opened(terminal)
        terminal.answer("&", "!^(f1|b.h:1)$")
        expected = without(shown, lambda row: row.name in ("f1", "b.h:1"))
        self.assertLess(count(expected, lambda _: True), count(shown, lambda _: True))
        self.in_order(terminal.until_tree(expected, "without f1 and b.h:1"))
        terminal.answer("&", "!f0").until_seen("[&!^(f1|b.h:1)$] [&!f0]")
        self.in_order(terminal.until_tree(without(expected, lambda row: "f0" in row.name), "f0"))

    def test_hiding_and_folding_scopes(self):
        for keys, chip, rule in ((("x", "s"), "without f1", without),
                                 (("x", "a"), "without all of f1", without_all),
                                 (("X",), "not inside f1", folded)):
            terminal, shown = self.start()
            self.select(terminal, shown, "f1")
            terminal.press(*keys)
            terminal.until_seen(f"filters: [{chip}]")
            expected = rule(shown, lambda row: row.name == "f1")
            self.assertLess(count(expected, lambda _: True), count(shown, lambda _: True))
            self.in_order(terminal.until_tree(expected, chip))
            if rule is folded:
                row = next(row for row in terminal.tree().rows() if row.name == "f1")
                self.assertIsNone(row.is_open)

    def test_a_scope_is_the_same_in_other_views(self):
        terminal, shown = self.start("3")
        self.select(terminal, shown, "f1")
        terminal.press("x", "a")
        terminal.until_tree(without_all(shown, lambda row: row.name == "f1"), "flat")
        terminal.press("1", "*")
        _, top_down = self.start()
        terminal.until_tree(without_all(top_down, lambda row: row.name == "f1"), "top-down")
        terminal.press("2")
        terminal.until(lambda lines: "▼ exclusive" in "".join(lines) and
                       viewer_screen.first_level(lines) and
                       "f1" not in viewer_screen.first_level(lines), "bottom-up")

    def test_a_module_stands_for_its_procedures(self):
        terminal, shown = self.start("3")
        self.select(terminal, shown, "/lib/libother.so.1")
        terminal.press("x", "s")
        terminal.until_tree(without(shown, lambda row: row.name == "/lib/libother.so.1"), "flat")
        functions = {row["name"] for _, row in viewer.rows_of(
            viewer.printed_json("top-down", self.db)["root"])
            if row["kind"] == "procedure" and row["module"] == "/lib/libother.so.1"}
        self.assertTrue(functions)
        terminal.press("1", "*")
        _, top_down = self.start()
        terminal.until_tree(without(top_down, lambda row: row.name in functions), "top-down")

    def hiding_can_be_given_up(self, terminal):
        shown = self.opened(terminal)
        terminal.press_until("x", "this is the whole program")
        terminal.press_until("j x", "s: itself", "a: with all that is below")
        terminal.press("Escape")
        terminal.until_gone("s: itself")
        terminal.until_tree(shown, "all")

    def min_percent(self, terminal):
        shown = self.opened(terminal)
        root = viewer.printed_json("top-down", self.db)["root"]
        total = root["metrics"]["work (sec)"]["inclusive"]
        shares = {}
        for (_, row), at in zip(viewer.rows_of(root), shown.rows()):
            shares[id(at)] = 100 * row["metrics"]["work (sec)"]["inclusive"] / total
        for percent in 5, 20:
            terminal.answer("%", str(percent)).until_seen(f"filters: [at least {percent}%]")
            terminal.until_tree(without_all(shown, lambda row: shares[id(row)] < percent),
                                f"{percent} %")
        terminal.answer("%", "1x").until_seen("enter a number from 0 to 100")
        terminal.answer("%", "0")
        terminal.until_tree(shown, "all")

    def min_percent_follows_the_sorting(self, terminal):
        shown = self.opened(terminal, "2")
        names = {}
        for row in terminal.tree().children:
            names[row.name] = [float(cost.replace("<1", "0.5")) for cost in row.costs]
        total = float(terminal.tree().costs[0])
        for key, part in (("s", 0), ("S", 1)):  # by inclusive costs, back to exclusive ones
            percent = 8
            if key == "s":
                terminal.answer("%", str(percent))
                terminal.press("S")
            else:
                terminal.press("s")
            expected = {name for name, costs in names.items() if 100 * costs[part] / total > percent}
            terminal.until(lambda lines: set(viewer_screen.first_level(lines)) == expected,
                           f"{expected}")

    def undo_and_redo(self, terminal):
        shown = self.opened(terminal)
        terminal.press_until("U", "no change of filters to undo")
        self.select(terminal, shown, "f1")
        terminal.press_until("X", "[not inside f1]")
        terminal.answer("&", "!loop")
        both = without(folded(shown, lambda row: row.name == "f1"), lambda row: "loop" in row.name)
        terminal.until_tree(both, "both")
        terminal.press("U")
        terminal.until_tree(folded(shown, lambda row: row.name == "f1"), "folded")
        terminal.press("U")
        terminal.until_tree(shown, "all")
        terminal.press("C-r", "C-r")
        terminal.until_tree(both, "both again")
        terminal.press_until("C-r", "no change of filters to redo")
        terminal.press("U")
        terminal.answer("&", "!f1")  # a new change: what was undone is gone
        terminal.until_seen("[not inside f1] [&!f1]")
        terminal.press_until("C-r", "no change of filters to redo")

    def list_of_filters(self, terminal):
        shown = self.opened(terminal)
        terminal.answer("&", "!f1")
        terminal.answer("&", "!loop")
        terminal.answer("%", "1")
        terminal.press("\\")
        lines = terminal.until_seen("hpcviewer: filters")
        self.assertEqual([line.strip() for line in lines[1:4]], ["&!f1", "&!loop", "at least 1%"])
        terminal.press("j", "d")
        terminal.until_gone("&!loop")
        terminal.press_until("d q", "filters: [&!f1]")
        terminal.until_tree(without(shown, lambda row: "f1" in row.name), "f1")
        terminal.press("\\", "c")
        terminal.until_gone("&!f1")
        terminal.press("q")
        terminal.until_tree(shown, "all")
        terminal.press("U")
        terminal.until_tree(without(shown, lambda row: "f1" in row.name), "f1 again")

    def only_what_matches_and_is_not_hidden(self, terminal):
        shown = self.opened(terminal)
        self.select(terminal, shown, "f1")
        terminal.press("x", "a")
        left = without_all(shown, lambda row: row.name == "f1")
        terminal.until_tree(left, "without f1")
        terminal.answer("&", "loop").until_seen(f"{count(left, lambda row: 'loop' in row.text)} rows match")
        terminal.until_tree(only(left, lambda row: "loop" in row.text), "loop")

    def what_is_no_regular_expression(self, terminal):
        shown = self.opened(terminal)
        terminal.answer("&", "loop (").until_seen("invalid regular expression; searching for it literally")
        terminal.until_tree(shown.copy([]), "nothing")

    def test_one_session(self):
        """The first scenario is before any change of filters."""
        terminal = self.enterContext(viewer_screen.Viewer(self.db))
        terminal.press("v")
        terminal.in_turn(self, (
            self.undo_and_redo, self.only_files_and_modules, self.what_was_closed_is_closed_again,
            self.callers_are_no_matter_of_what_matches, self.all_but_what_matches, self.hiding_can_be_given_up,
            self.min_percent, self.list_of_filters, self.only_what_matches_and_is_not_hidden,
            self.what_is_no_regular_expression, self.min_percent_follows_the_sorting),
            lambda: terminal.press("Escape", "\\", "c", "q"))

    def test_small_screens_and_other_locales(self):
        terminal = self.enterContext(viewer_screen.Viewer(self.db, width=40, height=9,
                                                          environment={"LC_ALL": "C", "NO_COLOR": "1"}))
        terminal.answer("&", "loop").until_seen("rows match")
        terminal.resize(60, 12)
        terminal.until_seen("filters: [&loop]")
        terminal.resize(20, 12)
        terminal.until(lambda lines: all(len(line) <= 20 for line in lines), "20 columns")
        for width, height in ((1, 1), (3, 10), (9, 11), (200, 3), (80, 24)):
            terminal.resize(width, height)
            terminal.press("j", "x", "s", "U", "\\", "q")
        terminal.until_seen("filters: [&loop]", "?:help")

    def test_the_other_projection(self):
        with tempfile.TemporaryDirectory() as folder:
            for size, name in ((SIZE, ""), (SIZE + 40, "physical")):
                path = os.path.join(folder, name)
                os.makedirs(path, exist_ok=True)
                v4_writer.write_database(
                    viewer.random_database(SEED, size, metrics=["work (sec)"]), path)

            def without_f1(row):
                return 1 + sum(without_f1(child) for child in row["children"]
                               if child["name"] != "f1")
            physical = viewer.printed_json("top-down", "--physical", folder)["root"]
            n = without_f1(physical)
            self.assertLess(n, sum(1 for _ in viewer.rows_of(physical)))
            with viewer_screen.Viewer(folder) as terminal:
                terminal.answer("/", "^f1$")
                terminal.press_until("x a p g *", "[physical]", "[without all of f1]")
                terminal.until_at(1, n)

    def test_two_databases(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        v4_writer.write_database(viewer.random_database(SEED, SIZE + 40, metrics=["work (sec)"]),
                                 folder)
        rows = [row for _, row in viewer.rows_of(
            viewer.printed_json("top-down", self.db, folder)["root"])]
        terminal = self.enterContext(viewer_screen.Viewer(self.db, folder))
        for name in "f1", "i0":
            n = sum(row["name"] == name for row in rows)
            self.assertGreater(n, 1)
            terminal.answer("&", "C-u", f"name:^{name}$")
            terminal.until(lambda lines: f"{n} rows match" in lines[-3:][0] and n == sum(
                re.search(rf" {name}  ", line + "  ") is not None for line in lines[:-4]),
                f"{n} rows {name}")
        terminal.answer("U", "U", "*", "/", "^f1$")
        terminal.press("x", "a")
        terminal.until(lambda lines: any("without all of f1" in line for line in lines) and
                       not any(re.search(r" f1  ", line + "  ") for line in lines), "no f1")


class Stopping(unittest.TestCase):
    """The viewer with a clock that makes passes seem long."""

    def start(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        v4_big.write_big(folder, 20_000, 2)
        driver = Driver([viewer.VIEWER, "--closed", folder], environment={"LD_PRELOAD": str(FAST_CLOCK)})
        self.addCleanup(driver.__exit__)
        return driver

    @unittest.skipIf(SANITIZED, "sanitizers want to be the first library")
    def test_escape_stops_the_pass(self):
        driver = self.start()
        stopped = driver.press(b"&procedure_1\r\x1b").output
        self.assertIn(b"looking for rows that match", stopped)
        self.assertIn(b"stopped; the last filter was removed", stopped)
        self.assertNotIn(b"filters:", driver.press(b"\x0c").output)
        answer = driver.press(b"\x12")  # redo
        self.assertIn(b"rows match", answer.output)
        percentages = answer.progress()
        self.assertTrue(percentages)
        self.assertEqual(percentages, sorted(percentages))
        self.assertLessEqual(max(percentages), 100)
        self.assertIn(b"filters: ", driver.press(b"\x0c").output)

    @unittest.skipIf(SANITIZED, "sanitizers want to be the first library")
    def test_escape_stops_searching_and_opening(self):
        driver = self.start()
        self.assertIn(b"not found yet: nothing", driver.press(b"/nothing\r\x1b").output)
        self.assertIn(b"not found: nothing", driver.press(b"n").output)
        self.assertIn(b"not everything is open", driver.press(b"*\x1b").output)
        self.assertNotIn(b"not everything", driver.press(b"*").output)
