#!/usr/bin/env python3
"""How long hpcprof takes, and how much memory, for measurements of many nodes or threads.

usage: tests/bench/hpcprof_scale.py BUILD [NODES THREADS PROCESSES]...

The measurements are made up: a program of 4,000 functions with loops and inlined code, whose call
graph is walked at random, mostly along few edges, until every thread has its share of nodes. Sample
amounts lie on the leaves. Processes beyond the first DISTINCT have the trees of these. hpcstruct is
replaced by a script that gives the structure, so its time is not in the figures. Prints one line per
case and number of worker threads of hpcprof, 1 and 2; memory also relative to the database."""
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
os.environ["BUILD"] = str(pathlib.Path(sys.argv[1]).resolve())

import measurement_writer as mw  # noqa: E402
from hpcprof_scenario import Scenario  # noqa: E402 (needs the path above)
from structure_model import A, F, L, P, S, Structure  # noqa: E402

FUNCTIONS, SIZE, CALLEES = 4000, 0x200, 6
DISTINCT = 4
CASES = [(100_000, 1, 1), (2_000_000, 64, 1), (1_000_000, 1000, 1), (200_000, 100, 100)]


def program():
    """Each function: 0x20 bytes per line, two loops, one inlined function."""
    def lines(at, first, count):
        return [S(first + i, (at + 0x20 * i, at + 0x20 * i + 0x20)) for i in range(count)]
    files = []
    for number in range(0, FUNCTIONS, 20):
        procedures = []
        for f in range(number, number + 20):
            at, line = SIZE * (f + 1), 40 * (f - number) + 1
            procedures.append(
                P(f"function_{f}", line, [(at, at + SIZE)], *lines(at, line + 1, 4),
                  L(line + 6, *lines(at + 0x80, line + 7, 4),
                    L(line + 12, *lines(at + 0x100, line + 13, 4))),
                  A(line + 20, f"inlined_{f % 50}", "/nonexistent/inline.h", f % 50,
                    *lines(at + 0x180, 3, 4))))
        files.append(F(f"/nonexistent/file_{number}.c", *procedures))
    return Structure(*files)


def grow_tree(thread, instance, nodes, generator):
    """Random walks from main, until the thread has that many nodes."""
    while len(thread.nodes) < nodes:
        node, function = 0, 0
        for _ in range(generator.randrange(4, 60)):
            edge = min(int(generator.expovariate(0.8)), CALLEES - 1)
            site = SIZE * (function + 1) + 8 + 0x30 * edge
            node = thread.node(node, (instance, site), "ip")
            function = (function * 31 + edge * 977 + 1) % FUNCTIONS
        leaf = SIZE * (function + 1) + generator.randrange(0, SIZE, 4)
        thread.add(thread.node(node, (instance, leaf), "ip"), 0, generator.randrange(1, 2**32))


def make_measurements(folder, nodes, threads, processes):
    scenario = Scenario(folder)
    module = scenario.binary("program", "abcd01", program())
    generator = random.Random(1)
    known = []  # chunks of the threads of each distinct process
    for pid in range(processes):
        process = mw.Measurement(pid=pid, start_time=pid)
        process.instances = {}
        process.metric("work", process.event("CPUTIME"))
        instance = scenario.load(process, module)
        for _ in range(threads // processes):
            thread = process.thread()
            if pid < DISTINCT:
                grow_tree(thread, instance, nodes // threads, generator)
        if pid < DISTINCT:
            known.append([list(process.thread_chunks(thread)) for thread in process.threads])
        process.thread_chunks = lambda thread, chunks=known[pid % DISTINCT]: chunks[thread.index]
        process.write(scenario.measurements)


def run_case(nodes, threads, processes):
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: what this one has in memory would count as hpcprof's, too.
        maker = multiprocessing.Process(target=make_measurements,
                                        args=(folder, nodes, threads, processes))
        maker.start()
        maker.join()
        measurements = pathlib.Path(folder, "hpctoolkit-program-measurements")
        size = sum(p.stat().st_size for p in measurements.iterdir())
        for workers in (1, 2):
            print(f"{nodes:>11,} nodes, {threads:>4} threads, {processes:>4} processes, {size / 1e6:.1f} MB: "
                  + run_hpcprof(folder, measurements.name, workers, nodes), flush=True)


def run_hpcprof(folder, measurements, workers, nodes):
    """Makes the database; what is to be said of it."""
    database = pathlib.Path(folder, "db")
    shutil.rmtree(database, ignore_errors=True)
    start = time.monotonic()
    running = subprocess.Popen(["bin/hpcprof", "-j", str(workers), "-o", "db", measurements],
                               cwd=folder, stdout=subprocess.DEVNULL,
                               env={**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"})
    _, status, usage = os.wait4(running.pid, 0)
    wall, cpu = time.monotonic() - start, usage.ru_utime + usage.ru_stime
    if status:
        sys.exit(f"hpcprof failed with status {status}")
    files = {p.name: p.stat().st_size for p in database.glob("*.db")}
    return (f"-j{workers} {wall:6.2f} s wall, {usage.ru_utime:6.2f} + {usage.ru_stime:.2f} s CPU, "
            f"{nodes / cpu / 1e6:.2f} M nodes per s of CPU, at most {usage.ru_maxrss / 1024:,.0f} MiB "
            f"({usage.ru_maxrss * 1024 / sum(files.values()):.2f} of the database), "
            + ", ".join(f"{name} {bytes_ / 1e6:.0f} MB" for name, bytes_ in sorted(files.items())))


def main():
    numbers = [int(argument) for argument in sys.argv[2:]]
    for nodes, threads, processes in zip(*[iter(numbers)] * 3) if numbers else CASES:
        if threads < processes or nodes < threads:
            sys.exit(f"{nodes} nodes, {threads} threads, {processes} processes: each process needs a thread, each thread a node")
        run_case(nodes, threads, processes)


main()
