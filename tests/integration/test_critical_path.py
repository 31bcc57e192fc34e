"""Wake-ups and the critical path of a program that measures its own."""
import collections
import json
import os
import tempfile
import unittest

import openmp_case
import profiling
import timeline_reader
import viewer
from profiling import BUILD
from test_viewer_timeline import MS, Phases
from test_viewer_tui import InTerminal

RELAY = BUILD / "tests" / "programs" / "pthread" / "relay"
THREADS = {"prepare": "relay", "locked": "locker", "after_lock": "waiter", "signaled": "waits_for_signal",
           "tail": "waits_at_barrier"}


class KnownPath(profiling.ProfilingTest):
    """Programs that say how long they were in each stage of their critical path. How long each thread was on it is known
    from wake-ups, whatever the number of samples: the estimate is within 3 % of the run's time. What a thread waits for a
    CPU after it was released has a line of its own."""
    measures_time = True

    def analyze(self, *command, event, status=0):
        done, _ = self.measure(*command, events=(event,), status=status)
        stages = collections.Counter()
        for name, ns in map(str.split, done.stdout.splitlines()):
            stages[name] += int(ns) / 1e9
        return stages, self.make_database()

    def check_undisturbed(self, check, *command, event, status=0):
        """`check` gets the stages and the database of a run. The path may be another one if other programs have the CPUs:
        then a thread that is not on it may be late, or one on it stands still: less than the 3 % that are checked are
        enough. So what such a run says is no fault. What others take is counted in ticks, of which one is too many here;
        the time in which threads had no CPU is exact, but may be the program's own doing. So both must say so."""
        for _ in range(3):
            stages, db = self.analyze(*command, event=event, status=status)
            try:
                return check(stages, db)
            except AssertionError:
                processes = json.loads((db / "run.json").read_text())["processes"]
                without_cpu = sum(process["ready"] for process in processes) + self.stolen
                if min(self.taken_by_others, without_cpu) < 0.02 * max(process["wall"] for process in processes):
                    raise
        return self.skipTest("other programs had the CPUs")

    def check_path(self, stages, db):
        """The path as hpcviewer prints it."""
        shown = viewer.printed_json("critical-path", db)
        wall, = (process["wall"] for process in viewer.printed_json("summary", db)["processes"] if process["pid"] == shown["pid"])
        times = collections.Counter()
        for line in shown["path"]:
            times[line["procedure"].removesuffix("()")] += line["time"]  # in C++: "longest()"
        for name, expected in stages.items():
            self.assertAlmostEqual(times[name], expected, delta=0.03 * wall, msg=(name, shown))
        self.assertLess(times["aside"], 0.03 * wall)
        self.assertAlmostEqual(shown["seconds"], wall, delta=0.03 * wall)
        self.assertAlmostEqual(sum(times.values()), shown["seconds"], delta=1e-6 * wall)
        self.assertEqual(shown["known"], shown["seconds"])
        return shown


class Relay(KnownPath):
    def check_relay(self, stages, db):
        shown = self.check_path(stages, db)
        self.assertEqual(shown["pieces"], 6)
        self.assertEqual({(line["procedure"], line["thread"]) for line in shown["path"] if line["procedure"] in THREADS},
                         set(THREADS.items()))
        return shown, db

    def test_by_wall_clock(self):
        self.check_undisturbed(self.check_relay, RELAY, 100, event="REALTIME@f1000")

    def test_by_cpu_time(self):
        shown, db = self.check_undisturbed(self.check_relay, RELAY, 100, event="CPUTIME@f1000")
        half = viewer.printed_json("critical-path", "--to", "50%", db)
        self.assertAlmostEqual(half["seconds"], shown["seconds"] / 2, delta=0.01 * shown["seconds"])
        self.assertNotIn("tail", [line["procedure"] for line in half["path"]])
        text = viewer.printed("critical-path", db)
        self.assertRegex(text, r"Critical path: 0\.\d+ s in \d pieces")
        self.assertRegex(text, r"\n +0\.\d+ +\d+\.\d +0\.\d+ +\d+  signaled, waits_for_signal\n")

    def check_wake_ups(self, _stages, db):
        """Of each thread: who ended its waits, in their order. A wait for a thread that was released at once is left
        out."""
        line, names = timeline_reader.read_timeline(db), {}
        for thread in json.loads((db / "run.json").read_text())["processes"][0]["threads"]:
            names[thread["profile"]] = thread["start_routine"] or "main"
        found = collections.defaultdict(list, {names[profile]: [names[wake_up.profile] for wake_up in thread.wake_ups]
                                               for profile, thread in line.threads.items()})
        self.assertEqual(found["locker"], ["main"])
        self.assertEqual(found["waiter"], ["main", "locker"])
        self.assertEqual(found["waits_for_signal"], ["main", "waiter"])
        self.assertEqual(found["waits_at_barrier"], ["main", "waits_for_signal"])
        joins = found["main"][2:]  # of threads that took a while to end
        self.assertEqual(found["main"][:2], ["waits_for_signal", "waits_at_barrier"])
        self.assertEqual((len(joins), set(joins) - set(found)), (len(set(joins)), set()))

    def test_wakers(self):
        self.check_undisturbed(self.check_wake_ups, RELAY, 100, event="CPUTIME")

    def test_killed(self):
        """Wake-ups of a killed process are in its arena file."""
        self.check_undisturbed(self.check_wake_ups, RELAY, 100, "kill", event="CPUTIME", status=-9)


class OpenMpPath(openmp_case.OpenMp, KnownPath):
    def check_policies(self, check, source, length, threads=2):
        """Threads that wait sleep or spin. Each that spins has a CPU for itself: it would take that of a thread on the
        path."""
        program = self.build(source)
        policies = [("passive", threads, "REALTIME@f1000"), ("active", 2, "CPUTIME@f1000")]
        for policy, n, event in policies[:len(os.sched_getaffinity(0))]:
            with self.subTest(policy), self.environment(n, policy=policy):
                self.check_undisturbed(check, program, length, event=event)


class Team(OpenMpPath):
    """Two regions, of which the first one creates the threads; a barrier in the second one."""

    def check_team(self, stages, db):
        """Runtimes that create or end threads in many steps have more pieces than the program."""
        self.assertGreaterEqual(self.check_path(stages, db)["pieces"], int(os.environ["OMP_NUM_THREADS"]) + 1)

    def test_team(self):
        self.check_policies(self.check_team, "team-path.c", 100, threads=3)


class TeamOfLlvm(Team):
    compilers = openmp_case.CLANG


class Constructs(OpenMpPath):
    """The path goes over who released a lock or a critical section, created a task, or ended the last one that a thread
    waited for."""

    def test_locks(self):
        self.check_policies(self.check_path, "lock-path.c", 60)

    def test_tasks(self):
        self.check_policies(self.check_path, "task-path.c", 60)


class ConstructsOfLlvm(Constructs):
    compilers = openmp_case.CLANG


del OpenMpPath


class Cursor(InTerminal):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        phases = Phases()
        phases.line.wake_up(1, 800 * MS, 950 * MS, 1000 * MS, 2)
        phases.write(folder)
        self.db = folder

    def test_it_says_who_ended_the_wait(self):
        terminal = self.start(width=100)
        terminal.press("6")
        terminal.until_seen("main > assemble", "cell: working 100 %")
        terminal.press(*["Right"] * 80)
        terminal.until_seen("t 70/71: waiting", "woken by t 70/72 at 0.950 s")


class Known(unittest.TestCase):
    """A second of three threads, of which the first one calls libc, and that the kernel, for its last 0.2 s."""

    def setUp(self, has_wake_ups=True, names=None, stripped=False, waking=0):
        self.db = self.enterContext(tempfile.TemporaryDirectory())
        phases = Phases(names=names, stripped=stripped)
        libc, kernel = phases.db.module("/lib/x86_64-linux-gnu/libc.so.6"), phases.db.module("[kernel]")
        phases.contexts["join"] = phases.contexts["join"].call(phases.db.function("wait_for_end", libc, 64)).call(
            phases.db.function("sleep_there", kernel, 80)).charge(1.0)
        if stripped:
            codec = phases.db.function("<libcodec.so+0x10>", phases.db.module("/usr/lib/libcodec.so"), 16)
            phases.contexts["kernel"] = phases.contexts["kernel"].call(codec).charge(1.0)
        if has_wake_ups:
            phases.line.wake_up(2, 0, 50 * MS, 50 * MS, 1)
        if waking:
            phases.line.wake_up(1, 100 * MS, 150 * MS - waking, 150 * MS, 2)
        phases.write(self.db)
        self.change_processes(lambda processes: processes[0].update(wall=0.95))

    def change_processes(self, change):
        with viewer.changed_run(self.db) as run:
            change(run["processes"])

    def test_samples(self):
        """Those that end on the path. Of two records that a sample leaves in a procedure, it counts once."""
        def samples():
            path = viewer.printed_json("critical-path", self.db)["path"]
            return {line["procedure"]: line["samples"] for line in path}
        self.assertEqual(samples(), {"assemble": 36, "kernel": 40, "join": 20})
        self.change_processes(lambda processes: processes[0].update(threads=processes[0]["threads"][2:3]))
        self.assertEqual(samples(), {"<idle>": 36, "solve": 40})

    def procedures(self, *options):
        return [line["procedure"] for line in viewer.printed_json("critical-path", *options, self.db)["path"]]

    def test_own_code_is_named(self):
        """If there is none, a package's code: what libc or the kernel does is named after its caller."""
        for own in "/home", "!/home":
            with self.subTest(own=own):
                self.assertEqual(set(self.procedures("--own", own)), {"assemble", "kernel", "join"})

    def test_rows_with_little_are_left_out(self):
        """Of text by default, of JSON and CSV if asked for."""
        left_out = r"\n{} with less than {} of the path, {} s in all, {} left out \(--min-percent 0 shows all\)\.\n$"
        self.assertNotIn("left out", viewer.printed("critical-path", self.db))
        text = viewer.printed("critical-path", "--min-percent", "30.5", self.db)
        self.assertIn("assemble", text)
        self.assertNotIn("join", text)
        self.assertRegex(text, left_out.format("1 row", "30.5%", r"0\.\d\d\d", "is"))
        self.assertRegex(viewer.printed("critical-path", "--min-percent", "100", self.db),
                         left_out.format("3 rows", "100%", r"0\.950", "are"))
        self.setUp(waking=2 * MS)
        self.assertRegex(viewer.printed("critical-path", self.db), left_out.format("1 row", "0.5%", r"0\.002", "is"))
        self.assertIn("<waking up>", viewer.printed("critical-path", "--min-percent", "0", self.db))
        self.assertIn("<waking up>", self.procedures())
        self.assertNotIn("<waking up>", self.procedures("--min-percent", "0.5"))
        rows = viewer.printed("critical-path", "--min-percent", "0.5", "--format", "csv", self.db)
        self.assertNotIn("<waking up>", rows)

    def test_long_names_fit_into_their_lines(self):
        """Begin and end of procedure and thread stay; JSON has them whole."""
        name = "numerics::" + "solver_of_equations" * 6 + "<" + "std::vector<double>, " * 9 + "int>::kernel_of_it(long)"
        thread = "worker_that_" + "runs_" * 20 + "along"
        self.setUp(names={"kernel": name})
        self.change_processes(lambda processes: [of.update(start_routine=thread) for of in processes[0]["threads"]])
        line = next(line for line in viewer.printed("critical-path", self.db).split("\n") if "numerics" in line)
        self.assertRegex(line, r" numerics::.*_of_it\(…\), worker_that_.*_along$")
        self.assertLessEqual(len(line), 100)
        self.assertIn(name, self.procedures())

    def test_code_without_names(self):
        """Of a program of a package, which libc calls, and that calls libc and a library. A caller of the same binary says
        more, if it has a name."""
        names = {name: f"<phases+0x{n}>" for n, name in enumerate(("main", "assemble", "solve", "kernel", "join"))}
        self.setUp(names=names, stripped=True)
        self.assertEqual(set(self.procedures("--own", "!/home")), {names["assemble"], "<libcodec.so+0x10>", names["join"]})
        self.setUp(names=names | {"main": "main", "solve": "solve"}, stripped=True)
        self.assertEqual(set(self.procedures("--own", "!/home")), {"main", "<libcodec.so+0x10>"})

    def test_threads_without_wake_ups(self):
        """Measured from outside. The path of a process with one thread is that thread's."""
        self.setUp(has_wake_ups=False)
        done = viewer.run("--print", "critical-path", self.db)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no wake-ups of its threads were recorded", done.stderr)
        self.change_processes(lambda processes: processes[0].update(threads=processes[0]["threads"][:1]))
        self.assertIn("Critical path: 0.950 s in 1 piece", viewer.printed("critical-path", self.db))

    def test_workers_without_names(self):
        def change(processes):
            for thread in processes[0]["threads"]:
                thread["start_routine"] = "<libgomp.so.1+0x1cc40>"
            processes.append(dict(processes[0], pid=71, wall=0.96, threads=[processes[0]["threads"].pop(1)]))
        self.change_processes(change)
        shown = viewer.printed_json("critical-path", self.db)
        self.assertEqual(shown["pid"], 71)  # it ends last
        self.assertIn(("kernel", "worker of libgomp.so.1"), [(line["procedure"], line["thread"]) for line in shown["path"]])
        self.change_processes(lambda processes: (processes.pop(1), processes[0].update(threads=processes[0]["threads"][:1])))
        path = viewer.printed_json("critical-path", self.db)["path"]
        self.assertEqual({line["thread"] for line in path}, {"<libgomp.so.1+0x1cc40>"})

    def test_threads_with_names(self):
        """Of a start routine without one. Threads of a kind differ by numbers. The name of the first thread is inherited."""
        for name, kind in ("Thread-11 (run)", "Thread-# (run)"), ("program", "worker of python3.11"):
            self.setUp()

            def change(processes):
                first, thread, *_ = processes[0]["threads"]
                thread.update(name=name, start_routine="<python3.11+0x1cc40>")
                processes.append(dict(processes[0], pid=71, wall=0.96, threads=[dict(first, profile=9, name="program"), thread]))
                processes[0]["threads"].remove(thread)
            self.change_processes(change)
            path = viewer.printed_json("critical-path", self.db)["path"]
            self.assertIn(("kernel", kind), [(line["procedure"], line["thread"]) for line in path])

    def test_impossible_times(self):
        for begin, wall in (-1, 5), (0, 1e12), (1e300, 1):
            self.change_processes(lambda processes: processes[0].update(time_line_begin=begin, wall=wall))
            done = viewer.run("--print", "critical-path", self.db)
            self.assertEqual((done.returncode, done.stdout), (1, ""), (begin, wall))

    def test_of_several_processes(self):
        alone = viewer.printed("critical-path", self.db)
        self.assertIn("\nCritical path: 0.950 s in 1 piece,", alone)
        self.assertNotIn("another process", alone)
        self.change_processes(lambda processes: processes.append({"pid": 7, "time_line_begin": 0, "wall": 0.5, "threads": []}))
        self.assertRegex(viewer.printed("critical-path", self.db),
                         "\nCritical path of phases 70, which ends last of 2 processes: 0.950 s in 1 piece,.*\n"
                         "It stays in that process: where a thread waits for another process, the path is that wait.\n\n")


if __name__ == "__main__":
    unittest.main()
