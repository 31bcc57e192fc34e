"""hpcstruct compared with sources: loops, inlined functions, C++, and tags of parallel overhead, in programs
compiled by gcc and clang at all levels. Expectations are in the sources: `LINE` comments mark lines, MARK marks
places in the code."""
import os
import re

from structure_case import (C_COMPILERS, CXX_COMPILERS, ROOT, StructureCase, marks, markers,
                            output_of, run)

LEVELS = ("-O0", "-O1", "-O2", "-O3") if os.environ.get("TEST_ALL") else ("-O0", "-O2", "-O3")


def shape(scope, lines):
    """The chain of a scope without its procedure, as texts like "A name@marker" and "L marker"."""
    names = {number: name for name, number in lines.items()}
    texts = []
    for part in scope.chain()[1:]:
        if part.kind == "A":
            texts.append(f"A {part.name}@{names.get(part.call_line, part.call_line)}")
        elif part.kind == "L":
            texts.append(f"L {names.get(part.line, part.line)}")
    return texts


class LoopTest(StructureCase):
    """The loops and inlined calls around each mark of loops.c."""

    EXPECTED = {
        ("plain", "plain-body"): ["L plain-for"],
        ("plain", "plain-end"): [],
        ("multiply", "multiply-innermost"): ["L multiply-i", "L multiply-j", "L multiply-k"],
        ("multiply", "multiply-middle"): ["L multiply-i", "L multiply-j"],
        ("inlined_loop", "checksum-body"): ["A checksum@inlined-loop-call", "L checksum-for"],
        ("inlined_loop", "checksum-end"): ["A checksum@inlined-loop-call"],
        ("loop_around", "loop-around-body"): ["L loop-around-for"],
        ("loop_around", "mix"): ["L loop-around-for", "A mix@loop-around-call"],
        ("loop_around_loop", "checksum-body"):
            ["L loop-around-loop-for", "A checksum@loop-around-loop-call", "L checksum-for"],
        ("loop_around_loop", "checksum-end"):
            ["L loop-around-loop-for", "A checksum@loop-around-loop-call"],
        ("loop_around_loop", "loop-around-loop-body"): ["L loop-around-loop-for"],
        ("iterate", "iterate-body"): ["L iterate-while"],
        ("do_loop", "do-body"): ["L do-while"],
        ("early_exit", "early-exit-body"): ["L early-exit-for"],
        ("visit", "visit-body"): ["L visit-for"],
        ("two_levels", "inner-level-body"):
            ["L two-levels-for", "A outer_level@two-levels-call", "L outer-level-for",
             "A inner_level@outer-level-call", "L inner-level-for"],
        ("two_levels", "outer-level-body"):
            ["L two-levels-for", "A outer_level@two-levels-call", "L outer-level-for"],
        ("two_levels", "two-levels-body"): ["L two-levels-for"],
        ("two_entries", "two-entries-body"): ["L two-entries-if"],
    }

    # Optimizations of these loops: clang unrolls the 3 and 4 iterations of two of them completely, and
    # gives no instruction of a third the line of its `for`.
    UNROLLED = {("clang", level, name) for level in ("-O2", "-O3")
                for name in ("two-levels-for", "visit-for")}
    WITHOUT_LINE = {("clang", level, "early-exit-for") for level in ("-O1", "-O2", "-O3")}

    def expected(self, compiler, level, procedure, mark):
        """The chain as regular expressions."""
        for text in self.EXPECTED[procedure, mark]:
            loop = text[2:]
            if (compiler, level, loop) in self.UNROLLED:
                continue
            if (compiler, level, loop) in self.WITHOUT_LINE or loop == "two-entries-if":
                yield r"L .*"
            else:
                yield re.escape(text)

    def check(self, compiler, level, options=()):
        lines = markers("loops.c")
        program = self.compile("loops.c", level, "-g", "-DMARKS", *options, compiler=compiler)
        structure = self.structure(program)
        seen = set()
        for address, mark in marks(program):
            statement = structure.at(address)
            procedure = statement.chain()[0].name.split(".")[0]  # without ".constprop.0"
            seen.add((procedure, mark))
            self.assertRegex(" > ".join(shape(statement, lines)),
                             "^" + " > ".join(self.expected(compiler, level, procedure, mark)) + "$",
                             f"{mark} in {procedure} at {address:#x}")
        self.assertEqual(seen, set(self.EXPECTED))

    def test_marked_places(self):
        for compiler in C_COMPILERS:
            for level in LEVELS:
                with self.subTest(compiler=compiler, level=level):
                    self.check(compiler, level)

    def test_dwarf_versions(self):
        for compiler in C_COMPILERS:
            for version in (2, 3, 4, 5):
                with self.subTest(compiler=compiler, version=version):
                    self.check(compiler, "-O2", [f"-gdwarf-{version}"])

    def test_link_time_optimization(self):
        self.check("gcc", "-O2", ["-flto"])

    def test_position_dependent(self):
        for compiler in C_COMPILERS:
            with self.subTest(compiler=compiler):
                self.check(compiler, "-O2", ["-fno-pie", "-no-pie"])

    def test_without_marks(self):
        """The same nests without marks, since marks hinder optimizations."""
        lines = markers("loops.c")
        for compiler in C_COMPILERS:
            for level in LEVELS:
                structure = self.structure(self.compile("loops.c", level, "-g", compiler=compiler))
                found = {p.name: {tuple(shape(loop, lines)) for loop in p.loops()}
                         for p in structure.procedures}
                with self.subTest(compiler=compiler, level=level):
                    self.assertEqual(found["plain"], {("L plain-for",)})
                    self.assertEqual(found["multiply"], {
                        ("L multiply-i",), ("L multiply-i", "L multiply-j"),
                        ("L multiply-i", "L multiply-j", "L multiply-k")})
                    self.assertEqual(found["inlined_loop"],
                                     {("A checksum@inlined-loop-call", "L checksum-for")})
                    self.assertEqual(found["loop_around"], {("L loop-around-for",)})
                    self.assertIn(("L loop-around-loop-for", "A checksum@loop-around-loop-call",
                                   "L checksum-for"), found["loop_around_loop"])
                    self.assertEqual(found["iterate"], {("L iterate-while",)})
                    self.assertEqual(found["do_loop"], {("L do-while",)})

    def test_procedure_of_a_header(self):
        """A procedure in a file other than the unit's. With DWARF 5, tools that number files from 0 show its
        lines as lines of the unit's file."""
        header = ROOT / "tests" / "programs" / "hpcrun" / "burn.h"
        text = header.read_text().splitlines()
        begin = 1 + next(i for i, line in enumerate(text) if " burn_unit(" in line)
        loop_line = begin + next(i for i, line in enumerate(text[begin - 1:]) if "for (" in line)
        for compiler in C_COMPILERS:
            for version in (2, 3, 4, 5):
                with self.subTest(compiler=compiler, version=version):
                    structure = self.structure(self.compile(
                        "../hpcrun/recursion.c", "-O2", f"-gdwarf-{version}", compiler=compiler))
                    procedure = structure.procedure("burn_unit")
                    (loop,) = procedure.loops()
                    self.assertEqual((procedure.line, loop.line), (begin, loop_line))
                    self.assertEqual({s.file for s in procedure.within()}, {str(header)})

    def test_declarations(self):
        lines = markers("loops.c")
        source = str(self.compile("loops.c").parent)  # differs from the directory of the source
        structure = self.structure(self.compile("loops.c", "-O2", "-g"))
        inlined = {(s.name, s.line) for p in structure.procedures for s in p.within()
                   if s.kind == "A" and s.name != "next_value"}
        self.assertEqual(inlined, {(name.replace("-", "_"), lines[name])
                                   for name in ("checksum", "mix", "inner-level", "outer-level")})
        self.assertEqual({s.file.rsplit("/", 1)[1] for p in structure.procedures
                          for s in p.within() if s.kind in "AL" and not s.file.startswith(source)},
                         {"loops.c"})


class NestTest(StructureCase):
    """The loops around the marks of nests.c, whose control flow is more complex than a `for`."""

    EXPECTED = {  # (procedure, mark): lines of the loops, outermost first; a pair is a range of lines
        ("switch_in_loop", "switch-case"): ["switch-for"],
        ("switch_in_loop", "switch-inner"): ["switch-for", "switch-inner"],
        ("switch_in_loop", "switch-return"): [],
        ("switch_in_loop", "switch-end"): [],
        ("interpret", "interpret-add"): [("interpret-first", "interpret-last")],
        ("interpret", "interpret-multiply"): [("interpret-first", "interpret-last")],
        ("interpret", "interpret-store"): [("interpret-first", "interpret-last")],
        ("interpret", "interpret-repeat"):
            [("interpret-first", "interpret-last"), "interpret-for"],
        ("interpret", "interpret-end"): [],
        ("state_machine", "machine-outer"): ["machine-for"],
        ("state_machine", "machine-first"): ["machine-for", ("machine-first", "machine-last")],
        ("state_machine", "machine-second"): ["machine-for", ("machine-first", "machine-last")],
        ("state_machine", "machine-third"): ["machine-for", ("machine-first", "machine-last")],
        ("continued", "continued-top"): ["continued-while"],
        ("continued", "continued-body"): ["continued-while"],
        ("middle_exit", "middle-top"): [("middle-for", "middle-if")],
        ("middle_exit", "middle-continue"): [("middle-for", "middle-if")],
        ("middle_exit", "middle-inner"): [("middle-for", "middle-if"), "middle-while"],
        ("middle_exit", "middle-end"): [],
    }
    # The code before the condition also has a copy before the loop.
    ROTATED = "middle-top"
    # A table whose address goes through memory is not found (as in JumpTableTest).
    NOT_FOUND = {("clang", "-O0", "interpret")}

    def check(self, structure, program, compiler, level):
        lines = markers("nests.c")
        seen = set()
        for address, mark in marks(program):
            chain = structure.at(address).chain()
            procedure = chain[0].name.split(".")[0]
            found = [scope.line for scope in chain if scope.kind == "L"]
            if mark == self.ROTATED and not found:
                continue
            seen.add((procedure, mark))
            if (compiler, level, procedure) in self.NOT_FOUND:
                continue
            expected = self.EXPECTED[procedure, mark]
            where = f"{mark} at {address:#x}: {found}"
            self.assertEqual(len(found), len(expected), where)
            for line, at in zip(found, expected):
                first, last = at if isinstance(at, tuple) else (at, at)
                self.assertTrue(lines[first] <= line <= lines[last], where)
        self.assertEqual(seen, set(self.EXPECTED))

    def test_marked_places(self):
        for compiler in C_COMPILERS:
            for level in LEVELS:
                with self.subTest(compiler=compiler, level=level):
                    program = self.compile("nests.c", level, "-g", "-DMARKS", compiler=compiler)
                    self.check(self.structure(program), program, compiler, level)

    def test_stripped(self):
        """Loops are distinguished without lines, too."""
        for compiler in C_COMPILERS:
            for level in LEVELS:
                program = self.compile("nests.c", level, "-DMARKS", compiler=compiler)
                places = marks(program)
                run("strip", program)
                structure = self.structure(program)
                for address, mark in places:
                    depth = sum(scope.kind == "L" for scope in structure.at(address).chain())
                    for (procedure, of), loops in self.EXPECTED.items():
                        if of == mark and procedure in ("switch_in_loop", "state_machine"):
                            self.assertEqual(depth, len(loops), f"{compiler} {level} {mark}")

    def test_what_optimizers_make(self):
        """All copies of a loop have its line, and are siblings."""
        lines = markers("nests.c")
        for compiler in C_COMPILERS:
            for level in LEVELS:
                structure = self.structure(self.compile("nests.c", level, "-g", compiler=compiler))
                copies = 0
                for name in ("vector", "unswitched", "unrolled"):
                    loops = structure.procedure(name).loops()
                    copies += len(loops)
                    with self.subTest(compiler=compiler, level=level, name=name):
                        self.assertEqual({tuple(s.line for s in loop.chain() if s.kind == "L")
                                          for loop in loops}, {(lines[f"{name}-for"],)})
                if level == "-O3":
                    self.assertGreater(copies, 3)  # the compiler made copies


class ObjectTest(StructureCase):
    """C++: names, iterators, exceptions."""

    VECTOR = "std::vector<{0}, std::allocator<{0}> > const&"
    STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

    PROCEDURES = {  # demangled name -> marker at its declaration
        "shapes::area(int)": "area-int",
        "shapes::area(double)": "area-double",
        f"int shapes::largest<int>({VECTOR.format('int')})": "largest",
        f"double shapes::largest<double>({VECTOR.format('double')})": "largest",
        "shapes::stack<int>::pop(int)": "pop",
        "shapes::stack<int>::peek(int) const": "peek",  # not the line of its declaration
        f"shapes::stack<{STRING} >::pop(int)": "pop",
    }

    LOOPS = {  # mark -> innermost loop around it
        "largest-body": "largest-for", "pop-body": "pop-while", "range-body": "range-for",
        "map-body": "map-for", "catch-body": "catch-for", "catch-block": "catch-for",
        "lambda": "lambda-for",
    }

    def test_objects(self):
        lines = markers("objects.cc")
        for compiler in CXX_COMPILERS:
            for level in LEVELS:
                program = self.compile("objects.cc", level, "-g", "-DMARKS", compiler=compiler)
                structure = self.structure(program)
                with self.subTest(compiler=compiler, level=level):
                    for name, marker in self.PROCEDURES.items():
                        self.assertEqual(structure.procedure(name).line, lines[marker], name)
                    self.check_marks(structure, program, lines)

    # The forms that libiberty does not know: the type of a template parameter (clang 18), a constraint (gcc 14). Each is
    # cut short here, so that no later one can know it.
    UNREADABLE = """
namespace shapes {
inline __attribute__((always_inline)) int pour(int n) __asm__("_ZN6shapes4pourIiEEiT_Q");
inline int pour(int n) { __asm__ volatile("nop" : "+r"(n)); return n + 1; }
struct box { int fill(int n) __asm__("_ZN6shapes3box4fillITnEEii"); };
__attribute__((noinline)) int box::fill(int n) { return pour(n) * 2; }
}
int main(int argc, char **) { shapes::box box; return box.fill(argc); }
"""

    def test_names_that_cannot_be_demangled(self):
        """They are those of the debug information, in their namespaces and classes."""
        source = self.folder / "unreadable.cc"
        source.write_text(self.UNREADABLE)
        for compiler in CXX_COMPILERS:
            structure = self.structure(self.compile(source, "-O1", "-g", compiler=compiler))
            with self.subTest(compiler=compiler):
                self.assertEqual([p.name for p in structure.procedures if "fill" in p.name], ["shapes::box::fill"])
                self.assertIn(("A", "shapes::pour"), {(scope.kind, scope.name) for _, _, statement in structure.statements
                                                     for scope in statement.chain()[1:-1]})

    def check_marks(self, structure, program, lines):
        seen = set()
        for address, mark in marks(program):
            chain = structure.at(address).chain()
            if mark == "lambda" and "operator()" in chain[0].name:
                seen.add(mark)  # not inlined
                continue
            seen.add(mark)
            loops = [scope for scope in chain if scope.kind == "L"]
            self.assertEqual([loop.line for loop in loops], [lines[self.LOOPS[mark]]],
                             f"{mark} at {address:#x}")
            if mark == "lambda":
                self.assertEqual(chain[-2].call_line, lines["lambda-call"])
                self.assertIn("operator()", chain[-2].name)
                # gcc does not declare a lambda; the line comes from its code.
                self.assertIn(chain[-2].line, range(lines["lambda"], lines["lambda"] + 3))
                self.assertTrue(chain[-2].file.endswith("/objects.cc"))
        self.assertEqual(seen, set(self.LOOPS))


class OverheadTest(StructureCase):
    """Exactly the code of overhead.c that four rules tag is tagged."""

    TAGGED = {"tagged_inline": "overhead", "tagged_around": "overhead", "tagged_kind": "steal"}

    def tagged_lines(self, program):
        """Address ranges whose line is in a tagged file, from objdump."""
        rows = []
        for line in output_of("objdump", "--dwarf=decodedline", program).splitlines():
            match = re.match(r"(\S+)\s+(\d+|-)\s+0x([0-9a-f]+)", line)
            if match:
                rows.append((int(match[3], 16), match[1], match[2] == "-"))
        return [(a, b) for (a, name, ends), (b, _, _) in zip(rows, rows[1:])
                if a < b and not ends and "parallel-overhead" in name]

    def test_tags(self):
        for compiler in C_COMPILERS:
            for level in LEVELS:
                for version in (4, 5):
                    program = self.compile("overhead.c", level, f"-gdwarf-{version}",
                                           compiler=compiler)
                    with self.subTest(compiler=compiler, level=level, version=version):
                        self.check(self.structure(program), self.tagged_lines(program))

    def test_tags_after_link_time_optimization(self):
        program = self.compile("overhead.c", "-O2", "-g", "-flto")
        self.check(self.structure(program), self.tagged_lines(program))

    def check(self, structure, rows):
        # Rule 1: the line table of the address.
        self.assertTrue(rows)
        in_tagged_rows = {address for begin, end in rows for address in range(begin, end)}
        for begin, end, statement in structure.statements:
            for address in range(begin, end):
                self.assertEqual(statement.tag is not None, address in in_tagged_rows,
                                 f"{address:#x}")
        # Rule 2: the declaration of the inlined function. Rule 3: its call.
        inlined = {}
        for procedure in structure.procedures:
            for scope in procedure.within():
                if scope.kind == "A":
                    inlined.setdefault(scope.name, set()).add((procedure.name, scope.tag))
        self.assertEqual({name: {tag for _, tag in inlined[name]} for name in self.TAGGED},
                         {name: {tag} for name, tag in self.TAGGED.items()})
        self.assertEqual(inlined["untagged_helper"], {("uses_around", "overhead")})
        # Rule 4: the declaration of the procedure.
        tags = {p.name: p.tag for p in structure.procedures if p.tag}
        self.assertEqual(tags, {"tagged_routine": "overhead"})
        self.check_untagged(structure)

    def check_untagged(self, structure):
        lines = markers("overhead.c")
        for name in ("uses_inline", "uses_around", "uses_routine", "uses_in_loop"):
            own = [s for s in structure.procedure(name).children if s.kind == "S" and s.line]
            self.assertTrue(own)
            self.assertEqual([s.tag for s in own], [None] * len(own))
        statements = {s.line: s for s in structure.procedure("uses_inline").children}
        for marker in ("before-spawn", "behind-spawn"):
            self.assertIsNone(statements[lines[marker]].tag)
        (loop,) = {loop.line for loop in structure.procedure("uses_in_loop").loops()}
        self.assertEqual(loop, lines["spawn-loop"])
