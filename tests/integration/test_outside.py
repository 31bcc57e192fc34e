"""Programs that are measured from outside: hpcrun -p, hpcrun --outside, and what hpcrun can't be loaded into."""
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
import unittest

import profiling
import viewer
from evidence import OfChance, of_share
from profiling import FIRED, HPCRUN, OUTSIDE_SOURCES, PARTIAL, program

# Of doc/FORMAT-hpcrun.md.
LAUNCHED, FORK = 0, 2
STATE_EXIT, STATE_EXEC, STATE_SIGNAL, STATE_RUNS_ON = 1, 3, 4, 6


@profiling.needs_outside
class OutsideTest(profiling.ProfilingTest):
    def compile(self, name, source, *flags):
        """A program of the test's own, or one of the tests' programs in another form."""
        built = self.directory / name
        command = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", f"-I{profiling.ROOT}", source, *flags, "-lpthread"]
        profiling.compile_once(built, *command).check_returncode()
        return built

    def source(self, name):
        return profiling.ROOT / "tests/programs/hpcrun" / f"{name}.c"

    def start(self, *command, **others):
        """A process that says "ready" and waits for a line."""
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, **others)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def attach(self, process, *options, **others):
        """hpcrun -p on a process; it samples when this returns: its events are open before it notes the begin."""
        where = self.directory / "attached"
        tool = subprocess.Popen([HPCRUN, "-o", where, "-e", "CPUTIME@f1000", "-p", str(process.pid), *options],
                                stderr=subprocess.PIPE, text=True, **others)
        self.addCleanup(tool.stderr.close)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)
        profiling.wait_until(lambda: tool.poll() is not None or
                             any(" %d " % process.pid in path.read_text() for path in where.glob("*.processes")),
                             "begin of the measurement")
        self.assertIsNone(tool.poll())
        return tool, where

    def reader_and_worker(self, tool):
        """Of hpcrun -p PID: the process that reads perf's rings, and the one that measures."""
        reader, = pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()
        worker, = pathlib.Path(f"/proc/{reader}/task/{reader}/children").read_text().split()
        return int(reader), int(worker)

    def cpu_of(self, process):
        words = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def images_of(self, where):
        images = profiling.read_measurements(where, paths=True)
        for image in images:
            self.assertEqual(image.problems, [], image.path)
        self.check_images(images)
        return images

    def check_images(self, images):
        """All samples come from outside, and all fates add up."""
        self.check_fates(images)
        for image in images:
            for thread in image.threads:
                for sources in thread.sources.values():
                    self.assertLessEqual(sources, OUTSIDE_SOURCES)

    def check_paths(self, images, binary, *outermost):
        """Complete paths through the program's parts are as its source has them."""
        own = {"burn_unit", "burn_from", "burn", "deep", "long_part", "short_part", "work", *outermost}
        complete = 0
        for path in (path for image in images for thread in image.threads for _, _, path in thread.paths):
            names = [name for name in profiling.functions(path, binary) if name in own]
            if "deep" not in names or profiling.is_partial(path):
                continue
            part = "long_part" if "long_part" in names else "short_part"
            inner = names[:names.index("deep")]
            self.assertIn(inner, (["burn_unit", "burn_from", "burn"], ["burn_from", "burn"], ["burn"], [],
                                  ["burn_unit", "burn_from"], ["burn_from"], ["burn_unit"]))
            self.assertEqual(names[-3:-1], [part, "work"])
            self.assertIn(names[-1], outermost)
            self.assertEqual(len(names), len(inner) + names.count("deep") + 3)
            complete += 1
        self.assertGreater(complete, 0)

    def weigh(self, images, binary):
        """Seconds in long_part, and in both parts."""
        seconds = {"long_part": 0, "short_part": 0}
        for path, value in ((path, value) for image in images for thread in image.threads
                            for _, value, path in thread.paths):
            for name in seconds.keys() & profiling.functions(path, binary):
                seconds[name] += value
        return [seconds["long_part"] * profiling.TIME_UNIT, sum(seconds.values()) * profiling.TIME_UNIT]

    def check_share(self, evidence, images, binary, printed):
        """As much in one of two functions as the program counted."""
        counted = [int(word) for word in printed.split()]
        seen, total = self.weigh(images, binary)
        truth, period = total * counted[0] / sum(counted), images[0].mean_period("CPUTIME")
        evidence.between("long part", seen, truth - 0.01 * total, truth + 0.01 * total,
                         of_share(truth, total, period), 0.15 * total)
        evidence.rate("partial paths", sum(image.count("CPUTIME", PARTIAL) for image in images),
                      sum(image.count("CPUTIME", [FIRED]) for image in images), most=0.01, noticed=(0, 0.1))


class Shares(OfChance, OutsideTest):
    measures_time = True

    def test_commands(self):
        """A program that hpcrun could be loaded into, and statically linked ones, with and without unwind information
        that is indexed. They run as without hpcrun, and it says why it does not load itself."""
        for name, flags, option in (("dynamic", (), ["--outside"]), ("static", ("-static",), []),
                                    ("static-pie", ("-static-pie",), [])):
            binary = self.compile(name, self.source("outside"), *flags)
            with self.subTest(name):
                for evidence in self.looks():
                    done, images = self.measure(binary, 2, 10, options=option, status=7)
                    self.check_images(images)
                    self.assertEqual(len(images), 1)
                    self.assertEqual((images[0].state, images[0].detail), (STATE_EXIT, 7))
                    self.assertEqual("statically linked: measured from outside" in done.stderr, not option)
                    images = profiling.read_measurements(self.measurements, paths=True)
                    self.check_paths(images, binary, "early", "late")
                    self.check_share(evidence, images, binary, done.stdout)

    def test_copies_of_another_size(self):
        """The copies of stacks shrink after 500 samples that needed less: perf's events are opened again, and all time
        counts once."""
        binary = program("outside")
        for evidence in self.looks():
            process = self.start(binary, 2, 100, "go")
            tool, where = self.attach(process)
            printed, _ = process.communicate("go\n")
            has_changed = "copies of stacks had 4 to " in tool.communicate()[1]
            evidence.enough("changes", has_changed, 1)
            self.assertTrue(has_changed or evidence.n_looks < 5, "the reader has a CPU in one of five runs")
            image, = self.images_of(where)
            burned = sum(map(int, printed.split())) * 1e-9
            self.assertGreater(image.seconds("CPUTIME", [FIRED]), 0.5 * burned)
            self.assertLess(image.seconds("CPUTIME", [FIRED]), 1.3 * image.cpu)
            shutil.rmtree(where)

    def test_process_that_runs(self):
        """Threads that are there before, and those that come later. The process does not notice."""
        binary = program("outside")
        for evidence in self.looks():
            process = self.start(binary, 4, 10, "go")
            tool, where = self.attach(process)
            printed, _ = process.communicate("go\n")
            self.assertEqual((process.returncode, tool.wait()), (7, 0))
            images = self.images_of(where)
            self.assertEqual([thread.count("CPUTIME", [FIRED]) > 0 for thread in images[0].threads
                              if thread.cpu > 0.05], 4 * [True])
            self.check_share(evidence, images, binary, printed)
            subprocess.run(["rm", "-r", where], check=True)


class Overload(OfChance, OutsideTest):
    measures_time = True

    def test_many_busy_threads(self):
        """hpcrun, in the same terminal, gets a CPU between 300 of them, and loses less than 1 % of the samples. A thread's
        time after its last sample on each CPU has none."""
        process = self.start(program("outside"), 300, 1, "go")
        process.stdin.write("go\n")
        process.stdin.flush()
        tool, where = self.attach(process)
        process.wait()
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        image, = self.images_of(where)
        fired, lost = image.count("CPUTIME", [FIRED]), image.count("CPUTIME", profiling.DROPPED)
        self.assertGreater(fired, 300)
        self.assertLess(lost, 0.01 * fired)

    def measure_while_stopped(self, rounds, *options, threads=2, how="go", stops_reader=False, is_reaped=False):
        """A program with threads runs while hpcrun's worker is stopped, or its reader. At the end it is a zombie,
        whose clocks can be read, or reaped. Returns what hpcrun says, the image, and for how many seconds that was."""
        process = self.start(program("outside"), threads, rounds, how)
        tool, where = self.attach(process, *options)
        reader, worker = self.reader_and_worker(tool)
        stopped = reader if stops_reader else worker
        status = pathlib.Path(f"/proc/{process.pid}/status")
        began = time.monotonic()
        os.kill(stopped, signal.SIGSTOP)
        self.addCleanup(lambda: tool.poll() is not None or os.kill(stopped, signal.SIGKILL))
        process.stdin.write("go\n")
        process.stdin.flush()
        profiling.wait_until(lambda: "\nState:\tZ" in status.read_text(), "end of the process")
        if is_reaped:
            process.wait()
        os.kill(stopped, signal.SIGCONT)
        seconds = time.monotonic() - began
        printed = tool.communicate()[1]
        image, = self.images_of(where)
        shutil.rmtree(where)
        return printed, image, seconds

    def test_samples_wait_for_a_worker(self):
        """While a worker has no CPU, samples that its queue has no room for stay in the rings, for a second at most. Of 96
        samples with whole copies of stacks, 60 KB each, the queue has room for 65."""
        for evidence in self.looks():
            printed, image, seconds = self.measure_while_stopped(3, how="deep", is_reaped=True)
            evidence.enough("ends within a second", seconds < 0.9, 1)
            self.assertGreater(image.cpu, image.seconds("CPUTIME", [FIRED]) - 1e-6)  # its clock is gone
            if seconds < 0.9:
                self.assertEqual(image.count("CPUTIME", profiling.DROPPED), 0, printed)

    def test_memory_of_a_queue(self):
        """While the worker is stopped, its queue takes 4 MB, more than is allowed: later samples are lost, and a line says why.
        hpcrun looks every 2 s; the program takes 3.2 s or more."""
        printed, image, _ = self.measure_while_stopped(200, "--memory", "4M", threads=1, how="deep")
        self.assertIn("memory was used up (--memory)", printed)
        self.assertGreater(image.count("CPUTIME", [FIRED]), 0)

    def test_losses_at_the_end(self):
        """A ring reports a loss with the next record, and there is none: the events have counted it. What the process used
        is accounted for, but for the rest of each thread on each CPU."""
        printed, image, _ = self.measure_while_stopped(30, stops_reader=True)
        self.assertRegex(printed, r"samples are lost \(\d+ records of all kinds\): reading them was too slow")
        self.assertGreater(image.count("CPUTIME", profiling.DROPPED), 100)
        rest = (3 * os.cpu_count() + 1) * image.mean_period("CPUTIME")
        self.assertGreater(image.seconds("CPUTIME", [FIRED]), image.cpu - rest - profiling.KERNEL_TICK)

    def test_losses_of_a_time(self):
        """What rings have lost is known after the initial thread's end, and counts for it: it is no other thread."""
        process = self.start(program("outside"), 0, 80, "go")
        tool, where = self.attach(process)
        reader, _ = self.reader_and_worker(tool)
        os.kill(reader, signal.SIGSTOP)
        self.addCleanup(lambda: tool.poll() is not None or os.kill(reader, signal.SIGKILL))
        process.stdin.write("go\n")
        process.stdin.flush()
        profiling.wait_until(lambda: self.cpu_of(process) > 1, "CPU time of the program")
        os.kill(reader, signal.SIGCONT)
        self.assertRegex(tool.communicate()[1], r"samples are lost \(\d+ records of all kinds\)")
        image, = self.images_of(where)
        self.assertGreater(image.count("CPUTIME", profiling.DROPPED), 0)
        self.assertEqual(len({thread.tid for thread in image.threads}), len(image.threads))

    def test_overload_lowers_the_rate(self):
        """While the worker is stopped: first the copies of stacks have their smallest size. Lost samples count for the time
        that they stood for."""
        printed, image, _ = self.measure_while_stopped(120)
        copies_then_rate = r"copies of stacks had 4 to \d+ KB; the rate of samples was lowered to 1/(\d+), since"
        self.assertRegex(printed, copies_then_rate)
        if int(re.search(copies_then_rate, printed).group(1)) > 2:  # there was time for samples with a lower rate
            self.assertGreater(image.mean_period("CPUTIME"), 1.001 * 0.001 * 38 / 37)
        self.assertGreater(image.count("CPUTIME", profiling.DROPPED), 0)
        self.assertLess(abs(image.seconds("CPUTIME", [FIRED]) - image.cpu), 0.15 * image.cpu)


@unittest.skipIf(os.geteuid() != 0, "needs root, for events of CPUs")
class EventsOfCpus(OutsideTest):
    """They take the place of those of threads where these miss something."""

    def events_of(self, reader):
        """Its descriptors of perf's events."""
        events = set()
        for path in pathlib.Path(f"/proc/{reader}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it has just been closed
                events |= {path.name} if os.readlink(path) == "anon_inode:[perf_event]" else set()
        return events

    def await_others(self, reader, before):
        """Until the reader has an event for each CPU that was not among these, and those of its rings."""
        profiling.wait_until(lambda: len(self.events_of(reader) - before) == os.cpu_count() and
                             len(self.events_of(reader)) == 2 * os.cpu_count(), "events of CPUs")

    def test_threads_that_wait_often(self):
        process = self.start(program("short_turns"))
        tool, where = self.attach(process)
        reader, _ = self.reader_and_worker(tool)
        profiling.wait_until(lambda: len(self.events_of(reader)) == 2 * os.cpu_count(), "events of CPUs")
        before = self.cpu_of(process)
        profiling.wait_until(lambda: self.cpu_of(process) > before + 0.5, "CPU time of the program")
        process.communicate("go\n")
        self.assertEqual(process.returncode, 7)
        printed = tool.communicate()[1]
        self.assertIn("; samples by the CPUs' clocks, since threads wait often or end soon\n", printed)
        image, = self.images_of(where)
        self.assertEqual(image.pid, process.pid)
        self.assertGreater(image.seconds("CPUTIME", [FIRED]), 0.4)

    def test_children_that_end_soon(self):
        """A process that uses less CPU time than that between two samples has one now and then."""
        where, go, shell = self.directory / "soon", self.directory / "go", self.directory / "shell"
        script = f"echo >{shell}; read line; while [ ! -e {go} ]; do /bin/true; done; " + 300 * "/bin/true; "
        tool = subprocess.Popen([HPCRUN, "-o", where, "--outside", "sh", "-c", script], stdin=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)
        profiling.wait_until(shell.exists, "begin of the command")
        children = pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()
        reader, = (child for child in children if os.readlink(f"/proc/{child}/exe").endswith("/hpcrun-outside"))
        before = self.events_of(reader)
        tool.stdin.write("go\n")
        tool.stdin.flush()
        self.await_others(reader, before)
        go.touch()
        self.assertIn("samples by the CPUs' clocks", tool.communicate()[1])
        short = [image for image in self.images_of(where) if image.executable.endswith("/true")]
        self.assertGreater(sum(image.count("CPUTIME", [FIRED]) for image in short), 0)


class Waits(OfChance, OutsideTest):
    measures_time = True

    def seconds_in(self, image, binary, name, *metrics):
        """Of some metrics, at paths through a function."""
        return sum(value * profiling.TIME_UNIT for thread in image.threads for metric, value, path in thread.paths
                   if metric in metrics and name in profiling.functions(path, binary))

    def test_threads_that_take_turns(self):
        """Time on a CPU is work, that in waiting calls is waiting, and at any instant one thread works: from outside as in
        a preloaded run. Code with frame pointers has them in its prologue only."""
        for name, flags, options in (("static", ("-static",), []), ("dynamic", (), ["--outside"]),
                                     ("frames", ("-static", "-O0"), []), ("preloaded", (), [])):
            binary = self.compile(name, self.source("planned-waits"), *flags)
            with self.subTest(name):
                for evidence in self.looks():
                    done, _ = self.measure(binary, 100, options=options, events=["REALTIME@f500"])
                    image, = profiling.read_measurements(self.measurements, paths=True)
                    self.check_fates([image])
                    self.check_turns(evidence, image, binary, [int(word) * 1e-9 for word in done.stdout.split()])

    def test_deep_waits(self):
        """A thread that soon waits elsewhere: its stack is that of when it was looked at."""
        binary = self.compile("deep", self.source("deep-waits"))
        for evidence in self.looks():
            self.measure(binary, options=["--outside"], events=["REALTIME@f500"])
            image, = profiling.read_measurements(self.measurements)
            evidence.rate("partial paths", image.count("REALTIME", PARTIAL), image.count("REALTIME", [FIRED]), most=0.01,
                          noticed=(0, 0.1))

    def whole_program(self):
        """The metrics of the last run."""
        return viewer.printed_json("summary", self.make_database())["metrics"]

    def check_turns(self, evidence, image, binary, printed):
        """The kernel lets a thread that was woken wait for a CPU: its `ready` time may be in what a call took. One that has
        no CPU right after it woke another has not begun to wait, so that two threads work."""
        worked, waited, slept = printed
        total, period = sum(printed), 2 * image.mean_period("REALTIME")
        ready = sum(value * profiling.TIME_UNIT for thread in image.threads for metric, value, _ in thread.paths
                    if metric == "ready")
        for name, metric, truth, least in (("work", "work", worked, 0.99 * worked),
                                           ("wait_for_turn", "waiting", waited, 0.98 * waited - ready),
                                           ("doze", "waiting", slept, 0.98 * slept - ready)):
            evidence.between(name, self.seconds_in(image, binary, name, metric), least, 1.01 * truth + 0.01 * total,
                             of_share(truth, total, period), 0.3 * total)
        idle = min(3, len(os.sched_getaffinity(0))) - 1
        whole = self.whole_program()
        for metric, truth in (("wall", worked), ("idleness", idle * worked)):
            evidence.between(metric, whole[metric], 0.9 * truth - idle * ready, 1.05 * truth + 0.01 * total,
                             of_share(worked, total, idle * period), 0.5 * worked)
        evidence.rate("partial paths", image.count("REALTIME", PARTIAL), image.count("REALTIME", [FIRED]), most=0.01,
                      noticed=(0, 0.1))


class Children(OfChance, OutsideTest):
    def check_children(self, images, shell, binary, printed):
        """Each program that a shell has started has a measurement, with the CPU time that it has printed, and its paths.
        One was started by a shell that the shell has forked."""
        programs = sorted((image for image in images if image.executable == str(binary)),
                          key=lambda image: image.count("CPUTIME", [FIRED]))
        burned = sorted(sum(int(word) for word in line.split()) * 1e-9 for line in printed.splitlines())
        self.assertEqual(len(programs), len(burned))
        self.assertEqual(sum(image.parent != shell for image in programs), 1)
        for image, seconds in zip(programs, burned):
            # While the hypervisor halts the machine, the clock goes on, and all samples but one that are due are lost.
            periods = 1.5 * len(image.threads) + 3
            self.check_time(image.seconds("CPUTIME", [FIRED]), seconds, seconds + 0.01, periods * image.mean_period("CPUTIME"))
        self.assertLessEqual(sum(image.count("CPUTIME", PARTIAL) for image in programs), 2)
        self.check_paths(programs, binary, "main", "early", "late")

    SCRIPT = """
        {0} 0 3; {0} 2 3
        ({0} 0 2; exec {0} 0 4)
        (i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; exit)
        """

    def test_of_a_command(self):
        """Of a shell: with an exec and without, a second program in the same process, and several threads."""
        binary = self.compile("static", self.source("outside"), "-static")
        for evidence in self.looks():
            done, _ = self.measure("sh", "-c", self.SCRIPT.format(binary), options=["--outside"])
            images = profiling.read_measurements(self.measurements, paths=True)
            shell, = (image for image in images if image.origin == LAUNCHED)
            self.check_images(images)
            self.check_children(images, shell.pid, binary, done.stdout)
            shells = [image for image in images if image.executable == shell.executable]
            self.assertEqual({image.origin for image in shells}, {LAUNCHED, FORK})
            self.assertGreater(sum(image.seconds("CPUTIME", [FIRED]) for image in shells if image.origin == FORK), 0.005)
            evidence.rate("partial paths", sum(image.count("CPUTIME", PARTIAL) for image in images),
                          sum(image.count("CPUTIME", [FIRED]) for image in images), most=0.01, noticed=(0, 0.1))

    def test_clocks(self):
        """The wall clocks of all processes' begins agree with their monotonic ones, which time lines have, although workers
        begin with the first sample, about 5 ms later."""
        binary = program("outside")
        _, images = self.measure("sh", "-c", f"{binary} 0 2; {binary} 0 2", events=("CPUTIME@f200",),
                                 options=["--outside"], status=7)
        self.assertEqual(len(images), 3)
        epochs = [image.epoch for image in images]
        self.assertLess(max(epochs) - min(epochs), 0.001)

    def test_of_a_process_that_runs(self):
        """Also by its name."""
        binary = self.compile("static", self.source("outside"), "-static")
        name = self.directory / f"sh{os.getpid()}-of-t"  # others may run this test, too
        name.symlink_to("/bin/sh")
        process = self.start(name, "-c", "echo ready; read go;" + self.SCRIPT.format(binary))
        tool, where = self.attach(process)
        other = self.directory / "by-name"
        refused = self.run_tool(HPCRUN, "-o", other, "--name", "no*such", "-p", "1")
        self.assertEqual(refused.returncode, 2)
        refused = self.run_tool(HPCRUN, "-o", other, "--name", "no*such")
        self.assertEqual((refused.returncode, refused.stderr),
                         (1, "hpcrun: --name no*such: no process of yours has such a name\n"))
        done = self.run_tool(HPCRUN, "-o", other, "--name", f"sh{os.getpid()}-*t", "--for", "0.1s")
        self.assertEqual([image.pid for image in profiling.read_measurements(other)], [process.pid], done.stderr)
        printed, _ = process.communicate("go\n")
        said = tool.stderr.read()
        self.assertEqual(tool.wait(), 0, said)
        images = self.images_of(where)
        self.check_children(images, process.pid, binary, printed)
        self.check_last_line(said, images, printed)

    def check_last_line(self, said, images, printed):
        """It has the samples of all programs, and at least the CPU time that they have printed."""
        total = re.search(r"^hpcrun: measured from outside: (\d+) programs, (\d+) samples in ([\d.]+) s CPU; .*\n\Z", said,
                          re.MULTILINE)
        self.assertTrue(total, said)
        fired = sum(image.count("CPUTIME", [FIRED]) for image in images)
        self.assertEqual((int(total[1]), int(total[2])), (len(images), fired))
        self.assertGreaterEqual(float(total[3]), sum(int(word) for word in printed.split()) * 1e-9)

    def test_descendants_that_run_already(self):
        """As long as the process runs: the oldest one runs on."""
        process = self.start("sh", "-c", "sh -c 'sleep 1000 & echo ready; echo $!; wait' & read go; echo $!")
        sleeper = int(process.stdout.readline())
        self.addCleanup(os.kill, sleeper, signal.SIGTERM)
        tool, where = self.attach(process)
        profiling.wait_until(lambda: any(" %d " % sleeper in path.read_text() for path in where.glob("*.processes")),
                             "the sleeper's measurement")
        print("go", file=process.stdin, flush=True)
        shell = int(process.stdout.readline())
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        self.assertEqual({image.pid for image in self.images_of(where)}, {process.pid, shell, sleeper})

    def test_of_the_process_that_calls_hpcrun(self):
        """Without hpcrun's own processes."""
        done = self.run_tool("sh", "-c", 'echo $$; "$0" -o "$1" --for 0.1s -p $$; exit $?', HPCRUN, self.directory / "caller")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([image.pid for image in self.images_of(self.directory / "caller")], [int(done.stdout)])

    def test_processes_without_samples(self):
        """They have no files; their CPU time is known. After eight of them, events of the CPUs could find one."""
        done, (image,) = self.measure("sh", "-c", "for i in 1 2 3 4 5 6 7; do /bin/true; done", options=["--outside"],
                                      events=["CPUTIME@f10"])
        self.assertRegex(done.stderr, r"measured from outside: 1 program; reading took [\d.]+ s CPU"
                         r"(, copies of stacks had \d+ to \d+ KB)?; ended without a sample: 7 processes \(.*\)\n\Z")
        self.assertGreaterEqual(image.pid, 1)

    def test_threads_without_samples(self):
        """They use less CPU time than a period, all together. After eight of them, events of the CPUs could find one."""
        done = self.run_tool(HPCRUN, "-o", self.directory / "short", "-e", "CPUTIME@f1", "--outside",
                             program("thread_series"), 7, input="go\nend\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"; ended without a sample: 7 threads \([^)]*\)(; no CPU time was used: .*)?\n\Z")


class System(OutsideTest):
    @unittest.skipIf(os.geteuid() != 0, "only root may")
    def test_all_processes(self):
        """Those that begin later are measured, too, without hpcrun's own; it runs until it is interrupted."""
        binary, where = self.compile("static", self.source("outside"), "-static"), self.directory / "all"
        tool = subprocess.Popen([HPCRUN, "-a", "-o", where, "-e", "CPUTIME@f1000"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(tool.stderr.close)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)
        pids = []

        def is_measured():
            """The second one, since the first may have begun before its measurement."""
            process = subprocess.Popen([binary, "0", "3"], stdout=subprocess.DEVNULL)
            process.wait()
            pids.append(process.pid)
            lists = "".join(path.read_text() for path in where.glob("*.processes"))
            return tool.poll() is not None or sum(f" {pid} " in lists for pid in pids) > 1

        profiling.wait_until(is_measured, "a process's measurement")
        tool.send_signal(signal.SIGINT)
        said = tool.stderr.read()
        self.assertEqual(tool.wait(), 0, said)
        self.assertTrue(said.endswith(f" -> {where}\n"), said)
        images = profiling.read_measurements(where, paths=True)
        self.check_fates(images)
        ours = [image for image in images if image.pid in pids]
        until_exec = os.path.realpath("/proc/self/exe")  # a sample may hit that
        self.assertEqual({image.executable for image in ours} - {until_exec}, {str(binary)})
        self.check_paths([image for image in ours if image.executable == str(binary)], binary, "main")
        self.assertEqual([image for image in images if "hpcrun-outside" in image.executable], [])
        self.run_tool(profiling.BUILD / "bin/hpcprof", "-o", self.directory / "db", where)  # others may lack files
        run = json.loads((self.directory / "db/run.json").read_text())
        self.assertEqual(run["title"], "whole system")
        self.assertNotIn("did not load libhpcrun.so", [entry["reason"] for entry in run["unmeasured"]])

    @unittest.skipIf(os.geteuid() != 0, "needs root, to be another user")
    def test_who_may_not(self):
        done = self.run_tool(HPCRUN, "-a", "--for", "1s", user=profiling.ORDINARY_USER)
        self.assertEqual((done.returncode, done.stderr), (1, "hpcrun: -a measures the processes of all users, which only root "
                                                          "may; --name '*' measures your own\n"))


class Ends(OutsideTest):
    def test_exec(self):
        """Each program has a measurement of its own, also if one was loaded into memory where the other one was."""
        first, second = program("outside"), self.compile("second", self.source("outside"), "-static")
        done, images = self.measure(first, 0, 20, "exec", second, 2, 20, options=["--outside"], status=7)
        self.check_images(images)
        self.assertEqual([(image.exec_sequence, image.state) for image in images], [(0, STATE_EXEC), (1, STATE_EXIT)])
        self.assertEqual([pathlib.Path(image.executable).name for image in images], ["outside", "second"])
        self.assertEqual(len(done.stdout.splitlines()), 2)
        images = profiling.read_measurements(self.measurements, paths=True)
        self.check_paths(images[:1], first, "main")
        self.check_paths(images[1:], second, "early", "late")

    def test_script(self):
        """A script is measured as its interpreter is. Its name is no number of threads, so it counts as 0."""
        self.compile("static", self.source("outside"), "-static")
        script = self.directory / "script"
        script.write_text("#!./static\n")
        script.chmod(0o755)
        done, (image,) = self.measure("./script", 10, status=7)
        self.assertIn("./script: statically linked: measured from outside", done.stderr)
        self.assertEqual(pathlib.Path(image.executable).name, "static")

    def test_go(self):
        """Stripped Go programs: paths by the table of Go's runtime. One ends where the runtime goes on at another stack,
        and does not continue with what that stack has kept."""
        source = profiling.ROOT / "tests/programs/structure/go-table.S"
        for version in (18, 20, 26):
            binary = self.compile_go(f"go-{version}", source, version, "-s")
            known = profiling.symbols(self.compile_go("with-symbols", source, version))
            done, images = self.measure(binary, 1)
            self.assertIn("statically linked: measured from outside", done.stderr)
            self.check_images(images)
            names = sorted((known[name][0], name) for name in ("main", "work", "inner", "switch"))
            paths = [path for image in profiling.read_measurements(self.measurements, paths=True)
                     for thread in image.threads for _, _, path in thread.paths]
            seen = {tuple(self.name_at(names, frame) for frame in path if frame.startswith(f"{binary.name}+"))
                    for path in paths}
            with self.subTest(version):
                self.assertFalse(any(map(profiling.is_partial, paths)))
                self.assertLessEqual({("work", "main"), ("inner", "switch")}, seen)
                self.assertLessEqual(seen, {("work", "main"), ("inner", "switch"), ("main",), ("switch",)})

    def compile_go(self, name, source, version, *flags):
        binary = self.directory / name
        subprocess.run(["gcc", "-nostdlib", "-static", f"-DVERSION={version}", "-o", binary, source, *flags], check=True)
        return binary

    def name_at(self, names, frame):
        at = int(frame.rsplit("+", 1)[1], 16)
        return next(name for start, name in reversed(names) if start <= at)

    def test_signals(self):
        """The command ends as without hpcrun, and hpcrun as the command."""
        done, images = self.measure("sh", "-c", "kill -SEGV $$", options=["--outside"], status=-signal.SIGSEGV)
        self.assertEqual((images[0].state, images[0].detail), (STATE_SIGNAL, signal.SIGSEGV))
        self.assertEqual(done.stdout, "")

    def test_script_without_a_first_line(self):
        """hpcrun says the same as without --outside."""
        script = self.directory / "bare"
        script.write_text("echo from no shell\n")
        script.chmod(0o755)
        done = self.run_tool(HPCRUN, "--outside", "-o", self.directory / "m", script)
        self.assertEqual(done.returncode, 126)
        self.assertRegex(done.stderr, "^hpcrun: .*/bare: neither a program nor a script that begins with '#!'.*\n$")

    def test_core_file(self):
        """It is the command's: hpcrun, which ends by the same signal, writes none."""
        def allow_core_files():
            _, most = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (most, most))

        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("no core files here")
        tool = subprocess.Popen([HPCRUN, "-q", "--outside", "-o", self.directory / "crash", "sh", "-c", "kill -SEGV $$"],
                                cwd=self.directory, preexec_fn=allow_core_files)
        ended = os.waitid(os.P_PID, tool.pid, os.WEXITED | os.WNOWAIT)
        self.assertEqual(tool.wait(), -signal.SIGSEGV)
        self.assertEqual(ended.si_code, os.CLD_KILLED)

    def test_caller_that_ignores_ends_of_children(self):
        """The exit status is the command's, which ignores them, too."""
        def run(*command):
            return self.run_tool(HPCRUN, "-o", self.directory / command[-1].replace("/", "-"), *command,
                                 preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))

        for way in ([], ["--outside"]):
            with self.subTest(way):
                done = run(*way, "sh", "-c", f"exit {3 + len(way)}")
                self.assertEqual(done.returncode, 3 + len(way), done.stderr)
                done = run(*way, "grep", "SigIgn", "/proc/self/status")
                ignored = int(done.stdout.split()[1], 16)
                self.assertTrue(ignored >> signal.SIGCHLD - 1 & 1, done.stdout)
                subprocess.run(["rm", "-r", self.directory / "-proc-self-status"], check=True)

    def test_measurement_that_ends_before_the_process(self):
        """By a signal, also that of a terminal that is closed, or after a time; the process goes on."""
        for how in (signal.SIGINT, signal.SIGHUP, "time"):
            with self.subTest(how):
                process = self.start(program("outside"), 2, 2, "go")
                tool, where = self.attach(process, *(["--for", "0.3s"] if how == "time" else []))
                if how != "time":
                    tool.send_signal(how)
                self.assertEqual(tool.wait(), 0, tool.stderr.read())
                self.assertEqual([image.state for image in self.images_of(where)], [STATE_RUNS_ON])
                self.assertIsNone(process.poll())
                process.communicate("go\n")
                self.assertEqual(process.returncode, 7)
                subprocess.run(["rm", "-r", where], check=True)

    def test_a_time_that_is_over_at_once(self):
        process = self.start(program("outside"), 2, 2, "go")
        done = subprocess.run([HPCRUN, "-q", "-o", self.directory / "m", "-p", str(process.pid), "--for", "0.0001s"],
                              timeout=60)
        self.assertEqual(done.returncode, 0)
        process.communicate("go\n")

    def test_caller_that_blocks_signals(self):
        """A signal ends the measurement all the same; of hpcrun's two children, only the command has them blocked."""
        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

        process = self.start(program("outside"), 2, 2, "go")
        tool, where = self.attach(process, preexec_fn=block)
        tool.send_signal(signal.SIGINT)
        self.assertEqual(tool.wait(10), 0)
        self.assertEqual([image.state for image in self.images_of(where)], [STATE_RUNS_ON])
        process.communicate("go\n")
        tool = self.start(HPCRUN, "--outside", "-o", self.directory / "command", program("outside"), 2, 2, "go",
                          preexec_fn=block)
        children = pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()
        blocked = [re.search(r"SigBlk:\s*(\w+)", pathlib.Path(f"/proc/{child}/status").read_text())[1]
                   for child in children]
        self.assertEqual(sorted(int(mask, 16) >> signal.SIGINT - 1 & 1 for mask in blocked), [0, 1])
        tool.communicate("go\n")

    def test_messages_to_a_closed_pipe(self):
        """They end neither the measurement nor the command, which gets SIGPIPE's usual action."""
        process = self.start(program("outside"), 2, 2, "go")
        read, write = os.pipe()
        os.close(read)
        self.addCleanup(os.close, write)
        for name, options in (("p", ["-p", str(process.pid), "--for", "0.3s"]),
                              ("command", ["--outside", "grep", "-q", "SigIgn:.*[02468ace]...$", "/proc/self/status"])):
            with self.subTest(name):
                done = subprocess.run([HPCRUN, "-o", self.directory / name, *options], stderr=write)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(len(self.images_of(self.directory / name)), 1)
        process.communicate("go\n")

    def test_measurement_in_the_background_of_a_script(self):
        """There SIGINT is ignored, and ends the measurement all the same, as does the kill that the first line has."""
        process = self.start(program("outside"), 2, 2, "go")
        for command in ("kill -INT $!", 'kill ${line##*kill } 2>&1'):
            with self.subTest(command):
                script = f"""mkfifo said; "$0" -o m -p {process.pid} 2>said & exec 3<said
                             read line <&3; echo "$line"; line=${{line% ends it}}; {command}; wait $! && cat <&3"""
                done = self.run_tool("sh", "-c", script, HPCRUN)
                self.assertEqual(done.returncode, 0, done.stderr)
                first, *_, last = done.stdout.splitlines()
                self.assertRegex(first, rf"^hpcrun: measuring outside\[{process.pid}\]; Ctrl-C or kill \d+ ends it$")
                self.assertIn("measured from outside: 1 program;", last)
                subprocess.run(["rm", "-r", self.directory / "m", self.directory / "said"], check=True)
        self.assertIsNone(process.poll())
        process.communicate("go\n")

    def fill(self, small):
        with contextlib.suppress(OSError), open(small / "fill", "wb", buffering=0) as fill:
            while fill.write(bytes(1024)):
                pass

    def test_full_disk_for_a_time(self):
        """A line says so soon, and nothing is lost if there is room at the end."""
        process = self.start(program("short_turns"))
        small = self.small_file_system("64k")
        tool = subprocess.Popen([HPCRUN, "-p", str(process.pid), "-o", small / "m"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(tool.stderr.close)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)
        self.assertIn("measuring short_turns", tool.stderr.readline())
        self.fill(small)
        self.assertEqual(tool.stderr.readline(), "hpcrun: No space left on device: measurements stay in memory until their "
                                                 "ends; then they must find room\n")
        (small / "fill").unlink()
        process.communicate("go\n")
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        image, = self.images_of(small / "m")
        self.assertEqual((image.pid, image.state), (process.pid, STATE_EXIT))
        self.assertGreater(image.count("CPUTIME", [FIRED]), 0)

    def test_full_disk(self):
        """What is lost is in the status where it is not the command's; the process goes on."""
        process = self.start(program("outside"), 2, 2, "go")
        small = self.small_file_system("64k")
        self.fill(small)
        done = self.run_tool(HPCRUN, "-p", process.pid, "--for", "0.1s", "-o", small / "m")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"/m/.*\.hpcrun: No space left on device: the measurement could not be written\n")
        process.communicate("go\n")
        self.assertEqual(process.returncode, 7)

    def test_deleted_program(self):
        """Its file is read through /proc, and has its name of before."""
        binary = self.compile("deleted", self.source("outside"))
        process = self.start(binary, 2, 10, "go")
        kept = self.directory / "kept"
        kept.mkdir()
        os.link(binary, kept / "deleted")
        binary.unlink()
        tool, where = self.attach(process)
        process.communicate("go\n")
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        images = self.images_of(where)
        self.assertEqual(images[0].executable, str(binary))
        self.check_paths(images, kept / "deleted", "early", "late")

    def test_first_thread_that_has_ended(self):
        """The process is measured all the same, and its deep stacks are read."""
        process = self.start(program("first_thread_ends"))
        status = pathlib.Path(f"/proc/{process.pid}/status")
        profiling.wait_until(lambda: "\nState:\tZ" in status.read_text(), "end of the first thread")
        tool, where = self.attach(process)
        process.communicate("go\n")
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        image, = profiling.read_measurements(where, paths=True)
        self.assertEqual(image.executable, str(program("first_thread_ends")))
        fired, partial = image.count("CPUTIME", [FIRED]), image.count("CPUTIME", PARTIAL)
        self.assertGreater(fired, 0)
        self.assertLess(partial, fired / 4)

    def test_code_without_a_file(self):
        """Code that a program makes in memory is no file that could not be read."""
        script = """if True:
            import mmap, os
            code, file = mmap.PROT_READ | mmap.PROT_EXEC, os.memfd_create("made")
            os.ftruncate(file, 4096)
            made = mmap.mmap(file, 4096, prot=code), mmap.mmap(-1, 4096, prot=code)
            private = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=code)"""
        done, _ = self.measure("python3", "-c", script, options=["--outside", "--agent", "none"])
        self.assertNotIn("could not be read", done.stderr)

    def test_page_of_a_library_that_is_mapped_again(self):
        """As libffi does for functions that it makes; here so near to the library that this would overlap itself."""
        script = """if True:
            import ctypes, os
            libc = ctypes.CDLL(None)
            libc.mmap.restype, libc.mmap.argtypes = ctypes.c_size_t, [ctypes.c_size_t] * 6
            private_fixed_noreplace, read_execute, lowest = 2 | 0x100000, 5, {}
            for line in open("/proc/self/maps").read().splitlines():
                addresses, rights, offset, _, _, *path = line.split(maxsplit=5)
                if path and path[0][0] == "/":
                    begin = lowest.setdefault(path[0], int(addresses.split("-")[0], 16))
                    if rights == "r-xp":
                        file = os.open(path[0], os.O_RDONLY)
                        to = begin - 8192
                        at = libc.mmap(to, 4096, read_execute, private_fixed_noreplace, file, int(offset, 16))
                        if at == to:
                            print("mapped")"""
        done, _ = self.measure("python3", "-c", script, options=["--outside", "--agent", "none"])
        self.assertIn("mapped", done.stdout)
        self.assertNotIn("could not be read", done.stderr)

    def test_code_made_in_the_place_of_other_memory(self):
        """In a part of a program's .bss, the program is there still; in the place of a library, that is gone."""
        library = self.compile_text("unloaded.so", "int in_library(void) { return 1; }\n", "-shared", "-fPIC")
        for arguments in ([], [library]):
            with self.subTest(arguments):
                _, images = self.measure(program("made-code"), *arguments, options=["--outside"], paths=True)
                self.assertGreater(images[0].count("CPUTIME", [FIRED]), 0)
                self.assertTrue([line for line in images[0].modules if line.endswith(" " + str(program("made-code")))])
                frames = [frame for thread in images[0].threads for _, _, path in thread.paths for frame in path]
                self.assertEqual([frame for frame in frames if frame.startswith("unloaded.so+")], [])

    def test_names_of_code_made_at_run_time(self):
        """Those that the process wrote before it was measured count, too."""
        process = subprocess.Popen([program("jit"), "good", "60000"], stdout=subprocess.DEVNULL)
        names = pathlib.Path(f"/tmp/perf-{process.pid}.map")
        self.addCleanup(names.unlink, missing_ok=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        profiling.wait_until(lambda: names.exists() and time.time() - names.stat().st_mtime > 0.1, "old names")
        tool, where = self.attach(process)
        clock = ~process.pid << 3 | 2  # the process's CPU time
        begin = time.clock_gettime(clock)
        profiling.wait_until(lambda: time.clock_gettime(clock) > begin + 0.2, "samples")
        tool.send_signal(signal.SIGINT)
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        image, = where.glob("*.hpcrun")
        self.assertIn(b"inner framed", image.read_bytes())

    def test_a_pipe_in_the_place_of_a_deleted_program(self):
        """To open a pipe or a device has effects: what has the path of the mapped file is opened only if it is that."""
        binary = self.compile("deleted", self.source("outside"))
        process = self.start(binary, 2, 10, "go")
        binary.unlink()
        pipe = self.directory / "deleted (deleted)"  # as /proc/PID/maps has it
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: os.close(os.open(pipe, os.O_WRONLY)), daemon=True)
        writer.start()  # waits for a reader
        tool, _ = self.attach(process)
        process.communicate("go\n")
        self.assertEqual(tool.wait(), 0, tool.stderr.read())
        waits = writer.is_alive()
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        writer.join()
        self.assertTrue(waits)

    def test_stack_of_the_worker(self):
        """It is there before modules of the process are, which may lie right below it."""
        process = self.start(program("outside"), 2, 2, "go")
        tool, _ = self.attach(process)
        worker, = pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()
        low, high = re.search(r"(?m)^(\w+)-(\w+) .*\[stack\]$", pathlib.Path(f"/proc/{worker}/maps").read_text()).groups()
        self.assertGreater(int(high, 16) - int(low, 16), 1 << 20)
        process.communicate("go\n")
        self.assertEqual(tool.wait(), 0, tool.stderr.read())

    def test_measurement_that_is_killed(self):
        """The command ends as without it; a line says what is missing."""
        tool = subprocess.Popen([HPCRUN, "-o", self.directory / "killed", "--outside", program("outside"), "2", "2", "go"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(tool.kill)
        self.assertEqual(tool.stdout.readline(), "ready\n")
        children = pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()
        worker, = (int(child) for child in children if os.readlink(f"/proc/{child}/exe").endswith("/hpcrun-outside"))
        os.kill(worker, signal.SIGKILL)
        _, printed = tool.communicate("go\n")
        self.assertEqual(tool.returncode, 7)
        self.assertEqual(printed, "hpcrun: the measurement from outside was ended by signal 9: it is incomplete\n")

    def test_worker_that_is_late(self):
        """hpcrun ends after all measurements are written, however often it is interrupted; but not never."""
        for goes_on in (True, False):
            with self.subTest(goes_on=goes_on):
                process = self.start(program("outside"), 2, 2, "go")
                tool, where = self.attach(process)
                reader, worker = self.reader_and_worker(tool)
                os.kill(worker, signal.SIGSTOP)
                for _ in range(200):
                    os.kill(reader, signal.SIGINT)
                    profiling.wait_until(lambda: re.search(r"(?m)^ShdPnd:\s0+$", pathlib.Path(f"/proc/{reader}/status")
                                                           .read_text()), "delivery of a signal")
                self.assertIsNone(tool.poll())
                if goes_on:
                    os.kill(worker, signal.SIGCONT)
                    self.assertEqual(tool.wait(), 0, tool.stderr.read())
                    self.assertEqual([image.state for image in self.images_of(where)], [STATE_RUNS_ON])
                else:
                    self.assertEqual(tool.wait(timeout=profiling.HANG), 1)
                    self.assertIn("was ended by signal 9: it is incomplete", tool.stderr.read())
                subprocess.run(["rm", "-r", where], check=True)

    def test_command_without_the_variables_of_hpcrun(self):
        done, _ = self.measure("env", options=["--outside"])
        self.assertNotRegex(done.stdout, r"(?m)^(HPCRUN_|LD_PRELOAD=)")


@unittest.skipIf(os.geteuid() != 0, "needs root, to give rights")
class Rights(OutsideTest):
    """Programs that give rights: the kernel ends the events of those that have begun before the rights are there."""

    def giving_rights(self, name, mode, *flags):
        binary = self.compile(name, self.source("outside"), *flags)
        os.chown(binary, profiling.ORDINARY_USER, profiling.ORDINARY_USER)
        binary.chmod(mode)
        return binary

    def test_root_measures_them(self):
        for name, mode, flags in (("setuid", 0o4755, ()), ("setgid", 0o2755, ()), ("setuid", 0o4755, ("-static",))):
            with self.subTest(name, flags=flags):
                binary = self.giving_rights(name, mode, *flags)
                done, images = self.measure(binary, 2, 10, status=7)
                self.assertIn(f"{name}: measured from outside", done.stderr)
                self.check_images(images)
                self.assertEqual([(image.state, image.detail) for image in images], [(STATE_EXIT, 7)])
                self.check_paths(profiling.read_measurements(self.measurements, paths=True), binary, "early", "late")

    def test_who_may_lock_little_memory(self):
        """What the kernel allows for each CPU is enough for its ring; no user locks more if others have taken that."""
        def limit():
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))

        binary = self.compile("locks-nothing", self.source("outside"))
        self.directory.chmod(0o777)
        done = self.run_tool(HPCRUN, "-o", self.directory / "locks", "--outside", binary, 2, 20, preexec_fn=limit,
                             user=200000 + os.getpid() % 100000)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertGreater(sum(image.count("CPUTIME", [FIRED])
                               for image in profiling.read_measurements(self.directory / "locks")), 0)

    def test_kernel_time_of_children(self):
        """Samples lack it, and the last line says so."""
        if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
            self.skipTest("kernel.perf_event_paranoid is not 2")
        self.directory.chmod(0o777)
        done = self.run_tool(HPCRUN, "-o", self.directory / "kernel", "-e", "CPUTIME@f1000", "--outside", "sh", "-c",
                             "dd if=/dev/zero of=/dev/null bs=64k count=300000; :", user=profiling.ORDINARY_USER)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = re.search(r" programs, (\d+) samples in ([\d.]+) s CPU;.* no samples of ([\d.]+) s CPU, most of it in the "
                         r"kernel:", done.stderr.splitlines()[-1])
        self.assertTrue(said, done.stderr)
        self.assertAlmostEqual(float(said[3]), float(said[2]) - int(said[1]) * 0.0010271, delta=0.1)

    def ordinary(self, *options, **more):
        """hpcrun of an ordinary user from whom perf hides the kernel."""
        if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
            self.skipTest("kernel.perf_event_paranoid is not 2")
        self.directory.chmod(0o777)
        return self.run_tool(HPCRUN, "-o", self.directory / "ordinary", *options, user=profiling.ORDINARY_USER, **more)

    def test_hidden_kernel_time_counts(self):
        """Shares are of the whole time."""
        KERNEL = profiling.KERNEL_UNATTRIBUTED
        done = self.ordinary("-e", "CPUTIME@f1000", "--outside", "dd", "if=/dev/zero", "of=/dev/null", "bs=64k",
                             "count=100000")
        image, = self.images_of(self.directory / "ordinary")
        self.assertAlmostEqual(image.seconds("CPUTIME", [FIRED]), image.cpu, delta=0.02 + 0.1 * image.cpu)
        self.assertGreater(image.seconds("CPUTIME", [KERNEL]), 0.5 * image.cpu, done.stderr)
        self.assertRegex(done.stderr, r"most of it in the kernel: .*sysctl kernel.perf_event_paranoid=1")
        database = self.make_database(measurements=self.directory / "ordinary")
        summary = " ".join(viewer.printed("summary", database).split())
        self.assertRegex(summary, r"\d+ % of the time is in the kernel, where perf takes no samples for this user")

    def test_hidden_kernel_time_of_children(self):
        """A process that its parent has waited for has no clocks; hpcrun has read them shortly before."""
        copy = "dd if=/dev/zero of=/dev/null bs=64k count=60000;"
        done = self.ordinary("-e", "CPUTIME@f200", "--outside", "sh", "-c", 6 * copy)
        images = [image for image in self.images_of(self.directory / "ordinary") if image.count("CPUTIME", [FIRED])]
        self.assertTrue(images, done.stderr)
        charged = sum(image.seconds("CPUTIME", [FIRED]) for image in images)
        cpu = sum(image.cpu for image in images)
        self.assertGreater(charged, 0.5 * cpu)  # of each, up to a tick of 10 ms of its system time is missing

    def test_options_without_effect(self):
        done = self.ordinary("--kernel", "--agent", "gomp", "--outside", "true")
        self.assertIn("hpcrun: --agent gomp has no effect from outside", done.stderr)
        self.assertRegex(done.stderr, "hpcrun: no kernel frames: .*sysctl kernel.perf_event_paranoid=1\n")
        done = self.run_tool(HPCRUN, "--agent", "nosuch", "--outside", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no agent 'nosuch'", done.stderr)

    def test_process_without_cpu_time(self):
        process = self.start("sh", "-c", "echo ready; read go")
        done = self.run_tool(HPCRUN, "-o", self.directory / "waits", "-p", process.pid, "--for", "0.1s")
        self.assertIn("; no CPU time was used: -e REALTIME shows where threads wait\n", done.stderr)

    def test_process_that_does_not_allow_it(self):
        code = "import ctypes; ctypes.CDLL(None).prctl(4, 0); print('ready', flush=True); input()"
        process = subprocess.Popen(["python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   user=profiling.ORDINARY_USER)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), "ready\n")
        done = self.ordinary("-p", process.pid)
        self.assertEqual(done.returncode, 1)
        self.assertIn("or does not allow it (PR_SET_DUMPABLE)", done.stderr)

    def test_caller_of_that_name(self):
        name = self.directory / f"calls{os.getpid()}"  # others may run this test, too
        name.symlink_to("/bin/sh")
        done = self.run_tool(name, "-c", 'echo $$; "$0" -o "$1" --name "$2"; exit $?', HPCRUN, self.directory / "m",
                             f"{name.name}*")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"but those that hpcrun was started from, which are left out: -p {done.stdout.strip()} measures",
                      done.stderr)

    def test_program_that_may_not_be_read(self):
        """The kernel ends all events at its exec, but for root."""
        binary = self.giving_rights("unreadable", 0o711)
        os.chown(binary, 0, 0)
        done = self.run_tool(HPCRUN, "--outside", binary, user=profiling.ORDINARY_USER)
        self.assertEqual((done.returncode, done.stdout), (126, ""))
        self.assertRegex(done.stderr, r"\Ahpcrun: \S+: can't be measured from outside: you may execute it, but not read it\n\Z")

    def test_others_may_not(self):
        for flags in ((), ("-static",)):
            binary = self.giving_rights("setuid", 0o4755, *flags)
            os.chown(binary, 0, 0)
            binary.chmod(0o4755)
            for options in ([], ["--outside"]):
                with self.subTest(flags=flags, options=options):
                    done = self.run_tool(HPCRUN, *options, binary, user=profiling.ORDINARY_USER)
                    self.assertEqual((done.returncode, done.stdout), (126, ""))
                    self.assertRegex(done.stderr, r"\Ahpcrun: \S+: setuid: [^\n]+\n\Z")


class Damage(OutsideTest):
    def test_a_frame_that_is_its_own_caller(self):
        """By wrong unwind information, which takes a step from the leaf for each frame: that ends before the limit of
        frames is reached, from inside and from outside."""
        TOO_DEEP, BUDGET = 68, 70
        for options in ([], ["--outside"]):
            with self.subTest(options):
                _, (image,) = self.measure(program("repeated_frame"), 20, options=options)
                self.check_fates([image])
                self.assertGreater(image.count("CPUTIME", [BUDGET]), 0)
                self.assertEqual(image.count("CPUTIME", [TOO_DEEP]), 0)


class DeepStack(OfChance, OutsideTest):
    def test_stack_that_changes_beyond_the_copy(self):
        """The copy ends in a frame that is written to all the time. Outer frames are those of an earlier sample."""
        for evidence in self.looks():
            _, (image,) = self.measure(program("changing_frame"), 60, 240, options=["--outside"])
            self.check_fates([image])
            evidence.enough("samples", image.count("CPUTIME", [FIRED]), 150)
            self.assertLess(image.count("CPUTIME", PARTIAL), 0.1 * image.count("CPUTIME", [FIRED]))

    def test_rest_that_is_read_at_once(self):
        """The copy ends in frames that no earlier sample had, and that have returned a moment later."""
        for evidence in self.looks():
            _, (image,) = self.measure(program("new_stacks"), 200000, options=["--outside"])
            self.check_fates([image])
            evidence.enough("samples", image.count("CPUTIME", [FIRED]), 500)
            self.assertLess(image.count("CPUTIME", PARTIAL), 0.1 * image.count("CPUTIME", [FIRED]))


class Refusals(profiling.ProfilingTest):
    def refuse(self, *words, says, status=1, **options):
        done = self.run_tool(*words, **options)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertRegex(done.stderr, says)
        self.assertEqual([name for name in os.listdir(self.directory) if "measurements" in name], [])

    def test_where_perf_is_forbidden(self):
        """One line; the command does not run. The process is not touched."""
        deny = [profiling.TOOLS / "deny-perf", HPCRUN]
        for words in (["--outside", "echo", "no"], ["-p", os.getpid()]):
            self.refuse(*deny, *words, says=r"\Ahpcrun: can't measure from outside: .*\n\Z")

    def test_processes_that_are_not_there(self):
        last = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
        self.refuse(HPCRUN, "-p", last + 1, says="there is no such process")
        for text in ("x", "1,", "", "-1"):
            self.refuse(HPCRUN, "-p", text, status=2, says="not numbers of processes")

    def test_thread(self):
        is_over = threading.Event()
        thread = threading.Thread(target=is_over.wait)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(is_over.set)
        self.refuse(HPCRUN, "-p", thread.native_id, says=f"a thread of process {os.getpid()}")

    def test_programs_of_32_bits(self):
        binary = self.directory / "pause"
        for command in (["as", "--32", "-o", f"{binary}.o"], ["ld", "-m", "elf_i386", "-o", binary, f"{binary}.o"]):
            subprocess.run(command, input=".globl _start\n_start: mov $29, %eax\nint $0x80\njmp _start\n", text=True,
                           check=True)
        self.refuse(HPCRUN, binary, status=126, says="not an x86-64 program: can't be measured$")
        self.refuse(HPCRUN, "--outside", binary, status=126, says="not an x86-64 program: can't be measured from outside")
        try:
            process = subprocess.Popen([binary])
        except OSError:
            self.skipTest("this kernel runs no programs of 32 bits")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.refuse(HPCRUN, "-p", process.pid, says=f"process {process.pid}: not an x86-64 program")

    @unittest.skipIf(os.geteuid() != 0, "needs root, to be another user")
    def test_processes_of_another_user(self):
        self.refuse(HPCRUN, "-p", os.getpid(), user=profiling.ORDINARY_USER, says="another user")

    def test_what_is_measured_from_inside_only(self):
        for words, says in ((["--work-span"], "--work-span"), (["-ds"], "-ds"),
                            (["-e", "CPUTIME", "-e", "REALTIME"], "only CPUTIME")):
            self.refuse(HPCRUN, "--outside", *words, "true", says=says)
        self.refuse(HPCRUN, "--for", "1s", "true", status=2, says="--for needs")
        self.refuse(HPCRUN, "-p", "1", "true", status=2, says="there can't be a command")
        for words in (["-p", "1", "-a"], ["-a", "-p", "1"], ["-p", "1", "-p", "2"]):
            self.refuse(HPCRUN, *words, status=2, says="only one of them is possible")
        for text in ("0", "-1", "1x", "m", "1ms"):
            self.refuse(HPCRUN, "-p", "1", "--for", text, status=2, says="not a time")


if __name__ == "__main__":
    unittest.main()
