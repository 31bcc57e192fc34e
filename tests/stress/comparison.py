"""Programs with hpcrun and without, over and over, for real_programs.py and own_programs.py: the same
status, output and errors, no hang, and measurements that add up.

Every round runs every program once under each way of sampling (with --one-way under one of them, another
for each program and round). Prints a table, of all programs and of each with a finding: runs, and how many of
them hung (no end within 20 times what the runs without hpcrun take, at least ten minutes: their stacks are shown
then), were ended by a signal that they don't get by themselves, changed their status or output, or left a
measurement that can't be read or whose samples don't add up. Exits with 1 if there was any. Programs that aren't
installed, or that by themselves do not say the same each time, are left out and named."""
import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))
import profiling  # noqa: E402 (needs the path above)
import watchdog  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
HUNG, SIGNALLED, CHANGED, UNREADABLE = BAD = ("hung", "ended by a signal", "changed", "unreadable")


@dataclasses.dataclass
class Program:
    """`varies` matches what of its output is never the same, as times are. `fills` says that it leaves
    no room for a measurement, on purpose, so that nothing is asked of that."""
    words: list
    tool: str = None  # which must be installed
    varies: str = None
    fills: bool = False


def is_wrong(image):
    """Whether something in a measurement is lost, or its samples don't add up."""
    rest = [profiling.RECORDED, profiling.IDLE, profiling.NOBODY, *profiling.DROPPED]
    return image.problems or any(
        get(event, [profiling.FIRED]) != get(event, rest)
        for thread in image.threads for event in {event for event, _ in thread.fates}
        for get in (thread.count, thread.amount))


class Comparison:
    """`make_inputs` fills a directory; every run is in a copy of it."""

    def __init__(self, programs, make_inputs, ways, hpcrun, directory):
        self.programs, self.ways, self.hpcrun = programs, ways, hpcrun
        self.directory, self.inputs = directory, directory / "inputs"
        self.inputs.mkdir()
        make_inputs(self.inputs)
        self.expected, self.limit = {}, {}
        self.found = collections.defaultdict(collections.Counter)
        self.lock = threading.Lock()

    def run(self, name, prefix, limit):
        """What the program did: its status, output and errors, but for what hpcrun itself says."""
        program = self.programs[name]
        place = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        environment = dict(os.environ, LC_ALL="C", HOME=str(place), TMPDIR=str(place), TZ="UTC")
        try:
            shutil.copytree(self.inputs, place / "in")
            run = watchdog.Run([*prefix, *program.words], cwd=place / "in", env=environment)
            status, out, errors = run.finish(limit)
            said = b"".join(line for line in errors.splitlines(True) if not line.startswith(b"hpcrun: "))
            out, said = out.replace(str(place).encode(), b""), said.replace(str(place).encode(), b"")
            return status, re.sub(program.varies.encode(), b"#", out) if program.varies else out, said
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def learn(self, name, times, ways):
        """Why the program can't be compared; None when it is here and says the same each time, without us.
        What one of the ways runs it in, it is in then, too."""
        program = self.programs[name]
        if program.tool and not shutil.which(program.tool):
            return "not installed"
        try:
            for prefix in {prefix for _, prefix in ways}:
                before = time.monotonic()
                seen = [self.run(name, prefix, profiling.HANG) for _ in range(times)]
                if seen.count(seen[0]) != times:
                    return "does not say the same each time"
                self.expected[name, prefix] = seen[0]
                self.limit[name] = max(profiling.HANG, 20 * (time.monotonic() - before), self.limit.get(name, 0))
        except watchdog.Hung:
            return "does not end"
        return None

    def try_once(self, name, way):
        event, prefix = way
        where = pathlib.Path(tempfile.mkdtemp(dir=self.directory)) / "m"
        try:
            seen = self.run(name, [*prefix, self.hpcrun, "-q", "-e", event, "-o", where, "--"], self.limit[name])
            outcome = self.judge(self.expected[name, prefix], seen) or self.judge_measurements(name, where)
        except watchdog.Hung as report:
            seen, outcome = report, HUNG
            (where.parent / "stacks").write_text(str(report))
        with self.lock:
            self.found[name]["runs"] += 1
            if outcome:
                self.found[name][outcome] += 1
                print(f"{name}: {outcome} with {event} {' '.join(map(str, prefix))}, see {where.parent}: {seen}"[:20000],
                      file=sys.stderr, flush=True)
        if not outcome:
            shutil.rmtree(where.parent, ignore_errors=True)

    def judge(self, expected, seen):
        if seen == expected:
            return None
        if seen[0] != expected[0] and (seen[0] < 0 or seen[0] > 128):
            return SIGNALLED
        return CHANGED

    def judge_measurements(self, name, where):
        """Processes that the program left behind may still be writing theirs: they get ten minutes."""
        deadline = time.monotonic() + profiling.HANG
        while True:
            try:
                wrong = where.exists() and any(map(is_wrong, profiling.read_measurements(where)))
            except subprocess.CalledProcessError:
                wrong = True
            if not wrong or self.programs[name].fills:
                return None
            if time.monotonic() > deadline:
                return UNREADABLE
            time.sleep(0.1)

    def round(self, number, names, one_way):
        """The (program, way) pairs of a round."""
        if one_way:
            return [(name, self.ways[(number + i) % len(self.ways)]) for i, name in enumerate(names)]
        return [(name, way) for way in self.ways for name in names]

    def table(self, chosen):
        rows = [f"| program | runs | {' | '.join(BAD)} |", f"|---|---|{'---|' * len(BAD)}"]
        total = collections.Counter()
        for name in chosen:
            total.update(self.found[name])
            if any(self.found[name][bad] for bad in BAD):
                rows.append(f"| {name} | {self.found[name]['runs']} | {' | '.join(str(self.found[name][bad]) for bad in BAD)} |")
        rows.append(f"| **{len(chosen)} programs** | {total['runs']} | {' | '.join(str(total[bad]) for bad in BAD)} |")
        return "\n".join(rows), any(total[bad] for bad in BAD)


def main(description, programs, make_inputs, ways):
    """The command line of the two; returns the exit status."""
    parser = argparse.ArgumentParser(description=description + "\n" + __doc__.partition("\n\n")[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--hours", type=float, default=float("inf"), help="begin no round after this time")
    parser.add_argument("--one-way", action="store_true", help="each program in one way per round")
    parser.add_argument("--learn", type=int, default=3, help="runs without hpcrun, first")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--hpcrun", default=BUILD / "bin" / "hpcrun", help="another one, as of another build")
    parser.add_argument("--programs", help="only these, separated by commas")
    arguments = parser.parse_args()
    began = time.monotonic()
    directory = tempfile.mkdtemp(prefix="hpcstress-")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        comparison = Comparison(programs, make_inputs, ways, arguments.hpcrun, pathlib.Path(directory))
        names = arguments.programs.split(",") if arguments.programs else list(programs)
        rounds = [comparison.round(number, names, arguments.one_way) for number in range(arguments.rounds)]
        ways_of = collections.defaultdict(set)
        for name, way in itertools.chain(*rounds):
            ways_of[name].add(way)
        chosen = []
        for name, why in zip(names, pool.map(lambda name: comparison.learn(name, arguments.learn, ways_of[name]), names)):
            if why:
                print(f"left out: {name}: {why}", file=sys.stderr)
            else:
                chosen.append(name)
        for number, runs in enumerate(rounds):
            if time.monotonic() - began > arguments.hours * 3600:
                print(f"stopped after {number} rounds", file=sys.stderr)
                break
            for done in [pool.submit(comparison.try_once, *run) for run in runs if run[0] in chosen]:
                done.result()
    table, bad = comparison.table(chosen)
    print(table)
    if bad:
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    return 0
