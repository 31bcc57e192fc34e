"""What the time line costs: each record by itself, and the handler with and without it, in alternating runs."""
import os
import statistics
import subprocess

import handler
import programs

RECORD = programs.BUILD / "tests" / "tools" / "trace-record"
RECURSION = programs.BUILD / "tests" / "programs" / "hpcrun" / "recursion"
SAMPLES = (10, 8_000, 16_000, 34_000)  # 16,256 fill the array; then it is halved, and again at 32,512
CACHES = (0, 100_000, 1_000_000, 4_000_000)
RATE = 5000


def records(directory, samples, cold):
    words = subprocess.run([RECORD, os.path.join(directory, "trace"), str(samples), str(cold)], capture_output=True,
                           text=True, check=True).stdout.split()
    return {key: float(value) for key, value in zip(words[::2], words[1::2])}


def handlers(directory, seconds, trace):
    os.environ["HPCRUN_TRACE"] = trace
    return handler.measure([RECURSION, "10", str(int(1000 * seconds)), "leaf"], directory, RATE)[0]


def report(_commands, directory, rounds):
    print("trace: ns that a record takes by itself, page faults and halving of the array included, after so many bytes were "
          f"read between two samples; medians of {rounds} runs")
    print(f"{'samples':>8} {'page faults':>11} " + " ".join(f"{cold:>11,}" for cold in CACHES))
    for samples in SAMPLES:
        runs = [[records(directory, samples, cold) for _ in range(rounds)] for cold in CACHES]
        print(f"{samples:8} {statistics.median(run['faults'] for run in runs[0]):11.0f} "
              + " ".join(f"{statistics.median(run['sample'] for run in of):11.1f}" for of in runs), flush=True)
    print(f"ns of the handler, samples over 0.1 ms left out, of a thread's first samples at {RATE}/s; pairs of runs")
    before = os.environ.get("HPCRUN_TRACE")
    for samples in SAMPLES[1], SAMPLES[3]:
        pairs = [(handlers(directory, samples / RATE, "0"), handlers(directory, samples / RATE, "16256"))
                 for _ in range(rounds)]
        off, on = (statistics.median(pair[i]["handler"] for pair in pairs) for i in (0, 1))
        more = statistics.median(on["handler"] - off["handler"] for off, on in pairs)
        print(f"{samples:8} samples: {off:.0f} without, {on:.0f} with; median of the differences {more:+.0f}", flush=True)
    os.environ.pop("HPCRUN_TRACE")
    os.environ.update({"HPCRUN_TRACE": before} if before else {})
