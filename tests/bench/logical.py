"""What logical unwinding costs beside the physical unwinding of the same samples."""
import statistics

import handler
import programs

SIZES = {"fib": 36, "nqueens": 13, "cholesky": 900}
WORKERS = 2


def report(commands, directory, rounds):
    del commands
    print(f"logical: mean ns per sample at 1000/s under minicilk, {WORKERS} workers, medians of {rounds} runs;\n"
          "agents: asking them, or finding that they need not be asked, tree insertion apart")
    print(f"{'program':14} {'samples':>8} {'unwind':>9} {'agents':>9} {'agents/unwind':>14} "
          f"{'both/unwind':>12} {'tree':>9}")
    agents = handler.agents(directory)
    for name, size in SIZES.items():
        command = [programs.BUILD / "tests" / "programs" / "cilk" / name, "-w", str(WORKERS), str(size)]
        found = [handler.measure(command, directory, 1000, agents)[0] for _ in range(rounds)]
        median = {key: statistics.median(run[key] for run in found) for key in found[0]}
        ratio = statistics.median(run["agents"] / run["unwind"] for run in found)
        print(f"{name:14} {sum(run['samples'] for run in found):8.0f} {median['unwind']:9.0f} "
              f"{median['agents']:9.0f} {ratio:14.2f} {1 + ratio:12.2f} {median['tree']:9.0f}",
              flush=True)
