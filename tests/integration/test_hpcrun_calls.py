"""Samples do not change system calls: their results, their duration, and the effect of the program's own signals.
The reference is the same program without hpcrun. A busy machine makes calls longer, but none of them shorter."""
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

    def test_terminal(self):
        """It ends with EINTR for any signal that is pending when the terminal has finished."""
        self.assertEqual(self.run_tool(program("terminal_drain")).stdout, "fine\n")
        for source, how in sources():
            for event in ("CPUTIME@f10000", "REALTIME@f10000"):
                with self.subTest(f"{source} {event}"):
                    done, images = self.measure(program("terminal_drain"), events=[event], **how)
                    self.assertEqual(done.stdout, "fine\n")
                    self.check_fates(images)
