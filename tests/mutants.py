#!/usr/bin/env python3
"""Plants faults in the product, one at a time, and reports those that no test notices.

usage: tests/mutants.py BUILD [--jobs N] [--sample N [--seed TEXT]] [--list] [NAME...]

The faults are in tests/mutants/*.mutants, each with the tests that must notice it:

    == hpcrun/unwind/cfi.c: unit/hpcrun/test_cfi
    # Offsets of the CFA are 8 too large.
    case CFA_DEF_CFA_OFFSET: m->row->cfa_offset = (int64_t)take_uleb(c){+ + 8+}; break;

The file must have the text exactly once, with `old` where [-old-] or [-old-]{+new+} stands and nothing
where {+new+} does; the fault puts `new` in its place. All blanks and line ends are alike. A line that
begins with a blank continues the one above. After the colon come unit programs (unit/lib/test_path) and
names of integration tests (test_law.Law or test_law.Law.test_phases), for all faults until the next `==`.

1. Each of N jobs (default: one per CPU) makes a copy of the tree and its build in a new folder in BUILD/mutants.
2. Every test that is named runs without a fault: a test that fails anyway would notice everything.
3. A fault is planted in a copy, what its tests need is built again, and they run. It is noticed if
   one of them fails or does not end.
4. Faults that a test must notice which measures time (`measures_time`, as in tests/run.py) come last
   and alone.
5. A fault whose tests were skipped, since they had too little evidence for a verdict, is planted again, alone,
   until they have, up to MORE_TRIES times. If they never have, that is an error.

A fault that breaks the build, or whose text the file does not have, is an error: the list is out of
date. With NAMEs only the faults whose file or tests contain one are planted; with --sample N only N of
them, chosen by the seed, which is printed: by default the commit that is checked out. --list only
looks for the text and the tests. Ends with the survivors, the line "N noticed, N survived in N s", and
status 1 if any survived or was an error."""
import argparse
import concurrent.futures
import fcntl
import hashlib
import importlib
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from tree_copy import copy_sources

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent
REPORT = "verdict:"  # begins a line of `run.py --class` about one test: JSON

# Seconds until a test counts as hanging: of a test without a fault; with a fault, this many times what
# it took without, and some more, since the machine may have become busier.
FIRST_TIMEOUT, SLOWER, MORE, BUILD_TIMEOUT = 600, 20, 10, 600

MORE_TRIES = 4

CHANGE = re.compile(r"\[-(?P<old>.*?)-\](\{\+(?P<new>.*?)\+\})?|\{\+(?P<added>.*?)\+\}")


class Fault:
    def __init__(self, where, number, file, tests, text):
        self.where, self.number, self.file, self.tests, self.text = where, number, file, tests, text

    def __str__(self):
        return f"{self.where}:{self.number}: {self.file}: {self.text}"


def read_faults(path):
    faults, file, tests = [], None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("== "):
            file, tests = line[3:].split(":")
        elif line.startswith(" ") and faults:
            faults[-1].text += " " + line.strip()
        elif line and not line.startswith("# "):
            faults.append(Fault(path.name, number, file, tests.split(), line))
    for fault in faults:
        if not fault.file or not CHANGE.search(fault.text):
            sys.exit(f"{path}:{fault.number}: neither a fault nor a comment")
    return faults


def with_any_blanks(text):
    """An expression that finds the text. Blanks do not count: the formatter may change them."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))


def planted(text, fault):
    """The text of the file with the fault; None if it does not have the fault's text exactly once."""
    change = CHANGE.search(fault.text)
    before, old, after = fault.text[:change.start()], change["old"] or "", fault.text[change.end():]
    places = list(re.finditer(f"(?:{with_any_blanks(before)})({with_any_blanks(old)})(?:{with_any_blanks(after)})", text))
    if len(places) != 1:
        return None
    return text[:places[0].start(1)] + (change["new"] or change["added"] or "") + text[places[0].end(1):]


# ---- a copy of the tree, in which one job plants its faults ----

def lock(folder, how):
    """An open folder that is locked until it is closed, or None: another process has the lock."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, how)
        return fd
    except BlockingIOError:
        os.close(fd)
        return None


def folder_of_this_run(parent):
    """A new folder in `parent`, which this process has locked. Those of runs that were killed are removed: nobody has
    their locks."""
    parent.mkdir(exist_ok=True)
    all_runs = lock(parent, fcntl.LOCK_EX)  # no other run is between making its folder and locking it
    for other in parent.iterdir():
        if (fd := lock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)) is not None:
            shutil.rmtree(other, ignore_errors=True)
            os.close(fd)
    own = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=parent))
    lock(own, fcntl.LOCK_EX)
    os.close(all_runs)
    return own


def copy_tree(build, copy):
    """A copy of the sources and of the build; make finds nothing to do in it."""
    copy_sources(copy)
    shutil.copytree(build, copy / "build", symlinks=True,
                    ignore=lambda folder, names: [name for name in names if pathlib.Path(folder) == build and
                                                  name in ("mutants", "address", "thread")])
    # What make knows of each object's headers names the build folder as it was given to make.
    for path in (copy / "build").rglob("*.d"):
        text = path.read_text()
        path.write_text(re.sub(rf"(^|\s)({re.escape(str(build))}|{re.escape(os.path.relpath(build, ROOT))})/",
                               r"\1build/", text))


def run(command, folder, timeout, **environment):
    """Status and output of a command; the status is None if it does not end in time. Whatever it started has ended
    then, or ends with this process: a test with a fault may leave processes behind that never end by themselves."""
    watched = [sys.executable, TESTS / "subreaper.py", str(os.getpid()), *command]
    with subprocess.Popen(watched, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=dict(os.environ, **environment)) as child:
        try:
            output = child.communicate(timeout=timeout)[0]
            return child.returncode, output
        except subprocess.TimeoutExpired:
            child.terminate()
            return None, ""


class Place:
    def __init__(self, build, tree, make_jobs):
        self.tree, self.make_jobs = tree, make_jobs
        self.timeout = {}  # seconds, by test; Work sets it
        self.noticed_by = ""  # output of the test that failed last
        copy_tree(build, self.tree)

    def is_unit(self, test):
        return (self.tree / "build" / "tests" / test).is_file()

    def build(self, tests):
        """"" or why what the tests need can't be built. Warnings are no verdict: a fault may leave a
        variable unused."""
        targets = sorted({f"build/tests/{test}" if self.is_unit(test) else "integration-build" for test in tests})
        status, output = run(["make", f"-j{self.make_jobs}", "BUILD=build", "WARNINGS=", *targets], self.tree,
                             BUILD_TIMEOUT)
        return "" if status == 0 else "it breaks the build:\n" + output[-2000:]

    def run_unit(self, test):
        """(tests that passed, tests that failed, output)"""
        # A fault may make a loop endless that allocates: no unit test needs 2 GiB.
        limited = ["sh", "-c", 'ulimit -v 2097152; exec "$0"', self.tree / "build" / "tests" / test]
        status, output = run(limited, self.tree, self.timeout.get(test, FIRST_TIMEOUT),
                             CMOCKA_MESSAGE_OUTPUT="TAP")
        passed = len(re.findall(r"^\s*ok\b(?!.*# SKIP)", output, re.M | re.I))
        return passed, int(status != 0), output

    def run_class(self, test):
        status, output = run([sys.executable, self.tree / "tests" / "run.py", "--class", test],
                             self.tree / "tests" / "integration", self.timeout.get(test, FIRST_TIMEOUT),
                             BUILD=str(self.tree / "build"))
        verdicts = [json.loads(line[len(REPORT):])["verdict"] for line in output.split("\n")
                    if line.startswith(REPORT)]
        return verdicts.count("ok"), verdicts.count("FAILED") + int(status != 0), output

    def verdict_of(self, tests):
        """"noticed", "survived", "skipped", or what is wrong with the tests."""
        ran, outputs = 0, ""
        for test in tests:
            passed, failed, output = self.run_unit(test) if self.is_unit(test) else self.run_class(test)
            if failed:
                self.noticed_by = output
                return "noticed"
            ran, outputs = ran + passed, outputs + output
        if not ran and '"verdict": "skip"' in outputs:
            return "skipped"
        return "survived" if ran else "no such test, or it was skipped:\n" + outputs[-2000:]

    def try_fault(self, fault):
        path = self.tree / fault.file
        if not path.is_file():
            return "no such file"
        text = path.read_text()
        faulty = planted(text, fault)
        if faulty is None:
            return "the file does not have its text exactly once"
        path.write_text(faulty)
        try:
            return self.build(fault.tests) or self.verdict_of(fault.tests)
        finally:
            path.write_text(text)


# ---- all of them ----

def measures_time(fault):
    """Whether one of its tests is an integration test that must run alone."""
    classes = [test.split(".")[:2] for test in fault.tests if "/" not in test]
    return any(getattr(getattr(importlib.import_module(name[0]), name[-1], None), "measures_time", False)
               for name in classes)


class Work:
    """Runs jobs in the places, each in one that is free, and counts verdicts."""

    def __init__(self, places):
        self.places, self.lock = queue.Queue(), threading.Lock()
        for place in places:
            self.places.put(place)
        self.counts = {"noticed": 0, "survived": 0, "errors": 0}
        self.bad = []  # lines about survivors and errors
        self.undecided = []  # faults whose tests were skipped
        self.timeout = {}  # seconds, by test
        for place in places:
            place.timeout = self.timeout

    def in_place(self, job, item):
        place = self.places.get()
        try:
            job(place, item)
        finally:
            self.places.put(place)

    def all(self, job, items):
        with concurrent.futures.ThreadPoolExecutor(self.places.qsize()) as pool:
            list(pool.map(lambda item: self.in_place(job, item), items))

    def count(self, kind, line):
        with self.lock:
            self.counts[kind] += 1
            if kind != "noticed":
                self.bad.append(line)
            print(line, flush=True)

    def without_fault(self, place, test):
        started = time.monotonic()
        verdict = place.verdict_of([test])
        self.timeout[test] = MORE + SLOWER * (time.monotonic() - started)
        if verdict == "noticed":
            self.count("errors", f"ERROR: {test} fails without a fault:\n{place.noticed_by[-3000:]}")
        elif verdict == "skipped":  # e.g. a verdict by chance, for which the run had too little evidence
            print(f"skipped without a fault: {test}", flush=True)
        elif verdict != "survived":
            self.count("errors", f"ERROR: {test}: {verdict}")

    def faults_of_a_file(self, place, faults):
        for fault in faults:
            started = time.monotonic()
            verdict = place.try_fault(fault)
            if verdict == "skipped":
                self.undecided.append(fault)
                print(f"skipped, so planted again: {fault}", flush=True)
            else:
                self.count_fault(verdict, started, fault)

    def undecided_faults(self, place, faults):
        for fault in faults:
            started, verdict, tries = time.monotonic(), "skipped", 0
            while verdict == "skipped" and tries < MORE_TRIES:
                verdict, tries = place.try_fault(fault), tries + 1
            self.count_fault(verdict, started, fault)

    def count_fault(self, verdict, started, fault):
        kind = verdict if verdict in self.counts else "errors"
        told = verdict if verdict in self.counts else "ERROR: " + verdict
        self.count(kind, f"{told:8}  {time.monotonic() - started:5.1f} s  {fault}")


def by_file(faults):
    """Lists of faults of one file, the longest first: a job builds the rest only once for each."""
    files = {}
    for fault in faults:
        files.setdefault(fault.file, []).append(fault)
    return sorted(files.values(), key=len, reverse=True)


def choose(faults, count, seed):
    """`count` faults, others with every seed."""
    if seed is None:
        seed = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True,
                              text=True).stdout.strip()
    print(f"{count} of {len(faults)} faults, --seed {seed}", flush=True)
    return sorted(faults, key=lambda fault: hashlib.sha1(f"{seed}{fault}".encode()).digest())[:count]


def is_a_test(name):
    """Whether there is such a unit program, or module, class or test of integration tests. A test that a subclass does
    not want is None there."""
    if "/" in name:
        return (TESTS / f"{name}.c").is_file()
    module, *attributes = name.split(".")
    if not (TESTS / "integration" / f"{module}.py").is_file():
        return False
    found = importlib.import_module(module)
    for attribute in attributes:
        found = getattr(found, attribute, None)
    return found is not None


def list_faults(faults):
    """Prints them; those that are out of date with the reason."""
    wrong = 0
    for fault in faults:
        reasons = ["NOWHERE: "] if planted((ROOT / fault.file).read_text(), fault) is None else []
        reasons += [f"NO TEST {test}: " for test in fault.tests if not is_a_test(test)]
        wrong += bool(reasons)
        print(f"{''.join(reasons)}{fault}")
    print(f"{len(faults)} faults, {wrong} of them without their text or tests")
    return 1 if wrong else 0


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed")
    parser.add_argument("--list", action="store_true")
    return parser.parse_intermixed_args()


def main():
    options, started = parse_arguments(), time.monotonic()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # at once, not when all threads have ended
    build = options.build.resolve()
    os.environ["BUILD"] = str(build)
    faults = [fault for path in sorted((TESTS / "mutants").glob("*.mutants")) for fault in read_faults(path)
              if not options.names or any(name in f"{fault.file} {' '.join(fault.tests)}" for name in options.names)]
    if options.sample is not None:
        faults = choose(faults, options.sample, options.seed)
    sys.path.insert(0, str(TESTS / "integration"))
    if options.list:
        return list_faults(faults)
    own = folder_of_this_run(build / "mutants")
    alone = [fault for fault in faults if measures_time(fault)]
    groups = by_file(fault for fault in faults if fault not in alone)
    jobs = max(1, min(options.jobs, len(groups)))
    make_jobs = max(1, len(os.sched_getaffinity(0)) // jobs)
    work = Work([Place(build, own / f"tree-{i}", make_jobs) for i in range(jobs)])
    work.all(work.without_fault, sorted({test for fault in faults for test in fault.tests}))
    work.all(work.faults_of_a_file, groups)
    work.all(work.faults_of_a_file, [alone])
    work.all(work.undecided_faults, [work.undecided])
    shutil.rmtree(own)
    counts = work.counts
    if work.bad:
        print("\nNot noticed:\n" + "\n".join(work.bad))
    if counts["errors"]:
        print(f"{counts['errors']} errors")
    print(f"{counts['noticed']} noticed, {counts['survived']} survived in {time.monotonic() - started:.0f} s")
    return 1 if counts["survived"] or counts["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
