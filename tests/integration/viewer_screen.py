"""What the terminal viewer shows, read back from the screen as a tree."""
import re

import viewer
from terminal import Terminal

COST = r"(-|<1|\d[\d.]*)(?: +(?:[<\d.]+)%|       )"
ROW = re.compile(rf"^ +{COST} +{COST}  (?P<indent> *)(?P<mark>[▸▾ ]) (?P<text>\S.*)$")


class Row:
    """A row of the tree: its costs as they are written, its name, where it is, whether it is open
    (None: there is nothing to open)."""

    def __init__(self, costs, text, mark):
        self.costs, self.text = costs, text
        self.is_open = {"▸": False, "▾": True, " ": None}[mark]
        self.name, _, self.location = re.sub(r"^(.*» |« )?(\[I\] )?", "", text).partition("  ")
        self.children = []

    def copy(self, children):
        row = Row(self.costs, self.text, " ")
        row.is_open, row.children = self.is_open, children
        return row

    def key(self):
        """Equal for trees that are equal but for the order of children."""
        return (self.costs, self.text, sorted(child.key() for child in self.children))

    def rows(self):
        """The row and those below, as on the screen."""
        yield self
        for child in self.children:
            yield from child.rows()


def tree(lines):
    """The rows on the screen; None while it is not drawn."""
    path = []
    for line in lines:
        match = ROW.match(line.rstrip())
        if not match:
            continue
        row = Row((match[1], match[2]), match["text"], match["mark"])
        depth = len(match["indent"]) // 2
        if depth > len(path):
            return None
        del path[depth:]
        if path:
            path[-1].children.append(row)
        path.append(row)
    return path[0] if path else None


def first_level(lines):
    """The names of the rows below the first; none while it is not drawn."""
    shown = tree(lines)
    return [row.name for row in shown.children] if shown else []


def start(test, *arguments, **more):
    """The viewer in a terminal of the usual size, or of `more`, with closed rows. It has drawn its first screen."""
    terminal = test.enterContext(Terminal([viewer.VIEWER, "--closed", *arguments], **more))
    if more.get("height", 24) >= 8:
        terminal.until_seen("?:help")
    return terminal


# A line of the page of threads: those of v4_writer without names, of viewer_story, and "t PID/PROFILE".
BAR = re.compile(r"^ +(?P<value>\S+)(?: +(?P<percent>[<\d.]+)%|       )  "
                 r"(?P<label>(?:NODE 7 PROCESS 71 THREAD \d+)|(?:t|xz(?:-worker)?) [\d/]+) *(?P<bar>[▏▎▍▌▋▊▉█#]*)$")
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def bars(lines):
    return [match for match in map(BAR.match, (line.rstrip() for line in lines)) if match]


def costs_of_threads(test, *arguments):
    """(name, part, {profile: work}) of all procedures of the bottom-up view, which must have names of their own: what
    the page of threads shows of each, with the precision of a number on the screen."""
    root = viewer.printed_json("bottom-up", "--depth", 1, "--metrics", "work", *arguments)["root"]
    names = [row["name"] for row in root["children"]]
    terminal = start(test, "--metrics", "work", *arguments, width=120, height=60)
    terminal.press("2")
    terminal.until(lambda at: first_level(at) == names, names)
    for name in names:
        terminal.press("Down", "4")
        for _ in range(2):
            lines = terminal.until(lambda at: at[0].rstrip().endswith(" " + name), name)
            part = "exclusive" if "exclusive" in lines[1] else "inclusive"
            other = "inclusive" if part == "exclusive" else "exclusive"
            unit = UNITS.get(re.match(r"work, (\w+)", lines[1])[1], 1)
            yield name, part, {int(re.split("[ /]", bar["label"])[-1]) + ("THREAD" in bar["label"]):
                               float(bar["value"].replace("<1", "0.5")) * unit for bar in bars(lines)}
            terminal.press(">")
            terminal.until(lambda at: other in at[1], other)
        terminal.press_until("q", "?:help")


class Viewer(Terminal):
    """The viewer on a screen so large that all rows fit."""

    def __init__(self, *arguments, width=200, height=400, **more):
        super().__init__([viewer.VIEWER, "--closed", *arguments], width=width, height=height, **more)
        self.until_seen("?:help")

    def tree(self):
        return tree(self.screen())

    def until_tree(self, expected, what):
        """Waits until the rows on the screen are these, in whatever order among siblings."""
        key = expected.key()

        def is_there(lines):
            shown = tree(lines)
            return shown and shown.key() == key
        return tree(self.until(is_there, f"{what}: {len(list(expected.rows()))} rows"))

    def until_at(self, position, n, *seen):
        """Waits until the status line tells that the selected row is the one at `position` of n."""
        start = re.compile(rf"^{position}/{n}( |$)")
        return self.until(lambda lines: any(start.match(line) for line in lines) and
                          all(any(text in line for line in lines) for text in seen),
                          f"{position}/{n} {seen}")

    def selected(self):
        """The position of the selected row among those on the screen, from 1 on, and the row: what
        is drawn in reverse from the beginning of the line. (None, None) while it is not drawn."""
        lines = self.colored().split("\n")
        plain = [re.sub(r"\033\[[0-9;]*m", "", line) for line in lines]
        shown = tree(plain)
        drawn = [line for line, text in zip(lines, plain) if ROW.match(text.rstrip())]
        for i, line in enumerate(drawn):
            if shown and re.match(r"(\033\[[0-9;]*m)*\033\[(\d+;)*7m", line):
                return i + 1, list(shown.rows())[i]
        return None, None

    def until_selected(self, is_meant, what):
        """Waits until the selected row is such a one; returns it."""
        self.until(lambda _: (row := self.selected()[1]) and is_meant(row), what)
        return self.selected()[1]
