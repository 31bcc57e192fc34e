"""The terminal viewer in all kinds of terminals, of all sizes, and over slow lines."""
import os
import pathlib
import random
import re
import signal

import viewer
from test_viewer_tui import InTerminal
from viewer_driver import Driver

# Those whose sequences tmux, which plays the terminal, understands; how many colors they have.
TERMS = {"tmux-256color": 256, "screen-256color": 256, "xterm-256color": 256, "xterm": 8,
         "xterm-color": 8, "screen": 8, "linux": 8, "rxvt": 8, "ansi": 8, "vt100": 0, "vt220": 0,
         "xterm-mono": 0}
COLOR = re.compile(r"\033\[(?:[\d;]*;)?(?:38;5;(\d+)|(3[0-7]|9[0-7]))(?=[;m])")


class Kinds(InTerminal):
    def look(self, **more):
        terminal = self.start(**more)
        terminal.press("H", "l", "l")
        self.at(terminal, "6/11", "coder.c:25")
        return terminal

    @staticmethod
    def text(terminal):
        """What there is to read: without lines, which not everyone draws in the same way."""
        return [re.sub(r"[─q\u00c4-]+", "", line).rstrip() for line in terminal.screen()]

    def test_all_show_the_same_in_the_colors_that_there_are(self):
        expected = None
        for term, n in TERMS.items():
            with self.subTest(term):
                terminal = self.look(term=term)
                expected = expected or self.text(terminal)
                self.assertEqual(self.text(terminal), expected)
                found = COLOR.findall(terminal.colored())
                of_256 = {int(many) for many, _ in found if many}
                of_8 = {few for _, few in found if few}
                self.assertEqual(bool(of_256 or of_8), n > 0)
                self.assertEqual(bool(of_256), n == 256)
                # 100, 75, 67.5, 50, 30, 20, 7.5 and 2.5 % and nothing.
                self.assertGreaterEqual(len(of_256 | of_8), {256: 6, 8: 3, 0: 0}[n])

    def test_no_color(self):
        for term, value in (("tmux-256color", "1"), ("xterm", "1"), ("xterm", "")):
            terminal = self.look(term=term, environment={"NO_COLOR": value})
            self.assertEqual(bool(COLOR.findall(terminal.colored())), not value)

    def test_locales_without_utf_8(self):
        for locale in ("C", "POSIX", "no-such-locale"):
            terminal = self.look(environment={"LC_ALL": locale})
            for key in ("1", "2", "3", "?"):
                terminal.press(key)
            terminal.until_seen("hpcviewer: help")
            self.assertTrue("".join(terminal.screen()).isascii())
            terminal.press("q", "1")
            self.assertTrue("".join(self.text(terminal)).isascii())


class Lines(InTerminal):
    """Bytes for keys: what they change, not the screen."""

    def driver(self):
        return self.enterContext(Driver([viewer.VIEWER, "--closed", self.db], width=80, height=24))

    def test_a_row_down_is_less_than_a_kilobyte(self):
        driver = self.driver()
        driver.press(b"H")
        for key in b"jjjkkkkk":
            sent = len(driver.press(bytes([key])).output)
            self.assertGreater(sent, 20)
            self.assertLess(sent, 1024)  # the source changes, too
        driver.press(b"v")
        for key in b"jjjkkk":
            self.assertLess(len(driver.press(bytes([key])).output), 350)

    def test_a_key_that_changes_nothing_sends_nothing(self):
        driver = self.driver()
        driver.press(b"g")
        self.assertEqual(driver.press(b"k").output, b"")
        self.assertEqual(driver.press(b"1").output, b"")

    def test_the_first_screen(self):
        driver = self.driver()
        self.assertLess(len(driver.first.output), 2 * 80 * 24)


class Sizes(InTerminal):
    def test_a_window_that_has_its_old_size_again_is_drawn_anew(self):
        """It may have lost what stood outside of a smaller size, of which the program never knew."""
        terminal = self.start()
        terminal.press("H", "l", "l")
        before = self.at(terminal, "6/11", "coder.c:25")
        tty = terminal.tmux("display-message", "-p", "#{pane_tty}").strip()
        pathlib.Path(tty).write_text("\033[2J")
        terminal.until(lambda lines: not any(lines), "an empty screen")
        os.kill(int(terminal.pid_file.read_text()), signal.SIGWINCH)
        terminal.until(lambda lines: lines == before, "the same screen")

    def test_resizing_faster_than_it_is_drawn(self):
        terminal = self.start()
        terminal.press("H", "l", "l")
        before = self.at(terminal, "6/11", "coder.c:25")
        rng = random.Random(5)
        for keys in ((), ("?",), ("/", "a"), ("5",), ("2", "3", "1")):
            terminal.press(*keys) if keys else None
            for _ in range(12):
                terminal.resize(rng.choice([1, 2, 9, 30, 79, 200]), rng.choice([1, 2, 5, 13, 60]))
            terminal.resize(80, 24)
            if keys and keys[0] in "?5/":
                terminal.press("Escape")
            terminal.until(lambda lines: lines == before, "the same screen")
