"""From a command to its views: processes and threads are in the database once, and times add up."""
import collections
import json
import os
import pathlib
import re
import subprocess

import profiling
from evidence import OfChance, of_ends
from profiling import program
from v4_reader import read_database

TOOLS = profiling.BUILD / "bin"


class Pipeline(OfChance, profiling.ProfilingTest):
    def database(self, *measurements, status=0, **how):
        where = self.directory / f"database-{len(list(self.directory.iterdir()))}"
        done = self.run_tool(TOOLS / "hpcprof", "-o", where, *measurements, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        self.complaints = done.stderr.splitlines()
        return where

    def view(self, database, view, *options):
        done = self.run_tool(TOOLS / "hpcviewer", "--print", view, "--format", "json", *options, database)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_log(self, run, measurements):
        """Every process that hpcrun has told of is in the database, with the samples and the time that
        its line tells, and no other; hpcprof's line has their sum. hpcrun's line reads the clocks after the
        file has them: its CPU time is more by what the CPUs can have given meanwhile."""
        told, cpu, wall = collections.Counter(), 0, 0
        for directory in measurements:
            lines = (pathlib.Path(directory) / "hpcrun.log").read_text().splitlines()
            found = [re.search(r"\[(\d+)\]: (.* samples? of .*) in ([\d.]+) s CPU, ([\d.]+) s wall, (\d+) ", line)
                     for line in lines]
            found = [line for line in found if line]
            images = [(int(line[1]), sum(map(int, re.findall(r"(\d+) samples? of", line[2]))), int(line[5]))
                      for line in found]
            if len({pid for pid, _, _ in images}) > 1 and len(measurements) == 1:
                total, = filter(None, (re.search(r", \d+ processes: (.* samples? of .*) in .* s wall, (\d+) thread", line)
                                       for line in self.complaints))
                self.assertEqual(sum(map(int, re.findall(r"(\d+) samples? of", total[1]))),
                                 sum(image[1] for image in images))
                self.assertEqual(int(total[2]), sum(image[2] for image in images))
            told.update(images)
            cpu += sum(float(line[3]) for line in found)
            wall += sum(float(line[4]) for line in found)
        self.assertEqual(told, collections.Counter(
            (process["pid"], process["samples"], len(process["threads"]))
            for process in run["processes"]))
        cpu -= sum(process["cpu"] for process in run["processes"])
        wall -= sum(process["wall"] for process in run["processes"])
        rounded = 0.001 * len(run["processes"])
        self.assertGreater(cpu, -rounded - 1e-6)
        self.assertLess(cpu, len(os.sched_getaffinity(0)) * (wall + rounded) + 1e-6)
        self.assertEqual(len({process["file"] for process in run["processes"]}), len(run["processes"]))

    def check_profiles(self, database, run):
        """Each thread's profile has what its recorded samples stand for: it worked or waited."""
        db = read_database(str(database))
        measured = {metric["name"] for metric in run["metrics"] if metric["state"] != "not measurable"}
        numbers = [db.metric(name, "execution") for name in ("work", "waiting") if name in measured]
        for process in run["processes"]:
            for thread in process["threads"]:
                recorded = sum(event["fates"].get("recorded", {"amount": 0})["amount"]
                               for event in thread["events"])
                values = db.profiles[thread["profile"]].values.get(0, {})
                found = sum(values.get(number, 0) for number in numbers)
                self.assertAlmostEqual(found, recorded, places=9)

    def until_evident(self, look):
        for _ in self.looks():
            look()

    def check_totals(self, database, burned, measurements=None):
        """The views' total is the time of the programs, that say what they `burned`; every thread has
        its profile."""
        run = json.loads((database / "run.json").read_text())
        self.check_log(run, measurements or [self.measurements])
        self.check_profiles(database, run)
        total = self.view(database, "top-down")["root"]["metrics"]["work"]["inclusive"]
        physical = self.view(database, "top-down", "--physical")["root"]["metrics"]["work"]["inclusive"]
        cpu = sum(process["cpu"] for process in run["processes"])
        threads = [thread for process in run["processes"] for thread in process["threads"]]
        self.assertAlmostEqual(total, physical, places=9)
        self.found.time("total", total, burned, cpu, of_ends(len(threads), 0.001), notices=0.15)
        profiles = [thread["profile"] for thread in threads]
        self.assertEqual(sorted(profiles), list(range(1, len(threads) + 1)))
        return run

    def look_at_threads(self, count, *arguments):
        done, _ = self.measure(program("threads"), count, *arguments)
        run = self.check_totals(self.database(self.measurements), int(done.stdout.split()[0]) * 1e-9)
        self.assertEqual([len(process["threads"]) for process in run["processes"]], [count + 1])

    def test_64_threads(self):
        self.until_evident(lambda: self.look_at_threads(64, 20, 64))

    def test_1000_threads(self):
        self.until_evident(lambda: self.look_at_threads(1000, 1, 4))

    def look_at_a_fork_tree(self):
        done, _ = self.measure(program("processes"), "tree", 2, 6, 15)
        run = self.check_totals(self.database(self.measurements), int(done.stdout.split()[0]) * 1e-9)
        self.assertEqual(len(run["processes"]), 43)
        self.assertEqual(len({process["pid"] for process in run["processes"]}), 43)

    def look_at_an_exec_chain(self):
        done, _ = self.measure(program("processes"), "chain", 8, 40)
        run = self.check_totals(self.database(self.measurements),
                                sum(map(int, done.stdout.split()[:-1])) * 1e-9)
        self.assertEqual([process["exec_sequence"] for process in run["processes"]], list(range(8)))

    def test_fork_tree_and_exec_chain(self):
        self.until_evident(self.look_at_a_fork_tree)
        self.until_evident(self.look_at_an_exec_chain)

    def test_a_program_behind_scripts(self):
        """As pyenv's python3 is: every image that the process was is there, the title is the last's."""
        for name, following in (("python3", "env first"), ("first", "sh -c 'exec second'"),
                                ("second", f"{program('recursion')} 5 300")):
            script = self.directory / name
            script.write_text(f"#!/bin/sh\nexec {following}\n")
            script.chmod(0o755)
        self.until_evident(self.look_behind_scripts)

    def look_behind_scripts(self):
        self.measure("env", f"PATH={self.directory}:{os.environ['PATH']}", "python3")
        database = self.database(self.measurements)
        run = self.check_totals(database, 0.3)
        self.assertEqual([process["exec_sequence"] for process in run["processes"]], list(range(7)))
        self.assertEqual([process["state"] for process in run["processes"]], ["exec"] * 6 + ["exit"])
        self.assertEqual(len({process["pid"] for process in run["processes"]}), 1)
        self.assertEqual(run["title"], "recursion")
        (thread,) = run["processes"][-1]["threads"]
        self.assertGreater(sum(event["fates"]["recorded"]["amount"] for event in thread["events"]), 0.25)

    def test_several_measurements_in_one_database(self):
        self.until_evident(self.look_at_several_measurements)

    def look_at_several_measurements(self):
        directories = []
        for depth in (3, 5):
            self.measure(program("recursion"), depth, 200)
            directories.append(self.measurements)
        run = self.check_totals(self.database(*directories), 2 * 0.2, directories)
        self.assertEqual(len(run["processes"]), 2)

    def test_killed_and_damaged_measurements_are_still_used(self):
        self.measure(program("processes"), "tree", 1, 3, 100)
        files = sorted(pathlib.Path(self.measurements).glob("*.hpcrun"))
        self.assertEqual(len(files), 4)
        files[0].write_bytes(files[0].read_bytes()[:-200])
        files[1].write_bytes(b"not a measurement file at all")
        database = self.database(self.measurements, status=1)
        self.assertTrue(any(files[1].name in line for line in self.complaints), self.complaints)
        total = self.view(database, "top-down")["root"]["metrics"]["work"]["inclusive"]
        self.assertGreater(total, 0.19)
        for process in json.loads((database / "run.json").read_text())["processes"]:  # of a cut file, too
            self.assertGreaterEqual(process["cpu"], sum(thread["cpu"] for thread in process["threads"]) - 1e-9)
            self.assertGreaterEqual(process["wall"], max(thread["wall"] for thread in process["threads"]) - 1e-9)

    def test_stripped_binary_and_rebuilt_binary(self):
        source = self.directory / "p.c"
        source.write_text("int main(void) { volatile long n = 0; while (n < 300000000) n++; return 0; }\n")
        binary = self.directory / "p"
        subprocess.run(["gcc", "-O1", "-s", "-o", binary, source], check=True)
        self.measure(binary)
        names = json.dumps(self.view(self.database(self.measurements), "flat"))
        self.assertIn("<p+0x", names)
        subprocess.run(["gcc", "-O1", "-g", "-o", binary, source], check=True)
        no_cache = dict(os.environ, XDG_CACHE_HOME=str(self.directory / "other-cache"))
        database = self.database(self.measurements, status=1, env=no_cache)
        self.assertTrue(any(str(binary) in line for line in self.complaints), self.complaints)
        total = self.view(database, "top-down")["root"]["metrics"]["work"]["inclusive"]
        self.assertGreater(total, 0.05)

    def test_two_time_events(self):
        self.measure("sh", "-c", "sleep 0.4; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done",
                     events=["CPUTIME@f1000", "REALTIME@f1000"])
        top = self.view(self.database(self.measurements), "top-down")
        names = [metric["name"] for metric in top["metrics"]]
        for name in ("work (CPUTIME)", "work (REALTIME)", "off CPU (REALTIME)"):
            self.assertIn(name, names)
        metrics = top["root"]["metrics"]
        cpu, real = (metrics[f"work ({e})"]["inclusive"] for e in ("CPUTIME", "REALTIME"))
        off_cpu, ready = (metrics[f"{name} (REALTIME)"]["inclusive"] or 0 for name in ("off CPU", "ready"))
        self.assertGreater(off_cpu + ready, 0.7)  # the shell waits for sleep, and sleep sleeps
        self.assertAlmostEqual(real - off_cpu, cpu, delta=0.1 * cpu + 0.02)
