"""The law of metrics (design.md, section 4): work + overhead + idleness + time in which nobody worked = the time of all
workers that could work at once. Checked for every program of tests/programs/cilk, by the wall clock if each worker has
a CPU, and by the CPU clock also if workers share CPUs.

The reference comes from outside clocks: the process's wall clock, and the time for which other processes kept the CPUs
busy, which no profile can attribute: a run with much of that is no evidence."""
import os
import unittest

import profiling
from evidence import Chance, OfChance, of_ends
from logical_case import LogicalTest

CILK = profiling.BUILD / "tests" / "programs" / "cilk"
PHASES = profiling.BUILD / "tests" / "programs" / "logical" / "phases"

# Programs are bound to at most two CPUs, so that eight workers always share CPUs.
CPUS = sorted(os.sched_getaffinity(0))[:2]

LOST = (profiling.NOBODY, *profiling.DROPPED, profiling.KERNEL_UNATTRIBUTED)


class Law(OfChance, LogicalTest):
    measures_time = True
    RATE = 4000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))

    def run_with(self, command, workers, events):
        """Profiles the program. Returns the image, and the time for which others kept the CPUs busy."""
        os.sched_setaffinity(0, CPUS[:workers])
        _, (image,) = self.measure(*command, events=[f"{event}@f{self.RATE}" for event in events])
        others = self.taken_by_others
        self.check_fates([image])
        self.analyse()
        return image, others

    def total(self, metric, event, events):
        name = f"{metric} ({event})" if len(events) > 1 else metric
        return self.tree["metrics"][name]["inclusive"]

    def claim(self, image, workers, others, event, events):
        """Within 2 %. A fault moves a sixth of the workers' time."""
        n = min(workers, len(CPUS))
        work, overhead, idleness = (self.total(metric, event, events)
                                    for metric in ("work", "overhead", "idleness"))
        effort = work + overhead + idleness + image.seconds(event, LOST)
        truth = n * image.wall
        # A sample in a worker pays n / n_w times its increment, or 0 if the worker is idle: its increment on average.
        # The sum of squared deviations is at most n times increment times idleness. In addition, every thread begins
        # and ends.
        increment = image.mean_period(event)
        chance = Chance(n * increment * idleness, 1.5 * n * increment) + of_ends(workers, n * increment)
        # While other processes have a CPU, the CPU clock stops and wall-clock samples are late: their charge depends on
        # the workers' status at the end of the time that they stand for. If workers share CPUs, those that search work
        # take CPU time from those that have some. The system measures both by sampling at its ticks.
        taken = 1.3 * others + profiling.TICK
        if workers > n:
            taken += image.seconds(event, [profiling.IDLE])
        self.found.between(event, effort, 0.98 * truth, 1.02 * truth, chance, truth / 6, unsure=n * taken,
                           too_high=n * taken if event == "REALTIME" else 0)

    def law_of(self, program, size):
        self.law_of_command(lambda workers: (CILK / program, "-w", workers, size))

    def law_of_command(self, command):
        for workers in (1, 2, 4, 8):
            n = min(workers, len(CPUS))
            events = ["CPUTIME", "REALTIME"] if workers <= n else ["CPUTIME"]
            with self.subTest(workers=workers):
                self.found = self.evidence()
                for _ in self.found.looks():
                    image, others = self.run_with(command(workers), workers, events)
                    process, = self.view(view="summary")["processes"]
                    self.assertEqual(process["workers"], n)
                    for event in events:
                        self.claim(image, workers, others, event, events)

    def test_phases(self):
        """With more than one worker, most workers are idle most of the time."""
        self.law_of_command(lambda workers: (PHASES, workers, 300))

    def test_wall_time_with_work(self):
        """The wall clock charges the procedures that workers run, and serial code, with the time that they took by
        the program's own clock, however busy the machine is; workers without work are charged nothing.

        A sample is charged by what its worker does when it comes. So each begin and end of a procedure is worth one
        period at most, and the time for which the worker had no CPU just then: that takes a switch of the CPU within
        the microseconds between the runtime's change of state and the program's look at its clock: of some 20 changes,
        each in 10 of 4000 microseconds, that is 1 run in 20. Workers without work would add some 40 % in each run."""
        for workers in (2, 4):
            with self.subTest(workers=workers):
                found = self.evidence()
                for _ in found.looks():
                    done, (image,) = self.measure(PHASES, workers, 300, events=["REALTIME@f1000"])
                    times = profiling.pairs(done.stdout.split())
                    truth = image.wall - (int(times["computation"]) - int(times["procedures"])) * 1e-9
                    seen = image.seconds("REALTIME", [profiling.RECORDED])
                    found.rate("right within 10 %", abs(seen - truth) < 0.1 * truth, 1, least=0.9, noticed=(0.1, 1))

    def test_fib(self):
        self.law_of("fib", 36)

    def test_nqueens(self):
        self.law_of("nqueens", 14)

    def test_cilksort(self):
        self.law_of("cilksort", 2500000)

    def test_matmul(self):
        self.law_of("matmul", 700)

    def test_heat(self):
        self.law_of("heat", 900)

    def test_cholesky(self):
        self.law_of("cholesky", 1200)


if __name__ == "__main__":
    unittest.main()
