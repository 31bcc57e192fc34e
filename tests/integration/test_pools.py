"""Thread pools of runtimes without an agent: gcc's OpenMP and oneTBB. The first parallel loop, a trivial one,
starts the pool's threads. The tree must have only a loop's own work below its call, and the work of the pool's
threads below <thread root>. Expectations come from the program's ledger of CPU time (tests/programs/pools/phase-
ledger.h)."""
import os
import unittest
import unittest.mock

from evidence import OfChance, of_ends
from logical_case import LogicalTest, walk
import profiling

SOURCES = profiling.ROOT / "tests/programs/pools"
PHASES = ("one", "two", "three")
CALLS = 16  # at most, to a phase's work in a thread; each begins and ends anywhere between two samples


def is_of(name, node):
    """Whether a row is that procedure, or a part of it that the compiler turned into a procedure."""
    return node["kind"] == "procedure" and node["name"].split("(")[0] == name


class Pools(OfChance, LogicalTest):
    def build(self, name, *flags):
        program = self.directory / name
        made = profiling.compile_once(program, "g++", "-O2", "-g", f"-I{profiling.ROOT}", SOURCES / f"{name}.cc", *flags)
        if made.returncode != 0:
            self.skipTest(f"g++ {' '.join(flags)} does not build {name}.cc: {made.stderr.splitlines()[0]}")
        return program

    def profiled(self, program, **environment):
        with unittest.mock.patch.dict(os.environ, environment):
            # An agent that knows the runtime has its threads' work where it was created: test_openmp.
            done, images = self.profile(program, events=("CPUTIME@f2000",), options=("--agent", "none"))
        self.chance = of_ends(CALLS, max(image.mean_period("CPUTIME") for image in images
                                         if image.count("CPUTIME", [profiling.FIRED])))
        return {name: [int(word) * 1e-9 for word in words]
                for name, *words in map(str.split, done.stdout.splitlines())}

    def outermost(self, name):
        """The paths to the procedure that do not pass it before."""
        return [path for path in walk(self.tree)
                if is_of(name, path[-1]) and not any(is_of(name, node) for node in path[:-1])]

    def work_of(self, paths):
        return sum(path[-1]["metrics"]["work"]["inclusive"] for path in paths)

    def claim(self, what, paths, burned, counted):
        """A fault moves a third of a phase's work, from the large phase to the small one or back."""
        self.found.time(what, self.work_of(paths), burned, counted, self.chance + self.late(CALLS),
                        notices=max(self.moved, burned / 3) / burned if burned else 1 / 3)

    def check_phase(self, phase, burned, counted, by_others, counted_by_others, clock):
        called = [path for path in self.outermost(f"phase_{phase}") if path[1]["name"] == "main thread"]
        self.claim(f"{phase} called", called, burned, clock)
        work = self.outermost(f"work_of_{phase}")
        below, elsewhere = ([path for path in work if (path[1]["name"] == "main thread") == own] for own in (True, False))
        self.claim(f"{phase} below", below, burned, counted)
        self.claim(f"{phase} elsewhere", elsewhere, by_others, counted_by_others)
        for path in below:
            phases = [other for other in PHASES if any(is_of(f"phase_{other}", node) for node in path)]
            self.assertEqual(phases, [phase])
        for path in elsewhere:
            self.assertEqual(path[1]["name"], "<thread root>")

    def check(self, ledger):
        self.assertEqual(tuple(ledger), PHASES)
        self.moved = max(burned for burned, *_ in ledger.values()) / 3
        for phase in PHASES:
            self.check_phase(phase, *ledger[phase])
        roots = [node for node in self.tree["children"] if node["name"] == "<thread root>"]
        for root in roots:
            names = [child["name"] for child in root["children"]]
            self.assertEqual(len(names), 1, names)  # the pool's start routine only

    def test_gcc_openmp(self):
        program = self.build("phases", "-fopenmp")
        for threads in (2, 4, 8):
            with self.subTest(threads=threads):
                self.check_runs(program, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive")

    def check_runs(self, program, **environment):
        for _ in self.looks():
            self.check(self.profiled(program, **environment))

    def test_onetbb(self):
        self.check_runs(self.build("phases", "-ltbb"))
