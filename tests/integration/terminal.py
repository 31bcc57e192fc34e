"""Programs in a real terminal (tmux), driven by keys and watched on the screen.

Nothing sleeps to let things happen: everything waits until the screen shows what is expected, whole,
and fails with the screen's contents if the program waits for a key before, or hangs."""
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

from blocked import is_blocked, times_blocked

HANG = 600  # seconds: only what hangs takes longer
# Seconds after which a program that waits for a key, with a screen that stays, will not show more. Keys go by tmux,
# which on an overloaded machine is late.
FOR_NOTHING = 60
# Seconds in which a key passes through the kernel, though others have the CPUs; and between two looks at the screen.
ON_ITS_WAY, A_LOOK_LATER = 1, 0.003
HAVE_TMUX = shutil.which("tmux") is not None


def quoted_for_tmux(word):
    """A word of a command, which is one line."""
    escapes = {"\\": r"\\", '"': r'\"', "$": r"\$", "\n": r"\n", "\t": r"\t"}
    return '"' + "".join(escapes.get(letter, letter) for letter in str(word)) + '"'


class Terminal:
    """A shell command in a terminal of its own. In the command's output `ended N` follows its
    exit status. Without tmux, the test is skipped."""

    def __init__(self, command, width=80, height=24, environment=None, term="tmux-256color"):
        if not HAVE_TMUX:
            raise unittest.SkipTest("tmux is not installed")
        self.folder = tempfile.TemporaryDirectory(prefix="terminal-")
        self.socket = os.path.join(self.folder.name, "tmux")
        self.pid_file = pathlib.Path(self.folder.name, "pid")
        settings = {"LC_ALL": "C.UTF-8", "TERM": term, **(environment or {})}
        quoted = " ".join(shlex.quote(str(word)) for word in command)
        script = (f"echo before; {' '.join(f'{k}={shlex.quote(v)}' for k, v in settings.items())} "
                  f"sh -c 'echo $$ > {self.pid_file}; exec \"$@\"' sh {quoted}; "
                  "echo ended $?; exec cat")
        clean = {k: v for k, v in os.environ.items()
                 if k not in ("TMUX", "NO_COLOR", "COLUMNS", "LINES")}
        # tmux runs the script by $SHELL, or by the user's login shell, which may be csh or nologin.
        environment = dict(clean, LC_ALL="C.UTF-8", SHELL="/bin/sh")
        subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x",
                        str(width), "-y", str(height), script], check=True, env=environment)
        # One client for all commands: a program for each takes 3 ms of CPU time, and a test has hundreds.
        self.client = subprocess.Popen(["tmux", "-u", "-S", self.socket, "-C", "attach", "-f", "ignore-size,no-output"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                                       env=environment)
        self.pressed, self.blocked_before = 0, 0
        self.answer_of_tmux()

    def answer_of_tmux(self):
        """What tmux prints between the lines %begin and %end of a command; notifications come before."""
        is_begin, lines = False, []
        for line in self.client.stdout:
            word, _, number = line.partition(" ")
            if not is_begin and word == "%begin":
                is_begin = number
            elif is_begin == number and word in ("%end", "%error"):
                assert word == "%end", lines
                break
            elif is_begin:
                lines.append(line)
        return "".join(lines)

    def tmux(self, *arguments):
        self.client.stdin.write(" ".join(map(quoted_for_tmux, arguments)) + "\n")
        self.client.stdin.flush()
        return self.answer_of_tmux()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.kill()
        self.client.communicate()
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        self.folder.cleanup()

    def screen(self):
        return self.tmux("capture-pane", "-p").split("\n")

    def colored(self):
        """The screen with its escape sequences."""
        return self.tmux("capture-pane", "-p", "-e")

    def press(self, *keys):
        """Keys by tmux's names (Up, C-b, BSpace, F1, ...)."""
        try:
            self.blocked_before = times_blocked(self.pid_file.read_text().strip())
        except (FileNotFoundError, ProcessLookupError, StopIteration):  # not started yet, or ended
            self.blocked_before = 0
        self.tmux("send-keys", *keys)
        self.pressed = time.monotonic()

    def type(self, text):
        self.press("-l", text)

    def answer(self, *keys_and_text):
        """Presses keys, the last of which asks for something, and answers with the text."""
        *keys, text = keys_and_text
        self.press(*keys)
        self.type(text)
        self.press("Enter")
        return self

    def resize(self, width, height):
        self.tmux("resize-window", "-x", width, "-y", height)

    def is_waiting(self):
        """Whether the program has written all that it has to say until another key comes: it has slept since the last
        one, but if another program, which it waits for, got that."""
        try:
            pid = self.pid_file.read_text().strip()
            return is_blocked(pid) and (times_blocked(pid) > self.blocked_before or
                                        time.monotonic() > self.pressed + ON_ITS_WAY)
        except (FileNotFoundError, ProcessLookupError):  # not started yet, or ended
            return True

    def is_whole(self, lines):
        """Whether the screen is not about to change. tmux takes what was written before it is asked
        twice."""
        def is_same():
            time.sleep(A_LOOK_LATER)
            return self.screen() == lines
        return self.is_waiting() and is_same() and is_same()

    def until(self, is_there, what):
        """Waits until is_there(lines of the screen) and these are whole; returns them."""
        began, stays_since, last = time.monotonic(), time.monotonic(), None
        while True:
            lines, now = self.screen(), time.monotonic()
            if is_there(lines) and self.is_whole(lines):
                return lines
            if lines != last or not self.is_waiting():
                stays_since, last = now, lines
            if now - stays_since > FOR_NOTHING or now - began > HANG:
                why = f"it hangs: no end in {HANG} s" if now - began > HANG else "the program waits for a key"
                raise AssertionError(f"not seen: {what}; {why}\n" + "\n".join(lines))
            time.sleep(0.01)

    def until_seen(self, *texts):
        return self.until(lambda lines: all(any(t in line for line in lines) for t in texts),
                          " and ".join(map(repr, texts)))

    def press_until(self, keys, *texts):
        """Presses keys, named in one string with blanks between them, until these texts are on the screen."""
        self.press(*keys.split())
        return self.until_seen(*texts)

    def until_gone(self, text):
        return self.until(lambda lines: not any(text in line for line in lines),
                          f"disappearance of {text!r}")

    def in_turn(self, test, scenarios, begin):
        """Runs scenarios of a test in this terminal; `begin` brings it to where each of them begins."""
        for scenario in scenarios:
            with test.subTest(scenario.__name__):
                begin()
                scenario(self)
