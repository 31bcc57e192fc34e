"""Cilk-5 as a library (Cilk_init, EXPORT(f)): the path of a computation begins in the thread that has called it."""
import profiling
from logical_case import LogicalTest, procedures, walk

PROGRAM = profiling.BUILD / "tests" / "programs" / "cilk5" / "library-mode"


class Library(LogicalTest):
    def test_callers(self):
        """Of two computations, one was called by main, the other by a thread that main has joined. The worker's own
        stack has neither."""
        self.profile(PROGRAM, 60, events=["CPUTIME@f1000"])
        calls = {tuple(procedures(path)) for path in walk(self.tree) if path[-1]["name"] == "work"}
        self.assertEqual({call[call.index("main"):] for call in calls},
                         {("main", "first", "mt_work", "work"), ("main", "second", "mt_work", "work")})
        self.assertEqual(len({call[:call.index("main")] for call in calls}), 1)  # where main is called
        entries = {path[1]["name"] for path in walk(self.tree) if path[-1]["name"] == "work"}
        self.assertEqual(entries, {"main thread"})

    def test_each_call_has_its_time(self):
        done, (image,) = self.profile(PROGRAM, 60, events=["CPUTIME@f1000"])
        for name, nanoseconds in zip(("first", "second"), done.stdout.split()):
            self.assertAlmostEqual(self.value("work", name), int(nanoseconds) * 1e-9,
                                   delta=3 * image.mean_period("CPUTIME") + 2e-3)
