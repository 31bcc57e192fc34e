"""Tests of OpenMP programs, which are compiled by the test (tests/programs/openmp/)."""
import glob
import os
import re
from unittest import mock

import logical_case
import profiling

SOURCES = profiling.ROOT / "tests" / "programs" / "openmp"
GCC = {".c": "gcc", ".cc": "g++", ".f90": "gfortran"}
CLANG = {".c": "clang", ".cc": "clang++"}


class OpenMp(logical_case.LogicalTest):
    compilers = GCC

    def build(self, source, *options):
        """Compiles a program; skips the test if the compiler is not installed."""
        binary = self.directory / f"{os.path.basename(source).replace('.', '-')}{len(options)}"
        compiler = self.compilers[os.path.splitext(source)[1]]
        command = [compiler, "-O2", "-g", "-fopenmp", "-I", profiling.ROOT, SOURCES / source, *options]
        try:
            done = profiling.compile_once(binary, *command, cwd=self.directory)
        except FileNotFoundError:
            self.skipTest(f"{compiler} is not installed")
        if re.search("omp.h' file not found|cannot find -lomp|unable to find library -lomp", done.stderr):
            self.skipTest("LLVM's libomp is not installed")
        self.assertEqual(done.returncode, 0, done.stderr)
        return binary

    def need_libomp(self):
        if not glob.glob("/usr/lib/x86_64-linux-gnu/libomp.so.5") + glob.glob("/usr/lib/llvm-*/lib/libomp.so.5"):
            self.skipTest("LLVM's libomp is not installed")

    def environment(self, threads, policy="passive", **variables):
        return mock.patch.dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY=policy, **variables)

    def run_with(self, threads, *command, policy="passive", how=(), **variables):
        """Profiles a program with a number of threads. Returns what it printed."""
        with self.environment(threads, policy, **variables):
            done, self.images = self.profile(*command, **dict(how))
        return done.stdout
