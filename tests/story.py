#!/usr/bin/env python3
"""Records the story of the tour: why the Cholesky factorization does not scale, in the terminal viewer.

usage: tests/story.py BUILD [RUNS] [--write]

With --write, the story becomes a part of doc/tour.md, and the pictures of README.md are drawn: doc/viewer.svg, the first
screen of a profile of examples/pipe.cc, doc/flame-graph.svg and, for the tour, doc/time-line.svg, of hpcstruct reading a
big library (`make picture`).

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
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "integration")]

import svg_picture
import viewer
from terminal import Terminal

ENVIRONMENT = dict(os.environ, PATH=f"{BUILD}/tests/programs/cilk:{os.environ['PATH']}")
HELPER = "[I] free_matrix"
BIG = sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libLLVM-*.so.1"))
SUMMARY = re.compile(r"in ([\d.]+) s CPU, ([\d.]+) s wall")


def quietest_run(folder, runs, *command):
    """The measurements of the run that had the most CPU time per second."""
    best = None
    for number in range(runs):
        measurements = folder / f"run-{pathlib.Path(command[-1]).name}-{number}"
        done = subprocess.run([BUILD / "bin/hpcrun", "-o", measurements, *command], cwd=folder, env=ENVIRONMENT,
                              capture_output=True, text=True, check=True)
        cpu, wall = map(float, SUMMARY.search(done.stderr).groups())
        if not best or cpu / wall > best[0]:
            best = (cpu / wall, measurements, done.stderr.strip())
    return best[1], best[2]


def portable(line):
    """A line of the screen without the folder in which the tools were built."""
    folder = f"{ROOT}/"
    return line.replace(folder, "") + "─" * len(folder) if folder in line and line.startswith("──") else line


class Story:
    """A session of which the screens are printed."""

    def __init__(self, terminal, command):
        self.terminal, self.keys, self.shown = terminal, 0, []
        self.lines = terminal.until_seen("?:help")
        self.tell(f"$ {command}")

    def tell(self, what):
        screen = "\n".join(map(portable, self.lines)).rstrip()
        self.shown.append((what, screen))
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
    end = next((i for i, line in enumerate(lines) if i > first and line.startswith("──")), len(lines))
    return lines[first:end]


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


def database_of(folder, name, measurements):
    database = folder / name
    subprocess.run([BUILD / "bin/hpcprof", "-o", database, measurements], check=True, stdout=subprocess.DEVNULL)
    return database


def draw_viewer(folder, runs):
    """The first screen of a profile of a program whose lock is held too long."""
    subprocess.run(["g++", "-O2", "-g", "-pthread", "-o", folder / "pipe", ROOT / "examples/pipe.cc"], check=True)
    measurements, _ = quietest_run(folder, runs, "./pipe")
    with Terminal([viewer.VIEWER, database_of(folder, "pipe-database", measurements)], width=110, height=34) as terminal:
        terminal.until(lambda lines: "?:help" in lines[33] and "score" in lines[32], "the first screen")
        lines = [portable(line) for line in terminal.colored().split("\n")[:34]]
    (ROOT / "doc/viewer.svg").write_text(svg_picture.screen(lines, 110, "hpcviewer: the first screen"))


def draw_flame_graph(folder):
    if not BIG:
        return
    subprocess.run([BUILD / "bin/hpcrun", "-q", "-e", "CPUTIME@f1000", "-o", folder / "m-big", BUILD / "bin/hpcstruct",
                    "-o", folder / "structure", BIG[-1]], check=True)
    page = subprocess.run([viewer.VIEWER, "--print", "top-down", "--format", "flamegraph",
                           database_of(folder, "big-database", folder / "m-big")], check=True, capture_output=True, text=True)
    (ROOT / "doc/flame-graph.svg").write_text(svg_picture.flame_graph(page.stdout, "a flame graph of hpcviewer"))


def draw_time_line(folder):
    if not BIG:
        return
    subprocess.run([BUILD / "bin/hpcrun", "-q", "-e", "REALTIME@f1000", "-o", folder / "m-when", BUILD / "bin/hpcstruct",
                    "-o", folder / "structure", BIG[-1]], check=True)
    done = subprocess.run([viewer.VIEWER, "--print", "timeline", "--depth", "6", "--format", "svg",
                           database_of(folder, "when-database", folder / "m-when")], check=True, capture_output=True, text=True)
    (ROOT / "doc/time-line.svg").write_text(done.stdout)


def write(story):
    """The keys and the last screen in doc/tour.md."""
    steps = "\n".join(what for what, _ in story.shown)
    write_block("doc/tour.md", "story", f"```\n{steps}\n\n{story.shown[-1][1]}\n```")


def main():
    arguments = [word for word in sys.argv[2:] if word != "--write"]
    runs = int(arguments[0]) if arguments else 20
    with tempfile.TemporaryDirectory(prefix="story-") as name:
        folder = pathlib.Path(name)
        measurements, summary = quietest_run(folder, runs, "-e", "CPUTIME@f5000", "cholesky", "1000")
        database = database_of(folder, "m-cholesky", measurements)
        print(summary.replace(str(measurements), "m-cholesky").replace(f"{BUILD}/", ""))
        command = [viewer.VIEWER, "--sort", "idleness", database]
        with Terminal(command, width=118, height=32) as terminal:
            story = Story(terminal, "hpcviewer --sort idleness m-cholesky")
            tell(story)
            if "--write" in sys.argv:
                write(story)
        if "--write" in sys.argv:
            draw_viewer(folder, runs)
            draw_flame_graph(folder)
            draw_time_line(folder)


if __name__ == "__main__":
    main()
