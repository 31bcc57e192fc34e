"""What people expect who come from other programs, and names that no screen is wide enough for."""
import pathlib
import re
import tempfile
import unittest

import v4_writer
import viewer
from terminal import HAVE_TMUX, Terminal

ARGUMENTS = "<" + "std::pair<int, std::string>, " * 40 + "int>"
FOLDERS = "/home/somebody/a/long/way/down/to/the/build/folder/of/this/program"

# Each calls the next one.
CHAIN = ["main"] + [f"std::map{ARGUMENTS}::step_{i}(std::map{ARGUMENTS} const&)"
                    for i in range(1, 13)]


def deep_database():
    """The chain; its last function costs 3 in one and 1 in another function that it calls."""
    db = v4_writer.Database("deep", ["work"], 1)
    module = db.module(f"{FOLDERS}/libdeep.so")
    file = db.file(f"{FOLDERS}/deep.cpp")
    context = db.entry(1, "main thread")
    for number, name in enumerate(CHAIN):
        function = db.function(name, module, 0x1000 + 16 * number, file, 10 * number + 7)
        context = context.statement(file, 10 * number) if number else context
        context = context.call(function)
    for number, (name, cost) in enumerate([("one", 3), ("other", 1)]):
        leaf = db.function(f"std::vector{ARGUMENTS}::{name}(int)", module, 0x2000 + 16 * number)
        context.statement(file, 200).call(leaf).charge(cost)
    return db


@unittest.skipUnless(HAVE_TMUX, "tmux is not installed")
class InTerminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.db = pathlib.Path(folder.name, "db")
        cls.db.mkdir()
        v4_writer.write_database(deep_database(), cls.db)

    def start(self, *arguments, **more):
        terminal = Terminal([viewer.VIEWER, *arguments, self.db], **more)
        self.addCleanup(terminal.__exit__)
        terminal.until_seen("?:help")
        return terminal


class LongNames(InTerminal):
    def test_arguments_give_place_where_a_name_does_not_fit(self):
        terminal = self.start()
        terminal.press("2")
        lines = terminal.until_seen("std::vector<…>::one(…)", "std::vector<…>::other(…)")
        self.assertEqual(len([line for line in lines if "std::map<…>::step_" in line]), 8)

    def test_what_fits_is_whole(self):
        terminal = self.start(width=len(f"std::vector{ARGUMENTS}::one(int)") + 100)
        terminal.press("2")
        terminal.until_seen(f"▸ std::vector{ARGUMENTS}::one(int)")

    def test_names_without_utf_8(self):
        terminal = self.start(environment={"LC_ALL": "C"})
        terminal.press("2")
        terminal.until_seen("std::vector<...>::one(int)", "std::vector<...>::other(int)")

    def test_rows_above_a_deep_one_can_be_read(self):
        """The tree is shifted to the left; what would lie beyond the edge stands at it."""
        terminal = self.start(height=40)
        terminal.press("H")
        lines = terminal.until_seen("16/17")
        tree = [line[34:] for line in lines if re.match(r" +4 100\.0%", line)]
        self.assertEqual(tree[:4], ["▾ <whole program>", "▾ main thread", "▾ main  deep.cpp:7",
                                    "▾ 10 » std::map<…>::step_1(…)  deep.cpp:17"])
        self.assertEqual([re.search(r"step_(\d+)", line)[1] for line in tree[3:]],
                         [str(i) for i in range(1, 13)])
        terminal.press("g")
        terminal.until_seen("    ▾ main thread")

    def test_paths_end_with_the_name(self):
        terminal = self.start()
        terminal.press("3")
        terminal.until_seen("▾ …/build/folder/of/this/program/libdeep.so",
                            "▸ …/build/folder/of/this/program/deep.cpp")
        terminal.press("1", "H", "u")
        terminal.until_seen("/folder/of/this/program/deep.cpp:127 ──")

    def test_questions_end_with_the_answers(self):
        terminal = self.start()
        terminal.press("H", "x")
        terminal.until_seen("hide std::vector<…>::one(…)?  s: itself   a: with all that is below ")
