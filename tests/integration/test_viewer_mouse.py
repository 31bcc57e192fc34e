"""The mouse in the terminal viewer: its sequences, as terminals send them."""

from test_viewer_tui import InTerminal

LEFT, WHEEL_UP, WHEEL_DOWN = 0, 64, 65


class Mouse(InTerminal):
    def send(self, terminal, button, line, column, times=1):
        """A button at a cell of the screen, pressed and let go so often, in one piece and the encoding that the viewer
        asked for. A wheel is not let go."""
        ends = "Mm" if button == LEFT else "M"
        is_sgr = terminal.tmux("display-message", "-p", "#{mouse_sgr_flag}").strip() == "1"
        if is_sgr:
            bytes_ = b"".join(f"\033[<{button};{column + 1};{line + 1}{end}".encode() for end in ends)
        else:
            bytes_ = b"".join(b"\033[M" + bytes([32 + code, 33 + column, 33 + line]) for code in (button, 3)[:len(ends)])
        terminal.press("-H", *(f"{byte:02x}" for byte in bytes_ * times))

    def click(self, terminal, line, column):
        self.send(terminal, LEFT, line, column)

    def where(self, terminal, text, lines=None):
        """The cell at which a text begins."""
        for number, line in enumerate(lines or terminal.until_seen(text)):
            if text in line:
                return number, line.index(text)
        raise AssertionError(text)

    def test_rows(self):
        """Clicks, also such that arrive at once, as over a slow connection: none is lost."""
        for term in ("tmux-256color", "xterm-256color"):  # of two encodings
            terminal = self.start(term=term)
            line, column = self.where(terminal, "main thread")
            for n, position in (2, "2/4"), (3, "2/3"), (4, "2/3"):  # the first of all selects
                self.send(terminal, LEFT, line, column, n)
                self.at(terminal, position, "main thread")
            line, column = self.where(terminal, "application thread")
            self.click(terminal, line, column)
            self.at(terminal, "3/3", "application thread")
            self.click(terminal, line, column + 40)  # right of it, but on the row: opens it
            self.at(terminal, "3/4", "application thread")
            self.click(terminal, line, column)
            self.at(terminal, "3/3", "application thread")
            self.click(terminal, *self.where(terminal, "▸ main thread"))  # at once
            self.at(terminal, "2/4", "main thread")
            self.click(terminal, *self.where(terminal, "▾ main thread"))
            self.at(terminal, "2/3", "main thread")
            self.click(terminal, self.where(terminal, "<whole program>")[0], 2)  # its costs
            self.at(terminal, "1/3", "1/3")

    def double_clicks_open(self, terminal):
        line, column = self.where(terminal, "main thread")
        for _ in range(2):
            self.click(terminal, line, column)
        self.at(terminal, "2/4", "main thread")

    def heads_and_views(self, terminal):
        self.click(terminal, *self.where(terminal, "2 bottom-up"))
        terminal.until_seen("▼ exclusive", "write_out")
        self.click(terminal, *self.where(terminal, "inclusive"))
        lines = terminal.until_seen("▼ inclusive")
        names = [row[3].split("  ")[0] for row in self.rows(lines)]
        self.assertEqual(names[1:], ["coder_run", "main", "worker", "[I] min_size", "write_out"])
        self.click(terminal, *self.where(terminal, "inclusive"))
        terminal.until_seen("▲ inclusive")
        self.click(terminal, *self.where(terminal, "scope"))
        lines = terminal.until_seen("scope ▼")
        names = [row[3].split("  ")[0] for row in self.rows(lines)]
        self.assertEqual(names[1:], ["coder_run", "main", "[I] min_size", "worker", "write_out"])
        self.click(terminal, *self.where(terminal, "exclusive"))
        terminal.until_seen("▼ exclusive")
        for name, seen in (("3 flat", "/usr/bin/xz"), ("1 top-down", "main thread")):
            self.click(terminal, *self.where(terminal, name))
            terminal.until_seen(seen)
        terminal.resize(120, 24)
        for name, seen in (("4 threads", "hpcviewer: threads"), ("5 summary", "hpcviewer: summary")):
            self.click(terminal, *self.where(terminal, name))
            terminal.until_seen(seen)
            terminal.press("q")

    def test_metrics_that_were_not_measured(self):
        terminal = self.start("--metrics", "work,idleness", self.db, width=120)
        self.click(terminal, *self.where(terminal, "idleness"))
        terminal.until_seen("idleness was not measured: no runtime with an agent took part")

    def test_the_wheel(self):
        terminal = self.start(height=10)
        self.open_everything(terminal)
        terminal.press("g")
        self.at(terminal, "1/18", "1/18")
        self.send(terminal, WHEEL_DOWN, 5, 40)  # 5 rows are on the screen
        self.at(terminal, "4/18", "loop at xz.c:110")
        self.send(terminal, WHEEL_DOWN, 5, 40)
        self.at(terminal, "7/18", "loop at coder.c:30")
        self.send(terminal, WHEEL_UP, 5, 40)  # the selected row is still there
        self.at(terminal, "7/18", "loop at coder.c:30")
        self.send(terminal, WHEEL_UP, 5, 40)
        self.at(terminal, "5/18", "coder_run")
        for _ in range(3):
            self.send(terminal, WHEEL_UP, 5, 40)
        terminal.press("k", "k", "k", "k")
        self.at(terminal, "1/18", "1/18")
        for _ in range(9):
            self.send(terminal, WHEEL_DOWN, 5, 40)
        terminal.press("G")
        self.at(terminal, "18/18", "coder.c:25")

    def the_wheel_over_source_and_pages(self, terminal):
        terminal.press("H")
        line, column = self.where(terminal, "    20 > /* line 20 */")
        self.send(terminal, WHEEL_DOWN, line, column)
        lines = terminal.until_gone("/* line 17 */")
        self.assertEqual(self.where(terminal, "    20 > /* line 20 */", lines)[0], line - 3)
        self.send(terminal, WHEEL_UP, line, column)
        terminal.until_seen("/* line 17 */")
        terminal.press_until("?", "one row up")
        self.send(terminal, WHEEL_DOWN, 5, 5)
        terminal.until(lambda lines: "Up, k" in lines[1], "the next line on top")
        self.send(terminal, WHEEL_UP, 5, 5)
        terminal.until(lambda lines: "Moving" in lines[1], "the first line")
        self.click(terminal, 5, 5)
        terminal.press("q")
        self.at(terminal, "5/8", "coder_run")

    def test_clicks_elsewhere_do_nothing(self):
        terminal = self.start(height=40)
        before = terminal.screen()
        for line, column in ((0, 2), (14, 10), (38, 5), (39, 5), (39, 79), (30, 3)):
            self.click(terminal, line, column)
        terminal.press("j", "k")
        self.at(terminal, "1/3", "1/3")
        self.assertEqual(terminal.screen(), before)

    def test_off(self):
        flag = ("display-message", "-p", "#{mouse_any_flag}#{mouse_standard_flag}"
                "#{mouse_button_flag}")
        terminal = self.start("--no-mouse", self.db)
        self.assertEqual(terminal.tmux(*flag), "000\n")
        terminal = self.start()
        self.assertIn("1", terminal.tmux(*flag))
        terminal.press_until("q", "ended 0")
        self.assertEqual(terminal.tmux(*flag), "000\n")

    def test_one_session(self):
        self.in_turn(self.start(), self.double_clicks_open, self.the_wheel_over_source_and_pages, self.heads_and_views)
