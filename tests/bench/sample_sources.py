"""What a sample costs by the source that sends its signal; sample-sources.c says how that is measured."""
import platform
import subprocess

import programs

PROGRAM = programs.BUILD / "tests" / "tools" / "sample-sources"


def report(commands, directory, rounds):
    del commands, directory
    for threads, rate in ((1, 5000), (2, 5000), (1, 1000)):
        print(f"sources: CPU time per sample, {threads} threads at {rate}/s, medians of {rounds} alternating pairs; "
              f"Linux {platform.release()}", flush=True)
        subprocess.run([PROGRAM, str(threads), str(rounds), str(rate)], check=True)
