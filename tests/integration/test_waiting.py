"""Waiting (hpcprof/metrics/waiting-samples.h) in the runtimes of the system, unchanged and without an agent. The
programs keep ledgers: when they were in their own code, and when they waited."""
import collections
import math
import os
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import profiling
from logical_case import LogicalTest
from structure_case import StructureCase, hpcstruct

SOURCES = profiling.ROOT / "tests" / "programs" / "waiting"
OPENBLAS = pathlib.Path("/usr/lib/x86_64-linux-gnu/openblas-pthread")

Clocks = collections.namedtuple("Clocks", "CPUTIME REALTIME")
Account = collections.namedtuple("Account", "body waiting")


def read_ledger(text):
    """The ledger of each thread."""
    accounts = {}
    for words in map(str.split, text.splitlines()):
        if words and words[0] == "thread":
            numbers = [int(word) / 1e9 for word in words[2:]]
            accounts[int(words[1])] = Account(Clocks(*numbers[:2]), Clocks(*numbers[2:]))
    return accounts


class WaitingCase(LogicalTest):
    measures_time = True
    RATE = 1000
    EVENTS = ("CPUTIME", "REALTIME")

    def build(self, source, *options, compiler="gcc"):
        """Compiles a program, or skips the test."""
        binary = self.directory / "program"
        done = subprocess.run([compiler, "-O2", "-g", "-I", profiling.ROOT, "-o", binary,
                               SOURCES / source, *options], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            self.skipTest(f"{source} can't be built: {done.stderr.splitlines()[0]}")
        return binary

    def run_program(self, *command, **environment):
        events = [f"{event}@f{self.RATE}" for event in self.EVENTS]
        with mock.patch.dict(os.environ, environment):
            done, self.images = self.profile(*command, events=events)
        self.accounts = read_ledger(done.stdout)
        self.threads = {thread["tid"]: thread["metrics"]
                        for thread in self.view(view="threads")["threads"]}

    def deviation(self, event, seconds, threads=1):
        """4 sigma of a sum of that many seconds, plus a period at either end of each thread."""
        period = max(image.mean_period(event) for image in self.images
                     if image.count(event, [profiling.FIRED]))
        return 4 * math.sqrt(13 / 12 * period * seconds) + 2 * period * threads

    def check(self, event, seen, truth, threads=1, what=""):
        self.assertAlmostEqual(seen, truth, msg=f"{event} {what}",
                               delta=self.deviation(event, truth, threads) + 0.01 * truth)

    def check_barriers(self, procedure):
        """All time in the waiting procedure is waiting, as much as the ledger has; the body has none. Wall time
        in which others had the CPU is neither."""
        for event in self.EVENTS:
            truth = sum(getattr(account.waiting, event) for account in self.accounts.values())
            seen = self.value(f"waiting ({event})", procedure)
            self.check(event, seen, truth, len(self.accounts))
            self.assertEqual(self.value(f"waiting ({event})", "body"), 0)
            rest = self.value(f"work ({event})", procedure)
            delayed = len(self.accounts) * self.taken_by_others if event == "REALTIME" else 0
            self.assertLess(rest, 0.03 * truth + delayed + self.deviation(event, 0, len(self.accounts)))

    def check_sum(self):
        """Work and waiting add up to what was recorded."""
        for event in self.EVENTS:
            recorded = sum(image.seconds(event, [profiling.RECORDED]) for image in self.images)
            total = sum(self.tree["metrics"][f"{metric} ({event})"]["inclusive"]
                        for metric in ("work", "waiting"))
            self.assertAlmostEqual(total, recorded, places=6)


class OpenMP(WaitingCase):
    def barriers(self, program):
        for threads in (2, 4):
            for policy in ({"OMP_WAIT_POLICY": "active"}, {"OMP_WAIT_POLICY": "passive"}, {}):
                with self.subTest(threads=threads, policy=policy):
                    self.run_program(program, threads, 3, 30, **policy)
                    self.check_barriers("wait_for_others")
                    self.check_sum()

    def test_libgomp(self):
        self.barriers(self.build("barrier-openmp.c", "-fopenmp"))

    def test_libomp(self):
        include = sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h"))
        options = ["-I", include[0].parent] if include else []
        self.barriers(self.build("barrier-openmp.c", "-fopenmp", *options, compiler="clang"))


class Tbb(WaitingCase):
    def test_workers_without_a_task(self):
        """The time of a worker outside of bodies is waiting, except for its start and the handling of each
        task."""
        program = self.build("loops-tbb.cpp", "-ltbb", compiler="g++")
        self.run_program(program, 2, 5, 60)
        self.check_sum()
        image, = self.images
        waited = 0
        for thread in image.threads[1:]:
            if thread.tid not in self.accounts:
                continue
            recorded = thread.amount("REALTIME", [profiling.RECORDED]) * profiling.TIME_UNIT
            # A worker that always had work has about 0; sampling error can make it negative.
            truth = max(0, recorded - self.accounts[thread.tid].body.REALTIME)
            seen = self.threads[thread.tid]["waiting (REALTIME)"]
            self.assertLess(seen, truth + self.deviation("REALTIME", truth))
            self.assertGreater(seen, 0.9 * truth - self.deviation("REALTIME", truth))
            if truth > self.deviation("REALTIME", truth):
                self.assertGreater(seen, 0)
                waited += 1
        if waited == 0:
            self.skipTest("every worker had work nearly all the time")

    def test_scheduling_is_no_waiting(self):
        program = self.build("loops-tbb.cpp", "-ltbb", compiler="g++")
        self.run_program(program, 1, 2000, 0)
        self.check_sum()
        self.assertEqual(self.tree["metrics"]["waiting (CPUTIME)"]["inclusive"], 0)


class OpenBlas(WaitingCase):
    def test_threads_without_work(self):
        """While the initial thread computes alone, the other one waits; at first it spins."""
        if not (OPENBLAS / "libopenblas.so").exists():
            self.skipTest("libopenblas-pthread-dev is not installed")
        program = self.build("serial-openblas.c", "-I",
                             "/usr/include/x86_64-linux-gnu/openblas-pthread", "-L", OPENBLAS,
                             "-Wl,-rpath," + str(OPENBLAS), "-lopenblas")
        self.run_program(program, 5, 300, 60, OPENBLAS_NUM_THREADS="2")
        self.check_sum()
        (initial, account), = self.accounts.items()
        serial = account.body.REALTIME
        waiting, = (metrics["waiting (REALTIME)"] for tid, metrics in self.threads.items()
                    if tid != initial)
        self.assertGreater(waiting, 0.9 * serial - self.deviation("REALTIME", serial))
        self.assertEqual(self.value("waiting (REALTIME)", "body"), 0)


class Mpi(WaitingCase):
    def test_barrier_of_open_mpi(self):
        program = self.build("barrier-mpi.c", compiler="mpicc")
        version = self.run_tool("mpirun", "--version").stdout
        if "Open MPI" not in version:
            self.skipTest("mpirun is not Open MPI's")
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        self.run_program("mpirun", "--oversubscribe", "-n", 2, program, 5, 30, **root)
        self.check_barriers("wait_for_others")
        self.check_sum()


class Code(StructureCase):
    """The waiting code in structure files (doc/FORMAT-structure.md, attribute `w`)."""

    def setUp(self):
        super().setUp()
        binary = self.folder / "pauses"
        subprocess.run(["gcc", "-O2", "-g", "-o", binary, SOURCES / "pauses.c"], check=True)
        self.code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], check=True,
                                   capture_output=True, text=True).stdout
        self.structure(binary)
        tree = ElementTree.fromstring(hpcstruct("-o", "-", binary).stdout)
        self.procedures = {p.get("n"): p for p in tree.iter("P")}

    def test_loops_that_pause(self):
        pausing = {name: [loop.get("l") for loop in p.iter("L") if loop.get("w") == "pause"]
                   for name, p in self.procedures.items()}
        lines = (SOURCES / "pauses.c").read_text().splitlines()
        at = [str(n) for n, line in enumerate(lines, 1) if "MARK pause" in line]
        self.assertEqual({name: found for name, found in pausing.items() if found},
                         {"spin": at[:1], "spin_again": at[1:]})

    def test_system_calls_that_wait(self):
        waits = {name: p.get("w") for name, p in self.procedures.items() if p.get("w")}
        body = self.code.split("<wait_for_futex>:")[1].split("ret")[0]
        at = int(re.search("([0-9a-f]+):[ \t]*syscall", body)[1], 16)
        self.assertEqual(waits, {"wait_for_futex": f"{{[0x{at:x}-0x{at + 3:x})}}"})


if __name__ == "__main__":
    unittest.main()
