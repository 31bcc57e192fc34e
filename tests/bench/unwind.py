"""Our unwinder beside libunwind's, on the same samples of the same run."""
import math

import programs

LIBRARY = programs.BUILD / "tests" / "tools" / "unwind-compare.so"
METHODS = ("ours", "unw_backtrace", "unw_step")


def measure(command, directory):
    report = f"{directory}/unwind-report"
    programs.run(command, {"LD_PRELOAD": str(LIBRARY), "UNWIND_REPORT": report})
    words = open(report).read().split()
    return {key: float(value) for key, value in zip(words[::2], words[1::2])}


def report(commands, directory, rounds):
    del rounds  # one run is long enough
    print("unwind: ns per sample, median and mean (of the fastest 99 %);\n"
          "ns per frame from the means; 1000 samples/s, in turns of 50 samples")
    print(f"{'program':14} {'frames':>6} {'samples':>7} {'complete':>9} {'equal':>8} "
          + " ".join(f"{method:>22}" for method in METHODS) + "  per frame, times faster  sample")
    print(f"{'':14} {'':6} {'':7} {'':9} {'':8} " + " ".join(f"{'med mean /frame':>22}" for _ in METHODS)
          + f"  {'unw_step':>11} {'unw_backtr.':>11}  ours/unw_backtrace")
    ratios = []
    for name, command in commands.items():
        found = measure(command, directory)
        ends = [found[f"end{i}"] for i in range(8)]
        cells, per_frame = [], {}
        for method in METHODS:
            mean = found[f"{method}_mean_ns"]
            per_frame[method] = mean / found[f"{method}_depth"]
            cells.append(f"{found[f'{method}_median_ns']:8.0f} {mean:6.0f} {per_frame[method]:6.1f}")
        ratio = found["ours_mean_ns"] / found["unw_backtrace_mean_ns"]
        ratios.append(ratio)
        print(f"{name:14} {found['ours_depth']:6.1f} {found['samples']:7.0f} "
              f"{100 * ends[0] / sum(ends):8.3f}% "
              f"{found['equal'] + found['shorter']:.0f}/{found['checked']:.0f} "
              + " ".join(f"{cell:>22}" for cell in cells)
              + f"  {per_frame['unw_step'] / per_frame['ours']:11.1f}"
              f" {per_frame['unw_backtrace'] / per_frame['ours']:11.1f}  {ratio:.2f}", flush=True)
    print(f"geometric mean of ours/unw_backtrace per sample: "
          f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, worst {max(ratios):.2f}")
