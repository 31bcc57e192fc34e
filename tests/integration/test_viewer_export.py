"""hpcviewer --print VIEW --format folded, flamegraph, speedscope, pprof: values checked against the JSON
output, in every view and projection and for every metric."""
import collections
import html.parser
import json
import math
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import protobuf_reader
import v4_writer
import viewer
import viewer_story as story

VIEWS = ("top-down", "bottom-up", "flat")
FRAMES = ("root", "module", "file", "procedure", "inlined")
XHTML = "{http://www.w3.org/1999/xhtml}"


def frames_below(row, nested=False):
    """The frames directly below a row; or with the frames in them."""
    for child in row["children"]:
        if child["kind"] in FRAMES:
            yield child
            if nested:
                yield from frames_below(child, True)
        else:
            yield from frames_below(child, nested)


def own_cost(view, row, metric):
    """The own cost of a frame: its cost minus those of the frames in it."""
    part = "inclusive" if view == "top-down" else "exclusive"
    contained = list(frames_below(row))
    if view == "flat" and row["kind"] in ("procedure", "inlined"):
        contained = []  # exclusive costs are without what is inlined
    elif view == "flat" and row["kind"] == "file":
        contained = list(frames_below(row, True))
    return max(0, row["metrics"][metric][part] -
               sum(frame["metrics"][metric][part] for frame in contained))


def expected_stacks(view, tree, metric):
    """{names of the frames: value}, from JSON."""
    unit = next(m["unit"] for m in tree["metrics"] if m["name"] == metric)
    stacks = collections.Counter()

    def walk(row, stack):
        for frame in frames_below(row):
            path = stack + (frame["name"],)
            value = math.floor(own_cost(view, frame, metric) * (1e9 if unit == "s" else 1) + 0.5)
            if value:
                stacks[path] += value
            walk(frame, path)
    walk(tree["root"], ())
    return stacks


def folded_stacks(text):
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        stacks[tuple(stack.split(";"))] += int(value)
    return stacks


def speedscope_stacks(text):
    file = json.loads(text)
    profile, = file["profiles"]
    assert profile["type"] == "sampled" and profile["startValue"] == 0
    assert profile["endValue"] == sum(profile["weights"])
    assert len(profile["samples"]) == len(profile["weights"])
    names = [frame["name"] for frame in file["shared"]["frames"]]
    stacks = collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"]):
        stacks[tuple(names[i] for i in sample)] += weight
    return stacks


def pprof_stacks(view, profile, metric):
    index = [name for name, _ in profile.types].index(metric)
    stacks = collections.Counter()
    for frames, values in profile.samples:
        names = [frame[0] for frame in frames]
        if values[index]:
            stacks[tuple(names if view == "bottom-up" else reversed(names))] += values[index]
    return stacks


class Frame:
    def __init__(self, element):
        style = dict(item.split(":") for item in element.get("style").split(";"))
        self.left = float(style["left"].rstrip("%"))
        self.right = self.left + float(style["width"].rstrip("%"))
        self.depth = int(style["top"].removesuffix("px")) // 18
        self.name, self.title = element.text, element.get("title")
        self.own, self.total = int(element.get("data-own")), int(element.get("data-total"))


SLACK = 0.00021  # positions have 4 digits


def flamegraph_frames(text):
    """[(stack of frames)], outermost first, by where the frames are."""
    elements = ElementTree.fromstring(text).iter(f"{XHTML}div")
    path, paths = [], []
    for frame in (Frame(e) for e in elements if e.get("class") == "f"):
        del path[frame.depth:]
        assert len(path) == frame.depth, frame.name
        if path:
            assert path[-1].left - SLACK <= frame.left
            assert frame.right <= path[-1].right + SLACK, (frame.name, path[-1].name)
        path.append(frame)
        paths.append(tuple(path))
    return paths


class Checks(unittest.TestCase):
    maxDiff = None

    def export(self, view, kind, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out")
            self.assertEqual(viewer.printed(view, "--format", kind, "--output", path,
                                            *arguments), "")
            with open(path, "rb") as file:
                data = file.read()
        return data if kind == "pprof" else data.decode("utf-8")

    def check_flamegraph(self, text, expected, whole):
        paths = flamegraph_frames(text)
        root = paths[0][0]
        self.assertEqual((root.left, root.right, root.total), (0, 100, math.floor(whole + 0.5)))
        stacks, totals = collections.Counter(), collections.Counter()
        for path in paths[1:]:
            names = tuple(frame.name for frame in path[1:])
            if path[-1].own:
                stacks[names] += path[-1].own
            totals[names] += path[-1].total
            self.assertAlmostEqual(path[-1].right - path[-1].left,
                                   100 * path[-1].total / whole, delta=SLACK + 50 / whole)
        self.assertEqual(stacks, expected)
        for names, total in totals.items():  # each value was rounded by itself
            parts = [value for stack, value in expected.items() if stack[:len(names)] == names]
            self.assertAlmostEqual(total, sum(parts), delta=1 + len(parts))
        siblings = collections.defaultdict(list)
        for path in paths[1:]:
            siblings[path[:-1]].append(path[-1])
        for frames in siblings.values():
            for one, next_one in zip(frames, frames[1:]):
                self.assertLessEqual(one.right, next_one.left + SLACK)

    def check(self, db, view, metric, *options):
        tree = viewer.printed_json(view, *options, db)
        expected = expected_stacks(view, tree, metric)
        unit = next(m["unit"] for m in tree["metrics"] if m["name"] == metric)
        chosen = ("--sort", metric, *options, db)
        self.assertEqual(folded_stacks(self.export(view, "folded", *chosen)), expected)
        self.assertEqual(speedscope_stacks(self.export(view, "speedscope", *chosen)), expected)
        profile = protobuf_reader.Pprof(self.export(view, "pprof", *chosen))
        self.assertEqual(profile.types, [
            (m["name"], "nanoseconds" if m["unit"] == "s" else m["unit"])
            for m in tree["metrics"] if m["state"] == "measured"])
        self.assertEqual(profile.default, metric)
        for name, _ in profile.types:
            self.assertEqual(pprof_stacks(view, profile, name),
                             expected_stacks(view, tree, name))
        whole = tree["root"]["metrics"][metric]["inclusive"] * (1e9 if unit == "s" else 1)
        self.check_flamegraph(self.export(view, "flamegraph", "--min-percent", 0, *chosen),
                              expected, whole)


class AgainstJson(Checks):
    def test_the_story_in_both_projections(self):
        with tempfile.TemporaryDirectory() as folder:
            story.write(os.path.join(folder, "db"))
            for view in VIEWS:
                for projection in ((), ("--physical",)):
                    with self.subTest(view=view, projection=projection):
                        self.check(os.path.join(folder, "db"), view, "work", *projection)

    def test_random_trees_and_all_metrics(self):
        for seed in range(4):
            with tempfile.TemporaryDirectory() as folder:
                v4_writer.write_database(viewer.random_database(seed), folder)
                units = ("s", "count") if seed % 2 else ("B", "s")
                viewer.describe_run(folder, [{"name": name, "unit": unit, "state": "measured"}
                                             for name, unit in zip(("work", "misses"), units)])
                for view in VIEWS:
                    for metric in ("work", "misses"):
                        with self.subTest(seed=seed, view=view, metric=metric):
                            self.check(folder, view, metric)

    def test_nothing_is_lost_where_scopes_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            story.write(os.path.join(folder, "db"))
            for view in VIEWS:
                for limit in (("--depth", 3), ("--min-percent", 5)):
                    with self.subTest(view=view, limit=limit):
                        self.check(os.path.join(folder, "db"), view, "work", *limit)


class Details(Checks):
    def setUp(self):
        self.db = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "db")
        story.write(self.db)

    def test_flat_stacks_are_the_exclusive_costs(self):
        self.assertEqual(folded_stacks(self.export("flat", "folded", self.db)), {
            ("/usr/bin/xz", "/src/xz.c", "main"): 250_000_000,
            ("/usr/bin/xz", "/src/coder.c", "coder_run"): 8_000_000_000,
            ("/usr/bin/xz", "/src/coder.c", "coder_run", "min_size"): 1_000_000_000,
            ("/lib/libc.so.6", "<unknown file>", "write_out"): 750_000_000})

    def test_pprof_says_where(self):
        profile = protobuf_reader.Pprof(self.export("top-down", "pprof", self.db))
        stacks = {tuple(frames): values for frames, values in profile.samples}
        xz, coder = ("/src/xz.c", "/usr/bin/xz"), ("/src/coder.c", "/usr/bin/xz")
        self.assertEqual(stacks[("coder_run", 0, *coder), ("coder_run", 40, *coder),
                                ("main", 111, *xz), ("main thread", 0, "", "")],
                         [500_000_000])
        self.assertEqual(profile.starts, {"main thread": 0, "application thread": 0, "main": 100, "coder_run": 20,
                                          "min_size": 40, "write_out": 0, "worker": 200})
        profile = protobuf_reader.Pprof(self.export("bottom-up", "pprof", self.db))
        stacks = {tuple(frames): values for frames, values in profile.samples}
        self.assertEqual(stacks[("coder_run", 0, *coder), ("coder_run", 40, *coder),
                                ("main", 111, *xz)], [500_000_000])

    def test_pprof_has_what_can_be_added_up(self):
        profile = protobuf_reader.Pprof(self.export(
            "top-down", "pprof", "--derive", "half [s] = $work / 2", "--derive", "one = $work / $work", self.db))
        self.assertEqual(profile.types, [("work", "nanoseconds"), ("half", "nanoseconds")])

    def test_speedscope_says_where_and_what(self):
        file = json.loads(self.export("top-down", "speedscope", self.db))
        self.assertIn({"name": "coder_run", "file": "/src/coder.c", "line": 20},
                      file["shared"]["frames"])
        self.assertEqual((file["profiles"][0]["name"], file["profiles"][0]["unit"], file["name"]),
                         ("work", "nanoseconds", "xz"))

    def test_the_page_shows_values_and_needs_nothing_else(self):
        page = self.export("top-down", "flamegraph", self.db)
        titles = [path[-1].title for path in flamegraph_frames(page)]
        self.assertIn("coder_run  coder.c:20\nwork 6.500 s (65.0%)\nitself 5.000 s (50.0%)", titles)
        for reference in (" src=", " href=", "@import", "url("):
            self.assertNotIn(reference, page)
        addresses = page.count("://")
        self.assertEqual(addresses, page.count("http://www.w3.org/1999/xhtml"))

    def test_pages_leave_out_what_cannot_be_seen(self):
        shown = flamegraph_frames(self.export("top-down", "flamegraph", "--min-percent", 20,
                                              self.db))
        self.assertNotIn("write_out", [path[-1].name for path in shown])

    def test_hostile_names(self):
        names = ['<script>alert("1")</script>', "]]>", "a&b;\"'", b"\xff\x01\xef\xbf\xbe;x",
                 "two\nlines"]
        with tempfile.TemporaryDirectory() as folder:
            db = v4_writer.Database(b"<t>&\"\x02", ["a<&\"b"])
            main = db.entry()
            for name in names:
                main.call(db.function(name, db.module(b"/m<\xfe"))).charge(1.0)
            v4_writer.write_database(db, folder)
            page = self.export("top-down", "flamegraph", folder)
            shown = {path[-1].name for path in flamegraph_frames(page)}
            self.assertLessEqual({names[0], names[1], names[2], r"\xff\x01\ufffe;x",
                                  r"two\x0alines"}, shown)
            # HTML's rules are not XML's: the page has one script by them, too.
            tags = collections.Counter()

            class Tags(html.parser.HTMLParser):
                def handle_starttag(self, tag, attributes):
                    tags[tag] += 1
            Tags().feed(page)
            self.assertEqual((tags["script"], tags["div"]), (1, len(names) + 4))
            profile = protobuf_reader.Pprof(self.export("top-down", "pprof", folder))
            self.assertIn(r"\xff\x01\ufffe;x", profile.strings)
            self.assertEqual(len(json.loads(self.export("top-down", "speedscope", folder))
                                 ["shared"]["frames"]), len(names) + 1)

    def test_same_input_same_bytes(self):
        for kind in ("flamegraph", "speedscope", "pprof"):
            self.assertEqual(self.export("top-down", kind, self.db),
                             self.export("top-down", kind, self.db))


class Output(Checks):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.db = os.path.join(self.folder, "db")
        story.write(self.db)

    def test_every_view_and_format_goes_to_a_file_as_to_standard_output(self):
        for view in (*VIEWS, "threads", "summary"):
            for kind in ("text", "json") if view == "summary" else ("text", "csv", "json"):
                done = subprocess.run([viewer.VIEWER, "--print", view, "--format", kind, self.db],
                                      capture_output=True, check=True,
                                      env=dict(os.environ, LC_ALL="C.UTF-8"))
                self.assertEqual(self.export(view, kind, self.db).encode("utf-8"), done.stdout)

    def test_a_file_that_cannot_be_written(self):
        for path, cause in ((os.path.join(self.folder, "no", "file"), "No such file or directory"),
                            (self.folder, "Is a directory"),
                            ("/dev/full", "No space left on device")):
            for kind in ("text", "json", "flamegraph", "speedscope", "pprof"):
                with self.subTest(path=path, kind=kind):
                    done = viewer.run("--print", "flat", "--format", kind, "--output", path,
                                      self.db)
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (1, "", f"hpcviewer: {path}: {cause}\n"))

    def test_what_makes_no_sense(self):
        for kind in ("folded", "flamegraph", "speedscope", "pprof"):
            for view in ("threads", "summary"):
                done = viewer.run("--print", view, "--format", kind, self.db)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("is for top-down, bottom-up, flat; ", done.stderr)
        done = viewer.run("--output", "x", self.db)
        self.assertEqual(done.returncode, 2)
        self.assertIn("need --print", done.stderr)
