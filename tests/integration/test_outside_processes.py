"""Many processes that are measured from outside at once, some of which can't be measured, or end."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import unittest

import profiling
from profiling import FIRED, HPCRUN, program
from test_outside import STATE_EXIT, OutsideTest


class Named(OutsideTest):
    def start_all(self, count, *command):
        started = [subprocess.Popen([str(word) for word in command]) for _ in range(count)]
        for process in started:
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        return started

    def sleeper(self, name):
        """A program of this test alone, with its name."""
        link = self.directory / name
        link.symlink_to("/bin/sleep")
        return link

    def measure_named(self, pattern):
        where = self.directory / "named"
        done = self.run_tool(HPCRUN, "-q", "-o", where, "--name", pattern, "--for", "0.2s")
        return done, {image.pid for image in profiling.read_measurements(where)}

    def test_those_that_cannot_be_measured(self):
        """Programs of 32 bits are left out, and counted; the others are measured."""
        narrow = self.directory / "mixed-narrow"
        for command in (["as", "--32", "-o", f"{narrow}.o"], ["ld", "-m", "elf_i386", "-o", narrow, f"{narrow}.o"]):
            subprocess.run(command, input=".globl _start\n_start: mov $29, %eax\nint $0x80\njmp _start\n", text=True,
                           check=True)
        try:
            self.start_all(2, narrow)
        except OSError:
            self.skipTest("this kernel runs no programs of 32 bits")
        done, _ = self.measure_named("mixed-*")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "hpcrun: 2 of 2 processes are not measured; not x86-64: 2\n"))
        wide = self.start_all(3, self.sleeper("mixed-wide"), 1000)
        done, measured = self.measure_named("mixed-*")
        self.assertEqual((done.returncode, done.stderr),
                         (0, "hpcrun: 2 of 5 processes are not measured; not x86-64: 2\n"))
        self.assertEqual(measured, {process.pid for process in wide})

    def test_those_that_have_ended(self):
        """Since they were listed: those that are left out are the reader's choice, whatever the list says."""
        running, = self.start_all(1, self.sleeper("some-ended"), 1000)
        ended, = self.start_all(1, "true")
        ended.wait()
        outside = profiling.BUILD / "lib/hpcrun-outside"
        for pids, status in (([ended], 1), ([ended, running], 0), ([running, ended], 0)):
            done = self.run_tool(outside, "check", ";" + ",".join(str(process.pid) for process in pids))
            said = "" if status == 0 else "hpcrun: 1 of 1 processes are not measured; ended meanwhile: 1\n"
            self.assertEqual((done.returncode, done.stderr), (status, said))

    def test_lines(self):
        """A few processes have a line each. Of more, one line has the sums, and where the measurement is."""
        for count, lines in ((8, 8), (9, 0)):
            started = self.start_all(count, self.sleeper(f"with-lines-{count}"), 1000)
            where = self.directory / f"lines-{count}"
            done = self.run_tool(HPCRUN, "-o", where, "--name", f"with-lines-{count}", "--for", "0.2s")
            self.assertEqual(done.returncode, 0, done.stderr)
            *_, last = said = done.stderr.splitlines()
            self.assertEqual(sum("0 samples of CPUTIME" in line for line in said), lines, done.stderr)
            self.assertRegex(last, rf"^hpcrun: measured from outside: {count} programs, ")
            self.assertEqual(last.endswith(f" -> {where}"), lines == 0)
            self.assertEqual({image.pid for image in profiling.read_measurements(where)}, {of.pid for of in started})

    def test_more_than_have_a_place(self):
        """Hundreds: those that do nothing need no worker, and take no place of others."""
        idle = self.start_all(300, self.sleeper("of-hundreds"), 1000)
        done, measured = self.measure_named("of-hundred*")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(len(measured), 200)
        self.assertLessEqual(measured, {process.pid for process in idle})


class Descriptors(OutsideTest):
    def test_threads_that_are_not_looked_at(self):
        """Where a process may have few descriptors, a line says of how many threads something is not known."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

        done = self.run_tool(HPCRUN, "-o", self.directory / "crowd", "-e", "REALTIME@f100", "--outside", program("crowd"),
                             100, 200, preexec_fn=limit)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = re.search(r"times of waiting are not known of (\d+) threads: too few file descriptors", done.stderr)
        self.assertTrue(said, done.stderr)
        self.assertIn(int(said[1]), range(60, 101))

    def test_threads_that_run(self):
        """Descriptors remain for the measurement's files; and hpcrun says how many suffice."""
        process = subprocess.Popen([program("crowd"), "50", "60000"], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        profiling.wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 51, "threads")
        for limit, is_enough in ((64, False), (None, True)):
            enough = limit or int(said[1])
            where = self.directory / f"limit-{enough}"
            done = self.run_tool(HPCRUN, "-o", where, "-e", "REALTIME@f100", "-p", process.pid, "--for", "0.2s",
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (enough, enough)))
            self.assertEqual(done.returncode, 0, done.stderr)
            image, = profiling.read_measurements(where)
            self.assertGreater(image.count("REALTIME", [FIRED]), 0)
            said = re.search(r"threads are not sampled: too few file descriptors; ulimit -n (\d+) suffices\n",
                             done.stderr)
            self.assertEqual(said is None and "too few" not in done.stderr, is_enough, done.stderr)


    def test_thread_without_an_event_on_each_cpu(self):
        """It is not sampled at all: on some CPUs only, it would have too few samples."""
        said = ""
        for limit in range(8, 16):
            done = self.run_tool(HPCRUN, "-o", self.directory / str(limit), "--outside", program("outside"), 1, 1,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
            said += done.stderr
            self.assertNotIn("not sampled", done.stderr)
        self.assertIn("Too many open files", said)


class Memory(OutsideTest):
    def test_limit(self):
        """When it is reached, samples are lost, which a line says; the program runs on. 1 MB is less than hpcrun needs."""
        for size, lost in (("1M", True), ("0.5G", False)):
            with self.subTest(size):
                done = self.run_tool(HPCRUN, "-o", self.directory / size, "-e", "CPUTIME@f1000", "--memory", size, "--outside",
                                     program("outside"), 2, 20)
                self.assertEqual(done.returncode, 7)
                self.assertEqual("memory was used up (--memory)" in done.stderr, lost, done.stderr)
                images = profiling.read_measurements(self.directory / size)
                self.assertEqual(sum(image.count("CPUTIME", [FIRED]) for image in images) > 0, not lost)

    def test_few_addresses(self):
        """Queues take a part of what a limit of addresses leaves."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (500 << 20, 500 << 20))

        done = self.run_tool(HPCRUN, "-o", self.directory / "few", "--outside", program("outside"), 2, 20, preexec_fn=limit)
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_sizes(self):
        for words in (["--memory", "5x", "-p", 1], ["--memory", "100K", "-p", 1], ["--memory", "1G", "true"]):
            self.assertEqual(self.run_tool(HPCRUN, *words).returncode, 2)


class Rings(OutsideTest):
    def test_records_that_are_no_samples(self):
        """While hpcrun stands still, the begins and ends of 20,000 threads fill the rings. The records that are lost count as
        samples only as far as the process's CPU time lacks some."""
        process = self.start(program("thread_series"), 20000)
        tool, where = self.attach(process, "--memory", "4M")
        reader = int(pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()[0])

        def rounds():
            status = pathlib.Path(f"/proc/{reader}/status").read_text()
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)[1])

        os.kill(reader, signal.SIGSTOP)
        try:
            process.stdin.write("go\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "done\n")
        finally:
            before = rounds()
            os.kill(reader, signal.SIGCONT)
        profiling.wait_until(lambda: rounds() > before + 3, "reading of the rings")
        process.communicate("end\n")
        said = tool.stderr.read()
        self.assertEqual(tool.wait(), 0, said)
        lost = re.search(r"(\d+) samples are lost \((\d+) records of all kinds\)", said)
        self.assertTrue(lost, said)
        image, = profiling.read_measurements(where)
        self.assertGreater(int(lost[2]) * 0.001, 3 * image.cpu)
        self.assertLessEqual(image.seconds("CPUTIME", [FIRED]), image.cpu)


class Ends(OutsideTest):
    @unittest.skipIf(os.geteuid() != 0, "only root may")
    def test_of_processes_that_were_there_before(self):
        """Under -a: a measurement is complete when its process has ended, not when hpcrun has."""
        binary, where = self.compile("waiter", self.source("outside"), "-static"), self.directory / "all"
        process = self.start(binary, 2, 20, "go")
        tool = subprocess.Popen([HPCRUN, "-a", "-o", where, "-e", "CPUTIME@f1000"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(tool.stderr.close)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)

        def listed(word):
            place = {"begin": 2, "end": 1}[word]
            lines = [line.split() for path in where.glob("*.processes") for line in path.read_text().splitlines()]
            return {int(words[place]) for words in lines if words[:1] == [word] and len(words) > place}

        def run_other():
            with subprocess.Popen([binary, "0", "3"], stdout=subprocess.DEVNULL) as other:
                return other.pid

        profiling.wait_until(lambda: tool.poll() is not None or run_other() in listed("begin"), "begin of the measurement")
        process.communicate("go\n")
        later = set()
        while process.pid not in listed("end") and len(later & listed("end")) < 50 and tool.poll() is None:
            later.add(run_other())
        self.assertIn(process.pid, listed("end"), "50 processes that began after its end have ended")
        self.assertIsNone(tool.poll())
        tool.send_signal(signal.SIGINT)
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        image, = (image for image in profiling.read_measurements(where) if image.pid == process.pid)
        self.assertEqual(image.state, STATE_EXIT)


if __name__ == "__main__":
    unittest.main()
