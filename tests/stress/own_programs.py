#!/usr/bin/env python3
"""The tests' own programs under hpcrun, at 1, 5 and 10 kHz (make stress-own).

usage: tests/stress/own_programs.py [--rounds N] [--hours H] [--one-way] [--jobs N] [--programs A,B]"""
import subprocess
import sys

import comparison
from comparison import BUILD, ROOT, Program
from test_loader import LIBRARIES, LIBRARY  # comparison has added the path

PROGRAMS = BUILD / "tests" / "programs"
DENY_PERF = BUILD / "tests" / "tools" / "deny-perf"
WAYS = [(f"{event}@f{rate}", prefix) for event in ("CPUTIME", "REALTIME") for prefix in ((), (DENY_PERF,))
        for rate in (1000, 5000, 10000)]

NUMBERS = r"-?\d+"
LAST_NUMBER = r"\d+(?=\n)"

# What each program does is said at its beginning. Not here: `endings signals`, which may end by either of
# two signals, and neither is wrong.
SAME = """
hpcrun/calls_files samples
hpcrun/calls_files handler
hpcrun/calls_files restarting-handler
hpcrun/calls_sockets samples
hpcrun/calls_sockets handler
hpcrun/calls_sockets restarting-handler
hpcrun/calls_processes samples
hpcrun/calls_processes handler
hpcrun/calls_processes restarting-handler
hpcrun/calls_waits samples
hpcrun/calls_waits handler
hpcrun/calls_waits restarting-handler
hpcrun/ends exit 10
hpcrun/ends return 10
hpcrun/ends _exit 10
hpcrun/ends _Exit 10
hpcrun/ends quick_exit 10
hpcrun/ends abort 10
hpcrun/ends pthread_exit 10
hpcrun/ends fault 10
hpcrun/ends exec 10
hpcrun/ends raise:15 10
hpcrun/ends kill:1 10
hpcrun/ends kill:9 10
hpcrun/ends alone:kill:63 10
hpcrun/ends thread:exit 10
hpcrun/ends thread:abort 10
hpcrun/ends thread:fault 10
hpcrun/ends thread:exec 10
hpcrun/ends thread:quick_exit 10
hpcrun/execs execv /bin/ls
hpcrun/execs execvpe /bin/ls
hpcrun/execs execle /bin/ls
hpcrun/execs fexecve /bin/ls
hpcrun/execs execveat-descriptor /bin/ls
hpcrun/execs posix_spawn /bin/ls
hpcrun/execs posix_spawnp /bin/ls
hpcrun/execs system /bin/ls
hpcrun/execs popen /bin/ls
hpcrun/execs vfork /bin/ls
hpcrun/hazards fork-and-signals
hpcrun/hazards vfork-and-signals
hpcrun/hazards sigwait
hpcrun/hazards signalfd
hpcrun/hazards sent-faults
hpcrun/hazards small-signal-stack
hpcrun/hazards siginterrupt
hpcrun/hazards own-signals
hpcrun/hazards no-queue
hpcrun/hazards priorities
hpcrun/hazards fewer-descriptors
hpcrun/surroundings
hpcrun/recursion 100 30
hpcrun/recursion 10000 30 leaf
hpcrun/sandbox strict
hpcrun/sandbox narrow
hpcrun/sandbox wide
hpcrun/throws 0.05
cilk/cholesky -w 4 300
cilk/cilksort -w 4 300000
cilk/fib -w 16 30
cilk/heat -w 4 150
cilk/matmul -w 8 300
cilk/nqueens -w 2 12
""".strip().splitlines()

# What of these is never the same: times, addresses' distances, and which samples there were.
VARYING = {
    "hpcrun/altstack 30": NUMBERS, "hpcrun/crowd 200 20": r" \d+", "hpcrun/control 10": NUMBERS,
    "hpcrun/control_thread 5 5 10": NUMBERS, "hpcrun/endings threads": NUMBERS,
    "hpcrun/processes chain 5 4": NUMBERS, "hpcrun/creation": r"\d+(?= |\n)",
    "hpcrun/faults 2000": NUMBERS, "hpcrun/forced 40": NUMBERS, "hpcrun/hidden_threads timer 20": NUMBERS,
    "hpcrun/hidden_threads clone 20": NUMBERS, "hpcrun/jit good 8": NUMBERS, "hpcrun/jit none 8": NUMBERS,
    "hpcrun/jit fork 8": NUMBERS, "hpcrun/tick_halves 0.05 1000": NUMBERS, "hpcrun/processes tree 3 2 4": NUMBERS,
    "hpcrun/stacks contexts 30": LAST_NUMBER, "hpcrun/stacks split 30": LAST_NUMBER, "hpcrun/stacks deep 30": LAST_NUMBER,
    "hpcrun/stacks tiny 30": LAST_NUMBER, "hpcrun/stacks tiny-own 30": LAST_NUMBER, "hpcrun/stacks jumps 30": LAST_NUMBER,
    "hpcrun/stacks overflows 30": LAST_NUMBER, "hpcrun/stacks stack-pointer 30": LAST_NUMBER,
    "hpcrun/stacks signal-stack 30": LAST_NUMBER, "hpcrun/threads 60 1 8": NUMBERS,
    "logical/phases 4 10": NUMBERS,
    "logical/spawn-tree 4 5 10": r"(?<=steals )\d+", "logical/spawn-tree-chaos 4 3 5": r"(?<=steals )\d+",
    "hpcrun/loads dlopen 60 44 ./library0.so ./library1.so ./library2.so ./library3.so": NUMBERS,
    "truth 0.05": r"[\d.]+", "kinds 0.05": r"[\d.]+",
    "hpcrun/loads dlmopen 60 44 ./library0.so ./library1.so ./library2.so ./library3.so": NUMBERS,
}

# They use up what a measurement needs.
FILLING = ["hpcrun/hazards file-limit", "hpcrun/hazards no-descriptors"]


def make_inputs(directory):
    (directory / "library.c").write_text(LIBRARY)
    for n in range(LIBRARIES):
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", f"-DN={n}", "-o", f"library{n}.so", "library.c"],
                       cwd=directory, check=True)
    for name in ("truth", "kinds"):
        subprocess.run(["gcc", "-O2", "-g", "-o", directory / name, ROOT / "tests/programs/truth" / f"{name}.c"],
                       check=True)


def program(command, **how):
    first, *rest = command.split()
    return Program([f"./{first}" if "/" not in first else PROGRAMS / first, *rest], **how)


def all_programs():
    programs = {command: program(command) for command in SAME}
    programs |= {command: program(command, varies=varies) for command, varies in VARYING.items()}
    return programs | {command: program(command, fills=True) for command in FILLING}


if __name__ == "__main__":
    sys.exit(comparison.main(__doc__, all_programs(), make_inputs, WAYS))
