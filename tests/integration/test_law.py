"""The law of metrics (design.md, section 4): work + overhead + idleness + time in which nobody worked = the time of all
workers that could work at once, by the process's wall clock.

Who can show that it holds:

    workers <= CPUs   every program of tests/programs/cilk, by the wall clock and by the CPU clock. The time for which
                      other processes kept the CPUs busy is unsure
    workers > CPUs    only `phases`, by the CPU clock. Its idle workers sleep. In the other programs they search, and
                      take CPU time from workers that have work: a profile has less than the law, by an amount that
                      only the profile itself knows"""
import os
import unittest

import profiling
from evidence import Chance, OfChance, of_ends
from logical_case import LogicalTest

CILK = profiling.BUILD / "tests" / "programs" / "cilk"
PHASES = profiling.BUILD / "tests" / "programs" / "logical" / "phases"
PHASE_MS = 150

# Programs are bound to at most so many CPUs, so that four workers always share CPUs.
N_CPUS = min(2, len(os.sched_getaffinity(0)))

LOST = (profiling.NOBODY, *profiling.DROPPED, profiling.KERNEL_UNATTRIBUTED)


class LawTest(OfChance, LogicalTest):
    measures_time = True
    RATE = 4000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        usable = os.sched_getaffinity(0)
        cls.cpus = sorted(usable)[:N_CPUS]
        cls.addClassCleanup(os.sched_setaffinity, 0, usable)

    def total(self, metric, event, events):
        return self.summary["metrics"][f"{metric} ({event})" if len(events) > 1 else metric]

    def claim(self, image, workers, event, events):
        """Within 2 %. A fault moves a sixth of the workers' time."""
        n = min(workers, len(self.cpus))
        work, overhead, idleness = (self.total(metric, event, events)
                                    for metric in ("work", "overhead", "idleness"))
        effort = work + overhead + idleness + image.seconds(event, LOST)
        truth = n * (image.wall - image.startup)
        # A sample in a worker pays n / n_w times its increment, or 0 if the worker is idle: its increment on average.
        # The sum of squared deviations is at most n times increment times idleness. In addition, every thread begins
        # and ends.
        increment = image.mean_period(event)
        chance = Chance(n * increment * idleness, 1.5 * n * increment) + of_ends(workers, n * increment)
        # While other processes have a CPU, the CPU clock stops and wall-clock samples are late: their charge depends on
        # the workers' status at the end of the time that they stand for. The idle time of each of n CPUs, by which the
        # time of others is known, is cut to ticks at both ends: an error of one tick at most.
        taken = n * (self.taken_by_others + n * profiling.TICK)
        self.found.between(event, effort, 0.98 * truth, 1.02 * truth, chance, truth / 6, unsure=taken,
                           too_high=taken if event == "REALTIME" else 0)

    def law_of(self, workers, *command):
        n = min(workers, len(self.cpus))
        events = ["CPUTIME", "REALTIME"] if workers <= n else ["CPUTIME"]
        os.sched_setaffinity(0, self.cpus[:workers])
        with self.subTest(workers=workers):
            for _ in self.looks():
                _, (image,) = self.measure(*command, events=[f"{event}@f{self.RATE}" for event in events])
                self.check_fates([image])
                self.make_database()
                self.summary = self.view(view="summary")
                self.assertEqual([process["workers"] for process in self.summary["processes"]], [n])
                for event in events:
                    self.claim(image, workers, event, events)


class Programs:
    """The programs of tests/programs/cilk, with `workers` workers."""
    SIZES = {"fib": 38, "cilksort": 6000000}
    if os.environ.get("TEST_ALL"):
        SIZES |= {"nqueens": 14, "cholesky": 1200}

    def test_programs(self):
        for name, size in self.SIZES.items():
            with self.subTest(name):
                self.law_of(self.workers, CILK / name, "-w", self.workers, size)


class OneWorker(Programs, LawTest):
    cpus_needed = 1
    workers = 1
    SIZES = {"fib": 36}

    def test_phases(self):
        self.law_of(1, PHASES, 1, PHASE_MS)


@unittest.skipIf(N_CPUS < 2, "needs two CPUs")
class TwoWorkers(Programs, LawTest):
    workers = 2


class Law(LawTest):
    def test_phases(self):
        """Most workers are idle most of the time. With more workers than CPUs, no more than all CPUs are idle."""
        for workers in (2, 4, 8):
            self.law_of(workers, PHASES, workers, PHASE_MS)

    def test_wall_time_with_work(self):
        """The wall clock charges the procedures that workers run, and serial code, with the time that they took by
        the program's own clock, however busy the machine is; workers without work are charged nothing.

        A sample is charged by what its worker does when it comes. So each begin and end of a procedure is worth one
        period at most, and the time for which the worker had no CPU just then: that takes a switch of the CPU within
        the microseconds between the runtime's change of state and the program's look at its clock: of some 20 changes,
        each in 10 of 4000 microseconds, that is 1 run in 20. Workers without work would add some 40 % in each run: of
        these less than one in 1000 is right."""
        for workers in (2, 4):
            with self.subTest(workers=workers):
                for found in self.looks():
                    done, (image,) = self.measure(PHASES, workers, 80, events=["REALTIME@f1000"])
                    times = profiling.pairs(done.stdout.split())
                    truth = image.wall - (int(times["computation"]) - int(times["procedures"])) * 1e-9
                    seen = image.seconds("REALTIME", [profiling.RECORDED])
                    found.rate("right within 10 %", abs(seen - truth) < 0.1 * truth, 1, least=0.9, noticed=(0.001, 1))
