"""How processes end under hpcrun: everything is written, and the end is the same."""
import signal
import subprocess

import profiling
from profiling import FIRED, program, sources


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

    def test_every_end_by_another_thread(self):
        for end, (state, detail, status) in self.ends.items():
            if end not in ("return", "pthread_exit"):
                with self.subTest(end):
                    self.one_end(f"thread:{end}", False, state, detail, status, {})

    # What ends a process by default; not those that the kernel keeps to itself.
    fatal = sorted(set(range(1, 65)) - {
        signal.SIGKILL, signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGSTOP,
        signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, 32, 33})

    def test_every_fatal_signal(self):
        """Real-time signals, too, and the one that hpcrun uses itself."""
        for number in self.fatal:
            with self.subTest(number):
                _, images = self.measure(program("ends"), f"alone:kill:{number}", 5, status=-number)
                self.check_fates(images)
                self.assertEqual((images[0].state, images[0].detail), (4, number))

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
        while not list(where.glob("*.hpcrun")):
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        images = profiling.read_measurements(where)
        self.assertEqual(len(images), 1)
        self.assertEqual((images[0].state, images[0].problems), (0, []))

    def test_killed_at_any_moment(self):
        """Each a little later after its start; the file is readable if it is there."""
        script = ("i=0; while [ $i -lt 300 ]; do $0 5 100000 & n=0; "
                  "while [ $n -lt $((i * 12)) ]; do n=$((n + 1)); done; "
                  "kill -9 $!; wait $!; i=$((i + 1)); done 2> /dev/null; true")
        _, images = self.measure("dash", "-c", script, program("recursion"), events=["CPUTIME@f10000"])
        killed = [image for image in images if image.executable.endswith("recursion")]
        self.assertIn(0, {image.state for image in killed})
