"""hpcprof and hpcstruct on a compiled program: a made-up measurement with a sample at every instruction of its
functions. Contexts are compared with addr2line's output for the instruction, and with the lines of loops that are
marked in the source."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import measurement_writer as mw
from hpcprof_scenario import hpcprof_path, source_path
from profiling import NM
from v4_reader import read_database

SOURCE = """\
#include <stdlib.h>
static inline unsigned long mix(unsigned long x)
{
    x ^= x >> 13;
    return x * 0x9e3779b97f4a7c15ul;
}
static inline unsigned long twice(unsigned long x)
{
    return mix(mix(x)) + 1; // CALLS
}
__attribute__((noinline)) unsigned long nested(int n, unsigned long s)
{
    for (int i = 0; i < n; i++) { // OUTER
        s += twice(s);
        for (int k = 0; k < 1000; k++) // INNER
            s += mix(s + k);
    }
    return s;
}
__attribute__((noinline)) unsigned long flat(unsigned long s)
{
    if (s == 77)
        abort();
    return s / 3;
}
int main(int argc, char **argv)
{
    (void)argv;
    unsigned long s = argc;
    while (s % 1000) // WHILE
        s = flat(nested(argc, s));
    return (int)s;
}
"""
FUNCTIONS = ("main", "nested", "flat")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Program:
    def __init__(self, folder, *flags):
        self.source = os.path.join(folder, "program.c")
        self.path = os.path.join(folder, "program")
        pathlib.Path(self.source).write_text(SOURCE)
        subprocess.run(["gcc", *flags, "-Wl,--build-id", "-o", self.path, self.source], check=True)
        notes = output_of("readelf", "-n", self.path)
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        self.instructions = {}  # address: function
        for symbol in output_of(*NM, "-S", self.path).splitlines():
            name = symbol.split()[-1].split(".")[0]  # main.cold belongs to main
            if name in FUNCTIONS:
                begin, size = (int(number, 16) for number in symbol.split()[:2])
                for address in self.disassemble(begin, begin + size):
                    self.instructions[address] = name

    def disassemble(self, begin, end):
        text = output_of("objdump", "-d", "--no-show-raw-insn", f"--start-address={begin}",
                         f"--stop-address={end}", self.path)
        return [int(at, 16) for at in re.findall(r"^\s+([0-9a-f]+):\t", text, re.M)]

    def line(self, marker):
        lines = SOURCE.splitlines()
        return 1 + next(i for i, line in enumerate(lines) if line.endswith("// " + marker))

    def frames(self):
        """{address: [(function, line), ...]}, outermost first, from addr2line."""
        text = output_of("addr2line", "-a", "-f", "-i", "-e", self.path,
                         *map(hex, self.instructions))
        frames, address, names = {}, None, []
        for line in text.splitlines():
            if line.startswith("0x"):
                address, names = int(line, 16), []
                frames[address] = []
            elif not names:
                names.append(line)
            else:
                number = line.rsplit(":", 1)[1].split()[0]
                frames[address].insert(0, (names.pop(), int(number) if number != "?" else 0))
        return frames


def expected_path(frames):
    """The path of an address: procedure, call sites with inlined procedures, line."""
    path = [("call", frames[0][0])]
    for (_, line), (callee, _) in zip(frames, frames[1:]):
        path += [("line", line)] if line else []
        path.append(("inlined", callee))
    return path + ([("line", frames[-1][1])] if frames[-1][1] else [])


class LockNames(unittest.TestCase):
    """A lock has the name of the object that contains it, by the symbols of the program."""
    SOURCE = """
        _Alignas(64) long first[3] = {1}, second[5] = {1};
        long sections[] __asm__(".gomp_critical_user_table") = {1};
        long others[] __asm__(".gomp_critical_user_log.var") = {1};
        long unnamed[] __asm__(".gomp_critical_user_.var") = {1};
        int main(void) { return 0; }
        """

    def test_objects(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            subprocess.run(["gcc", "-x", "c", "-", "-Wl,--build-id", "-o", program], input=self.SOURCE, text=True,
                           check=True)
            build_id = re.search(r"Build ID: ([0-9a-f]+)", output_of("readelf", "-n", program)).group(1)
            objects = {name: (int(begin, 16), int(size, 16)) for begin, size, _, name in
                       re.findall(r"^([0-9a-f]+) ([0-9a-f]+) (D) ([\w.]+)$", output_of(*NM, "-S", program), re.M)}
            (first, size), (second, _) = objects["first"], objects["second"]
            end = first + size  # nothing is there
            run = mw.Measurement(executable=program)
            run.metric("work", run.event("CPUTIME"))
            delay = run.metric("lock wait", 0)
            run.agents.append(("pthread", "1.0", 4, "pthread.rules", "1.0"))
            run.workers.append((0, [(5, 2, 2)]))
            module, thread = run.module(program, build_id, flags=mw.MAIN), run.thread()
            of_sections = [objects[".gomp_critical_user_" + name][0] for name in ("table", "log.var", ".var")]
            for address in (first, end - 1, second + 8, end, *of_sections):
                thread.add(thread.node(mw.ROOT, (module, address), "ip"), delay, mw.seconds(1))
            run.write(os.path.join(folder, "measurements"))
            subprocess.run([hpcprof_path(), "-o", "db", "measurements"], cwd=folder, check=True, capture_output=True,
                           timeout=600, env={**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")})
            names = {function.name for function in read_database(os.path.join(folder, "db")).functions}
            self.assertEqual({name for name in names if name.startswith("<lock")}, {
                "<lock first>", f"<lock first + {size - 1}>", "<lock second + 8>", f"<lock at {end:#x} in program>",
                "<lock critical(table)>", "<lock critical(log)>", "<lock critical>"})


class ProgramTest(unittest.TestCase):
    def database(self, folder, program):
        """A database with a thread for every instruction, which has its sample there."""
        run = mw.Measurement(executable=program.path)
        count = run.event("COUNT", unit="count")
        run.metric("COUNT", count)
        module = run.module(program.path, program.build_id)
        for address in program.instructions:
            thread = run.thread()
            thread.add(thread.path([(module, address)]), 0, 1)
        run.write(os.path.join(folder, "measurements"))
        subprocess.run([hpcprof_path(), "-o", "db", "measurements"], cwd=folder, check=True,
                       capture_output=True, timeout=600,
                       env={**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")})
        return read_database(os.path.join(folder, "db"))

    def paths(self, db, program):
        """{address: context} from the context of each thread's sample."""
        contexts, point = {}, db.metric("COUNT", "point")
        for address, profile in zip(program.instructions, db.profiles[1:], strict=True):
            number, = [c for c, row in profile.values.items() if point in row]
            contexts[address] = db.contexts[number]
        return contexts

    @staticmethod
    def plain(program, context):
        """The path without loops, in the form of addr2line."""
        path = []
        while context.entry is None:
            if context.kind in ("call", "inlined"):
                path.append((context.kind, context.function.name))
            elif context.kind == "line":
                assert source_path(context.file) == program.source
                path.append(("line", context.line))
            context = context.parent
        return path[::-1]

    @staticmethod
    def loops(context):
        lines = set()
        while context.entry is None:
            if context.kind == "loop":
                lines.add(context.line)
            context = context.parent
        return lines

    def check(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # hpcprof copies sources that everybody may read
            program = Program(os.path.realpath(folder), *flags)
            self.assertLess(len(program.instructions), 1000)
            db = self.database(folder, program)
            contexts, frames = self.paths(db, program), program.frames()
            for address, context in contexts.items():
                self.assertEqual(self.plain(program, context), expected_path(frames[address]),
                                 hex(address))
            copy = pathlib.Path(folder, "db/src" + program.source)
            self.assertEqual(copy.read_text(), SOURCE)
            return program, contexts, frames

    def test_without_optimization(self):
        program, contexts, frames = self.check("-O0", "-g")
        for address, context in contexts.items():
            function, line = frames[address][-1]
            if function == "nested" and line in (program.line("INNER"), program.line("INNER") + 1):
                self.assertIn(program.line("OUTER"), self.loops(context))
            if function == "flat":
                self.assertEqual(self.loops(context), set())

    def test_with_optimization(self):
        program, contexts, frames = self.check("-O2", "-g")
        inner = [context for address, context in contexts.items()
                 if frames[address][0] == ("nested", program.line("INNER") + 1)]
        self.assertTrue(any(self.loops(c) == {program.line("OUTER"), program.line("INNER")}
                            for c in inner))
        inlined = {name for address in contexts for name, _ in frames[address][1:]}
        self.assertEqual(inlined, {"mix", "twice"})

    def test_without_debug_information(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # hpcprof copies sources that everybody may read
            program = Program(os.path.realpath(folder), "-O2")
            contexts = self.paths(self.database(folder, program), program)
            for address, context in contexts.items():
                path = self.plain(program, context)
                self.assertEqual(path, [("call", program.instructions[address])], hex(address))
            self.assertEqual({c.kind for c in contexts.values()}, {"call", "loop"})
