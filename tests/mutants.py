#!/usr/bin/env python3
"""Plants faults in the product, one at a time, and reports those that no test notices.

usage: tests/mutants.py BUILD [--sample N] [--list] [NAME...]

The faults stand in tests/mutants/*.mutants, each with the tests that must notice it:

    == hpcrun/unwind/cfi.c: unit/hpcrun/test_cfi
    - case CFA_DEF_CFA_OFFSET: m->row->cfa_offset = (int64_t)take_uleb(c); break;
    + case CFA_DEF_CFA_OFFSET: m->row->cfa_offset = (int64_t)take_uleb(c) + 8; break;

The `-` lines must stand in the file exactly once, one below the other, whatever their indentation; the
`+` lines take their place. Names behind the colon are those of tests/run.py. Lines that begin with
# are comments.

A fault is planted in a copy of the tree and its build below BUILD/mutants, which is built again. It is
noticed if one of its tests fails. A fault that breaks the build or stands nowhere is an error: then
the list is out of date. With NAMEs only the faults whose file or tests contain one are planted; with
--sample N only N of them, chosen by the commit that is checked out. Ends with
"N noticed, N survived" and status 1 if any survived or was an error."""
import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent
TIMEOUT = 900  # seconds for the tests of one fault: a hang is noticed, too


class Fault:
    def __init__(self, where, number, file, tests):
        self.where, self.number, self.file, self.tests = where, number, file, tests
        self.old, self.new = [], []

    def __str__(self):
        return f"{self.where}:{self.number}: {self.file}: {' / '.join(self.new).strip() or 'lines removed'}"


def read_faults(path):
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("== "):
            file, tests = line[3:].split(":")
            faults.append(Fault(path.name, number, file, tests.split()))
        elif line.startswith("- "):
            faults[-1].old.append(line[2:])
        elif line.startswith("+"):
            faults[-1].new.append(line[2:])
        elif line.strip() and not line.startswith("#"):
            sys.exit(f"{path}:{number}: neither a fault nor a comment")
    return faults


def planted(text, fault):
    """The text of the file with the fault; None if its lines do not stand there exactly once."""
    lines = text.split("\n")
    old = [line.strip() for line in fault.old]
    found = [i for i in range(len(lines) - len(old) + 1)
             if [line.strip() for line in lines[i:i + len(old)]] == old]
    if len(found) != 1:
        return None
    return "\n".join(lines[:found[0]] + fault.new + lines[found[0] + len(old):])


def copy_tree(build):
    """A copy of the files that git knows and of the build; make finds nothing to do in it."""
    copy = build / "mutants" / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    shutil.copytree(build, copy / "build", symlinks=True,
                    ignore=lambda folder, names: [name for name in names if pathlib.Path(folder) == build and
                                                  name in ("mutants", "address", "thread")])
    # What make knows of each object's headers names the build folder as it was given to make.
    for path in (copy / "build").rglob("*.d"):
        text = path.read_text()
        path.write_text(re.sub(rf"(^|\s)({re.escape(str(build))}|{re.escape(os.path.relpath(build, ROOT))})/",
                               r"\1build/", text))
    return copy


def target_of(test, copy):
    """What make has to build for a test: a unit program alone, or everything."""
    return f"build/tests/{test}" if (copy / "build" / "tests" / test).is_file() else "check-build"


def run(command, copy, timeout):
    try:
        return subprocess.run(command, cwd=copy, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired:
        return None


def try_fault(fault, copy):
    """"noticed", "survived", or what is wrong with the fault."""
    path = copy / fault.file
    if not path.is_file():
        return "no such file"
    text = path.read_text()
    faulty = planted(text, fault)
    if faulty is None:
        return "its lines do not stand there exactly once"
    path.write_text(faulty)
    try:
        targets = sorted({target_of(test, copy) for test in fault.tests})
        # Warnings are no verdict: a fault may leave a variable unused.
        built = run(["make", f"-j{os.cpu_count()}", "BUILD=build", "WARNINGS=", *targets], copy, TIMEOUT)
        if built is None or built.returncode != 0:
            return "it breaks the build:\n" + (built.stdout[-2000:] if built else "no end")
        tested = run([sys.executable, "tests/run.py", "build", *fault.tests], copy, TIMEOUT)
        if tested is None:
            return "noticed"
        if "0 passed, 0 failed" in tested.stdout:
            return "no such test, or it was skipped:\n" + tested.stdout[-2000:]
        return "noticed" if tested.returncode != 0 else "survived"
    finally:
        path.write_text(text)


def choose(faults, count):
    """`count` faults, others at every commit."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    return sorted(faults, key=lambda fault: hashlib.sha1(f"{commit}{fault}".encode()).digest())[:count]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_intermixed_args()
    build = options.build.resolve()
    faults = [fault for path in sorted((TESTS / "mutants").glob("*.mutants")) for fault in read_faults(path)
              if not options.names or any(name in f"{fault.file} {' '.join(fault.tests)}" for name in options.names)]
    if options.sample is not None:
        faults = choose(faults, options.sample)
    if options.list:
        print("\n".join(map(str, faults)))
        return 0
    copy, counts = copy_tree(build), {"noticed": 0, "survived": 0, "errors": 0}
    for fault in faults:
        started = time.monotonic()
        verdict = try_fault(fault, copy)
        counts[verdict if verdict in counts else "errors"] += 1
        print(f"{verdict if verdict in counts else 'ERROR: ' + verdict:8}  {time.monotonic() - started:5.1f} s  {fault}",
              flush=True)
    shutil.rmtree(build / "mutants")
    if counts["errors"]:
        print(f"{counts['errors']} could not be planted")
    print(f"{counts['noticed']} noticed, {counts['survived']} survived")
    return 1 if counts["survived"] or counts["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
