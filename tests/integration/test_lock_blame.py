"""Directed blame for locks (agents/pthread): a convoy of threads, one of which holds the lock four times as long as each
of the others. Its ledger has the truth: for how long others waited while a thread held the lock, by the place where it
took it, in CPU time of the holder (tests/programs/pthread/state-ledger.h)."""
import math
import unittest

import profiling
from logical_case import LogicalTest, walk
from test_thread_states import read_ledger

PROGRAM = profiling.BUILD / "tests" / "programs" / "pthread" / "thread-states"
MUTEX, MTX, RWLOCK, HEAP, PRIORITY = range(5)

# Shares are within 2 points. A run has so many samples that 5 sigma are less: each comparison fails by chance with
# probability 1e-6.
POINTS, SIGMAS = 0.02, 4.9


class LockBlame(LogicalTest):
    measures_time = True
    RATE = 10000

    def run_convoy(self, threads, rounds, kind=MUTEX):
        done, (self.image,) = self.profile(PROGRAM, "convoy", threads, rounds, kind,
                                           events=(f"CPUTIME@f{self.RATE}",))
        ledger = read_ledger(done.stdout)
        self.paid = {"hold_long": ledger["paid 0"], "hold_short": ledger["paid 1"]}
        self.total = self.tree["metrics"]["lock wait"]["inclusive"]
        self.delay = self.tree["metrics"]["lock delay"]["inclusive"]

    def check_convoy(self):
        truth = sum(self.paid.values())
        held = self.image.cpu
        share = {name: seconds / truth for name, seconds in self.paid.items()}
        sigma = math.sqrt(share["hold_long"] * share["hold_short"] * self.image.mean_period("CPUTIME") / held)
        if SIGMAS * sigma > POINTS:
            self.skipTest("too few samples on this busy machine")
        seen = {name: self.value("lock wait", name) for name in share}
        self.assertGreater(self.total, 0.95 * truth * (1 - SIGMAS * sigma))
        # At this rate a holder that waited begins with the record of its delay, which is not in the ledger.
        self.assertLess(self.total, 1.2 * truth * (1 + SIGMAS * sigma))
        self.assertGreater(sum(seen.values()), 0.95 * self.total, "charged to one of the holders")
        for name in share:
            self.assertAlmostEqual(seen[name] / self.total, share[name], delta=POINTS, msg=name)

    def check_waiters(self, lock):
        """What holders pay is what waiters have, at the same procedures and below them at the lock."""
        self.assertAlmostEqual(self.delay, self.total, delta=0.02 * self.total)
        at_lock = [path for path in walk(self.tree) if path[-1]["name"] == lock]
        self.assertAlmostEqual(sum(path[-1]["metrics"]["lock delay"]["inclusive"] for path in at_lock), self.delay,
                               delta=1e-6)
        for path in at_lock:
            names = [node["name"] for node in path if node["kind"] in ("procedure", "inlined")]
            self.assertTrue({"hold_long", "hold_short"} & set(names), names)

    def test_convoys(self):
        for threads, rounds in ((4, 500), (8, 300), (32, 100)):
            with self.subTest(threads=threads):
                self.run_convoy(threads, rounds)
                self.check_convoy()
                self.check_waiters("<lock queue_lock>")

    def test_kinds_of_locks(self):
        for kind, name in ((MTX, "<lock queue_mtx>"), (RWLOCK, "<lock index_of_queue + 8>"),
                           (HEAP, "<lock on the heap or a stack>"), (PRIORITY, "<lock priority_lock>")):
            with self.subTest(lock=name):
                self.run_convoy(4, 500, kind)
                self.check_convoy()
                self.check_waiters(name)


if __name__ == "__main__":
    unittest.main()
