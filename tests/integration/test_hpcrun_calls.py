"""Samples do not change system calls, by libc's functions and without them: their results, their duration, and the
effect of the program's own signals. The reference is the same program without hpcrun. A busy machine makes calls longer,
but none of them shorter."""
import profiling
from profiling import program, sources


class Calls(profiling.ProfilingTest):
    modes = ("samples", "handler", "restarting-handler")

    def compare(self, name):
        for mode in self.modes:
            plain = self.run_tool(program(name), mode, timeout=600)
            self.assertEqual(plain.returncode, 0, plain.stdout)
            self.assertNotIn("early", plain.stdout)
            for source, how in sources():
                for event in ("CPUTIME@f1000", "REALTIME@f1000"):
                    with self.subTest(f"{mode} {source} {event}"):
                        done, images = self.measure(program(name), mode, events=[event], **how)
                        self.assertEqual(done.stdout.splitlines(), plain.stdout.splitlines())
                        self.check_fates(images)

    def test_files(self):
        self.compare("calls_files")

    def test_sockets(self):
        self.compare("calls_sockets")

    def test_processes(self):
        self.compare("calls_processes")

    def test_waits(self):
        self.compare("calls_waits")

    def test_left(self):
        """Calls that the thread leaves: by cancellation, a jump, or for a handler's own calls."""
        plain = self.run_tool(program("calls_left"), timeout=600)
        self.assertEqual(plain.returncode, 0, plain.stdout)
        for event in ("CPUTIME@f5000", "REALTIME@f5000"):
            with self.subTest(event):
                done, images = self.measure(program("calls_left"), events=[event])
                self.assertEqual(done.stdout, plain.stdout)
                self.check_fates(images)

    def test_files_of_a_server(self):
        """A server of files (FUSE) ends a call when a sample interrupts it. The call is made again, while samples wait."""
        plain = self.run_tool(program("user_files"), timeout=600)
        if plain.returncode == 3:
            self.skipTest("no file system in user space can be mounted here")
        self.assertEqual(plain.stdout.count(" fine, interrupted 0\n"), 10)
        for source, how in sources():
            with self.subTest(source):
                done, images = self.measure(program("user_files"), "interrupted", events=["REALTIME@f1000"], **how)
                self.assertEqual(done.stdout, plain.stdout.replace("interrupted 0", "interrupted 1"))
                self.check_fates(images)

    def test_another_time(self):
        """A library that gives the program another time, before or after hpcrun's."""
        fake = str(profiling.TOOLS / "fake-time.so")
        naps = program("fake_naps")
        plain = self.run_tool("env", f"LD_PRELOAD={fake}", naps).stdout.splitlines()
        self.assertEqual(plain[0], "fake time")
        self.assertEqual([line for line in plain[1:] if not line.endswith(": 0, in time")], [])
        for order in (["fake time", "hpcrun"], ["hpcrun", "fake time"]):
            words = [f"{fake}" if name == "fake time" else "$LD_PRELOAD" for name in order]
            command = f"LD_PRELOAD={':'.join(words)} exec {naps}"
            for event in ("CPUTIME@f1000", "REALTIME@f1000"):
                with self.subTest(f"{order[0]} first, {event}"):
                    done, images = self.measure("sh", "-c", command, events=[event])
                    self.assertEqual(done.stdout.splitlines(), order + plain[1:])
                    self.check_fates([image for image in images if image.threads])

    def test_terminal(self):
        """It ends with EINTR for any signal that is pending when the terminal has finished."""
        self.assertEqual(self.run_tool(program("terminal_drain")).stdout, "fine\n")
        for source, how in sources():
            for event in ("CPUTIME@f10000", "REALTIME@f10000"):
                with self.subTest(f"{source} {event}"):
                    done, images = self.measure(program("terminal_drain"), events=[event], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.check_fates(images)
