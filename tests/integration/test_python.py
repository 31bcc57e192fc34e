"""Python programs under the agent python: call paths of Python code, of the native code that it calls, and of threads
of OpenMP below Python. The programs' functions say themselves what is right (tests/programs/python/)."""
import argparse
import collections
import ctypes
import json
import json.decoder
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import types
import unittest
from unittest import mock

import logical_case
import measurement_writer as mw
import profiling
from evidence import OfChance, of_samples, of_share
from hpcprof_case import HpcprofCase
from logical_case import procedures

SOURCES = profiling.ROOT / "tests" / "programs" / "python"
PYTHON = os.environ.get("PROFILED_PYTHON", "/usr/bin/python3")


def ask(expression):
    """The value of an expression in the interpreter that is profiled."""
    done = subprocess.run([PYTHON, "-c", f"import json, sys, sysconfig; print(json.dumps({expression}))"],
                          capture_output=True, check=True)
    return json.loads(done.stdout)


class Python(logical_case.LogicalTest):
    def setUp(self):
        super().setUp()
        if not pathlib.Path(PYTHON).exists() or not 11 <= ask("sys.version_info[1]") <= 14:
            self.skipTest("there is no CPython of a version that the agent knows")

    def made(self, path):
        """The functions of a path that chains.py has made."""
        return [name for name in path if re.fullmatch(r"f\d+(_\d)*", name)]


class Paths(Python):
    def test_each_function_is_below_the_one_that_called_it(self):
        self.profile(PYTHON, SOURCES / "chains.py", 60, 2, events=("CPUTIME@f5000",))
        burning = [path for path in self.sampled_paths() if path[-1:] == ("burn",)]
        run = json.loads(pathlib.Path(self.database, "run.json").read_text())
        self.assertEqual([process["program"] for process in run["processes"]], ["chains.py"])
        leaves = {self.made(path)[-1] for path in burning}
        self.assertGreater(len(leaves), 24)  # of 32, each with 18 samples on average
        for path in self.sampled_paths():
            made = self.made(path)
            for i, name in enumerate(made):
                self.assertEqual(name, "_".join(made[-1].split("_")[:i + 1]), path)
        for path in burning:
            self.assertEqual(len(self.made(path)), 5, path)

    def test_no_machinery_of_the_interpreter_is_shown_between_python_frames(self):
        self.profile(PYTHON, SOURCES / "chains.py", 10, 1, events=("CPUTIME@f5000",))
        # A thread that begins is in the interpreter's code for some microseconds, without a Python frame yet.
        seen = {name for path in self.sampled_paths() if self.made(path) for name in path}
        self.assertIn("burn", seen)
        self.assertFalse([name for name in seen if re.match("_Py|Py|<python", name)])
        physical = json.dumps(self.view("--physical"))
        self.assertIn("_PyEval_EvalFrameDefault", physical)

    def test_the_end_of_the_interpreter_is_no_code_of_the_program(self):
        code = "lists = [[i] for i in range(300000)]; import gc; gc.disable()"
        self.profile(PYTHON, "-c", code, events=("CPUTIME@f5000",))
        # In Debian 13's, Py_Finalize and Py_FinalizeEx are jumps to one function without a name. Where .symtab is left,
        # it is _Py_Finalize.
        ends = {path for path in self.sampled_paths() if any(re.match("_?Py_Finalize", name) for name in path)}
        self.assertGreater(len(ends), 0)
        self.assertFalse([path for path in ends if "<module>" in path])

    def test_source_lines(self):
        """Time of burn is on its two lines of a loop; the calls are at the lines of the calls."""
        self.profile(PYTHON, SOURCES / "chains.py", 10, 1, events=("CPUTIME@f5000",))
        lines = SOURCES.joinpath("chains.py").read_text().splitlines()
        loop = {i + 1 for i, line in enumerate(lines) if "for i in range(2000)" in line or "s += i" in line}
        inside, all_of_it = 0, 0
        for path in logical_case.walk(self.tree):
            node, above = path[-1], path[-2] if len(path) > 1 else None
            if node["kind"] == "statement" and above["name"] == "burn":
                self.assertTrue(node["file"].endswith("chains.py"), node)
                seconds = node["metrics"]["work"]["inclusive"]
                all_of_it += seconds
                inside += seconds if node["line"] in loop else 0
        self.assertGreater(all_of_it, 0)
        self.assertGreater(inside, 0.9 * all_of_it)  # 800 of the 805 instructions or so


class Tasks(Python):
    """Tasks of asyncio."""

    def test_a_task_is_below_the_coroutine_that_waits_for_it(self):
        self.profile(PYTHON, SOURCES / "tasks.py", 150, events=("CPUTIME@f5000",))
        burning = [path[path.index("Handle._run") + 1:] for path in self.sampled_paths() if "burn" in path]
        seen = set()
        for path in burning:
            if "alone" in path:
                self.assertEqual(path[0], "alone")
                continue
            self.assertEqual(path[0], "main")
            made = self.made(path)
            self.assertEqual([name[:2 + 2 * i] for i, name in enumerate([made[-1]] * 4)], made, path)
            seen |= set(path)
        self.assertTrue({"f0_0_0_0", "f0_0_0_1", "f0_0_1_0", "f0_0_1_1", "f0_1_0_0", "f0_1_0_1", "f0_1_1_0",
                         "f0_1_1_1"} <= seen, seen)
        self.assertTrue({"TaskGroup.__aexit__", "_wait", "wait_for"} <= seen, seen)
        self.assertIn("alone", {path[0] for path in burning})


class Interpreters(Python):
    def test_a_second_one_is_reported(self):
        library = f"libpython3.{ask('sys.version_info[1]')}.so.1.0"
        self.run_with(library, "hpcrun: agent python: the process has a second interpreter, whose call paths are native\n")

    def test_another_library_is_none(self):
        self.run_with("libm.so.6", "")

    def run_with(self, library, expected):
        try:
            ctypes.CDLL(library)
        except OSError:
            self.skipTest(f"{library} is not installed")
        code = ("import ctypes, sys, threading; ctypes.CDLL(sys.argv[1]); thread = threading.Thread(target=print); "
                "thread.start(); thread.join()")
        done, _ = self.measure(PYTHON, "-c", code, library)
        self.assertEqual("".join(re.findall("hpcrun: agent.*\n", done.stderr)), expected)


class Ends(Python):
    def test_libraries_that_have_ended_do_not_begin_again(self):
        """Agents open the libraries of a process when one is closed; at the end their destructors have run."""
        libraries = [self.directory / name for name in ("base.so", "user.so", "closer.so")]
        for library, *options in ((libraries[0], "-DBASE"), (libraries[1], "-DUSER", libraries[0]), (libraries[2], "-DCLOSER")):
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, SOURCES / "closed-at-end.c", *options], check=True)
        code = "import ctypes, sys; [ctypes.CDLL(path) for path in sys.argv[1:]]"
        self.measure(PYTHON, "-c", code, *libraries[1:])  # succeeds


class Processes(Python):
    def test_workers_have_rows_by_their_kind(self):
        self.profile(PYTHON, "-X", "utf8", SOURCES / "processes.py", events=("CPUTIME@f1000",))
        below = collections.defaultdict(set)
        for path in logical_case.walk(self.tree):
            if len(path) > 1:
                below[path[1]["name"]] |= {path[-1]["name"]}
        workers = {"by_fork", "by_spawn", "by_forkserver", "by_future", "by_program"}
        self.assertEqual({name: functions & workers for name, functions in below.items() if functions & workers},
                         {"processes.py": {"by_fork", "by_future"}, "multiprocessing.spawn": {"by_spawn"},
                          "multiprocessing.forkserver": {"by_forkserver"}, pathlib.Path(PYTHON).name: {"by_program"}})


class Names(Python):
    def test_threads_have_the_names_of_the_program(self):
        self.profile(PYTHON, SOURCES / "named.py", events=("CPUTIME@f2000",))
        run = json.loads(pathlib.Path(self.database, "run.json").read_text())
        names = {thread["name"] for process in run["processes"] for thread in process["threads"][1:]}
        self.assertEqual(names, {"loader", "with a dict", "Größe", "スレッド", 63 * "x", "Thread-1 (burn)", "pool_0"})
        self.check_creation("pool_0", r"Thread\.start threading\.py:\d+ < ThreadPoolExecutor\._adjust_thread_count "
                                      r"thread\.py:\d+ < \.\.\. < <module> named\.py:\d+")
        self.check_creation("loader", r"Thread\.start threading\.py:\d+ < <module> named\.py:\d+")

    def check_creation(self, name, expected):
        done = self.run_tool(logical_case.TOOLS / "hpcviewer", "--print", "threads", self.database)
        (line,) = [line for line in done.stdout.splitlines() if f"  {name}  " in line]
        self.assertRegex(line, f"{name}  created at {expected}$")


class Instants(Python):
    def test_call_chains_are_those_that_the_program_sees_itself(self):
        """Functions and the lines that they execute."""
        done, _ = self.profile(PYTHON, SOURCES / "instants.py", 10000, events=("CPUTIME@f5000",))
        own = {tuple(map(tuple, json.loads(line))) for line in done.stdout.splitlines()}
        seen = set()
        for path in logical_case.walk(self.tree):
            calls = [node for node in path if node["kind"] == "procedure"]  # with C functions, as list's
            if calls and calls[-1]["name"] == "burn" and path[-1] is calls[-1]:
                chain = tuple((caller["name"], callee["call_site"]["line"]) for caller, callee in zip(calls, calls[1:])
                              if (caller["file"] or "").endswith("instants.py"))
                self.assertEqual(chain[-1][0], "instant")
                self.assertIn(chain[:-1], own)
                seen.add(chain)
        self.assertGreater(len(seen), 100)


class Shares(OfChance, Python):
    def test_time_is_where_the_program_says_itself(self):
        for found in self.looks():
            done, (image,) = self.profile(PYTHON, SOURCES / "shares.py", 60, events=("CPUTIME@f5000",))
            period = image.mean_period("CPUTIME")
            for name, seconds in json.loads(done.stdout).items():
                found.between(name, self.value("work", name), 0.99 * seconds, 1.01 * seconds,
                              of_samples(seconds, period), 0.3 * seconds)


def codes_of(code):
    """A code object and those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


class Lines(HpcprofCase):
    """Lines of positions in code, as the interpreter that runs this test says them itself."""

    @unittest.skipUnless(sys.version_info >= (3, 11), "the table of lines is that of Python 3.11 and later")
    def test_every_instruction_of_some_modules(self):
        process = self.process()
        thread, expected, found = process.thread(), collections.Counter(), collections.Counter()
        codes = [code for module in (argparse, json.decoder, textwrap)
                 for code in codes_of(compile(pathlib.Path(module.__file__).read_text(), module.__file__, "exec"))]
        table = process.names([(value, code.co_qualname, code.co_filename, code.co_firstlineno, code.co_linetable)
                               for value, code in enumerate(codes)])
        for value, code in enumerate(codes):
            line = code.co_firstlineno
            for begin, end, its in code.co_lines():
                line = line if its is None else its  # one without a line counts to the one before it
                if line:  # a module begins with an instruction at line 0, which is none
                    expected[code.co_filename, line] += (end - begin) // 2
            for unit in range(len(code.co_code) // 2):
                thread.add(thread.node(mw.ROOT, None, ("names", table, value), unit), 0, mw.seconds(1))
        db = self.scenario.database()
        metric = db.metric("work", "point")
        for context, row in db.profiles[0].values.items():
            at = db.contexts[context]
            if metric in row and at.kind == "line":
                found[at.file.path.removeprefix("src"), at.line] += row[metric]
        self.assertGreater(len(expected), 1000)
        self.assertEqual({place: round(seconds) for place, seconds in found.items()}, expected)


class Extensions(Python):
    """Python code above and below a parallel runtime."""

    def build(self, name, source, driver, *options, compiler="gcc"):
        include = pathlib.Path(ask("sysconfig.get_path('include')"))
        if not (include / "Python.h").exists() or not shutil.which(compiler):
            self.skipTest(f"python3-dev or {compiler} is not installed")
        subprocess.run([compiler, "-O2", "-g", "-fPIC", "-shared", "-I", include, "-I", profiling.ROOT, "-o",
                        self.directory / f"{name}.so", SOURCES / source, *options], check=True)
        shutil.copy(SOURCES / driver, self.directory)
        return self.directory / driver


class BelowMinicilk(Extensions):
    """The chain of Tallent and Mellor-Crummey, PPoPP 2009: a Python driver, a work-stealing solver, and Python again."""

    def test_stolen_work_is_below_the_python_code_that_began_it(self):
        library = profiling.BUILD / "lib"
        driver = self.build("solver", "solver-extension.c", "drive_solver.py", f"-L{library}", "-lminicilk",
                            f"-Wl,-rpath,{library}")
        self.profile(PYTHON, driver, events=("CPUTIME@f5000",))
        above = ("<module>", "driver", "step", "solve", *["branch"] * 10, "leaf")
        leaves = [path[path.index("<module>"):] for path in self.sampled_paths() if "leaf" in path]
        self.assertGreater(len(leaves), 0)
        for path in leaves:
            self.assertEqual(path[:len(above)], above)
        self.assertIn((*above, "at_leaf"), leaves)
        called = [path for path in self.sampled_paths() if "at_leaf" in path]
        self.assertFalse([path for path in called if "leaf" not in path])


class BelowOpenMp(Extensions):
    def test_threads_are_below_the_python_code_that_began_their_region(self):
        driver = self.build("regions", "region-extension.c", "drive_regions.py", "-fopenmp")
        _, (image,) = self.profile(PYTHON, driver, events=("CPUTIME@f5000",))
        self.assertEqual(len(image.threads), 3)
        drivers = {"first": ["region"], "second": ["tasks"], "third": ["region"]}
        seen = set()
        for path in self.sampled_paths():
            if not {"back", "back_inner"} & set(path) and not any("@ region-extension.c" in name for name in path):
                continue
            driver = [name for name in path if name in drivers]
            self.assertEqual(len(driver), 1, path)
            at = path.index(driver[0])
            self.assertEqual(path[at - 1], "<module>", path)
            self.assertEqual(list(path[at + 1:at + 2]), drivers[driver[0]], path)
            seen.add((driver[0], path[-1]))
            if "back" in path:
                self.assertEqual(driver, ["third"])
                self.assertGreater(path.index("back"), at + 1, path)
            if path[-1] == "back_inner":
                self.assertEqual(path[-2], "back")
        self.assertTrue({("third", "back"), ("third", "back_inner")} <= seen, seen)
        self.assertEqual({driver for driver, _ in seen}, set(drivers), seen)


class BelowEachOther(Extensions):
    """A region in Python code, which a thread of a region executes, which Python code began."""
    ORDER = ["outer", "region", "inner", "region", "burn"]

    def check(self, name, source, *options, compiler="gcc"):
        driver = self.build(name, source, "nested.py", *options, compiler=compiler)
        with mock.patch.dict(os.environ, OMP_MAX_ACTIVE_LEVELS="2"):
            self.profile(PYTHON, driver, name, events=("CPUTIME@f5000",))
        paths = [[name.split("(")[0] for name in path] for path in self.sampled_paths()]
        burning = [[name for name in path if name in self.ORDER] for path in paths if path[-1:] == ["burn"]]
        self.assertIn(self.ORDER, burning)
        for path in burning:
            self.assertIn(path, (self.ORDER, ["outer", "region", "burn"]))

    def test_openmp(self):
        self.check("regions", "region-extension.c", "-fopenmp", "-fno-inline")
        if self.has_timers:
            return  # the threads of an inner team end before the kernel's next tick
        for thread in self.view(view="threads")["threads"]:  # each member of a team has the same work
            self.assertGreater(thread["metrics"]["work"], 0)

    def test_tbb(self):
        if not pathlib.Path("/usr/include/oneapi/tbb.h").exists():
            self.skipTest("libtbb-dev is not installed")
        self.check("loops", "loops-extension.cpp", "-ltbb", compiler="g++")


class BelowOpenBlas(Python):
    """Threads of OpenBLAS's own, of which some compute in single and some in double precision."""
    LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0")

    def library(self):
        if not self.LIBRARY.exists():
            self.skipTest("libopenblas0-pthread is not installed")
        return self.LIBRARY

    def setUp(self):
        super().setUp()
        if len(os.sched_getaffinity(0)) == 1:
            self.skipTest("needs two CPUs")  # OpenBLAS makes no more threads

    def drivers_of_kernels(self, *options):
        """For each path with functions of one precision: its letter, and the Python functions that call OpenBLAS."""
        with mock.patch.dict(os.environ, OPENBLAS_NUM_THREADS="2"):
            self.profile(PYTHON, SOURCES / "products.py", self.library(), 30, *options, events=("CPUTIME@f2000",))
        for path in logical_case.walk(self.tree):
            names = [node["name"] for node in path]
            if "<partial call path>" not in names:  # some kernels are written in assembly language
                for letter in {name[0] for name in names if re.match("[sd](gemm|trsm)_(kernel|[io][nt]copy)", name)}:
                    drivers = [name for name in names if name in ("single", "double")]
                    self.assertLessEqual(names.count("exec_blas"), len(drivers), names)
                    self.assertNotIn("call_exec_blas", names)
                    self.assertTrue(letter == "d" or "exec_blas" in names or not drivers, names)
                    yield letter, drivers

    def test_threads_are_below_the_python_code_that_they_work_for(self):
        found = set((letter, *drivers) for letter, drivers in self.drivers_of_kernels())
        self.assertEqual(found, {("s", "single"), ("d", "double")})
        threads = self.view(view="threads")["threads"]
        self.assertEqual(len(threads), 7)
        second = sorted(thread["metrics"]["work"] for thread in threads)[-2]  # the main thread and OpenBLAS's work most
        self.assertGreater(second, 0.1 * self.tree["metrics"]["work"]["inclusive"])

    def test_two_threads_that_call_it_at_once(self):
        """A thread of OpenBLAS does not say for which one it works, but it is below no wrong one."""
        found = set((letter, *drivers) for letter, drivers in self.drivers_of_kernels("together"))
        self.assertLessEqual(found, {("s", "single"), ("d", "double"), ("s",), ("d",)})
        self.assertLessEqual({("s", "single"), ("d", "double")}, found)


class BelowDirectBlas(BelowOpenBlas):
    """Its functions call each other directly, as in the wheels of numpy and scipy that PyPI has."""

    def library(self):
        path = self.directory / "libscipy_openblas64_-56d6093b.so"  # a name as auditwheel makes it
        subprocess.run(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-pthread", "-o", path,
                        SOURCES / "direct-blas.c"], check=True)
        return path


class Gil(OfChance, Python):
    """Who holds the interpreter's lock has the blame: the loops of three functions are the same but for their length."""
    SHARES = {"heavy": 0.7, "middle": 0.2, "light": 0.1}

    def setUp(self):
        super().setUp()
        if ask("sysconfig.get_config_var('Py_GIL_DISABLED')"):
            self.skipTest("the interpreter has no GIL")

    def test_a_function_that_keeps_the_lock(self):
        """A match of a regular expression does not let other threads run."""
        self.profile(PYTHON, SOURCES / "keeps.py", events=("CPUTIME@f1000",))
        name = "<lock GIL, kept for more than 20 ms>"
        kept = [path for path in logical_case.walk(self.tree) if path[-1]["name"] == name]
        self.assertGreater(len([path for path in kept if "matches" in procedures(path)]), 0)
        for path in kept:
            self.assertTrue(path[-1]["metrics"]["lock blame"]["inclusive"])
            self.assertFalse(path[-1]["metrics"]["work"]["inclusive"])

    def test_holders(self):
        found = self.evidence()
        for _ in found.looks():
            _, (image,) = self.profile(PYTHON, SOURCES / "holders.py", 200, 3, events=("CPUTIME@f4000",))
            total = self.tree["metrics"]["lock blame"]["inclusive"]
            waits = self.tree["metrics"]["lock wait"]["inclusive"]
            self.assertGreater(total, 0)
            self.assertAlmostEqual(waits, total, delta=0.05 * total)  # but for waits at the end
            at_lock = sum(path[-1]["metrics"]["lock wait"]["inclusive"] for path in logical_case.walk(self.tree)
                          if path[-1]["name"] == "<lock GIL>")
            self.assertGreater(at_lock, 0.95 * waits)  # there are other locks, as the one of the lock's state
            period = 2 * image.mean_period("CPUTIME")  # there are two waiters at most
            for name, share in self.SHARES.items():
                blame = self.value("lock blame", name)
                found.between(name, blame - share * total, -0.01 * total, 0.01 * total,
                              of_share(share * total, total, period), 0.05 * total)


LOCK = "<lock of Python>"


def waits_at(tree, name):
    return sum(path[-1]["metrics"]["lock wait"]["inclusive"] for path in logical_case.walk(tree)
               if path[-1]["name"] == name)


class ThreadingLocks(OfChance, Python):
    """Locks of threading: semaphores up to 3.13.0; later, Lock is a byte, and from 3.14 on RLock, too."""

    def setUp(self):
        super().setUp()
        if ask("sysconfig.get_config_var('Py_GIL_DISABLED')"):
            self.skipTest("threads look for locks before they wait for them")

    def check_holders(self, kind, found):
        done, (image,) = self.profile(PYTHON, SOURCES / "lock-holders.py", 20, 3, kind, events=("CPUTIME@f1000",))
        truth = {name: float(seconds) for name, seconds in map(str.split, done.stdout.splitlines())}
        total = self.tree["metrics"]["lock blame"]["inclusive"]
        at_lock = waits_at(self.tree, LOCK)
        self.assertGreater(total, 0)
        self.assertAlmostEqual(self.tree["metrics"]["lock wait"]["inclusive"], total, delta=0.05 * total)
        self.assertGreater(at_lock, 0.9 * total)  # the GIL is another one
        period = 2 * image.mean_period("CPUTIME")  # there are two waiters at most
        all_held = sum(truth[name] for name in Gil.SHARES)
        for name in Gil.SHARES:
            blame, held = self.value("lock blame", name), truth[name] / all_held * total
            # On a busy machine samples after a wait are late by a tick, and the longest function gets up to 4 % more.
            found.between(f"{kind} {name}", blame - held, -0.07 * total, 0.07 * total, of_share(held, total, period),
                          0.1 * total)

    def test_holders(self):
        for kind in "Lock", "Condition":  # that one has an RLock
            with self.subTest(kind):
                found = self.evidence()
                for _ in found.looks():
                    self.check_holders(kind, found)

    def test_who_waits_for_an_event_does_not_wait_for_a_lock(self):
        """Each kind of wait takes 0.1 s or more. Conditions do have locks, for microseconds."""
        for event in "CPUTIME", "REALTIME":
            _, (image,) = self.profile(PYTHON, SOURCES / "no-lock-waits.py", 200000, events=(f"{event}@f1000",))
            burning = self.value("work", "burn")
            self.assertGreater(burning, 40 * image.mean_period(event))
            self.assertLess(waits_at(self.tree, LOCK), burning / 10)


def without_gil():
    """An interpreter without a GIL; None: there is none."""
    names = shutil.which("python3.14t"), shutil.which("python3.13t")
    return PYTHON if ask("sysconfig.get_config_var('Py_GIL_DISABLED')") else next(filter(None, names), None)


class BlocksOfWith(OfChance, Python):
    """Locks of threading that are bytes: whose block of `with` a thread is in has them."""

    def test_only_holders_are_blamed(self):
        python = without_gil() or PYTHON
        if python == PYTHON and ask("sys.version_info[:2]") < [3, 14]:
            self.skipTest("there is no python3.13t, python3.14t or Python 3.14")
        found = self.evidence()
        for _ in found.looks():
            _, (image,) = self.profile(python, SOURCES / "with-blocks.py", 40, 9000, events=("CPUTIME@f2000",))
            holds, free = {}, 0
            for path in logical_case.walk(self.tree):
                names = [node["name"] for node in path]
                if names[-1] != "burn":
                    continue
                blame = path[-1]["metrics"]["lock blame"]["inclusive"]
                free += blame if "free" in names else 0
                for name in names:
                    if name.startswith("hold_"):
                        holds[name] = holds.get(name, 0) + blame
            self.assertEqual({name for name, blame in holds.items() if blame > 0}, set(holds))
            self.assertEqual(len(holds), 4)
            total = sum(holds.values())
            period = 2 * image.mean_period("CPUTIME")
            found.between("free", free, 0, 0.05 * total, of_share(0.05 * total, total, period), 0.1 * total)


class ObjectLocks(OfChance, Python):
    """Locks of objects, in interpreters without a GIL."""

    def test_holders(self):
        python = without_gil()
        if not python:
            self.skipTest("there is no python3.13t or python3.14t")
        found = self.evidence()
        for _ in found.looks():
            _, (image,) = self.profile(python, SOURCES / "object-lock-holders.py", 100, 3, events=("CPUTIME@f4000",))
            total = self.tree["metrics"]["lock blame"]["inclusive"]
            self.assertGreater(total, 0)
            self.assertGreater(waits_at(self.tree, "<lock of a Python object>"), 0.9 * total)
            period = 2 * image.mean_period("CPUTIME")  # there are two waiters at most
            for name, share in Gil.SHARES.items():
                blame = self.value("lock blame", name)
                found.between(name, blame - share * total, -0.04 * total, 0.04 * total,
                              of_share(share * total, total, period), 0.08 * total)
