"""W writes what the screen shows: text is checked against the screen at that moment, other formats
against --print json with the filters' rules applied here. --filter is the same as & in the viewer."""
import csv
import io
import json
import pathlib
import re
import tempfile
import unittest

import protobuf_reader
import v4_writer
import viewer
import viewer_screen
from test_viewer_export import expected_stacks, folded_stacks, speedscope_stacks
from test_viewer_filter import folded, only, without, without_all

SEED, SIZE = 11, 130  # a tree of some 80 rows
WORK = "work (sec)"
VIEWS = {"1": "top-down", "3": "flat"}


class Node:
    """A row of JSON, for the rules."""

    def __init__(self, row, children=None):
        self.row = row
        self.children = [Node(child) for child in row["children"]] if children is None else children

    def copy(self, children):
        return Node(self.row, children)

    def json(self):
        return dict(self.row, children=[child.json() for child in self.children])


def named(*names):
    return lambda node: node.row["name"] in names


def shown_name(node):
    """Whether "loop" stands in a name or place as rows show them: base names."""
    row = node.row
    place = f"{pathlib.Path(row['file'] or '').name}:{row['line']}"
    return "loop" in row["name"] or "loop" in place


# Keys that make a filter of the selected row (f1) or by what is typed, what they are called, and the
# rule; and as options where there are such.
FILTERS = [
    (("x", "s"), None, "without f1", lambda tree: without(tree, named("f1")), None),
    (("x", "a"), None, "without all of f1", lambda tree: without_all(tree, named("f1")), None),
    (("X",), None, "not inside f1", lambda tree: folded(tree, named("f1")), None),
    (("&",), "loop", "&loop", lambda tree: only(tree, shown_name), ("--filter", "loop")),
    (("&",), "!^f1$", "&!^f1$", lambda tree: without(tree, named("f1")), ("--filter=!^f1$",)),
]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.db = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "db"
        cls.db.mkdir()
        v4_writer.write_database(viewer.random_database(SEED, SIZE, metrics=[WORK, "misses"]), cls.db)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def start(self, *arguments, **more):
        terminal = self.enterContext(viewer_screen.Viewer(*(arguments or [self.db]), **more))
        terminal.press("v")
        terminal.until_gone(" no source file is known ")
        return terminal

    def select(self, terminal, view, name):
        """Opens all rows and selects the first row of that name."""
        terminal.press("g", "*", "g")
        rows = [row["name"] for _, row in
                viewer.rows_of(viewer.printed_json(view, self.db)["root"])]
        number = rows.index(name)
        terminal.press(*["j"] * number)
        terminal.until_at(number + 1, len(rows))

    def write(self, terminal, name):
        """Writes with W to that name: the text of the file, and the message."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        terminal.press_until("W", "write to: ")
        lines = terminal.answer("C-u", str(path)).until_seen(f"written: {path}")
        return path, next(line for line in lines if "written: " in line).rstrip()


class Text(Case):
    @staticmethod
    def rows(lines, head_at):
        """(costs, level, whether it is closed, the rest) of the lines below the column heads, as far
        as there are any. A sign of closed rows stands before their names."""
        width = lines[head_at].index("scope") - 2
        found = []
        for line in lines[head_at + 1:]:
            tree = line[width:].rstrip()
            if not tree or line.startswith("─"):
                continue
            name = tree.lstrip(" ▸▾")
            signs = tree[:len(tree) - len(name)]
            found.append((line[:width].rstrip(), len(signs), "▸" in signs, name))
        return found

    def compare(self, terminal):
        """Compares the file with the screen, which must have room for all rows."""
        path, _ = self.write(terminal, "view.txt")
        text = path.read_text().split("\n")
        head = next(i for i, line in enumerate(text) if line.endswith("  scope"))
        written = self.rows(text[head:text.index("", head)], 0)
        self.assertGreater(len(written), 0)

        def is_the_same(lines):
            end = next((i for i, line in enumerate(lines) if i > 3 and not line.strip()), 0)
            if not end or "scope" not in lines[3]:
                return False
            # On the screen each row has room for a sign.
            return written == [(costs, level - 2, is_closed, name)
                               for costs, level, is_closed, name in self.rows(lines[:end], 3)]
        terminal.until(is_the_same, f"as in {path.read_text()}")
        return path.read_text()

    def test_open_rows_filters_zoom_columns_and_units(self):
        terminal = self.start()
        text = self.compare(terminal)
        self.assertNotIn("filters: ", text)
        self.assertRegex(text, r"\n\n\d+ rows? (is|are) closed: what is below (it|them) is left out\.\n$")
        terminal.press("H")
        terminal.until_gone("1/2 ")
        self.compare(terminal)
        for keys, typed, chip, _, _ in FILTERS:
            self.select(terminal, "top-down", "f1")
            terminal.press(*keys)
            if typed:
                terminal.answer("C-u", typed)
            terminal.until_seen(f"filters: [{chip}]")
            self.assertIn(f"\n  filters: [{chip}]\n", self.compare(terminal))
            terminal.press("\\", "c", "q")
            terminal.until_gone("filters: [")
        terminal.answer("%", "10").until_seen("[at least 10%]")
        self.assertIn("\n  filters: [at least 10%]\n", self.compare(terminal))
        terminal.press("U")
        self.select(terminal, "top-down", "f1")
        terminal.press_until("z", "zoomed")
        self.assertNotIn("closed", self.compare(terminal).split("scope")[1])

    def test_columns_bars_and_sorting(self):
        terminal = self.start()
        terminal.press_until("*", "f1")
        terminal.press("C", "Space", "J", "J", "q")  # inclusive work: hidden and moved
        terminal.until(lambda lines: "inclusive" not in lines[3].split("scope")[0].split()[0], "heads")
        text = self.compare(terminal)
        head = next(line for line in text.split("\n") if line.endswith("  scope"))
        self.assertEqual(head.split(), ["exclusive", "inclusive", "exclusive", "scope"])
        terminal.press("C", "a", "q")
        for keys, seen in (("b", "█"), ("b", "exclusive"), ("<", "scope ▼"), ("r", "scope ▲")):
            terminal.press(keys)
            terminal.until_seen(seen)
            self.compare(terminal)

    def test_other_views_and_threads(self):
        terminal = self.start()
        for view, seen in (("3", "/bin/program"), ("2", "▼ exclusive")):
            terminal.press(view)
            terminal.until_seen(seen)
            terminal.press("j", "+")
            self.compare(terminal)
        terminal.answer("|", "thread 1").until_seen("1 of 3")
        self.assertIn("threads: ", self.compare(terminal).split("\n")[0])

    def test_without_utf8(self):
        terminal = self.start(self.db, environment={"LC_ALL": "C"})
        path, _ = self.write(terminal, "view.txt")
        text = path.read_bytes()
        self.assertTrue(text.isascii())
        self.assertRegex(text, rb"> main thread")


class OtherFormats(Case):
    def filtered(self, view, rule):
        """The view's JSON as it is to be with a filter."""
        shown = viewer.printed_json(view, self.db)
        shown["root"] = rule(Node(shown["root"])).json()
        return shown

    def check_json(self, shown, expected, chip):
        self.assertIsNone(viewer.difference(viewer.canonical(shown["root"]),
                                            viewer.canonical(expected["root"])))
        self.assertEqual(shown["filters"], [chip])

    def test_filters_in_every_format(self):
        for view in VIEWS:
            terminal = self.start()
            terminal.press(view)
            for keys, typed, chip, rule, option in FILTERS:
                expected = self.filtered(VIEWS[view], rule)
                self.select(terminal, VIEWS[view], "f1")
                terminal.press(*keys)
                if typed:
                    terminal.answer("C-u", typed)
                terminal.until_seen(f"filters: [{chip}]")
                path, message = self.write(terminal, "view.json")
                self.assertEqual(message, f"written: {path} (as filtered: {chip})")
                shown = json.loads(path.read_text())
                self.check_json(shown, expected, chip)
                if option:
                    self.assertEqual(viewer.printed_json(VIEWS[view], *option, self.db), shown)
                self.check_others(terminal, VIEWS[view], shown, chip)
                terminal.press("\\", "c", "q")
                terminal.until_gone("filters: [")

    def check_others(self, terminal, view, shown, chip):
        """The other formats against the JSON, which has been checked."""
        records = list(csv.DictReader(io.StringIO(
            self.write(terminal, "view.csv")[0].read_text())))
        self.assertEqual([(int(record["depth"]), record["name"]) for record in records],
                         [(depth, row["name"]) for depth, row in viewer.rows_of(shown["root"])])
        stacks = expected_stacks(view, shown, WORK)
        self.assertGreater(len(stacks), 0)
        for name, read in (("view.folded", folded_stacks), ("view.speedscope.json", speedscope_stacks)):
            text = self.write(terminal, name)[0].read_text()
            found = read(text)
            self.assertEqual(set(found), set(stacks), (view, chip, name))
            for stack, value in stacks.items():  # halves are rounded
                self.assertLess(abs(found[stack] - value), 20, (view, chip, name, stack))
        self.assertTrue(json.loads(text)["name"].endswith(f"  filters: [{chip}]"))
        page = self.write(terminal, "view.html")[0].read_text()
        self.assertIn(f"filters: [{chip.replace('&', '&amp;')}]", page)
        owns = [int(own) for own in re.findall(r'data-own="(\d+)"', page)]
        whole = viewer.printed_json(view, self.db)["root"]["metrics"][WORK]["inclusive"]
        self.assertLess(abs(sum(owns) - whole * 1e9), 100)  # of frames, each rounded

    def test_chosen_columns(self):
        terminal = self.start()
        terminal.press("C", "J", "J", "J", "k", "k", "k", "Space", "q")
        # Inclusive work stands last, exclusive work is hidden.
        terminal.until(lambda lines: lines[3].split() == ["inclusive", "exclusive", "▼", "inclusive",
                                                          "scope"], "the columns")
        lines = self.write(terminal, "view.csv")[0].read_text().splitlines()
        self.assertEqual(lines[0].split(",")[8:],
                         ["misses:inclusive", "misses:exclusive", f"{WORK}:inclusive"])
        shown = json.loads(self.write(terminal, "view.json")[0].read_text())
        everything = viewer.printed_json("top-down", self.db)
        self.assertEqual([metric["name"] for metric in shown["metrics"]], ["misses", WORK])
        for (_, row), (_, other) in zip(viewer.rows_of(shown["root"]),
                                        viewer.rows_of(everything["root"])):
            costs = other["metrics"]
            self.assertEqual(list(row["metrics"].items()),
                             [("misses", costs["misses"]),
                              (WORK, {"inclusive": costs[WORK]["inclusive"]})])
        terminal.press("C", "j", "Space", "j", "Space", "q")  # without misses
        terminal.until(lambda lines: lines[3].split() == ["▼", "inclusive", "scope"], "one column")
        profile = protobuf_reader.Pprof(self.write(terminal, "view.pb.gz")[0].read_bytes())
        self.assertEqual([name for name, _ in profile.types], [WORK])

    def test_what_does_not_add_up(self):
        terminal = self.start("--derive", "ratio = $misses / $1", "--sort", "ratio", self.db)
        terminal.answer("W", "C-u", str(self.folder / "view.folded"))
        terminal.until_seen("has no sums over stacks; sort by another metric")
        self.assertEqual(list(self.folder.iterdir()), [])


class Options(Case):
    def test_filters_in_the_terminal(self):
        terminal = self.start("--filter", "loop", "--filter", "!f0", self.db)
        terminal.until_seen("filters: [&loop] [&!f0]")
        terminal.press("U", "U")
        terminal.until_gone("filters: [")

    def test_text_says_what_is_filtered(self):
        text = viewer.printed("flat", "--filter=!f1", "--filter", "name:loop", self.db)
        self.assertIn("\n  filters: [&!f1] [&name:loop]\n", text)
        self.assertNotIn("closed", text)

    def test_depth_counts_what_is_shown(self):
        root = viewer.printed_json("top-down", "--filter=!main thread", "--depth", 2, self.db)["root"]
        everything = without(Node(viewer.printed_json("top-down", self.db)["root"]),
                             named("main thread")).json()
        self.assertEqual([(depth, row["name"]) for depth, row in viewer.rows_of(root)],
                         [(depth, row["name"]) for depth, row in viewer.rows_of(everything)
                          if depth <= 2])

    def test_what_cannot_be(self):
        for options, message in (
                (("--print", "flat", "--filter", "loop ("), "invalid regular expression: 'loop ('"),
                (("--print", "flat", "--filter", "a", "--filter", "b"), "only one expression can say"),
                (("--print", "flat", "--filter", "!"), "needs an expression, not '!'"),
                (("--print", "flat", "--filter", ""), "needs an expression, not ''"),
                (("--print", "summary", "--filter", "a"), "--filter works on trees"),
                (("--print", "threads", "--filter", "a"), "--filter works on trees")):
            done = viewer.run(*options, self.db)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(message, done.stderr)
