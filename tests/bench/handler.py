"""What a sample costs in the handler, and what it leaves in memory and in the file."""
import pathlib
import shutil
import subprocess
import sys

import programs

sys.path.insert(0, str(programs.ROOT / "tests" / "integration"))

from measurement_reader import Measurement  # noqa: E402 (needs the path above)

HPCRUN = programs.BUILD / "bin" / "hpcrun"
SPAWN_TREE = programs.BUILD / "tests" / "programs" / "logical" / "spawn-tree"
LIBRARY = programs.BUILD / "tests" / "tools" / "libhpcrun-timed.so"
DUMP = programs.BUILD / "tests" / "tools" / "dump-measurement"
PARTS = ("handler", "clock", "unwind", "agents", "tree", "arm", "rest")


def agents(directory):
    """What hpcrun tells its library of the installed agents."""
    where = pathlib.Path(directory) / "agents"
    shutil.rmtree(where, ignore_errors=True)
    out = subprocess.run([HPCRUN, "-q", "-o", where, "env"], capture_output=True, text=True,
                         check=True).stdout
    return next(line.split("=", 1)[1] for line in out.splitlines()
                if line.startswith("HPCRUN_AGENTS="))


def measure(command, directory, rate, agents=""):
    """Profiles with the library that times itself; returns its report and the measurement files."""
    where = pathlib.Path(directory) / "timed"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    times = pathlib.Path(directory) / "times"
    programs.run(command, {
        "LD_PRELOAD": str(LIBRARY), "HPCRUN_DIR": str(where), "HPCRUN_TIMES": str(times),
        "HPCRUN_AGENTS": agents, "HPCRUN_EVENTS": f"CPUTIME|C|{int(1e9 / rate)}|0|0|0|0|0|0"})
    words = times.read_text().split()
    return ({key: float(value) for key, value in zip(words[::2], words[1::2])},
            sorted(where.glob("*.hpcrun")))


def report(commands, directory, rounds):
    del rounds
    print("handler: mean ns per sample at 1000/s, by parts; the timing itself (14 time stamps, and their\n"
          "code in cold caches) is in `rest`; clock, unwind, agents, tree and arm are apart from the handler's own")
    print(f"{'program':14} {'samples':>8} {'left out':>8} " + " ".join(f"{part:>9}" for part in PARTS))
    for name, command in commands.items():
        found, _ = measure(command, directory, 1000)
        print(f"{name:14} {found['samples']:8.0f} {found['left_out']:8.0f} "
              + " ".join(f"{found[part]:9.0f}" for part in PARTS), flush=True)


def report_sizes(commands, directory, rounds):
    del rounds
    print("size: of the threads' trees in memory (metrics apart) and of the measurement file, at 1000/s;\n"
          "merged: nodes of the threads' logical trees together; spawn-tree is a program under minicilk,\n"
          "at 1 and 8 workers, 10000/s")
    print(f"{'program':14} {'samples':>8} {'nodes':>8} {'bytes/node':>10} {'file bytes':>10} "
          f"{'bytes/node':>10} {'merged':>8}")
    for name, command in commands.items():
        report_size(name, *measure(command, directory, 1000))
    known = agents(directory)
    for workers in (1, 8):
        command = [SPAWN_TREE, workers, 5, 2000]
        report_size(f"spawn-tree {workers}", *measure(command, directory, 10000, known))


def report_size(name, found, files):
    size = sum(path.stat().st_size for path in files)
    nodes = max(found["nodes"], 1)
    merged = sum(Measurement(path).logical_nodes() for path in files)
    print(f"{name:14} {found['samples']:8.0f} {nodes:8.0f} {found['node_bytes'] / nodes:10.1f} "
          f"{size:10} {size / nodes:10.1f} {merged:8}", flush=True)
