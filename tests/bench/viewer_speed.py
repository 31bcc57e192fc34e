"""How fast the terminal viewer answers on a database of 2,000,000 contexts and 256 threads, on one of 30,000 contexts, on
a comparison of two of these, on the losses of a set of ten, and on one of 1,000 threads with a time line of 10,000,000
records."""
import os
import pathlib
import statistics
import sys

import programs

sys.path.insert(0, str(programs.ROOT / "tests" / "integration"))

import v4_big  # noqa: E402 (needs the path above)
import viewer  # noqa: E402
from viewer_driver import Driver  # noqa: E402

CONTEXTS, THREADS = 2_000_000, 256
VIEWER = programs.BUILD / "bin" / "hpcviewer"

# What is done, by which keys; after each others the viewer is where the next begins.
STEPS = [
    ("one row down", b"j"),
    ("open a node with 10,000 children", b"j+"),
    ("down in them", b"j"),
    ("a page down", b"\x06"),
    ("to the last of 10,000", b"G"),
    ("to the first", b"g"),
    ("sort them by the next column", b">"),
    ("sort them in reverse", b"r"),
    ("and back", b"r"),
    ("close the node", b"jj-"),
    ("hot path", b"gjH"),
    ("threads of a row", b"gjj4"),
    ("the next metric in threads", b">"),
    ("back", b"q"),
    ("zoom in, and out", b"zZ"),
    ("source pane off and on", b"vv"),
    ("open everything (100,000 rows)", b"g*"),
    ("one row down in them", b"j"),
    ("to the last of them", b"G"),
    ("close one of them", b"gjjj-"),
    ("open it again", b"+"),
    ("sort them by the next column", b">"),
    ("close everything", b"g_"),
    ("open the first level", b"+j+"),
    ("rows with 1 percent", b"%1\r"),
    ("no filters", b"\\cq"),
    ("only what matches a name", b"&procedure_17$\r"),
    ("no filters", b"\\cq"),
    ("define a metric", b"dwaste = $idleness + $overhead\r"),
    ("sort by it", b"<"),
    ("inspect a row", b"i"),
    ("back", b"q"),
    ("hide a scope", b"gjjxs"),
    ("undo", b"U"),
    ("bottom-up, the first time", b"2"),
    ("callers of a procedure", b"j+"),
    ("threads of a procedure", b"4"),
    ("back", b"q"),
    ("flat, the first time", b"3"),
    ("threads of a module", b"j4"),
    ("back", b"q"),
    ("advice on a module", b"a"),
    ("back", b"q"),
    ("top-down again", b"1"),
    ("bottom-up again", b"2"),
    ("find the last name", b"1g/procedure_4999\r"),
    ("find the next one", b"n"),
    ("one thread", b"|thread 7$\r"),
    ("half of the threads", b"|\x15thread [0-9]*[02468]$\r"),
    ("all threads", b"|\x15\r"),
    ("the same scope bottom-up", b"gH.2"),
    ("back", b"["),
    ("flat again", b"3"),
    ("help", b"?"),
]

SMALL_CONTEXTS, SMALL_THREADS, RUNS = 30_000, 64, 10
# Those that a comparison has, too.
COMPARED = ("threads", "the next metric in threads", "back", "inspect", "define", "sort by it", "one thread",
            "half of the threads", "all threads", "callers", "advice")
COMPARED_STEPS = [(step, keys) for step, keys in STEPS if not step.startswith(COMPARED)]

TIMED_CONTEXTS, TIMED_THREADS, RECORDS = 20_000, 1000, 10_000_000
TIME_STEPS = [
    ("the time line, 100 groups", b"6"),
    ("a row down", b"j"),
    ("the cursor to the right", b"l"),
    ("zoom in", b"z"),
    ("half a window to later times", b">"),
    ("zoom out", b"Z"),
    ("the whole run", b"0"),
    ("procedures", b"+"),
    ("a level deeper", b"+"),
    ("states", b"--"),
    ("the longest idle stretch", b"i"),
    ("open a group", b" "),
    ("a page down", b"\x06"),
    ("a row for each thread", b"oo"),
    ("the last one", b"G"),
    ("where a procedure ran", b"/procedure_17\r"),
    ("a phase", b"0n"),
    ("the first phase", b"0N"),
    ("the window is the range", b"R"),
    ("advice on it", b"a"),
    ("back", b"q"),
    ("threads of that piece of time", b"4"),
    ("summary of it", b"5"),
    ("the time line of it", b"6"),
    ("the whole run", b"\x1b"),
]


def write_set(directory):
    """Of the same two databases in turn, with 1, 2 ... workers, twice each."""
    folder = pathlib.Path(directory, "set")
    lines = ["hpctoolkit-set 1", "command ./app {P}"]
    for run in range(RUNS):
        name = f"run-{1 + run // 2}-{run % 2}"
        lines.append(f"run {1 + run // 2} {run % 2} 0 {10 / (1 + run // 2)} {name}")
        database = folder / f"{name}-database"
        database.mkdir(parents=True)
        (folder / name).mkdir()
        for file in "meta.db", "profile.db":
            os.link(pathlib.Path(directory, f"small-{run % 2}", file), database / file)
        (folder / name / "x.hpcrun").touch()
        os.utime(folder / name / "x.hpcrun", (0, 0))  # older than the database
        viewer.describe_run(database, viewer.measured(*v4_big.METRICS), events=[{"name": "CPUTIME", "unit": "s", "period": 0.005}],
                            processes=[{"pid": 1, "file": "x.hpcrun", "origin": "launched", "wall": 1, "cpu": 1, "cpus": 4,
                                        "workers": 1 + run // 2}])
    (folder / "set.index").write_text("\n".join(lines) + "\n")
    return folder


def measure(arguments, steps):
    """[(step, seconds, CPU seconds, bytes, progress lines)], and bytes of memory after the first
    screen and at the end."""
    with Driver([VIEWER, *arguments]) as driver:
        rows = [("first screen", driver.first)]
        first = driver.memory()
        rows += [(step, driver.press(keys)) for step, keys in steps]
        return rows, first, driver.memory()


def report(_commands, directory, rounds):
    folder = os.path.join(directory, "big")
    print(f"viewer: {CONTEXTS:,} contexts, {THREADS} threads; seconds until the last byte of the "
          f"answer, and of CPU time; medians of {rounds} runs")
    v4_big.write_big(folder, CONTEXTS, THREADS)
    report_steps([folder], STEPS, rounds)
    small = [os.path.join(directory, f"small-{i}") for i in (0, 1)]
    for i in (0, 1):
        v4_big.write_big(small[i], SMALL_CONTEXTS, SMALL_THREADS, seed=1 + i)
    print(f"viewer: {SMALL_CONTEXTS:,} contexts, {SMALL_THREADS} threads")
    report_steps(small[:1], STEPS, rounds)
    print(f"viewer: two of {SMALL_CONTEXTS:,} contexts, {SMALL_THREADS} threads, compared")
    report_steps(small, COMPARED_STEPS, rounds)
    print(f"viewer: losses of a set of {RUNS} runs with {SMALL_CONTEXTS:,} contexts, {SMALL_THREADS} threads")
    report_steps([write_set(directory)], [("losses", b"L"), *COMPARED_STEPS], rounds)
    print(f"viewer: {TIMED_CONTEXTS:,} contexts, {TIMED_THREADS} threads, {RECORDS:,} records of the time line")
    folder = os.path.join(directory, "timed")
    v4_big.write_big(folder, TIMED_CONTEXTS, TIMED_THREADS)
    v4_big.write_timeline(folder, TIMED_CONTEXTS, TIMED_THREADS, RECORDS)
    report_steps([folder], TIME_STEPS, rounds)
    print("load:", " ".join(f"{x:.1f}" for x in os.getloadavg()))


def report_steps(arguments, steps, rounds):
    runs = [measure(arguments, steps) for _ in range(rounds)]
    for number, (step, _) in enumerate(runs[0][0]):
        answers = [rows[number][1] for rows, _, _ in runs]
        print(f"{step:34} {statistics.median(a.seconds for a in answers):8.3f} s "
              f"{statistics.median(a.cpu for a in answers):8.3f} s "
              f"{len(answers[0].output):7} bytes  {len(answers[0].progress())} progress lines")
    for when, memory in (("first screen", runs[0][1]), ("end", runs[0][2])):
        print(f"memory at the {when}: {memory[0] >> 20} MiB of its own, "
              f"{memory[1] >> 20} MiB of mapped files")
