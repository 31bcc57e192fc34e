"""libhpcrun itself built with AddressSanitizer and UndefinedBehaviorSanitizer, and with ThreadSanitizer.

AddressSanitizer is loaded after libc, by libhpcrun: it checks the library's own variables and stack frames, in
the handler, too; what the library maps for itself has no red zones, and the program's memory is not its. With
ThreadSanitizer the program is tests/programs/hpcrun/races.c, which says what is seen and what is not.
SANITIZERS_LONG=1 (make stress-sanitizers) is the long form."""
import os
import shutil
import subprocess

import profiling
from profiling import TOOLS

LONG = "SANITIZERS_LONG" in os.environ
ADDRESS, THREAD = profiling.BUILD / "address", profiling.BUILD / "thread"

# Faults and ends by signals are the program's or hpcrun's business. Finds of UBSan end the process, too.
NO_SIGNALS = "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:use_sigaltstack=0"
ADDRESS_OPTIONS = {"ASAN_OPTIONS": f"verify_asan_link_order=0:detect_leaks=0:{NO_SIGNALS}"}
# Threads that are there when the process ends are meant to be.
THREAD_OPTIONS = {"TSAN_OPTIONS": f"report_thread_leaks=0:exitcode=66:handle_sigtrap=0:{NO_SIGNALS}"}

# Not those in which a fault ends our handler's frames, as where stacks overflow or code has no rules: the sanitizer
# expects a frame to be left by its return.
PROGRAMS = ",".join(["hpcrun/threads 60 1 8", "hpcrun/processes tree 3 2 4", "hpcrun/ends thread:exec 10",
                     "hpcrun/hazards fork-and-signals", "hpcrun/stacks contexts 30", "hpcrun/stacks signal-stack 30",
                     "hpcrun/forced 40", "hpcrun/sandbox wide", "hpcrun/execs posix_spawn /bin/ls", "hpcrun/crowd 200 20",
                     "cilk/fib -w 16 30", "logical/spawn-tree-chaos 4 3 5", "logical/phases 4 10"])


class Addresses(profiling.ProfilingTest):
    def test_parts(self):
        """The unit tests, on the sanitized objects. Some have the frames of a thread on their own stack: gcc 13 and
        later would move them to the heap, to find uses after a return."""
        options = "detect_leaks=0:detect_stack_use_after_return=0"
        for path in sorted((ADDRESS / "tests/unit").glob("*/test_*")):
            with self.subTest(path.name):
                done = self.run_tool(path, env=dict(os.environ, ASAN_OPTIONS=options), cwd=profiling.ROOT)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_programs(self):
        """The suite of tests/stress compares what they say: a report of a sanitizer is a difference."""
        how = ["--rounds", 3] if LONG else ["--one-way"]
        done = self.run_tool(profiling.ROOT / "tests/stress/own_programs.py", "--learn", 1, *how, "--programs", PROGRAMS,
                             "--hpcrun", ADDRESS / "bin" / "hpcrun", timeout=7200,
                             env=dict(os.environ, BUILD=str(profiling.BUILD), **ADDRESS_OPTIONS))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_library_is_sanitized(self):
        for build, symbol in ((ADDRESS, "__asan_init"), (THREAD, "__tsan_init")):
            undefined = subprocess.run([*profiling.NM, "-D", "-u", build / "lib" / "libhpcrun.so"], capture_output=True, text=True,
                                       check=True).stdout
            self.assertIn(symbol, undefined)


class Races(profiling.ProfilingTest):
    def race(self, number, event, prefix):
        where = self.directory / f"m{number}"
        done = self.run_tool(*prefix, THREAD / "bin" / "hpcrun", "-q", "--signal", 40, "-e", event, "-o", where, "--",
                             THREAD / "races", 10 if LONG else 1, 40, env=dict(os.environ, **THREAD_OPTIONS))
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)
        self.assertNotIn("ThreadSanitizer", done.stderr)
        images = profiling.read_measurements(where)
        self.check_fates(images)
        self.assertGreater(sum(image.count(event.split("@")[0], [profiling.RECORDED]) for image in images), 0)

    def test_threads(self):
        ways = [(event, prefix) for event in ("CPUTIME@f10000", "REALTIME@f10000") for prefix in ((), (TOOLS / "deny-perf",))]
        for number, (event, prefix) in enumerate(ways * 10 if LONG else ways[1:3]):
            with self.subTest(f"{event} {prefix}"):
                self.race(number, event, prefix)

    # The dynamic linker's locks are not seen, so that what it allocates and we read looks shared. That it was the
    # linker who wrote it is only known as long as the history of its thread goes back.
    SUPPRESSIONS = "race:ld-linux-x86-64\n"

    def test_libraries(self):
        """Those that agents know come and go, while threads are created. Without samples: they may come anywhere."""
        suppressions = self.directory / "suppressions"
        suppressions.write_text(self.SUPPRESSIONS)
        cheetah = self.directory / "libopencilk.so"
        shutil.copy(profiling.BUILD / "tests/simulated/simulated-cheetah.so", cheetah)
        options = f"{THREAD_OPTIONS['TSAN_OPTIONS']}:suppressions={suppressions}:history_size=7"
        done = self.run_tool(THREAD / "bin" / "hpcrun", "-q", "-ds", "-o", self.directory / "m", "--", THREAD / "churn",
                             10000 if LONG else 1000, cheetah, profiling.BUILD / "lib/libminicilk.so",
                             profiling.BUILD / "tests/simulated/simulated-copy-1.so", env=dict(os.environ, TSAN_OPTIONS=options))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("survived", done.stdout)
        self.assertNotIn("ThreadSanitizer", done.stderr)
