"""The whole chain on programs whose shares of time are known by construction: hpcrun, hpcstruct,
hpcprof, hpcviewer --print json. No expected value comes from our own output."""
import json
import math
import os
import subprocess

import profiling

SOURCE = profiling.ROOT / "tests" / "programs" / "truth" / "truth.c"
TOOLS = profiling.BUILD / "bin"


def marked_line(words):
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if f"MARK {words} " in line:
            return number
    raise LookupError(words)


def walk(node, path=()):
    path = path + (node,)
    yield path
    for child in node.get("children", []):
        yield from walk(child, path)


def inclusive(node):
    return node["metrics"]["work"]["inclusive"]


def exclusive(node):
    return node["metrics"]["work"]["exclusive"]


class Truth(profiling.ProfilingTest):
    RATE, SECONDS = 4000, 4

    def profile(self, compiler, level, **how):
        binary = self.directory / "truth"
        subprocess.run([compiler, level, "-g", "-o", binary, SOURCE], check=True)
        self.measure(binary, self.SECONDS, events=[f"CPUTIME@f{self.RATE}"], **how)
        database = self.directory / "database"
        done = self.run_tool(TOOLS / "hpcprof", "-o", database, self.measurements,
                             env=dict(os.environ, XDG_CACHE_HOME=str(self.directory / "cache")))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.views = {}
        for view in ("top-down", "bottom-up", "flat", "summary"):
            done = self.run_tool(TOOLS / "hpcviewer", "--print", view, "--format", "json", database)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.views[view] = json.loads(done.stdout)
        self.samples = self.views["summary"]["processes"][0]["recorded"]
        self.assertGreater(self.samples, 0.9 * self.RATE * self.SECONDS)
        self.total = inclusive(self.views["top-down"]["root"])

    def assert_share(self, seconds, parts, what):
        """Within 4 sigma + 1 %; increments vary uniformly by half, which adds a twelfth to the variance."""
        truth = parts / 100
        sigma = math.sqrt(truth * (1 - truth) / self.samples * 13 / 12)
        self.assertAlmostEqual(seconds / self.total, truth, delta=4 * sigma + 0.01, msg=what)

    def sum_paths(self, view, of, wanted):
        """The sum of `of` over the nodes whose path satisfies `wanted`."""
        return sum(of(path[-1]) for path in walk(self.views[view]["root"]) if wanted(path))

    def check(self):
        names = lambda path: [node["name"] for node in path]
        procedures = lambda path: [n["name"] for n in path if n["kind"] == "procedure"]
        # By call path: unit below each of its callers.
        for caller, parts in (("one", 1), ("two", 2), ("three", 3), ("four", 4)):
            seconds = self.sum_paths("top-down", inclusive, lambda p: p[-1]["name"] == "unit"
                                     and procedures(p)[-2] == caller)
            self.assert_share(seconds, parts, f"{caller} calls unit")
        # By procedure, inclusive, in all three views.
        expected = {"unit": 10, "one": 1, "two": 2, "three": 3, "four": 4, "loops": 30, "early": 10,
                    "late": 30, "lines": 20, "main": 100}
        for name, parts in expected.items():
            for view in ("bottom-up", "flat"):
                level = 1 if view == "bottom-up" else None
                seconds = self.sum_paths(view, inclusive, lambda p: p[-1]["name"] == name
                                         and p[-1]["kind"] == "procedure"
                                         and (level is None or len(p) == 2))
                self.assert_share(seconds, parts, f"{name} in {view}")
        # Exclusive: what is inlined is not the procedure's own.
        for name, parts in {"unit": 0, "early": 0, "late": 0, "loops": 30, "lines": 20}.items():
            seconds = self.sum_paths("bottom-up", exclusive,
                                     lambda p: p[-1]["name"] == name and len(p) == 2)
            self.assert_share(seconds, parts, f"{name} exclusive")
        # Inlined code, altogether and by its call sites.
        seconds = self.sum_paths("bottom-up", inclusive, lambda p: p[-1]["name"] == "chain"
                                 and p[-1]["kind"] == "inlined" and len(p) == 2)
        self.assert_share(seconds, 50, "chain in bottom-up")
        for caller, parts in (("early", 10), ("late", 30), ("unit", 10)):
            seconds = self.sum_paths("flat", inclusive, lambda p: p[-1]["name"] == "chain"
                                     and p[-1]["kind"] == "inlined" and procedures(p)[-1] == caller)
            self.assert_share(seconds, parts, f"chain in {caller}")
        # By loop.
        for mark, parts in (("first loop", 10), ("second loop", 20), ("lines loop", 20),
                            ("chain loop", 50)):
            line = marked_line(mark)
            seconds = self.sum_paths("flat", inclusive,
                                     lambda p: p[-1]["kind"] == "loop" and p[-1]["line"] == line)
            self.assert_share(seconds, parts, mark)
        # By line.
        for mark, parts in (("short line", 5), ("long line", 15)):
            line = marked_line(mark)
            seconds = self.sum_paths("flat", inclusive,
                                     lambda p: p[-1]["kind"] == "statement" and p[-1]["line"] == line)
            self.assert_share(seconds, parts, mark)
        # The time itself.
        cpu = self.views["summary"]["processes"][0]["cpu"]
        self.assertAlmostEqual(self.total, cpu, delta=0.02 * cpu)

    def test_gcc(self):
        self.profile("gcc", "-O2")
        self.check()

    def test_clang(self):
        self.profile("clang", "-O2")
        self.check()

    def test_without_perf(self):
        self.profile("gcc", "-O3", deny_perf=True)
        self.check()
