#!/usr/bin/env python3
"""Runs the tests and ends with the line "N passed, N failed".

usage: tests/run.py BUILD [NAME...]

Unit tests are the cmocka programs in BUILD/tests/unit; integration tests are the unittest modules
tests/integration/test_*.py. With NAMEs, only those whose path contains one of them are run.
A test that can't run here (needs root, a tool, ...) is skipped with its reason and counted apart."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
UNIT_TIMEOUT = 600


class Count:
    passed = failed = skipped = 0


def wanted(path, names):
    return not names or any(name in str(path) for name in names)


def report(verdict, name, detail=""):
    print(f"{verdict:6} {name}{': ' + detail if detail else ''}", flush=True)


def run_unit(program, build):
    """One cmocka program; every `ok` and `not ok` line of its TAP output is a test."""
    name = str(program.relative_to(build / "tests"))
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    try:
        done = subprocess.run([program], env=environment, capture_output=True, text=True,
                              errors="replace", timeout=UNIT_TIMEOUT, cwd=TESTS.parent)
    except subprocess.TimeoutExpired:
        Count.failed += 1
        report("FAILED", name, f"no end after {UNIT_TIMEOUT} s")
        return
    output = done.stdout + done.stderr
    passed = len(re.findall(r"^\s*ok\b", output, re.M))
    failed = len(re.findall(r"^\s*not ok\b", output, re.M))
    if failed == 0 and (done.returncode != 0 or passed == 0):
        failed = 1
    Count.passed += passed
    Count.failed += failed
    report("FAILED" if failed else "ok", name, f"{passed} passed, {failed} failed")
    if failed:
        print(output, flush=True)


class Result(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def took(self):
        return f"{time.monotonic() - self.started:.1f} s"

    def addSuccess(self, test):
        Count.passed += 1
        report("ok", test.id(), self.took())

    def addSkip(self, test, reason):
        Count.skipped += 1
        report("skip", test.id(), reason)

    def bad(self, test, error):
        Count.failed += 1
        report("FAILED", test.id())
        print(self._exc_info_to_string(error, test), flush=True)

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


def main():
    stop_ignoring_signals()
    build, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    os.environ["BUILD"] = str(build)
    for program in sorted((build / "tests" / "unit").rglob("test_*")):
        if os.access(program, os.X_OK) and wanted(program, names):
            run_unit(program, build)
    sys.path.insert(0, str(TESTS / "integration"))
    for module in sorted((TESTS / "integration").glob("test_*.py")):
        if wanted(module, names):
            unittest.defaultTestLoader.loadTestsFromName(module.stem).run(Result())
    if Count.skipped:
        print(f"{Count.skipped} skipped")
    print(f"{Count.passed} passed, {Count.failed} failed")
    return 1 if Count.failed or not Count.passed else 0


sys.exit(main())
