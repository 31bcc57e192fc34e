"""Databases of several programs: a row for each of them in the top-down view, and the views of one of
them alone; and what hpcprof makes of a run that executed several.

    make    main thread         main (make.c:1)   line 2: 1 s
    cc1     main thread         main (cc1.c:1)    line 2: 2 s, of the second process 3 s more
                                                  line 3: parse (cc1.c:9)   line 10: 4 s
            application thread  worker (cc1.c:20) line 21: 5 s
"""
import os
import tempfile

import profiling
import v4_writer
import viewer
from test_viewer_efficiency import Case
from view_oracle import Oracle
from viewer_screen import Viewer

# Profiles 1 to 3: of make, and of two processes that ran cc1.
MAKE, CC1, CC1_AGAIN = 1, 2, 3


def describe(profiles=(MAKE, CC1, CC1_AGAIN), names=("make", "cc1")):
    """The description with the costs of these profiles only, without contexts that none of them has."""
    db = v4_writer.Database("make", ["work"], 3)
    db.id_tuples = [[(1, True, 0, 7), (3, True, p, 70 + p), (4, False, 0, 0)] for p in (1, 2, 3)]
    modules = [db.module(f"/usr/bin/{name}") for name in names]
    make_c, cc1_c = db.file("/src/make.c"), db.file("/src/cc1.c")
    of = [f" of {name}" if len(set(names)) > 1 else "" for name in names]

    def statement(context, file, line, *charges):
        charges = [(amount, profile) for amount, profile in charges if profile in profiles]
        for amount, profile in charges:
            context.statement(file, line).charge(amount, 0, profile=profile)

    make = db.entry(1, "main thread" + of[0]).call(db.function("main", modules[0], 1, make_c, 1))
    statement(make, make_c, 2, (1.0, MAKE))
    cc1 = db.entry(1, "main thread" + of[1])
    cc1 = cc1.call(db.function("main", modules[1], 1, cc1_c, 1))
    line = cc1.statement(cc1_c, 2)
    for amount, profile in ((2.0, CC1), (3.0, CC1_AGAIN)):
        if profile in profiles:
            line.charge(amount, 0, profile=profile)
    parse = cc1.statement(cc1_c, 3).call(db.function("parse", modules[1], 9, cc1_c, 9))
    statement(parse, cc1_c, 10, (4.0, CC1))
    worker = db.entry(2, "application thread" + of[1])
    worker = worker.call(db.function("worker", modules[1], 20, cc1_c, 20))
    statement(worker, cc1_c, 21, (5.0, CC1_AGAIN))
    for entry in list(db.entries):
        if not any(context.charges for context in entry.below()):
            db.entries.remove(entry)
    return db


def process(pid, name):
    return {"pid": pid, "command": name, "executable": f"/usr/bin/{name}", "program": name,
            "state": "exit", "workers": None,
            "threads": [{"index": 0, "tid": pid, "name": name, "profile": pid - 70}]}


def write(folder, db, programs=("make", "cc1", "cc1")):
    v4_writer.write_database(db, folder)
    viewer.describe_run(folder, viewer.measured("work", event="CPUTIME"), title="make",
                        processes=[process(71 + i, name) for i, name in enumerate(programs)])


class Printed(Case):
    def test_every_view_against_the_oracle(self):
        db = describe()
        write(self.db, db)
        roots = list(viewer.checked_views(self, Oracle(db)))
        self.assertEqual({(row["name"], row["kind"], row["metrics"]["work"]["inclusive"])
                          for row in roots[0]["children"]},
                         {("cc1", "program", 14.0), ("make", "program", 1.0)})
        self.assertEqual([(row["name"], row["metrics"]["work"]["inclusive"])
                          for row in viewer.find(roots[0], "cc1")["children"]],
                         [("main thread", 9.0), ("application thread", 5.0)])

    def test_one_program_has_no_row(self):
        db = describe(names=("cc1", "cc1"))
        write(self.db, db, 3 * ("cc1",))
        [root, *_] = viewer.checked_views(self, Oracle(db))
        self.assertEqual({row["kind"] for row in root["children"]}, {"root"})

    def test_text_and_stacks(self):
        write(self.db, describe())
        lines = viewer.printed("top-down", "--depth", 2, self.db).splitlines()
        rows = [line.split("%")[-1].split("0", 1)[-1] for line in lines[9:14]]
        self.assertEqual([row.strip() for row in rows],
                         ["<whole program>", "cc1", "main thread", "application thread", "make"])
        stacks = viewer.printed("top-down", "--format", "folded", self.db).splitlines()
        self.assertIn("cc1;main thread;main;parse 4000000000", stacks)

    def test_one_of_them_alone(self):
        """Every view has the costs of the program's threads only; by name or path of the executable."""
        write(self.db, describe())
        for name, profiles in (("make", [MAKE]), ("cc1", [CC1, CC1_AGAIN])):
            expected = Oracle(describe(profiles))
            for given in (name, f"/usr/bin/{name}"):
                for view in ("bottom-up", "flat"):
                    shown = viewer.printed_json(view, "--program", given, self.db)["root"]
                    rows = expected.bottomup(4) if view == "bottom-up" else expected.flat()
                    self.assertIsNone(viewer.difference(viewer.canonical(shown),
                                                        viewer.canonical(rows)))
            shown = viewer.printed_json("top-down", "--program", name, self.db)
            self.assertEqual(shown["program"], name)
            [row] = shown["root"]["children"]
            self.assertEqual((row["name"], row["kind"]), (name, "program"))
            rows = [viewer.canonical(child) for child in row["children"]]
            entries = [viewer.canonical(expected.topdown_entry(entry, entry.name.split(" of ")[0]))
                       for entry in expected.db.entries]
            self.assertEqual(sorted(rows), sorted(entries))
        text = viewer.printed("flat", "--program", "cc1", self.db)
        self.assertTrue(text.startswith("make  program: cc1 (2 of 3 threads)\nflat view"), text)
        threads = viewer.printed_json("threads", "--program", "cc1", self.db)
        self.assertEqual([t["pid"] for t in threads["threads"]], [72, 73])

    def test_what_cannot_be(self):
        write(self.db, describe())
        for options, status, why in (
                (("--program", "cc2"), 2, "--program: no program 'cc2'; there are: make, cc1"),
                (("--program", "cc1", "--threads", "x"), 2, "cannot be combined"),
                (("--program", "cc1", self.db), 2, "with one database, not with two")):
            done = viewer.run("--print", "flat", *options, self.db)
            self.assertEqual((done.returncode, done.stdout), (status, ""))
            self.assertIn(why, done.stderr)
        done = viewer.run("--print", "summary", "--program", "cc1", self.db)
        self.assertEqual(done.returncode, 2)

    def test_compared_with_a_run_of_one(self):
        other = self.enterContext(tempfile.TemporaryDirectory())
        write(self.db, describe())
        db = v4_writer.Database("cc1", ["work"])
        file = db.file("/src/cc1.c")
        main = db.entry().call(db.function("main", db.module("/usr/bin/cc1"), 1, file, 1))
        main.statement(file, 2).charge(6.0)
        write(other, db, ("cc1",))
        for pair in ((self.db, other), (other, self.db)):
            root = viewer.printed_json("top-down", *pair)["root"]
            rows = {row["name"]: len(row["in"]) for row in root["children"]}
            self.assertEqual(rows, {"cc1": 2, "make": 1})
            main = viewer.find(viewer.find(root, "cc1"), "main")
            self.assertEqual(abs(main["metrics"]["work difference"]["inclusive"]), 3.0)


class InTerminal(Case):
    def start(self, *options):
        return self.enterContext(Viewer(*options, self.db, width=120, height=40))

    def test_choosing_a_program(self):
        write(self.db, describe())
        terminal = self.start()
        terminal.until_at(1, 3, "<whole program>")  # cc1, make
        lines = terminal.press_until("j P", "hpcviewer: programs")
        self.assertEqual([line.strip() for line in lines[1:4]],
                         ["all programs", "make  (1 process)", "cc1  (2 processes)"])
        terminal.press("Enter")  # that of the selected row
        terminal.until_seen("program: cc1 (2 of 3 threads)", "P: another program; q: all", "14.00")
        lines = terminal.press_until("3", "/usr/bin/cc1")
        self.assertFalse(any("/usr/bin/make" in line for line in lines))
        terminal.press_until("P Home Enter", "/usr/bin/make", "15.00")

    def test_the_same_scope(self):
        """From the flat view to a context below a program."""
        write(self.db, describe())
        terminal = self.start()
        terminal.press("3", "/")
        terminal.type("parse")
        terminal.press_until("Enter . 1", "cc1 > main thread > main > parse")

    def test_of_one_program(self):
        write(self.db, describe(names=("cc1", "cc1")), 3 * ("cc1",))
        terminal = self.start()
        terminal.press_until("P", "this database has one program")


class Measured(profiling.ProfilingTest):
    """A shell that runs two programs, and one that becomes the other, in one measurement. A program that a shell
    becomes has the shell's CPU time on its clock."""
    SOURCE = """
#include "tests/programs/hpcrun/burn.h"
#include <stdio.h>
__attribute__((noinline)) void busy(void) { burn(300000000); burn_sink++; }
int main(void)
{
    unsigned long begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    busy();
    printf("%lu ", clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
    return 0;
}
"""

    def build(self, name):
        return self.compile_text(name, self.SOURCE, "-g", "-O1", "-I", profiling.ROOT)

    def test_two_programs(self):
        for name in ("first", "second"):
            self.build(name)
        done, _ = self.measure("sh", "-c", f"cd {self.directory}; ./first; ./first; exec ./second")
        first, again, second = (int(ns) * 1e-9 for ns in done.stdout.split())
        database = self.make_database()
        for physical in ((), ("--physical",)):
            root = viewer.printed_json("top-down", *physical, database)["root"]
            programs = {row["name"]: row for row in root["children"]}
            self.assertEqual({row["kind"] for row in programs.values()}, {"program"})
            for name, truth in (("first", first + again), ("second", second)):
                self.assertAlmostEqual(programs[name]["metrics"]["work"]["inclusive"], truth,
                                       delta=0.02 * truth + 0.02)
                [main] = programs[name]["children"]
                self.assertEqual((main["name"], main["kind"]), ("main thread", "root"))
                self.assertEqual(viewer.find(main, "busy")["module"], str(self.directory / name))
            shown = viewer.printed_json("flat", *physical, "--program", "second", database)["root"]
            self.assertEqual(shown["metrics"]["work"]["inclusive"],
                             programs["second"]["metrics"]["work"]["inclusive"])

    def test_two_names_of_one_file(self):
        """Two programs, as for busybox: by what they were called."""
        os.symlink(self.build("first"), self.directory / "other")
        self.measure("sh", "-c", f"cd {self.directory}; ./first; ./other")
        rows = viewer.printed_json("top-down", self.make_database())["root"]["children"]
        self.assertLessEqual({"first", "other"}, {row["name"] for row in rows})

    def test_one_program(self):
        self.measure(self.build("alone"))
        rows = viewer.printed_json("top-down", self.make_database())["root"]["children"]
        self.assertEqual([(row["name"], row["kind"]) for row in rows], [("main thread", "root")])
