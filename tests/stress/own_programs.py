#!/usr/bin/env python3
"""The tests' own programs under hpcrun, at 1, 5 and 10 kHz (make stress-own).

usage: tests/stress/own_programs.py [--rounds N] [--hours H] [--one-way] [--jobs N] [--programs A,B]"""
import itertools
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
# two signals, and neither is wrong. Words separated by commas are one program each.
SAME = [" ".join(words) for line in """
hpcrun/calls_files,hpcrun/calls_sockets,hpcrun/calls_processes,hpcrun/calls_waits samples,handler,restarting-handler
hpcrun/ends exit,return,_exit,_Exit,quick_exit,abort,pthread_exit,fault,exec,raise:15,kill:1,kill:9,alone:kill:63 10
hpcrun/ends thread:exit,thread:abort,thread:fault,thread:exec,thread:quick_exit 10
hpcrun/execs execv,execvpe,execle,fexecve,execveat-descriptor,posix_spawn,posix_spawnp,system,popen,vfork /bin/ls
hpcrun/hazards fork-and-signals,vfork-and-signals,sigwait,signalfd,sent-faults,small-signal-stack,siginterrupt
hpcrun/hazards own-signals,no-queue,priorities,fewer-descriptors
hpcrun/surroundings
hpcrun/recursion 100 30
hpcrun/recursion 10000 30 leaf
hpcrun/sandbox strict,narrow,wide
hpcrun/throws 0.05
cilk/cholesky -w 4 300
cilk/cilksort -w 4 300000
cilk/fib -w 16 30
cilk/nqueens -w 2 12
""".strip().splitlines() for words in itertools.product(*(word.split(",") for word in line.split()))]

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
