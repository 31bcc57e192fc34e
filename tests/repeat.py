#!/usr/bin/env python3
"""Runs tests many times and counts how often each failed or was skipped, and why.

usage: tests/repeat.py BUILD [--runs N] [--hogs N] [--jobs N] [--seconds S] [NAME...]

Without NAMEs: the integration tests whose verdict rests on time or chance, those of classes with
`rests_on_chance = True`. NAMEs are those of tests/run.py. Each class runs N times (30); in the second half
of the runs, --hogs processes (0) use all the CPU time that they get. --jobs classes run at once (1).
No run begins after --seconds: then fewer runs are reported, as when the tool gets SIGTERM. Run number 1 of all
classes comes before run number 2, so that such a report has all classes.

Ends with a table, a line for each test, with the reasons of skips, and with the line
"N runs of T tests: N failed, N skipped". The status is 1 if any run failed."""
import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

import run

TIMEOUT = 1800  # seconds for a class: a hang, not a slow machine


def burn():
    while True:
        pass


class Hogs:
    """Processes that use a CPU each."""

    def __init__(self, number):
        self.number, self.processes = number, []

    def begin(self):
        self.processes = [multiprocessing.Process(target=burn, daemon=True) for _ in range(self.number)]
        for process in self.processes:
            process.start()

    def end(self):
        for process in self.processes:
            process.kill()


def classes(build, names):
    """{class: ids of its tests that are wanted}"""
    os.environ["BUILD"] = str(build)
    sys.path.insert(0, str(run.TESTS / "integration"))
    import profiling  # needs BUILD
    os.environ["BUILD_FOR_EVERYBODY"] = str(profiling.BUILD)
    found = collections.defaultdict(list)
    for module in sorted((run.TESTS / "integration").glob("test_*.py")):
        for test in run.flatten(unittest.defaultTestLoader.loadTestsFromName(module.stem)):
            if run.wanted(test.id(), names) if names else getattr(test, "rests_on_chance", False):
                found[test.id().rsplit(".", 1)[0]].append(test.id())
    return found


class Counts:
    """The verdicts of each test, of all runs."""

    def __init__(self):
        self.lock = threading.Lock()
        self.verdicts = collections.defaultdict(collections.Counter)
        self.details = collections.defaultdict(list)
        self.seconds = collections.Counter()

    def add(self, name, verdict, detail, seconds):
        self.verdicts[name][verdict] += 1
        if verdict == "FAILED":
            print(f"FAILED {name}\n{detail}", flush=True)
        self.seconds[name] += seconds
        if detail:
            self.details[name, verdict].append(detail)

    def take(self, job, output, status):
        with self.lock:
            for line in output.splitlines():
                if line.startswith(run.REPORT):
                    test = json.loads(line[len(run.REPORT):])
                    self.add(test["name"], test["verdict"], test["detail"], test["seconds"])
            if status != 0:
                self.add(job, "FAILED", f"ended with status {status}\n{output[-3000:]}", 0)

    def total(self, verdict):
        return sum(counts[verdict] for counts in self.verdicts.values())

    def report(self):
        print(f"{'runs':>5} {'failed':>6} {'skipped':>7} {'s/run':>6}  test")
        for name, counts in sorted(self.verdicts.items()):
            runs = sum(counts.values())
            print(f"{runs:5} {counts['FAILED']:6} {counts['skip']:7} {self.seconds[name] / runs:6.1f}  {name}")
            reasons = collections.Counter(re.sub(r"\d+(\.\d+)?", "N", text) for text in self.details[name, "skip"])
            for reason, number in reasons.most_common(3):
                print(f"{'':28}skipped {number} times: {reason}")


def run_class(build, job, tests, counts):
    try:
        done = subprocess.run([sys.executable, run.TESTS / "run.py", "--class", *tests], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=TIMEOUT,
                              env=dict(os.environ, BUILD=str(build)), cwd=run.TESTS / "integration")
        counts.take(job, done.stdout + done.stderr, done.returncode)
    except subprocess.TimeoutExpired:
        counts.take(job, f"no end after {TIMEOUT} s: it hangs", -1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--hogs", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    run.stop_ignoring_signals()
    build, began = options.build.resolve(), time.monotonic()
    wanted, counts, hogs = classes(build, options.names), Counts(), Hogs(options.hogs)

    def late():
        return time.monotonic() - began > options.seconds

    def run_one(job):
        if not late():
            run_class(build, job, wanted[job], counts)
    def stop(*_):
        options.seconds = 0
    signal.signal(signal.SIGTERM, stop)
    for number in range(options.runs):
        if number == options.runs // 2:
            hogs.begin()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(run_one, wanted))
        print(f"run {number + 1} of {options.runs}, {time.monotonic() - began:.0f} s: {counts.total('FAILED')} failed, "
              f"{counts.total('skip')} skipped so far", flush=True)
        if late():
            break
    hogs.end()
    counts.report()
    runs = sum(sum(verdicts.values()) for verdicts in counts.verdicts.values())
    print(f"{runs} runs of {len(counts.verdicts)} tests: {counts.total('FAILED')} failed, {counts.total('skip')} skipped")
    return 1 if counts.total("FAILED") or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
