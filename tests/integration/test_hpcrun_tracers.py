"""Programs that strace or gdb start or attach to: they run and end as without hpcrun, and their measurements are
complete."""
import shutil
import signal
import subprocess
import time

import profiling
from profiling import FIRED, HPCRUN, program, sources

EVENT = "CPUTIME@f1000"
ORIGIN_FORK = 2  # lib/measurement-format.h
GDB = ("gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-ex",
       "handle SIG63 SIGSEGV nostop noprint pass")  # doc/limits.md
EXITED = "exited with code 03"


class Tracers(profiling.ProfilingTest):
    def need(self, tool):
        if not shutil.which(tool):
            self.skipTest(f"{tool} is not installed")
        probe = {"gdb": [*GDB, "-ex", "starti", "--args", "true"], "strace": ["strace", "-f", "true"]}
        done = self.run_tool(*probe[tool])
        if "ptrace" in done.stderr or "not permitted" in done.stdout + done.stderr:
            self.skipTest(f"{tool} may not trace here")

    def burned(self):
        """The program's own record, in seconds."""
        return sum(burned for _, _, burned, _ in profiling.read_ledger(self.directory / "ledger"))

    def check(self, where):
        """The program's image, after checking that its time is what it recorded."""
        images = [image for image in profiling.read_measurements(self.directory / where)
                  if image.executable.endswith("/ends")]
        self.check_fates(images)
        image, = images
        self.assertEqual(image.problems, [])
        self.check_time(image.seconds("CPUTIME", [FIRED]), self.burned(), image.cpu, 0.0015)
        return image

    # ---- a tracer in the test program ----

    def test_tracer_that_passes_signals_on_later(self):
        """The information in a sample's signal is lost then, but neither the sample nor the program."""
        if self.run_tool(program("tracer")).stdout != "fine\n":
            self.skipTest("no program may trace here")
        for name, how in sources():
            for event in ("CPUTIME", "REALTIME"):
                with self.subTest(f"{name} {event}"):
                    done, images = self.measure(program("tracer"), events=[f"{event}@f500"], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.check_fates(images)
                    child, = (image for image in images if image.origin == ORIGIN_FORK)
                    paid = child.seconds(event, [FIRED])
                    self.assertGreater(paid, 0 if how else 0.9 * 0.3)  # which it burns
                    if event == "CPUTIME":
                        self.assertLess(paid, 1.02 * child.cpu + 0.005)

    # ---- from the start ----

    def run_three(self, *command):
        done = self.run_tool(*command)
        self.assertEqual(done.returncode, 3, done.stderr)
        return done

    app = (program("ends"), "exit", 100, "ledger")

    def test_strace_starts_hpcrun(self):
        self.need("strace")
        self.run_three("strace", "-f", "-o", "trace", HPCRUN, "-e", EVENT, "-o", "m", *self.app)
        self.check_both_threads("m")

    def test_hpcrun_starts_strace(self):
        self.need("strace")
        self.run_three(HPCRUN, "-e", EVENT, "-o", "m", "strace", "-f", "-o", "trace", *self.app)
        self.check_both_threads("m")

    def test_the_end_waits_for_the_thread_that_creates_the_file(self):
        """A thread gets no CPU at its first sample for longer than the end waits for handlers: strace delays its system
        calls."""
        self.need("strace")
        self.compile_text("leaves", """
            #include <pthread.h>
            #include <unistd.h>
            static volatile long sink;
            static void *work(void *argument) { for (;;) sink++; return argument; }
            int main(void) {
                pthread_t thread;
                pthread_create(&thread, 0, work, 0);
                usleep(300000);
                return 3;
            }""", "-O1", "-lpthread")
        for name, how in sources():
            with self.subTest(name):
                prefix = [profiling.TOOLS / "deny-perf"] if how else []
                where = self.directory / f"m-{name}"
                done = self.run_tool(*prefix, "strace", "-f", "-o", "trace", "-e", "trace=rename,renameat,renameat2",
                                     "-e", "inject=rename,renameat,renameat2:delay_enter=4000000:when=1", HPCRUN, "-e",
                                     EVENT, "-o", where, self.directory / "leaves")
                self.assertEqual(done.returncode, 3, done.stderr)
                image, = profiling.read_measurements(where)
                self.assertEqual(image.problems, [])

    def test_gdb_starts_hpcrun(self):
        self.need("gdb")
        done = self.run_tool(*GDB, "-ex", "run", "--args", HPCRUN, "-e", EVENT, "-o", "m", *self.app)
        self.assertIn(EXITED, done.stdout)
        self.check_both_threads("m")

    def test_hpcrun_starts_gdb(self):
        self.need("gdb")
        done = self.run_tool(HPCRUN, "-e", EVENT, "-o", "m", *GDB, "-ex", "run", "--args", *self.app)
        self.assertIn(EXITED, done.stdout)
        self.check_both_threads("m")

    def check_both_threads(self, where):
        image = self.check(where)
        self.assertEqual((image.state, len(image.threads)), (1, 2))
        self.assertGreaterEqual(self.burned(), 0.2)

    # ---- attached during the run ----

    def in_mid_run(self, trace):
        """Calls trace(process) while the program runs and sleeps in turn, and lets it finish."""
        for name, how in sources():
            where = f"m-{name}"
            deny = [profiling.TOOLS / "deny-perf"] * bool(how)
            (self.directory / "ledger").unlink(missing_ok=True)
            process = subprocess.Popen([*deny, HPCRUN, "-q", "-e", EVENT, "-o", where, program("ends"),
                                        "alone:none", "5", "ledger"], cwd=self.directory,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            self.wait_for_use(process, 0.05)
            trace(process)
            self.wait_for_use(process, self.burned() + 0.1)
            process.terminate()
            self.assertEqual(process.communicate(timeout=600)[0], b"")
            self.assertEqual(process.returncode, -signal.SIGTERM)
            self.assertEqual(self.check(where).state, 4, name)

    def wait_for_use(self, process, seconds):
        while self.burned() < seconds:
            self.assertIsNone(process.poll())
            time.sleep(0.005)

    def test_strace_attaches(self):
        self.need("strace")

        def trace(process):
            trace = self.directory / f"trace-{process.pid}"
            strace = subprocess.Popen(["strace", "-f", "-o", trace, "-p", str(process.pid)],
                                      stderr=subprocess.DEVNULL)
            while not trace.exists() or trace.read_text().count("nanosleep") < 20:
                self.assertIsNone(strace.poll())
                time.sleep(0.005)
            strace.terminate()
            strace.wait(timeout=600)

        self.in_mid_run(trace)

    def test_gdb_attaches(self):
        self.need("gdb")

        def trace(process):
            done = self.run_tool(*GDB, "-p", process.pid, "-ex", "break burn", *["-ex", "continue"] * 20,
                                 "-ex", "delete", "-ex", "detach")
            self.assertEqual(done.stdout.count("Breakpoint 1, burn"), 20, done.stdout + done.stderr)

        self.in_mid_run(trace)
