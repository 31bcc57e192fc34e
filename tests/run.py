#!/usr/bin/env python3
"""Runs the tests and ends with the line "N passed, N failed, N skipped".

usage: tests/run.py BUILD [NAME...]

Unit tests are the cmocka programs in BUILD/tests/unit; integration tests are the unittest modules
tests/integration/test_*.py. With NAMEs, only the tests whose name contains one of them are run:
`unwinding`, `test_fates.Fates`, `test_fates.Fates.test_short_threads`, `unit/lib`.

The unit of work is a unit program or an integration test class, in a process of its own.
1. Classes and programs run in parallel, one per CPU: first those that failed in the last run, then
   the longest ones of the last run.
2. Classes with `measures_time = True` run behind them, one at a time: they compare what hpcrun says
   with clocks, and a neighbor on the same CPU costs them evidence.

A test that can't run here (needs root, a tool, ...) is skipped with its reason and counted apart.
BUILD/tests/last-run.json keeps the verdicts and times of the last run of each test."""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
UNIT_TIMEOUT = 600
CLASS_TIMEOUT = 3600
REPORT = "verdict:"  # begins a line that a class's process writes for the runner: JSON


# ---- one class of integration tests, in a process of its own ----

class Reporter(unittest.TestResult):
    """Writes each verdict as a line for the runner."""

    def startTest(self, test):
        super().startTest(test)
        self.started, self.verdict = time.monotonic(), "ok"

    def stopTest(self, test):
        super().stopTest(test)
        if self.verdict == "ok":
            self.write("ok", test)

    def write(self, verdict, test, detail=""):
        line = {"verdict": verdict, "name": test.id(), "detail": detail,
                "seconds": time.monotonic() - getattr(self, "started", time.monotonic())}
        print(REPORT + json.dumps(line), flush=True)

    def addSkip(self, test, reason):
        self.verdict = "skip"
        self.write("skip", test, reason)

    def bad(self, test, error):
        self.verdict = "FAILED"
        self.write("FAILED", test, self._exc_info_to_string(error, test))

    def addFailure(self, test, err):
        self.bad(test, err)

    def addError(self, test, err):
        self.bad(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad(subtest, err)


def stop_ignoring_signals():
    """What a shell in the background or nohup ignores is ignored by all programs below, also by those
    that a test stops with it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def run_class(names):
    """The tests with these ids, in order, in this process."""
    stop_ignoring_signals()
    unittest.defaultTestLoader.loadTestsFromNames(names).run(Reporter())


# ---- the runner ----

class Job:
    """A unit program, or the tests of an integration class that are wanted."""

    def __init__(self, name, command, timeout, alone, is_unit):
        self.name, self.command, self.timeout = name, command, timeout
        self.alone, self.is_unit = alone, is_unit


class Run:
    """The verdicts so far."""

    def __init__(self, build):
        self.build, self.lock = build, threading.Lock()
        self.counts = {"ok": 0, "FAILED": 0, "skip": 0}
        self.kept = build / "tests" / "last-run.json"
        try:
            self.last = json.loads(self.kept.read_text())
        except (OSError, ValueError):
            self.last = {}

    def report(self, verdict, name, detail=""):
        print(f"{verdict:6} {name}{': ' + detail if detail else ''}", flush=True)

    def repeat(self, name):
        print(f"       repeat it: tests/run.py {os.path.relpath(self.build)} {name}", flush=True)

    def rank(self, job):
        """Sorts jobs: those that failed last time first, then the longest."""
        last = self.last.get(job.name, {})
        return (not last.get("failed", False), -last.get("seconds", 0))

    def run(self, job):
        """Runs a job and reports its tests together."""
        started = time.monotonic()
        environment = dict(os.environ, BUILD=str(self.build), CMOCKA_MESSAGE_OUTPUT="TAP")
        try:
            done = subprocess.run(job.command, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                  errors="replace", timeout=job.timeout,
                                  cwd=TESTS.parent if job.is_unit else TESTS / "integration")
            output, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as expired:
            output = (expired.stdout or b"").decode(errors="replace")
            output, status = output + f"\nno end after {job.timeout} s\n", -1
        with self.lock:
            (self.take_unit if job.is_unit else self.take_class)(job, output, status)
            self.last.setdefault(job.name, {})["seconds"] = time.monotonic() - started

    def take_unit(self, job, output, status):
        """Every `ok` and `not ok` line of a cmocka program's TAP output is a test."""
        skipped = len(re.findall(r"^\s*ok\b.*# SKIP", output, re.M | re.I))
        passed = len(re.findall(r"^\s*ok\b", output, re.M)) - skipped
        failed = len(re.findall(r"^\s*not ok\b", output, re.M))
        if failed == 0 and (status != 0 or passed + skipped == 0):
            failed = 1
        self.counts["ok"] += passed
        self.counts["FAILED"] += failed
        self.counts["skip"] += skipped
        self.report("FAILED" if failed else "ok", job.name, f"{passed} passed, {failed} failed, {skipped} skipped")
        if failed:
            print(output, flush=True)
            self.repeat(job.name)
        self.last[job.name] = {"failed": failed > 0}

    def take_class(self, job, output, status):
        failed, noise = False, []
        for line in output.split("\n"):
            if not line.startswith(REPORT):
                noise.append(line)
                continue
            test = json.loads(line[len(REPORT):])
            self.counts[test["verdict"]] += 1
            if test["verdict"] == "ok":
                self.report("ok", test["name"], f"{test['seconds']:.1f} s")
            elif test["verdict"] == "skip":
                self.report("skip", test["name"], test["detail"])
            else:
                failed = True
                self.report("FAILED", test["name"])
                print(test["detail"], flush=True)
                self.repeat(test["name"].split(" ")[0])
        if status != 0:
            failed = True
            self.counts["FAILED"] += 1
            self.report("FAILED", job.name, f"ended with status {status}")
            print("\n".join(noise), flush=True)
            self.repeat(job.name)
        self.last[job.name] = {"failed": failed}

    def keep(self):
        self.kept.write_text(json.dumps(self.last, indent=1, sort_keys=True))


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def wanted(name, names):
    return not names or any(part in name for part in names)


def unit_jobs(build, names):
    for program in sorted((build / "tests" / "unit").rglob("test_*")):
        name = str(program.relative_to(build / "tests"))
        if program.is_file() and os.access(program, os.X_OK) and wanted(name, names):
            yield Job(name, [program], UNIT_TIMEOUT, False, True)


def class_jobs(build, names):
    os.environ["BUILD"] = str(build)
    sys.path.insert(0, str(TESTS / "integration"))
    import profiling
    os.environ["BUILD_FOR_EVERYBODY"] = str(profiling.BUILD)
    classes = {}
    for module in sorted((TESTS / "integration").glob("test_*.py")):
        for test in flatten(unittest.defaultTestLoader.loadTestsFromName(module.stem)):
            if wanted(test.id(), names):
                classes.setdefault(test.id().rsplit(".", 1)[0], []).append(test)
    for name, tests in classes.items():
        alone = getattr(tests[0], "measures_time", False)
        command = [sys.executable, TESTS / "run.py", "--class"] + [test.id() for test in tests]
        yield Job(name, command, CLASS_TIMEOUT, alone, False)


def main():
    if sys.argv[1] == "--class":
        sys.path.insert(0, str(TESTS / "integration"))
        run_class(sys.argv[2:])
        return 0
    stop_ignoring_signals()
    build, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    run = Run(build)
    jobs = sorted(list(unit_jobs(build, names)) + list(class_jobs(build, names)), key=run.rank)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run.run, [job for job in jobs if not job.alone]))
    for job in jobs:
        if job.alone:
            run.run(job)
    run.keep()
    counts = run.counts
    print(f"{counts['ok']} passed, {counts['FAILED']} failed, {counts['skip']} skipped")
    return 1 if counts["FAILED"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
