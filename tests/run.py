#!/usr/bin/env python3
"""Runs the tests and ends with the line "N passed, N failed, N skipped".

usage: tests/run.py BUILD [NAME...]

Unit tests are the cmocka programs in BUILD/tests/unit; integration tests are the unittest modules
tests/integration/test_*.py. With NAMEs, only the tests whose name contains one of them are run:
`unwinding`, `test_fates.Fates`, `test_fates.Fates.test_short_threads`, `unit/lib`.

The unit of work is a unit program or an integration test class, in a process of its own.
1. Classes and programs run in parallel, two more than there are CPUs, since many wait: first those
   that failed in the last run, then the longest ones of the last run (of LONGEST before any run).
2. Classes with `measures_time = True` run behind them: they compare what hpcrun says with clocks, and
   a neighbor on the same CPU costs them evidence. Those with `cpus_needed = 1` run bound to one CPU
   each, at the same time; the others one at a time.

A test that can't run here (needs root, a tool, ...) is skipped. The reasons and their counts stand at
the end of the report, and the time of each phase: on the wall, and of the CPUs.
BUILD/tests/last-run.json keeps the verdicts and times of the last run of each test."""
import collections
import json
import os
import pathlib
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
UNIT_TIMEOUT = 600
CLASS_TIMEOUT = 3600
PARALLEL, ONE_PER_CPU, ALONE = "in parallel", "one on each CPU", "one at a time"  # phases of a run
LONGEST = """test_hpcrun.Time test_truth.Truth test_hpcrun.Ticks test_thread_states.ThreadStates
    test_hpcrun_ends.Ends test_hpcrun_ends.Accounts test_spawn_tree.Samples test_hpcrun_neighbors.Neighbors
    test_hostile_names.WholeChain test_stress.OwnPrograms test_openmp.Paths test_jit.PerfMap
    test_hpcstruct.LineMapTest test_loader.Loader test_hpcrun_tracers.Tracers test_logical.Idleness
    test_mutants.Mutants test_minicilk.Stress test_pipeline.Pipeline test_lock_blame.LockBlame
    test_spawn_tree.FewPaths test_advice.Programs test_overhead.SpawnSites test_stacks.Stacks test_viewer_fuzz.Fuzz
    test_logical.Paths test_unwinding.AgainstLibunwind test_minicilk.Tags test_tbb.Paths test_sanitizers.Addresses""".split()
REPORT = "verdict:"  # begins a line that a class's process writes for the runner: JSON


# ---- one class of integration tests, in a process of its own ----

def cpu_seconds():
    """CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Reporter(unittest.TestResult):
    """Writes each verdict as a line for the runner."""

    def startTest(self, test):
        super().startTest(test)
        self.started, self.cpu, self.verdict = time.monotonic(), cpu_seconds(), "ok"

    def stopTest(self, test):
        super().stopTest(test)
        if self.verdict == "ok":
            self.write("ok", test)

    def write(self, verdict, test, detail=""):
        line = {"verdict": verdict, "name": test.id(), "detail": detail,
                "seconds": time.monotonic() - getattr(self, "started", time.monotonic()),
                "cpu": cpu_seconds() - getattr(self, "cpu", cpu_seconds())}
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


def open_standard_files():
    """A report would get the number of a standard file that is closed, and be replaced in a child by the real one."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)


def run_class(names):
    """The tests with these ids, in order, in this process."""
    stop_ignoring_signals()
    unittest.defaultTestLoader.loadTestsFromNames(names).run(Reporter())


# ---- the runner ----

class Job:
    """A unit program, or the tests of an integration class that are wanted: their ids. While it runs, it is a process
    that leads a session: it has no terminal, and is ended as a whole."""

    def __init__(self, name, what, timeout, phase, is_unit):
        self.name, self.what, self.timeout, self.phase, self.is_unit = name, what, timeout, phase, is_unit

    def start(self, place):
        """Starts it on the CPU `place`, or on all CPUs if that is None."""
        self.output, self.started, self.place = tempfile.TemporaryFile(), time.monotonic(), place
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.be_the_child()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(1)

    def be_the_child(self):
        """A class needs no Python of its own, with modules that it reads anew: 0.2 s of CPU time."""
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for fd, file in enumerate((os.open(os.devnull, os.O_RDONLY), self.output.fileno(), self.output.fileno())):
            os.dup2(file, fd)
        if self.place is not None:
            os.sched_setaffinity(0, {self.place})
        if self.is_unit:
            os.execv(self.what, [self.what])
        os.chdir(TESTS / "integration")
        unittest.defaultTestLoader.loadTestsFromNames(self.what).run(Reporter())
        os._exit(0)

    def time_left(self):
        return self.started + self.timeout - time.monotonic()

    def kill(self):
        """Ends it. It is not reaped yet: its number is its own."""
        os.killpg(self.pid, signal.SIGKILL)

    def reap(self):
        """After its end: its status, the CPU seconds of it and of the processes it waited for, and what it printed."""
        _, status, usage = os.wait4(self.pid, 0)
        with self.output:
            self.output.seek(0)
            text = self.output.read().decode(errors="replace")
        if self.time_left() < 0:
            text += f"\nno end after {self.timeout} s\n"
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, text


def wait_for_any(seconds):
    """Waits until a child has ended, or so long: its number, in a list that is empty if none has. It is not reaped.
    SIGCHLD is blocked, so that none is lost between look and wait."""
    ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    if not ended:
        signal.sigtimedwait({signal.SIGCHLD}, max(seconds, 0.1))
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    return [ended.si_pid] if ended else []


class Run:
    """The verdicts so far."""

    def __init__(self, build):
        self.build = build
        self.cpu, self.skips = collections.Counter(), collections.Counter()  # CPU seconds by job
        self.phases = []
        self.counts = {"ok": 0, "FAILED": 0, "skip": 0}
        self.kept = build / "tests" / "last-run.json"
        try:
            self.last = json.loads(self.kept.read_text())
        except (OSError, ValueError):
            self.last = {}

    def report(self, verdict, name, detail=""):
        print(f"{verdict:6} {name}{': ' + detail if detail else ''}", flush=True)

    def repeat(self, name, job):
        """Prints the command that runs a failed test alone: its class, if it is no test but setUpClass
        or an import that failed."""
        name = name.split(" ")[0]
        if not name.startswith(job.name):
            name = job.name.removeprefix("unittest.loader._FailedTest.")
        print(f"       repeat it: tests/run.py {os.path.relpath(self.build)} {name}", flush=True)

    def rank(self, job):
        """Sorts jobs: those that failed last time first, then the longest."""
        last = self.last.get(job.name, {})
        seconds = 1000 - LONGEST.index(job.name) if job.name in LONGEST else 0
        return (not last.get("failed", False), -last.get("seconds", seconds))

    def take(self, job):
        """Reports the tests of a job that has ended."""
        status, cpu, output = job.reap()
        (self.take_unit if job.is_unit else self.take_class)(job, output, status)
        self.last.setdefault(job.name, {}).update(seconds=time.monotonic() - job.started, cpu=cpu)
        self.cpu[job.name] = cpu

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
        self.skips[f"in {job.name}"] += skipped
        self.report("FAILED" if failed else "ok", job.name, f"{passed} passed, {failed} failed, {skipped} skipped")
        if failed:
            print(output, flush=True)
            self.repeat(job.name, job)
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
                self.report("ok", test["name"], f"{test['seconds']:.1f} s, {test['cpu']:.1f} s of CPU time")
            elif test["verdict"] == "skip":
                self.report("skip", test["name"], test["detail"])
                self.skips[test["detail"]] += 1
            else:
                failed = True
                self.report("FAILED", test["name"])
                print(test["detail"], flush=True)
                self.repeat(test["name"], job)
        if status != 0:
            failed = True
            self.counts["FAILED"] += 1
            self.report("FAILED", job.name, f"ended with status {status}")
            print("\n".join(noise), flush=True)
            self.repeat(job.name, job)
        self.last[job.name] = {"failed": failed}

    def run_phase(self, jobs, places, phase):
        """Runs jobs, as many at once as there are places: each is a CPU, or None for all CPUs. Notes what
        time they took."""
        started, cpu, waiting, free, running = time.monotonic(), self.cpu.total(), jobs[::-1], list(places), {}
        try:
            while waiting or running:
                while waiting and free:
                    job = waiting.pop()
                    job.start(free.pop())
                    running[job.pid] = job
                for pid in wait_for_any(min(job.time_left() for job in running.values())):
                    job = running.pop(pid)
                    free.append(job.place)
                    self.take(job)
                for job in running.values():
                    if job.time_left() < 0:
                        job.kill()
        except KeyboardInterrupt:
            for job in running.values():
                job.kill()
            raise
        self.phases.append(f"{phase}: {time.monotonic() - started:.0f} s, {self.cpu.total() - cpu:.0f} s of CPU time")

    def finish(self):
        """The end of the report; keeps the verdicts and times."""
        self.kept.write_text(json.dumps(self.last, indent=1, sort_keys=True))
        for reason, count in sorted(self.skips.items()):
            if count:
                print(f"{count} skipped: {reason}")
        print("\n".join(self.phases))
        print("most CPU time:", ", ".join(f"{name} {cpu:.1f} s" for name, cpu in self.cpu.most_common(5)))
        print(f"{self.counts['ok']} passed, {self.counts['FAILED']} failed, {self.counts['skip']} skipped")


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
            yield Job(name, program, UNIT_TIMEOUT, PARALLEL, True)


def class_jobs(build, names):
    os.environ.update(BUILD=str(build), CMOCKA_MESSAGE_OUTPUT="TAP")
    sys.path.insert(0, str(TESTS / "integration"))
    import profiling
    os.environ["BUILD_FOR_EVERYBODY"] = str(profiling.BUILD)
    os.environ["CACHE_OF_STRUCTURES"] = str(profiling.CACHE)
    classes = {}
    for module in sorted((TESTS / "integration").glob("test_*.py")):
        for test in flatten(unittest.defaultTestLoader.loadTestsFromName(module.stem)):
            if wanted(test.id(), names):
                classes.setdefault(test.id().rsplit(".", 1)[0], []).append(test)
    for name, tests in classes.items():
        phase = PARALLEL
        if getattr(tests[0], "measures_time", False):
            phase = ONE_PER_CPU if getattr(tests[0], "cpus_needed", None) == 1 else ALONE
        yield Job(name, [test.id() for test in tests], CLASS_TIMEOUT, phase, False)


def main():
    if sys.argv[1] == "--class":
        sys.path.insert(0, str(TESTS / "integration"))
        run_class(sys.argv[2:])
        return 0
    stop_ignoring_signals()
    open_standard_files()
    os.umask(0o022)  # some tests play several users; those of modes set their own
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    build, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    run = Run(build)
    jobs = sorted(list(unit_jobs(build, names)) + list(class_jobs(build, names)), key=run.rank)
    cpus = sorted(os.sched_getaffinity(0))
    everywhere = [None] * (len(cpus) + 2)
    try:
        for phase, places in ((PARALLEL, everywhere), (ONE_PER_CPU, cpus), (ALONE, [None])):
            run.run_phase([job for job in jobs if job.phase == phase], places, phase)
    except KeyboardInterrupt:
        return 130
    run.finish()
    return 1 if run.counts["FAILED"] or not run.counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
