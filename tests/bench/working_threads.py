"""The agents' number of working threads beside clocks of the program (tests/programs/openmp/working-threads.c)."""
import os
import pathlib
import shutil
import statistics
import subprocess

import programs

SOURCE = programs.ROOT / "tests" / "programs" / "openmp" / "working-threads.c"
HPCRUN = programs.BUILD / "bin" / "hpcrun"
COMPILERS = {"libgomp": "gcc", "libomp": "clang"}
THREADS = (2, 4, 8)
SCALE = 40  # of the phases: 0.04 to 2.6 s each


def phases(binary, threads, directory):
    """{phase: (threads in bodies by clocks, working threads, threads in bodies at the same instants)}"""
    out = pathlib.Path(directory) / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([HPCRUN, "-q", "-e", "CPUTIME@f1", "-o", out, "--", binary, str(SCALE)], check=True,
                          capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive"))
    lines = (line.split() for line in done.stdout.splitlines())
    return {name: tuple(map(float, numbers)) for _, name, _, *numbers in lines}


def report(commands, directory, rounds):
    del commands
    print(f"states: working threads by the agent against the program's, largest and mean difference over the phases, "
          f"{rounds} runs\n{'runtime':10} {'threads':>7}   {'at the same instants':32}   by clocks (with the chance of the sampled instants)")
    for runtime, compiler in COMPILERS.items():
        binary = pathlib.Path(directory) / f"working-threads-{runtime}"
        command = [compiler, "-O2", "-g", "-fopenmp", "-I", programs.ROOT, "-o", binary, SOURCE]
        if shutil.which(compiler) is None or subprocess.run(command, check=False, capture_output=True).returncode:
            print(f"{runtime}: its program can't be compiled here, left out")
            continue
        for threads in THREADS:
            runs = [phases(binary, threads, directory) for _ in range(rounds)]
            texts = []
            for index in (2, 0):
                # With its sign: over the runs, chance takes itself away.
                off = {name: abs(statistics.mean(run[name][1] - run[name][index] for run in runs)) for name in runs[0]}
                worst = max(off, key=off.get)
                texts.append(f"mean {statistics.mean(off.values()):.4f}, {off[worst]:.3f} in {worst}")
            print(f"{runtime:10} {threads:7}   {texts[0]:32}   {texts[1]}", flush=True)
