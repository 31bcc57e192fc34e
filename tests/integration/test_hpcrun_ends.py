"""Ends of processes under hpcrun: everything is written, and the process ends as without hpcrun."""
import errno
import os
import re
import resource
import signal
import subprocess
import time

import profiling
from profiling import FIRED, program, sources


def cpu_of_children():
    """CPU seconds of processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Ends(profiling.ProfilingTest):
    # Signals that end a process by default, except those that can't be handled.
    fatal = sorted(set(range(1, 65)) - {
        signal.SIGKILL, signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGSTOP,
        signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, 32, 33})

    def test_every_fatal_signal(self):
        """Includes real-time signals, and the one that hpcrun uses."""
        for number in self.fatal:
            with self.subTest(number):
                _, images = self.measure(program("ends"), f"alone:kill:{number}", 5, status=-number)
                self.check_fates(images)
                self.assertEqual((images[0].state, images[0].detail), (4, number))

    def test_threads_that_end_with_the_process(self):
        """Every thread is in the file once, with its time, even if several ends coincide."""
        for name, how in sources():
            for _ in range(6):
                done, images = self.measure(program("endings"), "threads", events=["CPUTIME@f5000"], **how)
                self.check_fates(images)
                self.assertEqual(sorted(t.index for t in images[0].threads), list(range(9)), name)
                self.check_time(images[0].seconds("CPUTIME", [FIRED]), int(done.stdout) * 1e-9,
                                images[0].cpu, 0.02)

    def test_threads_that_begin_while_the_process_ends(self):
        """The last line counts the samples in the file."""
        for _ in range(15):
            done, images = self.measure(program("endings"), "births", events=["CPUTIME@f5000"])
            self.check_fates(images)
            counted, = re.findall(r", (\d+) threads?;", done.stderr)
            self.assertEqual(int(counted), len(images[0].threads))

    def test_samples_that_never_came(self):
        """Their time is not lost: it is counted when the thread or the process ends."""
        for name, how in sources():
            for what in ("thread", "exit", "exec"):
                with self.subTest(f"{name} {what}"):
                    done, images = self.measure(program("overdue"), what, 50, **how)
                    self.check_fates(images)
                    # On a slow machine, a sample of another thread may be missed, too.
                    missed, used = max((thread.amount("CPUTIME", [profiling.ENDING]), thread.cpu)
                                       for image in images for thread in image.threads)
                    self.check_time(missed * profiling.TIME_UNIT, int(done.stdout) * 1e-9, used, 0.002)

    def test_signals_that_end_the_process_twice(self):
        """The process ends after everything is written, by the signal in the file: mostly the first one, but
        threads that get one each may overtake each other."""
        for name, how in sources():
            for i in range(5):
                where = f"m-{name}-{i}"
                deny = [profiling.TOOLS / "deny-perf"] if how else []
                done = self.run_tool(*deny, profiling.HPCRUN, "-q", "-o", where, program("endings"),
                                     "signals", timeout=600)
                self.assertIn(done.returncode, (-signal.SIGHUP, -signal.SIGTERM))
                images = profiling.read_measurements(self.directory / where)
                self.assertEqual([image.problems for image in images], [[] for _ in images])
                first = next(image for image in images if image.origin == 0)
                self.assertEqual((first.state, first.detail), (4, -done.returncode), name)
                self.assertEqual(len(first.threads), 9)

    def test_killed_process_leaves_a_readable_file(self):
        where = self.directory / "m"
        process = subprocess.Popen([profiling.HPCRUN, "-q", "-o", where, program("recursion"), "5",
                                    "100000"], cwd=self.directory)
        while not list(where.glob("*.hpcrun")):
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        images = profiling.read_measurements(where)
        self.assertEqual(len(images), 1)
        self.assertEqual((images[0].state, images[0].problems), (0, []))

    def test_killed_at_any_moment(self):
        """Each process is killed a little later after its start; its file, if there is one, is readable."""
        script = ("i=0; while [ $i -lt 300 ]; do $0 5 100000 & n=0; "
                  "while [ $n -lt $((i * 12)) ]; do n=$((n + 1)); done; "
                  "kill -9 $!; wait $!; i=$((i + 1)); done 2> /dev/null; true")
        _, images = self.measure("dash", "-c", script, program("recursion"), events=["CPUTIME@f10000"])
        killed = [image for image in images if image.executable.endswith("recursion")]
        self.assertIn(0, {image.state for image in killed})


class Accounts(profiling.ProfilingTest):
    """The fates of each thread add up to the time that it recorded itself just before the end
    (tests/programs/hpcrun/mapped-ledger.h), within 2 %: at least the burned time, at most its clock. Only a thread's
    first phase and its tail are inexact, by at most 1.5 periods together: far less than 2 %. All of it is CPU time,
    which stands still while others have the CPUs. Behind a sample that takes long, such as a thread's first one, hpcrun
    leaves the program as much time without a sample: if that is the last one, the tail has both."""
    EVENT, MS = "CPUTIME@f4000", 25
    LONG_SAMPLE = 0.001  # seconds; 0.3 to 1.0 ms where a page fault takes 25 us (2026-11-25)

    def ledger(self):
        return {entry[:2]: entry[2:] for entry in profiling.read_ledger(self.directory / "ledger")}

    def check(self, images, counted, found=()):
        """Every entry of the ledger has its thread, with all its time, except in processes (pids) whose loss hpcrun has
        reported. counted: the kernel's CPU seconds of all processes together."""
        self.check_fates(images)
        self.assertLess(sum(thread.cpu for image in images for thread in image.threads), counted)
        ledger = self.ledger()
        for image in images:
            if image.executable.endswith("/true"):
                continue
            for thread in image.threads:
                burned, used = ledger.pop((image.pid, thread.tid))
                paid = thread.amount("CPUTIME", [FIRED]) * profiling.TIME_UNIT
                # After its last entry a thread still has to end, which takes time on a busy machine.
                self.assertLess(paid, 1.02 * max(used, thread.cpu), thread.tid)
                if image.pid not in found:
                    self.assertGreater(paid, 0.98 * burned - 2 * self.LONG_SAMPLE, thread.tid)
                    self.assertGreater(thread.cpu, 0.98 * burned, thread.tid)
        self.assertLessEqual({pid for pid, _ in ledger}, set(found))

    # how -> state, detail, a shell's exit status
    ends = {
        "exit": (1, 0, 3), "return": (1, 0, 7), "_exit": (2, 0, 4), "_Exit": (2, 0, 5), "quick_exit": (5, 0, 6),
        "pthread_exit": (1, 0, 0), "exec": (3, 0, 0), "fork": (1, 0, 0), "vfork": (1, 0, 0),
        "fault": (4, signal.SIGSEGV, -signal.SIGSEGV), "abort": (4, signal.SIGABRT, -signal.SIGABRT),
        **{f"{how}:{int(number)}": (4, number, -number) for how, number in (
            ("kill", signal.SIGTERM), ("raise", signal.SIGTERM), ("raise", signal.SIGINT), ("raise", signal.SIGPIPE))},
    }

    def test_every_end(self):
        """By the first of two threads, by the only one, by the second one; and as without hpcrun."""
        for end, (state, detail, status) in self.ends.items():
            for by in ("", "alone:", "thread:") if end not in ("return", "pthread_exit") else ("", "alone:"):
                self.assertEqual(self.run_tool(program("ends"), by + end, 1).returncode, status)
                for name, how in sources():
                    with self.subTest(f"{name} {by}{end}"):
                        before = cpu_of_children()
                        _, images = self.measure(program("ends"), by + end, self.MS, "ledger", status=status,
                                                 events=[self.EVENT], **how)
                        self.check(images, cpu_of_children() - before)
                        first, = (image for image in images if image.origin == 0)
                        self.assertEqual((first.state, first.detail), (state, detail))
                        self.assertEqual(len(first.threads), 1 if by == "alone:" else 2)

    def test_killed(self):
        """Without an arena file the time until the last flush is in the file. A thread flushes in its handler, so the
        flush is complete when the thread continues."""
        where = self.small_file_system("8m") / "m"
        process = subprocess.Popen([profiling.HPCRUN, "-q", "-e", self.EVENT, "-e", "REALTIME@f100", "-o",
                                    where, program("ends"), "alone:none", "5", "ledger"], cwd=self.directory)

        def wait_until(condition):
            while not condition():
                self.assertIsNone(process.poll())
                time.sleep(0.01)

        def account():
            return next(iter(self.ledger().values()), (0, 0))

        wait_until(lambda: list(where.glob("*.hpcrun")) and (self.directory / "ledger").exists())
        path, = where.glob("*.hpcrun")
        size, (burned, _) = path.stat().st_size, account()

        def flushed():
            """Not each write is a flush: a module that was loaded is written at once."""
            nonlocal size, burned
            now, before = account(), size
            size = path.stat().st_size
            if size == before:
                burned, _ = now
                return False
            return any(image.seconds("CPUTIME", [FIRED]) for image in profiling.read_measurements(where))

        wait_until(flushed)
        _, used = account()
        wait_until(lambda: account()[1] > used)  # the thread has continued
        _, used = account()
        process.kill()
        process.wait()
        image, = profiling.read_measurements(where)
        self.assertEqual((image.state, image.problems), (0, []))
        self.check_fates([image])
        self.check_time(image.seconds("CPUTIME", [FIRED]), burned, used, 0.0004)
        self.assertGreater(image.seconds("REALTIME", [FIRED]), 9.8)

    ALL = 2  # enum image_loss: the measurement could not be written

    def losses(self, where, why):
        """{pid: loss} of the processes that say in the list of processes what they could not write."""
        ends = [line.split() for path in where.glob("*.processes") for line in path.read_text().splitlines()
                if line.startswith("end ")]
        lost = [end for end in ends if int(end[-4])]
        self.assertEqual([int(end[-3]) for end in lost], [why] * len(lost))
        return {int(end[1]): int(end[-4]) for end in lost}

    def obstruct(self, what, path, *keep, where="m", why=None, user=None, deny_perf=False):
        """Runs with an obstacle. Returns {pid: reported loss}, the images, and the kernel's CPU seconds. Children leave
        standard error alone."""
        before = cpu_of_children()
        done = self.run_tool(*[profiling.TOOLS / "deny-perf"] * deny_perf, profiling.HPCRUN, "-q", "-e",
                             self.EVENT, "-o", where, program("obstacles"), "ledger", self.MS, what,
                             path, *keep, user=user)
        counted = cpu_of_children() - before
        self.assertEqual(done.returncode, 0, done.stderr)
        images = profiling.read_measurements(self.directory / where)
        found = self.losses(self.directory / where, why)
        for image in images:
            if image.problems:  # what did not fit, begun at the end of the file of a process that says so
                torn = re.fullmatch(r"problem (\d+) bytes at (\d+) are damaged", " ".join(image.problems))
                self.assertTrue(torn and image.pid in found, image.problems)
                self.assertEqual(int(torn[1]) + int(torn[2]), image.size)
        lines = [line for line in done.stderr.splitlines() if "CPUTIME uses" not in line]
        said = [re.fullmatch(rf".*-(\d+)-\d+-0\.hpcrun: {os.strerror(why or 0)}: (.*) could not be written", line)
                for line in lines]
        self.assertTrue(all(said), done.stderr)
        self.assertLessEqual(len(said), 1)
        self.assertTrue(all(int(match[1]) in found for match in said), (done.stderr, found))
        return found, images, counted

    def test_short_of_resources(self):
        """The disk fills up during the run, temporarily or to the end."""
        for name, how in sources():
            for what in ("none", "descriptors", "memory", "perf"):
                for keep in ([], ["keep"]):
                    with self.subTest(f"{name} {what} {keep}"):
                        found, images, counted = self.obstruct(what, "-", *keep,
                                                              where=f"m-{name}-{what}{keep}", **how)
                        self.assertEqual(found, {})
                        self.check(images, counted)

    def test_full_disk(self):
        """If it is temporary, processes that end meanwhile have no file; otherwise, what does not fit is lost."""
        small = self.small_file_system("256k")
        for keep in ([], ["keep"]):
            where = small / f"m{len(keep)}"
            found, images, counted = self.obstruct("disk", small / "filler", *keep, where=where,
                                                  why=errno.ENOSPC)
            self.assertIn(self.ALL, found.values())
            self.assertTrue(keep or len(found) == 1, found)
            self.check(images, counted, found)

    def test_directory_that_can_not_be_written_to(self):
        """Processes that begin and end meanwhile have no files."""
        user = profiling.ORDINARY_USER if os.geteuid() == 0 else None
        for keep in ([], ["keep"]):
            where = f"m{len(keep)}"
            found, images, counted = self.obstruct("directory", where, *keep, where=where, user=user,
                                                  why=errno.EACCES)
            self.assertEqual(list(found.values()), [self.ALL])
            self.check(images, counted, found)
