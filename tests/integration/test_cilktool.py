"""libhpctoolkit-cilktool.so: programs with the hooks of clang -fcilktool=cilkscale, written by hand, and Cilkscale's
probes. Work and span themselves are those of tests/unit/hpcrun/test_frame_span.c."""
import csv

import profiling
from logical_case import LogicalTest, walk
from test_work_span import SERIAL, Regions

FOLDER = profiling.BUILD / "tests" / "programs" / "cilktool"
OURS, OTHER = FOLDER / "hooked", FOLDER / "hooked-elsewhere"
HEADING = "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism"
BURDEN = 0.005  # ms
ROUNDED = 0.003  # of three values, each cut to a microsecond
DEPTH = 12  # of fib's spawns
OPERATORS = """
#include <fstream>
#include <iostream>
struct wsp_t { long work, span, bspan; };
wsp_t &operator+=(wsp_t &left, const wsp_t &right) noexcept;
wsp_t &operator-=(wsp_t &left, const wsp_t &right) noexcept;
std::ostream &operator<<(std::ostream &stream, const wsp_t &values);
std::ofstream &operator<<(std::ofstream &stream, const wsp_t &values);
extern "C" wsp_t wsp_add(wsp_t left, wsp_t right);
int main()
{
    wsp_t values = {6000, 2000, 3000}, one = {1000, 500, 500};
    values += one;
    values -= wsp_t{3000, 500, 1500};
    std::cout << wsp_add(values, one) << "\\n";
    std::ofstream file("values");
    file << values;
}
"""


def spawns(n):
    return 0 if n < 2 else 1 + spawns(n - 1) + spawns(n - 2)


class Probes(LogicalTest):
    """Cilkscale's interface, without hpcrun."""

    def rows(self, text):
        lines = text.splitlines()
        self.assertEqual(lines[0], HEADING)
        return {row[0]: [float(value) for value in row[1:]] for row in csv.reader(lines[1:])}

    def check_row(self, row):
        work, span, parallelism, burdened, burdened_parallelism = row
        self.assertTrue(0 < span <= min(work, burdened) * (1 + 1e-5), row)
        self.assertAlmostEqual(parallelism, work / span, delta=1e-4 * parallelism)
        self.assertAlmostEqual(burdened_parallelism, work / burdened, delta=1e-4 * burdened_parallelism)

    def test_values_go_to_standard_output_or_to_a_file(self):
        printed = self.run_tool(OURS, "fib", DEPTH)
        self.assertEqual((printed.returncode, printed.stderr), (0, ""))
        self.assertEqual(printed.stdout.splitlines()[0], "fib 144")
        rows = self.rows(printed.stdout.partition("\n")[2])
        self.assertEqual(set(rows), {"fib", ""})
        for row in rows.values():
            self.check_row(row)
        self.assertLessEqual(rows["fib"][0], rows[""][0])
        self.assertLessEqual(rows["fib"][3] - rows["fib"][1], DEPTH * BURDEN * 1.001e-3)
        file = self.directory / "out.csv"
        kept = self.run_tool("env", f"CILKSCALE_OUT={file}", OURS, "fib", DEPTH)
        self.assertEqual(kept.stdout, "fib 144\n")
        self.assertEqual(set(self.rows(file.read_text())), {"fib", ""})

    def test_a_main_program_that_spawns_and_exits(self):
        rows = self.rows(self.run_tool(OURS, "main", DEPTH).stdout.replace("fib 288\n", ""))
        self.assertEqual(set(rows), {"half", ""})
        for row in rows.values():
            self.check_row(row)

    def test_a_program_that_never_spawns(self):
        done = self.run_tool(OURS, "plain")
        self.assertEqual(done.stderr, "")
        work, span, parallelism, *_ = self.rows(done.stdout)["plain"]
        self.assertEqual((work, parallelism), (span, 1))

    def test_time_in_hooks_is_no_programs(self):
        """Samples in hooks are dropped, not charged to the procedure that calls them."""
        _, (image,) = self.measure(OURS, "fib", 24, options=("--work-span",))
        fired, dropped = (image.seconds("CPUTIME", [fate]) for fate in (profiling.FIRED, profiling.DROPPED[0]))
        self.assertGreater(dropped, 0.01 * fired)  # 5.5 % of 700 samples
        _, (image,) = self.measure(OURS, "fib", 20)
        self.assertEqual(image.seconds("CPUTIME", [profiling.DROPPED[0]]), 0)

    def test_what_cannot_be_measured_is_said(self):
        for shape, why in (("orphan", "hooks do not match"), ("jump", "hooks do not match"),
                           ("end", "the program ended in a Cilk computation"),
                           ("thread", "this thread executes nothing that is measured")):
            with self.subTest(shape=shape):
                done = self.run_tool(OURS, shape)
                self.assertEqual((done.returncode, done.stderr.count(why), done.stderr.count("\n")), (0, 1, 1), done.stderr)

    def test_operators_of_cpp(self):
        library = profiling.BUILD / "lib" / "libhpctoolkit-cilktool.so"
        program = self.compile_text("operators", OPERATORS, library, f"-Wl,-rpath,{library.parent}", compiler="c++",
                                    suffix=".cc")
        self.assertEqual(self.run_tool(program).stdout, "5e-06, 2.5e-06, 2, 2.5e-06, 2\n")
        self.assertEqual((self.directory / "values").read_text(), "4e-06, 2e-06, 2, 2e-06, 2")


class UnderHpcrun(LogicalTest):
    def paths(self):
        """Where exact work is, below main."""
        paths = [[node["name"] for node in path if node["kind"] in ("procedure", "inlined")] for path in walk(self.tree)
                 if path[-1]["kind"] == "procedure" and path[-1]["metrics"]["exact work"]["exclusive"]]
        return {tuple(path[path.index("main") + 1:]) if "main" in path else tuple(path) for path in paths}

    def test_contexts(self):
        """A task's calls lie at the spawn; recursion is folded; a task's own code is its procedure's."""
        for program in (OURS, OTHER):
            for shape, contexts in (("nested", {("run_alone", "outer"), ("run_alone", "outer", "inner")}),
                                    ("fib", {("run_alone", "fib")}),
                                    ("main", {("main_that_spawns",), ("main_that_spawns", "fib")})):
                with self.subTest(program=program.name, shape=shape):
                    self.profile(program, shape, 6, options=("--work-span",))
                    self.assertEqual(self.paths() - {(SERIAL,)}, contexts)
                    self.assertGreater(self.value("exact work", "main"), self.value("span", "main"))

    def test_regions(self):
        for shape, region, count in (("fib", "all", spawns(DEPTH)), ("main", "half", 1 + 2 * spawns(DEPTH))):
            done, _ = self.measure(OURS, shape, DEPTH, options=("--work-span",))
            found = {match[1]: [float(match[i]) for i in (2, 3, 4, 5, 6)] for match in Regions.DUMP.finditer(done.stderr)}
            times, work, span, burdened, spawned = found[region]
            self.assertEqual((times, spawned), (1, count))
            self.assertLessEqual(span, work + ROUNDED)
            self.assertLessEqual(burdened - span, (DEPTH + 1) * BURDEN + ROUNDED)
            self.assertIn(HEADING, done.stdout)  # Cilkscale's probes, beside that

    def test_plain_hpcrun_changes_nothing(self):
        done, _ = self.measure(OTHER, "fib", 5)
        self.assertEqual(done.stdout, "fib 5\nthe other library: fib\n")
        done, _ = self.measure(OURS, "fib", 5)
        self.assertIn(HEADING, done.stdout)

    def test_what_cannot_be_measured_is_said(self):
        for shape, why in (("orphan", "-fcilktool's hooks do not match"), ("jump", "-fcilktool's hooks do not match"),
                           ("end", "the program ended in a Cilk computation"), ("plain", "no runtime that can report")):
            with self.subTest(shape=shape):
                done, _ = self.measure(OURS, shape, options=("--work-span",))
                self.assertIn("work and span were not measured: " + why, done.stderr)
