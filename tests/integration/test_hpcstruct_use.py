"""hpcstruct as a program: its command line and outputs, the cache, measurement directories, and damaged
input."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import unittest

import measurement_writer as mw
from structure_case import HPCSTRUCT, StructureCase, hpcstruct, output_of, run
from structure_file import Structure

FUZZER = HPCSTRUCT.parents[1] / "tests" / "tools" / "fuzz-structure"


class UseCase(StructureCase):
    def assert_refused(self, result, *parts, status=1):
        """One line on stderr contains all of these texts, and nothing is written."""
        self.assertEqual(result.returncode, status)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1 if status == 1 else 2, result.stderr)
        self.assertTrue(lines[0].startswith("hpcstruct: "))
        for part in parts:
            self.assertIn(str(part), lines[0])
        self.assertEqual(result.stdout, "")


class CommandLineTest(UseCase):
    def test_help_and_version(self):
        result = hpcstruct("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for option in ("--output FILE", "--jobs N", "--calls", "--cache", "--debug-dir", "BINARY"):
            self.assertIn(option, result.stdout)
        self.assertTrue(all(len(line) <= 80 for line in result.stdout.splitlines()))
        result = hpcstruct("--version")
        self.assertRegex(result.stdout, r"\Ahpcstruct \d[\d.]*\n\Z")

    def test_bad_command_lines(self):
        for arguments in ([], ["a", "b"], ["-j", "0", "a"], ["-j", "x", "a"], ["-j", "-1", "a"],
                          ["--cache", "-o", "x", "a"], ["--cache", "--calls", "a"]):
            self.assert_refused(hpcstruct(*arguments), status=2)
        for options, said in ((("--nonsense", "a"), "unknown option --nonsense"), (("-x", "a"), "unknown option -x"),
                              (("a", "-o"), "-o needs a value")):
            result = hpcstruct(*options)
            self.assertEqual((result.returncode, result.stderr),
                             (2, f"hpcstruct: {said}\nTry 'hpcstruct --help'.\n"))

    def test_outputs(self):
        program = self.compile("loops.c", "-O1")
        expected = hpcstruct("-o", "-", program).stdout
        self.assertEqual(hpcstruct(program, cwd=self.folder).returncode, 0)
        self.assertEqual((self.folder / "program.hpcstruct").read_text(), expected)
        out = self.folder / "named"
        out.write_text("older")
        self.assertEqual(hpcstruct("-o", out, program).returncode, 0)
        self.assertEqual(out.read_text(), expected)
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o666 & ~mask)
        self.assertEqual(sorted(os.listdir(self.folder)), ["named", "program", "program.hpcstruct"])
        self.assertEqual(hpcstruct("-o", "/dev/null", program).returncode, 0)

    def test_paths_are_normal(self):
        source = self.folder / "x.c"
        source.write_text('int f(int n) {\n#line 7 "/s/a/../b//./c.h"\nreturn n; }\nint main(void) { return f(0); }\n')
        run("gcc", "-g", "-o", self.folder / "program", source)
        self.assertIn(' f="/s/b/c.h"', hpcstruct("-o", "-", self.folder / "program").stdout)

    def test_outputs_that_cannot_be_written(self):
        program = self.compile("loops.c", "-O1")
        missing = self.folder / "missing" / "out"
        self.assert_refused(hpcstruct("-o", missing, program), missing, "No such file")
        self.assert_refused(hpcstruct("-o", self.folder, program), self.folder, "directory")
        self.assert_refused(hpcstruct("-o", "/dev/full", program), "/dev/full", "No space left")
        self.assert_refused(hpcstruct("--image", "-o", "/dev/full", program), "/dev/full", "No space left")
        with open("/dev/full", "w") as full:
            result = subprocess.run([HPCSTRUCT, "-o", "-", program], stdout=full,
                                    stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Ahpcstruct: standard output: No space left.*\n\Z")
        self.assertEqual(os.listdir(self.folder), ["program"])


class BadInputTest(UseCase):
    def file(self, data, name="input"):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def refused(self, path, *parts):
        before = sorted(os.listdir(self.folder))
        self.assert_refused(hpcstruct(path, cwd=self.folder), path, *parts)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_not_for_us(self):
        self.refused(self.folder / "missing", "No such file")
        self.refused(self.file(b""), "empty")
        self.refused(self.file(b"#!/bin/sh\n"), "not an ELF file")
        self.refused(self.file(b"\x7fELF"), "not an ELF file")
        self.refused(self.file(b"\x7fELF\2\1\1" + bytes(30)), "truncated")
        self.refused("/dev/null", "not a regular file")
        os.mkfifo(self.folder / "fifo")
        self.refused(self.folder / "fifo", "not a regular file")
        program = self.compile("loops.c", "-O1")
        data = program.read_bytes()
        self.refused(self.file(data[:4] + b"\1" + data[5:]), "not a 64-bit ELF file")
        self.refused(self.file(data[:5] + b"\2" + data[6:]), "little-endian")
        self.refused(self.file(data[:18] + struct.pack("<H", 183) + data[20:]), "x86-64")
        self.refused(self.file(data[:16] + struct.pack("<H", 4) + data[18:]), "core dump")
        self.compile("loops.c", "-c", name="object.o")
        self.refused(self.folder / "object.o", "not linked")
        run("objcopy", "--only-keep-debug", program, self.folder / "debug")
        self.refused(self.folder / "debug", "no executable code")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_no_permission(self):
        program = self.compile("loops.c", "-O1")
        os.chmod(self.folder, 0o755)
        os.chmod(program, 0)
        # The tool may be in a directory that only root can read.
        tool = self.folder / "hpcstruct"
        shutil.copy(HPCSTRUCT, tool)
        result = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", tool, "-o", "-",
                                 program], capture_output=True, text=True)
        self.assert_refused(result, program, "Permission denied")

    def test_truncated(self):
        """The rest of a truncated file is used, and a message says that something is missing."""
        program = self.compile("loops.c", "-O2", "-g")
        data = program.read_bytes()
        for part in (0.3, 0.6, 0.9, 0.999):
            cut = self.file(data[:int(len(data) * part)])
            result = hpcstruct("-o", "-", cut)
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"hpcstruct: {cut}: ", result.stderr)
            if result.stdout:
                self.assertEqual(Structure(result.stdout).problems(), [])

    def section(self, program, name):
        """Offset and size of a section in its file."""
        for line in output_of("readelf", "-SW", program).splitlines():
            fields = line.split("]", 1)[-1].split()
            if fields and fields[0] == name:
                return int(fields[3], 16), int(fields[4], 16)
        self.fail(f"no {name}")

    def test_damaged_debug_information(self):
        """Damage costs only the debug information."""
        for version in (4, 5):
            program = self.compile("loops.c", "-O2", "-g", f"-gdwarf-{version}")
            whole = self.structure(program)
            for name in (".debug_info", ".debug_abbrev", ".debug_line"):
                data = bytearray(program.read_bytes())
                offset, size = self.section(program, name)
                data[offset:offset + size] = bytes([0xa5]) * size
                (self.folder / "bad").mkdir(exist_ok=True)
                damaged = self.file(data, "bad/program")
                result = hpcstruct("-o", "-", damaged)
                with self.subTest(name=name, version=version):
                    self.assertEqual(result.returncode, 1)
                    self.assertIn(f"hpcstruct: {damaged}: its debug information is damaged",
                                  result.stderr)
                    self.assertNotIn("Dwarf_Error is NULL", result.stderr)  # a real cause
                    structure = Structure(result.stdout)
                    self.assertEqual(structure.problems(), [])
                    self.assertEqual({(p.name, tuple(p.ranges)) for p in structure.procedures},
                                     {(p.name, tuple(p.ranges)) for p in whole.procedures})
                    if name != ".debug_line":
                        # The line table is read without the rest.
                        lines = {s.line for _, _, s in structure.statements}
                        self.assertGreater(len(lines), 50)

    def test_damaged_compressed_section(self):
        program = self.compile("loops.c", "-O2", "-g")
        for how in ("zlib", "zstd"):
            run("objcopy", f"--compress-debug-sections={how}", program)
            offset, size = self.section(program, ".debug_info")
            data = bytearray(program.read_bytes())
            data[offset + size // 2:offset + size] = bytes(size - size // 2)
            result = hpcstruct("-o", "-", self.file(data))
            self.assertEqual(result.returncode, 1)
            self.assertIn("compressed", result.stderr)
            self.assertEqual(Structure(result.stdout).problems(), [])
            # A size larger than memory.
            data[offset + 8:offset + 16] = struct.pack("<Q", 1 << 62)
            result = hpcstruct("-o", "-", self.file(data))
            self.assertEqual(result.returncode, 1)
            self.assertIn("too large for the size of the file", result.stderr)

    def faults(self, messages):
        """Reports of sanitizers (make fuzz)."""
        return re.findall(r"^.*(?:runtime error: |ERROR: \w+Sanitizer).*$", messages, re.M)

    @unittest.skipUnless(FUZZER.exists(), "needs the fuzzer")
    def test_fuzz(self):
        """Damaged binaries cause no crash and no hang. `make fuzz` tries more of them."""
        seeds, first = os.environ.get("FUZZ_ROUNDS", "200"), os.environ.get("FUZZ_SEED", "1")
        programs = [self.compile("loops.c", "-O2", "-g", name="c"),
                    self.compile("loops.c", "-O2", "-g", "-gz", name="compressed"),
                    self.compile("objects.cc", "-O1", "-g", "-gdwarf-4", compiler="clang++",
                                 name="objects"),
                    self.compile("switches.c", "-O2", "-s", name="stripped"),
                    self.compile("go-table.S", "-nostdlib", "-static", "-s", "-DVERSION=20", name="go")]
        for program in programs:
            result = subprocess.run([FUZZER, program, first, seeds], capture_output=True,
                                    text=True, errors="replace", timeout=600 + int(seeds))
            with self.subTest(program=program.name):
                self.assertEqual(result.stdout.splitlines()[-1:], [f"{seeds} seeds"])
                self.assertEqual(result.returncode, 0)
                self.assertEqual(self.faults(result.stderr), [])


def image(program):
    return run(HPCSTRUCT, "--image", "-o", "-", program).stdout


class CacheTest(UseCase):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.cache))

    def ask(self, binary, *options, environment=None):
        return hpcstruct("--cache", *options, binary, env=environment or self.environment)

    def cached(self, binary, *options):
        result = self.ask(binary, *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("\n"), 1)
        path = pathlib.Path(result.stdout.rstrip("\n"))
        self.assertEqual(path.parent, self.cache / "hpctoolkit" / "structure")
        return path

    def test_fills_and_keeps(self):
        program = self.compile("loops.c", "-O2", "-g", "-Wl,--build-id")
        path = self.cached(program)
        self.assertEqual(path.read_bytes(), image(program))
        self.assertIn(self.structure(program).build_id, path.name)
        path.write_bytes(path.read_bytes().replace(b"\0plain\0", b"\0PLAIN\0"))
        self.assertEqual(self.cached(program), path)
        self.assertNotEqual(path.read_bytes(), image(program))  # not written again
        self.assertEqual([p.name for p in path.parent.iterdir()], [path.name])

    def test_of_another_generator(self):
        program = self.compile("loops.c", "-O2")
        path = self.cached(program)
        good = path.read_bytes()
        for bad in (good.replace(b"hpcstruct ", b"hpcstruct."), b"", good[:15], b"<HPCToolkitStructure/>"):
            path.write_bytes(bad)
            self.assertEqual(self.cached(program), path)
            self.assertEqual(path.read_bytes(), good)

    def test_keys(self):
        """Another name, other symbols or other debug information give another file in the cache."""
        program = self.compile("loops.c", "-O2", "-g", "-Wl,--build-id")
        paths = {self.cached(program)}
        renamed = self.folder / "renamed"
        shutil.copy(program, renamed)
        paths.add(self.cached(renamed))
        stripped = self.folder / "stripped" / "program"
        stripped.parent.mkdir()
        run("strip", "-o", stripped, program)
        paths.add(self.cached(stripped))
        build_id = self.structure(program).build_id
        debug = self.folder / "debug" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
        debug.parent.mkdir(parents=True)
        shutil.copy(program, debug)
        paths.add(self.cached(stripped, "--debug-dir", self.folder / "debug"))
        self.assertEqual(len(paths), 4)
        moved = self.folder / "elsewhere" / "program"
        moved.parent.mkdir()
        shutil.copy(program, moved)
        self.assertIn(self.cached(moved), paths)  # same binary

    def test_key_of_split_debug_information(self):
        """A .dwo file that appears or changes gives another file in the cache."""
        program = self.compile("loops.c", "-O2", "-g", "-gsplit-dwarf", "-Wl,--build-id")
        (dwo,) = self.folder.glob("*.dwo")
        paths = [self.cached(program)]
        os.utime(dwo, (1, 1))
        paths.append(self.cached(program))
        dwo.unlink()
        result = hpcstruct("--cache", program, env=self.environment)
        paths.append(pathlib.Path(result.stdout.strip()))
        self.assertEqual(len(set(paths)), 3)

    def test_without_build_id(self):
        one = self.compile("loops.c", "-O1", "-Wl,--build-id=none")
        first = self.cached(one)
        self.assertEqual(self.cached(one), first)
        two = self.compile("loops.c", "-O2", "-Wl,--build-id=none")  # same name
        self.assertNotEqual(self.cached(two), first)

    def test_many_at_once(self):
        program = self.compile("loops.c", "-O2", "-g")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda _: self.ask(program), range(24)))
        self.assertEqual({(r.returncode, r.stderr) for r in results}, {(0, "")})
        (output,) = {r.stdout for r in results}
        path = pathlib.Path(output.rstrip("\n"))
        self.assertEqual(path.read_bytes(), image(program))
        self.assertEqual(len(list(path.parent.iterdir())), 1)

    def test_home(self):
        program = self.compile("loops.c", "-O1")
        environment = {"HOME": str(self.folder / "home"), "PATH": os.environ["PATH"]}
        (self.folder / "home").mkdir()
        result = self.ask(program, environment=environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith(f"{self.folder}/home/.cache/hpctoolkit/structure/"))

    def test_unusable(self):
        """If the cache cannot be used, a note says so and another directory is used."""
        program = self.compile("loops.c", "-O1")
        (self.folder / "file").write_text("")
        scratch = self.folder / "scratch"
        scratch.mkdir()
        environment = dict(self.environment, XDG_CACHE_HOME=str(self.folder / "file"),
                           TMPDIR=str(scratch))
        result = self.ask(program, environment=environment)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"\Ahpcstruct: .*file/hpctoolkit/structure: .*\n\Z")
        path = pathlib.Path(result.stdout.rstrip("\n"))
        self.assertEqual(path.parents[2], scratch)
        self.assertEqual(stat.S_IMODE(path.parents[1].stat().st_mode), 0o700)
        # A directory in a public place is not used unless it is private to the user.
        path.parents[1].chmod(0o777)
        self.assert_refused(self.ask(program, environment=environment), "no directory for the cache")

    def test_bad_binary(self):
        self.assert_refused(self.ask(self.folder / "missing"), "missing", "No such file")


class DirectoryTest(UseCase):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"))
        self.directory = self.folder / "measurements"
        self.directory.mkdir()

    def measure(self, modules, pid=100):
        """A measurement file with a sample in each module (path, build-id)."""
        measurement = mw.Measurement(pid=pid)
        metric = measurement.metric("work", measurement.event("CPUTIME"))
        thread = measurement.thread()
        for path, build_id in modules:
            instance = measurement.module(str(path), build_id)
            thread.add(thread.path([(instance, 0x1000)]), metric, mw.seconds(1))
        measurement.module("/not/sampled/in", "00ff")
        measurement.write(str(self.directory))

    def build_id(self, program):
        return self.structure(program).build_id

    def ask(self, directory=None):
        return hpcstruct(directory or self.directory, env=self.environment)

    def test_modules(self):
        programs = [self.compile("loops.c", "-O1", name="one"),
                    self.compile("cold.c", "-O1", name="two")]
        self.measure([(p, self.build_id(p)) for p in programs])
        self.measure([(programs[0], self.build_id(programs[0]))], pid=101)
        result = self.ask()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = dict(line.split(": ") for line in result.stdout.splitlines())
        self.assertEqual(sorted(found), sorted(map(str, programs)))
        for program, path in found.items():
            self.assertEqual(pathlib.Path(path).read_bytes(), image(program))

    def test_gone_and_changed(self):
        program = self.compile("loops.c", "-O1", name="one")
        other = self.compile("cold.c", "-O1", name="two")
        self.measure([(program, self.build_id(program)), (other, "abcdef"),
                      (self.folder / "gone", "0123")])
        result = self.ask()
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"hpcstruct: {other}: it has changed since the run\n", result.stderr)
        self.assertIn(f"hpcstruct: {self.folder}/gone: No such file", result.stderr)
        self.assertEqual(result.stdout.count("\n"), 1)
        self.assertTrue(result.stdout.startswith(f"{program}: "))

    def test_rebuilt_between_processes(self):
        """Two builds have one path: the one that still exists gets a structure."""
        program = self.compile("loops.c", "-O1", name="one")
        self.measure([(program, "abcdef")])
        self.measure([(program, self.build_id(program))], pid=101)
        result = self.ask()
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"hpcstruct: {program}: it has changed since the run\n", result.stderr)
        self.assertRegex(result.stdout, rf"\A{program}: .*\n\Z")

    def test_nothing_there(self):
        self.assert_refused(self.ask(), self.directory, "no measurement files")
        (self.directory / "x-host-1-1-0.hpcrun").write_bytes(b"junk")
        result = self.ask()
        self.assertEqual(result.returncode, 1)
        self.assertIn("x-host-1-1-0.hpcrun: ", result.stderr)
