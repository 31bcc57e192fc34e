"""Waiting (hpcprof/metrics/waiting-samples.h) in the runtimes of the system, unchanged and without an agent. The
programs keep ledgers: when they were in their own code, and when they waited."""
import collections
import math
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import profiling
from evidence import OfChance, of_ends, of_samples
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


class WaitingCase(OfChance, LogicalTest):
    measures_time = True
    RATE = 4000
    EVENTS = claimed_events = ("CPUTIME", "REALTIME")

    def build(self, source, *options, compiler="gcc"):
        """Compiles a program, or skips the test."""
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        binary = self.directory / "program"
        done = profiling.compile_once(binary, compiler, "-O2", "-g", "-I", profiling.ROOT, SOURCES / source, *options)
        if done.returncode != 0:
            self.skipTest(f"{source} can't be built: {done.stderr.splitlines()[0]}")
        return binary

    def run_program(self, *command, **environment):
        events = [f"{event}@f{self.RATE}" for event in self.EVENTS]
        with mock.patch.dict(os.environ, environment):
            done, self.images = self.profile(*command, events=events, options=("--agent", "none"))
        self.accounts = read_ledger(done.stdout)
        self.serial = sum(int(ns) for ns in re.findall(r"^serial (\d+)$", done.stdout, re.M)) * 1e-9
        self.threads = {thread["tid"]: thread["metrics"]
                        for thread in self.view(view="threads")["threads"]}

    def chance(self, event, seconds, threads=1):
        """Of a sum of that many seconds in so many threads."""
        period = max(image.mean_period(event) for image in self.images
                     if image.count(event, [profiling.FIRED]))
        return of_samples(seconds, period) + of_ends(threads, period)

    def claim_barriers(self, procedure):
        """All time in the waiting procedure is waiting, as much as the ledger has, within 1 %, or time without a CPU;
        the body has none. If
        others have the CPU while a thread goes into waiting or out of it, that wall time is no waiting. A fault moves a
        quarter of the waiting."""
        threads = len(self.accounts)
        for event in self.claimed_events:
            truth = sum(getattr(account.waiting, event) for account in self.accounts.values())
            whole = truth + sum(getattr(account.body, event) for account in self.accounts.values())
            seen, rest = (self.value(f"{metric} ({event})", procedure) for metric in ("waiting", "work"))
            ready = self.value("ready (REALTIME)", procedure) if event == "REALTIME" else 0
            chance, fault = self.chance(event, truth, threads), truth / 4 + whole / 20
            delayed = threads * self.taken_by_others if event == "REALTIME" else 0
            self.found.between(f"{event} least", seen + ready, 0.99 * truth, math.inf, chance, fault, delayed, too_high=0)
            self.found.between(f"{event} most", seen, -math.inf, 1.01 * truth, chance, fault)
            self.found.between(f"{event} no waiting", rest, -math.inf, 0.03 * truth,
                               self.chance(event, 0.03 * truth, threads), fault, unsure=0, too_high=delayed)
            self.assertEqual(self.value(f"waiting ({event})", "body"), 0)

    def check_sum(self):
        """Work and waiting, and on the wall clock time without a CPU, add up to what was recorded."""
        for event in self.EVENTS:
            recorded = sum(image.seconds(event, [profiling.RECORDED]) for image in self.images)
            total = sum(self.tree["metrics"][f"{metric} ({event})"]["inclusive"]
                        for metric in ("work", "waiting", *["ready"][event != "REALTIME":]))
            self.assertAlmostEqual(total, recorded, places=6)


class OpenMP(WaitingCase):
    # While a thread waits, it uses CPU time in pieces of some microseconds: for the samples of REALTIME. Without perf
    # events CPU time is sampled at ticks, which hardly ever meet one.
    claimed_events = ("REALTIME",) if profiling.PERF_IS_REFUSED else WaitingCase.EVENTS

    def barriers(self, program):
        for event in set(self.EVENTS) - set(self.claimed_events):
            with self.subTest(event=event):
                self.skipTest("perf events are refused: ticks are longer than what is to be seen")
        active, passive = ({"OMP_WAIT_POLICY": policy} for policy in ("active", "passive"))
        for threads, policies in ((2, (active, passive, {})), (4, (passive,))):
            for policy in policies:
                with self.subTest(threads=threads, policy=policy):
                    for _ in self.looks():
                        self.run_program(program, threads, 3, 30, **policy)
                        self.claim_barriers("wait_for_others")
                        self.check_sum()

    def test_libgomp(self):
        self.barriers(self.build("barrier-openmp.c", "-fopenmp"))

    def test_libomp(self):
        include = sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h"))
        options = ["-I", include[0].parent] if include else []
        self.barriers(self.build("barrier-openmp.c", "-fopenmp", *options, compiler="clang"))


class Tbb(WaitingCase):
    def test_workers_without_a_task(self):
        """In each round the worker has an iteration as long as the main thread's; then the main thread is alone for a
        time that is known. All of that is the worker's waiting, and nothing that it worked."""
        program = self.build("loops-tbb.cpp", "-ltbb", compiler="g++")
        for _ in self.looks():
            self.run_program(program, 2, 5, 60)
            self.check_sum()
            (image,), serial = self.images, self.serial
            worker, = (thread for thread in image.threads[1:] if thread.tid in self.accounts)
            waiting, ready = (self.threads[worker.tid][f"{name} (REALTIME)"] for name in ("waiting", "ready"))
            outside = worker.amount("REALTIME", [profiling.RECORDED]) * profiling.TIME_UNIT - \
                self.accounts[worker.tid].body.REALTIME
            # The way into waiting and out of it is short, unless others have the CPU.
            chance = self.chance("REALTIME", outside)
            self.found.between("least", waiting + ready, 0.95 * serial, math.inf, chance, serial / 3, too_high=ready)
            self.found.between("most", waiting, -math.inf, outside, chance, serial / 3)

    def test_scheduling_is_no_waiting(self):
        """A single thread runs 8 million tasks. It waits at most for the end of the last one of a loop."""
        program = self.build("loops-tbb.cpp", "-ltbb", compiler="g++")
        for _ in self.looks():
            self.run_program(program, 1, 2000, 0)
            self.check_sum()
            image, = self.images
            samples = image.count("CPUTIME", [profiling.RECORDED])
            waiting = self.tree["metrics"]["waiting (CPUTIME)"]["inclusive"] / image.mean_period("CPUTIME")
            self.found.rate("samples that wait", round(waiting), samples, most=0.005, noticed=(0, 0.1))


class OpenBlas(WaitingCase):
    def test_threads_without_work(self):
        """While the initial thread computes alone, the other one waits; at first it spins."""
        if not (OPENBLAS / "libopenblas.so").exists():
            self.skipTest("libopenblas-pthread-dev is not installed")
        if len(os.sched_getaffinity(0)) == 1:
            self.skipTest("needs two CPUs")  # OpenBLAS makes no more threads
        program = self.build("serial-openblas.c", "-I",
                             "/usr/include/x86_64-linux-gnu/openblas-pthread", "-L", OPENBLAS,
                             "-Wl,-rpath," + str(OPENBLAS), "-lopenblas")
        for _ in self.looks():
            self.run_program(program, 5, 300, 60, OPENBLAS_NUM_THREADS="2")
            self.check_sum()
            (initial, account), = self.accounts.items()
            serial = account.body.REALTIME
            other, = (metrics for tid, metrics in self.threads.items() if tid != initial)
            waiting, ready = other["waiting (REALTIME)"], other["ready (REALTIME)"]
            self.found.between("waiting", waiting + ready, 0.95 * serial, math.inf, self.chance("REALTIME", serial),
                               serial / 3, too_high=ready)
            self.assertEqual(self.value("waiting (REALTIME)", "body"), 0)


class Mpi(WaitingCase):
    def test_barrier_of_open_mpi(self):
        program = self.build("barrier-mpi.c", compiler="mpicc")
        version = self.run_tool("mpirun", "--version").stdout
        if "Open MPI" not in version:
            self.skipTest("mpirun is not Open MPI's")
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for _ in self.looks():
            self.run_program("mpirun", "--oversubscribe", "-n", 2, program, 12, 30, **root)
            self.claim_barriers("wait_for_others")
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
                         {"spin": at[:1], "spin_again": at[1:2], "spin_by_nops": at[2:]})

    def test_system_calls_that_wait(self):
        waits = {name: p.get("w") for name, p in self.procedures.items() if p.get("w")}
        body = self.code.split("<wait_for_futex>:")[1].split("ret")[0]
        at = int(re.search("([0-9a-f]+):[ \t]*syscall", body)[1], 16)
        self.assertEqual(waits, {"wait_for_futex": f"{{[0x{at:x}-0x{at + 3:x})}}"})
