"""Base of the tests of hpcstruct: runs it, compiles programs, finds lines by their markers."""
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

from profiling import compile_once
from structure_file import Structure

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "programs" / "structure"
HPCSTRUCT = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "hpcstruct"
TIME_LIMIT = 600  # seconds: only what hangs takes longer

C_COMPILERS = ("gcc", "clang")
CXX_COMPILERS = ("g++", "clang++")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, check=True,
                          timeout=TIME_LIMIT, **options)


def output_of(*command):
    return run(*command).stdout.decode(errors="replace")


def hpcstruct(*arguments, **options):
    """Runs hpcstruct; its output is text."""
    return subprocess.run([str(HPCSTRUCT), *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", timeout=TIME_LIMIT, **options)


def markers(source):
    """`LINE NAME` comments of a source file: name -> line number."""
    found = {}
    for number, text in enumerate((SOURCES / source).read_text().splitlines(), 1):
        for name in re.findall(r"LINE (\S+)", text):
            found[name] = number
    return found


def marks(binary):
    """The marks in a program (MARK in mark.h): list of (address, name)."""
    found = []
    with tempfile.NamedTemporaryFile() as raw:
        run("objcopy", "-O", "binary", "--only-section=.marks", "--set-section-flags",
            ".marks=alloc", binary, raw.name)
        data = raw.read()
    while data:
        (address,) = struct.unpack_from("<Q", data)
        name, data = data[8:].split(b"\0", 1)
        found.append((address, name.decode()))
    return found


class StructureCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def compile(self, source, *options, compiler="gcc", name="program"):
        """Compiles a program of tests/programs/structure."""
        path, command = self.folder / name, [compiler, "-I", ROOT, SOURCES / source, *options]
        if "-gsplit-dwarf" in options:  # the compiler writes split debug information to the current directory
            run(*command, "-o", path, cwd=self.folder)
        else:
            compile_once(path, *command, cwd=self.folder).check_returncode()
        return path

    def structure(self, binary, *options):
        """The structure of a binary, which must give no message."""
        result = hpcstruct("-o", "-", *options, binary)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        structure = Structure(result.stdout)
        self.assertEqual(structure.problems(), [])
        return structure
