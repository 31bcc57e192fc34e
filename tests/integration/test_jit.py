"""Code that the program makes at run time: its call paths, with no unwind information, and its names,
from the perf map that the program writes."""
import math
import os
import pathlib
import re
import shutil

import profiling
from evidence import OfChance, of_ends, of_samples, of_share
from logical_case import LogicalTest, procedures, walk
from profiling import program

UNKNOWN = "<unknown code>"


class PerfMap(OfChance, LogicalTest):
    def remove_map(self, pid):
        for name in (f"/tmp/perf-{pid}.map", f"/tmp/perf-{pid}.map.target"):
            pathlib.Path(name).unlink(missing_ok=True)

    def calls(self, how, status=0):
        """Runs the program; what it knows of itself: [([caller, outer, inner], seconds, neighbors' seconds)]."""
        done, images = self.measure(program("jit"), how, 60, events=("CPUTIME@f5000",))
        for image in images:
            self.remove_map(image.pid)
        self.check_fates(images)
        self.period = max(image.mean_period("CPUTIME") for image in images)
        self.analyse()
        lines = [line.split(":") for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), 6)
        return [(names, int(ns) * 1e-9, int(neighbors) * 1e-9) for *names, ns, neighbors in lines]

    def below(self, names):
        """The time of all contexts whose last procedures are these: C's may go on."""
        return sum(path[-1]["metrics"]["work"]["inclusive"] for path in walk(self.tree)
                   if path[-1]["kind"] == "procedure" and procedures(path)[-len(names):] == names)

    def check(self, how, shown=lambda name: name):
        """The time of each call is below its path, but for the reading of clocks; `shown` says how names are shown."""
        for evidence in self.looks():
            for names, seconds, neighbors in self.calls(how):
                caller, *callees = map(shown, names)
                seen = sum(self.below(["main", "run", caller, *below]) for below in (callees, ["clock_gettime"]))
                evidence.time(" ".join(names), seen, seconds, seconds, of_ends(2, self.period) + self.late(2),
                              notices=0.25, unsure=neighbors)

    def test_names_and_call_paths(self):
        """Later lines win, and lines that no one understands cost only themselves."""
        self.check("good")

    def test_a_child_goes_on_in_the_code_of_its_parent(self):
        self.check("fork")

    def test_a_child_that_has_other_names(self):
        """It makes code where its parent had some: the child's map counts."""
        self.check("renamed", lambda name: name if name.startswith("c") else f"new {name}")

    def test_a_large_map(self):
        """It is copied in many pieces; a line may be in two of them."""
        self.check("large")

    def test_maps_that_are_not_the_program_s(self):
        for how in ("none", "link", "old") + (("foreign",) if os.geteuid() == 0 else ()):
            with self.subTest(how):
                self.check(how, lambda name: name if name.startswith("c") else UNKNOWN)

    def test_garbage_costs_one_line(self):
        done = self.run_tool(profiling.HPCRUN, "-e", "CPUTIME@f1000", "-o", "m", program("jit"), "garbage", 20)
        self.assertEqual(done.returncode, 0, done.stderr)
        images = profiling.read_measurements(self.directory / "m")
        for image in images:
            self.remove_map(image.pid)
        self.assertEqual(len([line for image in images for line in image.problems if "perf map" in line]), 1)
        done = self.run_tool(profiling.BUILD / "bin" / "hpcprof", "-o", "db", "m")
        self.assertEqual(len([line for line in done.stderr.splitlines() if "perf map" in line]), 1)
        self.assertNotEqual(done.returncode, 0)

    def profile_node(self, *arguments):
        _, images = self.profile("node", *arguments)
        for image in images:
            self.remove_map(image.pid)
        self.period = max(image.mean_period("CPUTIME") for image in images)

    def test_node(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        script = self.directory / "work.js"
        script.write_text("""
            function hotInner(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
            function hotOuter(n) { let s = 0; for (let i = 0; i < n; i++) s += hotInner(20000); return s; }
            const end = process.cpuUsage().user + 1000000;
            let s = 0;
            while (process.cpuUsage().user < end) s += hotOuter(10);
            """)
        for evidence in self.looks():
            self.profile_node("--perf-basic-prof", script)
            paths = [(procedures(path), path[-1]["metrics"]["work"]["exclusive"]) for path in walk(self.tree)]
            # Called from interpreted code, which has no names, or inlined: one of the two is there.
            hot = [(names, seconds) for names, seconds in paths if any("work.js" in name for name in names)]
            inside = sum(seconds for _, seconds in hot)
            started = sum(seconds for names, seconds in hot if any(name.startswith("node::Start") for name in names))
            # The script ends after a second of all threads' CPU time. V8's other threads have a small part of it.
            evidence.between("in the script", inside, 0.8, math.inf, of_samples(1, self.period), 0.25)
            evidence.between("called from the start", started, 0.95 * inside, math.inf,
                             of_share(started, inside, self.period), 0.1)

    CALLERS = {"c0": {"c1", "c5b"}, "c1": {"c2b"}, "c2b": {"c2"}, "c2": {"c3"}, "c3": {"c4"}, "c4": {"c5"},
               "c5b": {"c5"}, "c5": {""}}

    def test_callers_in_node(self):
        """Every function has its true caller: interpreted and compiled code, by all of V8's compilers."""
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        script = self.directory / "chain.js"
        script.write_text("""
            function c0(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
            function c1(n) { let s = 0; for (let i = 0; i < 20; i++) s += c0(n + i); return s + 1; }
            function c2(n) { return [n, n + 1, n + 2].reduce(function c2b(s, x) { return s + c1(x); }, 0); }
            class C { c3(n, ...rest) { return c2(n) + rest.length; } }
            const c = new C();
            function c4(n) { try { return c.c3(n) + c.c3(n, 1, 2, 3); } finally { n++; } }
            function c5(n) { return c4(n) + [3, 1, 2].sort(function c5b(a, b) { return a - b + 0 * c0(300); })[0]; }
            const end = process.cpuUsage().user + 1000000;
            let s = 0;
            while (process.cpuUsage().user < end) s += c5(200);
            """)
        for evidence in self.looks():
            self.profile_node("--perf-basic-prof", "--interpreted-frames-native-stack", "--no-turbo-inlining", script)
            right, wrong, partial = self.times_of_callers()
            evidence.between("right", right, 0.75, math.inf, of_samples(1, self.period), 0.2)
            # None of 45,000 samples was wrong, and 0.02 % were partial.
            for what, seconds, most in (("wrong", wrong, 0.01 * right), ("partial", partial, 0.03 * right)):
                evidence.between(what, seconds, -math.inf, most, of_samples(most, self.period), 0.05)

    def times_of_callers(self):
        """Seconds in functions of the script with all their true callers, with another one, and on partial paths."""
        right = wrong = partial = 0
        for path in walk(self.tree):
            seconds, names = path[-1]["metrics"]["work"]["exclusive"], procedures(path)
            ours = [found.group(1) for found in
                    (re.search(r"(\w*) \S*chain\.js", name) for name in reversed(names)) if found]
            if any("partial" in name for name in names):
                partial += seconds
            elif not ours:
                continue
            elif all(outer in self.CALLERS.get(inner, {outer}) for inner, outer in zip(ours, ours[1:] + ["?"])):
                right += seconds
            else:
                wrong += seconds
        return right, wrong, partial
