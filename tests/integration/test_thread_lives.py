"""Threads that outlive the call that created them: a pool's work belongs to no phase but to what stayed live
until the pool was joined, or to <thread root>. Truth is the programs' own ledger of CPU time."""
import math
import unittest

from logical_case import LogicalTest, procedures, walk
import profiling

# Job: where it must be, from main or <thread root> inwards, and how many times it runs at most in a row.
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
RUNS = 6  # of one job at most: each begins and ends anywhere between two samples
ALLOWED = ("hpcrun", "clone")


def own_name(name):
    """Without what the compiler appends to a name: deeper.isra.0."""
    return name.split(".")[0]


class ThreadLives(LogicalTest):
    def profiled(self, **how):
        done, images = self.profile(profiling.PROGRAMS / "thread_lives", events=("CPUTIME@f2000",), **how)
        self.chance = 4 * math.sqrt(RUNS / 6) * max(image.mean_period("CPUTIME") for image in images)
        return {name: (int(burned) * 1e-9, int(counted) * 1e-9)
                for name, burned, counted in map(str.split, done.stdout.splitlines())}

    def paths_to(self, function, tree):
        return [path for path in walk(tree)
                if path[-1]["kind"] == "procedure" and own_name(path[-1]["name"]) == function]

    def work_of(self, paths):
        return sum(path[-1]["metrics"]["work"]["inclusive"] for path in paths)

    def place(self, path):
        """The procedures from main or <thread root> on; inlined ones too."""
        names = [own_name(node["name"]) for node in path[1:-1] if node["kind"] in ("root", "procedure", "inlined")
                 or node["name"] == "<thread root>"]
        return names[names.index("main"):] if "main" in names else names

    def check_live(self, truth):
        for job, place in LIVE.items():
            with self.subTest(job=job):
                (path,) = self.paths_to(job, self.tree)
                self.assertEqual(self.place(path), place)
                self.check_time(self.work_of([path]), *truth[job], self.chance)

    def check_phases(self, truth):
        """The work below each phase's call is its own, to the last job."""
        own = {"kept_first": ["own_kept_one"], "kept_second": ["own_kept_two"], "ended_first": ["own_ended_one"],
               "ended_second": [], "ended_last": [], "detached_phase": []}
        for phase, jobs in own.items():
            burned, counted = (sum(truth[job][i] for job in jobs) for i in (0, 1))
            with self.subTest(phase=phase):
                # Beside the jobs a phase creates, wakes and joins threads: a few samples.
                self.check_time(self.work_of(self.paths_to(phase, self.tree)), burned, counted,
                                self.chance + 0.003)

    def check_deep(self, truth):
        """Of a path that is too long to keep, the outer part is known to have stayed live."""
        (path,) = self.paths_to("deep_job", self.tree)
        names = self.place(path)
        self.assertEqual(names[:2], ["main", "deep_phase"])
        self.assertEqual(set(names[2:-1]), {"deeper"})
        self.assertGreater(len(names), 200)
        self.check_time(self.work_of([path]), *truth["deep_job"], self.chance)

    def check_lines(self):
        """A procedure that creates and joins a thread has it at the line of the call; one that others did it for
        has it without a line."""
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
        for name, how in (("perf", {}), ("timers", {"deny_perf": True})):
            with self.subTest(source=name):
                truth = self.profiled(**how)
                self.check_live(truth)
                self.check_phases(truth)
                self.check_deep(truth)
                self.check_lines()
                self.check_creations()
                self.check_physical()


if __name__ == "__main__":
    unittest.main()
