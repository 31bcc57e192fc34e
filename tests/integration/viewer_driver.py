"""hpcviewer in a bare pseudo-terminal, to be measured: what it writes, how long it takes, what memory
it needs. tests/integration/terminal.py is for looking at the screen."""
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

QUIET = 0.15  # seconds without output: the answer is complete if the program waits, too
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
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
                       **(environment or {})}
        self.began = time.monotonic()
        self.program = subprocess.Popen([str(word) for word in command], stdin=slave,
                                        stdout=slave, stderr=subprocess.PIPE, env=environment,
                                        start_new_session=True)
        os.close(slave)
        self.cpu_before = 0
        self.first = self.answer(self.began)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
        self.program.stderr.close()
        os.close(self.master)

    def cpu(self):
        """Seconds that the program has run."""
        fields = pathlib.Path(f"/proc/{self.program.pid}/schedstat").read_text().split()
        return int(fields[0]) / 1e9

    def waits(self):
        """Whether the program sleeps: for the next key, as it waits for nothing else."""
        stat = pathlib.Path(f"/proc/{self.program.pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] == "S"

    def answer(self, began):
        """Reads until the program waits for the next key."""
        output, last, end = bytearray(), began, time.monotonic() + HANG
        while True:
            if select.select([self.master], [], [], QUIET)[0]:
                output += os.read(self.master, 1 << 16)
                last = time.monotonic()
            elif self.waits():
                break
            if time.monotonic() > end:
                raise AssertionError(f"no end of the answer in {HANG} s: it hangs")
        cpu = self.cpu()
        result = Answer(bytes(output), last - began, cpu - self.cpu_before)
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
