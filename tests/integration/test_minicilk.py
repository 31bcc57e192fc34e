"""The bundled runtime: its programs, its tests under stress, sanitizers and single-stepping, and what
its overhead tags do to machine code and lines."""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

from evidence import OfChance
from machine_code import TAG, disassembly, instructions
from profiling import symbols

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
MINICILK = ROOT / "runtime-patches" / "minicilk"
CILK = ROOT / "tests" / "programs" / "cilk"
PROGRAMS = BUILD / "tests" / "programs" / "cilk"
VARIANTS = BUILD / "tests" / "minicilk"
LIBRARIES = BUILD / "lib"
CFLAGS = ["-std=c11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", f"-I{MINICILK}"]
COMPILERS = [compiler for compiler in ("gcc", "clang") if shutil.which(compiler)]


def run(*command, **options):
    options.setdefault("timeout", 600)
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def numbers(output):
    """The last line's "name number" pairs."""
    words = output.splitlines()[-1].split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


class MinicilkTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="hpctest-minicilk-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def ok(self, *command, **options):
        done = run(*command, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def compile(self, source, *flags, compiler="gcc", name="program", libraries=("-lminicilk",)):
        program = self.directory / name
        self.ok(compiler, *CFLAGS, *flags, "-o", program, source, f"-L{LIBRARIES}",
                f"-Wl,-rpath,{LIBRARIES}", *libraries, "-lpthread")
        return program

    def write(self, text, name="program.c"):
        path = self.directory / name
        path.write_text(text)
        return path


class Programs(MinicilkTest):
    SIZES = {"fib": 24, "nqueens": 10, "cilksort": 100000, "cholesky": 200, "quicksort": 20000}

    def test_results(self):
        """Each checks its own result."""
        self.assertEqual(set(self.SIZES), {path.stem for path in CILK.glob("*.c")})
        for name, size in self.SIZES.items():
            for workers in (1, 2, 5, 16):
                with self.subTest(name, workers=workers):
                    self.assertEqual(self.ok(PROGRAMS / name, "-w", workers, size),
                                     f"{name} {size}: ok ({workers} workers)\n")

    def test_small_sizes(self):
        for name, sizes in {"nqueens": (1, 2, 9), "cilksort": (1, 2, 2049),
                            "cholesky": (1, 8, 9, 17), "quicksort": (1, 2, 65)}.items():
            for size in sizes:
                with self.subTest(name, size=size):
                    self.assertIn(": ok", self.ok(PROGRAMS / name, "-w", 3, size))

    def test_wrong_usage(self):
        for arguments, status in ((["-w", "0"], 2), (["-w", "two"], 2), (["1", "2"], 2), (["x"], 2),
                                  (["-x"], 2), (["61"], 2)):
            with self.subTest(arguments):
                done = run(PROGRAMS / "fib", *arguments)
                self.assertEqual((done.returncode, done.stdout), (status, ""))
                self.assertRegex(done.stderr, "^[^\n]*fib[^\n]*\n")
        done = run(PROGRAMS / "fib", env=dict(os.environ, MINICILK_WORKERS="many"))
        self.assertEqual((done.returncode, done.stderr),
                         (1, "minicilk: MINICILK_WORKERS=many: must be 1 to 256\n"))

    def test_example_of_the_header(self):
        """What minicilk.h shows compiles without a warning, statically and with the shared library."""
        lines = (MINICILK / "minicilk.h").read_text().splitlines()
        begin = lines.index(" *     #include <minicilk.h>")
        end = lines.index(" *     }", lines.index(" *     int main(void)"))
        source = self.write("\n".join(line[len(" *     "):] for line in lines[begin:end + 1]) + "\n")
        for compiler in COMPILERS:
            for libraries in (["-lminicilk"], ["-l:libminicilk.a"]):
                program = self.compile(source, "-O2", "-Werror", compiler=compiler, libraries=libraries)
                self.assertEqual(self.ok(program), "fib(30) = 832040\n")


class Stress(OfChance, MinicilkTest):
    """Short forms; `make stress-minicilk` is the long one."""

    def test_steals(self):
        for variant, workers, steals in (("plain", 1, 0), ("plain", 16, 200), ("chaos", 4, 5000),
                                         ("chaos", 64, 8000), ("magic", 3, 3000),
                                         ("fenced", 8, 5000), ("address", 8, 4000),
                                         ("thread", 8, 2000), ("thread", 64, 4000)):
            with self.subTest(variant, workers=workers):
                output = self.ok(VARIANTS / f"stress-{variant}", workers, steals)
                self.assertRegex(output, rf"\Aright: {workers} workers, \d+ computations, \d+ steals\n\Z")

    def test_what_an_observer_is_told(self):
        """Events come in an order that is possible, and none from inside of a grain."""
        for variant, workers, steals in (("plain", 2, 100), ("chaos", 4, 2000), ("magic", 3, 2000), ("fenced", 8, 2000),
                                         ("address", 8, 1000), ("thread", 8, 500)):
            with self.subTest(variant, workers=workers):
                output = self.ok(VARIANTS / f"stress-{variant}", workers, steals, "observed")
                self.assertRegex(output, rf"\Aright: {workers} workers, \d+ computations, \d+ steals\n\Z")

    def test_wakeups(self):
        """A lost wake-up would hang; n_w is exact; idle workers fall asleep."""
        for variant, workers in (("plain", 2), ("plain", 32), ("chaos", 8), ("fenced", 8), ("thread", 4)):
            with self.subTest(variant, workers=workers):
                found = numbers(self.ok(VARIANTS / f"wakeups-{variant}", workers, 80))
                self.assertEqual(found["wrong"], 0)

    def test_every_instruction(self):
        """No step is wrong. That some are in each place is evidence: a run may have no thieves on a busy machine."""
        for variant, workers in (("plain", 3), ("chaos", 4)):
            with self.subTest(variant):
                for evidence in self.looks():
                    found = numbers(self.ok(VARIANTS / f"steps-{variant}", workers, 4000))
                    self.assertEqual(found["wrong"], 0)
                    for what in ("bodies", "runtime", "scheduler", "stolen", "callers"):
                        evidence.enough(f"steps in {what}", found[what], 1)

    @unittest.skipUnless("TEST_ALL" in os.environ, "long form: make test-all")
    def test_every_instruction_tells_wrong_from_right(self):
        """A runtime that joins before it has cleared the base is found out: in most runs at once, but not in those in
        which a busy machine lets one worker do everything."""
        for evidence in self.looks():
            done = run(VARIANTS / "steps-eager", 4, 150000)
            found = numbers(done.stdout)
            self.assertEqual(done.returncode, 1 if found["wrong"] else 0)
            evidence.enough("runs that find it", found["wrong"] > 0, 1)
            evidence.rate("found, if anything was stolen", found["wrong"] > 0, found["stolen"] > 0, least=0.5)


class Misuse(MinicilkTest):
    HEAD = """
#include <minicilk.h>
#include <sched.h>
static _Atomic int stolen;
CILK_PROC(wait_for_thief, int unused;);
CILK_BODY(wait_for_thief)
{
    CILK_BEGIN(wait_for_thief);
    f->unused = 0;
    while (!stolen)
        sched_yield();
    CILK_END;
}
"""
    TAIL = """
int main(void)
{
    return minicilk_init(2) || CILK_RUN(root, a->x = 7) || minicilk_shutdown();
}
"""

    def root(self, body):
        return self.write(self.HEAD + "CILK_PROC(root, int x;);\nCILK_BODY(root)\n{\n"
                          + body + "\n}\n" + self.TAIL)

    def test_spawn_in_switch(self):
        source = self.root("""
    CILK_BEGIN(root);
    switch (f->x) {
    case 100: break;
    default: CILK_SPAWN(wait_for_thief, a->unused = 0);
    }
    stolen = 1;
    CILK_END;""")
        done = run(self.compile(source, "-O2"), timeout=600)
        self.assertEqual(done.returncode, -signal.SIGABRT)
        self.assertEqual(done.stderr,
                         "minicilk: root: a spawn or sync stands inside a switch of the body\n")

    def test_array_of_variable_length(self):
        source = self.root("""
    CILK_BEGIN(root);
    char text[f->x];
    text[0] = 0;
    CILK_SPAWN(wait_for_thief, a->unused = text[0]);
    CILK_END;""")
        for compiler in COMPILERS:
            done = run(compiler, *CFLAGS, "-c", "-o", "/dev/null", source)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "variabl[ey] modified type|bypasses initialization")

    def test_local_across_spawn(self):
        """Compilers see that a resumed body would use a local without a value."""
        source = self.root("""
    CILK_BEGIN(root);
    int local = f->x + 1;
    CILK_SPAWN(wait_for_thief, a->unused = 0);
    f->x = local;
    CILK_END;""")
        done = run("gcc", *CFLAGS, "-O2", "-Werror", "-c", "-o", "/dev/null", source,
                   env=dict(os.environ, LC_ALL="C"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("'local' may be used uninitialized", done.stderr)

    def test_spawns_nested_too_deep(self):
        source = self.write(self.HEAD + """
CILK_PROC(root, int x;);
CILK_BODY(root)
{
    CILK_BEGIN(root);
    CILK_SPAWN(root, a->x = 0);
    CILK_END;
}
""" + self.TAIL)
        stack = 512 << 20
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        if hard not in (resource.RLIM_INFINITY, -1) and hard < stack:
            self.skipTest("no C stack that is deep enough")
        done = run(self.compile(source, "-O2"), timeout=600,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (stack, hard)))
        self.assertEqual(done.returncode, -signal.SIGABRT)
        self.assertEqual(done.stderr, "minicilk: spawns nest deeper than 262144\n")


class Tags(MinicilkTest):
    LEVELS = ("-O0", "-O1", "-O2", "-O3") if os.environ.get("TEST_ALL") else ("-O0", "-O2", "-O3")

    def test_no_change_of_machine_code(self):
        sources = sorted(MINICILK.glob("*.c")) + [CILK / "fib.c", CILK / "cholesky.c"]
        for compiler in COMPILERS:
            for level in ("-O0", "-O2") if os.environ.get("TEST_ALL") else ("-O2",):
                for source in sources if compiler == "gcc" or os.environ.get("TEST_ALL") else sources[-2:]:
                    with self.subTest(source.name, compiler=compiler, level=level):
                        code = []
                        for name, flag in ("tagged", []), ("untagged", ["-DMINICILK_UNTAGGED"]):
                            path = self.directory / f"{name}.o"
                            self.ok(compiler, *CFLAGS, level, *flag, "-c", "-o", path, source)
                            code.append(disassembly(path, "-r"))
                        self.assertEqual(code[0], code[1])

    def test_untagged_is_untagged(self):
        """The comparison above compares two different things."""
        for flag, expected in ([], True), (["-DMINICILK_UNTAGGED"], False):
            path = self.directory / "fib.o"
            self.ok("gcc", *CFLAGS, "-O2", *flag, "-c", "-o", path, CILK / "fib.c")
            lines = self.ok("objdump", "--dwarf=rawline", path)
            self.assertEqual(TAG in lines, expected)

    def test_lines_in_tagged_regions_are_true(self):
        for path in sorted(MINICILK.glob("*.[ch]")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = re.match(r'#line (\d+) "hpctoolkit:parallel-overhead(:[a-z]+)?"$', line)
                self.assertEqual(found is not None, line.startswith("#line"), line)
                if found:
                    self.assertEqual(int(found[1]), number + 1, path.name)

    def line_of(self, text):
        lines = (CILK / "fib.c").read_text().splitlines()
        return 1 + next(i for i, line in enumerate(lines) if text in line)

    def each_fib(self):
        for compiler in COMPILERS:
            for level in self.LEVELS:
                with self.subTest(compiler, level=level):
                    program = self.compile(CILK / "fib.c", level, compiler=compiler,
                                           libraries=["-l:libminicilk.a"])
                    yield instructions(program, "fib")

    def check_spawn_sites(self, instructions):
        """The calls of children are on the lines of their CILK_SPAWN, and not tagged."""
        calls = [i for i in instructions if re.match(r"call\w*\s+[0-9a-f]+ <fib>", i.text)]
        self.assertEqual(len(calls), 2)
        for call, text in zip(calls, ("a->n = f->n - 1", "a->n = f->n - 2")):
            self.assertEqual([(name, os.path.basename(file), number) for name, file, number in call.places],
                             [("fib", "fib.c", self.line_of(text))])

    def test_what_is_tagged(self):
        """Nothing on the lines of user statements is tagged, and of the rest much is: minicilk.h says
        what stays untagged."""
        stores = {self.line_of(text) for text in ("*f->result = f->n;", "*f->result = f->x + f->y")}
        user = stores | {self.line_of("if (f->n < 2)")}
        for instructions in self.each_fib():
            self.check_spawn_sites(instructions)
            seen = {line for i in instructions if not i.tagged() for _, _, line in i.places}
            # clang may merge the two stores; the code of both then has line 0.
            self.assertLessEqual(user - stores if 0 in seen else user, seen)
            for i in instructions:
                if i.tagged():
                    self.assertNotIn(i.places[-1][2], user, i.text)
            share = sum(i.tagged() for i in instructions) / len(instructions)
            self.assertGreater(share, 1 / 3)
            self.assertLess(share, 3 / 4)

    def test_runtime_is_in_its_sections(self):
        """Nothing but the parallel loop, which is a procedure like a program's, is in .text."""
        self.ok("ar", "x", LIBRARIES / "libminicilk.a", cwd=self.directory)
        for path in sorted(self.directory.glob("*.o")):
            sections = self.ok("objdump", "-h", "-w", path)
            code = {name for name, size in re.findall(r"^\s*\d+ (\S+)\s+([0-9a-f]+).*CODE", sections, re.M)
                    if int(size, 16) > 0}
            if path.name != "loop.o":
                self.assertLessEqual(code, {"minicilk_text", "minicilk_base"}, path.name)

    def test_exported_names(self):
        out = self.ok("readelf", "-W", "--dyn-syms", LIBRARIES / "libminicilk.so")
        names = set(re.findall(r"GLOBAL\s+DEFAULT\s+\d+ (\S+)$", out, re.M))
        self.assertLessEqual({"minicilk_introspection", "cilk_call_base", "minicilk_for"}, names)
        self.assertEqual({name for name in names if not name.startswith("minicilk_")}, {"cilk_call_base"})


@unittest.skipUnless(shutil.which("valgrind"), "no valgrind")
class WorkingCount(MinicilkTest):
    """What it costs that a profiler can know who works, counted in instructions."""

    KEEPERS = ("enter_work", "leave_work")
    AROUND = ("minicilk_schedule", "execute", "cilk_call_base", *KEEPERS)  # functions that they may be inlined into

    def addresses(self, program):
        """Of all instructions that keep the count, the workers' states and bases."""
        return {i.address for name in self.AROUND if name in symbols(program)
                for i in instructions(program, name)
                if any(function in self.KEEPERS for function, _, _ in i.places)}

    def executed(self, program, *arguments):
        """Address -> how often it was executed, in the functions around; and how many instructions
        were in all."""
        out = self.directory / "callgrind.out"
        self.ok("valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no", "--fair-sched=yes",
                "--compress-pos=no", "--compress-strings=no", f"--callgrind-out-file={out}",
                program, *arguments)
        counts, total, function = {}, 0, None
        lines = iter(out.read_text().splitlines())
        for line in lines:
            if line.startswith("calls="):
                next(lines)  # what the callee cost
            elif line.startswith("fn="):
                function = line[len("fn="):]
            elif line.startswith("0x"):
                address, count = line.split()
                total += int(count)
                if function in self.AROUND:
                    counts[int(address, 16)] = counts.get(int(address, 16), 0) + int(count)
        return counts, total

    def test_share_of_instructions(self):
        """In fib, which does nothing but spawn."""
        # At addresses that are those in the file.
        program = self.compile(CILK / "fib.c", "-O2", "-no-pie", libraries=["-l:libminicilk.a"])
        keeping = self.addresses(program)
        self.assertGreaterEqual(len(keeping), 6)  # two stores and a count, up and down
        for workers in (1, 2, 4):
            with self.subTest(workers=workers):
                counts, total = self.executed(program, "-w", workers, 23)
                spent = sum(counts.get(address, 0) for address in keeping)
                self.assertGreaterEqual(spent, 6)
                self.assertLess(spent / total, 0.005)
