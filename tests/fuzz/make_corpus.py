#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets from files of our own making.

usage: tests/fuzz/make_corpus.py BUILD FOLDER

Writes FOLDER/TARGET/NAME for each target (tests/fuzz/fuzz-target.h says what its input is), and DAMAGED seeds in
FOLDER.damaged/TARGET, the same in each run. Seeds are small: libFuzzer is quick on small inputs, and finds what makes
them larger."""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
GO_TABLE = TESTS / "programs/structure/go-table.S"
sys.path.insert(0, str(TESTS / "integration"))
import measurement_writer as mw  # noqa: E402
import timeline_writer  # noqa: E402
import v4_writer  # noqa: E402
import viewer  # noqa: E402
import viewer_story  # noqa: E402
from structure_model import A, F, L, P, S, Structure  # noqa: E402

CODE = r"""
struct pair { int a, b; };
static inline int square(int x) { return x * x; }
int sum(struct pair *p, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += square(p[i].a) + p[i].b;
    return all;
}
__attribute__((cold)) int rare(int x) { return sum((struct pair *)0, x) + 1; }
"""
THROWING = r"""
namespace n { struct guarded { int value; ~guarded(); }; }
int called(int);
template <class T> int twice(T x) { return called(x) + called(x); }
int f(int x)
{
    n::guarded g{x};
    try { return twice(x); } catch (int i) { return i; } catch (...) { throw; }
}
"""


# ---- measurements ----

def measurement():
    """A measurement with every kind of chunk."""
    run = mw.Measurement()
    run.metric("work", run.event("CPUTIME"))
    run.metric("off CPU", run.event("REALTIME", flags=3))
    run.metric("FAULTS", run.event("FAULTS", unit="count", why="no PMU"))
    program, library = run.module("/bin/p", "abcd01"), run.module("/lib/x.so", size=4)
    run.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
    run.refusals.append(("gomp", "too old"))
    run.regions.append((0, "sort", 2, 4000, 3000, 3500, 7, 1))
    run.workers.append((0, [(5, 2, 2), (9, 4, 3)]))
    run.code_names = mw.string("1000 10 jit\n")
    lines = bytes([0xe8, 0, 0xd9, 4, 9, 0x82, 0x25, 0xf0, 7, 5, 6, 7, 0xff])
    table = run.names([(900, "outer", "/p/a.py", 3, lines), (5, "inner", "", 0)])
    for i in range(2):
        thread = run.thread(name=f"t{i}", creator=(0, 1) if i else None)
        node = thread.node(0, (program, 0x1000), "ip")
        node = thread.node(node, (library, 16), ("names", table, 900), 5, mw.ONE_M)
        thread.add(node, 0, 1000)
        thread.add(thread.node(node, None, (program, 0x1010)), 1, 3)
        thread.add(thread.path([(mw.PLACEHOLDER, mw.PARTIAL), (mw.NO_MODULE, 0x1004)]), 0, 10)
        thread.associations[1] = 3
        thread.fate(0, mw.CPU_TIMER, mw.FIRED, 3, 3000)
        for time, state in ((5, mw.WORK + mw.WORKER), (9, mw.READY), (9, mw.OFF_CPU), (12, mw.NOBODY)):
            thread.record(10**9 + time, state, 100 * time, node, time, 2, time % 2)
    return run


def with_children():
    run = measurement()
    run.children = [measurement(), mw.Measurement(pid=101)]
    return run.encode()


def arenas():
    """An arena file with one live thread, as lib/arena-format.h describes it (METRICS = 2)."""
    header_size, thread_size = 64, 7424
    nodes = bytes(24) + b"".join(struct.pack("<QIIIBBBB", 2 << 40 | 0x1000 + i, i, i % 3, (2, 0, 0, 1)[i], 0, 1, 1, 0)
                                 for i in range(4))
    lnotes = struct.pack("<QQ", 3 << 40 | 77, 0) * 2
    values = struct.pack("<QQQQQQ", 4, 20, 1, 1, 10, 0)
    trace = b"".join(struct.pack("<QQ4I", 3000 + 100 * i, 7 << 8 | 1, i + 1, 4, 2, i) for i in range(2))
    marks = struct.pack("<QI64s4x", 2500, 1, b"region")
    wake_ups = struct.pack("<4Q", 2600, 2300, 2550, 1)
    thread = bytearray(thread_size)
    struct.pack_into("<QIIIIQ", thread, 0, 0, 1, 5, 2, 2, 6000)
    struct.pack_into("<QQQQ", thread, 32, 3, 30, 3, 30)
    struct.pack_into("<QI4xQQ", thread, 2176, 1, 1, 1 << 56, 5)  # one recent record; the undo
    struct.pack_into("<QII", thread, 2448, 2 | 1 << 26 | 1 << 32, 0, 0)  # two records, each of two samples, and an open one
    struct.pack_into("<8B5I", thread, 2464, 3, 0, 0, 0, 0, 0, 0, 0, 0, 100, 1, 0, 0)
    struct.pack_into("<8Q16s", thread, 2496, 5000, 10, 0, 4000, 9000, 700, 41, 5, b"worker")
    at = header_size + thread_size
    for k, array in enumerate((nodes, lnotes, values, trace, marks, wake_ups)):
        struct.pack_into("<Q", thread, 2624 + 160 * k, at)
        at += len(array)
    struct.pack_into("<5I", thread, 3584, 1, 2, 1, 0, 0)  # one mark, two that are lost; a wake-up
    for offset in (3608 + 32, 3712):  # the open record, the recent one
        struct.pack_into("<QQ4I", thread, offset, 4000, 9 << 8 | 4, 0, 4, 2, 0)
    header = struct.pack("<8sIIQQQQQQ", b"HPCRUNAR", 2, thread_size, 2, 1000, 0, 0, 0, header_size)
    return header + bytes(thread) + nodes + lnotes + values + trace + marks + wake_ups


def sound_arenas(build, folder):
    """The same behind its measurement file, if the reader has no complaint."""
    run = measurement()
    run.threads, run.end = [], None
    path = pathlib.Path(run.write(folder))
    path.with_suffix(".arenas").write_bytes(arenas())
    dump = subprocess.run([f"{build}/tests/tools/dump-measurement", path], capture_output=True, text=True, check=True)
    expected = "sum 0 CPUTIME 15\n", "trace 0 CPUTIME step 2 records 4 from", "mark 0 ", "marks 0 lost 2\n", "wake-up 0 "
    if "problem" in dump.stdout or not all(line in dump.stdout for line in expected):
        sys.exit(f"the arena file no longer matches lib/arena-format.h:\n{dump.stdout}")
    return run.encode() + arenas()


STRUCTURE = Structure(
    F("/s/a.c",
      P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
        L(3, S(4, (0x1010, 0x1020)), L(5, S(6, (0x1020, 0x1030))), header=0x1010),
        A(7, "tiny", "/s/t.h", 70, S(71, (0x1030, 0x1040)))),
      P("leaf", 20, [(0x2000, 0x2100), (0x3000, 0x3040)], S(21, (0x2000, 0x2100)))),
    F(None, P("bare", 0, [(0x4000, 0x4100)], L(0, S(0, (0x4000, 0x4010)), header=0x4000))))


# ---- binaries ----

def compiled(folder, source, name, compiler, *flags):
    path = folder / name
    subprocess.run([compiler, "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noseparate-code,--build-id", *flags,
                    "-o", path, "-x", "c++" if compiler == "g++" else "c", "-"],
                   input=source, text=True, check=True, cwd=folder, stderr=subprocess.DEVNULL)
    return path


def section(path, name):
    """Address and contents of a section; nothing if there is none."""
    data = path.read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", data, table + size * i) for i in range(count)]
    for header in headers:
        text = data[headers[names][4] + header[0]:]
        if text[:text.index(b"\0")].decode() == name:
            return header[3], data[header[4]:header[4] + header[5]]
    return 0, b""


def eh_frame(path):
    (frames_at, frames), (table_at, table) = section(path, ".eh_frame"), section(path, ".gcc_except_table")
    return struct.pack("<IIII", frames_at, table_at, section(path, ".text")[0], len(frames)) + frames + table


def cfi(path):
    (index_at, index), (frames_at, frames) = section(path, ".eh_frame_hdr"), section(path, ".eh_frame")
    return index + bytes(frames_at - index_at - len(index)) + frames


def outside(path):
    """The file, mapped from its first page on, and a stack that was called from its code."""
    code = 0x500000000000 + section(path, ".text")[0]
    stack = struct.pack("<20Q", *(code + 5 * (i % 7) if i % 3 == 0 else i for i in range(20)))
    return struct.pack("<HH", 0, len(stack)) + stack + path.read_bytes()


def debug_line(path):
    line_strings, strings = section(path, ".debug_line_str")[1], section(path, ".debug_str")[1]
    return (struct.pack("<HH", len(line_strings), len(strings)) + line_strings + strings +
            section(path, ".debug_line")[1])


def split_debug(path):
    parts = [section(path, name)[1] for name in (".debug_abbrev", ".debug_str", ".debug_addr", ".debug_info")]
    return struct.pack("<HHH", *map(len, parts[:3])) + b"".join(parts)


def binaries(folder):
    """{target: {name: seed}} of small shared libraries."""
    seeds = {target: {} for target in ("elf", "elf-notes", "eh-frame", "cfi", "debug-line", "debug-info",
                                      "split-debug", "outside")}
    variants = (("plain", CODE, "gcc", "-O1", "-g"), ("old", CODE, "gcc", "-O1", "-gdwarf-4"),
                ("bare", CODE, "gcc", "-O2", "-Wl,--no-eh-frame-hdr", "-s"), ("packed", CODE, "gcc", "-O1", "-g", "-gz"), ("stripped", CODE, "gcc", "-O2", "-s"),
                ("throwing", THROWING, "g++", "-O1", "-g"), ("split", CODE, "gcc", "-O1", "-g", "-gsplit-dwarf"))
    for name, source, compiler, *flags in variants:
        path = compiled(folder, source, name, compiler, *flags)
        seeds["elf"][name] = path.read_bytes()
        seeds["elf-notes"][name] = section(path, ".note.gnu.build-id")[1] * 2
        seeds["eh-frame"][name], seeds["cfi"][name], seeds["outside"][name] = eh_frame(path), cfi(path), outside(path)
        if "-g" in flags or "-gdwarf-4" in flags:
            seeds["debug-info"][name] = path.read_bytes()
            if "-gsplit-dwarf" in flags:
                seeds["split-debug"][name] = split_debug(path)
            if "-gz" not in flags:
                seeds["debug-line"][name] = debug_line(path)
    return seeds


def go_tables(folder):
    """{name: seed}: tables of functions as Go's linkers make them."""
    seeds = {}
    for version in "16", "18", "20":
        path = folder / f"go-{version}"
        subprocess.run(["gcc", "-nostdlib", "-static", f"-DVERSION={version}", "-o", path, GO_TABLE], check=True)
        seeds[version] = section(path, ".gopclntab")[1]
    return seeds


# ---- databases ----

def database(folder):
    return b"".join((folder / name).read_bytes() for name in ("meta.db", "profile.db"))


def databases(folder):
    viewer_story.write(folder / "story")
    layout = v4_writer.Layout(scopes=("execution", "function"))
    v4_writer.write_database(viewer.random_database(1, 30), folder / "random", layout)
    return {name: database(folder / name) for name in ("story", "random")}


def timeline():
    line = timeline_writer.Timeline()
    places = [line.place(context, context + 9, 4, 1 + context % 3) for context in range(5)]
    for profile in 1, 2, 5:
        for i in range(1, 9):
            line.record(profile, 5e6 * i, 4e6, 1 + (i + profile) % 9, places[i % 5], worker=i % 2)
            line.record(profile, 5e6 * i, 1e6, timeline_writer.READY, places[i % 5])
    return line.encode()


INSTRUCTIONS = {"format": "hpctoolkit-instructions 1", "metrics": ["work"], "files": ["/s/t.c"],
                "procedures": [{"module": "/m", "name": "hot", "entry": 4096, "parts": [[4096, "4883ff01"]],
                                "statements": [[4096, 11, 0, 6]], "costs": [[4098, 0, 0.25]]}]}

# ---- text ----

CONFIG = ("HPCRUN_DIR=/m\nHPCRUN_EVENTS=CPUTIME|C|5000000|0|0|0|0|0|1;cycles|P|1|5000000|0|0|1|2|2\n"
          "HPCRUN_OPTIONS=cdqsw\nHPCRUN_SIGNAL=40\nHPCRUN_PID=7\nHPCRUN_AGENTS=a|1|/a.so|note:x\n"
          "HPCRUN_CORES=4\nHPCRUN_OWNER=0\nHPCRUN_FILTERS=1\nOMPI_COMM_WORLD_RANK=3\nSLURM_PROCID=1\n")
SET_INDEX = ("hpctoolkit-set 1\ncommand ./prog 12\nserial ./prog-serial\nrun 1 1 0 3.251 workers-1-repeat-1\n"
             "run 2 2 3 0.002101 workers-2-repeat-2\n")
PROCESSES = ("begin 0 71 100 70 0 1000 /bin/sh\nbegin 4 72 101 71 2 2000 /bin/true\nunmeasured 4 72 1 2500 /bin/static\n"
             "end 72 101 3 0 2600 0 0 9 9\nfailed 72 2700\nend 72 101 1 0 2900 1 9 9 9 0 0 1 2 8\n"
             "begin 0 73 102 71 2 3000 /bin/false\nwaited 73 9 3500 70 71\nwaited 74 0 3600 80 71\nfailed 75 3700\n"
             "end 71 100 1 0 4000 2 9 9 9 0 0 2 2 8 3 4 2 28 50 90\n")
PERF_MAP = "1000 10 first\n0x1010 20 second name\n1008 8 again\nfff0 ff last\n"


# ---- perf's records ----

PERF_LOST, PERF_COMM, PERF_EXIT, PERF_THROTTLE, PERF_FORK, PERF_SAMPLE, PERF_MMAP2, PERF_SWITCH = 2, 3, 4, 5, 7, 9, 10, 14
PERF_EXEC, PERF_SWITCH_OUT = 1 << 13, 1 << 13
PERF_KERNEL, PERF_USER = 2**64 - 128, 2**64 - 512
REGISTERS, REGISTERS_64 = 20, 2


def perf_record(kind, *fields, misc=0, time=10**9, trailer=True):
    """Fields are numbers of 8 bytes, and bytes. All but samples end with pid, tid, time and the event's id."""
    body = b"".join(field if isinstance(field, bytes) else field.to_bytes(8, "little") for field in fields)
    body += struct.pack("<IIQQ", 70, 71, time, 5) if trailer else b""
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def perf_sample(stack, valid, kernel=(), abi=REGISTERS_64, time=10**9):
    threads, registers = struct.pack("<II", 70, 71), [0x7ffd00001000 + i for i in range(REGISTERS if abi else 0)]
    chain = [PERF_KERNEL, *kernel, PERF_USER] if kernel else []
    return perf_record(PERF_SAMPLE, threads, time, 5, 1_027_027, len(chain), *chain, abi, *registers, len(stack),
                       *([stack, valid] if stack else []), misc=2, time=time, trailer=False)


def perf_rings():
    """Inputs of target-records.c: the place of the first record in the ring, and records."""
    ids, parents = struct.pack("<II", 70, 71), struct.pack("<IIII", 72, 70, 72, 70)
    mapping = (ids, 0x5500_0000_0000, 0x4000, 0, struct.pack("<II", 254, 1), 77, 0, struct.pack("<II", 5, 2), b"/bin/p\0\0")
    stack = bytes(range(256)) * 16
    records = [perf_record(PERF_MMAP2, *mapping, misc=2), perf_record(PERF_COMM, ids, b"program\0", misc=PERF_EXEC),
               perf_sample(stack, 4096, kernel=[0xffffffff81000000 + 16 * i for i in range(40)]),
               perf_record(PERF_FORK, parents, 10**9), perf_record(PERF_SWITCH, misc=PERF_SWITCH_OUT),
               perf_record(PERF_SWITCH), perf_record(PERF_LOST, 5, 3), perf_sample(stack[:512], 96), perf_sample(b"", 0, abi=0),
               perf_record(PERF_THROTTLE, 10**9, 5, 5), perf_record(PERF_EXIT, parents, 10**9)]
    return {"all": struct.pack("<H", 0) + b"".join(records), "split": struct.pack("<H", 1000) + b"".join(records),
            "backwards": struct.pack("<H", 511) + b"".join(perf_sample(stack[:64], 64, time=10**9 - i) for i in range(5)),
            "one": struct.pack("<H", 3) + perf_sample(stack[:128], 128)}


def all_seeds(build, folder):
    seeds = {
        "measurement": {"all-chunks": measurement().encode(), "children": with_children()},
        "arenas": {"live": sound_arenas(build, folder / "arenas")},
        "perf-records": perf_rings(),
        "perf-map": {"overlap": PERF_MAP.encode()},
        "structure": {"nested": STRUCTURE.image()},
        "config": {"all": CONFIG.encode()},
        "set-index": {"two": SET_INDEX.encode()},
        "process-list": {"some": PROCESSES.encode()},
        "kernel-symbols": {"two": b"kernel 4d\n10 20 ksys_read\nkernel 1\nff00 8 ext4_read [ext4]\n"},
        "database": databases(folder),
        "timeline": {"three": timeline()},
        "run-json": {"story": json.dumps(viewer_story.RUN).encode()},
        "instructions-json": {"one": json.dumps(INSTRUCTIONS).encode()},
    }
    return seeds | binaries(folder) | {"go-table": go_tables(folder)}


DAMAGED = 50


def damaged(data, rng):
    """One to six changes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at + 4] = rng.choice((0, 1, 0x7fffffff, 0x80000000, 0xffffffff)).to_bytes(4, "little")
        elif kind == 2:
            del data[at:at + rng.randrange(1, 16)]
        elif kind == 3:
            data[at:at] = data[at:at + rng.randrange(1, 32)]
        else:
            data[at:at + 1] = rng.choice((b"-", b"9" * 12, b"\0", b"\n", b" ", b"/", b'"', b"\x80", b"\xff" * 9))
    return bytes(data)


def write_damaged(folder, target, seeds):
    folder.mkdir(parents=True, exist_ok=True)
    rng, all_of_it = random.Random(target), [seeds[name] for name in sorted(seeds)]
    for i in range(DAMAGED):
        (folder / str(i)).write_bytes(damaged(rng.choice(all_of_it), rng))


def main():
    build, out = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as temporary:
        for target, seeds in all_seeds(build, pathlib.Path(temporary)).items():
            (out / target).mkdir(parents=True, exist_ok=True)
            for name, data in seeds.items():
                (out / target / name).write_bytes(data)
            write_damaged(pathlib.Path(f"{out}.damaged") / target, target, seeds)


if __name__ == "__main__":
    main()
