#!/usr/bin/env python3
"""The benchmarks: hpcrun beside its peers, in one run.

usage: tests/bench/benchmarks.py [--seconds S] [--rounds N] [--programs A,B] [--binaries A,B] [SECTION]...

  unwind    nanoseconds per frame and sample against libunwind (unw_step, unw_backtrace) on the same
            samples; completeness
  handler   what a sample costs, by parts
  trace     what the time line costs for a sample
  logical   what logical unwinding costs beside physical unwinding, under minicilk
  size      memory per tree node, bytes per node in the file; how many nodes logical trees of one
            program have together at 1 and 8 workers
  viewer    how fast the terminal viewer answers on a database of 2,000,000 contexts, and on a time line of 10,000,000
            records; the memory that it needs
  analysis  hpcstruct beside objdump -d, readelf --debug-dump=decodedline and llvm-symbolizer; hpcprof and
            hpcviewer until the first line, beside perf report --stdio of the same program at the same rate
  span      how good a lower bound of the span ordinary samples give, beside hpcrun --work-span
  constructs  what constructs of OpenMP and oneTBB and locks cost with the agents, beside the program alone
  overhead  CPU time with the profilers against without, alternating: hpcrun with perf allowed and
            denied, perf record -g and --call-graph dwarf, gperftools, at 200, 1000 and 5000/s;
            rates really achieved, size of the output, completeness
  outside   perf record -g and --call-graph dwarf beside hpcrun --outside and hpcrun, at 200, 1000 and 5000/s:
            complete paths, CPU time of the program and of the recorder, data

Medians, ratios and 95 % confidence intervals; nothing here passes or fails."""
import argparse
import sys
import tempfile

import analysis
import construct_costs
import handler
import logical
import outside
import overhead
import programs
import span_from_samples
import trace_costs
import unwind
import viewer_speed

SECTIONS = {"unwind": unwind.report, "handler": handler.report, "trace": trace_costs.report, "logical": logical.report,
            "size": handler.report_sizes, "overhead": overhead.report, "outside": outside.report, "viewer": viewer_speed.report,
            "analysis": analysis.report, "span": span_from_samples.report, "constructs": construct_costs.report}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), metavar="section")
    parser.add_argument("--seconds", type=float, default=5, help="about how long a program runs")
    parser.add_argument("--rounds", type=int, default=10, help="rounds of the paired runs")
    parser.add_argument("--programs", help="only these, separated by commas")
    parser.add_argument("--binaries", help="files that the section analysis takes, separated by commas")
    arguments = parser.parse_args()
    analysis.chosen_binaries = arguments.binaries.split(",") if arguments.binaries else []
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]}")
    with tempfile.TemporaryDirectory(prefix="hpcbench-") as directory:
        chosen = programs.Programs(directory, arguments.seconds).commands
        if arguments.programs:
            chosen = {name: chosen[name] for name in arguments.programs.split(",")}
        for name in programs.missing(chosen):
            print(f"{name}: not installed, left out", file=sys.stderr)
            del chosen[name]
        for section in arguments.sections:
            usual = {name: command for name, command in chosen.items() if name not in programs.ONLY_OUTSIDE}
            SECTIONS[section](chosen if section == "outside" else usual, directory, arguments.rounds)
            print(flush=True)


main()
