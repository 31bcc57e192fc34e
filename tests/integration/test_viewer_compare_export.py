"""hpcviewer A B --format folded, flamegraph, svg, speedscope and pprof: stacks with the costs of both runs, checked against the
JSON output and against each run alone."""
import collections
import json
import re
import xml.etree.ElementTree as ElementTree

import viewer
from comparison_oracle import Program
from protobuf_reader import Pprof
from terminal import Terminal
from test_viewer_compare import DEPTH, VIEWS, Compared, parallel
from test_viewer_export import (XHTML, Checks, expected_stacks, flamegraph_frames, folded_stacks,
                                frames_below, own_cost, pprof_stacks, speedscope_stacks)

SVG = "{http://www.w3.org/2000/svg}"

SIDES = ("work [before]", "work [after]")
LEAST_CHANGE = 0.005
MIN_WIDTH = 0.001  # in percent


def folded_pairs(text):
    """{names: [before, after]}, the sums of lines with the same names."""
    stacks = collections.defaultdict(lambda: [0, 0])
    for line in text.splitlines():
        stack, *values = line.rsplit(" ", 2)
        for side, value in enumerate(values):
            stacks[tuple(stack.split(";"))][side] += int(value)
    return dict(stacks)


def costs_where_shown(view, tree):
    """{names of the frames: cost before} of frames that are wide enough for what they have after."""
    def frames_of(row, stack):
        """(total after, the frame and those in it, without those that are too narrow)."""
        own = [round(own_cost(view, row, metric)) for metric in SIDES]
        below = [frames_of(frame, stack + (frame["name"],)) for frame in frames_below(row)]
        total = own[1] + sum(frame[0] for frame in below)
        inside = [item for frame in below if 100 * frame[0] > MIN_WIDTH * whole for item in frame[1]]
        return total, [(stack, own[0]), *inside]

    whole = tree["root"]["metrics"][SIDES[1]]["inclusive"]
    costs = collections.Counter()
    for frame in frames_below(tree["root"]):
        total, items = frames_of(frame, (frame["name"],))
        for stack, cost in items if 100 * total > MIN_WIDTH * whole else ():
            costs[stack] += cost
    return costs


def paired(before, after):
    return {stack: [before[stack], after[stack]] for stack in {*before, *after}}


class OfBoth(Compared, Checks):
    def options(self, view):
        return ("--depth", DEPTH) if view == "bottom-up" else ()

    def expected(self, view):
        """The stacks of either side."""
        tree = self.compared(view)
        return [expected_stacks(view, tree, metric) for metric in SIDES]

    def test_folded_stacks_have_two_numbers(self):
        """The stacks of each side add up to its run."""
        for seed in range(6):
            self.write(*Program(seed, unit=1).databases)
            for view in VIEWS:
                with self.subTest(seed=seed, view=view):
                    text = self.export(view, "folded", *self.options(view), *self.folders)
                    pairs = folded_pairs(text)
                    self.assertEqual(pairs, paired(*self.expected(view)))
                    for side, folder in enumerate(self.folders):
                        alone = folded_stacks(self.export(view, "folded", *self.options(view), folder))
                        self.assertEqual(sum(pair[side] for pair in pairs.values()),
                                         sum(alone.values()))

    def test_flame_graphs_have_the_widths_of_the_second_run(self):
        for seed in range(4):
            self.write(*Program(seed, unit=1).databases)
            for view in VIEWS:
                with self.subTest(seed=seed, view=view):
                    tree = self.compared(view)
                    page = self.export(view, "flamegraph", "--min-percent", 0, *self.options(view),
                                       *self.folders)
                    whole = tree["root"]["metrics"]
                    self.check_flamegraph(page, expected_stacks(view, tree, SIDES[1]),
                                          whole[SIDES[1]]["inclusive"])
                    self.check_first_run(page, costs_where_shown(view, tree),
                                         whole[SIDES[0]]["inclusive"])

    def check_first_run(self, page, before, whole):
        """The first run's costs stand in the same frames; those of it that have no width there are
        summed up in the legend; colors say which run has more."""
        shown = 0
        frames = [e for e in ElementTree.fromstring(page).iter(f"{XHTML}div") if e.get("class") == "f"]
        own = collections.Counter()
        for path, frame in zip(flamegraph_frames(page), frames):
            costs = [int(frame.get(name)) for name in ("data-total-before", "data-total")]
            own[tuple(f.name for f in path[1:])] += int(frame.get("data-own-before"))
            shown += int(frame.get("data-own-before"))
            self.check_color(frame.get("style"), *costs)
        self.assertEqual(int(frames[0].get("data-total-before")), whole)
        del own[()]
        self.assertEqual(own, before)
        legend, = (e for e in ElementTree.fromstring(page).iter(f"{XHTML}p"))
        said = re.search(r"next to none of it: (\S+) (?:count )?\(.*of before\.",
                         "".join(legend.itertext()))
        self.assertEqual(float(said[1]), whole - shown)

    def check_color(self, style, before, after):
        """Gray: no change; orange, with more red than blue: more; blue: less."""
        red, green, blue = (int(part, 16) for part in re.search(r"#(..)(..)(..)", style).groups())
        change = (after - before) / max(before, after, 1)
        if abs(change) < LEAST_CHANGE:
            self.assertTrue(red == green == blue, style)
        else:
            self.assertEqual((red > green > blue, red < green < blue), (change > 0, change < 0), style)

    def test_the_page_says_what_it_is(self):
        self.write(parallel("a", [("work", 8)]), parallel("b", [("work", 12)]))
        page = self.export("top-down", "flamegraph", *self.folders)
        title = "parallel [before] and [after]: work of top-down, logical projection"
        self.assertIn(f"<title>{title}</title>", page)
        self.assertIn(f"<h1>{title}</h1>", page)
        text = "".join(ElementTree.fromstring(page).find(f".//{XHTML}p").itertext())
        self.assertIn("Widths: what after has of work.", text)
        self.assertIn("after has a tenth half as much twice of before, or something new", text)
        self.assertIn("main  m.c:10\nwork: before 8 (100.0%), after 12 (100.0%), difference 4 (50.0%)\n"
                      "itself: before 8 (100.0%), after 12 (100.0%), difference 4 (50.0%)",
                      [path[-1].title for path in flamegraph_frames(page)])

    def test_whatever_column_is_sorted_by(self):
        """It is the metric that is shown, of both runs; what was not compared cannot be."""
        self.write(*Program(2, unit=1).databases)
        wanted = self.export("flat", "folded", "--sort", "misses", *self.folders)
        for column in ("misses [before]", "misses [after]", "misses ratio"):
            text = self.export("flat", "folded", "--sort", column, *self.folders)
            self.assertEqual(folded_pairs(text), folded_pairs(wanted))
        said = self.refused(2, "--print", "flat", "--format", "folded", "--derive",
                            'x = $"work [before]" + 1', "--sort", "x", *self.folders)
        self.assertIn("'x' does not add up along stacks", said)

    def test_nothing_in_the_second_run(self):
        self.write(parallel("a", [("work", 8)]), parallel("b", [("work", 0)]))
        page = self.export("top-down", "flamegraph", "--metrics", "work", "--min-percent", 0, *self.folders)
        self.assertNotIn("nan", page)
        self.assertEqual(len(flamegraph_frames(page)), 1)

    def test_hostile_names(self):
        self.write(parallel("a", [("<&work\">", 8)]), parallel("b", [("<&work\">", 9)]))
        page = self.export("flat", "flamegraph", "--names", "<a>,\"&b\"", *self.folders)
        legend = "".join(ElementTree.fromstring(page).find(f".//{XHTML}p").itertext())
        self.assertIn('Widths: what "&b" has of <&work">.', legend)

    def test_profiles_of_both_runs(self):
        """Speedscope: a profile of each run; pprof: a type of values of each run and metric."""
        for seed in range(4):
            self.write(*Program(seed, unit=1).databases)
            for view in VIEWS:
                with self.subTest(seed=seed, view=view):
                    options = *self.options(view), *self.folders
                    expected = [+stacks for stacks in self.expected(view)]
                    file = json.loads(self.export(view, "speedscope", *options))
                    self.assertEqual([profile["name"] for profile in file["profiles"]], list(SIDES))
                    self.assertEqual([speedscope_stacks(json.dumps(dict(file, profiles=[profile])))
                                      for profile in file["profiles"]], expected)
                    profile = Pprof(self.export(view, "pprof", *options))
                    self.assertEqual([name for name, _ in profile.types],
                                     [*SIDES, "misses [before]", "misses [after]"])
                    self.assertEqual(profile.default, SIDES[1])
                    self.assertEqual([pprof_stacks(view, profile, metric) for metric in SIDES], expected)

    def test_drawings(self):
        """The boxes of the drawing are the frames of the page: places, colors, and what pointing at them shows."""
        self.write(*Program(2, unit=1).databases)
        for view in VIEWS:
            options = "--min-percent", 0, *self.options(view), *self.folders
            page = [e for e in ElementTree.fromstring(self.export(view, "flamegraph", *options)).iter(f"{XHTML}div")
                    if e.get("class") == "f"]
            drawing = ElementTree.fromstring(self.export(view, "svg", *options))
            boxes = [(e.find(f"{SVG}title").text, e.find(f"{SVG}rect")) for e in drawing.iter(f"{SVG}g")]
            styles = [dict(item.split(":") for item in frame.get("style").split(";")) for frame in page]
            wide = [(frame.get("title"), style) for frame, style in zip(page, styles)
                    if float(style["width"].rstrip("%")) > 0.01]
            self.assertEqual([title for title, _ in boxes], [title for title, _ in wide])
            for (_, box), (_, style) in zip(boxes, wide):
                self.assertEqual(box.get("fill"), style["background"])
                for name, attribute in (("left", "x"), ("width", "width")):
                    self.assertAlmostEqual(float(box.get(attribute)), 12 * float(style[name].rstrip("%")), delta=0.01)
                self.assertEqual(int(box.get("y")) - int(boxes[0][1].get("y")), int(style["top"].removesuffix("px")))
            self.assertIn("widths: after; colors, in comparison with before:", "".join(drawing.itertext()))

    def test_written_from_the_terminal(self):
        self.write(*Program(3, unit=1).databases)
        terminal = self.enterContext(Terminal([viewer.VIEWER, "--closed", *self.folders], 120, 40))
        terminal.until_seen("?:help")
        for suffix, kind in (("folded", "folded"), ("html", "flamegraph"), ("svg", "svg"),
                             ("speedscope.json", "speedscope")):
            path = self.place / f"written.{suffix}"
            terminal.answer("W", "C-u", str(path)).until_seen("written: ")
            self.assertEqual(path.read_text(), self.export("top-down", kind, *self.folders))
            terminal.press("j")
