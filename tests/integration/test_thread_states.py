"""Idleness of plain threads (agents/pthread): threads that wait in every way that libc has, against a ledger that the
program keeps (tests/programs/pthread/state-ledger.h).

A program's work is naps by bare system calls, so the truth does not depend on CPUs. Samples come by the wall clock."""
import math
import unittest

import profiling
from logical_case import LogicalTest

PROGRAM = profiling.BUILD / "tests" / "programs" / "pthread" / "thread-states"
SEMANTICS = profiling.BUILD / "tests" / "programs" / "pthread" / "lock-semantics"
CPP_PROGRAM = profiling.BUILD / "tests" / "programs" / "pthread" / "std-threads"

# More than any scenario has threads: n is then the number of threads.
CORES = ("--cores", "64")

# A difference of 6 sigma has a probability of 2e-9 for a normal sum; there are fewer than 100 comparisons.
SIGMAS = 6


def read_ledger(text):
    """{"total": s, "working": s, "idle": s, "held 0": s}"""
    return {" ".join(words[:-1]): float(words[-1]) for words in map(str.split, text.splitlines())}


class ThreadStates(LogicalTest):
    measures_time = True
    RATE = 1000

    def run_scenario(self, *command, event="REALTIME", options=CORES):
        done, (self.image,) = self.profile(*command, events=(f"{event}@f{self.RATE}",), options=options)
        self.ledger = read_ledger(done.stdout)
        self.totals = {name: value["inclusive"] for name, value in self.tree["metrics"].items()
                       if value["inclusive"] is not None}

    def check_near(self, what, seen, truth, largest, late=0):
        """`largest`: of what a single sample pays. The sum of squares is at most that times the sum. The first and the
        last sample of a thread may be off by a period. `late`: how much may be wrong because samples come late while
        other programs have the CPUs: a sample pays by the states of the threads when it comes."""
        sigma = math.sqrt(largest * max(truth, seen))
        margin = SIGMAS * sigma + 0.02 * truth + 2 * largest * len(self.image.threads) + late
        if margin > 0.5 * truth:
            self.skipTest("other programs kept the CPUs too busy for an answer")
        self.assertAlmostEqual(seen, truth, delta=margin, msg=f"{what} {self.ledger} {self.totals}")
        return margin

    def check_states(self, threads):
        period = self.image.mean_period("REALTIME")
        self.check_near("working", self.totals["work"], self.ledger["working"], period)
        self.check_near("waiting", self.totals["waiting"], self.ledger["total"] - self.ledger["working"], period)
        self.check_near("idleness", self.totals["idleness"], self.ledger["idle"], period * threads,
                        threads * self.taken_by_others)

    def scenario(self, name, rounds, counts=(2, 4, 8)):
        for threads in counts:
            with self.subTest(threads=threads):
                self.run_scenario(PROGRAM, name, threads, rounds)
                self.check_states(threads)

    def test_readers_and_a_writer(self):
        self.scenario("table", 400)

    def test_pipeline_of_condition_variables(self):
        self.scenario("pipeline", 600)

    def test_semaphore(self):
        self.scenario("semaphore", 300, (4, 8))

    def test_barrier(self):
        self.scenario("barrier", 300)

    def test_sleeps(self):
        self.scenario("sleeps", 300)

    def test_futexes(self):
        self.scenario("turns", 300)

    def test_c11(self):
        self.scenario("c11", 200)

    def test_standard_library_of_cpp(self):
        """std::thread, mutex, condition_variable, shared_mutex; C++20's latch, semaphore and atomic waits."""
        for threads in (2, 4, 8):
            with self.subTest(threads=threads):
                self.run_scenario(CPP_PROGRAM, threads, 200)
                self.check_states(threads)

    def test_a_wait_that_ends_by_an_exception_or_a_jump(self):
        """The thread works from there on, though its call never returned."""
        for scenario in ("cancel", "jump"):
            with self.subTest(scenario=scenario):
                self.run_scenario(PROGRAM, scenario, 1, 1)
                self.check_near("working", self.totals["work"], self.ledger["working"],
                                self.image.mean_period("REALTIME"))

    def test_results_are_unchanged(self):
        """Kinds of mutexes, robust ones, processes, cancellation, timeouts, errno: as without hpcrun."""
        plain = self.run_tool(SEMANTICS)
        self.assertEqual(plain.returncode, 0)
        for event in ("CPUTIME@f2000", "REALTIME@f2000"):
            done, _ = self.measure(SEMANTICS, events=(event,))
            self.assertEqual(done.stdout, plain.stdout, event)

    def test_n_is_the_number_of_threads_or_of_cpus(self):
        for cores, n in ((64, 5), (3, 3)):
            self.run_scenario(PROGRAM, "barrier", 4, 20, options=("--cores", cores))
            self.assertEqual(self.view(view="summary")["processes"][0]["workers"], n)

    def test_one_thread_has_no_idleness(self):
        self.profile("/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", options=CORES)
        self.assertIsNone(self.tree["metrics"]["idleness"]["inclusive"])

    def test_no_agent(self):
        """With --agent none a wait is time of the thread like any other."""
        self.run_scenario(PROGRAM, "barrier", 4, 20, options=("--agent", "none"))
        self.assertNotIn("idleness", self.totals)
        self.assertNotIn("waiting", self.totals)
        self.check_near("work", self.totals["work"], self.ledger["total"], self.image.mean_period("REALTIME"))


if __name__ == "__main__":
    unittest.main()
