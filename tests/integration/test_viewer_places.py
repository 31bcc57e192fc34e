"""Places in the terminal viewer: back and forward, the same scope in other views; opening
everything, the threshold of the hot path. Expected rows are computed from --print json.
"""
import re
import tempfile
import unittest

import v4_writer
import viewer
import viewer_screen
import viewer_story as story

METRIC = "work (sec)"


def cost(row, part):
    return row["metrics"][METRIC][part]


def identity(row):
    site = row.get("call_site") or {}
    return (row["kind"], row["name"], row["file"], row["line"], site.get("file"), site.get("line"))


def is_procedure(row):
    return row["kind"] in ("procedure", "inlined")


def with_paths(row, path=()):
    """Every row with the rows above it, the innermost last."""
    yield path, row
    for child in row["children"]:
        yield from with_paths(child, path + (row,))


def static_scopes(path, row):
    """A row and what is around it up to the procedure that was called, as the flat view tells."""
    scopes = []
    for at in (row,) + tuple(reversed(path)):
        if at["kind"] == "root":
            return None
        kind, name, file, line, site_file, site_line = identity(at)
        is_called = kind == "procedure"
        scopes.append((kind, name, file, line) + (() if is_called else (site_file, site_line)))
        if is_called:
            return scopes
    return None


class InTerminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(tempfile.TemporaryDirectory())
        v4_writer.write_database(viewer.random_database(11, 130, metrics=[METRIC]), cls.db)

    def start(self, view="1"):
        terminal = self.enterContext(viewer_screen.Viewer(self.db))
        terminal.press("v", view, "g")
        return terminal

    def everything(self, terminal, view="top-down"):
        """Opens everything; the rows as they are printed, in their order."""
        rows = list(with_paths(viewer.printed_json(view, self.db)["root"]))
        terminal.press("*")
        terminal.until_at(1, len(rows))
        return rows

    def is_row(self, row):
        """Whether a row on the screen is that one."""
        return lambda shown: shown.name == row["name"] and all(
            abs(float(text.replace("<1", "0.5")) - cost(row, part)) < 0.06
            for text, part in zip(shown.costs, ("inclusive", "exclusive")))


class SameScope(InTerminal):
    def from_contexts_to_procedures_and_static_scopes(self, terminal):
        rows = self.everything(terminal)
        procedures = {row["name"]: row for row in
                      viewer.printed_json("bottom-up", "--depth", 1, self.db)["root"]["children"]}
        flat = list(with_paths(viewer.printed_json("flat", self.db)["root"]))
        checked = 0
        for number, (path, row) in enumerate(rows):
            scopes = static_scopes(path, row)
            if number % 9 or not scopes:
                continue
            terminal.press("1", "g", *["j"] * number)
            terminal.until_at(number + 1, len(rows))
            around = next(at for at in (row,) + path[::-1] if is_procedure(at))
            terminal.press_until(". 2", "▼ exclusive")
            terminal.until_selected(self.is_row(procedures[around["name"]]), around["name"])
            terminal.press("1", ".", "3")
            expected = [at for above, at in flat if static_scopes(above, at) == scopes]
            self.assertEqual(len(expected), 1)
            terminal.until_selected(self.is_row(expected[0]), scopes)
            checked += 1
        self.assertGreater(checked, 5)

    def from_static_scopes_to_their_hottest_context(self, terminal):
        terminal.press("3")
        flat = self.everything(terminal, "flat")
        contexts = list(with_paths(viewer.printed_json("top-down", self.db)["root"]))
        checked = 0
        for number, (path, row) in enumerate(flat):
            scopes = static_scopes(path, row) if row["kind"] not in ("module", "file") else None
            if number % 7 or not scopes:
                continue
            terminal.press("3", "g", *["j"] * number)
            terminal.until_at(number + 1, len(flat))
            hottest = max((at for above, at in contexts if static_scopes(above, at) == scopes),
                          key=lambda at: cost(at, "inclusive"), default=None)
            terminal.press(".", "1")
            if hottest:
                terminal.until_selected(self.is_row(hottest), scopes)
            else:  # a line without costs of its own that calls
                terminal.until_seen("that view has no such row")
            checked += hottest is not None
        self.assertGreater(checked, 5)

    def modules_have_no_context(self, terminal):
        terminal.press("3")
        terminal.press_until("j . 1", "that view has no such row")
        terminal.until_seen("libother")
        terminal.press("j")
        terminal.until_selected(lambda row: "/" in row.name, "the row below")

    def from_callers_to_the_hottest_context(self, terminal):
        terminal.press_until("2", "▼ exclusive")
        root = viewer.printed_json("bottom-up", "--depth", 2, self.db)["root"]
        contexts = list(with_paths(viewer.printed_json("top-down", self.db)["root"]))
        callee = next(row for row in root["children"] if len(row["children"]) > 2)
        terminal.press(*["j"] * (1 + root["children"].index(callee)), "+")
        for caller in callee["children"]:
            terminal.press("2", "j")
            terminal.until_selected(self.is_row(caller), caller["name"])
            candidates = []
            for path, row in contexts:
                frames = [at for at in path if is_procedure(at)]
                site = row.get("call_site") or {}
                if is_procedure(row) and row["name"] == callee["name"] and frames and \
                        frames[-1]["name"] == caller["name"] and \
                        site == (caller.get("call_site") or {}):
                    candidates.append(row)
            hottest = max(candidates, key=lambda row: cost(row, "exclusive"))
            terminal.press(".", "1")
            terminal.until_selected(self.is_row(hottest), caller["name"])

    def to_the_call_site(self, terminal):
        rows = self.everything(terminal)
        checked = 0
        for number, (path, row) in enumerate(rows):
            if not is_procedure(row) or number % 3:
                continue
            site = row.get("call_site")
            lines = [at for at in path[-1]["children"] if site and at["kind"] == "statement" and
                     (at["file"], at["line"]) == (site["file"], site["line"])]
            expected = max(lines, key=lambda at: cost(at, "inclusive"), default=path[-1])
            terminal.press("g", *["j"] * number)
            terminal.until_at(number + 1, len(rows))
            terminal.press(".", "c")
            terminal.until_selected(self.is_row(expected), row["name"])
            checked += len(lines) > 0
        self.assertGreater(checked, 3)

    def the_menu(self, terminal):
        terminal.press_until(".", "go to the same scope", "2  bottom-up", "3  flat", "c  the line")
        terminal.press_until("q", "?:help")
        terminal.press_until("2 .", "1  top-down", "3  flat")
        terminal.press("j", "Enter")
        terminal.until_seen("that view has no such row")  # the whole program

    def test_one_session(self):
        terminal = self.start()
        terminal.in_turn(self, (
            self.from_contexts_to_procedures_and_static_scopes, self.from_static_scopes_to_their_hottest_context,
            self.modules_have_no_context, self.from_callers_to_the_hottest_context, self.to_the_call_site,
            self.the_menu),
            lambda: terminal.press("Escape", *"3g_2g_1g_"))


class Moves(story.StoryTest):
    def start(self, height=40):
        return viewer_screen.start(self, self.db, height=height)

    def at(self, terminal, position, path):
        return terminal.until(
            lambda lines: any(re.match(rf"^{position}( |$)", line) and line.rstrip().endswith(path)
                              for line in lines), f"{position} ... {path}")

    def test_back_and_forward(self):
        terminal = self.start()
        terminal.press_until("[", "no earlier place")
        terminal.press("H")
        self.at(terminal, "5/8", "main > loop at xz.c:110 > coder_run")
        terminal.press("z")
        self.at(terminal, "1/4 zoomed", "coder_run")
        terminal.press("2", "G")
        self.at(terminal, "6/6", "worker")
        terminal.press("k", "[")  # from the row above, where moving has led
        self.at(terminal, "1/6", "1/6")
        terminal.press("[")
        self.at(terminal, "1/4 zoomed", "coder_run")
        terminal.press("[")
        self.at(terminal, "5/11", "coder_run")  # zooming has opened it
        terminal.press("[")
        self.at(terminal, "1/11", "1/11")
        terminal.press_until("[", "no earlier place")
        for position, path in (("5/11", "coder_run"), ("1/4 zoomed", "coder_run"), ("1/6", "1/6"),
                               ("5/6", "main")):
            terminal.press("]")
            self.at(terminal, position, path)
        terminal.press_until("]", "no later place")
        terminal.press("[", "[")
        self.at(terminal, "1/4 zoomed", "coder_run")
        terminal.press("Z")  # from here on it is another way
        self.at(terminal, "5/11", "coder_run")
        terminal.press_until("]", "no later place")
        terminal.press("[")
        self.at(terminal, "1/4 zoomed", "coder_run")

    def test_breadcrumbs(self):
        terminal = self.start()
        terminal.press("H", "z")
        terminal.until_seen("zoomed 4 deep: main thread > main > loop at xz.c:110 > coder_run"
                            "  Z: out")
        terminal.press("Z")
        terminal.until_gone("zoomed 4 deep")

    def test_threshold_of_the_hot_path(self):
        # coder_run has 6.5; below it are 3.0, 2.0 and 1.5.
        terminal = self.start()
        terminal.answer("T", "C-u", "46")
        terminal.press("H")
        lines = terminal.until(lambda lines: any("> coder_run >" in line for line in lines), "below")
        self.assertFalse(any("a number" in line for line in lines))
        terminal.press_until("T", "hot child in percent: 46")
        terminal.press("C-u")
        terminal.type("100")
        terminal.press("Enter", "1", "g", "_", "H")  # no child has all of it
        terminal.until_seen("the hot path ends here: main thread has most of what is below, 75% of this")
        terminal.answer("T", "0").until_seen("enter a number from 0 to 100")


class Opening(InTerminal):
    def test_everything_below_a_row(self):
        terminal = self.start()
        rows = list(with_paths(viewer.printed_json("top-down", self.db)["root"]))
        terminal.press("j", "*")
        first = rows[0][1]["children"][0]
        below = sum(1 for _ in with_paths(first))
        terminal.until_at(2, below + len(rows[0][1]["children"]))
        terminal.press("_")
        terminal.until_at(2, 1 + len(rows[0][1]["children"]))
        terminal.press("+")  # what was below it is closed, too
        terminal.until_at(2, 1 + len(rows[0][1]["children"]) + len(first["children"]))
        terminal.press("g", "*")
        terminal.until_at(1, len(rows))
        terminal.press("_")  # the root stays open
        terminal.until_at(1, 1 + len(rows[0][1]["children"]))

    def test_callers_have_an_end(self):
        terminal = self.start("2")
        rows = [row for _, row in with_paths(viewer.printed_json(
            "bottom-up", "--depth", 100, self.db)["root"])]
        terminal.press("*")
        terminal.until_at(1, len(rows))
