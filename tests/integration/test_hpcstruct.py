"""hpcstruct on binaries: symbols, stripped and split binaries, jump tables, the line map, and properties
of every structure; compared with the output of compilers and of other tools."""
import functools
import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest

from profiling import NM
from structure_case import (C_COMPILERS, CXX_COMPILERS, HPCSTRUCT, StructureCase, hpcstruct, marks,
                            markers, output_of, run)
from structure_file import UNKNOWN_FILE, Structure, merged

SHOW_JUMPS = HPCSTRUCT.parents[1] / "tests" / "tools" / "show-jumps"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
BIG_BINARIES = [pathlib.Path(path) for path in (
    LIBRARIES / "libc.so.6", "/usr/bin/python3.11", "/usr/bin/perl", LIBRARIES / "libstdc++.so.6")]
if os.environ.get("TEST_ALL"):
    BIG_BINARIES += [pathlib.Path("/usr/lib/gcc/x86_64-linux-gnu/12/cc1"), pathlib.Path("/usr/bin/gdb")]


def symbols(binary, *options):
    """Sized symbols from nm: name -> (address, size)."""
    found = {}
    for line in output_of(*NM, "-S", "--defined-only", *options, binary).splitlines():
        fields = line.split()
        if len(fields) == 4:
            found[fields[3].split("@")[0]] = (int(fields[0], 16), int(fields[1], 16))
    return found


class ProcedureTest(StructureCase):
    def entry(self, procedure):
        return {begin for begin, _ in procedure.ranges}

    def test_symbols(self):
        """Procedures have the names and addresses of the symbols that nm lists."""
        for compiler in C_COMPILERS:
            program = self.compile("cold.c", "-O2", "-g", compiler=compiler)
            structure = self.structure(program)
            for name, (address, size) in symbols(program).items():
                if name.endswith(".cold") or not re.match(r"[a-z]", name) or size < 4:
                    continue
                if not any(address == begin for p in structure.procedures for begin, _ in p.ranges):
                    continue  # data
                procedure = structure.procedure(name)
                self.assertIn((address, address + size), procedure.ranges)

    def check_cold(self, program, structure, addresses):
        cold, loop = addresses["loop_in_cold.cold"], addresses["loop_in_cold"]
        procedure = structure.at(loop[0]).chain()[0]
        self.assertEqual(merged(procedure.ranges),
                         merged([(a, a + size) for a, size in (cold, loop)]))

    def test_cold_parts(self):
        lines = markers("cold.c")
        program = self.compile("cold.c", "-O2", "-g", "-DMARKS")
        addresses = symbols(program)
        structure = self.structure(program)
        self.check_cold(program, structure, addresses)
        self.assertFalse([p.name for p in structure.procedures if ".cold" in p.name])
        for address, mark in marks(program):
            loops = [s.line for s in structure.at(address).chain() if s.kind == "L"]
            expected = {"cold-in-loop": [lines["cold-loop"]],
                        "loop-in-cold": [lines["loop-in-cold"]],
                        "tail-recursion": loops[:1]}[mark]
            self.assertEqual(loops, expected, mark)
        # The same without names: found by frame description entries and jumps.
        run("strip", program)
        self.check_cold(program, self.structure(program), addresses)

    def test_calls_that_never_return(self):
        lines = markers("cold.c")
        for compiler in C_COMPILERS:
            for level in ("-O1", "-O2"):
                program = self.compile("cold.c", level, "-g", compiler=compiler)
                structure = self.structure(program)
                procedure = structure.procedure("ends_in_call")
                (loop,) = procedure.loops()
                self.assertEqual(loop.line, lines["ends-in-call"])
                # The code of the next procedure is not reached and does not belong to this one.
                self.assertEqual(merged(procedure.ranges),
                                 [[a, a + size] for a, size in [symbols(program)["ends_in_call"]]])
                self.assertEqual(structure.procedure("tail_caller").loops(), [])

    def test_stubs(self):
        """Stubs have the names that objdump gives them, demangled."""
        for source, compiler, options in (
                ("cold.c", "gcc", ["-O1"]), ("cold.c", "gcc", ["-O1", "-Wl,-z,now"]),
                ("cold.c", "gcc", ["-O1", "-fcf-protection=full", "-Wl,-z,ibtplt"]),
                ("cold.c", "gcc", ["-O1", "-fno-pie", "-no-pie"]), ("objects.cc", "g++", ["-O1"])):
            program = self.compile(source, *options, compiler=compiler)
            listing = output_of("objdump", "-d", "-C", program)
            expected = {(int(address, 16), name) for address, name in
                        re.findall(r"^([0-9a-f]+) <(.+@plt)>:$", listing, re.M)}
            found = {(p.ranges[0][0], p.name) for p in self.structure(program).procedures
                     if p.name.endswith("@plt")}
            self.assertTrue(expected)
            self.assertLessEqual(expected, found)

    def test_stripped(self):
        """Without symbols, procedures have the same addresses and are named after them."""
        program = self.compile("loops.c", "-O2")
        before = self.structure(program)
        run("strip", program)
        after = self.structure(program)
        named = {p.name: p.ranges for p in before.procedures}
        stripped = {p.ranges[0][0]: p for p in after.procedures}
        for name in ("plain", "multiply", "two_levels", "main", "_start"):
            procedure = stripped[named[name][0][0]]
            self.assertEqual(procedure.name, f"<program+{named[name][0][0]:#x}>")
            self.assertEqual(procedure.ranges, named[name])
            self.assertEqual(len(procedure.loops()), len(before.procedure(name).loops()))
        self.assertEqual(after.files, [UNKNOWN_FILE])

    def test_without_frames(self):
        """Without symbols and frame description entries, functions begin at call targets."""
        program = self.compile("loops.c", "-O2", "-fno-asynchronous-unwind-tables")
        named = {p.name: p.ranges[0][0] for p in self.structure(program).procedures}
        run("strip", "-R", ".eh_frame", "-R", ".eh_frame_hdr", program)
        begins = {p.ranges[0][0] for p in self.structure(program).procedures}
        self.assertLessEqual({named[name] for name in ("plain", "multiply", "visit", "iterate")},
                             begins)

    def test_without_section_headers(self):
        program = self.compile("loops.c", "-O2")
        before = self.structure(program)
        data = bytearray(program.read_bytes())
        data[0x28:0x30] = bytes(8)  # e_shoff
        data[0x3c:0x40] = bytes(4)  # e_shnum, e_shstrndx
        program.write_bytes(data)
        after = self.structure(program)
        stripped = {p.ranges[0][0]: p for p in after.procedures}
        for name in ("plain", "multiply", "two_levels"):
            procedure = before.procedure(name)
            self.assertEqual(stripped[procedure.ranges[0][0]].ranges, procedure.ranges)
            self.assertEqual(len(stripped[procedure.ranges[0][0]].loops()), len(procedure.loops()))

    def test_aliases(self):
        source = self.folder / "alias.c"
        source.write_text("int __hidden(int x) { return x + 1; }\n"
                          "int shown(int x) __attribute__((alias(\"__hidden\")));\n"
                          "int shown_longer(int x) __attribute__((alias(\"__hidden\")));\n"
                          "static int local(int x) __attribute__((alias(\"__hidden\"), used));\n"
                          "int main(void) { return shown(1); }\n")
        program = self.folder / "alias"
        run("gcc", "-O1", source, "-o", program)
        names = [p.name for p in self.structure(program).procedures]
        self.assertIn("shown", names)
        self.assertFalse({"__hidden", "shown_longer", "local"} & set(names))

    def test_calls(self):
        """With --calls, every call instruction of objdump is listed with its target."""
        program = self.compile("loops.c", "-O1", "-g")
        structure = self.structure(program, "--calls")
        found = {}
        for procedure in structure.procedures:
            for scope in procedure.within():
                if scope.kind == "C":
                    (begin, end), = scope.ranges
                    found[begin] = (end, int(scope.target, 16) if scope.target else None)
                    self.assertEqual(scope.line, structure.at(begin).line)
        expected = {}
        instructions = re.findall(r"^ +([0-9a-f]+):\t(\S.*)$",
                                  output_of("objdump", "-d", "--no-show-raw-insn", program), re.M)
        for (address, text), (following, _) in zip(instructions, instructions[1:]):
            match = re.match(r"(?:bnd |notrack )?call +(\*?)([0-9a-f]*)", text)
            if match:
                target = None if match[1] else int(match[2], 16)
                expected[int(address, 16)] = (int(following, 16), target)
        self.assertTrue(expected)
        self.assertEqual(found, expected)


class JumpTableTest(StructureCase):
    def tables(self, assembly, addresses):
        """The jump tables in the assembly of the compiler, as sets of addresses."""
        found, label = {}, None
        for line in assembly.splitlines():
            start = re.match(r"([.\w]+):", line)
            entry = re.match(r"\s+\.(?:long|quad)\s+(\.L\w+)(?:-[.\w]+)?\s*$", line)
            if start:
                label = start[1]
            elif entry and entry[1] in addresses:
                found.setdefault(label, set()).add(addresses[entry[1]])
        return {frozenset(targets) for targets in found.values() if len(targets) > 1}

    def check(self, compiler, level, pic, link):
        assembly, program = self.folder / "switches.s", self.folder / "switches"
        options = ["-fno-addrsig"] if compiler == "clang" else []
        source = pathlib.Path(__file__).parents[1] / "programs" / "structure" / "switches.c"
        run(compiler, level, pic, *options, "-S", source, "-o", assembly)
        run("gcc", "-Wa,--keep-locals", link, assembly, "-o", program)
        addresses = {}
        for line in output_of(*NM, program).splitlines():
            fields = line.split()
            if len(fields) == 3:
                addresses[fields[2]] = int(fields[0], 16)
        expected = self.tables(assembly.read_text(), addresses)
        found = set()
        for line in output_of(SHOW_JUMPS, program).splitlines():
            targets = line.split()[2:]
            if targets:
                found.add(frozenset(int(target, 16) for target in targets))
        self.assertGreaterEqual(len(expected), 1 if level == "-O0" else 14)  # -O0 of gcc 16: one is the source's own
        self.assertEqual(found, expected)

    def test_against_the_compilers_output(self):
        for compiler in C_COMPILERS:
            for level in ("-O0", "-O1", "-O2", "-O3", "-Os"):
                for pic, link in (("-fPIE", "-pie"), ("-fno-pie", "-no-pie")):
                    with self.subTest(compiler=compiler, level=level, link=link):
                        self.check(compiler, level, pic, link)


class DebugInformationTest(StructureCase):
    """Debug information in other files and encodings gives the same structure."""

    def contents(self, structure):
        """The structure without the name of the module."""
        def scope(s):
            return (s.kind, s.name, s.file, s.line, s.tag, s.call_file, s.call_line,
                    tuple(s.ranges), tuple(scope(child) for child in s.children))
        return [scope(procedure) for procedure in structure.procedures]

    def program(self, *options, compiler="gcc"):
        program = self.compile("loops.c", "-O2", "-g", *options, compiler=compiler)
        return program, self.contents(self.structure(program))

    def test_compressed(self):
        for how in ("zlib", "zlib-gnu", "zstd"):
            program, expected = self.program()
            run("objcopy", f"--compress-debug-sections={how}", program)
            with self.subTest(how=how):
                self.assertEqual(self.contents(self.structure(program)), expected)

    def test_debug_link(self):
        for place in (".", ".debug"):
            program, expected = self.program()
            debug = self.folder / place / "program.debug"
            debug.parent.mkdir(exist_ok=True)
            run("objcopy", "--only-keep-debug", program, debug)
            run("objcopy", "--remove-section=.note.gnu.build-id", "--strip-all",
                f"--add-gnu-debuglink={debug}", program)
            with self.subTest(place=place):
                self.assertEqual(self.contents(self.structure(program)), expected)
                with open(debug, "ab") as file:  # changes the checksum
                    file.write(b"\0")
                self.assertNotEqual(self.contents(self.structure(program)), expected)
            debug.unlink()

    def test_debug_link_to_a_file_with_another_build_id(self):
        """The checksum is right, and all but the build-id of the file."""
        debug = self.folder / "program.debug"
        for of_debug_file, is_used in (("0x1234", True), ("0x1235", False)):
            self.program(f"-Wl,--build-id={of_debug_file}")
            run("objcopy", "--only-keep-debug", self.folder / "program", debug)
            program, expected = self.program("-Wl,--build-id=0x1234")
            run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program)
            self.assertEqual(self.contents(self.structure(program)) == expected, is_used)

    def test_build_id(self):
        program, expected = self.program("-Wl,--build-id")
        build_id = self.structure(program).build_id
        directory = self.folder / "debug"
        debug = directory / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
        debug.parent.mkdir(parents=True)
        run("objcopy", "--only-keep-debug", "--compress-debug-sections", program, debug)
        run("strip", program)
        found = self.structure(program, "--debug-dir", directory)
        self.assertEqual(self.contents(found), expected)
        self.assertEqual(found.build_id, build_id)

    def test_debuginfod_cache(self):
        """Files that debuginfod clients have left are used; what is wrong with one is told."""
        program, expected = self.program("-Wl,--build-id")
        build_id = self.structure(program).build_id
        cache = self.folder / "cache"
        file = cache / "debuginfod_client" / build_id / "debuginfo"
        file.parent.mkdir(parents=True, mode=0o700)
        file.parent.parent.chmod(0o700)
        run("objcopy", "--only-keep-debug", program, file)
        run("strip", program)
        whole = file.read_bytes()
        usual = {key: value for key, value in os.environ.items() if not key.startswith("DEBUGINFOD")}

        def look(**variables):
            result = hpcstruct("-o", "-", program, env=dict(usual, **variables))
            self.assertEqual(result.returncode, 0)
            return self.contents(Structure(result.stdout)) == expected, result.stderr

        home = self.folder / "home"
        (home / ".cache").mkdir(parents=True)
        (home / ".cache" / "debuginfod_client").symlink_to(cache / "debuginfod_client")
        self.assertEqual(look(DEBUGINFOD_CACHE_PATH=f"{cache}/debuginfod_client"), (True, ""))
        self.assertEqual(look(XDG_CACHE_HOME=str(cache)), (True, ""))
        self.assertEqual(look(XDG_CACHE_HOME="", HOME=str(home)), (True, ""))
        self.assertEqual(look(XDG_CACHE_HOME=str(self.folder)), (False, ""))
        self.assertEqual(look(XDG_CACHE_HOME=str(cache), DEBUGINFOD_CACHE_PATH=str(home)), (False, ""))

        def is_told(cause):
            note = f"hpcstruct: {file}: this file of debuginfod's cache is not used: {cause}"
            self.assertEqual(look(XDG_CACHE_HOME=str(cache)), (False, note + "\n"))

        file.write_bytes(whole[:40])
        is_told("truncated ELF header")
        file.write_bytes(whole[:len(whole) // 2])  # its build-id is at the begin, the table of sections at the end
        is_told("it has no debug information")
        shutil.copy(self.compile("loops.c", "-O1", "-g", "-Wl,--build-id", name="other"), file)
        is_told("it has another build-id")
        file.unlink()
        target = self.folder / "elsewhere"
        target.write_bytes(whole)
        file.symlink_to(target)
        is_told("it is a link")
        file.unlink()
        file.write_bytes(b"")  # debuginfod: no server has it
        self.assertEqual(look(XDG_CACHE_HOME=str(cache)), (False, ""))
        file.write_bytes(whole)
        self.assertEqual(look(XDG_CACHE_HOME=str(cache)), (True, ""))
        for directory in (file.parent, file.parent.parent):
            directory.chmod(0o770)
            is_told("other users can write to its directory")
            directory.chmod(0o700)

    @unittest.skipUnless(shutil.which("dwz"), "needs dwz")
    def test_supplement(self):
        """dwz moves debug information that two binaries share to a third file."""
        programs = [self.compile("loops.c", "-O2", "-g", "-gdwarf-4", name=name)
                    for name in ("one", "two")]
        expected = [self.contents(self.structure(program)) for program in programs]
        run("dwz", "-m", self.folder / "shared", *programs)
        self.assertIn(".gnu_debugaltlink", output_of("readelf", "-SW", programs[0]))
        for program, contents in zip(programs, expected):
            self.assertEqual(self.contents(self.structure(program)), contents)
        # Without that file there still are lines, and at most a note.
        (self.folder / "shared").unlink()
        result = hpcstruct("-o", "-", programs[0])
        structure = Structure(result.stdout)
        self.assertEqual(structure.problems(), [])
        self.assertTrue(any(s.line for _, _, s in structure.statements))

    SECOND_UNIT = """
        extern volatile int sink;
        static inline int half(int n) { if (n & 1) sink = n; return n / 2; }
        __attribute__((noinline)) int second(int n) { int all = 0; while (n) { all += half(n); n /= 3; } return all; }
        __attribute__((constructor)) static void first(void) { sink = second(sink); }
        """

    def split_programs(self, *hows):
        """((compiler, version), program, contents of the same program without split debug information). The parts
        of the second unit in the linked file do not begin at 0."""
        second = self.folder / "second.c"
        second.write_text(self.SECOND_UNIT)
        for compiler, version in hows:
            options = ("-ffunction-sections", f"-gdwarf-{version}", second)
            _, expected = self.program(*options, compiler=compiler)
            program = self.compile("loops.c", "-O2", "-g", *options, "-gsplit-dwarf", compiler=compiler)
            yield (compiler, version), program, expected
            for path in self.folder.rglob("*.dw[op]"):
                path.unlink()

    def test_split(self):
        for how, program, expected in self.split_programs(("gcc", 4), ("gcc", 5), ("clang", 4), ("clang", 5)):
            self.assertEqual(self.contents(self.structure(program)), expected, how)
            # The program and its .dwo files at another place.
            moved = self.folder / "moved" / "program"
            moved.parent.mkdir(exist_ok=True)
            for path in (program, *self.folder.glob("*.dwo")):
                path.rename(moved.parent / path.name)
            self.assertEqual(self.contents(self.structure(moved)), expected, how)
            # One file is missing, then it is that of the other unit.
            first, second = sorted(moved.parent.glob("*.dwo"))
            second.unlink()
            for _ in range(2):
                result = hpcstruct("-o", "-", moved)
                self.assertEqual(result.returncode, 0, how)
                self.assertRegex(result.stderr, r"\Ahpcstruct: \S*program: .* of 2 units, 1 have no \.dwo or \.dwp "
                                                r"file of this build \(such as /\S*second\.dwo\).*\n\Z")
                structure = Structure(result.stdout)
                self.assertEqual(structure.problems(), [], how)
                (loop,) = structure.procedure("second").loops()
                self.assertEqual(loop.line, 4, how)
                self.assertEqual([s.kind for s in structure.procedure("second").within() if s.kind == "A"], [], how)
                inlined = [s.name for s in structure.procedure("inlined_loop").within() if s.kind == "A"]
                self.assertIn("checksum", inlined, how)
                shutil.copy(first, second)

    def test_split_package(self):
        # Not gcc and DWARF 5: llvm-dwp 14 does not end, and GNU's dwp knows only DWARF 4.
        for how, program, expected in self.split_programs(("gcc", 4), ("clang", 4), ("clang", 5)):
            tool = "dwp" if how[0] == "gcc" else "llvm-dwp"
            if not shutil.which(tool):
                continue
            run(tool, "-e", program, "-o", f"{program}.dwp", cwd=self.folder)
            for path in self.folder.glob("*.dwo"):
                path.unlink()
            self.assertEqual(self.contents(self.structure(program)), expected, how)

    def test_damaged_split(self):
        """Damage in a .dwo file costs no lines, and is told in one line."""
        for how, program, _ in self.split_programs(("gcc", 4), ("clang", 5)):
            path = max(self.folder.glob("*loops.dwo"))
            data = path.read_bytes()
            chooser = random.Random(3)
            for _ in range(3):
                bad = bytearray(data)
                for at in chooser.sample(range(64, len(data)), 40):
                    bad[at] = chooser.randrange(256)
                path.write_bytes(bad)
                result = hpcstruct("-o", "-", program)
                self.assertIn(result.returncode, (0, 1), how)
                self.assertLessEqual(len(result.stderr.splitlines()), 1, result.stderr)
                structure = Structure(result.stdout)
                self.assertEqual(structure.problems(), [], how)
                (loop,) = structure.procedure("second").loops()
                self.assertEqual(loop.line, 4, how)

    def test_huge_file(self):
        """A file that is much larger than what it contains."""
        program, expected = self.program()
        os.truncate(program, 3 << 30)
        self.assertEqual(self.contents(self.structure(program)), expected)

    def test_lines_only(self):
        lines = markers("loops.c")
        for compiler in C_COMPILERS:
            structure = self.structure(self.compile("loops.c", "-O2", "-g1", compiler=compiler))
            (loop,) = structure.procedure("plain").loops()
            self.assertEqual(loop.line, lines["plain-for"])
            inlined = {s.name for s in structure.procedure("inlined_loop").within()
                       if s.kind == "A"}
            self.assertEqual(inlined, {"checksum"})

    def test_dropped_code(self):
        """Code that the linker removed does not change the lines of other code."""
        source = self.folder / "dropped.c"
        source.write_text("int dropped(int n)\n{\n    return n * 3;\n}\n"
                          "int main(int argc, char **argv)\n{\n    return argc + !argv;\n}\n")
        for compiler in C_COMPILERS:
            program = self.folder / "dropped"
            run(compiler, "-O1", "-g", "-ffunction-sections", "-Wl,--gc-sections", source, "-o",
                program)
            structure = self.structure(program)
            self.assertEqual({s.line for _, _, s in structure.statements if s.line} - {6, 7, 8},
                             set())
            self.assertEqual([p.name for p in structure.procedures if p.file == str(source)],
                             ["main"])


class LineMapTest(StructureCase):
    """The line tables of real binaries, compared with objdump; inline chains, compared with
    addr2line."""

    def rows(self, binary):
        """(begin, end, file, line) from objdump; files are base names, perhaps truncated."""
        row = re.compile(r"(\S+) +(\d+|-) +(?:0x)?([0-9a-f]+)")
        last = None
        for line in output_of("objdump", "--dwarf=decodedline", binary).splitlines():
            match = row.match(line)
            if not match:
                continue
            address = int(match[3], 16)
            if last and last[0] < address and last[2] is not None:
                yield last[0], address, last[1], last[2]
            ends = match[2] == "-" or line.rstrip().endswith("END")
            last = (address, match[1], None if ends else int(match[2]))

    def check_lines(self, structure, binary):
        checked, end_of_name = 0, functools.cache(lambda file: os.path.basename(file)[-10:])
        for begin, end, file, line in self.rows(binary):
            for address in {begin, end - 1}:
                statement = structure.at(address)
                if statement is None:
                    continue  # padding between procedures
                checked += 1
                if line == 0 and statement.line:
                    # The nearest line of the scope, in the file of its function.
                    function = [s for s in statement.chain() if s.kind in "AP"][-1]
                    is_right = statement.file == function.file
                else:
                    is_right = statement.line == line and end_of_name(statement.file) == file[-10:]
                if not is_right:
                    self.fail(f"{address:#x}: {file}:{line}, not {statement}")
        return checked

    def test_hpcstruct(self):
        self.assertGreater(self.check_lines(self.structure(HPCSTRUCT), HPCSTRUCT), 10000)

    def test_c_library(self):
        library = LIBRARIES / "libc.so.6"
        structure = self.structure(library)
        debug = pathlib.Path("/usr/lib/debug/.build-id", structure.build_id[:2],
                             structure.build_id[2:] + ".debug")
        if not debug.exists():
            self.skipTest("needs libc6-dbg")
        self.assertGreater(self.check_lines(structure, debug), 100000)

    def test_clang(self):
        for version in (2, 3, 4, 5):
            program = self.compile("objects.cc", "-O2", f"-gdwarf-{version}", compiler="clang++")
            self.assertGreater(self.check_lines(self.structure(program), program), 100)

    def check_chains(self, binary, count, *symbolizer, files=False):
        structure = self.structure(binary)
        chooser = random.Random(1)
        known = [(begin, end) for begin, end, statement in structure.statements if statement.line]
        addresses = sorted({chooser.randrange(*chooser.choice(known)) for _ in range(count)})
        listing = run(*symbolizer, "-a", "-f", "-i", "-e", binary,
                      input="\n".join(map(hex, addresses)).encode()).stdout.decode()
        frames = re.split(r"^(0x[0-9a-f]+)\n", listing, flags=re.M)[1:]
        for address, text in zip(frames[::2], frames[1::2]):
            statement = structure.at(int(address, 16))
            chain = [scope for scope in reversed(statement.chain()) if scope.kind in "AP"]
            inlined = [scope for scope in chain if scope.kind == "A"]
            expected = re.findall(r"^(.*):(\d+)(?: \(.*\))?$", text, re.M)
            lines = [int(line) for _, line in expected]
            paths = [os.path.normpath(file) for file, _ in expected]
            if lines[0] == 0:  # the nearest line of the scope, in the file of its function
                lines[0], paths[0] = statement.line, chain[0].file
            self.assertEqual([statement.line] + [s.call_line for s in inlined], lines,
                             f"{address}: {statement.chain()}")
            if files:
                self.assertEqual([statement.file] + [s.call_file for s in inlined], paths, address)
            names = [line for line in text.splitlines() if line][::2]
            for scope, name in zip(chain, names):
                plain = re.split(r"[(<]", scope.name)[0].split("::")[-1].split(" ")[-1]
                if plain.split(".")[0].isidentifier() and plain != "operator":
                    self.assertIn(plain.split(".")[0], name)
        return len(addresses)

    def test_chains(self):
        self.assertGreater(self.check_chains(HPCSTRUCT, 2000, "addr2line"), 1000)

    # addr2line 2.40 confuses files in DWARF 5, and does not show calls that clang inlined.
    @unittest.skipUnless(shutil.which("llvm-symbolizer"), "needs llvm-symbolizer")
    def test_chains_with_files(self):
        symbolizer = ["llvm-symbolizer", "--output-style=GNU"]
        self.assertGreater(self.check_chains(HPCSTRUCT, 2000, *symbolizer, files=True), 1000)
        for compiler in CXX_COMPILERS:
            for options in (["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-fdebug-types-section"]):
                with self.subTest(compiler=compiler, options=options):
                    program = self.compile("objects.cc", "-O2", *options, compiler=compiler)
                    count = self.check_chains(program, 1000, *symbolizer, files=True)
                    self.assertGreater(count, 200)
        program = self.compile("objects.cc", "-O2", "-gdwarf-5", "-gsplit-dwarf", compiler="clang++")
        self.assertGreater(self.check_chains(program, 1000, *symbolizer, files=True), 200)


class EveryBinaryTest(StructureCase):
    """Properties of every structure, on large binaries of this machine."""

    def test_rules_of_the_format(self):
        found = 0
        for binary in BIG_BINARIES:
            if not binary.exists():
                continue
            with self.subTest(binary=binary):
                structure = self.structure(binary)
                found += 1
                self.assertEqual(structure.path, os.path.realpath(binary))
                self.assertGreater(len(structure.procedures), 100)
                self.assertGreater(sum(len(p.loops()) for p in structure.procedures), 100)
                self.check_symbols(structure, binary)
        self.assertGreater(found, 2)

    def check_symbols(self, structure, binary):
        """Every function symbol lies in a procedure, and begins one unless it lies inside another
        symbol."""
        inside, starts = 0, {p.ranges[0][0] for p in structure.procedures} | {
            begin for p in structure.procedures for begin, _ in p.ranges}
        functions = 0
        for line in output_of(*NM, "-D", "-S", "--defined-only", binary).splitlines():
            fields = line.split()
            if len(fields) != 4 or fields[2] not in "Tti":
                continue
            address = int(fields[0], 16)
            functions += 1
            self.assertIsNotNone(structure.at(address), line)
            inside += address not in starts
        self.assertLessEqual(inside, functions // 100)

    def test_jobs_do_not_matter(self):
        for binary in (HPCSTRUCT, LIBRARIES / "libstdc++.so.6"):
            results = {hpcstruct("-j", jobs, "-o", "-", binary).stdout for jobs in (1, 2, 7)}
            self.assertEqual(len(results), 1)

    @unittest.skipUnless(shutil.which("xmllint"), "needs xmllint")
    def test_is_xml(self):
        with open(self.folder / "out.xml", "wb") as out:
            subprocess.run([HPCSTRUCT, "-o", "-", HPCSTRUCT], stdout=out, check=True)
        run("xmllint", "--noout", self.folder / "out.xml")
