"""The summary of a run of many processes, by hpcprof and in the database: everything that was measured, and by reason
everything that was not; and the line of the launched process, by hpcrun at its end. The process trees are built so that the numbers are known."""
import os
import re
import shutil
import stat
import subprocess
import time
import unittest

import profiling
import viewer
from evidence import OfChance

BURN_HEADER = profiling.ROOT / "tests" / "programs" / "hpcrun"

# burn HOW SECONDS: uses that much CPU time, then ends by exit, by a signal that cannot be caught, or by a system call
# that no library sees; or by an exec of itself, which uses as much and exits.
BURN = r"""
#include "burn.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    burn(count == 3 ? (uint64_t)(atof(arguments[2]) * 1e9) : 0);
    if (strcmp(arguments[1], "kill") == 0)
        raise(SIGKILL);
    if (strcmp(arguments[1], "exec") == 0)
        execl("/proc/self/exe", arguments[0], "exit", arguments[2], (char *)NULL);
    if (strcmp(arguments[1], "bare") == 0)
        __asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
    return 0;
}
"""

LINE = re.compile(r"(?P<tool>hpcrun|hpcprof): (?P<who>\S+?)(\[\d+\])?( rank \d+)?(, (?P<processes>\d+) processes)?(, (?P<programs>\d+) programs)?: (?P<samples>\d+) samples? of CPUTIME"
                  r" \([^)]*\) in (?P<cpu>[\d.]+) s CPU, (?P<wall>[\d.]+) s wall, (?P<threads>\d+) threads?; "
                  r"(?P<dropped>\d+) dropped, (?P<partial>\d+) partial paths(, [\d.]+ s CPU without samples)?"
                  r"(, (?P<children>[\d.]+) s CPU in children)?(?P<directory> -> \S+)?")


def reasons(text):
    """'2 setuid (a, b), 1 killed by signal 9 (c[7])' -> {'setuid': 2, 'killed by signal 9': 1}"""
    return {match[2]: int(match[1]) for match in re.finditer(r"(\d+) ([^(,;]+?)(?: \([^)]*\))?(?=, |$)", text)}


class TreeTest(profiling.ProfilingTest):
    def setUp(self):
        super().setUp()
        self.user = profiling.ORDINARY_USER if os.geteuid() == 0 else None
        (self.directory / "burn.c").write_text(BURN)
        self.build("plain")

    def build(self, name, *flags, compiler="gcc"):
        subprocess.run([compiler, "-O1", "-I", BURN_HEADER, *flags, "-o", self.directory / name, self.directory / "burn.c"], check=True)
        return self.directory / name

    def run_as_user(self, *command):
        more = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        return self.run_tool(*command, **more)

    def hpcrun(self, *command, options=(), status=0, name="m"):
        done = self.run_as_user(profiling.HPCRUN, "-o", name, *options, *command)
        self.assertEqual(done.returncode, status, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("hpcrun: ")]
        return done, [line for line in lines if "CPUTIME uses POSIX timers" not in line]

    def account(self, name="m"):
        """What hpcprof says of the run."""
        database = self.directory / f"db-{name}"
        shutil.rmtree(database, ignore_errors=True)
        done = subprocess.run([profiling.BUILD / "bin/hpcprof", "-o", database, self.directory / name], check=True,
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, timeout=600)
        return [line for line in done.stderr.splitlines() if not line.startswith("hpcprof: recovered the data")]

    def check_numbers(self, line, processes, burned, counted):
        """The CPU time in the summary line is that of all processes that were measured to their end: at least
        what they burned, at most what the kernel counted."""
        match = LINE.fullmatch(line)
        self.assertTrue(match, line)
        self.assertEqual(bool(match["directory"]), match["tool"] == "hpcrun")
        self.assertEqual(int(match["processes"] or 1), processes)
        # A sample that is due while hpcrun ends a process is dropped.
        self.assertLessEqual(int(match["dropped"]), processes)
        self.assertEqual(match["partial"], "0")
        # The program's own clock starts a little before hpcrun's, which lacks the loader's time.
        self.assertGreater(float(match["cpu"]), 0.9 * burned - 0.02)
        self.assertLess(float(match["cpu"]), counted + 0.002 * processes)
        self.assertGreater(int(match["samples"]), 0.5 * 200 * burned - 5)

    def summary(self, name="m"):
        return viewer.printed_json("summary", self.make_database(measurements=self.directory / name))


class Trees(TreeTest):
    def test_children_of_a_script_that_becomes_hpcrun(self):
        """The kernel's account of children outlives an exec: what the script ran before is no part of the run."""
        script = f"{self.directory}/plain exit 0.3; exec {profiling.HPCRUN} -o m {self.directory}/plain exec 0.1"
        done = self.run_as_user("sh", "-c", script)
        line, = (line for line in done.stderr.splitlines() if line.startswith("hpcrun: ") and "samples" in line)
        self.assertTrue(LINE.fullmatch(line), line)
        self.assertNotIn("in children", line)
        self.assertNotIn("without a record", "".join(self.account()))

    def test_make(self):
        """A build that runs programs of many kinds. make itself starts commands without shell syntax."""
        static = self.build("static", "-static")
        rules = {"plain": (3, None), "static": (2, "statically linked")}
        if shutil.which("musl-gcc"):
            self.build("other", compiler="musl-gcc")
            rules["other"] = (1, "not linked with glibc")
        may_gain = os.geteuid() == 0 and not os.statvfs(self.directory).f_flag & os.ST_NOSUID
        if may_gain:
            for name, mode, why in (("user", stat.S_ISUID, "setuid"), ("group", stat.S_ISGID, "setgid")):
                os.chmod(self.build(name), 0o755 | mode)  # owned by root and run by another user
                rules[name] = (1, why)
        setcap = shutil.which("setcap", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        capable = self.build("capable")
        if may_gain and setcap and subprocess.run([setcap, "cap_net_bind_service+p", capable],
                                                  capture_output=True).returncode == 0:
            rules["capable"] = (2, "has file capabilities")
        makefile, targets = "", []
        for name, (count, _) in rules.items():
            for i in range(count):
                targets.append(f"{name}{i}")
                makefile += f"{targets[-1]}: ; ./{name} exit 0.1\n"
        makefile += ("killed: ; -./plain kill 0.1\nbare: ; ./plain bare 0.1\ncleared: ; env -i ./plain exit 0.1\n"
                     f"all: killed bare cleared {' '.join(targets)}\n")
        (self.directory / "Makefile").write_text(makefile)
        plain = self.run_as_user("make", "-j2", "all")
        before = os.times()
        done, lines = self.hpcrun("make", "-j2", "all")
        after = os.times()
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(plain.stdout.splitlines()))
        self.assertIn("Killed (ignored)", done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        children = float(LINE.fullmatch(lines[0])["children"])
        lines = self.account()
        counted = after.children_user + after.children_system - before.children_user - before.children_system
        self.assertGreater(children + 0.001, 0.1 * len(targets))
        self.assertLess(children, counted + 2 * 0.01)  # os.times counts whole ticks of 10 ms, of user and system time
        # make; its children; env, until it became a program that is not measured.
        self.check_numbers(lines[0], 1 + 3 + 2 + 1, 0.3, counted)
        match = re.fullmatch(r"hpcprof: not measured: (.*); measured in part: (.*)", lines[1])
        self.assertTrue(match, lines[1])
        expected = {why: count for _, (count, why) in rules.items() if why}
        expected["started without hpcrun's LD_PRELOAD"] = 1
        self.assertEqual(reasons(match[1]), expected)
        self.assertEqual(reasons(match[2]), {"killed by signal 9": 1, "ended by a bare system call": 1})
        self.assertGreater(float(re.search(r"\(static; ([\d.]+) s CPU\)", match[1])[1]), 0.19)  # two of 0.1 s each
        summary = viewer.printed_json("summary", self.directory / "db-m")
        self.assertEqual({entry["reason"]: entry["count"] for entry in summary["unmeasured"]}, expected)
        ends = sorted(process["state"] for process in summary["processes"]
                      if process["state"] not in ("exit", "_exit", "exec"))
        problems = [re.sub(r"^[^:]*: |[\d.]+(?= s )", "", problem) for problem in summary["problems"]]
        where = "data until  s of its life was recovered; at most one sample of each thread is missing"
        # A process that ends before its first sample leaves no file.
        if len(ends) == 2:
            self.assertEqual(ends, ["bare system call", "killed"])
            self.assertEqual(sorted(problems), [f"ended by a bare system call: {where}", f"killed by signal 9: {where}"])
        if "capable" not in rules or "user" not in rules:
            self.skipTest("the rest passed; no set-user-ID programs or file capabilities here")

    def test_what_is_launched_may_not_gain_rights(self):
        if os.geteuid() != 0 or os.statvfs(self.directory).f_flag & os.ST_NOSUID:
            self.skipTest("needs root, to give a file capabilities")
        setcap = shutil.which("setcap", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        if not setcap or subprocess.run([setcap, "cap_net_bind_service+p", self.directory / "plain"],
                                        capture_output=True).returncode != 0:
            self.skipTest("no file capabilities here")
        _, lines = self.hpcrun("./plain", "exit", "0", status=126)
        self.assertEqual(lines, ["hpcrun: ./plain: has file capabilities: can't be measured, except by root, from outside"])
        self.assertFalse((self.directory / "m").exists())
        # Root gains no rights by them.
        self.user = None
        _, lines = self.hpcrun("./plain", "exit", "0.1")
        self.check_numbers(*lines, 1, 0.1, 10)

    def test_a_chain_of_execs_is_one_line(self):
        done, lines = self.hpcrun("env", "A=1", "env", "B=2", "./plain", "exit", "0.1")
        self.assertEqual(len(lines), 1, done.stderr)
        self.check_numbers(lines[0], 1, 0.1, 10)
        self.assertIn("./plain[", lines[0])
        self.assertEqual(self.account(), [])  # there is no more to say

    def test_a_program_that_becomes_another_one(self):
        """hpcrun's line is about the last program, hpcprof's about both."""
        _, lines = self.hpcrun("./plain", "exec", "0.1")
        self.check_numbers(*lines, 1, 0.1, 10)
        line, = self.account()
        self.check_numbers(line, 1, 0.2, 10)
        self.assertEqual(LINE.fullmatch(line)["programs"], "2")

    def test_an_exec_of_what_is_not_measured(self):
        self.build("static", "-static")
        self.hpcrun("sh", "-c", "./plain exit 0.1; exec ./static exit 0")
        lines = self.account()
        self.assertEqual(len(lines), 2, lines)
        self.check_numbers(lines[0], 2, 0.1, 10)
        self.assertEqual(lines[1], "hpcprof: not measured: 1 statically linked (static)")

    def test_an_exec_that_fails_is_none(self):
        self.build("static", "-static")
        (self.directory / "static").chmod(0o644)
        done, lines = self.hpcrun("sh", "-c", "./static; ./plain exit 0.1; ./nowhere; exit 7", status=7)
        self.assertEqual((len(lines), len(self.account())), (1, 1), done.stderr)

    def test_quiet(self):
        self.build("static", "-static")
        _, lines = self.hpcrun("sh", "-c", "./static exit 0; true", options=["-q"])
        self.assertEqual(lines, [])
        self.assertRegex((self.directory / "m/hpcrun.log").read_text(), r"(?m)^sh\[\d+\]: \d+ samples? of CPUTIME ")
        self.assertEqual(self.account()[-1], "hpcprof: not measured: 1 statically linked (static)")

    def test_a_killed_program(self):
        """No process is left that could print hpcrun's line."""
        _, lines = self.hpcrun("sh", "-c", "./plain exit 0.1; exec ./plain kill 0.1", status=-9)
        self.assertEqual(lines, [])
        lines = self.account()
        self.check_numbers(lines[0], 2, 0.2, 10)
        self.assertRegex(lines[1], r"^hpcprof: measured in part: 1 killed, ended by a bare system call, or lost \(plain\[\d+\]\)$")
        self.hpcrun("./plain", "kill", "0.1", status=-9, name="alone")
        self.check_numbers(self.account("alone")[0], 1, 0.1, 10)

    def test_a_daemon(self):
        """What the launched process leaves behind has its own accounts, and prints nothing."""
        _, lines = self.hpcrun("sh", "-c", "(./plain exit 0.1; ./plain exit 0.1) & exit 0")  # returns when all have ended
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"^hpcrun: sh\[")
        line, = self.account()
        self.check_numbers(line, 3, 0.2, 10)  # sh becomes the last one

    def test_status_of_children_is_the_kernel_s(self):
        """hpcrun observes how the program waits for its children."""
        script = ("import os, signal\n"
                  "def child(end):\n    pid = os.fork()\n    if pid == 0:\n        end()\n    return pid\n"
                  "ends = [lambda: os._exit(7), lambda: os.kill(os.getpid(), 9), lambda: os._exit(0)]\n"
                  "print([os.waitpid(child(end), 0)[1] for end in ends])\n"
                  "print([(child(end), os.wait()[1])[1] for end in ends])\n"
                  "print([(child(end), os.wait3(0)[1])[1] for end in ends])\n"
                  "print([os.wait4(child(end), 0)[1] for end in ends])\n"
                  "print([tuple(os.waitid(os.P_PID, child(end), os.WEXITED))[3:] for end in ends])\n"
                  "waits = child(signal.pause)\n"
                  "print(os.waitpid(waits, os.WNOHANG), os.waitid(os.P_PID, waits, os.WEXITED | os.WNOHANG))\n"
                  "os.kill(waits, 9)\n")
        plain = self.run_tool("python3", "-c", script)
        done, _ = self.hpcrun("python3", "-c", script)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(done.stdout.splitlines()[0], "[1792, 9, 0]")


class Killed(OfChance, TreeTest):
    def test_killed_in_mid_run(self):
        """The data covers the time until the last sample, which comes late only on a busy machine."""
        found = self.evidence()
        for look in found.looks():
            began = time.monotonic()
            self.hpcrun("sh", "-c", "sleep 600 & sleep 1; kill -9 $!; wait $!; true", options=["-e", "REALTIME@f50"],
                        name=f"m{look}")
            life = time.monotonic() - began
            killed = [p for p in self.summary(f"m{look}")["processes"] if p["state"] == "killed"]
            for process in killed:
                self.assertEqual((process["signal"], process["recovered"], process["missing_at_most"]), (9, 1, 0))
                self.assertLess(process["data_until"], life)
            found.rate("data of half of its life", any(p["data_until"] > 0.5 for p in killed), 1, least=0.5,
                       noticed=(1e-9, 1))


class Jobs(unittest.TestCase):
    """Concurrent ranks, each with a launcher of its own: the process of rank 0 prints its line, hpcprof that of all."""

    def job(self, script):
        """What the launchers of four ranks say, and hpcprof: one line each."""
        test = profiling.ProfilingTest()
        test.setUp()
        self.addCleanup(test.doCleanups)
        ranks = []
        for rank in range(4):
            environment = {key: value for key, value in os.environ.items()
                           if not key.startswith(("OMPI_", "PMI", "MV2_", "SLURM_"))}
            environment.update(PMIX_RANK=str(rank), PMIX_NAMESPACE="job", OMPI_COMM_WORLD_RANK=str(rank))
            # Each reports that it runs, then waits for the others, as in MPI_Init.
            ranks.append(subprocess.Popen([profiling.HPCRUN, "-o", test.directory / "m", "sh", "-c",
                                           f"echo; read line; {script}"], stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True))
        for rank in ranks:
            rank.stdout.readline()
        said = [rank.communicate("go\n", timeout=600)[1] for rank in ranks]
        lines = [line for text in said for line in text.splitlines() if "POSIX timers: " not in line]
        self.assertEqual([rank.returncode for rank in ranks], [0] * 4)
        self.assertEqual(len(lines), 1, said)
        self.assertRegex(lines[0], r"^hpcrun: sh\[\d+\] rank 0: \d+ samples? of CPUTIME .* -> ")
        done = test.run_tool(profiling.BUILD / "bin/hpcprof", test.directory / "m")
        lines = done.stderr.splitlines()
        self.assertEqual((done.returncode, len(lines)), (0, 1), done.stderr)
        return lines[0]

    def test_one_line_for_a_job(self):
        for script, who in (("(exit 0); true", "4 ranks of sh, 8 processes"), ("true", "4 ranks of sh")):
            self.assertRegex(self.job(script), rf"^hpcprof: {who}: \d+ samples? of CPUTIME .* paths")
