"""hpcrun on programs whose use of time is known: nothing is lost, counted twice or changed."""
import math
import os
import re
import signal
import stat
import subprocess
import time

import profiling
from profiling import FIRED, PARTIAL, RECORDED, program



def sources():
    """The ways to sample CPU time that can be tried here: (name, keyword arguments of measure)."""
    ways = [("timers", {"deny_perf": True})]
    if profiling.have_perf():
        ways.insert(0, ("perf", {}))
    return ways


class Time(profiling.ProfilingTest):
    def assert_adds_up(self, images, event="CPUTIME"):
        """The fates' time is the process's CPU clock between our first and last sight, within 2 % and
        four standard deviations of the first phases and tails (each about uniform in a period)."""
        self.check_fates(images)
        for image in images:
            period = 0.001
            sigma = period * math.sqrt(len(image.threads) / 6)
            self.assertAlmostEqual(image.seconds(event, [FIRED]), image.cpu,
                                   delta=0.02 * image.cpu + 4 * sigma, msg=image.path)

    def test_one_thread(self):
        for name, how in sources():
            with self.subTest(name):
                _, images = self.measure(program("recursion"), 20, 1500, **how)
                self.assertEqual(len(images), 1)
                self.assert_adds_up(images)
                self.assertGreater(images[0].count("CPUTIME", [FIRED]), 1200)

    def test_threads_at_once(self):
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("threads"), 64, 25, 64, **how)
                self.assertEqual(len(images[0].threads), 65)
                self.assertEqual({t.index for t in images[0].threads}, set(range(65)))
                self.assert_adds_up(images)
                self.assertGreater(images[0].cpu, int(done.stdout) * 1e-9 * 0.98)

    def test_short_threads_without_bias(self):
        """Threads far shorter than a period: on average they recover their time."""
        threads, ms, period = 3000, 1, 0.005
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("threads"), threads, ms, 2,
                                            events=["CPUTIME@f200"], **how)
                self.check_fates(images)
                truth = int(done.stdout) * 1e-9
                seen = sum(t.amount("CPUTIME", [FIRED]) for t in images[0].threads
                           if t.kind != 0) * profiling.TIME_UNIT
                chance = truth / threads / period  # that a thread has its one sample
                sigma = period * math.sqrt(threads * chance * (1 - chance))
                self.assertEqual(len(images[0].threads), threads + 1)
                self.assertAlmostEqual(seen, truth, delta=4 * sigma + 0.01 * truth)

    def test_real_time(self):
        _, images = self.measure("sleep", "1", events=["REALTIME@f1000"])
        self.check_fates(images)
        self.assertGreater(images[0].wall, 1)
        self.assertAlmostEqual(images[0].seconds("REALTIME", [FIRED]), images[0].threads[0].wall,
                               delta=0.005)

    def test_real_time_and_cpu_time_together(self):
        _, images = self.measure(program("recursion"), 5, 800,
                                 events=["REALTIME@f500", "CPUTIME@f1000"])
        self.check_fates(images)
        self.assertAlmostEqual(images[0].seconds("CPUTIME", [FIRED]), images[0].cpu,
                               delta=0.02 * images[0].cpu)
        self.assertAlmostEqual(images[0].seconds("REALTIME", [FIRED]), images[0].threads[0].wall,
                               delta=0.02 * images[0].wall)

    def test_phases_in_step_with_ticks(self):
        """Half of every 4 ms tick is spent in one function, half in another."""
        for name, how in sources():
            for rate in (250, 200, 1000):
                with self.subTest(f"{name} {rate}/s"):
                    done, images = self.measure(program("phases"), 4, 4000,
                                                events=[f"CPUTIME@f{rate}"], **how)
                    first, second = (int(word) for word in done.stdout.split())
                    truth = first / (first + second)
                    images = profiling.read_measurements(self.measurements, paths=True)
                    known = profiling.symbols(program("phases"))
                    seen, total = self.weigh(images[0], known["first_half"], known["second_half"])
                    samples = images[0].count("CPUTIME", [RECORDED])
                    sigma = math.sqrt(truth * (1 - truth) / samples)
                    self.assertAlmostEqual(seen / total, truth, delta=4 * sigma + 0.01)

    @staticmethod
    def weigh(image, one, other):
        """The values of paths through a function, and of paths through it or another."""
        weights = [0, 0]
        for thread in image.threads:
            for _, value, path in thread.paths:
                offsets = [int(frame.rsplit("+", 1)[1], 16) for frame in path if "phases+" in frame]
                for i, (start, size) in enumerate((one, other)):
                    weights[i] += value * any(start <= at < start + size for at in offsets)
        return weights[0], sum(weights)


class Processes(profiling.ProfilingTest):
    def test_fork_tree(self):
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("processes"), "tree", 2, 10, 20, **how)
                self.check_fates(images)
                self.assertEqual(len(images), 111)
                self.assertEqual(len({image.pid for image in images}), 111)
                self.assertEqual(sum(image.origin == 2 for image in images), 110)
                parents = {image.pid for image in images}
                self.assertEqual(sum(image.parent not in parents for image in images), 1)
                truth = int(done.stdout) * 1e-9
                seen = sum(image.seconds("CPUTIME", [FIRED]) for image in images)
                sigma = 0.001 * math.sqrt(111 / 6)
                self.assertAlmostEqual(seen, truth, delta=0.02 * truth + 4 * sigma)

    def test_exec_chain(self):
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("processes"), "chain", 10, 50, **how)
                self.assertEqual(done.stdout, "done\n")
                self.check_fates(images)
                self.assertEqual(sorted(image.exec_sequence for image in images), list(range(10)))
                self.assertEqual(len({image.pid for image in images}), 1)
                self.assertEqual(sorted(image.state for image in images), [1] + [3] * 9)
                self.assertAlmostEqual(sum(image.seconds("CPUTIME", [FIRED]) for image in images),
                                       0.5, delta=0.05)

    def test_exec_of_different_programs(self):
        done, images = self.measure("env", "sh", "-c", "exec env sh -c 'exec echo x'")
        self.assertEqual(done.stdout, "x\n")
        self.assertEqual(sorted(image.exec_sequence for image in images), [0, 1, 2, 3, 4])
        self.assertEqual(len({image.pid for image in images}), 1)

    def test_failed_exec_goes_on(self):
        script = "for i in 1 2 3; do exec /nowhere/to/be/found 2>/dev/null; done; echo here"
        done, images = self.measure("bash", "-c", f"shopt -s execfail; {script}")
        self.assertEqual(done.stdout, "here\n")
        self.assertEqual(len(images), 1)
        self.assertEqual(images[0].state, 1)

    def test_daemon(self):
        script = ("import ctypes, time; ctypes.CDLL(None).daemon(0, 0); t = time.process_time()\n"
                  "while time.process_time() < t + 0.1: pass")
        _, images = self.measure("/usr/bin/python3", "-c", script)
        for _ in range(1000):  # the daemon is nobody's child: it writes its state last
            images = profiling.read_measurements(self.measurements)
            if len(images) == 2 and all(image.state for image in images):
                break
            time.sleep(0.01)
        self.assertEqual(sorted(image.state for image in images), [1, 2])
        self.assertEqual(sorted(image.origin for image in images), [0, 2])

    def test_shell_pipelines_and_spawns(self):
        done, images = self.measure("sh", "-c", "seq 5 | sort -r | head -2; ls /nowhere; exec echo x",
                                    status=0)
        self.assertEqual(done.stdout, "5\n4\nx\n")
        names = sorted(os.path.basename(image.executable) for image in images)
        for name in ("seq", "sort", "head", "ls", "echo"):
            self.assertEqual(names.count(name), 1, names)


class Ends(profiling.ProfilingTest):
    # how -> (state, detail, exit status of a shell, threads whose time must be there)
    ends = {
        "exit": (1, 0, 3), "return": (1, 0, 7), "_exit": (2, 0, 4), "_Exit": (2, 0, 5),
        "quick_exit": (5, 0, 6), "pthread_exit": (1, 0, 0), "exec": (3, 0, 0),
        "abort": (4, signal.SIGABRT, -signal.SIGABRT),
        "fault": (4, signal.SIGSEGV, -signal.SIGSEGV),
        f"raise:{int(signal.SIGTERM)}": (4, signal.SIGTERM, -signal.SIGTERM),
        f"raise:{int(signal.SIGINT)}": (4, signal.SIGINT, -signal.SIGINT),
        f"raise:{int(signal.SIGPIPE)}": (4, signal.SIGPIPE, -signal.SIGPIPE),
    }

    def test_every_end_keeps_everything(self):
        for name, how in sources():
            for end, (state, detail, status) in self.ends.items():
                for alone in (False, True):
                    with self.subTest(f"{name} {end} alone={alone}"):
                        self.one_end(end, alone, state, detail, status, how)

    def one_end(self, end, alone, state, detail, status, how):
        word = ("alone:" if alone else "") + end
        plain = self.run_tool(program("ends"), word, 60)
        self.assertEqual(plain.returncode, status)
        _, images = self.measure(program("ends"), word, 60, status=status, **how)
        self.check_fates(images)
        first = min(images, key=lambda image: image.exec_sequence)
        self.assertEqual((first.state, first.detail), (state, detail))
        threads = 1 if alone else 2
        self.assertEqual(len(first.threads), threads)
        burned = 0.06 * (1 if alone or end == "pthread_exit" else 2)
        self.assertAlmostEqual(first.seconds("CPUTIME", [FIRED]), burned, delta=0.012)

    def test_threads_that_end_with_the_process(self):
        """Every thread is there once, with its time, however ends meet."""
        for name, how in sources():
            for _ in range(30):
                _, images = self.measure(program("endings"), "threads", events=["CPUTIME@f5000"], **how)
                self.check_fates(images)
                self.assertEqual(sorted(t.index for t in images[0].threads), list(range(9)), name)
                self.assertAlmostEqual(images[0].seconds("CPUTIME", [FIRED]), 0.08, delta=0.02)

    def test_signals_that_end_the_process_twice(self):
        """Only after everything is written, and by the signal that is written: mostly the first, but
        threads that get one each may overtake each other."""
        for name, how in sources():
            for i in range(10):
                where = f"m-{name}-{i}"
                deny = [profiling.TOOLS / "deny-perf"] if how else []
                done = self.run_tool(*deny, profiling.HPCRUN, "-q", "-o", where, program("endings"),
                                     "signals", timeout=60)
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
        while not list(where.glob("*.hpcrun")) if where.exists() else True:
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        images = profiling.read_measurements(where)
        self.assertEqual(len(images), 1)
        self.assertEqual(images[0].state, 0)


class Neighbours(profiling.ProfilingTest):
    """What the program sees and does is the same with the profiler."""

    def test_surroundings(self):
        plain = self.run_tool(program("neighbour"))
        for name, how in sources():
            with self.subTest(name):
                done, _ = self.measure(program("neighbour"), **how)
                self.assertEqual(done.stdout, plain.stdout)

    def test_interrupted_calls(self):
        for name, how in sources():
            for event in ("CPUTIME@f1000", "REALTIME@f1000"):
                for words in ([], ["expect-interrupts"]):
                    with self.subTest(f"{name} {event} {words}"):
                        done, _ = self.measure(program("waits"), *words, events=[event], **how)
                        self.assertEqual(done.stdout, "")

    def test_signal_stack(self):
        """The handler's stack use is bounded: HANDLER_STACK_BYTES in hpcrun/sample/handler.h."""
        header = (profiling.ROOT / "hpcrun/sample/handler.h").read_text()
        bound = int(re.search(r"HANDLER_STACK_BYTES (\d+)", header).group(1))
        for name, how in sources():
            with self.subTest(name):
                done, _ = self.measure(program("altstack"), 1500, events=["CPUTIME@f5000"], **how)
                used, frame = (int(word) for word in done.stdout.split())
                self.assertGreater(used, frame + 256)  # the handler did run there
                self.assertLess(used - frame, bound)

    hazards = ("fork-and-signals", "vfork-and-signals", "sigwait", "signalfd", "sent-faults",
               "small-signal-stack", "siginterrupt", "no-queue", "priorities")

    def test_hazards(self):
        """What programs do with signals and processes works as it does without the profiler."""
        for hazard in self.hazards:
            self.assertEqual(self.run_tool(program("hazards"), hazard).stdout, "fine\n", hazard)
            for name, how in sources():
                for event in ("CPUTIME@f5000", "REALTIME@f1000"):
                    with self.subTest(f"{hazard} {name} {event}"):
                        done, images = self.measure(program("hazards"), hazard, events=[event], **how)
                        self.assertEqual(done.stdout, "fine\n")
                        self.check_fates(images)

    def test_limits_that_the_program_sets(self):
        """They may cost the measurement, never the program."""
        done = self.run_tool(profiling.HPCRUN, "-o", "m", program("hazards"), "file-limit")
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"))
        self.assertIn("File too large", done.stderr)
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("hazards"), "fewer-descriptors", **how)
                self.assertEqual(done.stdout, "fine\n")
                self.assertEqual(len(images), 2)

    def test_constructor_that_waits_for_a_thread(self):
        """dlopen holds the loader's lock while constructors run; a thread that they wait for may
        call functions that we stand in front of for the first time."""
        source = self.directory / "waiting.c"
        library = self.directory / "waiting.so"
        source.write_text("""
            #define _GNU_SOURCE
            #include <poll.h>
            #include <pthread.h>
            #include <signal.h>
            #include <unistd.h>
            static void *run(void *argument) {
                sigset_t none;
                poll(NULL, 0, 1);
                usleep(1);
                close(-1);
                sigemptyset(&none);
                pthread_sigmask(SIG_BLOCK, &none, NULL);
                return argument;
            }
            __attribute__((constructor)) static void wait_for_thread(void) {
                pthread_t thread;
                pthread_create(&thread, NULL, run, NULL);
                pthread_join(thread, NULL);
            }""")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        done = self.run_tool(profiling.HPCRUN, "-q", "-o", "m", "/usr/bin/python3", "-c",
                             f"import ctypes; ctypes.CDLL('{library}'); print('fine')", timeout=60)
        self.assertEqual(done.stdout, "fine\n")

    def test_closed_standard_error_stays_the_program_s(self):
        """A file that the program opens as descriptor 2 gets no line of ours."""
        opener = "import os; os.write(os.open('out', os.O_RDWR | os.O_CREAT), b'data\\n')"
        self.run_tool("sh", "-c", 'exec "$@" 2>&-', "sh", profiling.HPCRUN, "-o", "m",
                      "/usr/bin/python3", "-c", opener)
        self.assertEqual((self.directory / "out").read_text(), "data\n")

    def test_program_with_address_sanitizer(self):
        source, built = self.directory / "checked.c", self.directory / "checked"
        source.write_text("int main(void) { return 5; }")
        subprocess.run(["gcc", "-fsanitize=address", "-o", built, source], check=True)
        self.measure(built, status=5)

    def test_broken_pipe_on_standard_error(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([profiling.HPCRUN, "-o", "m", "true"], stderr=writer,
                              cwd=self.directory, timeout=60)
        os.close(writer)
        self.assertEqual(done.returncode, 0)

    def test_daemon_does_not_keep_its_caller(self):
        """Who reads a daemon's output to its end does not wait for the daemon to end."""
        script = ("import ctypes, os, signal; ctypes.CDLL(None).daemon(0, 0)\n"
                  f"open('{self.directory}/pid', 'w').write(str(os.getpid())); signal.pause()")
        done = self.run_tool(profiling.HPCRUN, "-q", "-o", "m", "/usr/bin/python3", "-c", script,
                             timeout=60)
        self.assertEqual(done.returncode, 0)
        pid = self.directory / "pid"
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.001)
        os.kill(int(pid.read_text()), signal.SIGTERM)

    def test_standard_error_has_one_line(self):
        done, _ = self.measure("true")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("samples of CPUTIME", done.stderr.replace("sample of", "samples of"))
        done, _ = self.measure("true", options=["-q"])
        self.assertEqual(done.stderr, "")

    def test_as_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("the other tests run as one")
        for deny in (False, True):
            with self.subTest(deny_perf=deny):
                done, images = self.measure(program("threads"), 4, 100, 4, user=profiling.ORDINARY_USER,
                                            deny_perf=deny)
                self.assertIn("samples of CPUTIME", done.stderr)
                self.assertAlmostEqual(images[0].seconds("CPUTIME", [FIRED]), images[0].cpu,
                                       delta=0.02 * images[0].cpu + 0.003)


class Events(profiling.ProfilingTest):
    def test_page_faults_are_exact(self):
        if not profiling.have_perf():
            self.skipTest("perf_event_open is not permitted here")
        pages = 3000
        done, _ = self.measure(program("faults"), pages, events=["perf::PAGE-FAULTS@1"])
        images = profiling.read_measurements(self.measurements, paths=True)
        self.check_fates(images)
        start, size = profiling.symbols(program("faults"))["touch_pages"]
        seen = sum(value for thread in images[0].threads for _, value, path in thread.paths
                   if path and path[0].startswith("faults+") and
                   start <= int(path[0].split("+")[1], 16) < start + size)
        self.assertEqual(seen, pages)
        self.assertGreaterEqual(int(done.stdout), pages)

    def test_sampling_control(self):
        done, images = self.measure(program("control"), 300, options=["-ds"])
        self.assertEqual(done.stdout.split(), ["0", "1", "0"])
        self.check_fates(images)
        self.assertAlmostEqual(images[0].seconds("CPUTIME", [FIRED]), 0.3, delta=0.01)

    def test_sampling_control_of_another_thread(self):
        """A thread starts sampling for one that has used more, or less, of the CPU than itself."""
        for name, how in sources():
            for first, second in ((200, 50), (50, 200)):
                with self.subTest(f"{name} {first} {second}"):
                    _, images = self.measure(program("control_thread"), first, second, 300,
                                             options=["-ds"], **how)
                    self.check_fates(images)
                    self.assertAlmostEqual(images[0].seconds("CPUTIME", [FIRED]), 0.3, delta=0.015)

    def test_collapsed_recursion(self):
        for options, nodes in (([], 500), (["--collapse-recursion"], 1)):
            _, images = self.measure(program("recursion"), 500, 500, "leaf", options=options)
            images = profiling.read_measurements(self.measurements, paths=True)
            start, size = next(place for name, place in
                               profiling.symbols(program("recursion")).items()
                               if name.startswith("descend_to_work"))  # gcc may add .isra.0
            deepest = max(sum(frame.startswith("recursion+") and
                              start <= int(frame.split("+")[1], 16) < start + size for frame in path)
                          for _, _, path in images[0].threads[0].paths)
            self.assertLessEqual(deepest, nodes + 2)
            self.assertGreaterEqual(deepest, nodes)

    def test_list(self):
        done = self.run_tool(profiling.HPCRUN, "-L")
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("CPUTIME"))
        self.assertTrue(lines[1].startswith("REALTIME"))
        self.assertTrue(any("PAGE-FAULTS" in line for line in lines))


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
        self.refuse("-e", "NO_SUCH_EVENT", "ls", status=1, says="NO_SUCH_EVENT")
        self.refuse("--signal", "9", "ls", status=2, says="real-time")

    def test_commands(self):
        self.refuse("no-such-command-anywhere", status=127, says="command not found")
        self.refuse("./no-such-file", status=127, says="No such file")
        self.refuse("/", status=126, says="is a directory")
        text = self.directory / "text"
        text.write_text("hello\n")
        self.refuse("./text", status=126, says="Permission denied",
                    **({"user": profiling.ORDINARY_USER} if os.geteuid() == 0 else {}))

    def test_static_and_setuid_programs(self):
        source = self.directory / "p.c"
        source.write_text("int main(void) { return 0; }\n")
        subprocess.run(["gcc", "-static", "-o", self.directory / "static", source], check=True)
        subprocess.run(["gcc", "-o", self.directory / "setuid", source], check=True)
        self.refuse("./static", status=126, says="statically linked")
        if os.geteuid() == 0:
            os.chmod(self.directory / "setuid", 0o4755)
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
        """/dev/full stands for a disk that fills up: one line, and the command's own status."""
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
        script = self.directory / "script"
        script.write_text("#!/bin/sh\necho from a script\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        done, images = self.measure("./script")
        self.assertEqual(done.stdout, "from a script\n")
        self.assertEqual(len(images), 1)
