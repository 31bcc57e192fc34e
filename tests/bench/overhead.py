"""CPU time with each profiler against without, in alternating runs; and with signals that nobody uses, the floor for
profilers that sample by signals."""
import functools
import os
import pathlib
import random
import re
import shutil
import statistics
import struct
import subprocess
import types

import programs

HPCRUN = programs.BUILD / "bin" / "hpcrun"
DUMP = programs.BUILD / "tests" / "tools" / "dump-measurement"
DENY_PERF = programs.BUILD / "tests" / "tools" / "deny-perf"
GPERFTOOLS = "/usr/lib/x86_64-linux-gnu/libprofiler.so.0"
EMPTY_HANDLER = programs.BUILD / "tests" / "tools" / "empty-handler.so"
# Deeper than any stack of the programs: perf's default is 127 frames, of clang++ fewer than half.
PERF_SCRIPT = ["perf", "script", "-F", "comm,ip,sym,dso", "--no-inline", "--max-stack", "2048", "--show-lost-events"]


@functools.cache
def entry_of(path):
    """The address of an executable's entry; 0: it is no file; None: it is a Go program."""
    if not os.path.isfile(path):
        return 0
    data = pathlib.Path(path).read_bytes()
    return None if b"\xff Go buildinf:" in data else struct.unpack_from("<Q", data, 24)[0]


# Where libc calls main and the functions of threads: a chain that ends there lacks nothing of the program. perf ends all of
# them there in some runs, and in the next ones at the entry.
STARTS = ("__libc_start_call_main", "start_thread", "clone", "__clone3")


class Hpcrun:
    def __init__(self, rate, deny_perf=False):
        self.name = f"hpcrun {'timers ' if deny_perf else ''}{rate}/s"
        self.rate, self.prefix = rate, [DENY_PERF] if deny_perf else []

    def command(self, command, out):
        return [*self.prefix, HPCRUN, "-q", "-e", f"CPUTIME@f{self.rate}", "-o", out, "--", *command], {}

    def inspect(self, out):
        """samples, bytes, share of complete call paths"""
        files = sorted(out.glob("*.hpcrun"))
        text = subprocess.run([DUMP, *files], capture_output=True, text=True).stdout
        fates = re.findall(r"^fate \d+ CPUTIME (\d+) (\d+)", text, re.M)
        recorded = sum(int(n) for code, n in fates if code == "1")
        partial = sum(int(n) for code, n in fates if 64 <= int(code) < 96)
        return recorded, sum(f.stat().st_size for f in files), 1 - partial / max(recorded, 1)


class Perf:
    def __init__(self, rate, mode):
        self.name, self.rate, self.mode = f"perf {mode} {rate}/s", rate, mode

    def command(self, command, out):
        out.mkdir()
        return ["perf", "record", "-q", "-e", "task-clock", "-F", str(self.rate), "--call-graph",
                self.mode, "-o", out / "data", "--", *command], {}

    def inspect(self, out):
        """samples, bytes, share of complete call paths"""
        chains = self.chains(out)
        return chains.samples, (out / "data").stat().st_size, chains.complete / chains.samples if chains.complete else None

    @staticmethod
    def chains(out, shell=None):
        """What perf script makes of the data, without the chains of `shell`. A chain is complete whose outermost address is at
        its file's entry, which needs no names, or in libc's functions of STARTS. `complete` is None for Go, whose stacks begin
        elsewhere. `lost`: samples for which perf's ring had no room. `cpu`: perf script's seconds."""
        process = subprocess.Popen([*PERF_SCRIPT, "-i", out / "data"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        samples = complete = lost = 0
        is_go = False
        name = last = None
        for line in process.stdout:
            if line[0].isspace() and line.strip():
                last = line
            elif "PERF_RECORD_LOST " in line:
                lost += int(line.split()[-1])
            elif line.strip():
                name = line.split()[0]
            elif name:
                samples += name != shell
                frame = re.match(r"\s+(\w+) (.*) \((.*)\)$", last) if last and name != shell else None
                entry = entry_of(frame[3]) if frame else 0
                is_go |= entry is None
                complete += bool(frame and not is_go and (0 <= int(frame[1], 16) - entry < 64
                                                          or frame[2].split("+")[0] in STARTS))
                name = last = None
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        return types.SimpleNamespace(samples=samples, complete=None if is_go else complete, lost=lost,
                                     cpu=usage.ru_utime + usage.ru_stime)


class Gperftools:
    def __init__(self, rate):
        self.name, self.rate = f"gperftools {rate}/s", rate

    def command(self, command, out):
        out.mkdir()
        return command, {"LD_PRELOAD": GPERFTOOLS, "CPUPROFILE": str(out / "profile"),
                         "CPUPROFILE_FREQUENCY": str(self.rate)}

    def inspect(self, out):
        samples = size = 0
        for path in out.iterdir():
            data = path.read_bytes()
            size += len(data)
            words = struct.unpack(f"{len(data) // 8}Q", data[:len(data) // 8 * 8])
            at = 2 + words[1]
            while at + 1 < len(words) and words[at]:  # the trailer has count 0
                samples += words[at]
                at += 2 + words[at + 1]
        return samples, size, None


class EmptyHandler:
    """Signals to the main thread, from perf's task clock or from a timer on the wall clock, and nothing else."""

    def __init__(self, rate, timer=False):
        self.name = f"empty {'timer' if timer else 'perf'} {rate}/s"
        self.rate, self.source = rate, {"EMPTY_HANDLER_TIMER": "1"} if timer else {}

    def command(self, command, out):
        out.mkdir()
        return command, {"LD_PRELOAD": str(EMPTY_HANDLER), "EMPTY_HANDLER_RATE": str(self.rate),
                         "EMPTY_HANDLER_OUT": str(out / "signals"), **self.source}

    def inspect(self, out):
        counted = out / "signals"
        return int(counted.read_text()) if counted.exists() else 0, 0, None


def tools():
    chosen = []
    for rate in (200, 1000, 5000):
        chosen += [Hpcrun(rate), Hpcrun(rate, deny_perf=True), EmptyHandler(rate), EmptyHandler(rate, timer=True)]
        if shutil.which("perf"):
            chosen += [Perf(rate, "fp"), Perf(rate, "dwarf")]
        if os.path.exists(GPERFTOOLS):
            chosen.append(Gperftools(rate))
    return chosen


def cpu_seconds(command, environment=None):
    status, usage = programs.run(command, environment)
    return status, usage.ru_utime + usage.ru_stime


def interval(values, rng):
    """Bootstrap 95 % confidence interval of the median."""
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def report(commands, directory, rounds):
    print(f"overhead: CPU time with / without, {rounds} alternating pairs; achieved samples per CPU second")
    print(f"{'program':14} {'tool':20} {'median':>8} {'95 % interval':>17} {'rate':>7} {'complete':>9} "
          f"{'output':>10}")
    rng = random.Random(1)
    for name, command in commands.items():
        ratios, last = {}, {}
        for _ in range(rounds):
            for tool in tools():
                _, plain = cpu_seconds(command)
                out = pathlib.Path(directory) / "out"
                shutil.rmtree(out, ignore_errors=True)
                words, environment = tool.command(command, out)
                status, cpu = cpu_seconds(words, environment)
                ratios.setdefault(tool.name, []).append(cpu / plain)
                if tool.name not in last:
                    samples, size, complete = tool.inspect(out)
                    last[tool.name] = (samples / cpu, size, complete, status)
        for tool, values in ratios.items():
            low, high = interval(values, rng)
            rate, size, complete, status = last[tool]
            complete = "-" if complete is None else f"{100 * complete:.2f}%"
            print(f"{name:14} {tool:20} {100 * (statistics.median(values) - 1):+7.2f}% "
                  f"{100 * (low - 1):+7.2f}..{100 * (high - 1):+6.2f}% {rate:7.1f} {complete:>9} {size:10}"
                  + ("" if status == 0 else f"  status {status}"), flush=True)
