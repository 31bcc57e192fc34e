"""Logical paths of a program that records its own tree of calls and spawns: whichever worker takes a
sample, and in whatever window of the runtime, its path is one that the program says it has.

SPAWN_TREE_SAMPLES is how many samples are checked; `make stress-logical` checks a million."""
import collections
import os
import re
import subprocess

import logical_case
import profiling
from evidence import OfChance

PROGRAMS = profiling.BUILD / "tests" / "programs" / "logical"
PLAIN, CHAOS = PROGRAMS / "spawn-tree", PROGRAMS / "spawn-tree-chaos"
RUNTIME = profiling.ROOT / "runtime-patches" / "minicilk"
SAMPLES = int(os.environ.get("SPAWN_TREE_SAMPLES", 8000))
STEALS = 4000
WORKERS = (1, 2, 4, 8, 16) if "TEST_ALL" in os.environ else (1, 4, 16)
EVENTS = ("CPUTIME@f10000", "REALTIME@f4000")


def line_of(path, text):
    """The number of the only line that holds a text."""
    number, = (i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line)
    return number


class Record:
    """What the program says of itself. A path is a tuple of (procedure, line of its call), from the
    first procedure that main calls."""

    def __init__(self, output):
        lines = {1: line_of(RUNTIME / "loop.c", "CILK_SPAWN(minicilk_for"),
                 2: line_of(RUNTIME / "loop.c", "f->range(")}
        self.steals, places = None, {0: None}
        for kind, *words in map(str.split, output.splitlines()):
            if kind == "steals":
                self.steals = int(words[0])
            else:
                number, parent, line, units = (int(words[i]) for i in (0, 1, 3, 4))
                places[number] = (parent, (words[2], lines.get(line, line)), units)
        self.units = {}  # path -> what was grown in it

        def path(number):
            return path(places[number][0]) + (places[number][1],) if number else ()
        for number in places.keys() - {0}:
            self.units[path(number)] = places[number][2]


def functions_of_runtime(program):
    """Those in the runtime's section."""
    sections = subprocess.run(["objdump", "-h", "-w", program], capture_output=True, text=True,
                              check=True).stdout
    size, begin = (int(word, 16) for word in
                   re.search(r" minicilk_text\s+([0-9a-f]+)\s+([0-9a-f]+)", sections).groups())
    return {name for name, (address, _) in profiling.symbols(program).items()
            if begin <= address < begin + size}


def windows_of_runtime():
    """Where a runtime in chaos mode yields: (function, line)."""
    found = set()
    for path in RUNTIME.glob("*.[ch]"):
        function, before = None, ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r"[A-Z]\w+ ", line):
                function = next(iter(re.findall(r"(?!__attribute__)\b(\w+)\(", line)), function)
            # The mode that is wrong on purpose yields in a loop.
            if line.strip() == "minicilk_disturb();" and not before.startswith("for "):
                found.add((function, number))
            before = line.strip()
    return found


# Those of workers without work, whose samples are nobody's: in `execute` the work is over.
WINDOWS_OF_IDLE = ("take_oldest", "execute")

# Those that workers come to only if hpcrun --work-span follows the computation.
WINDOWS_OF_OBSERVED = ("minicilk_pop_slowly",)


def amount(node, kind):
    """Of all that was sampled, in seconds, whatever the event."""
    return sum(value[kind] for name, value in node["metrics"].items()
               if value and name.split()[0] in ("work", "overhead"))


def amount_below(node, names):
    """Of the procedures of these names, and what they call."""
    if node["kind"] == "procedure" and node["name"] in names:
        return amount(node, "inclusive")
    return sum(amount_below(child, names) for child in node["children"])


def calls(path):
    """(procedure, line of its call), from the outermost."""
    return tuple((node["name"], node.get("call_site", {}).get("line")) for node in path
                 if node["kind"] == "procedure")


class SpawnTree(OfChance, logical_case.LogicalTest):
    def run_tree(self, program, workers, depth, millions, **how):
        how.setdefault("events", EVENTS)
        done, _ = self.profile(program, workers, depth, millions, **how)
        self.record = Record(done.stdout)
        process, = self.view(view="summary")["processes"]
        self.assertEqual(process["partial"], 0)
        self.samples = process["recorded"]
        self.physical = self.view("--physical")["root"]

    def check_paths(self, program):
        """Every path that was sampled in a working thread is one of the record; nothing of it is the
        runtime's, nor of the libraries that the runtime calls. Only main calls a library itself."""
        runtime = functions_of_runtime(program) | {"cilk_call_base"}
        own = profiling.symbols(program).keys()
        of_tree = {path[-1][0] for path in self.record.units}
        for path in self.sampled():
            names = {name for name, _ in path}
            self.assertFalse(runtime & names, path)
            self.assertTrue("main" in names or not of_tree & names, path)
        for below in self.below_main():
            if below and below not in self.record.units:
                self.assertFalse(own & {name for name, _ in below}, below)

        # All that was recorded in workers is below what runs the computations: they worked.
        expected = amount_below(self.physical, {"plant", "minicilk_schedule"})
        self.assertAlmostEqual(amount_below(self.tree, {"plant"}), expected, delta=1e-9 * expected)

    def sampled(self):
        """The calls, from the outermost, of every context that something was measured in."""
        return {calls(path) for path in logical_case.walk(self.tree) if amount(path[-1], "exclusive")}

    def below_main(self):
        """The same, below main, of those that it has called."""
        for path in self.sampled():
            names = [name for name, _ in path]
            if "main" in names:
                yield path[names.index("main") + 1:]

    def sampled_windows(self):
        """(function, line) where a runtime in chaos mode was sampled while it yielded -> seconds."""
        found = collections.Counter()
        for path in logical_case.walk(self.physical):
            if path[-1]["kind"] == "procedure" and path[-1]["name"] == "minicilk_chaos":
                at = [node["name"] for node in path].index("minicilk_disturb")
                function = [node["name"] for node in path[:at]
                            if node["kind"] in ("procedure", "inlined")][-1]
                found[function, path[at]["call_site"]["line"]] += amount(path[-1], "inclusive")
        return found


class Samples(SpawnTree):
    """Of SAMPLES samples at 1 to 16 workers, each is in its path."""

    LIMIT = 120 + SAMPLES / 100  # seconds; without all windows then, there is no evidence about them
    RUNS = ((PLAIN, 6, 50, ()), (CHAOS, 3, 3, ()), (CHAOS, 3, 3, ("--work-span",)))  # depth, millions, options

    def test_every_path_is_one_of_the_record(self):
        """Also where the runtime yields in its windows, so that most samples are inside them."""
        samples, steals, seconds = 0, 0, collections.Counter()
        expected = {window for window in windows_of_runtime() if window[0] not in WINDOWS_OF_IDLE}
        for found in self.looks(self.LIMIT):
            for program, depth, millions, options in self.RUNS:
                for workers in WORKERS:
                    with self.subTest(program.name, workers=workers, options=options):
                        self.run_tree(program, workers, depth, millions, options=options)
                        self.check_paths(program)
                        found.enough("samples", self.samples, SAMPLES)
                        found.enough("steals", self.record.steals, STEALS)
                        samples, steals = samples + self.samples, steals + self.record.steals
                        windows = self.sampled_windows()
                        self.assertLessEqual(windows.keys(), expected)
                        found.enough("windows", len(windows.keys() - seconds.keys()), len(expected))
                        seconds.update(windows)
        if SAMPLES >= 1000000:
            print(samples, "samples,", steals, "steals; seconds in windows:")
            for (function, line), value in sorted(seconds.items()):
                print(f"    {value:8.3f}  {function}, line {line}")

    def test_windows_of_idle_workers(self):
        """Seen natively, samples are in these windows, too; with the agent they are nobody's."""
        seen, found = set(), self.evidence(self.LIMIT)
        expected = {window for window in windows_of_runtime() if window[0] not in WINDOWS_OF_OBSERVED}
        for _ in found.looks():
            self.run_tree(CHAOS, 4, 3, 5, options=("--agent", "none"))
            windows = self.sampled_windows().keys()
            self.assertLessEqual(windows, expected)
            found.enough("windows", len(windows - seen), len(expected))
            seen |= windows


class FewPaths(SpawnTree):
    """Each path is expected 25 times and more: that one of 200 is not there, at one of five numbers of workers, has a
    probability of 1000 exp(-25) = 1.4e-8."""

    def run_long_enough(self, workers):
        millions, expected = 50, 0
        while expected < 25:
            millions *= 2
            self.run_tree(PLAIN, workers, 3, millions)
            units = self.record.units.values()
            expected = self.samples * min(filter(None, units)) / sum(units)

    def test_tree_is_the_same_at_any_number_of_workers(self):
        contexts = {}
        for workers in WORKERS:
            with self.subTest(workers=workers):
                self.run_long_enough(workers)
                self.check_paths(PLAIN)
                units = self.record.units
                self.assertLessEqual(len(units), 200)
                found = {below[:i] for below in self.below_main() for i in range(1, len(below) + 1)}
                self.assertEqual(found & units.keys(), units.keys())
                contexts[workers] = len(found)
        self.assertLessEqual(contexts[16], 1.1 * contexts[1])
