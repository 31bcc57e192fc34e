"""How good a bound of the span ordinary samples give: the metric incomplete of sampled runs, beside the exact span of
`hpcrun --work-span`, for programs on minicilk and with OpenMP's tasks, at several numbers of workers.

Each round has one exact run, and for each number of workers a sampled one. --cores is the number of workers, so the CPUs
of the machine may be fewer."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

import programs

TOOLS = programs.BUILD / "bin"
WORKERS = (2, 4, 8, 16)
EVENT = "CPUTIME@f1000"
ON_MINICILK = {"fib": 38, "nqueens": 14, "cilksort": 6000000, "quicksort": 6000000, "cholesky": 1200}
LOOPS = ("outer", "4", "500000")  # of nested-loops: parallelism below 4
WITH_OPENMP = {"nqueens": 14, "cilksort": 6000000}


def compiled_openmp(directory):
    """cilk-tasks, compiled for libgomp; None without the compiler."""
    binary = pathlib.Path(directory) / "cilk-tasks"
    source = programs.ROOT / "tests" / "programs" / "openmp" / "cilk-tasks.c"
    done = subprocess.run(["gcc", "-fopenmp", "-O2", "-g", "-I", programs.ROOT, "-o", binary, source], check=False)
    return binary if done.returncode == 0 else None


def all_commands(directory):
    """{name: command}; the number of workers is in the environment."""
    folder = programs.BUILD / "tests" / "programs"
    commands = {f"{name} {size}": [folder / "cilk" / name, str(size)] for name, size in ON_MINICILK.items()}
    commands[" ".join(("nested-loops", *LOOPS))] = [folder / "logical" / "nested-loops", *LOOPS]
    binary = compiled_openmp(directory)
    for name, size in WITH_OPENMP.items() if binary else ():
        commands[f"OpenMP {name} {size}"] = [binary, name, str(size)]
    return commands


def totals(command, workers, directory, *options):
    """The metrics of a run, by name: seconds for the whole program."""
    measurements, database = (pathlib.Path(directory) / name for name in ("measurements", "database"))
    for path in (measurements, database):
        subprocess.run(["rm", "-rf", path], check=True)
    number = str(workers)
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
             "env": dict(os.environ, MINICILK_WORKERS=number, OMP_NUM_THREADS=number)}
    subprocess.run([TOOLS / "hpcrun", "--cores", number, "-o", measurements, *options, "--", *command], **quiet)
    subprocess.run([TOOLS / "hpcprof", "-o", database, measurements], **quiet)
    printed = subprocess.run([TOOLS / "hpcviewer", "--print", "summary", "--format", "json", database], check=True,
                             capture_output=True, text=True)
    return json.loads(printed.stdout)["metrics"]


def measure(command, rounds, directory):
    """Seconds: exact works and spans of all rounds, and {workers: [incomplete time]}."""
    works, spans, incomplete = [], [], {workers: [] for workers in WORKERS}
    for _ in range(rounds):
        exact = totals(command, min(WORKERS), directory, "-e", "CPUTIME@f1", "--work-span")
        works.append(exact["exact work"])
        spans.append(exact["span"])
        for workers in WORKERS:
            incomplete[workers].append(totals(command, workers, directory, "-e", EVENT)["incomplete"])
    return works, spans, incomplete


def in_ms(seconds):
    """Median (least to most)."""
    values = [f"{1e3 * value:.3g}" for value in (statistics.median(seconds), min(seconds), max(seconds))]
    return "{} ({} to {})".format(*values)


def report(commands, directory, rounds):
    del commands
    print(f"span from samples: exact work and span, and incomplete time by {EVENT}, of {rounds} runs each, {os.cpu_count()} CPUs;\n"
          "ms: median (least to most)")
    heads = ["work", "span"] + [f"{workers} workers" for workers in WORKERS]
    print(f"{'program':28}" + "".join(f"{head:>24}" for head in heads))
    for name, command in all_commands(directory).items():
        try:
            works, spans, incomplete = measure(command, rounds, directory)
        except (subprocess.CalledProcessError, KeyError, TypeError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        print(f"{name:28}" + "".join(f"{in_ms(values):>24}" for values in (works, spans, *incomplete.values())), flush=True)
