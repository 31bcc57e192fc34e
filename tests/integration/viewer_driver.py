"""hpcviewer in a bare pseudo-terminal, to be measured: what it writes, how long it takes, what memory
it needs. tests/integration/terminal.py is for looking at the screen.

The kernel carries keys and output from one end of the terminal to the other by a thread of its own, which is late on a
busy machine. So an answer is whole if the program has slept since the key was sent, sleeps until the next one, and what
the driver then wrote to the program's end of the terminal has come behind it."""
import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import termios
import time

from blocked import is_blocked, times_blocked

BETWEEN_LOOKS = 0.005  # seconds
END_OF_ANSWER = b"\0 end of the answer \0"  # no program writes this
HANG = 600  # seconds: only what hangs takes longer


class Answer:
    """To a key: the bytes, seconds until the last of them, and of CPU time."""

    def __init__(self, output, seconds, cpu):
        self.output, self.seconds, self.cpu = output, seconds, cpu

    def progress(self):
        """The percentages of the lines that tell how far a pass is."""
        return [int(percent) for percent in re.findall(rb"(\d+) %", self.output)]


class Driver:
    def __init__(self, command, width=120, height=40, environment=None):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
                       **(environment or {})}
        self.began = time.monotonic()
        self.program = subprocess.Popen([str(word) for word in command], stdin=self.slave,
                                        stdout=self.slave, stderr=subprocess.PIPE, env=environment,
                                        start_new_session=True)
        self.cpu_before, self.blocked_before = 0, 0
        self.first = self.answer(self.began)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
        self.program.stderr.close()
        os.close(self.master)
        os.close(self.slave)

    def cpu(self):
        """Seconds that the program has run."""
        fields = pathlib.Path(f"/proc/{self.program.pid}/schedstat").read_text().split()
        return int(fields[0]) / 1e9

    def rests(self):
        """Whether the program has slept since the last key, and sleeps until the next one."""
        if self.program.poll() is not None:
            raise AssertionError(f"the program has ended, with {self.program.returncode}")
        return is_blocked(self.program.pid) and times_blocked(self.program.pid) > self.blocked_before

    def answer(self, began):
        """Reads until the program waits for the next key."""
        output, last, is_marked, end = bytearray(), began, False, time.monotonic() + HANG
        while not output.endswith(END_OF_ANSWER):
            if select.select([self.master], [], [], BETWEEN_LOOKS)[0]:
                output += os.read(self.master, 1 << 16)
                last = last if is_marked else time.monotonic()
            elif not is_marked and self.rests():
                os.write(self.slave, END_OF_ANSWER)
                is_marked = True
            if time.monotonic() > end:
                raise AssertionError(f"no end of the answer in {HANG} s: it hangs")
        self.blocked_before = times_blocked(self.program.pid)
        cpu = self.cpu()
        result = Answer(bytes(output.removesuffix(END_OF_ANSWER)), last - began, cpu - self.cpu_before)
        self.cpu_before = cpu
        return result

    def press(self, keys):
        """The bytes of one or more keys."""
        began = time.monotonic()
        os.write(self.master, keys)
        return self.answer(began)

    def memory(self):
        """Bytes in memory: of the program's own, and of files."""
        status = pathlib.Path(f"/proc/{self.program.pid}/status").read_text()
        found = dict(re.findall(r"^(Rss\w+):\s+(\d+) kB", status, re.M))
        return int(found["RssAnon"]) << 10, int(found["RssFile"]) << 10
