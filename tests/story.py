#!/usr/bin/env python3
"""Records the story of the tour: why the Cholesky factorization does not scale, in the terminal viewer.

usage: tests/story.py BUILD [RUNS] [--write]

With --write, the last screen becomes the picture in README.md, and the story a part of doc/tour.md (`make picture`).

Profiles the program RUNS times (20), keeps the run whose workers had the most of two CPUs (others on
the machine would be blamed on the program), opens the viewer in a terminal (tmux), presses keys and
prints them and the screens: the hot path of idleness, back to cilk_main if it leads further, what
cilk_main calls, and the line of a serial helper there."""
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


def selected_child(story, wanted):
    """Moves down to that child of the selected row."""
    rows = [line for line in story.lines if " » " in line]
    names = [row.split(" » ", 1)[1] for row in rows]
    parent = next(i for i, name in enumerate(names) if name.startswith("cilk_main"))
    child = next(i for i, name in enumerate(names) if name.startswith(wanted))
    keys = ["j"] * (child - parent)
    story.press(*keys)
    return keys


def tell(story):
    story.press("H")
    story.tell("H    the hot path: where most of the idleness is, as long as that is half of it")
    keys = []
    while not story.path().endswith("cilk_main"):
        story.press("u")
        keys.append("u")
    tidy = {0: ["+"], 1: []}.get(len(keys), ["_", "+"])  # only cilk_main's children are open
    story.press(*tidy)
    keys += tidy
    story.tell(" ".join(keys) + "    what cilk_main calls, by its idleness")
    keys = selected_child(story, "[I] free_matrix") + ["c"]
    story.press("c")
    story.tell(" ".join(keys) + "    one of the serial helpers, and the line that calls it")
    print(f"\n{story.keys} keys")


def write_block(page, name, text):
    """Puts the text between the comments `<!-- NAME: ... -->` and `<!-- end of NAME -->` of the page."""
    path = ROOT / page
    pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)", re.S)
    path.write_text(pattern.sub(lambda block: f"{block[1]}{text}\n{block[2]}", path.read_text()))


def write(story):
    """The last screen in README.md; the keys and that screen in doc/tour.md."""
    write_block("README.md", "picture", f"```\n{story.told[-1][1]}\n```")
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
