"""perf record beside hpcrun, from outside and loaded into the program: complete paths, lost samples, bytes of data, CPU time of
the program, of the recorder, and of what makes paths of the data (perf script; hpcrun writes paths). All in one run, in turns."""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import types

import overhead

# The shell measures the program alone; the rest of the recorder's process tree is the recorder.
SHELL = "bash"
RATES = (200, 1000, 5000)
TIMED = [SHELL, "-c", 'TIMEFORMAT="@cpu %3U %3S"; time "$@" > /dev/null 2>&1', SHELL]


class Plain:
    name, rate = "alone", 0

    def command(self, command, _):
        return command, {}

    def look(self, _):
        return types.SimpleNamespace(samples=0, complete=None, lost=0, cpu=0, bytes=0)


class Perf(overhead.Perf):
    def look(self, out):
        return types.SimpleNamespace(**vars(self.chains(out, SHELL)), bytes=(out / "data").stat().st_size)


class Hpcrun(overhead.Hpcrun):
    def look(self, out):
        samples, size, complete = self.inspect(out)
        text = subprocess.run([overhead.DUMP, *out.glob("*.hpcrun")], capture_output=True, text=True).stdout
        lost = sum(map(int, re.findall(r"^fate 17 CPUTIME (\d+)", text, re.M)))
        return types.SimpleNamespace(samples=samples, complete=round(complete * samples), lost=lost, cpu=0, bytes=size)


class Outside(Hpcrun):
    def __init__(self, rate):
        super().__init__(rate)
        self.name = f"hpcrun outside {rate}/s"

    def command(self, command, out):
        words, environment = super().command(command, out)
        words.insert(words.index("--"), "--outside")
        return words, environment


def tools(rate):
    perf = [Perf(rate, "fp"), Perf(rate, "dwarf")] if shutil.which("perf") else []
    return [Plain(), *perf, Outside(rate), Hpcrun(rate)]


def measure(tool, command, out):
    """What the tool has recorded; CPU seconds of the program and of the recorder."""
    shutil.rmtree(out, ignore_errors=True)
    words, environment = tool.command([*TIMED, *command], out)
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, **environment))
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    found = tool.look(out)
    found.program = sum(float(word) for word in re.search(r"@cpu (\S+) (\S+)", errors).groups())
    found.recorder = max(0, usage.ru_utime + usage.ru_stime - found.program)
    return found


def show(name, tool, runs, alone):
    def middle(field):
        return statistics.median(getattr(run, field) for run in runs)
    samples = sum(run.samples for run in runs)
    has_complete = samples and all(run.complete is not None for run in runs)
    complete = f"{100 * sum(run.complete for run in runs) / samples:.2f}%" if has_complete else "-"
    print(f"{name:9} {tool:22} {samples:8} {sum(run.lost for run in runs):6} {complete:>9} {middle('program'):8.2f} "
          f"{middle('program') / alone:6.3f} {middle('recorder'):8.3f} {middle('cpu'):8.3f} {middle('bytes'):11.0f}", flush=True)


def report(commands, directory, rounds):
    if not shutil.which("perf"):
        print("perf is not installed (Debian: linux-perf): hpcrun only")
    print(f"outside: {rounds} rounds in turns; all samples; medians of CPU seconds: program (and its ratio to the program alone),"
          f" recorder, perf script; of bytes")
    print(f"{'program':9} {'tool':22} {'samples':>8} {'lost':>6} {'complete':>9} {'program':>8} {'ratio':>6} {'recorder':>8} "
          f"{'script':>8} {'data':>11}")
    for name, command in commands.items():
        for rate in RATES:
            runs = {}
            for _ in range(rounds):
                for tool in tools(rate):
                    runs.setdefault(tool.name, []).append(measure(tool, command, pathlib.Path(directory) / "out"))
            alone = statistics.median(run.program for run in runs["alone"])
            for tool, found in runs.items():
                show(name, tool, found, alone)
