#!/usr/bin/env python3
"""Runs the commands of doc/tour.md and writes what they print into it.

usage: tests/tour.py BUILD [RUNS]

A block that begins with ```console holds commands, lines that begin with "$ ", each followed by its output. All are run
in one temporary folder, by sh, with the tools and the programs of the tour in the PATH; the output is replaced. What
hpcrun prints is broken at 118 columns. `cholesky` is profiled RUNS times (20) and the shortest run stays: in
the others its workers did not have both CPUs. Use a quiet machine."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(sys.argv[1]).resolve()
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
TOUR = ROOT / "doc" / "tour.md"
TEXT_BYTES = 110_000_000
WALL = re.compile(r" ([\d.]+) s wall")


def prepare(folder):
    """The files that the commands name: a text of 110 MB, and programs."""
    texts = [path.read_bytes() for path in sorted(ROOT.glob("**/*.[ch]"))]
    with open(folder / "big", "wb") as big:
        while big.tell() < TEXT_BYTES:
            big.write(b"".join(texts))
        big.truncate(TEXT_BYTES)
    shutil.copy(ROOT / "tests/programs/advice/convoy.c", folder)
    for path in (ROOT / "tests/programs/tour").iterdir():
        shutil.copy(path, folder)


def run(command, folder):
    path = ":".join([f"{BUILD}/bin", f"{BUILD}/tests/programs/cilk", os.environ["PATH"]])
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=dict(os.environ, PATH=path), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def run_quietly(command, folder):
    """The output of the shortest run; its measurements stay."""
    shortest, kept = float("inf"), ""
    measurements = folder / re.search(r"-o (\S+)", command)[1]
    for _ in range(RUNS):
        output = run(command, folder)
        wall = float(WALL.search(output)[1])
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
        is_from_hpcrun = line.startswith("hpcrun: ")
        lines += textwrap.wrap(line, 118, subsequent_indent="    ") if is_from_hpcrun else [line.rstrip()]
    return lines


def main():
    lines, result, in_block = TOUR.read_text().splitlines(), [], False
    with tempfile.TemporaryDirectory(prefix="tour-") as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for line in lines:
            if line.startswith("```"):
                in_block = line == "```console"
            if not in_block or line == "```console":
                result.append(line)
            elif line.startswith("$ "):
                print(line, file=sys.stderr)
                is_timed = "hpcrun" in line and "cholesky" in line
                result += [line, *shown((run_quietly if is_timed else run)(line[2:], folder), folder)]
    TOUR.write_text("\n".join(result) + "\n")


if __name__ == "__main__":
    main()
