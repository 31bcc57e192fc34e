"""Overhead and idleness compared with what programs measure themselves, and with the lines of their code:
tests/programs/truth/shares.c and sites.c, built by several compilers at several levels."""
import collections
import math
import os
import re

import machine_code
import profiling
from evidence import EXACT, Chance, OfChance, of_share
from logical_case import TOOLS, LogicalTest, procedures, walk
from structure_file import Structure

TRUTH = profiling.ROOT / "tests" / "programs" / "truth"
MINICILK = profiling.ROOT / "runtime-patches" / "minicilk"
COMPILERS = ("gcc", "clang")
LEVELS = ("-O0", "-O1", "-O2", "-O3") if os.environ.get("TEST_ALL") else ("-O0", "-O2", "-O3")


class OverheadTest(LogicalTest):
    def build(self, name, compiler, level):
        binary = self.directory / f"{name}-{compiler}{level}"
        profiling.compile_once(binary, compiler, "-std=c11", "-D_GNU_SOURCE", level, "-g", "-I", MINICILK, "-I", profiling.ROOT,
                               TRUTH / f"{name}.c", profiling.BUILD / "lib" / "libminicilk.a", "-lpthread").check_returncode()
        return binary


class Amounts:
    """Expected or measured amounts of a context, in seconds."""

    def __init__(self, user=0, overhead=0, idleness=0):
        self.user, self.overhead, self.idleness = user, overhead, idleness

    def __add__(self, other):
        return Amounts(self.user + other.user, self.overhead + other.overhead,
                       self.idleness + other.idleness)

    def cpu(self):
        return self.user + self.overhead

    def share_of_overhead(self):
        return self.overhead / self.cpu()

    def share_of_idleness(self):
        return self.idleness / (self.cpu() + self.idleness)


class Truth(OfChance, OverheadTest):
    """Shares of overhead and idleness, by context and in total."""
    measures_time = True

    ROUNDS, SETS, RATE = 2, 110, 4000
    LATE = 0.01  # seconds

    def known(self, output):
        """(phase, context) -> Amounts, from the program's output."""
        found = {}
        for line in output.splitlines():
            phase, context, user, overhead = line.split()
            amounts = Amounts(int(user) * 1e-9, int(overhead) * 1e-9)
            amounts.idleness = amounts.cpu() * self.idle[phase]
            found[phase, context] = amounts
        return found

    def measured(self, known):
        """The same from the views."""
        found = collections.defaultdict(Amounts)
        for path in walk(self.tree):
            names = procedures(path)
            name = {"meet": "waiting"}.get(names[-1] if names else "", names[-1] if names else "")
            phases = [phase for phase in self.idle if phase in names]
            if path[-1]["kind"] == "procedure" and phases and (phases[0], name) in known:
                costs = path[-1]["metrics"]
                found[phases[0], name] += Amounts(*(costs[metric]["inclusive"]
                                                    for metric in ("work", "overhead", "idleness")))
        return found

    def claim_share(self, found, true, samples, seconds, what, small=False):
        """Within 1 % of that many seconds. On a busy machine increments by timers are late, by up to LATE, but none by
        perf (profiling.late); without samples nothing is left to chance. A fault moves a half by 20 % of all, a small part
        by less; twice that if all is small."""
        spread, chance = math.sqrt(max(true * (1 - true), 0)), EXACT
        if samples:
            late = max(0, seconds - samples / self.RATE) * self.has_timers
            chance = of_share(true * seconds, seconds, seconds / samples) + Chance(
                spread**2 * late * self.LATE, min(late, self.LATE))
        self.found.between(what, found * seconds, (true - 0.01) * seconds, (true + 0.01) * seconds, chance,
                           seconds * (0.02 + 0.35 * spread) * (1 + small))

    def check(self, known, measured, recorded, counted):
        everything = sum(known.values(), Amounts())
        density = recorded / everything.cpu()
        all_measured = self.tree["metrics"]
        # In total, over all contexts.
        in_all = Amounts(*(all_measured[m]["inclusive"] for m in ("work", "overhead", "idleness")))
        self.check_time(in_all.cpu(), everything.cpu(), counted, 1.5 * self.workers / self.RATE)
        self.claim_share(in_all.share_of_overhead(), everything.share_of_overhead(), recorded,
                         everything.cpu(), "all")
        burning = {key: amounts for key, amounts in known.items() if key[1] != "waiting"}
        groups = {key: [key] for key in burning}
        for part in (0, 1):
            for name in {key[part] for key in burning}:
                groups[name] = [key for key in burning if key[part] == name]
        for what, keys in groups.items():
            true = sum((known[key] for key in keys), Amounts())
            found = sum((measured[key] for key in keys), Amounts())
            samples = density * true.cpu()
            self.claim_share(found.share_of_overhead(), true.share_of_overhead(), samples,
                             true.cpu(), f"overhead in {what}", len(keys) == 1)
            self.claim_share(found.cpu() / in_all.cpu(), true.cpu() / everything.cpu(), recorded,
                             everything.cpu(), f"time in {what}")
            # Every sample pays what its phase says, so only mixed phases have a variance.
            mixed = len({self.idle[phase] for phase, _ in keys}) > 1
            self.claim_share(found.share_of_idleness(), true.share_of_idleness(),
                             samples if mixed else 0, true.cpu(), f"idleness in {what}", len(keys) == 1)

    def truth_of(self, compiler, level, workers=4, **how):
        binary = self.build("shares", compiler, level)
        self.workers = workers
        # Idle workers per working one.
        self.idle = {phase: workers / working - 1
                     for phase, working in (("alone", 1), ("half", workers // 2), ("full", workers))}
        for _ in self.looks():
            done, images = self.profile(binary, workers, self.ROUNDS, self.SETS,
                                        options=("--cores", str(workers)),
                                        events=[f"CPUTIME@f{self.RATE}"], **how)
            known = self.known(done.stdout)
            recorded = sum(image.count("CPUTIME", [profiling.RECORDED]) for image in images)
            self.check(known, self.measured(known), recorded, sum(image.cpu for image in images))

    def test_gcc(self):
        self.truth_of("gcc", "-O2")

    def test_clang(self):
        self.truth_of("clang", "-O3")

    def test_without_perf(self):
        """No more workers than CPUs of the smallest machine. If threads that read their CPU clocks take turns, ticks
        of the kernel may hit the same one for tens of ms (burn.h), and the timers of the others' CPU time are
        as late."""
        self.truth_of("clang", "-O1", workers=2, deny_perf=True)


class SpawnSites(OfChance, OverheadTest):
    """Code next to a spawn stays the user's, at every level of optimization."""

    BODIES = ("user", "inner", "leaf", "library_leaf", "runtime", "large")
    LINES = {number for number, line in enumerate((TRUTH / "sites.c").read_text().splitlines(), 1)
             if "/* SPAWN */" in line}

    def for_each_build(self, check, levels=LEVELS):
        for compiler in COMPILERS:
            for level in levels:
                with self.subTest(compiler, level=level):
                    check(self.build("sites", compiler, level))

    def check_instruction(self, body, i, structure):
        """Returns the line of its spawn, if that is what it calls."""
        statement = structure.at(i.address)
        if not statement:
            self.assertRegex(i.text, r"nop|^xchg +%ax,%ax$")  # after the function
            return None
        tags = [scope.tag for scope in statement.chain() if scope.tag]
        self.assertEqual(bool(tags), i.tagged(), f"{body} {i.address:x} {i.text}")
        call = re.match(r"call\w*\s+[0-9a-f]+ <(\w+)(?:@plt)?>", i.text)
        if call and not call[1].startswith("minicilk_"):
            self.assertFalse(tags, i.text)
        # Code that a compiler merged from several spawns has no line and no tag; minicilk_lost ends a program
        # whose body is wrong.
        elif call and call[1] != "minicilk_lost" and i.places[-1][2]:
            self.assertTrue(tags, i.text)
        return i.places[0][2] if call and call[1] in self.BODIES else None

    def check_instructions(self, binary):
        structure = Structure(self.run_tool(TOOLS / "hpcstruct", "-o", "-", binary).stdout)
        lines = {self.check_instruction(body, i, structure) for body in self.BODIES
                 for i in machine_code.instructions(binary, body)}
        self.assertEqual(lines - {None}, self.LINES)

    def test_instructions(self):
        """hpcstruct tags exactly the instructions with a tag in their debug information. Calls of the user's code are
        not tagged, those of the runtime's are."""
        self.for_each_build(self.check_instructions)

    def paid(self, tree, metric, below, names):
        """{path: amount paid in procedures of such names below it}."""
        return {" ".join(procedures(path)): path[-1]["metrics"][metric]["inclusive"]
                for path in walk(tree) if path[-1]["kind"] == "procedure"
                and below in procedures(path) and re.search(names, path[-1]["name"])
                and path[-1]["metrics"][metric]["inclusive"]}

    def check_samples(self, binary):
        for found in self.looks():
            self.profile(binary, 700, events=["CPUTIME@f2000"])
            # Procedures that the runtime calls are in physical paths only.
            for tree in (self.tree, self.view("--physical")["root"]):
                for names in ("^burn$", "memset"):
                    found.enough(f"paths with {names}", len(self.paid(tree, "work", "user", names)), 1)
                    self.assertEqual(self.paid(tree, "overhead", "user", names), {})
                self.assertEqual(self.paid(tree, "work", "runtime", "malloc|free"), {})
            found.enough("paths with malloc or free", len(self.paid(tree, "overhead", "runtime", "malloc|free")), 1)

    def test_samples(self):
        """Below a spawn site, no sample in procedures called by the user's code is overhead; every sample in
        procedures called by the runtime's part of a spawn is."""
        self.for_each_build(self.check_samples, LEVELS if os.environ.get("TEST_ALL") else ("-O0", "-O2"))
