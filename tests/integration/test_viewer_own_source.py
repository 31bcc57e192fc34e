"""Where the hot path ends in code without source, the nearest line of the program's own is named, and
w goes there.

    main (app.c:10)   line 12: work (app.c:20)   line 1: 1 s
                               line 22: lock (libc.so.6), in it futex (libc.so.6): 8 s
                      line 13: sort, inlined (/usr/include/sort.h:5)   line 6: 2 s
"""
import os
import tempfile
import unittest

import v4_writer
from viewer_screen import Viewer


def write(folder):
    db = v4_writer.Database("app", ["work"])
    app, libc = db.module("/bin/app"), db.module("/lib/libc.so.6")
    app_c, sort_h = db.file("src/app.c", copied=True), db.file("/usr/include/sort.h")
    main = db.entry().call(db.function("main", app, 0x10, app_c, 10))
    work = main.statement(app_c, 12).call(db.function("work", app, 0x20, app_c, 20))
    work.statement(app_c, 21).charge(1.0)
    lock = work.statement(app_c, 22).call(db.function("lock", libc, 0x30))
    lock.call(db.function("futex", libc, 0x40)).charge(8.0)
    sort = main.statement(app_c, 13).inline(db.function("sort", app, 0, sort_h, 5))
    sort.statement(sort_h, 6).charge(2.0)
    v4_writer.write_database(db, folder)
    os.makedirs(os.path.join(folder, "src"), exist_ok=True)
    with open(os.path.join(folder, "src", "app.c"), "w") as file:
        file.write("".join(f"line {n} of app\n" for n in range(1, 40)))


class InTerminal(unittest.TestCase):
    def start(self, *options):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        write(folder)
        return self.enterContext(Viewer(*options, folder, width=120, height=40))

    NEAREST = "nearest line of yours: app.c:22 (press w)"

    def the_hot_path(self, terminal):
        lines = terminal.press_until("H", "main > work > lock", "22 > line 22 of app")
        self.assertFalse(any("futex" in line and line.startswith(" hpc") for line in lines))
        terminal.press_until("j", "main > work > lock > futex", f"No source here; {self.NEAREST}")
        terminal.press_until("w", "main > work > lock", "22 > line 22 of app")
        terminal.press("[")  # back to where w was pressed
        terminal.until_seen("main > work > lock > futex")

    def why_the_hot_path_ends(self, terminal):
        terminal.press_until("H H", "the hot path ends below, in futex, whose source is not yours")
        terminal.answer("g", "T", "C-u", "90")
        terminal.press("H", "H")
        terminal.until_seen("the hot path ends here: work has most of what is below, 81.8% of this row's work; less than "
                            "90%")

    def in_the_source_pane(self, terminal):
        """Also without H, on the row of libc itself; not where there is source."""
        terminal.press("H", "j", "k")
        terminal.until_seen(f"No source here; {self.NEAREST}. The source lines of this code are unknown")
        terminal.press("k")
        terminal.until_gone("nearest line of yours")

    def headers_of_the_system_are_not_yours(self, terminal):
        terminal.press("/")
        terminal.type("sort")
        terminal.press_until("Enter w", "13 > line 13 of app")

    def where_there_is_none(self, terminal):
        terminal.press_until("w", "no line of yours leads to this row, or it has one itself")
        terminal.press_until("2 w", "only in the top-down view")

    def test_of_two_databases(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        write(folder)
        terminal = self.start("--names", "a,b", folder)
        terminal.press("/")
        terminal.type("futex")
        terminal.press_until("Enter w", "main > work > lock", "22 > line 22 of app")

    def test_one_session(self):
        terminal = self.start()
        terminal.in_turn(self, (
            self.the_hot_path, self.in_the_source_pane, self.headers_of_the_system_are_not_yours,
            self.where_there_is_none, self.why_the_hot_path_ends),
            lambda: terminal.press("Escape", "1", "g", "_", "v", "v"))
