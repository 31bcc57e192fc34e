"""What a sample costs in the handler, and what it leaves in memory and in the file."""
import pathlib
import shutil

import programs

LIBRARY = programs.BUILD / "tests" / "tools" / "libhpcrun-timed.so"
DUMP = programs.BUILD / "tests" / "tools" / "dump-measurement"
PARTS = ("handler", "clock", "unwind", "agents", "tree", "arm", "rest")


def measure(command, directory, rate):
    """Profiles with the library that times itself; returns its report and the measurement files."""
    where = pathlib.Path(directory) / "timed"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    times = pathlib.Path(directory) / "times"
    programs.run(command, {
        "LD_PRELOAD": str(LIBRARY), "HPCRUN_DIR": str(where), "HPCRUN_TIMES": str(times),
        "HPCRUN_EVENTS": f"CPUTIME|C|{int(1e9 / rate)}|0|0|0|0|0"})
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
    print("size: of the tree in memory (metrics apart) and of the measurement file, at 1000/s")
    print(f"{'program':14} {'samples':>8} {'nodes':>8} {'bytes/node':>10} {'file bytes':>10} "
          f"{'bytes/node':>10}")
    for name, command in commands.items():
        found, files = measure(command, directory, 1000)
        size = sum(path.stat().st_size for path in files)
        nodes = max(found["nodes"], 1)
        print(f"{name:14} {found['samples']:8.0f} {nodes:8.0f} {found['node_bytes'] / nodes:10.1f} "
              f"{size:10} {size / nodes:10.1f}", flush=True)
