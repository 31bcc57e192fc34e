"""Compares the unwinder with libunwind on live programs, and its rules with readelf's."""
import os
import re
import subprocess

import profiling
from evidence import OfChance
from profiling import TOOLS, functions, program


def find_library(name):
    out = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True,
                         env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")).stdout
    found = re.search(rf"^\s*{re.escape(name)} .*x86-64.*=> (\S+)$", out, re.M)
    return found and found.group(1)


class AgainstLibunwind(OfChance, profiling.ProfilingTest):
    def compare(self, *command, least=20, partial=0.002, **environment):
        """Runs the program with both unwinders until both have seen so many samples: each has the same pcs, and few
        paths are partial. (`make bench` takes enough samples to find one in 2000.)"""
        for found in self.looks():
            checked, ends = self.look(*command, **environment)
            found.enough("samples", checked, least)
            found.rate("partial", sum(ends[1:]), sum(ends), most=partial, noticed=(0, partial + 0.25))

    def look(self, *command, **environment):
        """The number of samples that were compared, and of the ends of their paths."""
        report = self.directory / "report"
        done = self.run_tool(*command, env=dict(
            os.environ, LD_PRELOAD=str(TOOLS / "unwind-compare.so"), UNWIND_REPORT=str(report),
            UNWIND_VERBOSE="1", **environment))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = profiling.pairs(report.read_text().split())
        self.assertEqual(int(found["different"]), 0, done.stderr)
        return int(found["checked"]), [int(found[f"end{i}"]) for i in range(8)]

    def test_recursions(self):
        for depth in (1, 10, 500, 3000):
            with self.subTest(depth):
                self.compare(program("recursion"), depth, 250)

    def test_cplusplus(self):
        self.compare(program("throws"), 0.8, partial=0.03)

    def test_threads(self):
        self.compare(program("threads"), 10, 80, 4)

    def test_compressors(self):
        self.compare("xz", "-kc", "--suffix=.x", "-3", "-T1", TOOLS / "unwind-compare.so", least=1)
        data = self.directory / "data"
        data.write_bytes(os.urandom(1 << 20) + bytes(range(256)) * 60000)
        self.compare("xz", "-kc", "-6", "-T1", data, UNWIND_RATE="4000")

    def test_interpreters(self):
        # Both programs run for half a second of CPU time.
        self.compare("/usr/bin/python3", "-c", """
import time
def f(n): return n if n < 2 else f(n-1) + f(n-2)
while time.process_time() < 0.5:
    f(18)
    sorted(range(3000), key=str)
""")
        self.compare("perl", "-e", """
sub f { my $n = shift; $n < 2 ? $n : f($n-1) + f($n-2) }
f(15) while (times)[0] < 0.5""")

    def test_compiler(self):
        source = self.directory / "big.c"
        source.write_text("\n".join(
            f"int f{i}(int a, int *p) {{ int s = {i}; for (int k = 0; k < a; k++) if (p[k] > s) s += p[k] *"
            f" {i % 7 + 1}; else switch (p[k] & 3) {{ case 0: s ^= k; break; default: s *= 3; }} return s; }}"
            for i in range(300)))
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True,
                             text=True).stdout.strip()
        self.compare(cc1, "-O2", "-quiet", source, "-o", "/dev/null")

    def test_assembly(self):
        """libunwind gives up in code without unwind information, or takes data for return addresses."""
        self.compare(program("bare"), 300)


COMPLETE = "0"  # end of a path


def steps_of(test, program_path, *arguments, least=200):
    """Ends and names of the paths at every single instruction, innermost first. Code in no module is "?", frames of
    libraries are left out."""
    report = test.directory / "report"
    done = test.run_tool(program_path, *arguments, env=dict(
        os.environ, LD_PRELOAD=str(TOOLS / "unwind-steps.so"), UNWIND_REPORT=str(report)))
    test.assertEqual(done.returncode, 0, done.stderr)
    *lines, (_, steps) = map(str.split, report.read_text().splitlines())
    test.assertGreater(int(steps), least)
    for end, *frames in lines:
        names = []
        for frame in frames:
            found = ["?"] if frame.startswith("?") else functions([frame], program_path, module="")
            names += [name.split(".")[0] for name in found]
        yield end, names


class EveryInstruction(profiling.ProfilingTest):
    """The path at every single instruction while exceptions are raised. At some instructions unwind information is
    wrong, since the registers of the catching frame are being restored."""
    chain = ["_start", "main", "catcher", "recursion", "recursion", "recursion", "rethrower", "passer", "framed",
             "cleaner", "thrower"]

    def test_exceptions(self):
        for name in ("raises", "raises-framed"):
            with self.subTest(name):
                partial = total = 0
                for end, inwards in steps_of(self, program(name), least=10000):
                    self.assertNotIn("?", inwards)
                    names = [name for name in reversed(inwards) if name in self.chain]
                    total += 1
                    if end == COMPLETE:
                        self.assertEqual(names, self.chain[:len(names)])
                        self.assertGreaterEqual(len(names), 2)
                    else:
                        partial += 1
                        self.assertEqual(names, [])
                self.assertLess(partial, 0.03 * total)

    def test_a_step_of_unknown_reason(self):
        """The kernel found nothing in the debug register, and calls it TRAP_BRKPT: steps go on until the next int3."""
        steps_between = """#include <signal.h>
            #include <sys/syscall.h>
            #include <unistd.h>
            __attribute__((noinline)) static void after(void) { __asm__ volatile("nop"); }
            int main(void)
            {
                siginfo_t reason = {.si_signo = SIGTRAP, .si_code = TRAP_BRKPT};
                __asm__ volatile("int3");
                syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &reason);
                after();
                __asm__ volatile("int3");
                return 0;
            }"""
        built = self.compile_text("unknown", steps_between, "-O1", "-D_GNU_SOURCE")
        self.assertIn("after", {names[0] for _, names in steps_of(self, built, least=10) if names})


class EverySwitch(profiling.ProfilingTest):
    """The path at every single instruction while swapcontext and setcontext switch between two stacks."""
    paths = [["_start", "main"], ["_start", "main", "resume"], ["fiber_main"], ["fiber_main", "yield"],
             ["fiber_main", "by_rbp"], ["fiber_main", "by_rbp", "yield"]]

    def test_switches(self):
        """Each path is one of a stack. When the fiber begins its function is not on its stack yet at one place, and at
        another one nothing tells that it will be called."""
        seen = [(end, names[::-1]) for end, names in steps_of(self, program("context_switches"), least=1000)]
        whole = [names for end, names in seen if end == COMPLETE and names]
        self.assertEqual([names for names in whole if names not in self.paths], [])
        for path in self.paths:
            self.assertIn(path, whole)
        self.assertLessEqual([end for end, names in seen if not names].count(COMPLETE), 1)
        self.assertLessEqual(len([end for end, _ in seen if end != COMPLETE]), 1)


class EveryFiber(profiling.ProfilingTest):
    """The path at every single instruction of fibers: it ends with the fiber's first function, or with the stub that
    calls that, and is complete."""
    kinds = {"zero": [], "data": [], "function": [], "adjacent": [], "end": [], "caller": ["call_stub"]}

    def test_fibers(self):
        outside = [["main", "_start"], ["resume", "main", "_start"], ["switch_stacks", "resume", "main", "_start"]]
        for kind, base in self.kinds.items():
            with self.subTest(kind):
                inside = [[*names, f"first_{i}", *base] for i in range(2)
                          for names in ([], [f"work_{i}"], ["yield"], ["switch_stacks", "yield"])]
                seen = list(steps_of(self, program("fibers"), kind))
                self.assertEqual({end for end, _ in seen}, {COMPLETE})
                self.assertEqual({tuple(names) for _, names in seen}, {tuple(names) for names in inside + outside})


class EveryTrace(profiling.ProfilingTest):
    """The path at every single instruction of code made at run time in the frame of a function, and of parts of that
    function which unwind information does not tell from the rest."""

    def test_traces(self):
        paths = {("main", "_start")}
        for name in ("vm", "lax"):
            outer = (f"calls_{name}", "main", "_start")
            inner = [(), *((*back, *part) for back in ((), ("back",), ("leaf_back", "back"))
                           for part in (("?",), (name, name))), (name,)]
            paths |= {(*names, *outer) for names in inner}
        seen = list(steps_of(self, program("traces")))
        self.assertEqual({end for end, _ in seen}, {COMPLETE})
        self.assertEqual({tuple(names) for _, names in seen}, paths)


class EveryRealigned(profiling.ProfilingTest):
    """The path at every single instruction of functions that realign their stack: gcc's unwind information is wrong at
    their end."""
    chain = ["leaf", "realigned", "by_rbp", "outer", "main", "_start"]

    def test_functions(self):
        depths = set()
        for end, names in steps_of(self, program("realigned")):
            self.assertEqual(end, COMPLETE, names)
            self.assertEqual(names, self.chain[-len(names):])
            depths.add(len(names))
        self.assertEqual(depths, set(range(2, 7)))


class EveryShape(profiling.ProfilingTest):
    """The path at every single instruction of code without unwind information, in modules and made at run time: each
    frame has its true caller, or the path is partial."""
    shapes = ("leaf", "pushes", "pointer", "aligned", "moves", "exits", "inner", "removes", "jumps", "rounds", "table",
              "slot", "adds", "stub", "leaves")
    twice = ("inner", "removes")  # with two frames of the same code

    def callers(self):
        """Function -> those that may call it."""
        found = {"litter": {"litter"}, "main": {"_start"}, "_start": set(), "?": set()}
        for name in self.shapes:
            found["calls_" + name] = found["calls_copy_" + name] = {"main"}
            found[name] = {"calls_" + name} | ({name} if name in self.twice else set())
            found["back_" + name], found["back_copy_" + name] = {name}, {"?"}
            found["litter"] |= {"calls_" + name, "calls_copy_" + name}
            found["?"].add("calls_copy_" + name)
        found["?"].add("?")
        return found

    def test_callers(self):
        callers, seen, partial, total = self.callers(), set(), 0, 0
        for end, names in steps_of(self, program("shapes")):
            total += 1
            partial += end != COMPLETE
            for inner, outer in zip(names, names[1:]):
                self.assertIn(outer, callers[inner], names)
                seen.add((inner, outer))
            twice = any("_copy_" + name in " ".join(names) for name in self.twice)
            self.assertLessEqual(names.count("?"), 1 + twice, names)
            if end == COMPLETE:
                self.assertEqual(names[-2:], ["main", "_start"], names)
        for name in self.shapes:
            self.assertLessEqual({(name, "calls_" + name), ("back_" + name, name),
                                  ("back_copy_" + name, "?"), ("?", "calls_copy_" + name)}, seen)
        self.assertLessEqual(partial, 0.01 * total)


class WithoutInformation(OfChance, profiling.ProfilingTest):
    """Code without unwind information, above return addresses that earlier calls have left on the stack."""
    outer = {"leaf": ("call_leaf", "called_back"), "with_frame": ("call_with_frame",),
             "calls_back": ("call_calls_back",), "called_back": ("calls_back",), "litter": ()}

    def test_assembly(self):
        for name, how in profiling.sources():
            with self.subTest(name):
                for found in self.looks():
                    _, (image,) = self.measure(program("bare"), 350, events=["CPUTIME@f2000"], paths=True, **how)
                    paths = [functions(path, program("bare")) for _, _, path in image.threads[0].paths
                             if not profiling.is_partial(path)]
                    for leaf in ("leaf", "with_frame"):
                        found.enough(f"paths of {leaf}", [names[:1] for names in paths].count([leaf]), 1)
                    for _, _, path in image.threads[0].paths:
                        self.check_path(functions(path, program("bare")), path)

    def test_system_calls_that_go_on(self):
        """A sample that has ended a system call lets it go on in hpcrun's code, which will return to the program's."""
        _, (image,) = self.measure(program("bare"), 300, "sleep", events=["REALTIME@f1000"], paths=True)
        paths = [functions(path, program("bare")) for _, _, path in image.threads[0].paths]
        self.assertIn(["nap", "call_nap", "main", "_start"], paths)
        self.assertEqual(image.count("REALTIME", profiling.PARTIAL), 0)

    def check_path(self, names, path):
        """One of leaf and with_frame is complete, and of callers that the program has."""
        if names[:1] not in (["leaf"], ["with_frame"]):
            return
        self.assertFalse(profiling.is_partial(path), names)
        for inner, outer in zip(names, names[1:]):
            if inner in self.outer:
                self.assertIn(outer, self.outer[inner], names)
        self.assertEqual(names[-2:], ["main", "_start"])


class UnreadableFrames(OfChance, profiling.ProfilingTest):
    UNREADABLE = 66  # doc/FORMAT-hpcrun.md, section 8: partial, memory not readable

    def check(self, *how):
        """The path ends at the unreadable memory, with that reason; the program is not affected."""
        for name, source in profiling.sources():
            with self.subTest(name):
                for found in self.looks():
                    done, (image,) = self.measure(program("unreadable_frame"), 250, *how,
                                                  events=("CPUTIME@f1000",), **source)
                    self.check_fates([image])
                    unreadable = image.count("CPUTIME", [self.UNREADABLE])
                    self.assertEqual(unreadable, image.count("CPUTIME", profiling.PARTIAL))
                    # Besides count_down, only the few instructions of the loader and of main were sampled.
                    found.rate("unreadable", unreadable, image.count("CPUTIME", [profiling.RECORDED]), least=0.9,
                               noticed=(0.5, 1))
                    self.check_time(image.seconds("CPUTIME", [profiling.FIRED]), int(done.stdout) * 1e-9, image.cpu, 0.02)

    def test_faults_that_come_to_us(self):
        self.check()

    def test_faults_that_are_blocked(self):
        """A fault would end the program, so hpcrun reads through the kernel."""
        self.check("blocked")


class AgainstReadelf(profiling.ProfilingTest):
    """Compares hpcrun's and readelf's rows for all of a library's .eh_frame."""

    def rows_of_readelf(self, path):
        out = subprocess.run(["readelf", "--debug-dump=frames-interp", path], capture_output=True,
                             text=True).stdout
        rows, columns, in_fde, end, base = {}, [], False, 0, None
        for line in out.splitlines():
            fde = re.search(r"FDE cie=(\w+) pc=(\w+)\.\.(\w+)", line)
            if " CIE " in line or fde:
                in_fde = bool(fde)
                if fde:
                    start, end = int(fde.group(2), 16), int(fde.group(3), 16)
            elif "LOC" in line:
                columns = line.split()
            elif in_fde and re.match(r"[0-9a-f]{16} ", line):
                cells = dict(zip(columns, re.sub(r" \(\w+\)", "", line).split()))
                at = int(cells["LOC"], 16)
                if at < end:  # readelf prints an empty last row if padding advances the location
                    rows[at] = (cells["CFA"], cells.get("rbp", "u"), cells.get("ra", "u"))
        return rows

    def check(self, name):
        path = find_library(name)
        if not path:
            self.skipTest(f"{name} is not installed")
        theirs = self.rows_of_readelf(path)
        out = self.run_tool(TOOLS / "dump-rules", path)
        self.assertEqual(out.returncode, 0, out.stderr)
        ours = {}
        for line in out.stdout.splitlines():
            at, cfa, rbp, ra = line.split()
            ours[int(at, 16)] = (cfa, "u" if rbp in "su" else rbp, ra)
        compared = wrong = 0
        for at, row in theirs.items():
            if at not in ours:
                continue  # equal to the row before: hpcrun reports a row for each location, even if no rule changes
            compared += 1
            same = all(mine == other or {mine, other} == {"u", "s"}
                       for mine, other in zip(ours[at], row))
            wrong += not same
            if not same and wrong < 5:
                print(f"{name} {at:x}: ours {ours[at]}, readelf {row}")
        self.assertEqual(wrong, 0)
        self.assertGreater(compared, 0.95 * len(theirs))

    def test_libc(self):
        self.check("libc.so.6")

    def test_libstdcplusplus(self):
        self.check("libstdc++.so.6")

    def test_libcrypto(self):
        self.check("libcrypto.so.3")
