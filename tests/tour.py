#!/usr/bin/env python3
"""Runs the commands of README.md and doc/ and writes what they print into these pages.

usage: tests/tour.py BUILD [RUNS] [PAGE...]

A block that begins with ```console holds commands, lines that begin with "$ ", each followed by its output. All
commands of a page run in one temporary folder, by sh, with the tools and the programs of PROGRAMS in the PATH, and
their outputs are replaced. The folder has the files that commands name: those of FOLDERS, OTHERS, and `big`, a text of
110 MB. Lines that hpcrun and hpcprof print are broken at 118 columns. Programs in SHORTEST are profiled RUNS times (20) and the
shortest run stays: in the others the program did not have both CPUs. Use a quiet machine."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ("README.md", "doc/tour.md", "doc/openmp.md", "doc/threads.md", "doc/scalability.md")
PROGRAMS = ("tests/programs/cilk", "tests/programs/logical")
FOLDERS = ("examples", "tests/programs/tour")
OTHERS = ("tests/programs/advice/convoy.c",)
SHORTEST = re.compile(r"\b(cholesky|cilksort|pipe|triangle)\b")
TEXT_BYTES = 110_000_000
WALL = re.compile(r" ([\d.]+) s wall")
MEASUREMENTS = re.compile(r"-o (\S+)")


def prepare(folder, page):
    """The files that the commands name."""
    for path in [path for name in FOLDERS for path in (ROOT / name).iterdir()] + [ROOT / name for name in OTHERS]:
        shutil.copy(path, folder)
    if " big" not in page:
        return
    texts = [path.read_bytes() for path in sorted(ROOT.glob("**/*.[ch]"))]
    with open(folder / "big", "wb") as big:
        while big.tell() < TEXT_BYTES:
            big.write(b"".join(texts))
        big.truncate(TEXT_BYTES)


def run(command, folder, build):
    path = ":".join([f"{build}/{folder}" for folder in ("bin", *PROGRAMS)] + [os.environ["PATH"]])
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=dict(os.environ, PATH=path), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def wall_of(measurements):
    """The wall time in the summary line of hpcrun's log."""
    return float(WALL.search((measurements / "hpcrun.log").read_text())[1])


def run_quietly(command, folder, build, runs):
    """The output of the shortest run; its measurements stay."""
    shortest, kept = float("inf"), ""
    measurements = folder / MEASUREMENTS.search(command)[1]
    for _ in range(runs):
        output = run(command, folder, build)
        wall = wall_of(measurements)
        if wall < shortest:
            shortest, kept = wall, output
            shutil.rmtree(folder / "kept", ignore_errors=True)
            measurements.rename(folder / "kept")
        shutil.rmtree(measurements, ignore_errors=True)
    (folder / "kept").rename(measurements)
    return kept


def shown(output, folder):
    """The output as the page has it."""
    lines = []
    for line in output.replace(f"{folder}/", "").replace(f"{ROOT}/", "").rstrip().splitlines():
        is_message = line.startswith(("hpcrun: ", "hpcprof: "))
        lines += textwrap.wrap(line, 118, subsequent_indent="    ") if is_message else [line.rstrip()]
    return lines


def commands_of(text):
    """The commands of a page, without "$ "."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def renew(page, build, runs):
    lines, result, in_block = page.read_text().splitlines(), [], False
    with tempfile.TemporaryDirectory(prefix="tour-") as name:
        folder = pathlib.Path(name)
        prepare(folder, page.read_text())
        for line in lines:
            if line.startswith("```"):
                in_block = line == "```console"
            if not in_block or line == "```console":
                result.append(line)
            elif line.startswith("$ "):
                print(line, file=sys.stderr)
                is_timed = "hpcrun " in line and SHORTEST.search(line)
                output = run_quietly(line[2:], folder, build, runs) if is_timed else run(line[2:], folder, build)
                result += [line, *shown(output, folder)]
    page.write_text("\n".join(result) + "\n")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    for page in sys.argv[3:] or PAGES:
        renew(ROOT / page, build, runs)


if __name__ == "__main__":
    main()
