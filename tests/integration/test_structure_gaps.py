"""hpcstruct --show-gaps: what could not be resolved is counted and listed. The programs have known gaps."""
import re
import subprocess

from profiling import NM
from structure_case import HPCSTRUCT, ROOT, SOURCES, StructureCase, hpcstruct, output_of, run

# In this order in the table.
KINDS = ("no-instruction", "not-declared", "indirect-jump", "no-bound", "several-entries", "too-complex", "no-name",
         "no-lines")


class GapsTest(StructureCase):
    def gaps(self, binary):
        """(counts by kind, sizes by kind, listed gaps as (address, size, kind, procedure), missing units)."""
        result = hpcstruct("--show-gaps", binary)
        self.assertEqual(result.returncode, 0, result.stderr)
        table, _, listed = result.stdout.partition("\n\n")
        title, head, *rows, units = table.splitlines()
        self.assertRegex(title, rf"^{binary}: \d+ bytes of code in \d+ procedures, \d+ loops, \d+ jump tables$")
        self.assertEqual(head.split(), ["count", "bytes", "not", "resolved"])
        self.assertEqual(len(rows), len(KINDS))
        counts = {kind: int(row.split()[0]) for kind, row in zip(KINDS, rows)}
        sizes = {kind: int(row.split()[1]) for kind, row in zip(KINDS, rows)}
        gaps = [(int(line.split()[0], 16), int(line.split()[1]), line.split()[2], line.split(None, 3)[3])
                for line in listed.splitlines()]
        self.assertEqual(gaps, sorted(gaps, key=lambda gap: (gap[0], KINDS.index(gap[2]))))
        for kind in KINDS:
            self.assertEqual(counts[kind], sum(gap[2] == kind for gap in gaps), kind)
            self.assertEqual(sizes[kind], sum(gap[1] for gap in gaps if gap[2] == kind), kind)
        return counts, gaps, int(units.split()[0])

    def of(self, gaps, kind, procedure=None):
        return [(address, size) for address, size, of, name in gaps if of == kind and procedure in (None, name)]

    def test_machine_code(self):
        source = self.folder / "gaps.s"
        # 0x06 is no instruction in 64-bit mode. `hidden` has no type, no size and no frame description.
        source.write_text("""
            .globl main, data, hidden
            .type main, @function
            main: .cfi_startproc
                xor %eax, %eax
                ret
                .cfi_endproc
            .size main, . - main
            .type data, @function
            data: .cfi_startproc
                jmp 1f
                .byte 6, 6, 6
            1:  jmp *%rdi
                .cfi_endproc
            .size data, . - data
            .globl choose
            .type choose, @function
            choose: .cfi_startproc
                lea table(%rip), %rdx
                movslq (%rdx,%rdi,4), %rax
                add %rdx, %rax
            jump:
                jmp *%rax
            2:  mov $2, %eax
                ret
            3:  mov $3, %eax
                ret
            4:  ret
                .cfi_endproc
            .size choose, . - choose
            .p2align 4
            hidden:
                lea 1(%rdi), %rax
                ret
            end: .p2align 4
            .section .rodata
            .p2align 2
            table: .long 2b - table, 3b - table, 4b - table, 3b - table
            .section .note.GNU-stack, "", @progbits
            """)
        program = self.folder / "program"
        run("gcc", "-nostartfiles", "-Wl,-e,main", source, "-o", program)
        symbols = {name: int(address, 16) for address, _, name in
                   map(str.split, output_of(*NM, program).splitlines())}
        counts, gaps, _ = self.gaps(program)
        self.assertEqual(self.of(gaps, "no-instruction"), [(symbols["data"] + 2, 3)])
        self.assertEqual(self.of(gaps, "indirect-jump"), [(symbols["data"] + 5, 2)])
        self.assertEqual(self.of(gaps, "not-declared", "hidden")[0][0], symbols["hidden"])
        self.assertEqual(self.of(gaps, "no-bound", "choose"), [(symbols["jump"], 3 * 4)])
        self.assertEqual(counts["not-declared"], 1 + ("_init" in symbols))
        self.assertEqual((counts["no-name"], counts["several-entries"], counts["too-complex"]), (0, 0, 0))

    def test_jumps(self):
        """Against objdump's list of indirect jumps and the tables in the compiler's output."""
        for level in ("-O0", "-O2"):
            program = self.compile("switches.c", level, "-fno-pie", "-no-pie")
            _, gaps, _ = self.gaps(program)
            text = output_of("objdump", "-d", "-j", ".text", "--no-show-raw-insn", program)
            jumps = {int(address, 16) for address in re.findall(r"^ *([0-9a-f]+):\t(?:notrack )?jmp +\*", text, re.M)}
            unresolved = {address for address, _ in self.of(gaps, "indirect-jump")}
            self.assertLessEqual(unresolved, jumps)
            # gcc makes a table of each indirect jump in this source. The others are in the C library's start code.
            assembly = output_of("gcc", level, "-fno-pie", "-I", ROOT, "-S", "-o", "-", SOURCES / "switches.c")
            of_source = set(re.findall(r"^(\w+):", assembly, re.M))
            self.assertEqual({gap[3] for gap in gaps if gap[2] == "indirect-jump"} & of_source, set())
            self.assertEqual(len(jumps - unresolved), len(re.findall(r"^\t(?:notrack )?jmp\t\*", assembly, re.M)))

    def test_irreducible_loop(self):
        for compiler in ("gcc", "clang"):
            program = self.compile("loops.c", "-O0", "-g", compiler=compiler)
            _, gaps, _ = self.gaps(program)
            self.assertEqual([gap[3] for gap in gaps if gap[2] == "several-entries"], ["two_entries"])
            self.assertEqual(self.of(gaps, "no-lines", "two_entries"), [])

    def test_names_and_lines(self):
        second = self.folder / "second.c"
        second.write_text("__attribute__((constructor)) void without_lines(void) { static volatile int n; n++; }\n")
        run("gcc", "-c", "-O1", "-o", self.folder / "second.o", second)
        program = self.compile("loops.c", "-O1", "-g", self.folder / "second.o")
        _, gaps, _ = self.gaps(program)
        names = {gap[3] for gap in gaps if gap[2] == "no-lines"}
        self.assertIn("without_lines", names)
        self.assertNotIn("main", names)
        self.assertEqual([name for name in (gap[3] for gap in gaps if gap[2] == "no-name")
                          if not name.startswith("<program+0x")], [])
        before = len(self.of(gaps, "no-name"))
        functions = len(set(re.findall(r"^0*([1-9a-f][0-9a-f]*) [tT] ", output_of(*NM, program), re.M)))
        run("strip", program)
        counts, _, _ = self.gaps(program)
        self.assertGreater(counts["no-name"], before)
        self.assertLessEqual(counts["no-name"], before + functions)
        self.assertGreater(counts["no-lines"], len(names))

    def test_missing_units(self):
        program = self.compile("loops.c", "-O1", "-g", "-gsplit-dwarf")
        self.assertEqual(self.gaps(program)[2], 0)
        for path in self.folder.glob("*.dwo"):
            path.unlink()
        self.assertEqual(self.gaps(program)[2], 1)

    def test_command_line(self):
        for options in (("-o", "x"), ("--image",), ("--cache",), ("--calls",)):
            result = hpcstruct("--show-gaps", *options, "a")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("cannot be combined", result.stderr)
        result = hpcstruct("--show-gaps", self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("need a binary", result.stderr)
        with open("/dev/full", "w") as full:
            program = self.compile("loops.c", "-O1")
            done = subprocess.run([HPCSTRUCT, "--show-gaps", program], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Ahpcstruct: standard output: No space left.*\n\Z")
