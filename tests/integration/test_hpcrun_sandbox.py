"""Programs that restrict their own system calls (seccomp): none is killed for a call of hpcrun."""
import pathlib
import re

import profiling
from profiling import FIRED, program, sources

LINE = "restricts its system calls (seccomp)"
SENT = "has its system calls sent to itself (user dispatch)"


class Sandbox(profiling.ProfilingTest):
    def test_what_sampling_needs_is_forbidden(self):
        """The measurement until then is kept, and a line says so."""
        for name, how in sources():
            for event in ("CPUTIME", "REALTIME"):
                with self.subTest(f"{name} {event}"):
                    done, images = self.measure(program("sandbox"), "narrow", events=[f"{event}@f5000"], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.assertIn(LINE, done.stderr)
                    self.check_fates(images)
                    self.assertEqual((len(images), images[0].state, len(images[0].threads)), (1, 0, 2))
                    self.assertGreater(images[0].seconds(event, [FIRED]), 0.01)

    def test_strict_mode(self):
        """Only the calling thread is restricted, and only that one ends."""
        if "\nSeccomp:\t0\n" not in pathlib.Path("/proc/self/status").read_text():
            self.skipTest("a seccomp filter is in force here, and no strict mode beside it")
        for event in ("CPUTIME@f5000", "REALTIME@f5000"):
            with self.subTest(event):
                done, images = self.measure(program("sandbox"), "strict", events=[event])
                self.assertEqual(done.stdout, "fine\n")
                self.assertIn(LINE, done.stderr)
                self.check_fates(images)

    def test_what_sampling_needs_is_allowed(self):
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("sandbox"), "wide", "say", **how)
                said, burned = done.stdout.split()
                self.assertEqual(said, "fine")
                self.assertNotIn(LINE, done.stderr)
                self.check_fates(images)
                self.assertEqual(images[0].state, 1)
                self.check_time(images[0].seconds("CPUTIME", [FIRED]), int(burned) * 1e-9, images[0].cpu, 0.003)

    def test_nothing_is_called_after_that(self):
        """hpcrun has withdrawn: the wrappers of what the program then calls make no system calls of their own."""
        for how in ("waits", "exec"):
            for options in ([], ["--work-span"]):
                with self.subTest(f"{how} {options}"):
                    done, images = self.measure(program("sandbox"), how, events=["CPUTIME@f5000"], options=options)
                    self.assertEqual(done.stdout, "fine\n")
                    self.assertIn(LINE, done.stderr)
                    self.check_fates(images)

    def test_what_hpcrun_can_do_without_is_forbidden(self):
        for how, processes in (("sends", 1), ("execs", 2)):
            with self.subTest(how):
                done, images = self.measure(program("sandbox"), how, events=["REALTIME@f5000"])
                self.assertEqual(done.stdout, "fine\n")
                self.assertNotIn(LINE, done.stderr)
                self.check_fates(images)
                self.assertEqual(len(images), processes)

    def need(self, how):
        """The kernel or the sandbox of the tests may not support it."""
        if self.run_tool(program("sandbox"), how).returncode == 3:
            self.skipTest(how)

    def test_calls_are_sent_to_the_program(self):
        """The measurement until then is kept, and a line says so."""
        self.need("sent")
        for name, how in sources():
            with self.subTest(name):
                done, images = self.measure(program("sandbox"), "sent", events=["CPUTIME@f5000"], **how)
                self.assertEqual(done.stdout, "fine\n")
                self.assertIn(SENT, done.stderr)
                self.check_fates(images)
                self.assertGreater(images[0].seconds("CPUTIME", [FIRED]), 0.01)

    def test_time_stamp_counter_is_forbidden(self):
        """Nothing is lost."""
        self.need("ticks")
        for name, how in sources():
            for event in ("CPUTIME", "REALTIME"):
                with self.subTest(f"{name} {event}"):
                    done, images = self.measure(program("sandbox"), "ticks", events=[f"{event}@f5000"], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.check_fates(images)
                    self.assertEqual(images[0].state, 1)
                    for thread in images[0].threads:
                        self.assertGreater(thread.count(event, [FIRED]), 10)

    def test_time_goes_on_without_the_counter(self):
        """Samples from before it is forbidden keep their times. Once in five runs, the first one comes in the first half:
        the program uses the CPU as long before as after."""
        self.need("ticks")
        for _ in range(5):
            _, (image,) = self.measure(program("sandbox"), "ticks", events=["CPUTIME@f5000"])
            if image.threads[0].trace.first < image.wall / 2:
                return
        self.fail(f"{vars(image.threads[0].trace)}, wall {image.wall}")

    def test_child_says_nothing(self):
        """Its message is in the log only."""
        done, images = self.measure("sh", "-c", f"{program('sandbox')} narrow; true", options=["-q"])
        self.assertEqual((done.stdout, done.stderr), ("fine\n", ""))
        logs = "".join(path.read_text() for path in self.measurements.glob("*.log"))
        self.assertIn(LINE, logs)
        self.check_fates(images)

    def test_the_list_of_what_sampling_needs_is_whole(self):
        """Every system call that hpcrun makes after its start is in the list in hooks/syscall.c."""
        hpcrun = profiling.ROOT / "hpcrun"
        at_start = {"SYS_readlink", "SYS_getcwd", "SYS_uname", "SYS_sched_getaffinity", "SYS_eventfd2", "SYS_madvise"}
        # The check of a program's file before an exec: hooks/exec-target.c skips the calls that a process which
        # restricts itself may have forbidden.
        at_exec = hpcrun / "base/program-file.c"
        # Makes none of its calls under a filter that might forbid them: record/arena-file.c.
        without_filter = hpcrun / "base/shared-pages.c"
        # Of the processes that measure from outside.
        not_inside = hpcrun / "base/cpu-priority.h"
        # The same for calls that hpcrun can do without, in all files that make them; base/sys.h has wrappers only.
        optional = {"SYS_getrusage", "SYS_fstatfs", "SYS_fallocate", "SYS_faccessat2", "SYS_writev", "SYS_adjtimex"}
        self.assertIn("process_is_restricted()", (hpcrun / "record/arena-file.c").read_text())
        files = [path for path in hpcrun.rglob("*.[ch]") if path not in (at_exec, without_filter, not_inside)
                 and path.relative_to(hpcrun).parts[0] not in ("hooks", "restart", "launch", "outside")]
        used = set()
        for path in files:
            calls = set(re.findall(r"\bSYS_[a-z_0-9]+", path.read_text()))
            used |= calls
            with self.subTest(path.name):
                self.assertTrue(not calls & optional or path.name == "sys.h" or
                                "process_is_restricted()" in path.read_text())
        listed = (hpcrun / "hooks/syscall.c").read_text().split("needed[] = {")[1].split("}")[0]
        self.assertGreater(len(used), 20)
        self.assertEqual(used - at_start - optional - set(re.findall(r"SYS_\w+", listed)), set())
