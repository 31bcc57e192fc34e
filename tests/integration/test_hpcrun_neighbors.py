"""A program sees and does the same with hpcrun as without."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

import profiling
from profiling import FIRED, HPCRUN, program, sources


class Neighbors(profiling.ProfilingTest):
    """The program sees and does the same with the profiler."""

    def test_surroundings(self):
        plain = self.run_tool(program("surroundings"))
        for name, how in sources():
            with self.subTest(name):
                done, _ = self.measure(program("surroundings"), **how)
                self.assertEqual(done.stdout, plain.stdout)

    def test_signal_stack(self):
        """Samples use nothing of the program's signal stack. Their use of ours is bounded: HANDLER_STACK_BYTES in
        hpcrun/sample/handler.h, besides HANDLER_FRAMES signal frames (the second one only if a guarded read faults)."""
        header = (profiling.ROOT / "hpcrun/sample/handler.h").read_text()
        bound = int(re.search(r"HANDLER_STACK_BYTES +(\d+)", header).group(1))
        frames = int(re.search(r"HANDLER_FRAMES +(\d+)", header).group(1))
        header = (profiling.ROOT / "hpcrun/thread/signal-stack.h").read_text()
        ours_has = int(re.search(r"SIGNAL_STACK_BYTES (\d+)", header).group(1))
        self.assertGreater(ours_has, bound + frames * 12288)  # frames with all registers of AMX
        for name, how in sources():
            with self.subTest(name):
                done, _ = self.measure(program("altstack"), 700, events=["CPUTIME@f5000"], **how)
                program_s, ours, frame = (int(word) for word in done.stdout.split())
                self.assertEqual(program_s, 0)
                self.assertGreater(ours, frame + 256)  # the handler has run there
                self.assertLess(ours - frames * frame, bound)

    def test_storm_of_signals(self):
        """Handlers run on the stack that the program has set for them, however many signals come at once."""
        storm = program("signal_storm")
        self.assertEqual(self.run_tool(storm, 100).stdout, "fine\n")
        for name, event, how in [(name, "CPUTIME@f5000", how) for name, how in sources()] + [("", "REALTIME@f5000", {})]:
            with self.subTest(f"{name} {event}"):
                done, (image,) = self.measure(storm, 200, events=[event], **how)
                self.assertEqual(done.stdout, "fine\n")
                self.check_fates([image])

    hazards = ("fork-and-signals", "vfork-and-signals", "sigwait", "signalfd", "sent-faults",
               "small-signal-stack", "siginterrupt", "own-signals", "no-queue", "priorities")

    def test_hazards(self):
        """Signals and processes of programs work as without the profiler. Wall time has only one source."""
        for hazard in self.hazards:
            self.assertEqual(self.run_tool(program("hazards"), hazard).stdout, "fine\n", hazard)
            for name, event, how in [(name, "CPUTIME@f5000", how) for name, how in sources()] + [("", "REALTIME@f1000", {})]:
                with self.subTest(f"{hazard} {name} {event}"):
                    done, images = self.measure(program("hazards"), hazard, events=[event], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.check_fates(images)

    def test_sigio_of_the_program(self):
        """A program's SIGIO does not prevent samples. A sample that can't be queued becomes SIGIO: it is still taken,
        and the program's handler is called, too."""
        for name, how in sources():
            for what, burned in (("own-io", 0.1), ("own-io-no-queue", 0.1), ("no-queue", 0.05)):
                with self.subTest(f"{name} {what}"):
                    done, (image,) = self.measure(program("hazards"), what, events=["CPUTIME@f1000"], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.check_fates([image])
                    self.check_time(image.seconds("CPUTIME", [FIRED]), burned, image.cpu, 0.0015)

    def test_signal_that_the_program_waits_for(self):
        """It may be the signal that hpcrun would choose: then the user chooses another."""
        done, images = self.measure(program("hazards"), "waited-signal", events=["REALTIME@f1000"],
                                    options=["--signal", "40"])
        self.assertEqual(done.stdout, "fine\n")
        self.check_fates(images)

    def test_limits_at_the_start(self):
        """They may cost the measurement, with a message, but never the program."""
        plain = self.run_tool(program("recursion"), 5, 20)
        for limit, sizes in ((resource.RLIMIT_AS, [mb << 20 for mb in (12, 16, 20, 30, 45, 90)]),
                             (resource.RLIMIT_SIGPENDING, [0, 10]),
                             (resource.RLIMIT_NOFILE, [4, 5, 8, 15, 16, 20])):
            for size in sizes:
                with self.subTest(f"{limit} {size}"):
                    done = self.run_tool(
                        HPCRUN, "-e", "CPUTIME@f1000", "-o", f"m{limit}-{size}", program("recursion"), 5, 20,
                        preexec_fn=lambda: resource.setrlimit(limit, (size, size)))
                    self.assertEqual((done.returncode, done.stdout), (0, plain.stdout))
                    if limit == resource.RLIMIT_SIGPENDING and size == 0:
                        self.assertRegex(done.stderr, "no source: .*RLIMIT_SIGPENDING is too low")
                    if limit == resource.RLIMIT_NOFILE:
                        image, = profiling.read_measurements(self.directory / f"m{limit}-{size}")
                        self.check_time(image.seconds("CPUTIME", [FIRED]), 0.02, image.cpu, 0.0015)

    def test_address_space(self):
        """mlockall locks all that is mapped: no table that is only partly used is mapped completely."""
        def mapped(text):
            return int(re.search(r"VmSize:\s*(\d+) kB", text).group(1)) << 10

        command = "grep", "VmSize", "/proc/self/status"
        plain, (done, _) = self.run_tool(*command), self.measure(*command)
        self.assertLess(mapped(done.stdout) - mapped(plain.stdout), 10 << 20)

    def test_limits_that_the_program_sets(self):
        """They may cost the measurement, but never the program."""
        done = self.run_tool(HPCRUN, "-o", "m", program("hazards"), "file-limit")
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"))
        self.assertIn("File too large", done.stderr)
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("hazards"), "fewer-descriptors", **how)
                self.assertEqual(done.stdout, "fine\n")
                self.assertEqual(len(images), 2)
                # No descriptor is left at the first of five samples: hpcrun has reserved one.
                done, images = self.measure("sh", "-c", f"ulimit -n 200; exec {program('hazards')} "
                                            "no-descriptors", events=["CPUTIME@f5"], **how)
                self.assertEqual(done.stdout, "fine\n")
                self.assertEqual(sorted(image.origin for image in images), [0, 1, 2])

    def test_holes_in_the_address_space(self):
        """Memory that the program has freed stays free: hpcrun's memory is elsewhere."""
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("holes"), events=["CPUTIME@f5000"], **how)
                self.assertEqual(done.stdout, "fine\n")
                self.check_fates(images)
                self.assertGreater(images[0].threads[0].nodes, 500)  # hpcrun has mapped memory

    def test_thread_with_descriptors_of_its_own(self):
        """The measurement's descriptor may be another file there."""
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure("sh", "-c", f"ulimit -n 200; exec {program('tables')} file",
                                            events=["CPUTIME@f20"], **how)
                self.assertEqual(done.stdout, "0\n")
                self.check_fates(images)
                image = images[-1]
                self.assertEqual(len(image.threads), 2)
                for thread in image.threads:
                    self.assertGreater(thread.cpu, 0.04)

    def test_bare_system_calls(self):
        self.assertEqual(self.run_tool(program("bare_calls")).stdout, "fine\n")
        for name, how in sources():
            for event in ("CPUTIME", "REALTIME"):
                with self.subTest(f"{name} {event}"):
                    done, images = self.measure(program("bare_calls"), events=[f"{event}@f2000"], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.check_fates(images)
                    self.assertGreater(images[0].count(event, [FIRED]), 0)

    def test_program_that_overwrites_its_arguments(self):
        done, images = self.measure(program("overwriter"), "first", "second")
        self.assertEqual(done.stdout, "fine\n")
        self.check_fates(images)
        self.assertEqual(len(images), 2)
        self.assertIn(f"hpcrun: {program('overwriter')}[", done.stderr)
        for image in images:
            self.assertIn(b"\x05first\x06second", pathlib.Path(image.path).read_bytes())

    def test_constructor_that_waits_for_a_thread(self):
        """dlopen holds the loader's lock while constructors run; a thread that they wait for may be the first to call
        functions that hpcrun hooks."""
        library = self.compile_text("waiting.so", """
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
            }""", "-shared", "-fPIC")
        done = self.run_tool(HPCRUN, "-q", "-o", "m", "/usr/bin/python3", "-c",
                             f"import ctypes; ctypes.CDLL('{library}'); print('fine')", timeout=600)
        self.assertEqual(done.stdout, "fine\n")

    def test_closed_standard_error_stays_the_program_s(self):
        """hpcrun writes nothing to a file that the program opens as descriptor 2."""
        opener = "import os; os.write(os.open('out', os.O_RDWR | os.O_CREAT), b'data\\n')"
        self.run_tool("sh", "-c", 'exec "$@" 2>&-', "sh", HPCRUN, "-o", "m",
                      "/usr/bin/python3", "-c", opener)
        self.assertEqual((self.directory / "out").read_text(), "data\n")

    def test_program_with_address_sanitizer(self):
        self.measure(self.compile_text("checked", "int main(void) { return 5; }", "-fsanitize=address"), status=5)

    def test_program_with_thread_sanitizer(self):
        """It is not measured, and a line says so; for a child, in the log."""
        built = self.compile_text("checked", """
            #include <pthread.h>
            static void *run(void *argument) { for (volatile int i = 0; i < 100000000; i++); return argument; }
            int main(void) {
                pthread_t thread;
                pthread_create(&thread, NULL, run, NULL);
                pthread_join(thread, NULL);
                return 5;
            }""", "-fsanitize=thread")
        line = "the program is built with the thread sanitizer: it is not measured\n"
        for name, how in sources():
            with self.subTest(name):
                done, _ = self.measure(built, status=5, **how)
                self.assertIn(f"hpcrun: {line}", done.stderr)
                done, _ = self.measure("sh", "-c", f"{built}; exit 6", status=6, **how)
                self.assertNotIn(line, done.stderr)
                self.assertIn(line, (self.measurements / "hpcrun.log").read_text())

    def test_broken_pipe_on_standard_error(self):
        """Nor is SIGPIPE another to the program than without hpcrun: `yes` ends by it."""
        for name, prefix in (("perf", []), ("timers", [profiling.TOOLS / "deny-perf"])):
            reader, writer = os.pipe()
            os.close(reader)
            with self.subTest(name):
                done = subprocess.run([*prefix, HPCRUN, "-o", name, "sh", "-c", "yes 2>&1; exit $?"], stdout=writer,
                                      stderr=writer, cwd=self.directory, timeout=600)
                self.assertEqual(done.returncode, 128 + signal.SIGPIPE)
            os.close(writer)

    def test_daemon_does_not_keep_its_caller(self):
        """A reader of a daemon's output gets the end of file before the daemon ends."""
        script = ("import ctypes, os, signal; ctypes.CDLL(None).daemon(0, 0)\n"
                  f"open('{self.directory}/pid', 'w').write(str(os.getpid())); signal.pause()")
        done = self.run_tool(HPCRUN, "-q", "-o", "m", "/usr/bin/python3", "-c", script,
                             timeout=600)
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
                self.check_time(images[0].seconds("CPUTIME", [FIRED]), int(done.stdout.split()[0]) * 1e-9,
                                images[0].cpu, 0.003)
