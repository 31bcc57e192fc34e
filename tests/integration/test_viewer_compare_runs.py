"""hpcviewer A B on runs of two versions of a program that says what each of its phases took, and of
a parallel program with more workers."""
import collections

import profiling
import viewer
from logical_case import LogicalTest
from test_viewer_compare_export import folded_pairs
from test_viewer_export import expected_stacks, flamegraph_frames

PROGRAM = """
#include "tests/programs/hpcrun/burn.h"
#include <stdio.h>
{more_lines}
__attribute__((noinline)) static uint64_t used(void) {{ return clock_ns(CLOCK_THREAD_CPUTIME_ID); }}

__attribute__((noinline)) void steady(void)
{{
    burn(200000000);
    burn_sink++;
}}

__attribute__((noinline)) void extra(void)
{{
    burn({extra}000000);
    burn_sink++;
}}

int main(void)
{{
    uint64_t start = used();
    steady();
    uint64_t between = used();
    {call}
    printf("%lu %lu", between - start, used() - between);
    return 0;
}}
"""


class Measured(profiling.ProfilingTest):
    def database(self, name, **parts):
        """The database of a run of one version of the program, and the CPU seconds of its two phases."""
        source = self.directory / name / "program.c"
        source.parent.mkdir()
        source.write_text(PROGRAM.format(**parts))
        built = self.run_tool("gcc", "-g", "-O1", "-I", profiling.ROOT, "-o",
                              source.with_suffix(""), source)
        self.assertEqual(built.returncode, 0, built.stderr)
        done, _ = self.measure(source.with_suffix(""))
        where = self.directory / f"database-{name}"
        made = self.run_tool(profiling.BUILD / "bin/hpcprof", "-o", where, self.measurements)
        self.assertEqual(made.returncode, 0, made.stderr)
        return where, [int(ns) * 1e-9 for ns in done.stdout.split()]

    def test_an_added_phase_in_an_edited_program(self):
        """Built in another folder, with lines added above: only the phase differs, by its time."""
        old, (old_steady, _) = self.database("old", more_lines="", extra=1, call="")
        new, (new_steady, extra) = self.database("new", more_lines="\n" * 30, extra=300,
                                                 call="extra();")
        root = viewer.printed_json("top-down", old, new)["root"]
        rows = {name: viewer.find(root, name) for name in ("main", "steady", "extra")}
        self.assertEqual({name: row["in"] for name, row in rows.items()},
                         {"main": ["old", "new"], "steady": ["old", "new"], "extra": ["new"]})
        for name, truth in (("main", new_steady + extra - old_steady),
                            ("steady", new_steady - old_steady), ("extra", extra)):
            difference = rows[name]["metrics"]["work difference"]["inclusive"]
            # Two runs, each with a sample more or less at either end, and samples of 1 ms.
            self.assertAlmostEqual(difference, truth, delta=0.02 * (new_steady + extra) + 0.004)
        grew = viewer.printed_json("summary", old, new)["grew"]
        self.assertEqual(grew[0]["name"], "burn_unit")
        self.assertEqual(rows["main"]["children"][0]["name"], "extra")
        self.check_advice(old, new)
        self.check_flame_graph(old, new)

    def check_advice(self, old, new):
        """It is worse, by the phase's time."""
        work = viewer.printed_json("summary", old, new)["advice"][0]["work"]
        self.assertEqual((work["verdict"], work["more"][0]["name"]), ("worse", "burn_unit"))
        text = viewer.printed("summary", old, new)
        self.assertRegex(text, r"Worse in new: work by \S+ m?s \(\S+%\)\.")
        self.assertRegex(text, r"More work in new is in:\n    \+\S+ m?s \(\S+%\) burn_unit, burn.h:\d+")

    def check_flame_graph(self, old, new):
        """The phase is listed as new: the old program has none of it."""
        page = viewer.printed("top-down", "--format", "flamegraph", old, new)
        extra = max((path[-1] for path in flamegraph_frames(page) if path[-1].name == "extra"),
                    key=lambda frame: frame.total)
        self.assertIn(f'data-total="{extra.total}" data-own-before="0" data-total-before="0"', page)
        self.assertRegex(extra.title, r"work: old 0 s \(0%\), new \S+ m?s \(\S+%\)")


CILK = profiling.BUILD / "tests" / "programs" / "cilk"
SIDES = ("one", "two")
COUNTERPARTS = {part: f"{part} (CPUTIME)" for part in ("work", "overhead", "idleness", "effort")}


class MoreWorkers(LogicalTest):
    """One worker measured with one event, two workers with two: only consistency is checked, which no
    clock can change."""

    def run_of(self, workers, *events):
        self.profile(CILK / "cholesky", "-w", workers, 400,
                     events=[f"{event}@f1000" for event in events])
        return self.database

    def costs(self, root, metric, name=None):
        """A count of rows by their costs of a metric; in a comparison only the rows of one run."""
        return collections.Counter(
            tuple(row["metrics"][metric][part] for part in ("inclusive", "exclusive"))
            for _, row in viewer.rows_of(root) if name is None or name in row["in"])

    def check_rows(self, root):
        for _, row in viewer.rows_of(root):
            for metric in COUNTERPARTS.values():
                for part in ("inclusive", "exclusive"):
                    one, two, difference, ratio = (
                        row["metrics"][f"{metric} {column}"][part]
                        for column in ("[one]", "[two]", "difference", "ratio"))
                    self.assertEqual(difference, two - one)
                    self.assertEqual(ratio, two / one if one else None)

    def test_every_number_adds_up(self):
        runs = self.run_of(1, "CPUTIME"), self.run_of(2, "CPUTIME", "REALTIME")
        names = ("--names", ",".join(SIDES))
        for view, *depth in (("top-down",), ("bottom-up", "--depth", 4), ("flat",)):
            tree = viewer.printed_json(view, *depth, *names, *runs)
            alone = [viewer.printed_json(view, *depth, run)["root"] for run in runs]
            self.check_rows(tree["root"])
            for metric, several in COUNTERPARTS.items():
                self.assertEqual(self.costs(tree["root"], f"{several} [one]", "one"),
                                 self.costs(alone[0], metric))
                self.assertEqual(self.costs(tree["root"], f"{several} [two]", "two"),
                                 self.costs(alone[1], several))
            stacks = [expected_stacks(view, tree, f"work (CPUTIME) [{name}]") for name in SIDES]
            folded = viewer.printed(view, "--format", "folded", "--sort", "work (CPUTIME)", *depth,
                                    *names, *runs)
            self.assertEqual(folded_pairs(folded), {stack: [side[stack] for side in stacks]
                                                    for stack in {*stacks[0], *stacks[1]}})
        self.check_advice(runs, viewer.printed_json("top-down", *names, *runs)["root"]["metrics"])

    def check_advice(self, runs, whole):
        changes, = viewer.printed_json("summary", "--names", ",".join(SIDES), *runs)["advice"]
        for part, metric in COUNTERPARTS.items():
            self.assertEqual([changes[part][name] for name in (*SIDES, "difference")],
                             [whole[f"{metric} {column}"]["inclusive"]
                              for column in ("[one]", "[two]", "difference")])
