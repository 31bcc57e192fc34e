"""Time in which threads want a CPU and have none: on a CPU + ready + off the CPU is the wall time of each thread, and
only what the program wanted counts."""
import contextlib
import json
import os
import pathlib
import subprocess
import unittest

import profiling
from evidence import EXACT, OfChance, of_ends, of_samples
from logical_case import LogicalTest

HUNGRY = profiling.program("hungry")
MILLISECONDS = 600
GROUPS = pathlib.Path("/sys/fs/cgroup")


class Account:
    """What a thread of the program says of itself, in seconds."""

    def __init__(self, line):
        self.kind, tid, *numbers = line.split()
        self.tid = int(tid)
        self.wall, self.cpu, self.ready, self.own = (int(number) / 1e9 for number in numbers)


class ReadyTest(OfChance, LogicalTest):
    measures_time = True

    def take(self, computing, sleeping, working=0, *, events, command=(), options=()):
        """The threads' own accounts, each with its entry in run.json."""
        done, _ = self.measure(*command, HUNGRY, computing, sleeping, MILLISECONDS, working, events=events,
                               options=options)
        self.analyse()
        own = [Account(line) for line in done.stdout.splitlines()]
        self.run = json.loads((self.database / "run.json").read_text())
        self.process, = (p for p in self.run["processes"] if p["program"] == "hungry")
        threads = {thread["tid"]: thread for thread in self.process["threads"]}
        self.assertIn(len(threads) - len(own), (0, 1) if options else (1,))  # the main one; it may have no sample
        return [(account, threads[account.tid]) for account in own]

    def total(self, metric):
        return self.view(view="summary")["metrics"][metric]

    def claim_law(self, own, thread):
        """The interval that hpcrun sees contains the program's: the kernel's own numbers agree. A hypervisor's time is
        in neither account."""
        self.assertGreaterEqual(thread["wall"], own.wall)
        self.assertGreaterEqual(thread["ready"], own.ready)
        self.assertLessEqual(thread["cpu"] + thread["ready"], thread["wall"] + 1e-3)
        self.found.between(f"law of {own.kind}", thread["cpu"] + thread["ready"], 0.99 * thread["wall"],
                           1.01 * thread["wall"], EXACT, 0.1 * thread["wall"], unsure=self.stolen)


class Law(ReadyTest):
    def test_threads_that_share_a_cpu(self):
        """Each of three threads has it a third of the time, or less if others use it."""
        for events in (["CPUTIME@f200"], ["REALTIME@f200"]):
            with self.subTest(events=events):
                for _ in self.looks():
                    for own, thread in self.take(3, 0, events=events):
                        self.claim_law(own, thread)
                    self.assertAlmostEqual(self.process["ready"], sum(t["ready"] for t in self.process["threads"]),
                                           places=6)

    def test_samples_pay_what_the_kernel_says(self):
        """Of the wall clock: work, ready and off CPU of a computing thread are its three parts."""
        for _ in self.looks():
            threads = self.take(3, 0, events=["REALTIME@f1000"])
            period = 1e-3
            ready = sum(thread["ready"] for _, thread in threads)
            self.found.between("ready", self.total("ready"), 0.98 * ready, 1.02 * ready,
                               of_ends(4, 3 * period), 0.1 * ready, unsure=self.stolen)
            on_cpu = sum(thread["cpu"] for _, thread in threads)
            work = self.value("work", "compute") - self.value("off CPU", "compute")
            self.found.between("on a CPU", work, 0.96 * on_cpu, 1.02 * on_cpu, of_ends(4, 3 * period), 0.1 * on_cpu,
                               unsure=self.stolen)

    def test_a_sleeper_is_not_ready_because_of_samples(self):
        """With computing threads on its CPU, it waits at each of 200 samples a second to be put to sleep again. What
        it waits at the ends of its naps is its own."""
        for _ in self.looks():
            for own, thread in self.take(3, 1, events=["REALTIME@f200"]):
                if own.kind == "nap":
                    most = own.own + 0.1 * own.wall
                    self.found.between("ready", thread["ready"], 0, most, EXACT, 0.3 * own.wall, unsure=self.stolen)

    def test_short_bursts_have_their_cpu_time(self):
        """Of 2.1 ms a thread works 0.1 ms and sleeps the rest: nearly all samples find it asleep. Work has its CPU time
        all the same. A fault gives that to the sleep, or gives work what the kernel needs for sleeps, 40 % more."""
        for _ in self.looks():
            accounts = self.take(0, 0, 2, events=["REALTIME@f1000"])
            worked = sum(own.own for own, _ in accounts)
            on_cpu = self.value("work", "work_in_turns") - self.value("off CPU", "work_in_turns")
            self.found.between("on a CPU", on_cpu, 0.9 * worked, 1.1 * worked, of_samples(worked, 1.25e-3),
                               0.3 * worked, unsure=self.stolen)


class FromOutside(ReadyTest):
    @profiling.needs_outside
    def test_threads_that_have_ended(self):
        """Their clocks can't be read then. They were read at samples, every 50 ms, whenever hpcrun had a CPU."""
        for events in (["CPUTIME@f200"], ["REALTIME@f200"]):
            with self.subTest(events=events):
                for _ in self.looks():
                    for own, thread in self.take(3, 0, events=events, options=("--outside",)):
                        self.found.between("ready", thread["ready"] or 0, 0.05 * own.ready, 1.01 * own.ready + 0.01,
                                           EXACT, 0.05 * own.ready, unsure=self.stolen)


class Clock(ReadyTest):
    """The metric `wall`: threads that work at the same time share the clock."""

    def wall_of(self, threads, at_once):
        _, (image,) = self.measure(profiling.program("threads"), threads, 200, at_once, events=["CPUTIME@f1000"])
        self.make_database()
        work, period = self.total("work"), image.mean_period("CPUTIME")
        return self.total("wall"), work, of_ends(threads + 1, period)

    def test_one_after_the_other(self):
        """Alone, each pays all its time. When one ends and the next begins, both have samples as working ones."""
        for _ in self.looks():
            wall, work, chance = self.wall_of(3, 1)
            self.found.between("wall", wall, 0.97 * work, 1.001 * work, chance, work / 4)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_two_at_once(self):
        """Half of the time for each, but where others keep one of them from its end."""
        for _ in self.looks():
            wall, work, chance = self.wall_of(2, 2)
            self.found.between("wall", wall, 0.49 * work, 0.54 * work, chance, work / 8, unsure=self.taken_by_others)


class Recovery(ReadyTest):
    def test_a_killed_process(self):
        """It has what its threads knew when they last looked, at their first samples at the latest."""
        self.measure("timeout", "-s", "KILL", "0.5", HUNGRY, 3, 0, 60000, status=-9)
        self.make_database()
        run = json.loads((self.database / "run.json").read_text())
        threads, = (p["threads"] for p in run["processes"] if p["program"] == "hungry")
        sampled = [thread for thread in threads if thread["events"]]
        self.assertGreater(len(sampled), 0)
        for thread in sampled:
            self.assertGreaterEqual(thread["wall"], thread["ready"])


class Quota(ReadyTest):
    @contextlib.contextmanager
    def group(self, per_cent):
        """The words before a command that run it in a group with so much of a CPU."""
        name = f"hpctest-{os.getpid()}"
        v1 = GROUPS / "cpu" / name
        group = v1 if (GROUPS / "cpu" / "cpu.shares").exists() else GROUPS / name
        try:
            group.mkdir()
        except OSError as why:
            raise unittest.SkipTest(f"no control group can be made: {why}")
        try:
            try:
                if group == v1:
                    (group / "cpu.cfs_quota_us").write_text(str(per_cent * 1000))
                else:
                    (group / "cpu.max").write_text(f"{per_cent * 1000} 100000")
            except OSError as why:
                raise unittest.SkipTest(f"a control group takes no quota: {why}")
            yield "sh", "-c", 'echo $$ > "$0"; exec "$@"', group / "cgroup.procs"
        finally:
            subprocess.run(["rmdir", group], check=False)

    def test_a_quota_is_named(self):
        """A thread that computes on a fifth of a CPU is ready for the rest, and the quota has stopped it."""
        with self.group(20) as words:
            for _ in self.looks():
                (own, thread), = self.take(1, 0, events=["CPUTIME@f200"], command=words)
                self.claim_law(own, thread)
                self.assertEqual(self.process["quota"], 0.2)
                self.assertLess(thread["cpu"], 0.5 * thread["wall"])
                self.found.between("throttled", self.process["throttled"], 0, thread["ready"] + 0.1, EXACT,
                                   0.5 * thread["wall"])

    def test_no_quota_is_none(self):
        if (GROUPS / "cpu.max").exists():
            self.skipTest("this process may have a quota itself")
        self.take(1, 0, events=["CPUTIME@f200"])
        self.assertEqual((self.process["quota"], self.process["throttled"]), (None, None))
