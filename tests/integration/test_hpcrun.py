"""hpcrun on programs with a known use of time: nothing is lost, counted twice or changed."""
import collections
import os
import re
import stat
import subprocess

import profiling
from evidence import OfChance, of_ends, of_share, of_tries
from profiling import FIRED, program, sources


class Time(OfChance, profiling.ProfilingTest):
    measures_time = True
    cpus_needed = 1

    def test_one_thread(self):
        """A thread's time is off by its first phase and its tail, a period each, and 2 %. The kernel looks at timers
        of CPU time at its ticks, each 5 ms at most."""
        for name, how in sources():
            with self.subTest(name):
                _, (image,) = self.measure(program("recursion"), 20, 800, **how)
                self.check_fates([image])
                self.check_time(image.seconds("CPUTIME", [FIRED]), 0.8, image.cpu, 0.0015)
                self.assertGreater(image.count("CPUTIME", [FIRED]), (0.8 - self.stolen) / 0.005)

    def test_threads_at_once(self):
        for name, how in sources():
            with self.subTest(name):
                for evidence in self.looks():
                    done, (image,) = self.measure(program("threads"), 64, 12, 64, **how)
                    self.check_fates([image])
                    self.assertEqual({t.index for t in image.threads}, set(range(65)))
                    burned, counted = (int(word) * 1e-9 for word in done.stdout.split())
                    evidence.time("time", image.seconds("CPUTIME", [FIRED]), burned, image.cpu, of_ends(65, 0.001))
                    self.assertGreater(image.cpu, 0.98 * counted)

    def seen_in_threads(self, image):
        """Seconds of CPU time in all threads except the first."""
        return sum(t.amount("CPUTIME", [FIRED]) for t in image.threads if t.kind != 0) * profiling.TIME_UNIT

    def test_short_threads_without_bias(self):
        """Threads far shorter than a period get their time on average. Those that ended take nothing of the rate of
        REALTIME, which many threads share."""
        threads, ms, period = 1200, 1, 0.005
        for name, how in sources():
            with self.subTest(name):
                for evidence in self.looks():
                    done, images = self.measure(program("threads"), threads, ms, 2,
                                                events=["CPUTIME@f200", "REALTIME@f500"], **how)
                    self.check_fates(images)
                    self.assertLess(images[0].mean_period("REALTIME"), 4 * 0.002)
                    burned, counted = (int(word) * 1e-9 for word in done.stdout.split())
                    sampled = min(0.5, counted / threads / period)  # the chance of a thread's one sample
                    self.assertEqual(len(images[0].threads), threads + 1)
                    evidence.time("time", self.seen_in_threads(images[0]), burned, counted,
                                  of_tries(threads, sampled, period), notices=0.4)

    def test_late_first_samples_without_bias(self):
        """Threads whose first sample is up to two periods late get their time on average."""
        threads, ms, period = 80, 9, 0.005
        for name, how in sources():
            with self.subTest(name):
                for evidence in self.looks():
                    done, images = self.measure(program("overdue"), "late", ms, threads,
                                                events=["CPUTIME@f200"], **how)
                    self.check_fates(images)
                    burned, counted = (int(word) * 1e-9 for word in done.stdout.split())
                    # One period or two, at most equally likely.
                    evidence.time("time", self.seen_in_threads(images[0]), burned, counted,
                                  of_tries(threads, 0.5, period), notices=0.25)

    def test_real_time(self):
        done, images = self.measure("sleep", "1", events=["REALTIME@f1000"])
        self.check_fates(images)
        self.assertGreater(images[0].wall, 1)
        self.assertRegex(done.stderr, r" samples of REALTIME \(POSIX timers on the wall clock, \d{3,4}\.\d/s\) in")
        self.check_time(images[0].seconds("REALTIME", [FIRED]), 1, images[0].threads[0].wall, 0.0015)

    def test_real_time_and_cpu_time_together(self):
        seconds = 0.8
        done, (image,) = self.measure(program("tick_halves"), seconds, 4000,
                                      events=["REALTIME@f500", "CPUTIME@f1000"])
        self.check_fates([image])
        burned = sum(int(word) * 1e-9 for word in done.stdout.split())
        self.check_time(image.seconds("CPUTIME", [FIRED]), burned, image.cpu, 0.0015)
        self.check_time(image.seconds("REALTIME", [FIRED]), seconds, image.threads[0].wall, 0.003)

    def test_a_crowd_of_threads(self):
        """More threads wait than can be sampled at the full rate: they are sampled less often, the program makes
        progress, and no thread's time is lost. 10,000 threads occupy the machine for minutes if it is busy."""
        for count in (1000, 10000) if os.environ.get("TEST_ALL") else (1000,):
            with self.subTest(count):
                for evidence in self.looks():
                    done, (image,) = self.measure(program("crowd"), count, 500,
                                                  events=["REALTIME@f5000", "CPUTIME@f1000"])
                    members, there = map(int, done.stdout.split())
                    self.assertEqual((members, len(image.threads)), (count, count + 1))
                    wall = sum(thread.wall for thread in image.threads)
                    period = max(2e-4, 2e-4 * count / len(os.sched_getaffinity(0)))
                    evidence.time("time", image.seconds("REALTIME", [FIRED]), there * 1e-9, wall,
                                  of_ends(count, period))
                    most = 5e3 * len(os.sched_getaffinity(0)) * image.wall  # doc/limits.md
                    self.assertLess(image.count("REALTIME", [FIRED]), 1.5 * most)


class Ticks(OfChance, profiling.ProfilingTest):
    measures_time = True
    cpus_needed = 1

    def test_phases_in_step_with_ticks(self):
        """Half of every 4 ms tick is spent in one function, the other half in another."""
        for name, how in sources():
            for rate, seconds in ((250, 1.4), (200, 1.4), (1000, 0.4)):
                with self.subTest(f"{name} {rate}/s"):
                    for evidence in self.looks():
                        done, (image,) = self.measure(program("tick_halves"), seconds, 4000,
                                                      events=[f"CPUTIME@f{rate}"], paths=True, **how)
                        first, second = (int(word) * 1e-9 for word in done.stdout.split())
                        seen, other = (self.weigh(image, half) for half in ("first_half", "second_half"))
                        total = seen + other
                        period, truth = image.mean_period("CPUTIME"), total * first / (first + second)
                        evidence.between("first half", seen, truth - 0.01 * total, truth + 0.01 * total,
                                         of_share(truth, total, period), 0.25 * total)

    @staticmethod
    def weigh(image, function):
        """Seconds of paths through it."""
        return sum(value * profiling.TIME_UNIT for thread in image.threads for _, value, path in thread.paths
                   if function in profiling.functions(path, program("tick_halves")))


class Processes(OfChance, profiling.ProfilingTest):
    def test_fork_tree(self):
        for name, how in sources():
            with self.subTest(name):
                for evidence in self.looks():
                    done, images = self.measure(program("processes"), "tree", 2, 6, 13, **how)
                    self.check_fates(images)
                    self.assertEqual(len(images), 43)
                    self.assertEqual(len({image.pid for image in images}), 43)
                    self.assertEqual(sum(image.origin == 2 for image in images), 42)
                    parents = {image.pid for image in images}
                    self.assertEqual(sum(image.parent not in parents for image in images), 1)
                    burned, whole = (int(word) * 1e-9 for word in done.stdout.split())
                    counted = sum(thread.cpu for image in images for thread in image.threads)
                    self.assertLess(counted, whole)
                    evidence.time("time", sum(image.seconds("CPUTIME", [FIRED]) for image in images), burned, counted,
                                  of_ends(43, 0.001))

    def test_exec_chain(self):
        for name, how in sources():
            with self.subTest(name):
                for evidence in self.looks():
                    done, images = self.measure(program("processes"), "chain", 10, 35, **how)
                    *burned, last = done.stdout.splitlines()
                    self.assertEqual((len(burned), last), (10, "done"))
                    self.check_fates(images)
                    self.assertEqual(sorted(image.exec_sequence for image in images), list(range(10)))
                    self.assertEqual(len({image.pid for image in images}), 1)
                    self.assertEqual(sorted(image.state for image in images), [1] + [3] * 9)
                    evidence.time("time", sum(image.seconds("CPUTIME", [FIRED]) for image in images),
                                  sum(map(int, burned)) * 1e-9, sum(image.cpu for image in images),
                                  of_ends(10, 0.001))

    def test_exec_of_different_programs(self):
        done, images = self.measure("env", "sh", "-c", "exec env sh -c 'exec echo x'")
        self.assertEqual(done.stdout, "x\n")
        self.assertEqual(sorted((image.exec_sequence, image.origin) for image in images),
                         [(0, 0)] + [(i, 1) for i in range(1, 5)])
        self.assertEqual(len({image.pid for image in images}), 1)

    def test_a_child_with_the_process_number_of_an_earlier_one(self):
        """It is no later image of that one, even if both began in the same tick of the clock."""
        last = "/proc/sys/kernel/ns_last_pid"
        if os.geteuid() != 0 or not os.access(last, os.W_OK):
            self.skipTest("only root may set the next process number")
        script = ('(exit 0) & p=$!; wait $p; for i in $(seq 50); do '  # others may take the number
                  f'echo $((p - 1)) > {last}; (exit 3) & [ $p = $! ] && break; wait; done; wait; echo $p')
        done, images = self.measure("dash", "-c", script)
        self.assertEqual([image.origin for image in images if image.pid == int(done.stdout)], [2, 2])

    def test_failed_exec_goes_on(self):
        script = "for i in 1 2 3; do exec /nowhere/to/be/found 2>/dev/null; done; echo here"
        done, images = self.measure("bash", "-c", f"shopt -s execfail; {script}")
        self.assertEqual(done.stdout, "here\n")
        self.assertEqual(len(images), 1)
        self.assertEqual(images[0].state, 1)

    def test_failed_exec_forgets_no_thread(self):
        """The rate in the last line covers all threads, including those that had ended before."""
        script = """import os, threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
thread = threading.Thread(target=burn, args=(0.3,))
thread.start()
thread.join()
try:
    os.execv('/', ['/'])
except OSError:
    burn(0.1)
"""
        done, images = self.measure("/usr/bin/python3", "-c", script)
        rate = re.findall(r"([\d.]+)/s\) in", done.stderr)[-1]
        self.assertAlmostEqual(float(rate), images[0].count("CPUTIME", [FIRED]) / images[0].cpu,
                               delta=0.1 * float(rate))

    def test_daemon(self):
        script = ("import ctypes, time; ctypes.CDLL(None).daemon(0, 0); t = time.process_time()\n"
                  "while time.process_time() < t + 0.1: pass")
        _, images = self.measure("/usr/bin/python3", "-c", script)

        def written():  # nobody waits for the daemon; it writes its state last
            nonlocal images
            images = profiling.read_measurements(self.measurements)
            return len(images) == 2 and all(image.state for image in images)
        profiling.wait_until(written, "state of the daemon")
        self.assertEqual(sorted(image.state for image in images), [1, 2])
        self.assertEqual(sorted(image.origin for image in images), [0, 2])

    def test_daemons_are_where_they_would_be(self):
        """Their directory, streams and session, in all four ways."""
        plain = self.run_tool(program("daemons"))
        self.assertEqual(len(plain.stdout.splitlines()), 4, plain.stderr)
        where = self.directory / "daemons"
        done = self.run_tool(profiling.HPCRUN, "-o", where, "--", program("daemons"))
        self.assertEqual(done.stdout, plain.stdout)

        def written():
            images = profiling.read_measurements(where)
            return len(images) == 9 and all(image.state for image in images)
        profiling.wait_until(written, "states of the daemons")

    def test_shell_pipelines_and_spawns(self):
        done, images = self.measure("sh", "-c", "seq 5 | sort -r | head -2; ls /nowhere; exec echo x",
                                    status=0)
        self.assertEqual(done.stdout, "5\n4\nx\n")
        names = sorted(os.path.basename(image.executable) for image in images)
        for name in ("seq", "sort", "head", "ls", "echo"):
            self.assertEqual(names.count(name), 1, names)


class Events(profiling.ProfilingTest):
    @profiling.needs_perf
    def test_page_faults_are_exact(self):
        pages = 3000
        done, _ = self.measure(program("faults"), pages, events=["perf::PAGE-FAULTS@1"])
        images = profiling.read_measurements(self.measurements, paths=True)
        self.check_fates(images)
        seen = sum(value for thread in images[0].threads for _, value, path in thread.paths
                   if "touch_pages" in profiling.functions(path[:1], program("faults")))
        self.assertEqual(seen, pages)
        self.assertGreaterEqual(int(done.stdout), pages)

    @profiling.needs_perf
    def test_a_sample_at_every_fault_lets_the_program_go_on(self):
        """The vDSO's clock page: a pending signal ends the first access's page fault before the page is mapped
        (kernel 6.18). Without a limit, the access faults again and is sampled again for ever."""
        done, images = self.measure("bash", "-c", "echo $EPOCHREALTIME", events=["perf::PAGE-FAULTS@1"])
        self.assertRegex(done.stdout, r"^\d+[.,]\d+\n$")  # by the locale
        self.check_fates(images)

    @profiling.needs_perf
    def test_counters_without_a_period(self):
        """They are sampled by rate: 200 per second of CPU time, or the given rate, not at each count. Their sum is
        what the program used by its own measurement; clock events count nanoseconds."""
        for event, rate in (("cpu-clock", 200), ("perf::TASK-CLOCK", 200), ("cpu-clock@f2000", 2000)):
            with self.subTest(event):
                done, images = self.measure(program("threads"), 2, 400, 2, events=[event])
                self.check_fates(images)
                burned, image = int(done.stdout.split()[0]) * 1e-9, images[0]
                name = event.split("@")[0]
                fired = image.count(name, [FIRED])
                # Each thread's first phase, tail, and adaptation of the period amount to a few samples.
                self.assertLess(fired, 1.1 * rate * image.cpu + 20)
                self.assertGreater(fired, 0.5 * rate * burned - 20)
                counted = sum(t.amount(name, [FIRED]) for t in image.threads) * 1e-9
                # Counters stop while a sample is taken, which the burned time includes: at most 40 us each.
                self.check_time(counted, burned - 40e-6 * fired, image.cpu, 3 * 4 / rate)
                self.assertIn(f"samples of {name} (perf counter, by rate, ", done.stderr)

    @profiling.needs_perf
    def test_time_in_the_kernel(self):
        """It is sampled, if the user may see it."""
        _, (image,) = self.measure("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=4000",
                                   events=["cpu-clock@f1000"])
        self.assertGreater(image.count("cpu-clock", [FIRED]), 300 * image.cpu)

    @profiling.needs_perf
    def test_page_faults_by_rate(self):
        """A counter that starts with a period of 1: the sum equals the kernel's count, within the longest period,
        at most eight times the mean."""
        done, images = self.measure(program("faults"), 60000, events=["perf::PAGE-FAULTS"])
        self.check_fates(images)
        fired = images[0].count("perf::PAGE-FAULTS", [FIRED])
        seen = images[0].threads[0].amount("perf::PAGE-FAULTS", [FIRED])
        self.assertLess(fired, 60000 / 20)
        self.assertGreater(fired, 12)
        self.assertLess(abs(seen - int(done.stdout)), 8 * seen / fired + 500)

    def test_sampling_control(self):
        done, images = self.measure(program("control"), 300, options=["-ds"])
        *lines, counted = done.stdout.splitlines()
        active, burned = zip(*map(str.split, lines))
        self.assertEqual(active, ("0", "1", "0"))
        self.check_fates(images)
        self.check_time(images[0].seconds("CPUTIME", [FIRED]), int(burned[1]) * 1e-9, int(counted) * 1e-9,
                        0.0015)

    def test_sampling_control_of_another_thread(self):
        """A thread switches sampling on for another thread that has used more, or less, CPU time than itself."""
        for name, how in sources():
            for first, second in ((100, 25), (25, 100)):
                with self.subTest(f"{name} {first} {second}"):
                    done, images = self.measure(program("control_thread"), first, second, 150,
                                                options=["-ds"], **how)
                    self.check_fates(images)
                    *before, burned = (int(word) * 1e-9 for word in done.stdout.split())
                    self.check_time(images[0].seconds("CPUTIME", [FIRED]), burned,
                                    images[0].cpu - sum(before), 0.003)

    def test_collapsed_recursion(self):
        for options, nodes in (([], 500), (["--collapse-recursion"], 1)):
            _, images = self.measure(program("recursion"), 500, 200, "leaf", options=options)
            images = profiling.read_measurements(self.measurements, paths=True)
            deepest = max(sum(name.startswith("descend_to_work")  # gcc may add .isra.0
                              for name in profiling.functions(path, program("recursion")))
                          for _, _, path in images[0].threads[0].paths)
            self.assertLessEqual(deepest, nodes + 2)
            self.assertGreaterEqual(deepest, nodes)

    def test_list(self):
        done = self.run_tool(profiling.HPCRUN, "-L")
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("CPUTIME"))
        self.assertTrue(lines[1].startswith("REALTIME"))
        if profiling.have_perf():
            self.assertTrue(any("PAGE-FAULTS" in line for line in lines))
        usable = lines[:lines.index("")] if "" in lines else lines
        self.assertEqual([line for line in usable if "not here" in line], [])
        rest = [re.fullmatch(r"(\d+) more can't be used here: (.+)", line) for line in lines[len(usable) + 1:]]
        # With `all`, each event that was only counted is listed with its reason, after the usable ones.
        every = self.run_tool(profiling.HPCRUN, "-L", "all").stdout.splitlines()
        self.assertEqual(every[:len(usable)], usable)
        refused = collections.Counter(line.split(" not here: ")[1] for line in every[len(usable):] if " not here: " in line)
        self.assertEqual({match[2]: int(match[1]) for match in rest if match}, refused)
        self.assertEqual([line for line in every[len(usable):] if " not here: " not in line], lines[len(usable) + 1:][
            len(refused) + (len(refused) > 0):])
        wrong = self.run_tool(profiling.HPCRUN, "-L", "some")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))


class Refusals(profiling.ProfilingTest):
    """The reason why CPUTIME does not use perf: the kernel's setting, or a sandbox. The setting is a file of the test,
    in a mount namespace."""
    def said(self, level, deny):
        setting = self.directory / "perf_event_paranoid"
        setting.write_text(f"{level}\n")
        where = "/proc/sys/kernel/perf_event_paranoid"
        command = (f"mount --bind {setting} {where} && exec setpriv --reuid {profiling.ORDINARY_USER} "
                   f"--regid {profiling.ORDINARY_USER} --clear-groups {profiling.TOOLS / 'deny-perf' if deny else ''} "
                   f"{profiling.HPCRUN} -q -o m{level}{deny} true")
        done = self.run_tool("unshare", "-m", "sh", "-c", command)
        if done.returncode != 0:
            self.skipTest(f"no mount namespace here: {done.stderr}")
        return done.whole_stderr

    def test_settings(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to run as another user")
        text = "hpcrun: CPUTIME uses POSIX timers: "
        self.assertEqual(self.said(3, deny=True), text + "kernel.perf_event_paranoid is 3, where ordinary users may "
                                                         "not use perf\n")
        self.assertEqual(self.said(2, deny=True), text + "perf_event_open: Permission denied, by a container or a sandbox\n")
        with open("/proc/sys/kernel/perf_event_paranoid") as setting:
            if int(setting.read()) != 2 or not profiling.have_perf():
                self.skipTest("the rest passed; this machine's own setting is not 2")
        self.assertEqual(self.said(2, deny=False), text + "kernel.perf_event_paranoid is 2, where perf hides the "
                                                          "kernel's time from ordinary users\n")


class BadInput(profiling.ProfilingTest):
    def refuse(self, *words, status, says, **options):
        done = self.run_tool(profiling.HPCRUN, *words, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        first = done.stderr.splitlines()[0]
        self.assertIn(says, first)
        self.assertTrue(first.startswith("hpcrun: "), first)
        self.assertEqual([p for p in self.directory.iterdir() if p.name.startswith("hpctoolkit")], [])

    def test_command_lines(self):
        self.refuse(status=2, says="no command")
        self.refuse("--frobnicate", "ls", status=2, says="--frobnicate")
        self.refuse("-e", status=2, says="needs a value")
        self.refuse("-e", "CPUTIME@f20000", "ls", status=2, says="10000")
        self.refuse("-e", "CPUTIME@50", "ls", status=2, says="10000")
        self.refuse("-e", "CPUTIME@0", "ls", status=2, says="period")
        self.refuse("-e", "CPUTIME", "-e", "CPUTIME", "ls", status=2, says="twice")
        self.refuse("-e", "NO_SUCH_EVENT", "ls", status=2, says="NO_SUCH_EVENT can't be used: no such event")
        self.refuse("-e", "perf::PAGE-FAULTS@0", "ls", status=2, says="period")
        self.refuse("--signal", "9", "ls", status=2, says="real-time")

    def test_commands(self):
        self.refuse("no-such-command-anywhere", status=127, says="command not found")
        self.refuse("./no-such-file", status=127, says="No such file")
        self.refuse("/", status=126, says="is a directory")
        text = self.directory / "text"
        text.write_text("hello\n")
        self.refuse("./text", status=126, says="Permission denied",
                    **({"user": profiling.ORDINARY_USER} if os.geteuid() == 0 else {}))

    def test_scripts(self):
        """One line each, with a shell's exit status; no directory is left behind."""
        for name, text, status, says in (
                ("bare", "echo from no shell\n", 126, "./bare: neither a program nor a script that begins with '#!'"),
                ("empty", "", 126, "./empty: neither a program nor a script"),
                ("nameless", "#!  \n", 126, "./nameless: a script that names no interpreter"),
                ("lost", "#!/no/such/interpreter -x\n", 127, "/no/such/interpreter: interpreter of ./lost: No such file"),
                ("folder", "#!/\n", 126, "/: interpreter of ./folder: not an executable file")):
            with self.subTest(name):
                (self.directory / name).write_text(text)
                (self.directory / name).chmod(0o755)
                self.refuse(f"./{name}", status=status, says=says)
        self.refuse("", status=127, says="'': command not found")

    def test_setuid_programs(self):
        program = self.compile_text("setuid", "int main(void) { return 0; }\n")
        if os.geteuid() == 0:
            os.chmod(program, 0o4755)
            self.refuse("./setuid", status=126, says="setuid", user=profiling.ORDINARY_USER)

    def test_output_directories(self):
        full = self.directory / "full"
        full.mkdir()
        (full / "something").touch()
        self.refuse("-o", "full", "ls", status=1, says="full")
        self.refuse("-o", "no/such/place", "ls", status=1, says="No such file")
        if os.geteuid() == 0:
            closed = self.directory / "closed"
            closed.mkdir(mode=0o700)
            self.refuse("-o", "closed/x", "ls", status=1, says="Permission denied", user=profiling.ORDINARY_USER)

    def test_default_output_never_overwrites(self):
        for _ in range(3):
            self.assertEqual(self.run_tool(profiling.HPCRUN, "-q", "true").returncode, 0)
        names = sorted(p.name for p in self.directory.iterdir())
        self.assertEqual(names, ["hpctoolkit-true-measurements", "hpctoolkit-true-measurements-2",
                                 "hpctoolkit-true-measurements-3"])

    def test_full_disk(self):
        """/dev/full simulates a full disk: one line, and the command's exit status."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to mount a small file system")
        small = self.directory / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", small])
        if mounted.returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", small])
        (small / "m").mkdir()
        (small / "filler").write_bytes(b"x" * 8192)
        done = self.run_tool(profiling.HPCRUN, "-e", "CPUTIME@f1000", "-o", small / "m",
                             program("threads"), 64, 5, 64)
        self.assertEqual(done.returncode, 0)
        self.assertIn("No space left on device", done.stderr)

    def test_scripts_are_judged_by_their_interpreter(self):
        script = self.directory / "a-script"
        script.write_text("#!/bin/sh\necho from a script\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        done, images = self.measure("./a-script")
        self.assertEqual(done.stdout, "from a script\n")
        self.assertEqual(len(images), 1)
        # An empty entry of PATH is the current folder.
        done = self.run_tool(profiling.HPCRUN, "-q", "a-script", env={**os.environ, "PATH": f":{os.environ['PATH']}"})
        self.assertEqual((done.stdout, done.returncode), ("from a script\n", 0), done.stderr)
