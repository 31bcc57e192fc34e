"""What constructs of OpenMP and oneTBB and calls of libc cost with hpcrun's agents, on one thread, beside the program
alone. `floor`: with a library that only passes calls on (libgomp), or a tool that does nothing (libomp).

A program prints the least of several rounds for each construct (tests/programs/bench/construct-cost.h). The programs run
in turns. Two figures of each: the least over all turns, which a machine that changes its speed disturbs least, and the
median of the differences within a turn."""
import os
import pathlib
import random
import shutil
import statistics
import subprocess

import overhead
import programs

FOLDER = programs.ROOT / "tests" / "programs" / "bench"
TOOLS = programs.BUILD / "tests" / "tools"
HPCRUN = programs.BUILD / "bin" / "hpcrun"

# name: compile command without the files; source; preloaded for the floor
PROGRAMS = {
    "libgomp": (["gcc", "-fopenmp"], "openmp-costs.c", "empty-wrapper.so"),
    "libomp": (["clang", "-fopenmp"], "openmp-costs.c", "empty-tool.so"),
    "oneTBB": (["g++"], "tbb-costs.cc", None),
    "libc": (["gcc", "-D_GNU_SOURCE"], "lock-costs.c", None),
}
LIBRARIES = {"oneTBB": ["-ltbb"]}


def compiled(name, directory):
    """The program; None if it can't be compiled here."""
    compiler, source, _ = PROGRAMS[name]
    binary = pathlib.Path(directory) / f"costs-{name}"
    command = [*compiler, "-O2", "-g", "-I", programs.ROOT, "-o", binary, FOLDER / source, *LIBRARIES.get(name, [])]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return binary if done.returncode == 0 else None


def variants(name, directory):
    """{name: (words before the program, environment)}. The agent is measured without samples but for one a second."""
    out = pathlib.Path(directory) / "out"
    preloaded = PROGRAMS[name][2]
    found = {"alone": ([], {})}
    if preloaded:
        found["floor"] = ([], {"LD_PRELOAD": str(TOOLS / preloaded)})
    found["hpcrun"] = ([HPCRUN, "-q", "-e", "CPUTIME@f1", "-o", out, "--"], {})
    return found


def costs(words, environment, binary, directory):
    """{construct: ns} of one run."""
    shutil.rmtree(pathlib.Path(directory) / "out", ignore_errors=True)
    done = subprocess.run([*words, binary], check=True, capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1", **environment))
    return {name: float(number) for name, number in (line.rsplit(" ", 1) for line in done.stdout.splitlines())}


def report(commands, directory, rounds):
    del commands
    rng = random.Random(1)
    print(f"constructs: CPU time for one execution on one thread, ns, least of {rounds} turns, and the difference to the "
          "program alone:\nof the least ones, and in the median of the turns with its 95 % interval")
    for name in PROGRAMS:
        binary = compiled(name, directory)
        if not binary:
            print(f"{name}: its program can't be compiled here, left out")
            continue
        turns = [{variant: costs(*how, binary, directory) for variant, how in variants(name, directory).items()}
                 for _ in range(rounds)]
        others = list(turns[0])[1:]
        print(f"{name:18} {'alone':>8}" + "".join(f" {other:>8} {'least':>7} {'median':>7} {'':18}" for other in others))
        for construct in turns[0]["alone"]:
            least = {variant: min(turn[variant][construct] for turn in turns) for variant in turns[0]}
            line = f"  {construct:16} {least['alone']:8.1f}"
            for other in others:
                more = [turn[other][construct] - turn["alone"][construct] for turn in turns]
                low, high = overhead.interval(more, rng)
                line += f" {least[other]:8.1f} {least[other] - least['alone']:+7.1f} {statistics.median(more):+7.1f} "
                line += f"({low:+.1f}..{high:+.1f})".ljust(18)
            print(line.rstrip(), flush=True)
