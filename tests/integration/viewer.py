"""Running hpcviewer in tests, and making databases for it."""
import contextlib
import csv
import fcntl
import io
import json
import os
import pathlib
import pty
import random
import struct
import subprocess
import tempfile
import termios

import v4_writer
from v4_writer import CALL, INSTRUCTION, Context, Database, Entry

VIEWER = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "bin" / "hpcviewer"

# The defaults of whoever runs the tests are none of their business.
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"


def run(*arguments, locale="C.UTF-8", timeout=600, **more):
    """hpcviewer with these arguments; output is bytes-safe text."""
    environment = dict(os.environ, LC_ALL=locale)
    return subprocess.run([VIEWER, *map(str, arguments)], capture_output=True, text=True,
                          errors="surrogateescape", env=environment, timeout=timeout,
                          stdin=subprocess.DEVNULL, **more)


def printed(*arguments, **more):
    """What --print prints when all is well."""
    done = run("--print", *arguments, **more)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout


def printed_on_terminal(width, *arguments):
    """The same on a terminal with so many columns: its lines."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with subprocess.Popen([VIEWER, "--print", *map(str, arguments)], env=dict(os.environ, LC_ALL="C.UTF-8"),
                          stdin=subprocess.DEVNULL, stdout=slave) as program, os.fdopen(master, "rb") as seen:
        os.close(slave)
        shown = bytearray()
        try:
            while piece := os.read(seen.fileno(), 1 << 16):
                shown += piece
        except OSError:  # the other end is closed
            pass
    assert program.returncode == 0, program.returncode
    return shown.decode().replace("\r\n", "\n").splitlines()


def printed_json(*arguments, **more):
    return json.loads(printed(arguments[0], "--format", "json", *arguments[1:], **more))


def records(view, *arguments, **more):
    """The rows of CSV."""
    return list(csv.DictReader(io.StringIO(printed(view, "--format", "csv", *arguments, **more), newline="")))


def written(test, db, layout=None):
    """A folder of the test with this database."""
    folder = test.enterContext(tempfile.TemporaryDirectory())
    v4_writer.write_database(db, folder, layout)
    return folder


def parallelization(summary):
    """Advice on idleness and overhead: what a summary in JSON says of each time event."""
    return [finding for finding in summary["advice"] if finding["kind"] == "parallelization"]


def canonical(row):
    """A row of JSON so that trees can be compared whatever the order of children: values last, so
    that equal names stand together in a difference."""
    site = row.get("call_site")
    costs = tuple((name, cost["inclusive"], cost["exclusive"])
                  for name, cost in sorted(row["metrics"].items()))
    itself = (row["kind"], row["name"], row["file"] or "", row["line"] or 0, row["module"] or "",
              (site["file"] or "", site["line"] or 0) if site else ("", -1), costs)
    return (itself, sorted(canonical(child) for child in row["children"]))


def difference(shown, expected, path="root"):
    """Where two canonical trees differ first, as text; None when they are equal."""
    if shown == expected:
        return None
    if shown[0] != expected[0]:
        return f"{path}: shown {shown[0]}, expected {expected[0]}"
    below = f"{path} > {shown[0][1]}"
    for a, b in zip(shown[1], expected[1]):
        if a != b:
            return difference(a, b, below)
    more, side = (shown, "shown") if len(shown[1]) > len(expected[1]) else (expected, "expected")
    return f"{below}: only {side}: {more[1][min(len(shown[1]), len(expected[1]))][0]}"


def rows_of(row, depth=0):
    """(depth, row) for a row and all below it, in their order."""
    yield depth, row
    for child in row["children"]:
        yield from rows_of(child, depth + 1)


def find(row, name, kind=None):
    """The first row of that name below a row, in preorder."""
    for _, at in rows_of(row):
        if at["name"] == name and kind in (None, at["kind"]):
            return at
    raise AssertionError(f"no row {name}")


# Charges are multiples of this, so that their sums are exact in whatever order.
UNIT = 1 / 1024


def random_database(seed, size=150, metrics=("work", "misses"), n_profiles=3):
    """A tree with recursion, mutual recursion, inlining, loops, code without lines and calls of
    instructions; few procedures and lines, so that everything occurs in many contexts."""
    rng = random.Random(seed)
    db = Database(f"random {seed}", metrics, n_profiles)
    modules = [db.module("/bin/program"), db.module("/lib/libother.so.1")]
    files = [db.file("src/home/user/a.c", copied=True), db.file("/home/user/b.h"),
             db.file("/other/a.c")]
    called = [db.function(f"f{i}", rng.choice(modules), 0x1000 + 16 * i,
                          rng.choice([None] + files), 10 * i) for i in range(rng.randint(1, 5))]
    called.append(db.function(None, modules[1], 0x4444))
    called.append(db.function("<partial call path>"))
    inlined = [db.function(f"i{i}", file=rng.choice(files), line=7 + i) for i in range(3)]
    inlined.append(db.function("member", modules[0], 0x20, files[0], 5))
    inlined.append(called[0])  # inlined here, called there

    def place():
        return rng.choice(files), rng.randint(1, 4)

    def grow(parent):
        kind = rng.random()
        if parent.lexical_type is None:
            return parent.call(rng.choice(called))
        is_line = parent.lexical_type == v4_writer.LINE
        if parent.lexical_type == INSTRUCTION and parent.relation != CALL:
            return parent.call(rng.choice(called))
        if is_line and kind < 0.15:
            return parent.instruction(modules[0], rng.randint(0, 99))
        if kind < 0.05:
            return parent.add(Context(INSTRUCTION, CALL, module=modules[1],
                                      offset=rng.randint(0, 2)))
        if is_line and kind < 0.5:
            return parent.inline(rng.choice(inlined))
        if is_line:
            return parent.call(rng.choice(called))
        if kind < 0.08:
            return parent.add(Context(v4_writer.LOOP, module=modules[0],
                                      offset=rng.randint(0, 3)))
        if kind < 0.25:
            return parent.loop(*place())
        if kind < 0.3:
            return parent.call(rng.choice(called))
        if kind < 0.33:
            return parent.call(None)
        if kind < 0.36:
            return parent.inline(rng.choice(inlined))
        return parent.statement(*place())

    entries = [db.entry(1, "main thread"), db.entry(2, "application thread"),
               db.entry(0, "unknown entry")]
    contexts = list(entries[:rng.randint(1, 3)])
    while len(contexts) < size:
        # Deep trees: prefer what was made lately.
        parent = contexts[max(0, len(contexts) - 1 - int(rng.expovariate(0.15)))]
        contexts.append(grow(parent))
    for context in contexts:
        if not isinstance(context, Entry) and rng.random() < 0.6:
            for _ in range(rng.randint(1, 3)):
                context.charge(rng.randint(1, 5000) * UNIT, rng.randrange(len(metrics)),
                               rng.randint(1, n_profiles))
    return db


def measured(*names, unit="s", **more):
    """Metrics of a run.json."""
    return [{"name": name, "unit": unit, "state": "measured", **more} for name in names]


def describe_run(folder, metrics, **more):
    """Writes a run.json."""
    with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "hpctoolkit-run", "version": 2, "title": "program", "events": [], "processes": [],
                   "metrics": metrics, **more}, file)


@contextlib.contextmanager
def changed_run(folder):
    """The run.json of a database, which is written again with the changes."""
    path = pathlib.Path(folder, "run.json")
    run = json.loads(path.read_text())
    yield run
    path.write_text(json.dumps(run))


def checked_views(test, oracle, *options):
    """The tree views of test.db as JSON says them, each compared with the oracle's."""
    views = {"top-down": oracle.topdown(), "bottom-up": oracle.bottomup(4), "flat": oracle.flat()}
    for view, expected in views.items():
        depth = ("--depth", 4) if view == "bottom-up" else ()
        shown = printed_json(view, *depth, *options, test.db)["root"]
        test.assertIsNone(difference(canonical(shown), canonical(expected)))
        yield shown
