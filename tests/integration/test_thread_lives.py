"""Threads that outlive the call that created them: a pool's work belongs to the procedures that stayed live until the
pool was joined, or to <thread root>, but to no phase. The reference is the programs' own record of CPU time."""
import csv
import io

from evidence import OfChance, of_ends
from logical_case import LogicalTest, TOOLS, procedures, walk
import profiling
from terminal import Terminal

# Job: its place, from main or <thread root> inwards, and how many times it runs at most in a row.
LIVE = {
    "own_kept_one": ["main", "kept_first"], "own_kept_two": ["main", "kept_second"],
    "ended_one": ["main", "ended_phases", "ended_worker", "serve"],
    "ended_two": ["main", "ended_phases", "ended_worker", "serve"],
    "own_ended_one": ["main", "ended_phases", "ended_first"],
    "inner_job": ["main", "nested_phase", "outer_worker", "inner_worker", "serve"],
    "outer_job": ["main", "nested_phase", "outer_worker"],
    "loop_job": ["main", "loop_phase", "loop_worker"],
    "helped_job": ["main", "helped_phase", "helped_worker"],
    "inlined_job": ["main", "inlined_phases", "inlined_worker"],
    "tried_job": ["main", "many_joins", "tried_worker"],
    "timed_job": ["main", "many_joins", "timed_worker"],
    "clocked_job": ["main", "many_joins", "clocked_worker"],
    "c11_job": ["main", "many_joins", "c11_worker"],
    "reaper_job": ["main", "reaped_phase", "reaper"],
    "kept_one": ["<thread root>", "kept_worker", "serve"],
    "kept_two": ["<thread root>", "kept_worker", "serve"],
    "attribute_job": ["<thread root>", "attribute_worker"],
    "call_job": ["<thread root>", "call_worker"],
    "self_job": ["<thread root>", "self_worker"],
    "reaped_job": ["<thread root>", "reaped_worker"],
}
CREATORS = {"kept_worker": ["kept_first", "pool_start"], "ended_worker": ["ended_phases", "ended_first", "pool_start"],
            "attribute_worker": ["detached_phase"], "call_worker": ["detached_phase"],
            "self_worker": ["detached_phase"], "reaped_worker": ["reaped_phase"], "deep_worker": ["deeper"],
            "inner_worker": ["outer_worker", "pool_start"]}
JOB = 0.03  # seconds that a job runs
ALLOWED = ("hpcrun", "clone")


def own_name(name):
    """The name without a suffix of the compiler, such as .isra.0."""
    return name.split(".")[0]


class ThreadLives(OfChance, LogicalTest):
    def profiled(self, **how):
        done, images = self.profile(profiling.PROGRAMS / "thread_lives", events=("CPUTIME@f2000",), **how)
        self.period = max(image.mean_period("CPUTIME") for image in images)
        return {name: (int(burned) * 1e-9, int(counted) * 1e-9)
                for name, burned, counted in map(str.split, done.stdout.splitlines())}

    def paths_to(self, function, tree):
        return [path for path in walk(tree)
                if path[-1]["kind"] == "procedure" and own_name(path[-1]["name"]) == function]

    def work_of(self, paths):
        return sum(path[-1]["metrics"]["work"]["inclusive"] for path in paths)

    def place(self, path):
        """The procedures from main or <thread root> inwards, including inlined ones."""
        names = [own_name(node["name"]) for node in path[1:-1] if node["kind"] in ("root", "procedure", "inlined")
                 or node["name"] == "<thread root>"]
        return names[names.index("main"):] if "main" in names else names

    def claim(self, what, paths, burned, counted):
        """A job begins and ends anywhere between two samples, and a phase without a job is between two jobs. A fault
        moves a third of the time, and at least one job of a thread."""
        runs = max(1, round(burned / JOB))
        self.found.between(what, self.work_of(paths), 0.98 * burned, 1.02 * counted,
                           of_ends(runs, self.period) + self.late(2 * runs, beside_own_threads=True),
                           max(0.9 * JOB, burned / 3 + JOB / 3))

    def check_live(self, truth):
        for job, place in LIVE.items():
            (path,) = self.paths_to(job, self.tree)
            self.assertEqual(self.place(path), place)
            self.claim(job, [path], *truth[job])

    def check_phases(self, truth):
        """The work below each phase's call is exactly its own: its jobs, and to create, wake and join threads."""
        own = {"kept_first": ["own_kept_one"], "kept_second": ["own_kept_two"], "ended_first": ["own_ended_one"],
               "ended_second": [], "ended_last": [], "detached_phase": []}
        for phase, jobs in own.items():
            burned = sum(truth[job][0] for job in jobs)
            self.claim(phase, self.paths_to(phase, self.tree), burned, truth[phase][1])

    def check_deep(self, truth):
        """If a path is too long to be stored, its outer part is known to have stayed live."""
        (path,) = self.paths_to("deep_job", self.tree)
        names = self.place(path)
        self.assertEqual(names[:2], ["main", "deep_phase"])
        self.assertEqual(set(names[2:-1]), {"deeper"})
        self.assertGreater(len(names), 200)
        self.claim("deep_job", [path], *truth["deep_job"])

    def check_lines(self):
        """A procedure that creates and joins a thread itself has the thread at the line of the call; if its callees do
        that, it has the thread without a line."""
        for job, has_line in (("loop_job", True), ("helped_job", True), ("ended_one", False), ("inlined_job", False)):
            (path,) = self.paths_to(job, self.tree)
            at = next(i for i, node in enumerate(path) if own_name(node["name"]).endswith("_worker"))
            self.assertEqual(bool(path[at].get("call_site")), has_line, job)

    def check_creations(self):
        threads = self.view(view="threads")["threads"]
        for routine, creators in CREATORS.items():
            mine = [thread for thread in threads if thread["start_routine"] == routine]
            self.assertGreater(len(mine), 0, routine)
            for thread in mine:
                names = [own_name(frame["name"]) for frame in thread["created_at"]]
                self.assertEqual(names[-len(creators):], creators)
                self.assertGreater(thread["created_at"][-1]["line"], 0)
                root = "creator" if routine in ("ended_worker", "deep_worker", "inner_worker") else "thread root"
                self.assertEqual(thread["root"], root)

    def check_physical(self):
        tree = self.view("--physical")["root"]
        roots = [entry for entry in tree["children"] if entry["name"] == "<thread root>"]
        self.assertEqual(len(roots), 1)
        names = [child["name"] for child in roots[0]["children"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({name for name in names if not name.endswith("worker") and name != "reaper"}, set())

    def test_work_hangs_below_what_stayed_live(self):
        for name, how in profiling.sources():
            with self.subTest(source=name):
                for _ in self.looks():
                    truth = self.profiled(**how)
                    self.check_live(truth)
                    self.check_phases(truth)
                    self.check_deep(truth)
                    self.check_lines()
                    self.check_creations()
                    self.check_physical()


class Records(LogicalTest):
    """hpcrun's records of threads that can be joined."""

    def growth(self, rounds):
        done, images = self.profile(profiling.PROGRAMS / "many_joins", rounds, options=("--signal", "40"))
        kib, fine = done.stdout.split()
        self.assertEqual(fine, "fine")
        self.assertEqual(len(images), 6)  # and five children of forks
        return int(kib), images

    def test_ids_that_are_used_again(self):
        """Threads are joined, detached, and joined by others, while others get their ids; a join is canceled, and the
        creator joins again."""
        self.growth(400)
        (path,) = [path for path in walk(self.tree)
                   if path[-1]["kind"] == "procedure" and path[-1]["name"] == "waited_for"]
        self.assertEqual(procedures(path)[-2:], ["canceled_join", "waited_for"])
        self.assertEqual(path[1]["name"], "main thread")

    def test_memory_is_bounded(self):
        """Records of joined and detached threads are freed: 5000 more threads, at 400 bytes or more each, do not
        increase the process's size."""
        kib, _ = self.growth(4000)
        self.assertLess(kib, 1000)


class Viewer(LogicalTest):
    def test_views_of_one_run(self):
        self.profile(profiling.PROGRAMS / "thread_lives", events=("CPUTIME@f2000",))
        for check in (self.check_rows, self.check_csv_and_text, self.check_filters, self.check_terminal):
            with self.subTest(check.__name__):
                check()

    def starts(self, *options):
        tree = self.view("--depth", 3, *options)["root"]
        (root,) = [entry for entry in tree["children"] if entry["name"] == "<thread root>"]
        return {child["name"]: child for child in root["children"]}

    def creators(self, row):
        return {(tuple(frame["name"] for frame in origin["path"][-2:]), origin["threads"])
                for origin in row["created_at"]}

    def check_rows(self):
        """Rows tell where their threads were created."""
        starts = self.starts()
        self.assertEqual(self.creators(starts["kept_worker"]), {(("kept_first", "pool_start"), 3)})
        self.assertEqual(self.creators(starts["call_worker"]), {(("main", "detached_phase"), 1)})
        self.assertNotIn("ended_worker", starts)
        physical = self.starts("--physical")
        self.assertEqual(self.creators(physical["ended_worker"]), {(("ended_first", "pool_start"), 3)})
        self.assertEqual(self.creators(physical["loop_worker"]), {(("main", "loop_phase"), 6)})

    def check_csv_and_text(self):
        done = self.run_tool(TOOLS / "hpcviewer", "--print", "threads", "--format", "csv", self.database)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        (row,) = [row for row in rows if row["start_routine"] == "call_worker"]
        self.assertEqual(row["root"], "thread root")
        self.assertRegex(row["created_at"], r"^detached_phase thread_lives\.c:\d+ < main thread_lives\.c:\d+$")
        done = self.run_tool(TOOLS / "hpcviewer", "--print", "threads", self.database)
        self.assertEqual(done.stdout.count("created at " + row["created_at"]), 1)

    def check_filters(self):
        """A filter hides the row and leaves what is below it."""
        names = [entry["name"] for entry in self.view("--filter", "!<thread root>", "--depth", 2)["root"]["children"]]
        self.assertNotIn("<thread root>", names)
        self.assertTrue({"main thread", "kept_worker", "call_worker"} <= set(names), names)

    def check_terminal(self):
        with Terminal([TOOLS / "hpcviewer", "--closed", self.database], width=100, height=45) as terminal:
            terminal.until_seen("<thread root>")
            terminal.answer("/", "kept_worker")
            terminal.press("Escape", "i")
            text = "\n".join(line.rstrip() for line in terminal.until_seen("one row", "created at"))
            self.assertRegex(text, r"created at, 3 threads\n(  .*\n)*  main thread_lives\.c:\d+\n"
                                   r"  kept_first thread_lives\.c:\d+\n  pool_start thread_lives\.c:\d+\n")
            terminal.press_until("q 4", "threads: ", "i:all")
            terminal.press_until("i", "one thread", "created at", "kept_worker")
            terminal.press("q", "q", "q")
