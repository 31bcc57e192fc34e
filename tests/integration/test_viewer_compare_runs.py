"""hpcviewer A B on runs of two versions of a program that says what each of its phases took."""
import os
import unittest

import profiling
import viewer

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
        """Of a run of a version of the program; and the seconds of CPU time of its two phases."""
        source = self.directory / name / "program.c"
        source.parent.mkdir()
        source.write_text(PROGRAM.format(**parts))
        built = self.run_tool("gcc", "-g", "-O1", "-I", profiling.ROOT, "-o",
                              source.with_suffix(""), source)
        self.assertEqual(built.returncode, 0, built.stderr)
        done, _ = self.measure(source.with_suffix(""))
        where = self.directory / f"database-{name}"
        made = self.run_tool(profiling.BUILD / "bin/hpcprof", "-o", where, self.measurements,
                             env=dict(os.environ, XDG_CACHE_HOME=str(self.directory / "cache")))
        self.assertEqual(made.returncode, 0, made.stderr)
        return where, [int(ns) * 1e-9 for ns in done.stdout.split()]

    def test_an_added_phase_in_an_edited_program(self):
        """Built elsewhere, with lines added above: what differs is the phase, by what it took."""
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


if __name__ == "__main__":
    unittest.main()
