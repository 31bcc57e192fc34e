"""The whole chain on programs whose shares of time are known by construction: hpcrun, hpcstruct,
hpcprof, hpcviewer --print json. No expected value comes from our own output."""
import math
import subprocess

import profiling
import viewer
from evidence import Chance, OfChance, of_share
from logical_case import LogicalTest, procedures, walk

SOURCES = profiling.ROOT / "tests" / "programs" / "truth"


def marked_line(words):
    for number, line in enumerate((SOURCES / "truth.c").read_text().splitlines(), 1):
        if f"MARK {words} " in line:
            return number
    raise LookupError(words)


def inclusive(node):
    return node["metrics"]["work"]["inclusive"]


def exclusive(node):
    return node["metrics"]["work"]["exclusive"]


class TruthCase(OfChance, LogicalTest):
    measures_time = True
    cpus_needed = 1
    RATE = 4000

    def profile_program(self, program, seconds, compiler, level, **how):
        binary = self.directory / program
        subprocess.run([compiler, level, "-g", "-o", binary, SOURCES / f"{program}.c"], check=True)
        done, images = self.measure(binary, seconds, events=[f"CPUTIME@f{self.RATE}"], **how)
        self.dropped = sum(image.seconds("CPUTIME", profiling.DROPPED) for image in images)
        self.burned, self.squares, self.longest = map(float, done.stdout.split())
        self.make_database()
        self.samples = self.view(view="summary")["processes"][0]["recorded"]

    def claim_share(self, seconds, parts, what):
        """Within 1 % of all. What halted a round (tests/programs/truth/rounds.h) is all in one part, which is left to
        chance. A fault moves half of all by 8 % of all, a small part by less."""
        truth, spread = parts / 100, math.sqrt(parts / 100 * (1 - parts / 100))
        halts = Chance(spread**2 * self.squares, self.longest)
        self.found.between(what, seconds, (truth - 0.01) * self.total, (truth + 0.01) * self.total,
                           of_share(truth * self.total, self.total, self.total / self.samples) + halts,
                           self.total * (0.01 + 0.14 * spread))


class Truth(TruthCase):
    SECONDS = 1.2

    def look(self, compiler, level, **how):
        self.profile_program("truth", self.SECONDS, compiler, level, **how)
        self.views = {view: self.view(view=view)
                      for view in ("top-down", "bottom-up", "flat", "summary")}
        self.everything = inclusive(self.views["top-down"]["root"])
        self.total = self.sum_paths("top-down", inclusive, lambda p: p[-1]["name"] == "main"
                                    and p[-1]["kind"] == "procedure")

    def sum_paths(self, view, of, wanted):
        """The sum of `of` over the nodes whose path satisfies `wanted`."""
        return sum(of(path[-1]) for path in walk(self.views[view]["root"]) if wanted(path))

    def check(self):
        names = lambda path: [node["name"] for node in path]
        # By call path: unit below each of its callers.
        for caller, parts in (("one", 1), ("two", 2), ("three", 3), ("four", 4)):
            seconds = self.sum_paths("top-down", inclusive, lambda p: p[-1]["name"] == "unit"
                                     and procedures(p)[-2] == caller)
            self.claim_share(seconds, parts, f"{caller} calls unit")
        # By procedure, inclusive, in all three views.
        expected = {"unit": 10, "one": 1, "two": 2, "three": 3, "four": 4, "loops": 30, "early": 10,
                    "late": 30, "lines": 20, "main": 100}
        for name, parts in expected.items():
            for view in ("bottom-up", "flat"):
                level = 1 if view == "bottom-up" else None
                seconds = self.sum_paths(view, inclusive, lambda p: p[-1]["name"] == name
                                         and p[-1]["kind"] == "procedure"
                                         and (level is None or len(p) == 2))
                self.claim_share(seconds, parts, f"{name} in {view}")
        # Exclusive: what is inlined is not the procedure's own.
        for name, parts in {"unit": 0, "early": 0, "late": 0, "loops": 30, "lines": 20}.items():
            seconds = self.sum_paths("bottom-up", exclusive,
                                     lambda p: p[-1]["name"] == name and len(p) == 2)
            self.claim_share(seconds, parts, f"{name} exclusive")
        # Inlined code, altogether and by its call sites.
        seconds = self.sum_paths("bottom-up", inclusive, lambda p: p[-1]["name"] == "chain"
                                 and p[-1]["kind"] == "inlined" and len(p) == 2)
        self.claim_share(seconds, 50, "chain in bottom-up")
        for caller, parts in (("early", 10), ("late", 30), ("unit", 10)):
            seconds = self.sum_paths("flat", inclusive, lambda p: p[-1]["name"] == "chain"
                                     and p[-1]["kind"] == "inlined" and procedures(p)[-1] == caller)
            self.claim_share(seconds, parts, f"chain in {caller}")
        # By loop.
        for mark, parts in (("first loop", 10), ("second loop", 20), ("lines loop", 20),
                            ("chain loop", 50)):
            line = marked_line(mark)
            seconds = self.sum_paths("flat", inclusive,
                                     lambda p: p[-1]["kind"] == "loop" and p[-1]["line"] == line)
            self.claim_share(seconds, parts, mark)
        # By line.
        for mark, parts in (("short line", 5), ("long line", 15)):
            line = marked_line(mark)
            seconds = self.sum_paths("flat", inclusive,
                                     lambda p: p[-1]["kind"] == "statement" and p[-1]["line"] == line)
            self.claim_share(seconds, parts, mark)
        # The time itself. Outside of main is no more than what was not burned.
        cpu = self.views["summary"]["processes"][0]["cpu"]
        for total in (self.total, self.everything):
            self.check_time(total, self.burned - self.dropped, cpu, 1.5 / self.RATE)
        self.assertLess(self.everything - self.total, 0.01 * self.total + cpu - self.burned)

    def truth_of(self, *how, **more):
        for _ in self.looks():
            self.look(*how, **more)
            self.check()

    def test_gcc(self):
        self.truth_of("gcc", "-O2")

    def test_clang(self):
        self.truth_of("clang", "-O2")

    def test_without_perf(self):
        self.truth_of("gcc", "-O3", deny_perf=True)


class OverheadTruth(TruthCase):
    """Shares of overhead, and of its kinds."""

    KINDS = {"spawn": 20, "sync": 10, "steal": 6, "other": 4}

    def look(self, compiler, level):
        self.profile_program("kinds", 1.2, compiler, level)
        names = ["work", "overhead", *("overhead:" + kind for kind in self.KINDS)]
        found = self.view("--metrics", ",".join(names), view="flat")["root"]["metrics"]
        found = {name: cost["inclusive"] for name, cost in found.items()}
        self.total = found["work"] + found["overhead"]
        self.claim_share(found["work"], 60, "work")
        self.claim_share(found["overhead"], 40, "overhead")
        for kind, parts in self.KINDS.items():
            self.claim_share(found["overhead:" + kind], parts, kind)

    def test_kinds(self):
        for compiler, level in (("gcc", "-O2"), ("clang", "-O1")):
            with self.subTest(compiler):
                for _ in self.looks():
                    self.look(compiler, level)
                # No agent took part: idleness is unknown, and 40 % of overhead is high anyway.
                found = viewer.parallelization(self.view(view="summary"))
                if not found and self.taken_by_others > 0.05:
                    self.skipTest("others had the CPUs: the advice is about them")
                advice, = found
                self.assertEqual((advice["verdict"], advice["idleness_state"]),
                                 ("high overhead", "not measurable"))
