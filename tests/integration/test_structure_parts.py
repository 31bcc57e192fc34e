"""The structure of some procedures (hpcstruct --only) is that of the same procedures in the whole structure, and
hpcprof makes the same database of either."""
import os
import pathlib
import random
import re
import unittest

import profiling
from hpcprof_case import differences
from profiling import BUILD
from structure_case import StructureCase, hpcstruct, run

# Two units with a template in common whose argument is a type of the unit: its functions have no linkage names, and
# stand at the same lines of the same file.
TEMPLATE = """
template <class Function> struct box {
    Function function;
    inline __attribute__((always_inline)) long run_through(const long *from, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += function(from[i]);
        return sum;
    }
};
"""
UNIT = """
#include "template.h"
namespace NAME {
__attribute__((noinline)) long sum(const long *from, int n, long by) {
    auto scaled = [by](long x) { return x * by + NUMBER; };
    box<decltype(scaled)> boxed{scaled};
    return boxed.run_through(from, n);
}
}
long sum_NAME(const long *from, int n) { return NAME::sum(from, n, 3); }
"""
MAIN = """
long sum_one(const long *, int), sum_two(const long *, int);
int main(int argc, char **argv) { long x[4] = {1, 2, 3, argc}; return (int)(sum_one(x, 4) + sum_two(x, 4)); }
"""


def parts_of(text):
    """The attributes of LM, and the text of each procedure with its file, by its address ranges. Numbers of elements
    are left out."""
    module, procedures, file, procedure = None, {}, None, []
    for line in re.sub(r' i="\d+"', "", text).splitlines():
        element = line.lstrip()
        if element.startswith("<LM "):
            module = re.sub(r' s="[^"]*"', "", element)
        elif element.startswith("<F "):
            file = element
        elif element.startswith(("<P ", "</P>")) or procedure:
            procedure.append(element)
            if element.startswith("</P>") or (element.startswith("<P ") and element.endswith("/>")):
                procedures[re.search(r' v="([^"]*)"', procedure[0])[1]] = [file, *procedure]
                procedure = []
    return module, procedures


class PartCase(StructureCase):
    def only(self, binary, addresses, *options):
        """What hpcstruct prints for the procedures at some addresses."""
        result = hpcstruct("-o", "-", "--only", "-", *options, binary, input="".join(f"{a:x}\n" for a in addresses))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def check_chosen(self, binary, options, whole, chosen, generator):
        module, procedures = parts_of(whole)
        addresses = []
        for ranges in chosen:
            begin, end = generator.choice(re.findall(r"\[0x(\w+)-0x(\w+)\)", ranges))
            addresses.append(generator.randrange(int(begin, 16), int(end, 16)))
        text = self.only(binary, addresses, *options)
        self.assertIn(f' s="{len(chosen)}/{len(procedures)}"', text)
        self.assertEqual(parts_of(text), (module, {ranges: procedures[ranges] for ranges in chosen}))
        self.assertEqual(re.findall("<D .*", text), re.findall("<D .*", whole))

    def check(self, binary, *options, counts=(1, 4, 40), each=False):
        """Compares procedures that are chosen at random, but always the same, with those of the whole structure;
        `each`: each one in a source file, too."""
        whole = hpcstruct("-o", "-", *options, binary)
        self.assertEqual((whole.returncode, whole.stderr), (0, ""))
        _, procedures = parts_of(whole.stdout)
        generator = random.Random(1)
        choices = [generator.sample(sorted(procedures), min(count, len(procedures))) for count in counts]
        if each:
            choices += [[ranges] for ranges in procedures if "unknown file" not in procedures[ranges][0]]
        for chosen in choices:
            self.check_chosen(binary, options, whole.stdout, chosen, generator)
        return procedures


class PartTest(PartCase):
    def test_compilers(self):
        for source, compiler, *options in (
                ("objects.cc", "g++", "-O2", "-g"), ("objects.cc", "clang++", "-O2", "-g"),
                ("cold.c", "gcc", "-O2", "-g"), ("loops.c", "gcc", "-O2", "-g", "-flto"),
                ("loops.c", "clang", "-O1", "-g", "-gdwarf-4"), ("switches.c", "gcc", "-O2"),
                ("switches.c", "clang", "-O2", "-g"), ("cold.c", "gcc", "-O2", "-s"),
                ("nests.c", "gcc", "-O2", "-g", "-gsplit-dwarf")):
            with self.subTest(source=source, compiler=compiler, options=options):
                self.assertGreater(len(self.check(self.compile(source, *options, compiler=compiler))), 4)

    def test_many_units(self):
        """Of programs with many units, few are read."""
        self.check(BUILD / "bin" / "hpcstruct", counts=(1, 3, 30))

    def test_calls(self):
        self.check(self.compile("objects.cc", "-O2", "-g", compiler="g++"), "--calls", counts=(3,))

    def test_code_without_frames(self):
        """Calls from all code show where functions begin."""
        options = ("-O2", "-s", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
        self.check(self.compile("cold.c", *options))

    def test_no_procedure(self):
        program = self.compile("loops.c", "-O2", "-g")
        for addresses in ([], [0], [2**63]):
            self.assertEqual(parts_of(self.only(program, addresses))[1], {})

    def test_tags_of_overhead(self):
        """They matter for the whole run: all procedures are there."""
        program = self.compile("overhead.c", "-O2", "-g")
        self.assertEqual(self.only(program, [0]), hpcstruct("-o", "-", program).stdout)

    def test_bad_addresses(self):
        program = self.compile("loops.c", "-O1")
        for text, says in (("1000\nhere\n", "line 2: not a hexadecimal number"), ("", None)):
            result = hpcstruct("-o", "-", "--only", "-", program, input=text)
            self.assertEqual(result.returncode, 1 if says else 0)
            self.assertIn(says or "", result.stderr)
        result = hpcstruct("-o", "-", "--only", self.folder / "missing", program)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("missing: No such file", result.stderr)


class TemplateTest(PartCase):
    def test_instances_of_two_units(self):
        """An inlined member is that of its own class, though another unit's has the same name, file and line."""
        (self.folder / "template.h").write_text(TEMPLATE)
        (self.folder / "main.cc").write_text(MAIN)
        for number, name in enumerate(("one", "two")):
            unit = UNIT.replace("NAME", name).replace("NUMBER", str(number))
            (self.folder / f"{name}.cc").write_text(unit)
        for compiler, *options in (("g++",), ("g++", "-flto"), ("clang++", "-flto")):
            run(compiler, "-O2", "-g", *options, "-o", self.folder / "program", *sorted(self.folder.glob("*.cc")))
            procedures = self.check(self.folder / "program", counts=(), each=True)
            for name, other in (("one", "two"), ("two", "one")):
                (text,) = ("".join(lines) for lines in procedures.values() if f' n="{name}::sum(' in lines[1])
                self.assertRegex(text, f'n="box&lt;{name}::[^"]*::run_through')
                self.assertNotIn(f"{other}::", text)


class CacheOfPartsTest(PartCase):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"))

    def ask(self, binary, *options):
        result = hpcstruct("--cache", *options, binary, env=self.environment, input="0\n")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def files(self):
        return sorted((self.folder / "cache" / "hpctoolkit" / "structure").iterdir())

    def test_of_small_and_large_binaries(self):
        program = self.compile("loops.c", "-O2", "-g")
        part = self.ask(program, "--only", "-", "--large", "0")
        self.assertEqual(part, self.only(program, [0], "--image"))
        self.assertEqual(self.files(), [])
        path = self.ask(program, "--only", "-")  # it is small
        self.assertEqual([f"{file}\n" for file in self.files()], [path])
        self.assertEqual(pathlib.Path(path.strip()).read_text(errors="replace"),
                         hpcstruct("--image", "-o", "-", program).stdout)
        self.assertEqual(self.ask(program, "--only", "-", "--large", "0"), path)  # the cache has all of it


OPENMP = """
#include <stdio.h>
static double x[1 << 16];
int main(void) {
    for (int round = 0; round < 400; round++) {
#pragma omp parallel for schedule(dynamic, 64)
        for (int i = 0; i < 1 << 16; i++)
            x[i] = x[i] * 0.5 + i;
    }
    printf("%g\\n", x[77]);
}
"""


TBB = """
#include <oneapi/tbb.h>
#include <cstdio>
static double x[1 << 16];
int main() {
    for (int round = 0; round < 200; round++)
        tbb::parallel_for(0, 1 << 16, [](int i) { x[i] = x[i] * 0.5 + i; });
    std::printf("%g\\n", x[77]);
}
"""


# `second` is inlined in a procedure that has no samples and comes before all, and called by its address.
TWICE = """
#include <stdio.h>
static inline __attribute__((always_inline)) double second(double x);
__attribute__((noinline)) double never(double x) { return second(x) + 1; }
__attribute__((noinline)) double first(double x) {
    for (int i = 0; i < 100000000; i++)
        x = x * 0.5 + i;
    return x;
}
static inline double second(double x) {
    for (int i = 0; i < 100000000; i++)
        x = x * 0.25 + i;
    return x;
}
static double (*volatile called)(double) = second;
int main(int argc, char **argv) {
    (void)argv;
    printf("%g\\n", first(argc) + called(argc) + (argc > 1 ? never(argc) : 0));
}
"""


class DatabaseTest(profiling.ProfilingTest):
    """Databases of parts of structures are those of whole ones, byte for byte."""

    def database(self, name, large):
        """A database, and the number of structure files that are in the cache then, which was empty."""
        environment = dict(os.environ, XDG_CACHE_HOME=str(self.directory / f"cache-{name}"))
        done = self.run_tool(BUILD / "bin" / "hpcprof", "--large", str(large), "-o", self.directory / name,
                             self.measurements, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return len(list((self.directory / f"cache-{name}").rglob("*.hpcstruct")))

    def compare(self, *command):
        """Returns the numbers of structures that are whole, if binaries count as large, and if not."""
        self.measure(*command)
        of_parts, of_wholes = self.database("parts", 0), self.database("wholes", 1 << 20)
        self.assertEqual(differences(self.directory / "parts", self.directory / "wholes"), [])
        return of_parts, of_wholes

    def test_threads(self):
        of_parts, of_wholes = self.compare(profiling.program("threads"), 8, 20, 8)
        self.assertEqual(of_parts, 0)
        self.assertGreater(of_wholes, 0)

    def test_python(self):
        of_parts, _ = self.compare("/usr/bin/python3", "-c", "import json; json.loads(json.dumps([*range(300000)]))")
        self.assertEqual(of_parts, 0)

    def test_order_of_procedures(self):
        of_parts, _ = self.compare(self.compile_text("twice", TWICE, "-O2", "-g", "-fno-toplevel-reorder"))
        self.assertEqual(of_parts, 0)

    def test_openmp(self):
        """The runtime's own module is analyzed as a whole, for its rules."""
        of_parts, of_wholes = self.compare(self.compile_text("openmp", OPENMP, "-O2", "-g", "-fopenmp"))
        self.assertLess(of_parts, of_wholes)
        self.assertGreater(of_parts, 0)

    @unittest.skipUnless(pathlib.Path("/usr/include/oneapi/tbb.h").exists(), "needs oneTBB")
    def test_tbb(self):
        """The runtime is built into the program: nothing is left out."""
        program = self.compile_text("tbb", TBB, "-O2", "-g", "-ltbb", compiler="g++", suffix=".cc")
        of_parts, of_wholes = self.compare(program)
        self.assertEqual(of_parts, of_wholes)

    def test_tags_of_overhead(self):
        """A program with tags is analyzed as a whole; it does not get into the cache."""
        of_parts, of_wholes = self.compare(BUILD / "tests/programs/cilk/fib", "24")
        self.assertEqual(of_parts, 0)
        self.assertGreater(of_wholes, 0)
