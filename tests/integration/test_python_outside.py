"""Python programs that are measured from outside: each path that is shown was there at the instant of its sample."""
import os
import pathlib
import re
import shutil
import subprocess

import profiling
import test_python
from evidence import of_share
from logical_case import procedures, walk
from test_python import PYTHON, SOURCES, Python

UNKNOWN = "<Python frames not read in time>"
BURN = "sum(i for i in range(3000000))"
LONG_BURN = "sum(i for i in range(10000000))"  # so long that hpcrun gets a CPU meanwhile
NOT_USED = re.compile(r"agent python is not used: (.*): native call paths")


@profiling.needs_outside
class Outside(Python):
    def outside(self, *command, event="CPUTIME@f2000"):
        """The paths of the samples of a Python program whose frames are all known."""
        done, _ = self.profile(PYTHON, *command, events=(event,), options=["--outside"])
        refusal = NOT_USED.search(done.stderr)
        if refusal:
            self.skipTest(refusal[1])
        return {path for path in self.sampled_paths() if not {UNKNOWN, "<partial call path>"} & set(path)}

    def until_known(self, wanted, command, **how):
        """The same, of runs until there is such a path: others may have the CPUs at the instants of all samples."""
        paths = set()
        for _ in range(5):
            paths = self.outside(*command, **how)
            if any(map(wanted, paths)):
                return paths
        self.fail(f"none of {len(paths)} paths is as wanted")

    def family(self, path):
        return [name for name in path if re.fullmatch(r"[a-e]_\d+", name)]

    def test_frames_are_those_of_the_instant_of_the_sample(self):
        """Functions that return after a microsecond, and are called by others then."""
        paths = self.until_known(lambda path: len(self.family(path)) == 5 and path[-1:] == ("leaf",),
                                 [SOURCES / "families.py", 1])
        for path in paths:
            names = self.family(path)
            self.assertEqual([name[0] for name in names], list("abcde"[:len(names)]), path)
            self.assertEqual(len({name[1:] for name in names}), 1 if names else 0, path)
            self.assertTrue(len(names) == 5 or "leaf" not in path, path)

    def test_code_that_is_soon_freed(self):
        paths = self.until_known(lambda path: path[-1:] == ("burn",), [SOURCES / "chains.py", 60, 2])
        for path in paths:
            made = self.made(path)
            for i, name in enumerate(made):
                self.assertEqual(name, "_".join(made[-1].split("_")[:i + 1]), path)
            if path[-1:] == ("burn",):
                self.assertEqual(len(made), 5, path)

    def test_long_name(self):
        """Its text is longer than what is read of it with the object that has it."""
        name = "long_" * 60
        self.until_known(lambda path: name in path, ["-c", f"def {name}():\n  return {BURN}\n{name}()"])

    def test_a_table_of_lines_that_is_too_long(self):
        """Its code has its first line: instructions' numbers are no lines."""
        source = self.directory / "long.py"
        source.write_text("\ndef long(x):\n" + "  x += 1\n" * 6000 + "for _ in range(3000): long(0)\n")
        self.until_known(lambda path: path[-1:] == ("long",), [source])
        lines = {path[-1]["line"] for path in walk(self.tree)
                 if path[-1]["kind"] in ("line", "statement") and procedures(path)[-1:] == ["long"]}
        self.assertEqual(lines, {2})

    def test_threads_that_wait(self):
        code = ("import threading, time\n"
                "def nap(): time.sleep(0.05)\n"
                "def outer():\n  for _ in range(8): nap()\n"
                "threads = [threading.Thread(target=outer) for _ in range(2)]\n"
                "for thread in threads: thread.start()\n"
                "for thread in threads: thread.join()\n")
        self.until_known(lambda path: "nap" in path and path[path.index("nap") - 1] == "outer", ["-c", code],
                         event="REALTIME@f500")
        waiting = {tuple(procedures(path)) for path in walk(self.tree)
                   if path[-1]["metrics"]["waiting"] and path[-1]["metrics"]["waiting"]["exclusive"]}
        self.assertTrue(any("nap" in path for path in waiting), waiting)

    def test_too_few_descriptors(self):
        """They suffice for the samples of all threads, but not for the switches that prove what was read: a line says so."""
        cpus = os.cpu_count()  # a thread has an event on each
        count = max(1, 160 // cpus)
        code = ("import threading\n"
                "stop = threading.Event()\n"
                f"for _ in range({count}): threading.Thread(target=stop.wait, daemon=True).start()\n"
                "print('ready', flush=True)\n"
                "while not stop.is_set(): pass\n")
        process = subprocess.Popen([PYTHON, "-c", code], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        most = ((count + 1) * cpus + 60) * 4 // 3  # a quarter is not for samples
        said = self.directory / "said"
        with open(said, "w") as errors:
            tool = subprocess.Popen(["prlimit", f"--nofile={most}:{most}", profiling.HPCRUN, "-o", self.directory / "few",
                                     "-p", str(process.pid)], stderr=errors)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)
        profiling.wait_until(lambda: "interpreter" in said.read_text() or NOT_USED.search(said.read_text()) or
                             tool.poll() is not None, "line about the interpreter")
        if NOT_USED.search(said.read_text()):
            self.skipTest(NOT_USED.search(said.read_text())[1])
        self.assertIn(f"process {process.pid}: frames of its interpreter can't be read: Too many open files (ulimit -n)",
                      said.read_text())

    def test_processes_of_multiprocessing(self):
        code = ("import multiprocessing\n"
                "def burn():\n  for i in range(6000000): pass\n"
                "if __name__ == '__main__':\n"
                "  context = multiprocessing.get_context('fork')\n"
                "  children = [context.Process(target=burn) for _ in range(2)]\n"
                "  for child in children: child.start()\n"
                "  for child in children: child.join()\n")
        self.until_known(lambda path: path[-1:] == ("burn",) and "BaseProcess.run" in path, ["-c", code])

    def test_no_agent(self):
        self.profile(PYTHON, "-c", BURN, options=["--outside", "--agent", "none"])
        self.assertNotIn("<module>", {name for path in self.sampled_paths() for name in path})


@profiling.needs_outside
class HoldersOfTheLock(test_python.Gil):
    """Looks find who waits for the interpreter's lock, and who has it then: as test_python.Gil, from outside. Others wait
    also while the holder has no CPU, and each such wait is charged to one function: at a load of 30 shares were off by 5 %
    on average, and by up to 9 %."""
    measures_time = True
    test_a_function_that_keeps_the_lock = None

    def test_holders(self):
        found = self.evidence()
        for _ in found.looks():
            done, _ = self.profile(PYTHON, SOURCES / "holders.py", 200, 3, events=("REALTIME@f1000",),
                                    options=["--outside"])
            if NOT_USED.search(done.stderr):
                self.skipTest(NOT_USED.search(done.stderr)[1])
            blames = {name: self.value("lock blame", name) for name in self.SHARES}
            total, waits = sum(blames.values()), self.tree["metrics"]["lock wait"]["inclusive"]
            self.assertGreater(total, 0)
            self.assertAlmostEqual(waits, self.tree["metrics"]["lock blame"]["inclusive"], delta=0.05 * waits)
            at_lock = sum(path[-1]["metrics"]["lock wait"]["inclusive"] for path in walk(self.tree)
                          if path[-1]["name"] == "<lock GIL>")
            # Two threads wait for what the third one computes. What they wait longer has no CPU.
            without_cpu = max(0, waits - 2 * self.tree["metrics"]["work"]["inclusive"])
            self.assertGreater(at_lock, 0.95 * waits - without_cpu)
            period = 2 * 0.001 * 38 / 37  # of samples on a CPU, for both waiters
            for name, share in self.SHARES.items():
                found.between(name, blames[name] - share * total, -0.02 * total, 0.02 * total,
                              of_share(share * total, total, period), 0.2 * total, unsure=without_cpu)


@profiling.needs_outside
class Rights(Python):
    def run_as_user(self, *capabilities):
        """Measures a program as an ordinary user, with these capabilities; what hpcrun says."""
        user = ["setpriv", "--reuid", profiling.ORDINARY_USER, "--regid", profiling.ORDINARY_USER, "--clear-groups"]
        for name in capabilities:
            user += [f"--inh-caps=+{name}", f"--ambient-caps=+{name}"]
        if os.geteuid() != 0 or not shutil.which("setpriv") or \
           subprocess.run([*map(str, user), "true"], capture_output=True).returncode != 0:
            self.skipTest("needs root, and a setpriv that knows the capability")
        self.measurements = self.directory / "m"
        done = self.run_tool(*user, profiling.HPCRUN, "--outside", "-o", self.measurements, PYTHON, "-c", LONG_BURN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.analyse()
        return done.stderr

    def test_a_user_who_may_not_sample_the_kernel(self):
        """A line says what is needed; paths are native."""
        if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 2:
            self.skipTest("ordinary users may sample the kernel here")
        self.assertIn("CAP_PERFMON, or kernel.perf_event_paranoid=1", NOT_USED.search(self.run_as_user())[1])
        self.assertFalse({"<module>", UNKNOWN} & {name for path in self.sampled_paths() for name in path})

    def test_a_user_who_may(self):
        self.assertIsNone(NOT_USED.search(self.run_as_user("perfmon")))
        self.assertTrue({"<module>", UNKNOWN} & {name for path in self.sampled_paths() for name in path})
