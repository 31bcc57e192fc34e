"""Idleness of plain threads (agents/pthread): threads that wait in every way that libc has, against a ledger that the
program keeps (tests/programs/pthread/state-ledger.h).

A program's work is naps by bare system calls, so the truth does not depend on CPUs. Samples come by the wall clock. A
thread that waits for a CPU takes its sample before it goes on: so it is charged for what it did, however late. Only for
how many others worked meanwhile a late sample may be wrong. Samples are late if others have the CPUs, unless the program
may preempt them, or if the machine is halted, which naps tell."""
import math

import profiling
from evidence import OfChance, of_ends, of_samples
from logical_case import LogicalTest

PROGRAM = profiling.BUILD / "tests" / "programs" / "pthread" / "thread-states"
SEMANTICS = profiling.BUILD / "tests" / "programs" / "pthread" / "lock-semantics"
CPP_PROGRAM = profiling.BUILD / "tests" / "programs" / "pthread" / "std-threads"
YIELDS = profiling.BUILD / "tests" / "programs" / "pthread" / "yields"

# More than any scenario has threads: n is then the number of threads.
CORES = ("--cores", "64")


def read_ledger(text):
    """{"total": s, "working": s, "idle": s, "held 0": s}"""
    return {" ".join(words[:-1]): float(words[-1]) for words in map(str.split, text.splitlines())}


class ThreadStates(OfChance, LogicalTest):
    measures_time = not profiling.REAL_TIME_IS_ALLOWED
    cpus_needed = 1

    def run_scenario(self, *command, options=CORES, rate=2000):
        with profiling.real_time_priority() as is_first:
            done, (self.image,) = self.measure(*command, events=(f"REALTIME@f{rate}",), options=options)
        self.check_fates([self.image])
        self.make_database()
        self.ledger = read_ledger(done.stdout)
        self.delayed = self.ledger["late"] + (self.stolen if is_first else self.taken_by_others)
        self.summary = self.view(view="summary")
        self.totals = {name: value for name, value in self.summary["metrics"].items() if value is not None}
        self.period = self.image.mean_period("REALTIME")

    def claim(self, what, metric, truth, weight=1, unsure=0, more=0):
        """Within 2 %, or less where threads had no CPU: that is time of its own. A fault moves a third. `weight`: the most that a second of a thread is worth. `more`: seconds of
        threads that are in the profile and not in the ledger."""
        chance = of_samples(truth, weight * self.period) + of_ends(len(self.image.threads), weight * self.period)
        seen, ready = self.totals[metric], self.totals.get("ready", 0)
        self.found.between(f"{what}, most", seen, -math.inf, 1.02 * truth + more, chance, truth / 3, unsure)
        self.found.between(f"{what}, least", seen + weight * ready, 0.98 * truth, math.inf, chance, truth / 3, unsure,
                           too_high=unsure + weight * ready)

    def claim_work(self):
        """The profile has the threads from their first instruction to their last one."""
        more = sum(thread.wall for thread in self.image.threads) - self.ledger["total"]
        self.claim("working", "work", self.ledger["working"], more=max(0, more))

    def claim_states(self, threads):
        self.claim_work()
        self.claim("waiting", "waiting", self.ledger["total"] - self.ledger["working"])
        self.claim("idleness", "idleness", self.ledger["idle"], threads, threads * self.delayed)

    def claim_waits(self, call):
        """At least two thirds of its time are waiting, of which a fault makes work."""
        self.tree = self.view()["root"]
        waiting, work = self.value("waiting", call), self.value("work", call)
        chance = of_samples(waiting, self.period) + of_samples(2 * work, 2 * self.period)
        self.found.between(f"waiting in {call}", waiting - 2 * work, 0, math.inf, chance, waiting + work)

    def states_of(self, threads, *command, waits=()):
        """`waits`: calls in which threads wait most of the time."""
        with self.subTest(threads=threads):
            for _ in self.looks():
                self.run_scenario(*command, rate=min(4000, 16000 // threads))
                self.claim_states(threads)
                for call in waits:
                    self.claim_waits(call)

    def scenario(self, name, rounds, counts=(2, 8), waits=()):
        for threads in counts:
            self.states_of(threads, PROGRAM, name, threads, rounds, waits=waits)

    def test_readers_and_a_writer(self):
        self.scenario("table", 100, waits=("pthread_rwlock_rdlock", "pthread_rwlock_wrlock"))

    def test_pipeline_of_condition_variables(self):
        self.scenario("pipeline", 400)

    def test_semaphore(self):
        self.scenario("semaphore", 80, (4,))

    def test_barrier(self):
        self.scenario("barrier", 100)

    def test_sleeps(self):
        self.scenario("sleeps", 60)

    def test_futexes(self):
        self.scenario("turns", 60)

    def test_pipes_and_sockets(self):
        self.scenario("relay", 15, (2, 4))

    def test_children(self):
        self.scenario("children", 15, (2, 4))

    def test_a_call_that_works_does_not_wait(self):
        """Two threads that read what is there at once, for 0.2 s of CPU time each: all of it is work."""
        self.profile(PROGRAM, "copies", 2, 200, events=("CPUTIME@f2000",), options=("--cores", "2"))
        self.assertGreater(self.value("work", "copies"), 0.8 * 0.4)

    def test_c11(self):
        self.scenario("c11", 100)

    def test_standard_library_of_cpp(self):
        """std::thread, mutex, condition_variable, shared_mutex; C++20's latch, semaphore and atomic waits, which
        yield at first."""
        for threads in (2, 4):  # of 8, a sample may be worth 8 times its time: 13 looks where others keep the CPUs busy
            self.states_of(threads, CPP_PROGRAM, threads, 100)

    def test_a_wait_that_ends_by_an_exception_or_a_jump(self):
        """The thread works from there on, though its call never returned."""
        for scenario in ("cancel", "jump"):
            with self.subTest(scenario=scenario):
                for _ in self.looks():
                    self.run_scenario(PROGRAM, scenario, 1, 1)
                    self.claim_work()

    def test_loops_that_yield(self):
        """Such a loop is in the call nearly all the time: at least half of it on any kernel. A faulty wrapper makes
        nothing of it waiting, or also the work of a thread that yields seldom."""
        self.profile(YIELDS)
        for name, at_least, at_most in (("wait_by_sched_yield", 0.5, 1), ("wait_by_thrd_yield", 0.5, 1),
                                        ("work_and_yield", 0, 0.5)):
            work, waiting = self.value("work", name), self.value("waiting", name)
            self.assertGreater(work + waiting, 0, name)
            self.assertLessEqual(at_least, waiting / (work + waiting), name)
            self.assertLessEqual(waiting / (work + waiting), at_most, name)

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
            self.assertEqual(self.summary["processes"][0]["workers"], n)

    def test_plain_threads_have_no_overhead(self):
        """Nobody is told to look for a runtime with tags."""
        self.run_scenario(PROGRAM, "barrier", 4, 20)
        state, = (metric for metric in self.summary["metric_states"] if metric["name"] == "overhead")
        self.assertEqual((state["state"], state["why"]),
                         ("not measurable", "plain threads have no runtime, so all their code counts as work"))
        self.assertNotIn("runtime-patches", " ".join(finding["text"] for finding in self.summary["advice"]))

    def test_one_thread_has_no_idleness(self):
        self.profile("/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", options=CORES)
        self.assertIsNone(self.tree["metrics"]["idleness"]["inclusive"])

    def test_no_agent(self):
        """With --agent none a wait is time of the thread like any other."""
        for _ in self.looks():
            self.run_scenario(PROGRAM, "barrier", 4, 20, options=("--agent", "none"))
            self.assertNotIn("idleness", self.totals)
            self.assertNotIn("waiting", self.totals)
            more = sum(thread.wall for thread in self.image.threads) - self.ledger["total"]
            self.claim("everything is work", "work", self.ledger["total"], more=max(0, more))
