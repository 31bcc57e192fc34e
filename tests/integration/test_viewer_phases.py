"""Phases of a run of which everything is known: four workers of a runtime, and what they do when."""
import pathlib
import random
import tempfile
import unittest

import timeline_writer as tw
import v4_writer
import viewer
from timeline_writer import IDLE, OFF_CPU, WORK

PERIOD = 1_000_000
WORKERS = 4


def metrics(*names):
    return [{"name": name, "unit": "s", "state": "measured", "event": "CPUTIME"} for name in names]

# What runs until when, in ms, in how many workers; the others are idle.
PLAN = ((1200, "solve", 4), (3400, "assemble", 1), (4500, "solve", 4), (6000, "output", 4))


class Run:
    """Writes the database of a plan; samples are `step` periods apart."""
    METRICS = metrics("work", "wall", "idleness", "overhead")
    RESTS = IDLE
    AGENTS = [{"name": "minicilk", "version": "1"}]
    NAMES = {}  # of procedures, where these are not those of the plan

    def __init__(self, folder, plan=PLAN, step=1):
        self.line = tw.Timeline(unit=2)
        self.db = v4_writer.Database("program", [metric["name"] for metric in self.METRICS], WORKERS)
        module, file = self.db.module("/home/me/program"), self.db.file("src/home/me/program.c", True)
        main = self.db.entry(1, "main thread").call(self.db.function("main", module, 0x100, file, 100))
        names = sorted({name for _, name, _ in plan if name})
        self.statements = {}
        for n, name in enumerate(names, 1):
            procedure = self.db.function(self.NAMES.get(name, name), module, 0x1000 * n, file, 10 * n)
            statement = main.statement(file, 109 + n).call(procedure).statement(file, 10 * n + 5)
            self.statements[name] = self.innermost(name, statement, module, file)
        for statement in self.statements.values():  # so that all have values, and ids
            for profile in range(1, WORKERS + 1):
                statement.charge(0.0, 0, profile)
        self.rng = random.Random(1)
        self.samples = list(self.sample(plan, step))
        for profile, _, amount, name, n in self.samples:
            if name:
                self.statements[name].charge(amount / 1e9, 0, profile)
                self.statements[name].charge(amount / n / 1e9, 1, profile)
                self.statements[name].charge(amount * (WORKERS - n) / n / 1e9, 2, profile)
                if self.waiters(name):
                    self.statements[name].charge(amount * self.waiters(name) / 1e9, 4, profile)
        v4_writer.write_database(self.db, folder)
        self.write(pathlib.Path(folder), plan)

    def sample(self, plan, step):
        for profile in range(1, WORKERS + 1):
            time = 0
            while time < plan[-1][0] * 1e6:
                amount = round(step * PERIOD * self.rng.uniform(0.5, 1.5))
                time += amount
                name, n = next(((name, n) for end, name, n in plan if time <= end * 1e6), plan[-1][1:])
                yield profile, time, amount, name if profile <= n else None, n

    def innermost(self, name, statement, module, file):
        """Where the samples of a procedure are, from a statement of it."""
        return statement

    def waiters(self, name):
        return 0

    def adapt(self, process):
        """Changes what run.json has of the process."""

    def write(self, folder, plan):
        end = plan[-1][0] / 1000
        places = {(name, n): self.line.place(self.statements[name].id, 0, WORKERS, n, self.waiters(name))
                  for _, name, n in plan if name}
        idle = self.line.place(0)
        for profile, time, amount, name, n in self.samples:
            if name:
                self.line.record(profile, time, amount, WORK, places[name, n], worker=True)
            else:
                self.line.record(profile, time, amount, self.RESTS, idle)
        self.line.write(folder)
        threads = [{"index": i, "tid": 70 + i, "name": "program", "kind": "initial" if i == 0 else "pthread",
                    "profile": i + 1, "begin": 0.0, "wall": end, "cpu": end,
                    "events": [{"event": "CPUTIME", "source": "", "note": "", "samples": 6000, "rate": 1000.0,
                                "fates": {"fired": {"count": 6000, "amount": end}}}]} for i in range(WORKERS)]
        process = {"index": 0, "host": "h", "pid": 70, "origin": "launched", "command": "program",
                   "executable": "/home/me/program", "workers": WORKERS, "cpus": WORKERS, "wall": end, "cpu": WORKERS * end,
                   "time_line_begin": 0, "threads": threads}
        self.adapt(process)
        viewer.describe_run(folder, self.METRICS, events=[{"name": "CPUTIME", "unit": "s", "period": 0.001}],
                            agents=self.AGENTS, processes=[process])


class OneThread(Run):
    """A plan such as "A500 s1000 B500", in ms: one thread works in procedures A and B, and sleeps. By CPUTIME it has no
    samples then."""
    RESTS = OFF_CPU

    def __init__(self, folder, letters, step, sees_sleep):
        end, plan, self.sees_sleep = 0, [], sees_sleep
        for part in letters.split():
            end += int(part[1:])
            plan.append((end, None if part[0] == "s" else part[0], 1))
        super().__init__(folder, tuple(plan), step)

    def sample(self, plan, step):
        self.rng.seed(len(plan) * plan[-1][0])
        time = 0
        while time < plan[-1][0] * 1e6:
            amount = round(step * PERIOD * self.rng.uniform(0.5, 1.5))
            end, name = next(((end, name) for end, name, _ in plan if time < end * 1e6), plan[-1][:2])
            if name or self.sees_sleep:
                time += amount
                yield 1, time, amount, name, 1
            else:
                time = end * 1e6


class Disturbed(OneThread):
    """Others have the CPU for half of the first second; then the thread sleeps for a second."""
    AGENTS = []

    def __init__(self, folder):
        super().__init__(folder, "A1000 s1000", 1, False)

    def sample(self, plan, step):
        for ms in range(1, 1001, 2):
            yield 1, ms * 1e6, PERIOD, "A", 1

    def adapt(self, process):
        del process["threads"][1:]
        for of in process, process["threads"][0]:
            of.update(cpu=0.5, ready=0.5)


class Stripped(OneThread):
    """hpcstruct gives code without a name that of its place."""
    NAMES = {"A": "<program+0x1000>"}


class TooFine(Run):
    """All that workers do is overhead; others have the CPUs for half of the time."""
    METRICS = metrics("overhead", "wall", "idleness", "work")

    def adapt(self, process):
        process["cpu"] = process["ready"] = WORKERS * process["wall"] / 2
        for thread in process["threads"]:
            thread["cpu"] = thread["ready"] = process["wall"] / 2


class TwoThreads(Run):
    """Plain threads: both work at the same times, half of 3 s; then the first one works alone for 1 s."""
    AGENTS = []

    def __init__(self, folder):
        super().__init__(folder, ((3000, "both", WORKERS), (4000, "alone", WORKERS)))

    def sample(self, plan, step):
        for ms in range(1, 4001):
            if ms > 3000:
                yield 1, ms * 1e6, PERIOD, "alone", WORKERS
            elif ms % 2:
                yield 1, ms * 1e6, PERIOD, "both", WORKERS
                yield 2, ms * 1e6, PERIOD, "both", WORKERS

    def adapt(self, process):
        process["cpu"] = 4.0
        del process["threads"][2:]
        for thread, cpu in zip(process["threads"], (2.5, 1.5)):
            thread["cpu"] = cpu


class Callers(OneThread):
    """Each procedure calls another of its own, that one of a package, and all of these call the same one,
    which calls itself."""

    def innermost(self, name, statement, module, file):
        package = self.db.module("/usr/lib/x86_64-linux-gnu/libpackage.so.1")
        inner = self.db.function(f"in {name}", module, 0x200 + ord(name), file, 200)
        below = statement.call(inner).statement(file, 205)
        of_package = below.call(self.db.function(f"package {name}", package, 0x100 + ord(name))).statement(file, 0)
        self.visit = getattr(self, "visit", None) or self.db.function("visit", module, 0x300, file, 300)
        return of_package.call(self.visit).statement(file, 305).call(self.visit).statement(file, 305)


class OfSystem(OneThread):
    """Libc's code alone; that of A and B is called by start code."""

    def innermost(self, name, statement, module, file):
        libc = self.db.module("/lib/x86_64-linux-gnu/libc.so.6")
        self.start = getattr(self, "start", None) or self.db.function("__libc_start_call_main", libc, 0x80)
        thread = self.db.entry(1, "main thread")
        caller = thread if name == "C" else thread.call(self.start)
        return caller.call(self.db.function(f"of {name}", libc, 0x100 + ord(name)))


class Parallel(Run):
    """Plain threads by CPUTIME, with samples only where they work. `plan` has pairs of an end in ms and the number of
    threads in one procedure, `work`. Others have the CPU for up to `taken` ms before a sample. All of a thread's
    samples but one in `awake` come after a sleep of about `sleep` ms."""
    AGENTS = []
    PERIOD = 5 * PERIOD

    def __init__(self, folder, plan, seed=1, taken=0, awake=0, sleep=0):
        self.seed, self.taken, self.awake, self.sleep = seed, taken, awake, sleep
        super().__init__(folder, tuple((end, "work", n) for end, n in plan))

    def sample(self, plan, step):
        self.rng.seed(self.seed)
        for profile in range(1, WORKERS + 1):
            begin = 0
            for end, name, n in plan:
                time = begin * 1e6 + self.rng.uniform(0, self.PERIOD)
                while profile <= n and time <= end * 1e6:
                    amount = self.PERIOD * self.rng.uniform(0.5, 1.5)
                    yield profile, time, min(amount, time - begin * 1e6), name, n
                    time += amount + 1e6 * self.rng.uniform(0, self.taken)
                    if self.awake and self.rng.random() < 1 / self.awake:
                        time += 1e6 * self.rng.expovariate(1 / self.sleep)
                begin = end


class Locks(Run):
    """By CPUTIME: all threads work for 1 s, then for 2 s three of them wait for the lock of the first one.
    `locks`: seconds of waiting by name; `ready`: seconds for which each thread was ready while others had the CPUs,
    half of the time."""
    METRICS = metrics("work", "wall", "idleness", "overhead", "lock blame", "lock wait")
    AGENTS = []

    def __init__(self, folder, locks=None, ready=0):
        self.locks, self.ready = locks or {}, ready
        super().__init__(folder, ((1000, "works", WORKERS), (3000, "holds", WORKERS)))

    def adapt(self, process):
        process.update(cpus=2, ready=WORKERS * self.ready)
        for thread in process["threads"]:
            thread.update(ready=self.ready, timeslices=9)

    def sample(self, plan, step):
        for n, (name, seconds) in enumerate(self.locks.items()):
            lock = self.db.function(f"<lock {name}>", self.db.module("/home/me/program"), 0x8000 + 16 * n)
            self.statements["works"].call(lock).charge(seconds, self.db.metrics.index("lock wait"), 2)
        for ms in range(1, 3001, 2 if self.ready else 1):
            for profile in range(1, 2 if ms > 1000 else WORKERS + 1):
                yield profile, ms * 1e6, PERIOD, "holds" if ms > 1000 else "works", WORKERS

    def waiters(self, name):
        return WORKERS - 1 if name == "holds" else 0


def scaled(letters, seconds):
    """The same parts in a run of another length."""
    parts = [(part[0], float(part[1:])) for part in letters.split()]
    whole = sum(length for _, length in parts)
    return " ".join(f"{letter}{round(1000 * length * seconds / whole)}" for letter, length in parts)


class ShortRuns(unittest.TestCase):
    def phases(self, letters, step, sees_sleep):
        with tempfile.TemporaryDirectory() as folder:
            OneThread(folder, letters, step, sees_sleep)
            return viewer.printed_json("phases", folder)["phases"]

    def expect(self, letters, step, sees_sleep):
        found = self.phases(letters, step, sees_sleep)
        ends = [phase["end"] for phase in found]
        self.assertEqual(len(found), len(letters.split()), ends)
        end = 0
        for part, phase in zip(letters.split(), found):
            end += float(part[1:]) / 1000
            self.assertAlmostEqual(phase["end"], end, delta=0.002 * step)
            if part[0] != "s":
                self.assertEqual(phase["procedure"], part[0])

    def test_each_part_is_a_phase_whatever_the_length_of_the_run(self):
        for letters in "A1 B2 A1", "A1 B1 A1 B1", "A1 B2 C1", "A1 B1 C1", "A1 s2 A1", "A1 s2 B1", "s1 A1":
            for seconds in 1, 1.2, 1.5, 2, 3, 6:
                for step, sees_sleep in (5, False), (5, True), (1, False):
                    plan = scaled(letters, seconds)
                    with self.subTest(plan=plan, step=step, sees_sleep=sees_sleep):
                        self.expect(plan, step, sees_sleep)

    def test_code_without_a_name_is_its_module_s(self):
        with tempfile.TemporaryDirectory() as folder:
            Stripped(folder, scaled("A1 B1", 3), 5, False)
            self.assertEqual([phase["procedure"] for phase in viewer.printed_json("phases", folder)["phases"]],
                             ["program", "B"])

    def test_callers_are_told_apart(self):
        for plan in "A1 B2 A1", "A1 B1 C1", "A1 B1 C1 D1 A1":
            for seconds in 1.5, 4:
                with self.subTest(plan=plan, seconds=seconds), tempfile.TemporaryDirectory() as folder:
                    Callers(folder, scaled(plan, seconds), 5, False)
                    found = viewer.printed_json("phases", folder)["phases"]
                    self.assertEqual([phase["procedure"] for phase in found],
                                     [f"in {part[0]}" for part in plan.split()])

    def test_start_code_names_no_phase(self):
        """All of the first one is below it, and 70 % of that in another procedure."""
        with tempfile.TemporaryDirectory() as folder:
            OfSystem(folder, "A35 B15 " * 20 + "C1000", 5, False)
            self.assertEqual([phase["procedure"] for phase in viewer.printed_json("phases", folder)["phases"]],
                             ["of A", "of C"])

    def test_what_is_in_all_phases_names_the_only_one(self):
        with tempfile.TemporaryDirectory() as folder:
            Callers(folder, scaled(" ".join(["A1", "B1"] * 40), 2), 5, False)
            (phase,) = viewer.printed_json("phases", folder)["phases"]
            self.assertEqual(phase["procedure"], "visit")

    def test_one_procedure_is_one_phase(self):
        for seconds in 1, 1.2, 1.5, 2, 3, 6:
            for plan in scaled("A1", seconds), scaled(" ".join(["A1", "B1"] * round(20 * seconds)), seconds):
                for step in 1, 5:
                    with self.subTest(plan=plan, step=step):
                        self.assertEqual(len(self.phases(plan, step, False)), 1)

    def test_a_sleep_that_is_not_seen_is_no_work(self):
        _, sleep, _ = self.phases("A500 s500 B1 s500 A500", 5, False)
        self.assertEqual(sleep["advice"], "Nothing used a CPU.")
        self.assertIsNone(sleep["procedure"])
        self.assertLess(sleep["threads_at_work"], 0.01)

    def test_a_thread_that_hardly_works(self):
        """For 1 s it works for 5 ms in each 125."""
        sleep = self.phases(f"A500 {'s120 B5 ' * 8}A500", 1, False)[1]
        self.assertRegex(sleep["advice"], r"^A CPU was used for [34](\.\d)? % of the time\.$")
        self.assertAlmostEqual(sleep["threads_at_work"], 0.04, delta=0.01)

    def test_doubt_about_short_runs_is_said(self):
        for seconds, words in (0.4, "too few samples to look for phases"), (0.8, "The run is short"), (3, None):
            with tempfile.TemporaryDirectory() as folder:
                OneThread(folder, scaled("A1 B1", seconds), 5, False)
                text = viewer.printed("phases", folder)
            for said in "too few samples to look for phases", "The run is short":
                self.assertEqual(said in text, said == words, text)

    def test_a_thread_that_sleeps_wants_no_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            Disturbed(folder)
            for piece, says in ("0:1s", True), ("1.2s:1.8s", False):
                text = viewer.printed("summary", f"{folder}@{piece}")
                self.assertEqual("Others had the CPUs" in text, says, text)
                self.assertEqual("threads waited for a CPU for at least 0.5 s and ran for 0.5 s." in text, says, text)
            *_, last = viewer.printed_json("phases", folder)["phases"]
            self.assertEqual(last["advice"], "Nothing used a CPU; others may have had the CPUs.")

    def test_what_was_not_measured_is_no_zero(self):
        for phase in self.phases("A500 B1000 A500", 5, False):
            self.assertEqual(phase["percent"],
                             {"work": 100, "overhead": 0, "waiting": None, "ready": None, "off_cpu": None})
        self.assertEqual(self.phases("A500 s1000 A500", 5, True)[1]["percent"]["off_cpu"], 100)


class ThreadsAtWork(unittest.TestCase):
    """One procedure, by CPUTIME: only the number of threads at work changes."""

    def ends(self, plan, **how):
        with tempfile.TemporaryDirectory() as folder:
            Parallel(folder, plan, **how)
            return [phase["end"] for phase in viewer.printed_json("phases", folder)["phases"]]

    def expect(self, plan, **how):
        found = self.ends(plan, **how)
        self.assertEqual(len(found), len(plan), found)
        for end, (ms, _) in zip(found, plan):
            self.assertAlmostEqual(end, ms / 1000, delta=1.5 * Parallel.PERIOD / 1e9 + how.get("taken", 0) / 1000)

    def test_each_number_of_threads_is_a_phase(self):
        for numbers in (1, 2, 1, 2), (2, 1, 2), (1, 4), (4, 3):
            for part in 500, 1000, 2000:
                plan = [(part * (i + 1), n) for i, n in enumerate(numbers)]
                with self.subTest(plan=plan):
                    self.expect(plan)

    def test_others_that_have_the_cpus_do_not_hide_it(self):
        for seed in range(5):
            self.expect([(1500, 1), (3000, 2), (4500, 1), (6000, 2)], seed=seed, taken=20)

    def test_threads_that_go_on_in_the_same_way_are_one_phase(self):
        for threads in 1, 2, 4:
            for how in ({}, {"taken": 40}, {"awake": 1, "sleep": 10}, {"awake": 3, "sleep": 50},
                        {"awake": 8, "sleep": 150}):
                for seed in range(4):
                    with self.subTest(threads=threads, how=how, seed=seed):
                        self.assertEqual(len(self.ends([(5000, threads)], seed=seed, **how)), 1)


class Phases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.db = pathlib.Path(folder.name) / "db"
        Run(cls.db)

    def test_phases_begin_when_they_do(self):
        phases = viewer.printed_json("phases", self.db)["phases"]
        self.assertEqual([p["procedure"] for p in phases], [name for _, name, _ in PLAN])
        for phase, (end, _, n) in zip(phases, PLAN):
            self.assertAlmostEqual(phase["end"], end / 1000, delta=0.0015)
            self.assertAlmostEqual(phase["threads_at_work"], n, delta=0.02)
            self.assertAlmostEqual(phase["idleness_percent_of_effort"], 25 * (WORKERS - n), delta=0.5)
            self.assertEqual(phase["percent"]["work"], 100)
        self.assertEqual(phases[0]["begin"], 0)
        for before, phase in zip(phases, phases[1:]):
            self.assertEqual(phase["begin"], before["end"])
            self.assertAlmostEqual(phase["wall"], phase["end"] - phase["begin"])

    def test_text_and_csv_have_the_same(self):
        phases = viewer.printed_json("phases", self.db)["phases"]
        text = viewer.printed("phases", self.db)
        csv = viewer.printed("phases", "--format", "csv", self.db).splitlines()
        self.assertEqual(len(csv), 5)
        for phase, line in zip(phases, csv[1:]):
            self.assertTrue(line.startswith(f"{phase['phase']},"))
            self.assertIn(f"{phase['begin']:9.3f}{phase['end']:9.3f}", text)
            self.assertIn(phase["advice"], text)

    def test_a_phase_is_a_piece_of_time(self):
        phase = viewer.printed_json("phases", self.db)["phases"][1]
        summary = viewer.printed_json("summary", "--phase", 2, self.db)
        self.assertAlmostEqual(summary["range"]["from"], phase["begin"])
        self.assertAlmostEqual(summary["range"]["to"], phase["end"])
        self.assertIn("phase 2 of 4", summary["title"])
        wall = phase["wall"]
        self.assertAlmostEqual(summary["metrics"]["work"], wall, delta=0.002)
        self.assertAlmostEqual(summary["metrics"]["idleness"], 3 * wall, delta=0.006)
        self.assertAlmostEqual(summary["processes"][0]["wall"], wall)
        (finding,) = viewer.parallelization(summary)
        self.assertAlmostEqual(finding["idleness_percent_of_effort"], 75, delta=0.5)
        self.assertEqual(finding["scope"], "assemble")

    def test_advice_on_the_whole_run_names_the_phase(self):
        summary = viewer.printed_json("summary", self.db)
        (finding,) = viewer.parallelization(summary)
        self.assertEqual(finding["phase"], 2)
        self.assertGreater(finding["percent_in_phase"], 99)
        self.assertRegex(finding["text"], r"of the idleness is in phase 2 of 4 \(1\.2 to 3\.4 s\): assemble, 1\.0 threads at "
                                          r"work; 7\d % idle there, (0|<0\.\d+|0\.\d+) % elsewhere\.$")

    def expect_advice(self, run, begin, end):
        """One finding of that run begins and ends so."""
        with tempfile.TemporaryDirectory() as folder:
            run(folder)
            (text,) = [finding["text"] for finding in viewer.printed_json("summary", folder)["advice"]
                       if finding["text"].startswith(begin)]
            self.assertTrue(text.endswith(end), text)

    def test_threads_that_work_at_the_same_times_are_not_alone(self):
        self.expect_advice(TwoThreads, "Only the main thread",
                           " 100 % of that time is in phase 2 of 2 (3.0 to 4.0 s): alone, 1.0 threads at work; 100 % of the "
                           "time there, 0 % elsewhere.")

    def test_idleness_that_others_may_have_made_has_no_phase(self):
        self.expect_advice(TooFine, "Too fine a grain: overhead is 100 % of the CPU time", "; larger tasks may help.")

    def test_threads_that_wait_for_a_lock_have_time(self):
        self.expect_advice(Locks, "Lock",
                           " 100 % of the waiting is in phase 2 of 2 (1.0 to 3.0 s): holds, 1.0 threads at work; 75 % of the "
                           "threads' time there, 0 % elsewhere.")

    def test_a_piece_of_time_says_for_which_lock_threads_wait(self):
        """In 1 s of 2, three of them do, while the first one has a CPU. What others take from the program comes first, and
        hides nothing. If the run has several locks, it is not known for which one they wait in the piece."""
        held = ", 100 % of that while holds, program.c:15 holds it"
        for locks, ready, begin, end in (({"queue": 6}, 0, "Lock queue: threads wait at least 2.8 s", held),
                                         ({"queue": 6}, 9, "Lock queue: threads wait at least 1.3 s", held),
                                         ({"queue": 6, "other": 1}, 0, "Locks: threads wait at least 2.8 s", held),
                                         ({"GIL": 6, "other": 0.1}, 9, "The GIL is held 100 % in holds, program.c:15, while others "
                                          "wait for at least 1.3 s in all: use processes, or a library that releases it.", "")):
            with tempfile.TemporaryDirectory() as folder, self.subTest(locks=locks, ready=ready):
                Locks(folder, locks, ready)
                found = viewer.printed_json("summary", "--from", "1.5s", "--to", "2.5s", folder)["advice"]
                self.assertEqual([f["kind"] for f in found[:1 + (ready > 0)]], ["no cpu"] * (ready > 0) + ["lock"])
                text = found[ready > 0]["text"]
                self.assertTrue(text.startswith(begin) and end in text, text)

    def test_the_holder_of_the_gil_is_not_that_of_other_locks(self):
        """`lock blame` is that of all locks."""
        with tempfile.TemporaryDirectory() as folder:
            Locks(folder, {"GIL": 6, "other": 1}, 0)
            found = viewer.printed_json("summary", folder)["advice"]
            text, = (f["text"] for f in found if f["kind"] == "lock")
            self.assertTrue(text.startswith("Lock GIL (86 %) and others: threads wait"), text)

    def test_what_idle_is_stands_below_its_column(self):
        for run, is_there in (Run, True), (Locks, False):
            with tempfile.TemporaryDirectory() as folder, self.subTest(run=run):
                run(folder)
                text = viewer.printed("phases", folder)
                self.assertEqual("threads idle," in text, is_there, text)
                self.assertEqual("Idle: workers without work" in text, is_there, text)

    def test_a_phase_is_not_named_where_all_are_alike(self):
        with tempfile.TemporaryDirectory() as folder:
            Run(folder, ((2000, "solve", 2), (4000, "assemble", 2)))
            (finding,) = viewer.parallelization(viewer.printed_json("summary", folder))
            self.assertNotIn("phase", finding)
            self.assertEqual(len(viewer.printed_json("phases", folder)["phases"]), 2)

    def test_a_long_phase_is_not_named_for_being_long(self):
        with tempfile.TemporaryDirectory() as folder:
            Run(folder, ((4000, "solve", 1), (4800, "assemble", 1)))
            (finding,) = viewer.parallelization(viewer.printed_json("summary", folder))
            self.assertNotIn("phase", finding)
            self.assertEqual(len(viewer.printed_json("phases", folder)["phases"]), 2)

    def test_a_stationary_run_has_one_phase(self):
        with tempfile.TemporaryDirectory() as folder:
            Run(folder, ((4000, "solve", 3),))
            (phase,) = viewer.printed_json("phases", folder)["phases"]
            self.assertEqual((phase["begin"], phase["procedure"]), (0, "solve"))

    def test_intervals_are_those_of_a_thinned_trace(self):
        intervals = []
        for step in 1, 16:
            with tempfile.TemporaryDirectory() as folder:
                Run(folder, step=step)
                summary = viewer.printed_json("summary", "--from", "0.2s", "--to", "2.2s", folder)
                low, high = viewer.parallelization(summary)[0]["idleness_interval"]
                intervals.append(high - low)
        self.assertGreater(intervals[1], 1.9 * intervals[0])  # idleness comes in spells of 4 ms at least

    def test_threads_are_chosen_in_a_piece_of_time(self):
        wall = viewer.printed_json("phases", self.db)["phases"][1]["wall"]
        for expression, n in ("70/70$", 1), ("70/7[01]$", 2), (".", 4):
            shown = viewer.printed_json("flat", "--phase", 2, "--threads", expression, self.db)
            self.assertAlmostEqual(shown["root"]["metrics"]["work"]["inclusive"], wall, delta=0.002)
            self.assertIn(f"threads: {expression} ({n} of 4)", shown["title"])
            self.assertIn("phase 2 of 4", shown["title"])
        threads = viewer.printed_json("threads", "--phase", 2, "--threads", "70/7[01]$", self.db)["threads"]
        self.assertEqual([round(thread["metrics"]["work"], 1) for thread in threads], [2.2, 0])

    def test_what_there_is_not_is_said(self):
        for arguments, cause in ((("--phase", 9), "there are 4 phases, no phase 9"),
                                 (("--from", "3s", "--to", "2s"), "this piece of time is empty: its end is not after its begin"),
                                 (("--from", "70s"), "this piece of time is empty: the time line ends at 6"),
                                 (("--from", "soon"), "--from takes a time such as 1.2s, 300ms or 40%, not 'soon'"),
                                 (("--from", "140%"), "--from takes a time"),
                                 (("--phase", "0"), "--phase takes the number of a phase from 1"),
                                 (("--phase", 1, "--to", "1s"), "leave out --from and --to"),
                                 (("--from", "1s", "--print", "phases"), "phases are those of the whole run")):
            with self.subTest(arguments=arguments):
                done = viewer.run("--print", "flat", *arguments, self.db)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(cause, done.stderr)

    def test_the_run_that_lacks_a_phase_is_named(self):
        for other in f"{self.db}@9s:", f"{self.db}@phase9", f"{self.db}@during:nothing":
            done = viewer.run("--print", "flat", f"{self.db}@phase1", other)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertTrue(done.stderr.startswith(f"hpcviewer: {self.db}: "), done.stderr)

    def test_phases_of_a_piece_are_refused_however_it_is_written(self):
        for piece in "@1s:2s", "@phase2":
            done = viewer.run("--print", "phases", f"{self.db}{piece}")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"{piece}: phases are those of the whole run", done.stderr)

    def test_a_damaged_run_of_some_nanoseconds_has_phases(self):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(folder, ((2000, "solve", 4), (4000, "assemble", 4)), step=8)
            end = max(record[0] for records in run.line.threads.values() for record in records)
            for profile, records in run.line.threads.items():
                run.line.threads[profile] = [(90 * time // end, place, word) for time, place, word in records]
            run.line.unit, run.line.shift = 1, 55
            run.line.write(pathlib.Path(folder))
            path = pathlib.Path(folder) / "run.json"
            path.write_text(path.read_text().replace('"time_line_begin"', '"unknown"'))
            viewer.printed_json("phases", folder)

    def test_a_database_without_time_line_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            Run(folder)
            (pathlib.Path(folder) / "timeline.db").unlink()
            for view, arguments in ("flat", ("--to", "1s")), ("phases", ()):
                done = viewer.run("--print", view, *arguments, folder)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("has no time line", done.stderr)
            viewer.printed("summary", folder)

    def test_pieces_are_compared(self):
        compared = viewer.printed_json("flat", f"{self.db}@0:1.2s", f"{self.db}@phase2")
        row = viewer.find(compared["root"], "assemble")
        self.assertAlmostEqual(row["metrics"]["work difference"]["inclusive"], 2.2, delta=0.01)
        done = viewer.run("--print", "flat", f"{self.db}@never", self.db)
        self.assertEqual(done.returncode, 2)
        self.assertIn("after @ comes a piece of time", done.stderr)

    def test_trees_say_their_piece_of_time(self):
        shown = viewer.printed_json("top-down", "--from", "25%", "--to", "2000ms", self.db)
        self.assertAlmostEqual(shown["range"]["from"], 1.5, delta=0.001)
        self.assertEqual((shown["range"]["to"], shown["range"]["step"]), (2, 1))
        self.assertIn("time: 1.5002 s to 2 s", viewer.printed("top-down", "--from", "25%", "--to", "2000ms", self.db))


if __name__ == "__main__":
    unittest.main()
