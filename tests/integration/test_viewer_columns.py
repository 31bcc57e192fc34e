"""Columns in the terminal: metrics defined there, units, bars, hiding, moving, widths, scrolling, and
the page about one row. The screen is compared with the numbers of --print json."""
import json
import os
import re
import tempfile

import test_viewer_efficiency as parallel
import viewer
import viewer_screen
import viewer_story as story

WASTE = "waste [s] = $idleness + $overhead"
EFFICIENCY = "efficiency = $work / $effort"
PROGRAM = 14.0625  # effort
BLOCKS = " ▏▎▍▌▋▊▉█"


class InTerminal(parallel.Case):
    def setUp(self):
        super().setUp()
        self.write(parallel.describe(), parallel.run_json(parallel.MEASURED))

    def start(self, *arguments, **more):
        return viewer_screen.start(self, *(arguments or [self.db]), **more)

    def opened(self, *arguments, **more):
        """With the three procedures that main calls on the screen."""
        terminal = self.start(*arguments, **{"width": 100, **more})
        terminal.press_until("H", "» init", "» fib", "» solve")
        return terminal

    def values(self, *definitions):
        """The costs of init, fib and solve: {name: {metric: {part: value}}}."""
        words = [word for definition in definitions for word in ("--derive", definition)]
        root = viewer.printed_json("top-down", *words, self.db)["root"]
        return {name: viewer.find(root, name)["metrics"] for name in ("init", "fib", "solve")}

    @staticmethod
    def heads(lines):
        return lines[2], lines[3]

    @staticmethod
    def cells(lines, name, n, width=16):
        """The first columns of the row with this name, without blanks."""
        line = next(line for line in lines if f"» {name}" in line)
        return [line[i * width:(i + 1) * width].strip() for i in range(n)]

    @staticmethod
    def order(lines):
        return [match[1] for match in (re.search("» (init|fib|solve)", line) for line in lines)
                if match]

    def define(self, terminal, definition, seen):
        terminal.press_until("d", "NAME = FORMULA")
        terminal.type(definition)
        terminal.until_seen(definition)
        return terminal.press_until("Enter", seen)


class Defining(InTerminal):
    def test_shown_and_sorted_by(self):
        terminal = self.opened()
        lines = self.define(terminal, WASTE, "waste: 5.062 s in the whole program")
        self.assertIn("waste, s", lines[2])
        self.assertIn("▼ inclusive", lines[3][:16])
        expected = {name: costs["waste"] for name, costs in self.values(WASTE).items()}
        for name, cost in expected.items():
            share = 100 * cost["inclusive"] / 5.0625
            self.assertEqual(self.cells(lines, name, 1),
                             [f"{cost['inclusive']:.3f}{share:6.1f}%"], name)
        self.assertEqual(self.order(lines),
                         sorted(expected, key=lambda name: -expected[name]["inclusive"]))

    def test_a_ratio_has_no_percentage_and_what_divides_by_zero_is_a_dash(self):
        terminal = self.opened()
        lines = self.define(terminal, EFFICIENCY, "efficiency: 0.640 in the whole program")
        for name, costs in self.values(EFFICIENCY).items():
            cost = costs["efficiency"]
            self.assertEqual(self.cells(lines, name, 2),
                             [f"{cost['inclusive']:.3f}", f"{cost['exclusive']:.3f}"])
        main = next(line for line in lines if "main  m.c:10" in line)
        self.assertEqual([main[:16].strip(), main[16:32].strip()], ["0.640", "-"])

    def test_errors_are_shown_and_can_be_corrected(self):
        terminal = self.opened()
        self.define(terminal, "waste = $idlenes + $overhead",
                    "no metric 'idlenes' (character 10): waste = $idlenes")
        terminal.answer("C-u", "waste = ").until_seen("a value is missing (character 9): waste =")
        terminal.type("$idleness")
        terminal.press_until("Enter", "waste: 3.062")
        self.define(terminal, "waste = 1", "there is a metric of that name")
        terminal.press_until("Escape", "8/9")

    def test_it_is_in_all_views_and_what_is_written(self):
        terminal = self.opened()
        self.define(terminal, WASTE, "waste: 5.062 s")
        for key, name in (("2", "init  m.c:20"), ("3", "/bin/parallel")):
            terminal.press(key)
            lines = terminal.until_seen(name)
            self.assertIn("waste, s", lines[2])
        path = os.path.join(self.db, "written.json")
        terminal.press_until("W", "write to:")
        terminal.answer("C-u", path).until_seen("written:")
        with open(path) as file:
            written = json.load(file)
        self.assertEqual(written["root"]["metrics"]["waste"]["inclusive"], 5.0625)

    def test_of_a_comparison(self):
        terminal = self.start("--names", "a,b", self.db, self.db, width=100)
        lines = self.define(terminal, 'twice [s] = $"work [a]" + $"work [b]"', "twice: 18.00 s")
        self.assertIn("twice, s", lines[2])
        self.assertIn("18.00 100.0%", lines[4])


class Choosing(InTerminal):
    """The list of columns: both parts of work, overhead, idleness, effort."""

    def in_list(self, terminal, *keys):
        terminal.press_until("C", "hpcviewer: columns")
        terminal.press(*keys)
        return terminal.press_until("q", "?:help")

    def test_the_list(self):
        terminal = self.opened()
        lines = terminal.press_until("C", "hpcviewer: columns")
        self.assertEqual([line.split() for line in lines[1:9]],
                         [["[x]", part, *(["*"] if (part, metric) == ("inclusive", "work") else []),
                           metric] for metric in (*parallel.PARTS, "effort")
                          for part in ("inclusive", "exclusive")])

    def test_hiding_and_moving(self):
        terminal = self.opened()
        # Hides work; moves inclusive effort to the top.
        lines = self.in_list(terminal, "Space", "Down", "Space", *5 * ["Down"], *6 * ["K"])
        self.assertRegex(lines[2], r"^ +effort, s +overhead, s +idleness, s$")
        self.assertEqual(re.findall("(?:in|ex)clusive", lines[3]),
                         ["inclusive", "inclusive", "exclusive", "inclusive"])
        for name, costs in self.values().items():
            shown = [number for cell in self.cells(lines, name, 4) for number in cell.split()[:1]]
            self.assertEqual([round(float(number), 2) for number in shown],
                             [round(value, 2) for value in (
                                 costs["effort"]["inclusive"], costs["overhead"]["inclusive"],
                                 costs["overhead"]["exclusive"],
                                 round(costs["idleness"]["inclusive"], 3))])
        lines = self.in_list(terminal, "a")
        self.assertRegex(lines[2], r"^ +work, s +overhead, s +idleness, s +effort, s")

    def test_sorting_in_the_list_and_by_what_is_not_hidden(self):
        terminal = self.opened()
        lines = self.in_list(terminal, "Space", "Down", "Down", "s")
        self.assertEqual(self.order(lines), ["fib", "init", "solve"])  # two have none
        self.assertIn("▼ inclusive", lines[3])
        seen = []
        for _ in range(8):  # exclusive overhead, ..., effort, the name, exclusive work, overhead
            terminal.press("s")
            lines = terminal.until(lambda lines: "▼" in lines[3] and
                                   lines[3] not in seen[-1:], "another column")
            seen.append(lines[3])
        self.assertTrue(any("scope ▼" in head for head in seen))
        lines = terminal.press_until("C", "hpcviewer: columns")
        self.assertEqual([line.split()[1:] for line in lines if "*" in line],
                         [["inclusive", "*", "overhead"]])

    def test_deleting_a_derived_metric(self):
        terminal = self.opened()
        self.define(terminal, WASTE, "waste: 5.062 s")
        terminal.press("C", "End", "d")
        terminal.until_gone("waste")
        terminal.press("Home", "d", "q")  # work cannot be deleted
        lines = terminal.until_seen("?:help")
        self.assertIn("work, s", lines[2])
        self.assertNotIn("waste", "\n".join(lines))
        self.define(terminal, "waste [s] = $idleness", "waste: 3.062 s")

    def test_scrolling(self):
        terminal = self.opened()
        for key, columns, first in [("}", "2 to 5 of 8", "exclusive"),
                                    ("}", "3 to 6 of 8", "inclusive"),
                                    ("}", "4 to 7 of 8", "exclusive"),
                                    ("}", "5 to 8 of 8", "inclusive"),
                                    ("}", "5 to 8 of 8", "inclusive"),
                                    ("{", "4 to 7 of 8", "exclusive")]:
            terminal.press(key)
            lines = terminal.until_seen(f"columns {columns}")
            self.assertEqual(lines[3].replace("▼", "").split()[0], first)
        overhead = self.values()["fib"]["overhead"]["exclusive"]
        self.assertEqual(self.cells(lines, "fib", 1)[0].split()[0], f"{overhead:.3f}")

    def test_kinds_and_choices(self):
        terminal = self.opened()
        terminal.press_until("}", "columns 2 to 5 of 8")
        terminal.press_until("o", "has no kinds of overhead")


class Cells(InTerminal):
    def test_bars(self):
        terminal = self.opened()
        terminal.press("b")
        lines = terminal.until(
            lambda lines: any("█" in line for line in lines), "bars")
        for name, costs in self.values().items():
            eighths = round(costs["work"]["inclusive"] / PROGRAM * 6 * 8) or 1
            bar = "█" * (eighths // 8) + (BLOCKS[eighths % 8] if eighths % 8 else "")
            self.assertEqual(self.cells(lines, name, 1)[0].split(),
                             [f"{costs['work']['inclusive']:.3f}", bar])
        terminal.press("b")
        terminal.until(lambda lines: not any("█" in line for line in lines), "percentages")

    def test_bars_in_ascii(self):
        terminal = self.start(width=100, environment={"LC_ALL": "C"})
        terminal.press("H", "b")
        lines = terminal.until(lambda lines: any(re.search(r"\d +#", line) for line in lines),
                               "bars")
        work = self.values()["solve"]["work"]["inclusive"]
        line = next(line for line in lines if " solve" in line)
        self.assertEqual(line[:16].split(), ["5.000", "#" * round(work / PROGRAM * 6)])


class Inspecting(InTerminal):
    def page(self, terminal):
        return terminal.press_until("i", "hpcviewer: one row", "q: back")

    def test_all_digits_and_percentages(self):
        terminal = self.opened(height=45)
        self.define(terminal, WASTE, "waste: 5.062 s")
        self.define(terminal, "product = $waste * @work / $work:inclusive", "product: 5.062")
        terminal.press("g")
        terminal.press("/")
        terminal.type("fib")
        terminal.press_until("Enter Escape", "main > fib")
        lines = self.page(terminal)
        text = "\n".join(line.rstrip() for line in lines)
        root = viewer.printed_json("top-down", "--derive", WASTE, self.db)["root"]
        fib, main = viewer.find(root, "fib"), viewer.find(root, "main")
        self.assertIn("procedure fib\n"
                      "  declared    /src/m.c:30\n"
                      "  called at   /src/m.c:13\n"
                      "  in          /bin/parallel\n", text)
        self.assertIn("\npath, outermost first\n  main thread\n  main\n  fib\n", text)
        for metric in (*parallel.PARTS, "effort"):
            at = text.index(f"\n{metric}, s\n")
            inclusive, exclusive = text[at:].split("\n")[2:4]
            cost, above = fib["metrics"][metric], main["metrics"][metric]["inclusive"]
            self.assertEqual(float(inclusive.split()[1]), cost["inclusive"])
            self.assertEqual(float(exclusive.split()[1]), cost["exclusive"])
            self.assertIn(f"{100 * cost['inclusive'] / PROGRAM:.6g}% of the program's effort",
                          inclusive)
            self.assertIn(f"{100 * cost['inclusive'] / above:.6g}% of the row above", inclusive)
        share = re.escape(f"{100 * 2 / 5.0625:.6g}%")
        self.assertRegex(text, r"\nwaste, s = \$idleness \+ \$overhead\n"
                               rf"  inclusive   2 = 0 \+ 2 +{share} of the program  {share} of the "
                               r"row above\n  exclusive   1\.5 = 0 \+ 1\.5 ")
        self.assertIn("\nproduct = $waste * @work / $work:inclusive\n"
                      "  inclusive   6 = 2 * 9 / 3\n"
                      "  exclusive   4.5 = 1.5 * 9 / 3\n", text)
        terminal.press_until("q", "?:help")

    def test_why_not_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            story.write(folder)
            terminal = self.start(folder)
            lines = self.page(terminal)
            self.assertRegex("\n".join(line.rstrip() for line in lines),
                             r"\nnot measured\n  idleness: no runtime with an agent took part\n")
