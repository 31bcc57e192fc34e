"""The whole chain on a real program: contexts and values of the database, recomputed from the
measurement file with addr2line, nm and readelf. The program has templates, inlining, recursion,
loops, threads, and libraries with debug information, without, and with it in a file of its own."""
import collections
import os
import pathlib
import re
import subprocess

import profiling
from evidence import OfChance
from measurement_reader import Measurement
from v4_reader import read_database

SECOND = 1024e9

LIBRARY = """\
static unsigned long state_NAME = 1;
static __attribute__((noinline)) unsigned long hidden_NAME(unsigned long n)
{
    unsigned long x = n;
    for (unsigned long i = 0; i < 3000; i++)
        x = x * 6364136223846793005u + i;
    return x;
}
unsigned long work_NAME(unsigned long n)
{
    for (unsigned i = 0; i < 4; i++)
        state_NAME += hidden_NAME(n + i);
    return state_NAME ^ n;
}
"""

# No inlined function is static: addr2line would print the name of the function around it.
PROGRAM = """\
#include <cstdlib>
#include <ctime>
#include <pthread.h>
extern "C" unsigned long work_full(unsigned long), work_bare(unsigned long);
extern "C" unsigned long work_split(unsigned long);
inline double now(clockid_t clock)
{
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
template <typename T, int N> struct mixer {
    static inline T once(T x) { return (x ^ (x >> N)) * 0x9e3779b9u; }
    __attribute__((noinline)) static T many(T x)
    {
        for (int i = 0; i < 2000; i++)
            for (int k = 0; k < 3; k++)
                x += once(x + k);
        return x;
    }
};
namespace tree {
__attribute__((noinline)) unsigned long descend(int depth, unsigned long x)
{
    unsigned long sum = mixer<unsigned long, 13>::many(x);
    if (depth > 0)
        sum += descend(depth - 1, sum) + descend(depth / 2 - 1, sum + 1);
    return sum * 3 + mixer<unsigned, 7>::many((unsigned)sum);
}
}
static volatile unsigned long sink;
void *run(void *seconds)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + *(double *)seconds;
    do {
        sink += tree::descend(6, sink) + work_full(sink) + work_bare(sink) + work_split(sink);
        for (int i = 0; i < 20000; i++)
            sink += (unsigned long)now(CLOCK_MONOTONIC); // the vdso
    } while (now(CLOCK_THREAD_CPUTIME_ID) < end);
    return nullptr;
}
int main(int, char **arguments)
{
    double seconds = strtod(arguments[1], nullptr), half = seconds / 2;
    pthread_t thread;
    pthread_create(&thread, nullptr, run, &half);
    run(&seconds);
    pthread_join(thread, nullptr);
}
"""


def output_of(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True,
                          text=True).stdout


STUB_SIZE = 16


def stubs_of(path):
    """(address, name) of the procedure linkage table's entries."""
    return [(int(at, 16), name) for at, name in re.findall(
        r"^([0-9a-f]+) <(.+@plt)>:", output_of("objdump", "-d", "-C", path), re.M)]


class Debugged:
    """The paths in a module, from addr2line, and from objdump for its PLT."""

    def __init__(self, path):
        self.path, self.known, self.stubs = path, {}, stubs_of(path)

    def prepare(self, addresses):
        text = output_of("addr2line", "-a", "-f", "-C", "-i", "-e", self.path, *map(hex, addresses))
        name = None
        for line in text.splitlines():
            if re.fullmatch("0x[0-9a-f]{16}", line):
                frames = self.known[int(line, 16)] = []
            elif name is None:
                name = line
            else:
                number = line.rsplit(":", 1)[1].split()[0]
                frames.insert(0, (name, int(number) if number.isdigit() else 0))
                name = None

    def labels(self, address):
        frames = self.known[address]
        if frames[0][0] == "??":
            return [("call", name) for at, name in self.stubs if at <= address < at + STUB_SIZE]
        path = [("call", frames[0][0])]
        for (_, line), (callee, _) in zip(frames, frames[1:]):
            path += [("line", line)] if line else []
            path.append(("inlined", callee))
        return path + ([("line", frames[-1][1])] if frames[-1][1] else [])


class Stripped:
    """The procedures of a module, from its dynamic symbols and unwind information. The code around them, which the
    linker adds from crti.o and crtbegin.o, has neither: it is named by the place from which on that is so."""

    def __init__(self, path):
        self.path = path
        self.symbols = [(at, STUB_SIZE, name) for at, name in stubs_of(path)]
        for line in output_of(*profiling.NM, "-D", "-S", "--defined-only", path).splitlines():
            words = line.split()
            if len(words) == 4 and words[2] == "T":
                self.symbols.append((int(words[0], 16), int(words[1], 16), words[3]))
        self.pieces = [(int(a, 16), int(b, 16)) for a, b in re.findall(
            r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", output_of("readelf", "--debug-dump=frames", path))]
        self.sections = [(int(at, 16), int(size, 16)) for at, size in re.findall(
            r"PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +AX", output_of("readelf", "-SW", path))]

    def prepare(self, addresses):
        pass

    def begin_without_unwind_information(self, address):
        section, = (begin for begin, size in self.sections if begin <= address < begin + size)
        return max([section, *(end for _, end in self.pieces if section <= end <= address)])

    def labels(self, address):
        for begin, size, name in self.symbols:
            if begin <= address < begin + size:
                return [("call", name)]
        begins = [begin for begin, end in self.pieces if begin <= address < end]
        begin, = begins or [self.begin_without_unwind_information(address)]
        return [("call", f"<{os.path.basename(self.path)}+0x{begin:x}>")]


class Other:
    """A module of the system: only the call of it is checked."""

    def __init__(self, path):
        self.path = path

    def prepare(self, addresses):
        pass

    def labels(self, address):
        return [("other", os.path.basename(self.path))]


class TruthTest(OfChance, profiling.ProfilingTest):
    def build(self):
        here = self.directory
        for name, flags in (("full", ["-g"]), ("bare", ["-s"]), ("split", ["-g"])):
            source = here / f"{name}.c"
            source.write_text(LIBRARY.replace("NAME", name))
            subprocess.run(["gcc", "-O2", *flags, "-shared", "-fPIC", "-o", here / f"lib{name}.so",
                            source], check=True)
        split, debug = here / "libsplit.so", here / "libsplit.debug"
        subprocess.run(["objcopy", "--only-keep-debug", split, debug], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", split],
                       check=True)
        source = here / "program.cc"
        source.write_text(PROGRAM)
        self.program = here / "program"
        subprocess.run(["g++", "-O2", "-g", "-o", self.program, source, "-L", here,
                        f"-Wl,-rpath,{here}", "-lfull", "-lbare", "-lsplit", "-lpthread"],
                       check=True)

    def views(self, measurement):
        """{instance: source of expectations}."""
        views = {0: Other("?"), 1: Other("?")}
        for number, path in measurement.modules.items():
            if os.path.dirname(path) != str(self.directory):
                views[number] = Other(path)
            elif path.endswith("libbare.so"):
                views[number] = Stripped(path)
            else:
                views[number] = Debugged(path)
        addresses = collections.defaultdict(set)
        for thread in measurement.threads.values():
            for _, instance, offset in thread.nodes.values():
                addresses[instance].add(offset)
        for number, offsets in addresses.items():
            views[number].prepare(sorted(offsets))
        return views

    START = ("call", "run(void*)")

    def labels(self, views, notes):
        return [label for instance, offset in notes for label in views[instance].labels(offset)]

    def outside(self, views, thread):
        """The nodes outside of the thread's start routine: frames of libc that call it."""
        found = set()
        for node, (parent, *note) in thread.nodes.items():
            if thread.creation and note and self.START in self.labels(views, [note]):
                while parent in thread.nodes:
                    found.add(parent)
                    parent = thread.nodes[parent][0]
        return found

    def own_labels(self, views, thread, node, outside):
        """A thread's path begins with its start routine, without the frames outside of it. The start routine has what
        was measured in these frames, and calls what they call when it has no frame."""
        notes = []
        while node in thread.nodes and node not in outside:
            parent, *note = thread.nodes[node]
            notes[:0] = [note] if note else []
            node = parent
        labels = self.labels(views, notes)
        return labels if not thread.creation or self.START in labels else [self.START, *labels]

    def expected(self, measurement, physical):
        """[{path without loops: [point, execution, function]}], by thread. In the logical projection a thread
        hangs below the call in main that created it, since main also joins it."""
        views, result = self.views(measurement), []
        for index in sorted(measurement.threads):
            thread, values = measurement.threads[index], collections.defaultdict(lambda: [0] * 3)
            above = []
            outside = self.outside(views, thread)
            if thread.creation and not physical:
                creator, context = thread.creation
                above = self.labels(views, creator.path(context))
            for (node, metric), amount in thread.values.items():
                if measurement.metrics[metric] != "work":  # a sample in a call that waits, on a busy machine
                    continue
                path = above + self.own_labels(views, thread, node, outside)
                values[tuple(path)][0] += amount
                values[tuple(path)][2] += amount
                if path[-1][0] == "line":  # of its function
                    values[tuple(path[:-1])][2] += amount
                for length in range(len(path) + 1):
                    values[tuple(path[:length])][1] += amount
            result.append(values)
        return result

    def found(self, db, profile):
        """The same values, from the database."""
        point, execution, function = (db.metric("work", scope) for scope in
                                      ("point", "execution", "function"))
        values = collections.defaultdict(lambda: [0] * 3)
        for number, row in profile.values.items():
            if not any(metric in row for metric in (point, execution, function)):
                continue  # only a wait was measured there
            context = db.contexts[number]
            path, keep = self.plain_path(context)
            values[path][0] += row.get(point, 0)
            if keep:
                values[path][1] += row.get(execution, 0)
                values[path][2] += row.get(function, 0)
        return values

    def plain_path(self, context):
        """The path of a context without loops and without functions of other modules, and whether the
        context is itself on that path."""
        chain = []
        while context.id != 0 and context.entry is None:
            chain.insert(0, context)
            context = context.parent
        path, ours, keep = [], True, context.entry is None
        for context in chain:
            keep = False
            if context.kind == "call":
                module = context.function.module
                ours = module is not None and os.path.dirname(module.path) == str(self.directory)
                name = os.path.basename(module.path) if module else "?"
                path.append(("call", context.function.name) if ours else ("other", name))
                keep = True
            elif ours and context.kind == "inlined":
                path.append(("inlined", context.function.name))
                keep = True
            elif ours and context.kind == "line":
                path.append(("line", context.line))
                keep = True
        return tuple(path), keep

    def test_contexts_and_values(self):
        self.build()
        self.measure(self.program, 1, events=["CPUTIME@f2000"])
        where = self.directory / "database"
        done = self.run_tool(profiling.BUILD / "bin" / "hpcprof", "-o", where, self.measurements)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        file, = pathlib.Path(self.measurements).glob("*.hpcrun")
        measurement = Measurement(file)
        for folder, physical in (where, False), (where / "physical", True):
            expected = self.expected(measurement, physical)
            db = read_database(str(folder))
            self.assertEqual(len(db.profiles), 1 + len(expected))
            for thread, profile in zip(expected, db.profiles[1:]):
                self.compare(thread, self.found(db, profile))
        labels = {label for thread in expected for path in thread for label in path}
        for name in ("work_full", "hidden_full", "work_bare", "hidden_split",
                     "tree::descend(int, unsigned long)",
                     "mixer<unsigned long, 13>::many(unsigned long)"):
            self.assertIn(("call", name), labels)
        self.assertIn(("inlined", "mixer<unsigned int, 7>::once(unsigned int)"), labels)
        self.assertIn(("other", "[vdso]"), labels)
        self.assertTrue(any(name.startswith("<libbare.so+0x") for _, name in
                            (label for label in labels if label[0] == "call")))
        self.check_recorded(measurement, expected)

    def compare(self, expected, found):
        self.assertEqual(set(found), set(expected))
        for path, amounts in expected.items():
            if path and path[-1][0] == "other":  # code inlined into it is not checked
                amounts = amounts[:2]
            for value, amount in zip(found[path], amounts):
                self.assertAlmostEqual(value, amount / SECOND, delta=1e-12, msg=path)

    def check_recorded(self, measurement, expected):
        """The values and what was paid to waiting equal the amounts of the recorded samples."""
        for index, values in zip(sorted(measurement.threads), expected):
            thread = measurement.threads[index]
            count, amount = thread.fates[0, profiling.RECORDED]
            waiting = sum(paid for (_, metric), paid in thread.values.items()
                          if measurement.metrics[metric] == "waiting")
            self.assertEqual(values[()][1] + waiting, amount)
            self.assertGreater(count, 100)  # at least: without perf, HZ limits the rate
