"""hpcviewer A B: calls of one procedure from sites that one run does not know, and from those that the
other one knows, are compared as one. Databases are hpcprof's, of runs that the tests make up; what
must come out is counted from the description of these runs."""
import random

import measurement_writer as mw
import viewer
from hpcprof_scenario import Scenario
from test_hpcprof_call_sites import INLINED, INNER, LEAF, LINE, LOOP, MAIN, OUTER, CallSitesCase

NAMES = ("one", "four")
UNIT = mw.seconds(1)


class ComparedCase(CallSitesCase):
    def setUp(self):
        super().setUp()
        self.folder = self.scenario.folder
        self.sides = 0

    def side(self, *paths):
        """A database of paths, each a tuple of notes with the seconds at its end."""
        self.scenario = Scenario(self.at_side(self.sides))
        self.sides += 1
        self.start(self.structure())
        for *notes, amount in paths:
            self.call(*notes, amount=amount * UNIT)
        self.scenario.database()

    def at_side(self, side):
        return f"{self.folder}/{NAMES[side]}"

    def databases(self):
        return [f"{self.at_side(side)}/db" for side in (0, 1)]

    def compared(self, view="top-down", *arguments):
        return viewer.printed_json(view, *arguments, "--names", ",".join(NAMES), *self.databases())

    def rows(self, tree, *names):
        """The children of the row at the end of a path of names."""
        row = tree["root"]
        for name in names:
            row, = [child for child in row["children"] if child["name"] == name]
        return row["children"]

    def told(self, rows, part="inclusive"):
        """{(name, line or state of the call site): seconds of both sides}"""
        found = {}
        for row in rows:
            site = row.get("call_site") or {}
            key = row["name"], site.get("state") or site.get("line")
            self.assertNotIn(key, found)
            found[key] = tuple(self.seconds(row, part))
        return found

    @staticmethod
    def seconds(row, part="inclusive"):
        return [row["metrics"][f"work [{name}]"][part] for name in NAMES]


class TopDownTest(ComparedCase):
    def test_two_lines_and_none(self):
        """Equal runs compare as equal, however many calls are from unknown sites."""
        self.side((MAIN, LINE, INNER, LEAF, 3), (MAIN, OUTER + 0x50 - 1, INNER, 5))
        self.side((MAIN, LINE, INNER, LEAF, 1), (MAIN, OUTER + 0x50 - 1, INNER, 1),
                  (MAIN, (OUTER,), INNER, LEAF, 2), (MAIN, (OUTER,), INNER, 4))
        tree = self.compared()
        self.assertEqual(self.told(self.rows(tree, "main thread", "main", "outer")),
                         {("inner", "several"): (8, 8)})
        inner = self.rows(tree, "main thread", "main", "outer", "inner")
        self.assertEqual(self.told(inner), {("leaf", 21): (3, 3), ("a.c:21", None): (5, 5)})

    def test_unknown_sites_in_the_first_run_only(self):
        self.side((MAIN, LINE, INNER, LEAF, 1), (MAIN, (OUTER,), INNER, LEAF, 2), (MAIN, OUTER + 0x50 - 1, INNER, 5))
        self.side((MAIN, LINE, INNER, LEAF, 8))
        self.assertEqual(self.told(self.rows(self.compared(), "main thread", "main", "outer")),
                         {("inner", "several"): (8, 8)})

    def structure(self):
        from structure_model import F, L, P, S, Structure
        return Structure(F("/s/a.c",
                           P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
                             S(3, (0x1010, 0x1020))),
                           P("outer", 10, [(0x2000, 0x2100)], S(12, (0x2000, 0x2010)),
                             L(13, S(14, (0x2010, 0x2020))), S(18, (0x2020, 0x2050))),
                           P("inner", 20, [(0x3000, 0x3100)], S(21, (0x3000, 0x3010)),
                             L(22, S(23, (0x3010, 0x3020)))),
                           P("leaf", 30, [(0x4000, 0x4100)], S(31, (0x4000, 0x4010)))))

    def test_one_side_knows_no_site(self):
        self.side((MAIN, LINE, INNER, 3))
        self.side((MAIN, (OUTER,), INNER, 5))
        told = self.told(self.rows(self.compared(), "main thread", "main", "outer"))
        self.assertEqual(told, {("inner", "unknown"): (3, 5)})

    def test_what_is_known_on_both_sides_stays_apart(self):
        paths = (MAIN, LINE, INNER, 3), (MAIN, OUTER + 0x20, INNER, 5), (MAIN, LINE, LEAF, 1)
        self.side(*paths)
        self.side(*paths, (MAIN, (OUTER,), LEAF, 2), (MAIN, OUTER + 0x20, LEAF, 7))
        told = self.told(self.rows(self.compared(), "main thread", "main", "outer"))
        self.assertEqual(told, {("inner", 12): (3, 3), ("inner", 18): (5, 5),
                                ("leaf", "several"): (1, 10)})

    def test_recursion(self):
        """fib: each level is one row."""
        a, b, u = LINE, OUTER + 0x20, (OUTER,)
        self.side((a, a, b, 1), (a, b, a, 2), (b, a, a, 4), (b, b, a, 8), (a, a, 16))
        self.side((a, a, b, 2), (u, b, a, 4), (u, a, a, 8), (b, u, a, 16), (u, a, 32))
        rows = self.rows(self.compared(), "main thread", "outer")
        by_level = []
        while rows:
            calls = [row for row in rows if row["name"] == "outer"]
            by_level.append(tuple(self.seconds(row) for row in calls))
            rows = [child for row in calls for child in row["children"]]
        self.assertEqual(by_level, [([31, 62],), ([15, 30],), ()])

    def test_loops(self):
        """How much of the call from an unknown site is in the loop is unknown, so the loop is replaced
        by its contents."""
        self.side((MAIN, LOOP, INNER, 6), (MAIN, LINE, INNER, 2), (MAIN, LOOP, LEAF, 1),
                  (MAIN, LOOP, 3))
        self.side((MAIN, LOOP, INNER, 1), (MAIN, LINE, INNER, 1), (MAIN, LOOP, LEAF, 1),
                  (MAIN, LOOP, 3), (MAIN, (OUTER,), INNER, 6))
        told = self.told(self.rows(self.compared(), "main thread", "main", "outer"))
        self.assertEqual(told, {("inner", "several"): (8, 8), ("leaf", 14): (1, 1),
                                ("a.c:14", None): (3, 3)})

    def test_other_loops(self):
        """Loops without such calls stay."""
        self.side((MAIN, LOOP, INNER, 6), (MAIN, LINE, LEAF, 2), (MAIN, OUTER + 0x20, LEAF, 1))
        self.side((MAIN, LOOP, INNER, 6), (MAIN, LINE, LEAF, 1), (MAIN, OUTER + 0x20, LEAF, 1),
                  (MAIN, (OUTER,), LEAF, 1))
        told = self.told(self.rows(self.compared(), "main thread", "main", "outer"))
        self.assertEqual(told, {("leaf", "several"): (3, 3), ("loop at a.c:13", None): (6, 6)})

    def test_alone_it_is_marked(self):
        """In a database by itself, as text and as JSON."""
        self.side((MAIN, LINE, INNER, 3), (MAIN, OUTER + 0x20, INNER, 5), (MAIN, (OUTER,), INNER, 1))
        db = self.databases()[0]
        root = viewer.printed_json("top-down", db)["root"]
        inner = [row for row in viewer_rows(root) if row["name"] == "inner"]
        self.assertEqual(sorted((row["call_site"]["line"] or 0, row["call_site"].get("state"))
                                for row in inner), [(0, "unknown"), (12, None), (18, None)])
        text = viewer.printed("top-down", db)
        self.assertEqual([text.count(f"{line} » inner") for line in ("12", "18", "?")], [1, 1, 1])
        physical = viewer.printed_json("top-down", "--physical", db)["root"]
        self.assertFalse([row for row in viewer_rows(physical) if "state" in
                          (row.get("call_site") or {})])

    def test_a_list_that_is_damaged(self):
        """Invalid call sites in run.json are harmless."""
        self.side((MAIN, LINE, INNER, 3), (MAIN, OUTER + 0x20, INNER, 5), (MAIN, (OUTER,), INNER, 1))
        db = self.databases()[0]
        with open(f"{db}/run.json", encoding="utf-8") as file:
            text = file.read()
        before, rest = text.split('"unknown_call_sites": [')
        for damaged in ('["x", null, -1, 99999999999999999999e0, 1e300, 7, 7]', '{"a": 1}', "17"):
            with open(f"{db}/run.json", "w", encoding="utf-8") as file:
                file.write(f'{before}"unknown_call_sites": {damaged}{rest.split("]", 1)[1]}')
            self.assertTrue(viewer.printed_json("top-down", db)["root"]["children"])


class BottomUpTest(ComparedCase):
    structure = TopDownTest.structure

    def test_callers(self):
        self.side((MAIN, LINE, LEAF, 3), (MAIN, OUTER + 0x20, LEAF, 5))
        self.side((MAIN, LINE, LEAF, 2), (MAIN, OUTER + 0x20, LEAF, 1), (MAIN, (OUTER,), LEAF, 5))
        tree = self.compared("bottom-up")
        self.assertEqual(self.told(self.rows(tree, "leaf"), "exclusive"),
                         {("outer", "several"): (8, 8)})
        self.assertEqual(self.told(self.rows(tree, "leaf", "outer"), "exclusive"),
                         {("main", 2): (8, 8)})

    def test_recursion_counts_once(self):
        """Instances of the joined row are nested."""
        a, b, u = LINE, OUTER + 0x20, (OUTER,)
        self.side((MAIN, a, b, a, 1), (MAIN, b, a, b, 2))
        self.side((MAIN, a, u, b, 1), (MAIN, u, b, a, 2))
        callers = self.rows(self.compared("bottom-up"), "outer")
        recursive, = [row for row in callers if row["name"] == "outer"]
        self.assertEqual(recursive["call_site"]["state"], "several")
        self.assertEqual(self.seconds(recursive), [3, 3])


def viewer_rows(row):
    yield row
    for child in row["children"]:
        yield from viewer_rows(child)


class RandomTest(ComparedCase):
    """Two runs, one of which knows few sites: rows that belong together are joined, and sums hold."""

    structure = TopDownTest.structure

    def paths(self, generator, unknown):
        code = [MAIN, MAIN + 0x10, LINE, LOOP, INLINED, INNER, INNER + 0x10]
        for _ in range(60):
            notes = [generator.choice(code) for _ in range(generator.randrange(1, 6))]
            yield (*[(note & ~0xfff,) if generator.random() < unknown else note
                     for note in notes], LEAF, generator.randrange(1, 100))

    def test_random_runs(self):
        joined = 0
        for seed in range(8):
            with self.subTest(seed=seed):
                self.setUp()
                generator = random.Random(seed)
                totals = []
                for unknown in (0, 0.5):
                    paths = list(self.paths(generator, unknown))
                    totals.append(sum(path[-1] for path in paths))
                    self.side(*paths)
                for view in ("top-down", "bottom-up"):
                    root = self.compared(view, "--depth", "5")["root"]
                    self.assertEqual(self.seconds(root), totals)
                    joined += sum(self.check_row(row, view) for row in viewer_rows(root))
        self.assertGreater(joined, 100)

    def check_row(self, row, view):
        """The number of children that were joined."""
        calls, states = {}, 0
        for child in row["children"]:
            state = (child.get("call_site") or {}).get("state")
            states += state is not None
            if child["kind"] == "procedure":
                calls.setdefault(child["name"], []).append(state)
        for name, of_procedure in calls.items():
            if len(of_procedure) > 1 and "one" in row["in"] and "four" in row["in"]:
                self.assertEqual(set(of_procedure), {None}, name)
        if view == "top-down" and row["children"] and "a.c" not in row["name"]:
            below = [sum(values) for values in zip(*map(self.seconds, row["children"]))]
            self.assertEqual(self.seconds(row), below, row["name"])
        return states
