"""The first line of every view: the command, wall time, CPU time, CPUs used."""
import tempfile
import unittest

import v4_writer
import viewer
from viewer_screen import Viewer

LINE = "app -n 2000   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used"


def process(pid, wall, cpu, origin="launched", host="h", cpus=2, command="app -n 2000", begin=0):
    return {"pid": pid, "host": host, "origin": origin, "command": command, "wall": wall, "cpu": cpu, "cpus": cpus,
            "time_line_begin": begin, "program": "app", "threads": [{"tid": pid, "profile": 1, "name": "app"}]}


def write(folder, *processes):
    db = v4_writer.Database("app", ("work",), 1)
    main = db.entry(1, "main thread").call(db.function("main", db.module("/bin/app"), 0x10, db.file("/src/m.c"), 10))
    main.charge(2.5)
    v4_writer.write_database(db, folder)
    viewer.describe_run(folder, viewer.measured("work"), processes=processes, title="app")


class Case(unittest.TestCase):
    def folder(self, *processes):
        temporary = self.enterContext(tempfile.TemporaryDirectory())
        write(temporary, *processes)
        return temporary

    def first(self, *processes, view="summary"):
        return viewer.printed(view, self.folder(*processes)).split("\n")[0]


class Printed(Case):
    def test_every_view(self):
        for view in ("top-down", "bottom-up", "flat", "threads", "summary"):
            self.assertEqual(self.first(process(1, 1.5849, 2.874), view=view), LINE)
        page = viewer.printed("top-down", "--format", "flamegraph", self.folder(process(1, 1.5849, 2.874)))
        self.assertIn(f"<title>{LINE}: work", page)

    def test_digits(self):
        for wall, cpu, said in ((0.0042, 0.0041, "4.20 ms wall, 4.10 ms CPU, 1.0 of 2 CPUs used"),
                                (0.5, 0.012, "500 ms wall, 12.0 ms CPU, 0.02 of 2 CPUs used"),
                                (1234.5, 99.96, "1234 s wall, 100.0 s CPU, 0.08 of 2 CPUs used")):
            self.assertEqual(self.first(process(1, wall, cpu)), f"app -n 2000   {said}")

    def test_one_cpu(self):
        self.assertEqual(self.first(process(1, 2, 2, cpus=1)), "app -n 2000   2.00 s wall, 2.00 s CPU, 1.0 of 1 CPU used")

    def test_a_process_that_executes_one_program_after_the_other(self):
        self.assertEqual(self.first(process(1, 1, 1, command="sh -c app"), process(1, 3, 5, "exec")),
                         "app -n 2000   4.00 s wall, 6.00 s CPU, 1.5 of 2 CPUs used", "not the wrapper")

    def test_children(self):
        """They run while the launched process waits, or longer."""
        self.assertEqual(self.first(process(1, 4, 1, command="make"), process(2, 3, 2, "fork"), process(3, 9, 3, "fork")),
                         "make   4.00 s wall, 6.00 s CPU in 3 processes, 1.5 of 2 CPUs used")

    def test_daemons(self):
        """They work after the launched process has ended: more than its CPUs could have done until then."""
        server = process(1, 0.01, 0.002), process(2, 0.005, 0.001, "fork", begin=0.002)
        self.assertEqual(self.first(*server, process(3, 3.99, 2, "fork", begin=0.01)),
                         "app -n 2000   4.00 s wall, 2.00 s CPU in 3 processes, 0.5 of 2 CPUs used")
        self.assertEqual(self.first(*server, process(3, 3.99, 0.01, "fork", begin=0.01)),
                         "app -n 2000   10.0 ms wall, 13.0 ms CPU in 3 processes, 1.3 of 2 CPUs used", "it only waits")
        self.assertEqual(self.first(*(process(pid, 2, 2, cpus=1, begin=pid * 0.01) for pid in range(4))),
                         "app -n 2000   2.00 s wall, 8.00 s CPU in 4 processes, 4.0 CPUs used", "not even then")

    def test_hosts(self):
        ranks = [process(pid, 2, 3, host=host) for host in "ab" for pid in (1, 2)]
        self.assertEqual(self.first(*ranks), "app -n 2000   2.00 s wall, 12.0 s CPU in 4 processes, 6.0 CPUs used")
        ranks = [process(pid, 2, 1.5, host=host) for host in "ab" for pid in (1, 2)]
        self.assertEqual(self.first(*ranks), "app -n 2000   2.00 s wall, 6.00 s CPU in 4 processes, 3.0 of 4 CPUs used")

    def test_bound_ranks(self):
        """Each may use one CPU, each another one."""
        ranks = [process(pid, 2, 2, cpus=1) for pid in range(4)]
        self.assertEqual(self.first(*ranks), "app -n 2000   2.00 s wall, 8.00 s CPU in 4 processes, 4.0 CPUs used")

    def test_what_is_not_known(self):
        self.assertEqual(self.first(), "app")
        self.assertEqual(self.first(process(1, None, None)), "app")

    def test_some_threads(self):
        shown = viewer.printed("flat", "--threads", ".", self.folder(process(1, 1.5849, 2.874)))
        self.assertEqual(shown.split("\n")[0], LINE + "   threads: . (1 of 1)")

    def test_long_commands(self):
        shown = self.first(process(1, 1.5849, 2.874, command="app " + 30 * "option "))
        self.assertEqual(len(shown), 100)
        self.assertTrue(shown.endswith("...   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used"), shown)

    def test_long_paths(self):
        command = f"/opt/{'folder/' * 10}app --of folder/file"
        self.assertEqual(self.first(process(1, 1.5849, 2.874, command=command)),
                         "app --of folder/file   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used")
        self.assertEqual(self.first(process(1, 1.5849, 2.874, command="/opt/app")),
                         "/opt/app   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used")

    def test_two_runs(self):
        folders = self.folder(process(1, 1.5849, 2.874)), self.folder(process(1, 1.21, 2.3))
        for view in ("top-down", "summary"):
            shown = viewer.printed(view, "--names", "before,after", *folders).split("\n")[0]
            self.assertEqual(shown, "app [before] and [after]   1.58 s wall -> 1.21 s, 2.87 s CPU -> 2.30 s, "
                                    "1.8 -> 1.9 of 2 CPUs used")

    def test_names_of_runs_stay(self):
        """The command is cut, not what tells the runs apart."""
        def run(wall, title):
            folder = self.folder(process(1, wall, 2.5))
            with viewer.changed_run(folder) as described:
                described["title"] = title
            return folder
        long, other = "app " + 30 * "option ", "tool " + 30 * "choice "
        folders = run(1.5849, long), run(1.21, long)
        shown = viewer.printed("top-down", "--names", "before,after", *folders).split("\n")[0]
        self.assertRegex(shown, r"^app option .*\.\.\. \[before\] and \[after\]   1\.58 s wall -> 1\.21 s")
        self.assertLessEqual(len(shown), 100)
        with Viewer("--names", "before,after", *folders, width=64, height=24) as terminal:
            terminal.until_seen("app option opt... [before] and [after]   1.58 s wall -> 1.21 s")
        folders = folders[0], run(1.21, other)
        shown = viewer.printed("top-down", "--names", "before,after", *folders).split("\n")[0]
        self.assertRegex(shown, r"^app option .*\.\.\. \[before\] and tool choice.* \[after\]   1\.58 s wall -> 1\.21 s$")
        self.assertLessEqual(len(shown), 100)


class OnTheScreen(Case):
    def test_widths(self):
        folder = self.folder(process(1, 1.5849, 2.874, command="app " + 30 * "option "))
        with Viewer(folder, width=120, height=24) as terminal:
            for width, said in ((120, "...   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used"),
                                (80, "...   1.58 s wall, 2.87 s CPU, 1.8 of 2 CPUs used"),
                                (60, "...   1.58 s wall, 2.87 s CPU"), (40, "...   1.58 s wall")):
                terminal.resize(width, 24)
                terminal.until(lambda lines: lines[0].rstrip().endswith(said) and len(lines[0]) <= width, said)

    def test_low_screens_have_the_names_of_views_only(self):
        with Viewer(self.folder(process(1, 1.5849, 2.874)), width=80, height=19) as terminal:
            terminal.until(lambda lines: lines[0].startswith(" 1 top-down  2 bottom-up  3 flat"), "views")
            terminal.resize(80, 20)
            terminal.until(lambda lines: lines[0].strip() == LINE and "1 top-down" in lines[1], "the run")
