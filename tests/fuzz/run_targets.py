#!/usr/bin/env python3
"""Runs the fuzz targets and prints the executions of each.

usage: tests/fuzz/run_targets.py BUILD SECONDS [TARGET...]

Each target runs for SECONDS. Inputs that reach new code are kept in BUILD/fuzz/grown for the next run. An input that
causes a crash, a hang, a leak, too much memory or a broken promise is kept in BUILD/fuzz/findings; the exit status is
then 1. `BUILD/fuzz/TARGET FILE` repeats it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# A hang is what takes 20 s. The limits in MB are those of libFuzzer; fuzz-target.h has the narrower ones of ours.
LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=256")


def targets(build):
    return sorted(path.name for path in (build / "fuzz" / "corpus").iterdir() if path.is_dir())


def command(build, target, *options):
    words = build / "fuzz" / "corpus" / f"{target}.dict"
    return [build / "fuzz" / target, *LIMITS, *([f"-dict={words}"] if words.exists() else []), *options]


def environment(folder):
    """Folders of inputs are made in `folder`."""
    return dict(os.environ, TMPDIR=str(folder), LC_ALL="C.UTF-8")


def fast_folder():
    """A temporary folder, in memory where possible."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def run(build, target, seconds):
    """(executions, what was found or "")."""
    grown, findings = build / "fuzz" / "grown" / target, build / "fuzz" / "findings"
    grown.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    options = (f"-max_total_time={seconds}", "-print_final_stats=1", f"-artifact_prefix={findings}/{target}-")
    with fast_folder() as folder:
        done = subprocess.run(command(build, target, *options, grown, build / "fuzz" / "corpus" / target),
                              capture_output=True, text=True, errors="replace", env=environment(folder))
    executed = re.search(r"number_of_executed_units: *(\d+)", done.stderr)
    found = "" if done.returncode == 0 else done.stderr[-4000:]
    return int(executed[1]) if executed else 0, found


def main():
    build, seconds = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    total, findings, began = 0, 0, time.monotonic()
    for target in sys.argv[3:] or targets(build):
        executions, found = run(build, target, seconds)
        total, findings = total + executions, findings + bool(found)
        print(f"{target:20} {executions:12,} executions", flush=True)
        if found:
            print(found)
    print(f"{'all':20} {total:12,} executions in {time.monotonic() - began:.0f} s, {findings} targets with findings")
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
