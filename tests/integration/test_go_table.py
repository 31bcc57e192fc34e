"""Stripped Go programs: names, lines and inlined calls by the table of Go's runtime (lib/go-table.h). The
programs are made by hand (tests/programs/structure/go-table.S), in the form of each version of the table."""
import struct

from structure_case import StructureCase, hpcstruct

WORK, MAIN, SPIN = "/src/lib/work.go", "/src/main.go", "/src/lib/spin.go"


class GoTable(StructureCase):
    def program(self, version, *flags):
        return self.compile("go-table.S", "-nostdlib", "-static", "-s", f"-DVERSION={version}", *flags, name=f"go-{version}")

    def check(self, structure, declared):
        """`declared`: whether the table says where inlined functions are declared; else the first line of their
        code counts."""
        main, work = structure.procedure("main.main"), structure.procedure("example.com/lib.(*worker).work")
        self.assertEqual([(p.file, p.line) for p in (main, work)], [(MAIN, 5), (WORK, 20)])
        self.assertEqual({s.line for s in main.within() if s.kind == "S"}, {5, 7, 8})
        self.assertEqual({(s.file, s.line) for s in work.within() if s.kind == "S"},
                         {(WORK, 20), (WORK, 22), (WORK, 23), (SPIN, 41), (SPIN, 51)})
        step = next(s for s in work.within() if s.kind == "S" and s.line == 51)
        self.assertEqual([(s.name, s.file, s.line, s.call_file, s.call_line) for s in step.chain() if s.kind == "A"],
                         [("example.com/lib.spin", SPIN, 40 if declared else 41, WORK, 22),
                          ("example.com/lib.step", SPIN, 50 if declared else 51, SPIN, 41)])

    def test_versions(self):
        for version in (16, 18, 20, 26, 27):
            with self.subTest(version):
                self.check(self.structure(self.program(version)), version >= 20)

    def test_wanted(self):
        """Only the procedure at an address."""
        program = self.program(20)
        begin, _ = self.structure(program).procedure("main.main").ranges[0]
        only = self.folder / "addresses"
        only.write_text(f"{begin:x}\n")
        names = [p.name for p in self.structure(program, "--only", only).procedures]
        self.assertEqual(names, ["main.main"])

    def test_without_section_headers(self):
        for version in (16, 26):
            data = bytearray(self.program(version).read_bytes())
            struct.pack_into("<Q", data, 40, 0)         # e_shoff
            struct.pack_into("<HH", data, 60, 0, 0)     # e_shnum, e_shstrndx
            bare = self.folder / "bare"
            bare.write_bytes(data)
            with self.subTest(version):
                self.check(self.structure(bare), version >= 20)

    def test_without_section_of_its_own(self):
        """As the system's linker makes position-independent programs."""
        self.check(self.structure(self.program(20, "-DSECTION=.data.rel.ro")), True)

    def test_debug_information(self):
        """Debug information comes first; here it is that of the assembler's source."""
        program = self.compile("go-table.S", "-nostdlib", "-static", "-g", "-DVERSION=20")
        files = {s.file for p in self.structure(program).procedures for s in p.within() if s.kind == "S"}
        self.assertEqual({file.rsplit("/", 1)[-1] for file in files}, {"go-table.S"})

    def test_unknown_version(self):
        program = self.program(20)
        data = program.read_bytes()
        self.assertEqual(data.count(b"\xf1\xff\xff\xff\0\0\1\x08"), 1)
        program.write_bytes(data.replace(b"\xf1\xff\xff\xff\0\0\1\x08", b"\xe1\xff\xff\xff\0\0\1\x08"))
        result = hpcstruct("-o", "-", program)
        self.assertEqual(result.returncode, 0)
        self.assertIn("go-20: .gopclntab is damaged, or of an unknown version of Go", result.stderr)
        self.assertNotIn("main.main", result.stdout)
