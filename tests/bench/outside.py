"""perf record beside hpcrun, from outside and loaded into the program: complete paths, CPU time of the program and of the
recorder, bytes of data. All in one run, in turns."""
import os
import pathlib
import re
import shutil
import statistics
import subprocess

import overhead
import programs

# The shell measures the program alone; the rest of the recorder's process tree is the recorder.
TIMED = ["bash", "-c", 'TIMEFORMAT="@cpu %3U %3S"; time "$@" > /dev/null 2>&1', "bash"]


class Plain:
    name, rate = "alone", 0

    def command(self, command, _):
        return command, {}

    def inspect(self, _):
        return 0, 0, None


class Outside(overhead.Hpcrun):
    def __init__(self, rate):
        super().__init__(rate)
        self.name = f"hpcrun outside {rate}/s"

    def command(self, command, out):
        words, environment = super().command(command, out)
        words.insert(words.index("--"), "--outside")
        return words, environment


def tools(rate):
    perf = [overhead.Perf(rate, "fp"), overhead.Perf(rate, "dwarf")] if shutil.which("perf") else []
    return [Plain(), *perf, Outside(rate), overhead.Hpcrun(rate)]


def measure(tool, command, out):
    """CPU seconds of the program and of the recorder."""
    shutil.rmtree(out, ignore_errors=True)
    words, environment = tool.command([*TIMED, *command], out)
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, **environment))
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    program = sum(float(word) for word in re.search(r"@cpu (\S+) (\S+)", errors).groups())
    return program, max(0, usage.ru_utime + usage.ru_stime - program)


def report(commands, directory, rounds):
    if not shutil.which("perf"):
        print("perf is not installed (Debian: linux-perf): hpcrun only")
    print(f"outside: medians of {rounds} rounds in turns; CPU seconds: program (and its ratio to the program alone), recorder")
    print(f"{'program':14} {'tool':24} {'samples':>8} {'complete':>9} {'program':>8} {'ratio':>6} {'recorder':>8} {'data':>11}")
    for name, command in commands.items():
        for rate in (200, 1000, 5000):
            times, last = {}, {}
            for _ in range(rounds):
                for tool in tools(rate):
                    out = pathlib.Path(directory) / "out"
                    times.setdefault(tool.name, []).append(measure(tool, command, out))
                    last[tool.name] = tool.inspect(out)
            alone = statistics.median(program for program, _ in times["alone"])
            for tool, seconds in times.items():
                program, recorder = (statistics.median(part) for part in zip(*seconds))
                samples, size, complete = last[tool]
                complete = "-" if complete is None else f"{100 * complete:.2f}%"
                print(f"{name:14} {tool:24} {samples:8} {complete:>9} {program:8.2f} {program / alone:6.3f} {recorder:8.2f} "
                      f"{size:11}", flush=True)
