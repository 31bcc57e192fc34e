"""How long our tools and others take to analyze the same binaries, and the same run of a program."""
import ctypes
import glob
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import programs

BIN = programs.BUILD / "bin"
ADDRESSES = 10_000  # that llvm-symbolizer looks up in a binary
RATE = 1000  # samples per second
PROGRAMS = ("xz", "python3", "cc1", "clang")

PR_SET_CHILD_SUBREAPER = 36

chosen_binaries = []  # paths that the user named


# ---- binaries ----

def binaries():
    """{name: path}: a large C++ library, a compiler, an interpreter; our own tool has debug information."""
    if chosen_binaries:
        return {os.path.basename(path): path for path in chosen_binaries}
    libraries = sorted(glob.glob("/usr/lib/x86_64-linux-gnu/libLLVM-*.so.1"))
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
    found = {os.path.basename(path): path for path in libraries[:1]}
    found |= {"cc1": shutil.which(cc1), "python3": os.path.realpath("/usr/bin/python3"),
              "hpcstruct": str(BIN / "hpcstruct")}
    return {name: path for name, path in found.items() if path and os.path.exists(path)}


def sections(path):
    """[(name, address, size, is code)]."""
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    rows = [line.split("]", 1)[1].split() for line in text.splitlines() if line.lstrip().startswith("[")]
    return [(row[0], int(row[2], 16), int(row[4], 16), "X" in row[6]) for row in rows
            if len(row) > 6 and row[0].startswith(".")]


def addresses_in(path, directory):
    """A file of addresses, evenly spread over the code."""
    code = [(address, size) for _, address, size, is_code in sections(path) if is_code]
    step = max(1, sum(size for _, size in code) // ADDRESSES)
    out = pathlib.Path(directory) / "addresses"
    out.write_text("".join(f"{address + offset:#x}\n" for address, size in code
                           for offset in range(0, size, step)))
    return out


def measured(command, input_file=None, environment=None):
    """(CPU seconds, seconds, bytes of memory, status) of a command whose output is discarded."""
    start = time.monotonic()
    with open(input_file or os.devnull, "rb") as given, open(os.devnull, "wb") as null:
        process = subprocess.Popen([str(word) for word in command], stdin=given, stdout=null, stderr=null,
                                   env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss * 1024,
            process.returncode)


def tools_for(path, directory):
    """[(name, command, standard input)]; the first one is what the others are compared with."""
    struct = BIN / "hpcstruct"
    return [("hpcstruct -j1", [struct, "-j", "1", "-o", "-", path], None),
            ("hpcstruct -j2", [struct, "-j", "2", "-o", "-", path], None),
            ("objdump -d", ["objdump", "-d", path], None),
            ("readelf decodedline", ["readelf", "--debug-dump=decodedline", path], None),
            (f"llvm-symbolizer, {ADDRESSES:,}", ["llvm-symbolizer", f"--obj={path}"],
             addresses_in(path, directory))]


def print_row(labels, runs, first_runs):
    if not runs:
        print(f"{labels} {'not installed':>9}", flush=True)
        return
    cpu, wall, memory = (statistics.median(run[i] for run in runs) for i in range(3))
    times = [statistics.median(run[i] / first[i] for run, first in zip(runs, first_runs)) for i in range(2)]
    failed = "" if runs[0][3] == 0 else f"  status {runs[0][3]}"
    print(f"{labels} {cpu:9.3f} {times[0]:7.2f} {wall:9.3f} {times[1]:7.2f} {memory / 1e6:8.0f}{failed}", flush=True)


def report_binaries(directory, rounds):
    print(f"analysis of binaries: medians of {rounds} alternating rounds; x: relative to hpcstruct -j1 of the same round")
    print(f"{'binary':18} {'code MB':>8} {'debug MB':>9} {'tool':26} {'CPU s':>9} {'x':>7} {'seconds':>9} {'x':>7} "
          f"{'MB':>8}")
    for name, path in binaries().items():
        found = sections(path)
        code = sum(size for _, _, size, is_code in found if is_code)
        debug = sum(size for section, _, size, _ in found if section.startswith((".debug", ".zdebug")))
        tools = tools_for(path, directory)
        runs = {tool: [] for tool, _, _ in tools}
        for _ in range(rounds):
            for tool, command, given in tools:
                if shutil.which(command[0]):
                    runs[tool].append(measured(command, given))
        for tool, _, _ in tools:
            print_row(f"{name:18} {code / 1e6:8.1f} {debug / 1e6:9.1f} {tool:26}", runs[tool],
                      runs[tools[0][0]])


# ---- runs ----

def left_behind():
    """CPU seconds of the processes that a killed one has left to this one: perf's addr2line, which end by
    themselves."""
    seconds = 0
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


def until_first_line(command, environment=None):
    """(CPU seconds, seconds, bytes of memory, status) of a command until its first line that is neither empty
    nor a comment; it is ended there. The status is 1 if there was none."""
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment)
    found = any(line.strip() and not line.startswith(b"#") for line in process.stdout)
    wall = time.monotonic() - start
    os.kill(process.pid, signal.SIGKILL)  # not process.kill(), which may wait for it
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime + left_behind()
    return cpu, wall, usage.ru_maxrss * 1024, 0 if found else 1


class OurWay:
    """hpcprof, then hpcviewer."""

    def __init__(self, directory, command, is_cached):
        self.name = "hpcprof + hpcviewer" + (", again" if is_cached else "")
        self.directory, self.is_cached = directory, is_cached
        self.measurements, self.cache = directory / "measurements", directory / "cache"
        if not self.measurements.exists():
            programs.run([BIN / "hpcrun", "-q", "-e", f"CPUTIME@f{RATE}", "-o", self.measurements, "--", *command])
        self.input = sum(file.stat().st_size for file in self.measurements.glob("*"))

    def measure(self):
        if not self.is_cached:
            shutil.rmtree(self.cache, ignore_errors=True)
        database = self.directory / "database"
        shutil.rmtree(database, ignore_errors=True)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}
        made = measured([BIN / "hpcprof", "-o", database, self.measurements], None, environment)
        shown = until_first_line([BIN / "hpcviewer", "--print", "top-down", database], environment)
        return made[0] + shown[0], made[1] + shown[1], max(made[2], shown[2]), made[3] or shown[3]


class PerfReport:
    def __init__(self, directory, command, mode):
        self.name = f"perf report --stdio, {mode}"
        self.data = directory / f"perf-{mode}"
        programs.run(["perf", "record", "-q", "-e", "task-clock", "-F", str(RATE), "--call-graph", mode, "-o",
                      self.data, "--", *command])
        self.input = self.data.stat().st_size if self.data.exists() else 0

    def measure(self):
        return until_first_line(["perf", "report", "--stdio", "-i", self.data])


def report_runs(commands, directory, rounds):
    print(f"analysis of a run at {RATE}/s until the first line: medians of {rounds} alternating rounds; "
          "x: relative to hpcprof + hpcviewer, which analyzes the binaries; again: with their structure in the cache")
    print(f"{'program':18} {'input MB':>9} {'tools':32} {'CPU s':>9} {'x':>7} {'seconds':>9} {'x':>7} {'MB':>8}")
    for name, command in commands.items():
        folder = pathlib.Path(tempfile.mkdtemp(dir=directory))
        ways = [OurWay(folder, command, is_cached) for is_cached in (False, True)]
        if shutil.which("perf"):
            ways += [PerfReport(folder, command, mode) for mode in ("fp", "dwarf")]
        runs = {way.name: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                runs[way.name].append(way.measure())
        for way in ways:
            print_row(f"{name:18} {way.input / 1e6:9.2f} {way.name:32}", runs[way.name], runs[ways[0].name])
        if not shutil.which("perf"):
            print_row(f"{name:18} {'-':>9} {'perf report --stdio':32}", [], [])
        shutil.rmtree(folder)


def report(commands, directory, rounds):
    """In an interpreter of its own: the memory of this one would count as that of the tools."""
    what = [{name: [str(word) for word in commands[name]] for name in PROGRAMS if name in commands},
            str(directory), rounds, chosen_binaries]
    subprocess.run([sys.executable, __file__, json.dumps(what)], check=True)


def main():
    commands, directory, rounds, named = json.loads(sys.argv[1])
    chosen_binaries.extend(named)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    report_binaries(directory, rounds)
    print()
    report_runs(commands, directory, rounds)
    print("load:", " ".join(f"{x:.1f}" for x in os.getloadavg()))


if __name__ == "__main__":
    main()
