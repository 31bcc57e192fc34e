#!/usr/bin/env python3
"""Records the story of the tour: why the Cholesky factorization does not scale, in the terminal viewer.

usage: tests/story.py BUILD [RUNS] [--write]

With --write, the first screen becomes the picture in README.md, and the story a part of doc/tour.md (`make picture`).

Profiles the program RUNS times (20), keeps the run whose workers had the most of two CPUs (others on
the machine would be blamed on the program), opens the viewer in a terminal (tmux), presses keys and
prints them and the screens: the first one, with the calls of cilk_main by their idleness, and the line of
a serial helper there."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(sys.argv[1]).resolve()
os.environ["BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "tests" / "integration"))

import viewer
from terminal import Terminal

HELPER = "[I] free_matrix"
SUMMARY = re.compile(r"in ([\d.]+) s CPU, ([\d.]+) s wall")


def quietest_run(folder, runs):
    """The measurements of the run that had the most CPU time per second."""
    best = None
    for number in range(runs):
        measurements = folder / f"run-{number}"
        done = subprocess.run([BUILD / "bin/hpcrun", "-e", "CPUTIME@f5000", "-o", measurements,
                               BUILD / "tests/programs/cilk/cholesky", "1000"],
                              capture_output=True, text=True, check=True)
        cpu, wall = map(float, SUMMARY.search(done.stderr).groups())
        if not best or cpu / wall > best[0]:
            best = (cpu / wall, measurements, done.stderr.strip())
    return best[1], best[2]


def portable(line):
    """A line of the screen without the folder in which the tools were built."""
    folder = f"{ROOT}/"
    return line.replace(folder, "") + "─" * len(folder) if folder in line else line


class Story:
    """A session of which the screens are printed."""

    def __init__(self, terminal, command):
        self.terminal, self.keys, self.told = terminal, 0, []
        self.lines = terminal.until_seen("?:help")
        self.tell(f"$ {command}")

    def tell(self, what):
        screen = "\n".join(map(portable, self.lines)).rstrip()
        self.told.append((what, screen))
        print(f"\n{what}\n\n{screen}")

    def press(self, *keys):
        """Waits for what the last of the keys changes."""
        for key in keys:
            before = self.lines
            self.terminal.press(key)
            self.lines = self.terminal.until(lambda lines: lines != before, f"an answer to {key}")
            self.lines = self.terminal.until(lambda lines: "?:help" in lines[-2] + lines[-1],
                                             "the whole screen")
        self.keys += len(keys)

    def path(self):
        """What the status line says of the selected row."""
        return self.lines[-3].rstrip()


def tree_rows(lines):
    """The rows of the tree on the screen: from <whole program> to the source."""
    first = next(i for i, line in enumerate(lines) if "<whole program>" in line)
    behind = next((i for i, line in enumerate(lines) if i > first and line.startswith("──")), len(lines))
    return lines[first:behind]


def row_of(story, name):
    """The number of the first row that calls or inlines `name`, from 1; 0 if none is on the screen."""
    rows = tree_rows(story.lines)
    return next((i for i, row in enumerate(rows, 1) if f" » {name}" in row), 0)


def open_cilk_main(story):
    """Where the tree opens deeper or less deep than the calls of cilk_main: shows these."""
    keys = []
    while not story.path().endswith("cilk_main"):
        story.press("u")
        keys.append("u")
    story.press("_", "+")  # only cilk_main's children are open
    story.tell(" ".join(keys + ["_", "+"]) + "    what cilk_main calls, by its idleness")


def tell(story):
    if not row_of(story, HELPER):
        open_cilk_main(story)
    selected = int(re.match(r"\s*(\d+)/", story.path())[1])
    steps = row_of(story, HELPER) - selected
    keys = ["j" if steps > 0 else "k"] * abs(steps) + ["c"]
    story.press(*keys)
    story.tell(" ".join(keys) + "    one of the serial helpers, and the line that calls it")
    print(f"\n{story.keys} keys")


def write_block(page, name, text):
    """Puts the text between the comments `<!-- NAME: ... -->` and `<!-- end of NAME -->` of the page."""
    path = ROOT / page
    pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)", re.S)
    path.write_text(pattern.sub(lambda block: f"{block[1]}{text}\n{block[2]}", path.read_text()))


def write(story):
    """The first screen in README.md; the keys and the last screen in doc/tour.md."""
    command, screen = story.told[0]
    write_block("README.md", "picture", f"```\n{command}\n{screen}\n```")
    steps = "\n".join(what for what, _ in story.told)
    write_block("doc/tour.md", "story", f"```\n{steps}\n\n{story.told[-1][1]}\n```")


def main():
    arguments = [word for word in sys.argv[2:] if word != "--write"]
    runs = int(arguments[0]) if arguments else 20
    with tempfile.TemporaryDirectory(prefix="story-") as name:
        folder = pathlib.Path(name)
        measurements, summary = quietest_run(folder, runs)
        database = folder / "m-cholesky"
        subprocess.run([BUILD / "bin/hpcprof", "-o", database, measurements], check=True,
                       stdout=subprocess.DEVNULL)
        print(summary.replace(str(measurements), "m-cholesky").replace(f"{BUILD}/", ""))
        command = [viewer.VIEWER, "--sort", "idleness", database]
        with Terminal(command, width=118, height=32) as terminal:
            story = Story(terminal, "hpcviewer --sort idleness m-cholesky")
            tell(story)
            if "--write" in sys.argv:
                write(story)


if __name__ == "__main__":
    main()
