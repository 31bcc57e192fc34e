"""Advice for programs without an agent, on small databases with known numbers: from the CPU clocks of
threads, from blocked time, and from code without lines."""
import json
import math
import os
import pathlib

import timeline_writer as tw
import v4_writer
import viewer
from terminal import Terminal
from test_viewer_efficiency import Case

PERIOD = 0.005
SPREAD = 13 / 12  # of increments: their mean square over the square of their mean


def thread(profile, cpu, start_routine=None, kind="created", begin=0.0, wall=10.0, **more):
    return {"index": profile - 1, "tid": 70 + profile, "name": "t", "kind": kind,
            "profile": profile, "begin": begin, "wall": wall, "cpu": cpu, "start_routine": start_routine,
            "events": [], **more}


def spun(seconds):
    """A thread's event with CPU time in which it waited in its runtime."""
    return {"event": "CPUTIME", "fates": {"idle thread": {"count": round(seconds / PERIOD), "amount": seconds}}}


def run_json(threads, wall, cpus=4, events=("CPUTIME",), executable="/home/u/prog", command="prog",
             metrics=("work",)):
    threads[0]["kind"] = "initial"
    return {"format": "hpctoolkit-run", "version": 2, "title": "prog",
            "metrics": [{"name": name, "event": events[0], "unit": "s", "state": "measured"}
                        for name in metrics],
            "events": [{"name": event, "unit": "s", "period": PERIOD} for event in events],
            "processes": [{"pid": 70, "command": command, "executable": executable,
                           "state": "exit", "workers": None, "cpus": cpus, "wall": wall,
                           "cpu": sum(t["cpu"] for t in threads), "threads": threads}]}


class Program:
    """main (p.c:10) calls serial (p.c:20), line 21, and creates threads in line 12, which run
    parallel (p.c:30), line 31."""

    def __init__(self, metrics=("work",), n_threads=1, module="/home/u/prog"):
        self.db = db = v4_writer.Database("prog", metrics, n_threads)
        self.program, self.libc = db.module(module), db.module("/lib/x86_64-linux-gnu/libc.so.6")
        self.file = db.file("/src/p.c")
        self.names = {}
        self.main = db.entry(1, "main thread").call(self.function("main", 10))
        self.thread = self.main.statement(self.file, 12).call(self.of_libc("clone3")) \
            .call(self.of_libc("start_thread")).call(self.function("parallel", 30))

    def function(self, name, line):
        return self.db.function(name, self.program, 16 * line, self.file, line)

    def of_libc(self, name):
        self.names.setdefault(name, self.db.function(name, self.libc, 16 * len(self.names) + 16))
        return self.names[name]


class Advice(Case):
    def advice(self, program, run, *options):
        self.write(program.db, run)
        return viewer.printed_json("summary", *options, self.db)["advice"]

    def of_kind(self, found, kind):
        return [f for f in found if f["kind"] == kind]

    def place(self, finding):
        return finding["scope"], finding["file"], finding["line"]

    def texts(self, *arguments):
        return [finding["text"] for finding in self.advice(*arguments)]


class Threads(Advice):
    def program(self, serial, parts, others=0):
        """Seconds of serial in the main thread, and of parallel in threads 2, 3, ...; and threads
        that do nothing."""
        p = Program(n_threads=len(parts) + 1 + others)
        p.main.statement(p.file, 11).call(p.function("serial", 20)).statement(p.file, 21) \
            .charge(serial)
        body = p.thread.statement(p.file, 31)
        for profile, seconds in enumerate(parts, 2):
            body.charge(seconds, 0, profile)
        return p, [thread(1, serial)] + [thread(i, s, "parallel", wall=max(parts)) for i, s in enumerate(parts, 2)]

    def test_one_thread_runs_alone(self):
        """8 s in the main thread, 3 s in all others: it runs alone for at least 5 s. On 4 CPUs
        these become 1.25 s: 9 s of wall clock become 5.25."""
        p, threads = self.program(8, [1.5, 1.5])
        found = self.advice(p, run_json(threads, 9))[0]
        self.assertEqual((found["kind"], *self.place(found)), ("one thread", "serial", "/src/p.c", 21))
        self.assertAlmostEqual(found["gain"], 9 / 5.25)
        self.assertEqual(found["text"], "Only the main thread runs for at least 5.0 s of 9.0 s, mostly in serial, p.c:21: could "
                                        "win 1.7x on 4 CPUs.")

    def test_the_place_has_most_of_the_time(self):
        """The main thread runs alone for 6 of 12 s. Of 8 s in serial 6 are not the other thread's; of 4 s only 2."""
        for seconds, words in (((8, 0, 0), ", mostly in serial, p.c:21: could"), ((4, 2, 2), "6.0 s of 12 s: could")):
            p = Program(n_threads=2)
            serial = p.main.statement(p.file, 11).call(p.function("serial", 20)).statement(p.file, 21)
            serial.charge(seconds[0]).charge(2, 0, 2)
            for name, line, cost in (("first", 50, seconds[1]), ("second", 60, seconds[2])):
                p.main.statement(p.file, line).call(p.function(name, line)).statement(p.file, line + 1).charge(cost)
            found, = self.of_kind(self.advice(p, run_json([thread(1, 8), thread(2, 2)], 12)), "one thread")
            self.assertIn(words, found["text"])

    def test_what_an_imbalance_explains(self):
        """Of 5, 1 and 1 s, one thread has 3 s more than the others together: of the 12 - 7 s of the main thread, 2 are
        left."""
        p, threads = self.program(12, [5, 1, 1])
        found, = self.of_kind(self.advice(p, run_json(threads, 13)), "one thread")
        self.assertIn("for at least 2.0 s of 13 s", found["text"])
        p, threads = self.program(9.5, [5, 1, 1])
        self.assertEqual(self.of_kind(self.advice(p, run_json(threads, 13)), "one thread"), [])

    def test_threads_that_run_two_at_a_time(self):
        """20 s in 10 s on 4 CPUs: two may run all the time."""
        p, threads = self.program(5, [5, 5, 5])
        self.assertEqual(self.of_kind(self.advice(p, run_json(threads, 10)), "one thread"), [])

    def test_threads_that_run_all_the_time(self):
        p, threads = self.program(4.9, [4.9, 4.9, 4.9])
        found = self.advice(p, run_json(threads, 5))
        self.assertEqual([f["kind"] for f in found], ["hot place"])

    def test_unequal_parts(self):
        """7, 2, 2 and 1 s: 4 s more than the mean."""
        p, threads = self.program(0.01, [7, 2, 2, 1])
        found = self.advice(p, run_json(threads, 8))[0]
        self.assertEqual((found["kind"], *self.place(found)), ("imbalance", "parallel", "/src/p.c", 30))
        self.assertAlmostEqual(found["gain"], 8 / (8 - 4))
        sigma = math.sqrt(SPREAD * PERIOD * (7 * (3 / 4) ** 2 + 5 * (1 / 4) ** 2))  # of 7 - (7 + 2 + 2 + 1) / 4
        self.assertAlmostEqual(found["gain_interval"][1], 8 / (8 - 4 - 1.96 * sigma))
        self.assertLess(found["gain_interval"][0], found["gain"])
        self.assertEqual(found["text"], "Thread 1 has 7 times the work of thread 4 in parallel, p.c:30: equal parts could win "
                                        "2.0x.")

    def test_threads_one_after_another(self):
        """They do not share work: no two are alive at the same time, but for a moment."""
        p, threads = self.program(0.01, [7, 2, 2, 1])
        for i, described in enumerate(threads[1:]):
            described.update(begin=2.0 * i, wall=2.01)
        self.assertEqual(self.of_kind(self.advice(p, run_json(threads, 8)), "imbalance"), [])

    def construct(self, name, parts, ready=None, spins=False):
        """Seconds of threads 1, 2, ... in line 43 of a loop at line 42, in line 41 of a construct that solve contains.
        `ready`: of all. `spins`: threads without work wait on their CPUs."""
        p = Program(n_threads=len(parts))
        region = p.main.statement(p.file, 11).call(p.function("solve", 40)).statement(p.file, 41).call(p.function(name, 41))
        body = region.loop(p.file, 42).statement(p.file, 43)
        for profile, seconds in enumerate(parts, 1):
            body.charge(seconds, 0, profile)
        run = run_json([thread(i, max(parts) if spins else s, "gomp", ready=ready and ready / len(parts),
                               events=spins * [spun(max(parts) - s)]) for i, s in enumerate(parts, 1)], max(parts), 2)
        run["agents"] = [{"name": "gomp"}]
        run["processes"][0]["ready"] = ready
        return self.of_kind(self.advice(p, run), "imbalance")

    def test_unequal_parts_of_a_construct(self):
        """3 and 1 s: 2 s each would be 1.5 times as fast."""
        found, = self.construct("parallel @ p.c:41", [1, 3])
        self.assertEqual(found["text"], "Thread 1 has 3 times the work of thread 0 in the loop at p.c:42: schedule(dynamic) could "
                                        "win 1.5x.")
        self.assertEqual((found["line"], found["gain"]), (42, 1.5))
        found, = self.construct("parallel for @ p.c:41", [1, 3])  # gcc's, of a dynamic schedule
        self.assertIn(": smaller pieces could win 1.5x.", found["text"])
        self.assertEqual(self.construct("parallel @ p.c:41", [2, 2.05]), [])
        found, = self.construct("parallel @ p.c:41", [1, 3], spins=True)
        self.assertEqual(found["gain"], 1.5)

    def test_idleness_of_unequal_parts(self):
        """3 and 1 s of few samples, and 2 s of idleness: the unequal parts say it."""
        p = Program(("work", "idleness"), 2)
        region = p.main.statement(p.file, 11).call(p.function("parallel @ p.c:41", 41))
        body = region.loop(p.file, 42).statement(p.file, 43)
        body.charge(0.13, 0, 1).charge(0.38, 0, 2).charge(0.25, 1, 2)
        run = run_json([thread(1, 0.13, wall=0.4), thread(2, 0.38, "gomp", wall=0.4)], 0.4, 2, metrics=("work", "idleness"))
        run["agents"] = [{"name": "gomp"}]
        run["processes"][0]["workers"] = 2
        self.assertEqual([f["kind"] for f in self.advice(p, run)][:2], ["imbalance", "hot place"])

    def test_unequal_parts_on_a_busy_machine(self):
        """Of a queue, a thread takes what another one leaves to it that is ready for 2.5 s; of a static schedule it does not.
        The mean is 1 s less, and that is less than 2.5 / 2."""
        self.assertEqual(self.construct("parallel for @ p.c:41", [1, 3], 2.5), [])
        found, = self.construct("parallel @ p.c:41", [1, 3], 2.5)
        self.assertTrue(found["text"].endswith("in the loop at p.c:42: schedule(dynamic) may help."), found["text"])

    def test_unequal_parts_of_a_pool(self):
        """Threads of a pool hang below <thread root>; the main thread takes part, below a library of the system: 6, 1 and 2 s,
        3 more than the mean. What the threads take at run time are no parts that the program hands out."""
        p = Program(n_threads=3)
        pool = p.db.module("/usr/lib/libpool.so")
        work, body = p.db.function("pool_work", pool, 64), p.function("body", 40)
        p.main.statement(p.file, 11).call(p.db.function("pool_run", pool, 32)) \
            .call(body).statement(p.file, 41).charge(6)
        shared = p.db.entry(2, "<thread root>").call(work).call(body).statement(p.file, 41)
        shared.charge(1, 0, 2).charge(2, 0, 3)
        run = run_json([thread(1, 6, wall=6), thread(2, 1, "pool_work"), thread(3, 2, "pool_work")], 9)
        found = self.advice(p, run)[0]
        self.assertIn("in body, p.c:40: smaller pieces could win 1.5x", found["text"])
        self.assertEqual((found["kind"], found["scope"]), ("imbalance", "body"))
        self.assertAlmostEqual(found["gain"], 9 / (9 - 3))

    def test_the_longest_waits_itself(self):
        """7, 2, 2 and 1 s again. While the longest waits, others may work that do not wait for it: of 4 s more than the mean,
        1 is certain after a wait of 3, but for what another thread did meanwhile: 2 s of serial code."""
        for wall, serial, excess in ((10, 0.01, 1), (10, 2.01, 3), (11.5, 0.01, 0)):
            p, threads = self.program(serial, [7, 2, 2, 1])
            threads[1]["wall"] = wall
            gains = [f["gain"] for f in self.of_kind(self.advice(p, run_json(threads, 8)), "imbalance")]
            self.assertEqual([round(gain, 2) for gain in gains], [round(8 / (8 - excess), 2)] if excess else [])

    def test_goroutines(self):
        """Threads take them up where they are ready; a thread of cgo begins in C code."""
        for file, n_found in (("/src/p.go", 0), ("/src/p.c", 1)):
            p = Program(n_threads=3)
            at, start = p.db.file(file), p.db.entry(2, "<thread root>").call(p.db.function("threadentry", p.program, 8))
            start.call(p.db.function("main.work", p.program, 640, at, 40)).statement(at, 41).charge(6, 0, 2).charge(1, 0, 3)
            run = run_json([thread(1, 0), thread(2, 6, "start", wall=6), thread(3, 1, "start")], 6)
            self.assertEqual(len(self.of_kind(self.advice(p, run), "imbalance")), n_found, file)

    def test_threads_of_an_installed_program(self):
        """Nobody hands out parts who reads this: 6 and 1 s of what libraries start are not compared."""
        p = Program(n_threads=3, module="/usr/bin/prog")
        start = p.db.entry(2, "<thread root>").call(p.db.function("start", p.db.module("/usr/lib/libstart.so"), 64))
        start.charge(6, 0, 2).charge(1, 0, 3)
        run = run_json([thread(1, 0), thread(2, 6, "start", wall=6), thread(3, 1, "start")], 6)
        self.assertEqual(self.of_kind(self.advice(p, run), "imbalance"), [])

    def test_unequal_parts_of_a_pool_in_the_program(self):
        """Its code is in the program's binary, but Cargo has fetched it."""
        p = Program(n_threads=3)
        at = p.db.file("/home/u/.cargo/registry/src/index.crates.io-6f17d22b/rayon-core-1.12.1/src/registry.rs")
        pool = p.db.entry(2, "<thread root>").call(p.db.function("main_loop", p.program, 64, at, 3))
        pool.call(p.function("body", 40)).statement(p.file, 41).charge(6, 0, 2).charge(1, 0, 3)
        run = run_json([thread(1, 0), thread(2, 6, "main_loop", wall=6), thread(3, 1, "main_loop")], 6)
        found, = self.of_kind(self.advice(p, run), "imbalance")
        self.assertIn("in body, p.c:40: smaller pieces could win", found["text"])

    def test_parts_of_recursive_calls(self):
        """count once: 7, 2, 2 and 1 s again."""
        p, threads = self.program(0.01, [4, 1, 1, 0.5])
        inner = p.thread.statement(p.file, 33).call(p.thread.function).statement(p.file, 31)
        for profile, seconds in enumerate((3, 1, 1, 0.5), 2):
            inner.charge(seconds, 0, profile)
            threads[profile - 1]["cpu"] += seconds
        found = self.advice(p, run_json(threads, 8))[0]
        self.assertIn("Thread 1 has 7 times the work of thread 4", found["text"])

    def test_a_thread_without_a_part(self):
        """A thread without work that began like the others counts: 3, 3 and 0 s."""
        p, threads = self.program(0.01, [3, 3], 1)
        threads.append(thread(4, 0.0, "parallel"))
        found, = self.of_kind(self.advice(p, run_json(threads, 4)), "imbalance")
        self.assertIn("Thread 1 has 3.0 s of work, the mean of 3 is 2.0 s, in parallel, p.c:30: ", found["text"])
        self.assertAlmostEqual(found["gain"], 4 / (4 - 1))

    def test_threads_that_only_begin_alike(self):
        """As all of Python do. The third one does something else: 3 and 1 s."""
        p, threads = self.program(0.01, [3, 1], 1)
        threads.append(thread(4, 0.2))
        for other in threads[1:]:
            other["start_routine"] = "pythread_wrapper"
        found, = self.of_kind(self.advice(p, run_json(threads, 4)), "imbalance")
        self.assertIn("Thread 1 has 3 times the work of thread 2 in parallel, p.c:30: ", found["text"])

    def test_parts_that_differ_by_chance(self):
        """60 samples each, but for chance."""
        p, threads = self.program(0.001, [0.33, 0.30, 0.27, 0.30])
        self.assertEqual(self.of_kind(self.advice(p, run_json(threads, 0.35)), "imbalance"), [])


class Blocked(Advice):
    METRICS = ("work", "off CPU")

    def program(self, waits):
        """Seconds blocked in procedures of libc that line 32 of parallel calls, in thread 2."""
        p = Program(self.METRICS, 3)
        p.main.statement(p.file, 13).charge(9.9, 0).charge(0.1, 0, 2)
        for name, seconds in waits.items():
            where = p.thread.statement(p.file, 32)
            if name:
                where = where.call(p.of_libc(name)).call(p.of_libc("futex_wait"))
            where.charge(seconds, 0, 2).charge(seconds, 1, 2)
        return p

    def run_of(self, cpu=(5, 1, 1), cpus=2):
        threads = [thread(i, s) for i, s in enumerate(cpu, 1)]
        return run_json(threads, 10, cpus, ("REALTIME",), metrics=self.METRICS)

    def test_a_lock(self):
        """6 s of 10 in a lock; one thread has 4 s of CPU time, which remain."""
        found = self.advice(self.program({"__pthread_mutex_lock": 6}), self.run_of((4, 1, 1)))[0]
        self.assertEqual((found["kind"], *self.place(found)), ("blocked", "parallel", "/src/p.c", 32))
        self.assertEqual(found["text"], "A thread waits 60 % of the time for a lock at parallel, p.c:32 (pthread_mutex_lock); could "
                                        "win 2.5x without it.")
        self.assertAlmostEqual(found["gain"], 10 / 4)

    def test_a_lock_of_rust(self):
        """Its system call is in the program itself, below the standard library's procedure, whose source is not the user's."""
        p = self.program({})
        name = "<std::sys::sync::mutex::futex::Mutex>::lock_contended"
        source = p.db.file("/rustc/0123456789abcdef/library/std/src/sys/sync/mutex/futex.rs")
        wait = p.thread.statement(p.file, 32).call(p.db.function(name, p.program, 0x900, source, 50))
        wait.statement(source, 61).call(p.of_libc("syscall")).charge(6, 0, 2).charge(6, 1, 2)
        found = self.advice(p, self.run_of((4, 1, 1)))[0]
        self.assertEqual(found["text"], "A thread waits 60 % of the time for a lock at parallel, p.c:32 "
                                        "(<std::sys::sync::mutex::futex::Mutex>::lock_contended); could win 2.5x without it.")

    def test_another_thread_spins_by_yield(self):
        """Thread 2 sleeps for 9 s of 10. Thread 1 calls sched_yield for 9 s, on a CPU: without the sleep, its 1 s
        remains. If it computes for 9 s, nothing is gained."""
        metrics = ("work", "off CPU", "waiting", "lock blame")
        for spins, gain in ((9, 10), (0, None)):
            p = Program(metrics, 2)
            p.main.statement(p.file, 13).charge(10 - spins, 0).call(p.of_libc("sched_yield")).charge(spins, 2)
            p.thread.statement(p.file, 32).charge(0.01, 0, 2).call(p.of_libc("usleep")).charge(9, 2, 2)
            run = run_json([thread(1, 10), thread(2, 0.01)], 10, 2, ("REALTIME",), metrics=metrics)
            found = self.of_kind(self.advice(p, run), "blocked")
            self.assertEqual([round(f["gain"], 3) for f in found], [gain] if gain else [])

    def test_few_samples(self):
        """6 of 16 s in 29 samples can be 3.6 to 8.8 s; 4 s of the 10 remain."""
        run = self.run_of((4, 1, 1))
        run["events"][0]["period"] = 0.5
        found, = self.of_kind(self.advice(self.program({"pthread_mutex_lock": 6}), run), "blocked")
        self.assertIn("; could win 1.6x to 2.5x without it.", found["text"])

    def test_what_limits_the_gain(self):
        """The rest of the wall clock; CPU time of all, on two CPUs; that of one thread."""
        for cpu, wait, rest in (((2, 2, 2), 5, 5), ((3, 3, 3), 9, 4.5), ((5, 1, 1), 9, 5)):
            found = self.advice(self.program({"pthread_mutex_lock": wait}), self.run_of(cpu))[0]
            self.assertAlmostEqual(found["gain"], 10 / rest)

    def test_python_threads_may_run_one_at_a_time(self):
        """7 s of sleep in 10, 3 threads of 2.4 s: 7.2 s remain if all of that is under the GIL, on two CPUs 3.6 otherwise.
        Threads of OpenBLAS and of extensions do not hold it."""
        for cpu, agent, routine, gain in (((2.4, 2.4, 2.4), "python", "", "1.4x to 2.8x"),
                                          ((2.4, 2.4, 2.4), "python", "pythread_wrapper", "1.4x to 2.8x"),
                                          ((2.4, 2.4, 2.4), "pthread", "", "2.8x"),
                                          ((2.4, 2.4, 2.4), "python", "<python3.11+0x1cc40>", "1.4x to 2.8x"),
                                          ((2.4, 2.4, 2.4), "python", "<libpython3.12.so.1.0+0x80>", "1.4x to 2.8x"),
                                          ((2.4, 2.4, 2.4), "python", "<_core.cpython-311.so+0x80>", "2.8x"),
                                          ((2.4, 2.4, 2.4), "python", "blas_thread_server", "2.8x"),
                                          ((3.6, 3.6, 3.6), "python", "pythread_wrapper", None)):
            with self.subTest(cpu=cpu, agent=agent, routine=routine):
                run = self.run_of(cpu)
                run["agents"] = [{"name": agent, "version": "1"}]
                for each in run["processes"][0]["threads"][1:]:
                    each["start_routine"] = routine
                found = self.of_kind(self.advice(self.program({"usleep": 7}), run), "blocked")
                self.assertEqual([f["text"].endswith(f"; could win {gain} without it.") for f in found], [True] if gain else [])

    def test_a_thread_that_sleeps_while_another_computes(self):
        """10 s of sleep in thread 2 while thread 1 computes for 9.8 s of 10: nothing is gained without the sleep."""
        found = self.advice(self.program({"usleep": 10}), self.run_of((9.8, 0.1, 0.1)))
        self.assertEqual(self.of_kind(found, "blocked"), [])
        self.assertEqual([f["kind"] for f in found], ["hot place"])

    def test_a_thread_that_is_ready_while_another_waits(self):
        """Thread 1 had the CPU for 5 s, and wanted it for 4.8 more."""
        run = self.run_of((5, 1, 1), 1)
        run["processes"][0]["threads"][0]["ready"] = 4.8
        self.assertEqual(self.of_kind(self.advice(self.program({"read": 9}), run), "blocked"), [])

    def test_causes_and_consequences(self):
        """Sleeps, input and barriers are causes; to wait for threads to end is not; conditions may
        be, but nothing is known of what is gained."""
        for name, cause in (("clock_nanosleep", "in a sleep"), ("__libc_read", "for input or output"),
                            ("pthread_barrier_wait", "at a barrier")):
            found, = self.of_kind(self.advice(self.program({name: 6}), self.run_of()), "blocked")
            self.assertIn(f"of the time {cause} at ", found["text"])
        found, = self.of_kind(self.advice(self.program({"pthread_cond_wait": 6}), self.run_of()),
                              "blocked")
        self.assertEqual(found["gain"], None)
        for name in ("__pthread_clockjoin_ex", "epoll_wait", "wait4"):
            found = self.advice(self.program({name: 6}), self.run_of())
            self.assertEqual(self.of_kind(found, "blocked"), [])

    def test_the_larger_gain_comes_first(self):
        p = self.program({"pthread_mutex_lock": 2, "nanosleep": 4})
        p.thread.statement(p.file, 33).call(p.of_libc("read")).charge(1, 0, 2).charge(1, 1, 2)
        found = self.of_kind(self.advice(p, self.run_of()), "blocked")
        self.assertEqual([round(f["gain"], 3) for f in found],
                         [round(10 / 6, 3), round(10 / 8, 3), round(10 / 9, 3)])

    def test_threads_of_several_processes(self):
        """Of 5 processes with one thread each, 4 wait in read for 9.5 of 10 s. What they gain without it is not known."""
        p = Program(self.METRICS, 5)
        where = p.main.statement(p.file, 32).call(p.of_libc("read"))
        for profile in range(2, 6):
            where.charge(9.5, 0, profile).charge(9.5, 1, profile)
        run = run_json([thread(1, 0.1)], 10, 2, ("REALTIME",), metrics=self.METRICS)
        process, = run["processes"]
        run["processes"] += [dict(process, pid=70 + i, threads=[thread(i, 0.05, kind="initial")]) for i in range(2, 6)]
        found, = self.of_kind(self.advice(p, run), "blocked")
        self.assertEqual(found["text"], "4 of 5 threads in 5 processes wait for input or output at main, p.c:32 (read).")

    def test_processes_one_after_the_other(self):
        """A shell lives for 10 s. Of its 10 children, each of which lives for 1 s, the first one uses most CPU time. Each
        sleeps: one at a time; or two wait in each second, and the shell, which waits for them, too."""
        for seconds, wall, words in ((6, 1, "A thread waits 60 % of the time in a sleep"),
                                     (17, 2, "On average, 2 of 3 threads wait in a sleep")):
            p = Program(self.METRICS, 12)
            where = p.main.statement(p.file, 32).call(p.of_libc("usleep"))
            for profile in range(2, 12):
                where.charge(seconds / 10, 0, profile).charge(seconds / 10, 1, profile)
            run = run_json([thread(1, 0.01)], 10, 2, ("REALTIME",), metrics=self.METRICS)
            process, = run["processes"]
            process["origin"] = "launched"
            run["processes"] += [dict(process, pid=70 + i, wall=wall, origin="forked",
                                      threads=[thread(i, 0.1 / i, kind="initial", wall=wall)]) for i in range(2, 12)]
            found, = self.of_kind(self.advice(p, run), "blocked")
            self.assertEqual(found["text"].split(" at ")[0], words)

    def test_a_child_that_sleeps(self):
        """The main thread waits for a child, whose thread 2 sleeps for 6 of 10 s: nobody knows what the program gains. It
        gains 6 s if that thread is its own."""
        p = self.program({"usleep": 6})
        p.main.statement(p.file, 14).call(p.of_libc("wait4")).charge(6, 0).charge(6, 1)
        run = self.run_of((4, 0.05))
        own, = self.of_kind(self.advice(p, run), "blocked")
        self.assertAlmostEqual(own["gain"], 10 / 4)
        process, = run["processes"]
        child = process["threads"].pop()
        run["processes"].append(dict(process, pid=71, threads=[dict(child, kind="initial")]))
        found, = self.of_kind(self.advice(p, run), "blocked")
        self.assertEqual((found["gain"], found["text"].split(" at ")[0]), (None, "A thread waits 60 % of the time in a sleep"))


class LoneWaits(Advice):
    """10 s, by its time line: thread 1 works for 4 s, and then waits for the others to end; thread 3 works from 4 s to 8 s.
    Thread 2 sleeps all the time, as a thread does that looks for something to do again and again."""
    STEP = 10**7  # ns between samples

    def found(self, *options, metric="waiting", own=0, served=None):
        """`own`: seconds for which thread 2 works first; `served`: the thread that waits for events from 8 s on."""
        metrics = ("work", "off CPU", "waiting", "lock blame")
        p = Program(metrics, 4)
        work = p.main.statement(p.file, 13)
        sleep = p.thread.statement(p.file, 32).call(p.of_libc("usleep"))
        join = p.main.statement(p.file, 14).call(p.of_libc("pthread_join"))
        line = tw.Timeline(unit=10)
        event = p.main.statement(p.file, 15).call(p.of_libc("epoll_wait"))
        places = {context: line.place(context.id) for context in (work, sleep, join, event)}
        asleep = tw.OFF_CPU if metric == "off CPU" else tw.WAITING
        for profile, begin, end, state, context in (
                (1, 0, 4, tw.WORK, work), (1, 4, 10, tw.WAITING, join), (3, 4, 8, tw.WORK, work),
                (2, 0, own, tw.WORK, work), (2, own, 10, asleep, sleep),
                *([(served, 8, 10, tw.WAITING, event)] if served else [])):
            for time in range(round(begin * 1e9), round(end * 1e9), self.STEP):
                line.record(profile, time + self.STEP, self.STEP, state, places[context])
            if state == tw.WORK or asleep == state == tw.OFF_CPU:
                context.charge(end - begin, 0, profile)
            if state != tw.WORK:
                context.charge(end - begin, 1 if state == tw.OFF_CPU else 2, profile)
        run = run_json([thread(1, 4), thread(2, own), thread(3, 4), thread(4, 0)], 10, 2, ("REALTIME",), metrics=metrics)
        run["processes"][0]["time_line_begin"] = 0
        self.write(p.db, run)
        line.places = [(context.id, 0, 4, 1, 0, 0) for context in places]
        line.write(pathlib.Path(self.db))
        return self.of_kind(viewer.printed_json("summary", *options, self.db)["advice"], "blocked")

    def test_others_work_meanwhile(self):
        """Thread 1 waits for thread 2 alone from 8 s on: 10 s become 8."""
        for metric in ("waiting", "off CPU"):
            found, = self.found(metric=metric)
            self.assertEqual(found["text"], "A thread waits 100 % of the time in a sleep at parallel, p.c:32 (usleep); could win "
                                            "1.2x without it.")
            self.assertAlmostEqual(found["gain"], 10 / 8, delta=0.02)

    def test_others_wait_for_events(self):
        """From 8 s on thread 3 waits for requests from outside. A thread that only waits for events serves nobody."""
        self.assertEqual(self.found(served=3), [])
        found, = self.found(served=4)
        self.assertAlmostEqual(found["gain"], 10 / 8, delta=0.02)

    def test_the_gain_of_a_piece_of_time_is_that_of_the_run(self):
        """From 8 s on thread 2 sleeps, and nothing else remains: 10 s become 8. From 9.7 s on that is too little to name."""
        found, = self.found("--from", "8s")
        self.assertEqual(found["text"], "A thread waits 100 % of the time in a sleep at parallel, p.c:32 (usleep); could win "
                                        "1.2x without it.")
        self.assertAlmostEqual(found["gain"], 10 / 8, delta=0.02)
        found, = self.found("--from", "9.7s")
        self.assertTrue(found["text"].endswith(" (usleep)."), found["text"])
        self.assertIsNone(found["gain"])

    def test_work_of_the_thread_that_waits(self):
        """It could do its own 1 s while others work, too."""
        found, = self.found(own=1)
        self.assertAlmostEqual(found["gain"], 10 / (8 - 1), delta=0.03)

    def test_a_lock_in_a_piece_of_time(self):
        """Thread 2 waits in line 32 until thread 1, which holds the lock, releases it. That is said once."""
        metrics = ("work", "off CPU", "waiting", "lock blame", "lock wait")
        p = Program(metrics, 2)
        holds = p.main.statement(p.file, 13).charge(8, 0, 1).charge(8, 3, 1)
        call = p.thread.statement(p.file, 32).call(p.of_libc("pthread_cond_timedwait"))
        waits = call.charge(8, 2, 2)
        call.call(p.function("<lock GIL>", 0)).charge(8, 4, 2)
        line = tw.Timeline(unit=10)
        for profile, state, context, waiters in ((1, tw.WORK, holds, 1), (2, tw.WAITING, waits, 0)):
            place = len(line.places)
            line.places.append((context, waiters))
            for time in range(0, 8 * 10**9, self.STEP):
                line.record(profile, time + self.STEP, self.STEP, state, place)
        run = run_json([thread(1, 8), thread(2, 0.1, wall=8)], 8, 2, ("REALTIME",), metrics=metrics)
        run["processes"][0]["time_line_begin"] = 0
        self.write(p.db, run)
        line.places = [(context.id, 0, 2, 1, waiters, 0) for context, waiters in line.places]
        line.write(pathlib.Path(self.db))
        for piece in (), ("--from", "2s", "--to", "6s"):
            found = viewer.printed_json("summary", *piece, self.db)["advice"]
            self.assertEqual([f["kind"] for f in found if f["kind"] in ("lock", "blocked")], ["lock"], piece)
            self.assertIn("GIL is held 100 % in main, p.c:13", found[0]["text"])

    def test_a_piece_of_time(self):
        """Nothing is gained in the first 8 s, and 2 s in the rest."""
        self.assertEqual(self.found("--to", "8s"), [])
        found, = self.found("--from", "6s")
        self.assertAlmostEqual(found["gain"], 10 / 8, delta=0.02)


class System(Advice):
    """A run of hpcrun -a: many processes, none of which was launched."""

    def run_of(self, *programs):
        """Processes of 4 threads on 2 CPUs: a program, its CPU seconds, and those of its life. They are ready for four
        times as long as they run."""
        run = run_json([thread(1, 1)], 10, 2)
        run["title"] = "whole system"
        run["processes"] = [{**run["processes"][0], "pid": 70 + i, "origin": "other", "cpu": cpu,
                             "executable": f"/usr/bin/{name}", "wall": wall, "ready": 4 * cpu, "throttled": 0.0,
                             "threads": [thread(1, cpu / 4, wall=wall, ready=cpu) for _ in range(4)]}
                            for i, (name, cpu, wall) in enumerate(programs)]
        return run

    def summary(self, *programs):
        p = Program()
        p.main.statement(p.file, 13).charge(5)
        self.write(p.db, self.run_of(*programs))
        return viewer.printed_json("summary", self.db)["advice"], viewer.printed("summary", self.db)

    def test_programs(self):
        """The three with most CPU time, if they have 5 % of it. That others had the CPUs is no news, nor that threads of a
        program share them."""
        found, text = self.summary(("cc1", 3, 4), ("sh", 0.1, 10), ("cc1", 2, 5), ("xz", 4, 9), ("bc", 0.9, 1))
        self.assertEqual((found[0]["kind"], found[0]["text"]),
                         ("programs", "Most CPU time: cc1 50 % (2 processes), xz 40 %, bc 9.0 %; 1 other program 1.0 %."))
        self.assertFalse({"no cpu", "too many threads"} & {finding["kind"] for finding in found})
        self.assertTrue(text.startswith("whole system   10.0 s wall, 10.0 s CPU in 5 processes, 1.0 of 2 CPUs used\n"), text[:90])

    def test_many_small_programs(self):
        found, _ = self.summary(*((f"p{i:02}", 0.1, 1) for i in range(50)))
        self.assertEqual(found[0]["text"], "Most CPU time: p00 2.0 %; 49 other programs 98 %.")

    def test_a_program_alone(self):
        found, _ = self.summary(("xz", 4, 9), ("xz", 4, 9))
        self.assertEqual(found[0]["text"], "Most CPU time: xz 100 % (2 processes).")


class Lost(Advice):
    """The command becomes a program that is not measured, as that of env LD_PRELOAD=... does."""

    def lost(self, *unmeasured, state="exec", later=()):
        run = run_json([thread(1, 0.001)], 0.001)
        image = {**run["processes"][0], "origin": "launched", "exec_sequence": 0, "state": state}
        run["processes"] = [image, *({**image, **more} for more in later)]
        run["unmeasured"] = [{"reason": reason, "count": len(programs), "cpu": 0, "programs": programs}
                             for reason, *programs in unmeasured]
        return [f["text"] for f in self.of_kind(self.advice(Program(), run), "not measured")]

    def test_what_to_do(self):
        preload, static = ("started without hpcrun's LD_PRELOAD", "perl"), ("statically linked", "/bin/busybox")
        self.assertEqual(self.lost(preload), ["perl was not measured (started without hpcrun's LD_PRELOAD): "
                                              "set LD_PRELOAD before hpcrun, or use hpcrun --outside."])
        self.assertEqual(self.lost(static), ["/bin/busybox was not measured (statically linked): use hpcrun --outside."])
        self.assertEqual(self.lost(("not an x86-64 program", "old")), [], "nor from outside")
        self.assertEqual(self.lost(preload, static), [], "which one is not known")
        self.assertEqual(self.lost((*preload, "awk")), [])

    def test_children(self):
        """The command itself was measured: to its end, or in the program that it executed."""
        static = "statically linked", "busybox"
        self.assertEqual(self.lost(static, state="exit"), [])
        self.assertEqual(self.lost(static, later=[{"origin": "exec", "exec_sequence": 1, "state": "exit"}]), [])
        self.assertEqual(len(self.lost(static, later=[{"pid": 71, "origin": "exec", "exec_sequence": 1, "state": "exit"}])), 1)


class Supply(Advice):
    """Threads that wanted a CPU and had none, by the scheduler's account: seconds of the process."""

    def run_of(self, ready, cpu=(5, 1, 1), cpus=4, **process):
        """3 threads, of which thread 2 waits for a lock for 6 s of 10. Each is ready in proportion to what the others run."""
        of_others = [sum(cpu) - s for s in cpu]
        threads = [thread(i, s, "parallel", ready=ready and ready * others / sum(of_others))
                   for i, (s, others) in enumerate(zip(cpu, of_others), 1)]
        run = run_json(threads, 10, cpus, ("REALTIME",),
                       metrics=("work", "off CPU", "idleness", "lock blame", "lock wait"))
        run["processes"][0].update({"ready": ready, "throttled": 0.0, "quota": None, **process})
        return run

    def kinds(self, run, idleness=0, lock=0):
        p = Program(("work", "off CPU", "idleness", "lock blame", "lock wait"), 3)
        p.main.statement(p.file, 13).charge(5, 0).charge(idleness, 2).charge(lock, 3).charge(lock, 4)
        p.thread.statement(p.file, 31).charge(1, 0, 2).charge(0.1, 0, 3)
        p.thread.statement(p.file, 32).call(p.of_libc("pthread_mutex_lock")).charge(6, 0, 2).charge(6, 1, 2)
        self.found = self.advice(p, run)
        return [f["kind"] for f in self.found]

    def test_others_had_the_cpus(self):
        """3 s without a CPU, 7 with one: 3 threads cannot take 4 CPUs from each other. What the wall clock says is left
        out. The main thread has 3.9 s more than the others, who were ready for 0.8 of 1 s. Unequal parts explain nothing of
        that, since the longest one waits for 6 s."""
        self.assertEqual(self.kinds(self.run_of(3)), ["no cpu", "hot place"])
        self.assertEqual(self.found[0]["text"], "Others had the CPUs: threads waited for a CPU for at least 3.0 s and ran for 7.0 s.")
        self.assertEqual(self.kinds(self.run_of(1)), ["no cpu", "one thread", "hot place"])
        self.assertIn("Only the main thread runs for at least 2.1 s of 10 s", self.found[1]["text"])
        self.assertEqual([f["gain"] for f in self.found], [None] * 3)

    def test_others_had_the_cpus_of_several_processes(self):
        """Two processes of 7 s, of which the second one waited for 2 s and ran for 5."""
        run = self.run_of(3)
        run["processes"].append({**run["processes"][0], "pid": 80, "threads": [thread(4, 5, ready=2.0, wall=7)]})
        self.assertEqual(self.kinds(run)[0], "no cpu")
        self.assertEqual(self.found[0]["text"], "Others had the CPUs: threads of 2 processes waited for a CPU for at least 5.0 s and "
                                                "ran for 12 s.")

    def test_what_idle_cpus_take_to_wake_up(self):
        """3 s in 60,000 pieces: 50 us each time. The main thread has 3 s more than the others."""
        run = self.run_of(3)
        for one in run["processes"][0]["threads"]:
            one["timeslices"] = 20_000
        self.assertEqual(self.kinds(run)[0], "blocked")
        self.assertIn("Only the main thread runs for at least 3.0 s of 10 s", self.of_kind(self.found, "one thread")[0]["text"])

    def test_hardly_any(self):
        """0.3 of 7.3 s."""
        self.assertEqual(self.kinds(self.run_of(0.3))[0], "blocked")
        self.assertNotIn("no cpu", self.kinds(self.run_of(0.3)))

    def test_not_measured(self):
        self.assertEqual(self.kinds(self.run_of(None))[0], "blocked")

    def test_threads_that_share_cpus(self):
        """Two of three threads on one CPU may always be ready while the third runs: 14 s beside 7. With 16 s, others had
        it for 2."""
        kinds = self.kinds(self.run_of(14, cpus=1))
        self.assertEqual(kinds[0], "too many threads")
        self.assertEqual(self.found[0]["text"], "3 threads share 1 CPU: they waited for one for at least 14 s and ran for 7.0 s.")
        self.assertEqual(self.kinds(self.run_of(16, cpus=1))[0], "no cpu")

    def test_threads_that_live_one_after_another(self):
        """20 threads of 0.3 s in 20 half seconds on one CPU, each ready for the rest: the one before, which ends a moment
        later, has had the CPU for that moment at most."""
        p = Program(n_threads=21)
        p.thread.statement(p.file, 31).charge(6, 0, 2)
        threads = [thread(1, 0.1, ready=0.0)] + [thread(i + 2, 0.3, "parallel", begin=i * 0.5, wall=0.505, ready=0.2) for i in range(20)]
        run = run_json(threads, 10, 1)
        run["processes"][0]["ready"] = 4.0
        self.assertEqual([f["kind"] for f in self.advice(p, run)], ["no cpu", "hot place"])

    def test_threads_that_share_cpus_and_a_lock(self):
        """The lock comes first: they wait for it longer than for a CPU."""
        run = self.run_of(7, cpus=2)
        self.assertEqual(self.kinds(run)[0], "too many threads")
        self.assertEqual(self.kinds(run, lock=8)[0], "lock")

    def test_threads_that_share_cpus_seldom(self):
        """1 s of 8: that is no reason to look at it first."""
        kinds = self.kinds(self.run_of(1, cpus=2))
        self.assertIn("too many threads", kinds)
        self.assertNotEqual(kinds[0], "too many threads")

    def test_helpers_that_hardly_run(self):
        """Eight more threads than CPUs, which run for 0.08 s: they did not take a CPU for 3 s."""
        run = self.run_of(3, cpus=2)
        threads = run["processes"][0]["threads"]
        threads += [thread(i, 0.01, "parallel", ready=0.0) for i in range(4, 12)]
        threads[0]["ready"], threads[1]["ready"], threads[2]["ready"] = 3.0, 0.0, 0.0
        self.assertEqual(self.kinds(run)[0], "no cpu")

    def test_threads_that_seldom_want_a_cpu(self):
        """Three threads run for 5, 1 and 1 s on two CPUs: others of them can have had both for 1, 3 and 3 s. If one of them
        has no work in half of the 6.1 s that were sampled, it is half of that, and the threads were ready for 6.1 s."""
        self.assertNotIn("no cpu", self.kinds(self.run_of(6.1, cpus=2)))
        self.assertEqual(self.kinds(self.run_of(6.1, cpus=2), idleness=3.05)[0], "no cpu")

    def test_threads_that_share_cpus_with_helpers(self):
        """Two threads on two CPUs, and one that sleeps: they cannot take CPUs from each other."""
        run = self.run_of(0.7, cpu=(5, 1, 0.05), cpus=2)
        run["processes"][0]["threads"][2]["ready"] = 0.1
        self.assertEqual(self.kinds(run)[0], "no cpu")

    def test_threads_that_sleep(self):
        """Threads that run for 0.1 s of 10 sleep: if they are ready for 0.2 s, that is little of their time."""
        self.assertNotIn("no cpu", self.kinds(self.run_of(0.2, cpu=(0.1, 0.1, 0.1))))
        self.assertEqual(self.kinds(self.run_of(0.3, cpu=(0.1, 0.1, 0.1)))[0], "no cpu")

    def test_sleeps_though_others_had_the_cpus(self):
        """Thread 2 sleeps for 6 s of 10, and threads are ready for 3 s. A thread that works for 5 s and is ready for 0.43
        leaves 5.43 of 10 s, or 5 of the 7 without others. If threads hardly work, 4 of 10 s are left, or 1 of 7."""
        for cpu, low, high in (((5, 1, 1), 7 / 5, 10 / (5 + 3 / 7)), ((0.2, 0.1, 0.1), 10 / 4, 7 / 1)):
            run = self.run_of(3, cpu=cpu)
            run["events"][0]["period"] = 1e-6
            p = Program(("work", "off CPU", "idleness", "lock blame", "lock wait"), 3)
            p.main.statement(p.file, 13).charge(5, 0)
            p.thread.statement(p.file, 32).call(p.of_libc("usleep")).charge(6, 0, 2).charge(6, 1, 2)
            found = self.advice(p, run)
            self.assertEqual(found[0]["kind"], "no cpu")
            blocked, = self.of_kind(found, "blocked")
            self.assertTrue(blocked["text"].startswith("A thread waits 60 % of the time in a sleep at parallel, p.c:32"), blocked)
            self.assertIn("; could win ", blocked["text"])
            for end, expected in zip(blocked["gain_interval"], (low, high)):
                self.assertAlmostEqual(end, expected, delta=0.1)
            run["processes"][0].update(throttled=2.0, quota=0.5)
            self.assertEqual(self.of_kind(self.advice(p, run), "blocked"), [])

    def test_processes_that_share_cpus(self):
        """What another process of the run has is not others'."""
        run = self.run_of(6, cpus=3)
        self.assertEqual(self.kinds(run)[0], "no cpu")
        run["processes"].append(dict(run["processes"][0], pid=71, threads=[thread(3, 6.9, kind="initial")]))
        self.assertNotIn("no cpu", self.kinds(run))

    def test_a_quota(self):
        run = self.run_of(6, throttled=4.2)
        run["processes"][0]["quota"] = 0.5
        kinds = self.kinds(run)
        self.assertEqual(kinds[0], "quota")
        self.assertNotIn("blocked", kinds)
        self.assertNotIn("no cpu", kinds)
        self.assertEqual(self.found[0]["text"], "A quota of 0.5 CPUs stopped the program for 4.2 s of 10 s.")


class Asleep(Advice):
    """A run of 10 s, by CPUTIME, whose two threads run for 0.5 s each: what they wait for has no samples."""

    def found(self, cpu=0.5, ready=0.25, event="CPUTIME", metrics=("work",), **process):
        p = Program(metrics, 2)
        p.thread.statement(p.file, 31).charge(cpu).charge(cpu, 0, 2)
        run = run_json([thread(i, cpu, "parallel", ready=ready) for i in (1, 2)], 10, 4, (event,), metrics=metrics)
        run["processes"][0].update({"ready": ready and 2 * ready, "throttled": 0.0, "quota": None, **process})
        return self.of_kind(self.advice(p, run), "asleep")

    def test_no_thread_wants_a_cpu(self):
        """1 s on CPUs and 0.5 s ready, also if never at the same time."""
        found, = self.found()
        self.assertEqual(found["text"], "No thread ran or waited for a CPU for at least 8.5 s of 10 s: "
                                        "hpcrun -e REALTIME shows what they wait for.")
        self.assertIsNone(found["gain"])
        found, = self.found(throttled=2.0)
        self.assertIn("at least 6.5 s of 10 s", found["text"])

    def test_threads_that_are_not_listed(self):
        """The process used 2 s, of which the threads in its list have 1 s, and was ready for 1.5."""
        found, = self.found(cpu=0.5, ready=0.75)
        self.assertIn("at least 7.5 s of 10 s", found["text"])
        with viewer.changed_run(self.db) as run:
            run["processes"][0]["cpu"] = 2.0
        found, = self.of_kind(viewer.printed_json("summary", self.db)["advice"], "asleep")
        self.assertIn("at least 6.5 s of 10 s", found["text"])

    def test_many_short_waits_for_a_cpu(self):
        """Of 10,000 waits of 0.1 ms, idle CPUs that woke up may have had all: threads were ready all the same."""
        p = Program(n_threads=2)
        p.main.statement(p.file, 11).charge(1)
        run = run_json([thread(1, 1, ready=1.0, timeslices=10_000)], 10)
        run["processes"][0].update(ready=1.0, throttled=0.0, quota=None)
        found, = self.of_kind(self.advice(p, run), "asleep")
        self.assertIn("at least 8.0 s of 10 s", found["text"])

    def test_other_processes_work_meanwhile(self):
        p = Program(n_threads=2)
        p.main.statement(p.file, 11).charge(2)
        run = run_json([thread(1, 2, ready=0.5)], 10)
        run["processes"][0].update(ready=0.5, throttled=0.0, quota=None)
        run["processes"].append({**run["processes"][0], "pid": 80, "cpu": 0.125, "ready": 0.375,
                                 "threads": [thread(2, 0.125, ready=0.375)]})
        found, = self.of_kind(self.advice(p, run), "asleep")
        self.assertIn("at least 7.0 s of 10 s", found["text"])

    def with_children(self, n, **child):
        """A shell that runs for 1 s of 10, and children that were forked, and executed a program."""
        p = Program(n_threads=2)
        p.main.statement(p.file, 11).charge(1)
        run = run_json([thread(1, 1, ready=0.5)], 10)
        shell = run["processes"][0]
        shell.update(ready=0.5, throttled=0.0, quota=None, origin="launched", startup_cpu=7)
        for i in range(n):
            image = {**shell, "pid": 80 + i, "origin": "fork", "cpu": 0.01, "ready": 0.005, "startup_cpu": 0.02, "threads": []}
            run["processes"] += [image, {**image, "origin": "exec", "startup_cpu": 0.13}]
        return self.advice(p, run)

    def test_processes_before_they_are_sampled(self):
        """10 children run for 0.02 s, and for 0.12 s before. The shell and they run for 1.2 s and are ready for half of
        that; so they are for 0.6 s before. What the launched process did earlier is not of the run."""
        found = self.with_children(10)
        started, = self.of_kind(found, "starts")
        self.assertEqual(started["text"], "The start of 10 processes took 1.2 s of CPU time, a part of it hpcrun's own, which has "
                                          "no samples.")
        asleep, = self.of_kind(found, "asleep")
        self.assertIn(f"at least {10 - 1.8 - 1.8:.1f} s of 10 s", asleep["text"])
        self.assertEqual(self.of_kind(self.with_children(0), "starts"), [])
        self.assertEqual(self.of_kind(self.with_children(1), "starts"), [], "0.12 s of 1.1")

    def test_threads_that_are_awake(self):
        self.assertEqual(self.found(cpu=2.4), [])
        self.assertEqual(self.found(ready=2.2), [])

    def test_what_is_not_known(self):
        """The time in which threads were ready. Where REALTIME takes samples, they show what threads wait for."""
        self.assertEqual(self.found(ready=None), [])
        self.assertEqual(self.found(event="REALTIME", metrics=("work", "off CPU")), [])


class Ranks(Advice):
    METRICS = ("work", "waiting")

    def found(self, waits, wall=6.5, ready=None, rank_2=None, metrics=METRICS, events=("CPUTIME",)):
        """Rank 0 computes for 2 s, rank 1 for 6 s; rank 0 waits meanwhile, in line 14. rank_2: its seconds, if there is one."""
        p = Program(metrics, 3)
        mpi = p.db.module("/usr/lib/x86_64-linux-gnu/libmpi.so.40")
        p.main.loop(p.file, 15).statement(p.file, 16).charge(2, 0, 1).charge(6, 0, 2)
        call = p.main.statement(p.file, 14).call(p.db.function("PMPI_Allreduce", mpi, 64))
        call.call(p.db.function("opal_progress", mpi, 128)).charge(waits, 1, 1)
        run = run_json([thread(1, 2 + waits, ready=ready)], wall, metrics=metrics, events=events)
        process, = run["processes"]
        process["ready"] = ready
        if events == ("REALTIME",):  # a thread of the library, in rank 0
            p.thread.statement(p.file, 31).call(p.of_libc("epoll_wait")).charge(wall, 1, 3)
            process["threads"].append(thread(3, 0))
        run["processes"].append(dict(process, pid=71, threads=[thread(2, 6, kind="initial", ready=ready)]))
        if rank_2:
            p.main.statement(p.file, 17).charge(rank_2, 0, 3)
            run["processes"].append(dict(process, pid=72, threads=[thread(3, rank_2, kind="initial", ready=ready)]))
        for rank, described in enumerate(run["processes"]):
            described["rank"] = rank
        return self.advice(p, run)

    def test_one_computes_longer(self):
        """4 s each would be 2 s less of 6.5."""
        found = self.found(4)
        self.assertEqual(found[0]["text"], "Rank 1 computes 3 times as long as rank 0; rank 0 waits 62 % of its time in "
                                           "PMPI_Allreduce, p.c:14; equal parts could win 1.4x.")
        self.assertEqual([f["kind"] for f in found], ["ranks", "hot place"])
        self.assertAlmostEqual(found[0]["gain"], 6.5 / 4.5)
        self.check_interval(found[0], period=PERIOD)

    def check_interval(self, finding, period):
        """Of (6 s - 2 s) / 2, a difference of two sums of samples that are uniform in (1 +- 0.5) periods."""
        error = 1.96 * (13 / 12 * period * (6 + 2)) ** 0.5 / 2
        low, high = finding["gain_interval"]
        self.assertAlmostEqual(high, 6.5 / (4.5 - error))
        self.assertTrue(1 < low <= 6.5 / (4.5 + error))  # of several ranks, one has the most by chance

    def test_by_the_wall_clock(self):
        """Threads of the library wait all the time, and longer than rank 0 does."""
        found = self.found(4, metrics=("work", "waiting", "off CPU", "lock blame"), events=("REALTIME",))
        self.assertEqual(found[0]["text"], "Rank 1 computes 3 times as long as rank 0; rank 0 waits 62 % of its time in "
                                           "PMPI_Allreduce, p.c:14; equal parts could win 1.4x.")

    def test_on_a_busy_machine(self):
        """Of 60 s, rank 0 had no CPU for 54, and waits in 0.6 of the other 6."""
        found = self.found(0.6, wall=60, ready=54)
        self.assertEqual([f["kind"] for f in found], ["no cpu", "ranks", "hot place"])
        self.assertEqual(found[1]["text"], "Rank 1 computes 3 times as long as rank 0; rank 0 waits in PMPI_Allreduce, p.c:14.")

    def test_nobody_waits(self):
        self.assertEqual([f["kind"] for f in self.found(0.1)], ["hot place"])

    def test_some_threads(self):
        """Ranks without a chosen thread are not compared. The wall clock says nothing about what the others could win."""
        self.found(4, rank_2=1)
        with Terminal([viewer.VIEWER, "--closed", "--threads", "rank [01]", self.db]) as terminal:
            terminal.until_seen("?:help")
            lines = terminal.press_until("a", "hpcviewer: advice", "of the time is in")
        self.assertIn("Rank 1 computes 3 times as long as rank 0; rank 0 waits 62 % of its time in PMPI_Allreduce, p.c:14. ",
                      " ".join(" ".join(lines).split()))

    def test_ranks_of_several_threads(self):
        """Two threads share a rank's work: 1 s each of rank 0, 3 s of rank 1. 2 s each would be 1 s less of 4."""
        p = Program(self.METRICS, 4)
        body, call = p.main.statement(p.file, 16), p.main.statement(p.file, 14).call(p.of_libc("poll"))
        for profile, seconds in enumerate((1, 1, 3, 3), 1):
            body.charge(seconds, 0, profile)
            call.charge(4 - seconds if profile < 3 else 0, 1, profile)
        run = run_json([thread(1, 1, wall=4), thread(2, 1, wall=4)], 4, metrics=self.METRICS)
        process, = run["processes"]
        run["processes"].append(dict(process, pid=71, threads=[thread(3, 3, kind="initial", wall=4), thread(4, 3, wall=4)]))
        for rank, described in enumerate(run["processes"]):
            described["rank"] = rank
        found, = self.of_kind(self.advice(p, run), "ranks")
        self.assertEqual(found["text"], "Rank 1 computes 3 times as long as rank 0; rank 0 waits 75 % of its time in poll, "
                                        "p.c:14; equal parts could win 1.3x.")
        self.assertAlmostEqual(found["gain"], 4 / 3)


class Locks(Advice):
    """Thread 2 holds a lock in line 31 while thread 1 waits for it in line 32 for 4 s, and thread 3 for another one for
    1 s."""

    def found(self, event, *metrics, idleness=0):
        p = Program((*metrics, "lock blame", "lock wait", "idleness"), 3)
        p.thread.statement(p.file, 31).charge(9, 0, 2).charge(5, len(metrics), 2).charge(idleness, len(metrics) + 2, 2)
        p.main.statement(p.file, 13).charge(1)
        waits = p.thread.statement(p.file, 32)
        for name, seconds, profile in (("<lock queue_lock>", 4, 1), ("<lock other>", 1, 3)):
            waits.call(p.function(name, 0)).charge(seconds, len(metrics) + 1, profile)
        run = run_json([thread(1, 1), thread(2, 4), thread(3, 0)], 10, 2, events=(event,), metrics=p.db.metrics)
        return self.advice(p, run)

    def test_how_long_and_where(self):
        """By CPUTIME, a holder off the CPU has no samples: what remains is CPU time, 4 s of a thread. Waiting is at least the
        lower end of 5 s +- 0.46. By REALTIME it is the 5 s of the 10 in which threads do not wait."""
        for metrics, wait, gain in ((("CPUTIME", "work"), "at least 4.4 s", 2.5), (("REALTIME", "work", "off CPU"), "5.0 s", 2)):
            found = self.found(*metrics)[0]
            self.assertEqual(self.place(found), ("parallel", "/src/p.c", 31))
            self.assertEqual(found["text"], f"Lock queue_lock (80 %) and others: threads wait {wait}, 100 % of that while "
                                            f"parallel, p.c:31 holds it; could win {gain:.1f}x without it.")

    def test_a_helper_of_those_that_hold_it(self):
        """Both threads scan with the lock: while one in line 31 does, others wait for 4.5 of 5 s."""
        for waits, place in (((4.5, 0.5), "parallel, p.c:31"), ((3, 2), "scan, p.c:61")):
            p = Program(("work", "lock blame", "lock wait", "idleness"), 2)
            scan = p.function("scan", 60)
            for at, profile, seconds in ((p.thread.statement(p.file, 31), 2, waits[0]),
                                         (p.main.statement(p.file, 13), 1, waits[1])):
                at.call(scan).statement(p.file, 61).charge(4, 0, profile).charge(seconds, 1, profile)
            p.thread.statement(p.file, 32).call(p.function("<lock table_lock>", 0)).charge(5, 2, 2)
            run = run_json([thread(1, 4), thread(2, 4)], 10, 2, metrics=p.db.metrics)
            found, = self.of_kind(self.advice(p, run), "lock")
            share = "90" if waits[0] == 4.5 else "100"
            self.assertIn(f", {share} % of that while {place} holds it", found["text"])

    def test_critical_sections(self):
        """All without a name are one lock. Two call a function that has all of the time: that with most of it is named,
        also by what others waited while its thread had no CPU. Without scopes, it is the function."""
        for name, has_scopes, where in (("critical", True, "a thread is in the section at p.c:20"),
                                        ("critical(table)", True, "a thread is in the section at p.c:20"),
                                        ("ordered", True, "a thread is in the section at p.c:20"),
                                        ("critical", False, "spin, p.c:40 holds it"),
                                         ("critical_list", True, "critical @ p.c:20, p.c:21 holds it")):
            with self.subTest(name=name, has_scopes=has_scopes):
                p = Program(("work", "off CPU", "lock blame", "lock wait"), 3)
                spin = p.function("spin", 40)
                for line, seconds in ((20, 4), (10, 1)):
                    at = p.thread.statement(p.file, 5)
                    if has_scopes:
                        section = "critical" if name == "critical_list" else name
                        other = "critical" if name == "ordered" else "ordered"
                        at = at.inline(p.function(f"{other} @ p.c:6", 6)).statement(p.file, line) \
                            .inline(p.function(f"{section} @ p.c:{line}", line)).statement(p.file, line + 1)
                    time = at.call(spin).statement(p.file, 40).charge(seconds, 0, 2).charge(seconds, 2, 2)
                    time.call(p.function("<lock held without a CPU>", 0)).charge(seconds / 10, 2, 2)
                p.thread.statement(p.file, 32).call(p.function(f"<lock {name}>", 0)).charge(5.5, 3, 1)
                threads = [thread(1, 1), thread(2, 4), thread(3, 0)]
                run = run_json(threads, 10, 2, events=("REALTIME",), metrics=p.db.metrics)
                found, = self.of_kind(self.advice(p, run), "lock")
                share = 80 if "p.c:2" in where else 100
                self.assertIn(f"Lock {name}: threads wait 5.0 s, {share} % of that while {where}", found["text"])

    def test_the_interval(self):
        """By REALTIME of 5 s, in samples that stand for the waiting of up to three threads. By CPUTIME from what is known of
        the waiting to all that the CPUs allow."""
        error = 1.96 * (13 / 12 * 3 * PERIOD * 5) ** 0.5
        for metrics, high in ((("CPUTIME", "work"), 2.5), (("REALTIME", "work", "off CPU"), 10 / (5 - error))):
            interval = self.found(*metrics)[0]["gain_interval"]
            self.assertAlmostEqual(interval[0], 10 / (5 + error))
            self.assertAlmostEqual(interval[1], high)

    def test_what_threads_do_at_once_without_the_lock(self):
        """Two threads sleep with the lock, one after the other, for nearly 10 s in all: without it both sleep at once. A
        third one has nothing to do with it. Each still sleeps for as long, whether that counts as off the CPU or as waiting."""
        for longest, gain in ((4.95, 2.0), (7.9, 1.25)):
            for metric in (1, 4):
                p = Program(("work", "off CPU", "lock blame", "lock wait", "waiting"), 3)
                for profile, asleep in ((1, longest), (2, 9.9 - longest)):
                    p.thread.statement(p.file, 31).call(p.of_libc("nanosleep")).charge(0.05 + asleep * (metric == 1), 0, profile) \
                        .charge(asleep, metric, profile).charge(asleep, 2, profile)
                    p.thread.statement(p.file, 32).call(p.function("<lock queue_lock>", 0)).charge(9.9 - asleep, 3, profile)
                run = run_json([thread(1, 0.1), thread(2, 0.1), thread(3, 0)], 10, 2, events=("REALTIME",), metrics=p.db.metrics)
                found, = self.of_kind(self.advice(p, run), "lock")
                with self.subTest(longest=longest, metric=metric):
                    self.assertAlmostEqual(found["gain"], gain, places=1)

    def test_threads_that_have_nothing_to_do_with_the_lock_gain_nothing(self):
        """Two of three threads wait for others while they have the lock, for 9.9 s in all: no more than two do so at once."""
        p = Program(("work", "off CPU", "lock blame", "lock wait"), 3)
        for profile in 1, 2:
            p.thread.statement(p.file, 31).call(p.of_libc("sem_wait")).charge(4.95, 1, profile).charge(4.95, 2, profile)
            p.thread.statement(p.file, 32).call(p.function("<lock queue_lock>", 0)).charge(4.95, 3, profile)
        threads = [thread(1, 0.1), thread(2, 0.1), thread(3, 0)]
        run = run_json(threads, 10, 2, events=("REALTIME",), metrics=p.db.metrics)
        found, = self.of_kind(self.advice(p, run), "lock")
        self.assertAlmostEqual(found["gain"], 2, places=1)

    def test_the_lock_of_an_interpreter(self):
        """Line 31 holds it for most of the waiting. A function that it calls, or line 33, keeps it for long: but for the
        first 20 ms of each time, this is at a row for the lock, below the function or the line."""
        long = " for more than 20 ms at a stretch"
        called = f"; qsort (libc), called in parallel, p.c:33, keeps it{long}"
        for line, kept, total, more in ((0, None, "3.6", ""), (33, "function", "5.6", called), (33, "line", "5.6", called),
                                        (31, "function", "5.6", f"; qsort (libc) keeps it{long}"),
                                        (31, "line", "5.6", f"; it is kept there{long}")):
            p = Program(("work", "lock blame", "lock wait"), 2)
            p.thread.statement(p.file, 31).charge(8, 0, 2).charge(4, 1, 2)
            p.thread.statement(p.file, 32).call(p.function("<lock GIL>", 0)).charge(6.1, 2, 1)
            if kept:
                at = p.thread.statement(p.file, line)
                call = at.call(p.of_libc("qsort")).charge(0.1, 1, 2)
                lock = p.function("<lock GIL, kept for more than 20 ms>", 0)
                (call if kept == "function" else at).call(lock).charge(2, 1, 2)
                call.call(p.function("<lock held without a CPU>", 0)).charge(0.5, 1, 2)
            run = run_json([thread(1, 2), thread(2, 8, "parallel")], 8, 2, metrics=p.db.metrics)
            found, = self.of_kind(self.advice(p, run), "lock")
            self.assertEqual(found["text"], "2 threads, 1.2 run: the GIL is held 100 % in parallel, p.c:31, while others wait "
                                            f"for at least {total} s in all{more}: use processes, or a library that releases "
                                            "it.")

    def test_holders_without_a_cpu(self):
        """That others wait then is not the lock's fault: the finding rests on the 5 s in which the holder runs."""
        for seconds, more in ((20, ", and 20 s more while threads that hold it have no CPU"), (0.5, "")):
            p = Program(("work", "off CPU", "lock blame", "lock wait"), 3)
            at = p.thread.statement(p.file, 31).charge(9, 0, 2).charge(5, 2, 2)
            at.call(p.function("<lock held without a CPU>", 0)).charge(seconds, 2, 2)
            p.thread.statement(p.file, 32).call(p.function("<lock queue_lock>", 0)).charge(5 + seconds, 3, 1)
            threads = [thread(1, 1), thread(2, 4), thread(3, 0)]
            run = run_json(threads, 10, 2, events=("REALTIME",), metrics=p.db.metrics)
            found, = self.of_kind(self.advice(p, run), "lock")
            with self.subTest(seconds=seconds):
                self.assertEqual(found["text"], "Lock queue_lock: threads wait 5.0 s, 100 % of that while parallel, p.c:31 "
                                                f"holds it{more}; could win 2.0x without it.")

    def test_what_waiting_costs_goes_with_the_lock(self):
        """Two threads with 4 s each, of which 2 are spinning for the lock: on two CPUs 2 s are left of 8."""
        p = Program(("work", "lock blame", "lock wait", "waiting"), 2)
        for profile in (1, 2):
            p.thread.statement(p.file, 31).charge(2, 0, profile).charge(3, 1, profile)
            p.thread.statement(p.file, 32).charge(3, 2, profile).charge(2, 3, profile)
        run = run_json([thread(1, 4), thread(2, 4, "parallel")], 8, 2, metrics=p.db.metrics)
        found, = self.of_kind(self.advice(p, run), "lock")
        self.assertAlmostEqual(found["gain"], 4)

    def test_waiting_on_a_cpu_goes_with_the_lock(self):
        """Two threads of OpenMP with 4 s each, of which 1 is spinning for the lock without a sample in code: on two CPUs 3 s
        are left of 4."""
        p = Program(("work", "lock blame", "lock wait"), 2)
        for profile in (1, 2):
            p.thread.statement(p.file, 31).charge(3, 0, profile).charge(1, 1, profile)
            p.thread.statement(p.file, 32).call(p.function("<lock critical>", 0)).charge(1, 2, profile)
        run = run_json([thread(i, 4, "gomp", events=[spun(1)]) for i in (1, 2)], 4, 2, metrics=p.db.metrics)
        found, = self.of_kind(self.advice(p, run), "lock")
        self.assertAlmostEqual(found["gain"], 4 / 3)

    def test_what_waking_others_costs_goes_with_the_lock(self):
        """Two threads with 4 s each, of which 1 is in the call that releases the lock: on two CPUs 3 s are left of 8."""
        p = Program(("work", "lock blame", "lock wait"), 2)
        for profile in (1, 2):
            p.thread.statement(p.file, 31).charge(3, 0, profile).charge(3, 1, profile)
            p.thread.statement(p.file, 32).charge(3, 2, profile)
            p.thread.statement(p.file, 33).call(p.of_libc("__pthread_mutex_unlock_usercnt")) \
                .call(p.of_libc("__lll_lock_wake")).charge(1, 0, profile)
        run = run_json([thread(1, 4), thread(2, 4, "parallel")], 8, 2, metrics=p.db.metrics)
        found, = self.of_kind(self.advice(p, run), "lock")
        self.assertAlmostEqual(found["gain"], 8 / 3)

    def test_waiting_that_a_lock_explains(self):
        """In line 32, where threads wait for the lock, 3 s of waiting are not said again. 2 s in line 35 are for something
        else; what a template of the library is called says less than the line."""
        p = Program(("work", "lock blame", "lock wait", "waiting"), 2)
        guard = p.db.function("std::lock_guard<std::mutex>::lock_guard(std::mutex&)", p.program, 1600,
                              p.db.file("/usr/include/c++/12/bits/std_mutex.h"), 229)
        wait = p.db.function("std::condition_variable::wait<ready()::{lambda()#1}>(int)", p.program, 1700,
                             p.db.file("/usr/include/c++/12/condition_variable"), 100)
        p.thread.statement(p.file, 31).charge(6, 0, 2).charge(5, 1, 2)
        inside = p.thread.statement(p.file, 32).inline(guard)
        inside.call(p.function("<lock queue_lock>", 0)).charge(5, 2, 2)
        inside.call(p.of_libc("__pthread_mutex_lock")).charge(3, 3, 2)
        run = run_json([thread(1, 1), thread(2, 8)], 10, 2, metrics=p.db.metrics)
        found = self.advice(p, run)
        self.assertEqual((len(self.of_kind(found, "lock")), self.of_kind(found, "waiting")), (1, []))
        p.thread.statement(p.file, 35).inline(wait).call(p.of_libc("__pthread_cond_wait")).charge(2, 3, 2)
        found, = self.of_kind(self.advice(p, run), "waiting")
        self.assertEqual(found["text"], "Threads wait 18 % of their time for others in parallel, p.c:35.")

    def test_a_thread_that_is_blocked_by_a_lock(self):
        """By REALTIME the lock's finding has the 5 s of the 10 in line 32, and a sleep of 2 s remains."""
        p = Program(("work", "off CPU", "waiting", "lock blame", "lock wait"), 2)
        p.thread.statement(p.file, 31).charge(3, 0, 2).charge(5, 3, 2)
        where = p.thread.statement(p.file, 32)
        where.call(p.function("<lock queue_lock>", 0)).charge(5, 4, 2)
        where.call(p.of_libc("__pthread_mutex_lock")).charge(5, 2, 2)
        p.thread.statement(p.file, 33).call(p.of_libc("usleep")).charge(2, 0, 2).charge(2, 1, 2)
        run = run_json([thread(1, 1), thread(2, 3)], 10, 2, events=("REALTIME",), metrics=p.db.metrics)
        found = self.advice(p, run)
        self.assertEqual(len(self.of_kind(found, "lock")), 1)
        self.assertEqual([f["line"] for f in self.of_kind(found, "blocked")], [33])

    def test_a_lock_that_explains_idleness(self):
        """Of 4 s of idleness the lock, for which threads wait 5 s, explains half, of 11 s it does not."""
        kinds = [f["kind"] for f in self.found("CPUTIME", "work", idleness=4)]
        self.assertEqual((kinds[0], "parallelization" in kinds), ("lock", False))
        kinds = [f["kind"] for f in self.found("CPUTIME", "work", idleness=11)]
        self.assertEqual((kinds[0], "parallelization" in kinds), ("lock", True))


class RunnableThreads(Advice):
    """10 s on two CPUs, by their time line: the main thread works for 5 s, and waits for two others to end, which it began
    with. Each is ready for 0.5 s."""
    STEP = 10**7  # ns between samples

    def found(self, *works):
        """`works`: from when to when each thread works, s."""
        p = Program(n_threads=3)
        work, line = p.main.statement(p.file, 13), tw.Timeline(unit=10)
        place = line.place(work.id)
        for profile, (begin, end) in enumerate(works, 1):
            work.charge(end - begin, 0, profile)
            for time in range(round(begin * 1e9), round(end * 1e9), self.STEP):
                line.record(profile, time + self.STEP, self.STEP, tw.WORK, place)
        run = run_json([thread(i, end - begin, "parallel", ready=0.5) for i, (begin, end) in enumerate(works, 1)], 10, 2)
        run["processes"][0].update(time_line_begin=0, ready=1.5)
        self.write(p.db, run)
        line.places = [(work.id, 0, 3, 1, 0, 0)]
        line.write(pathlib.Path(self.db))
        return viewer.printed_json("summary", self.db)["advice"][0]

    def test_a_thread_that_waits_shares_no_cpu(self):
        found = self.found((0, 5), (5, 10), (5, 10))
        self.assertEqual(found["kind"], "no cpu")
        self.assertIn("threads waited for a CPU for at least 1.5 s", found["text"])

    def test_threads_that_work_at_the_same_time(self):
        for works in ((0, 10), (0, 10), (0, 10)), ((0, 9), (5, 10), (5, 10)):
            self.assertNotEqual(self.found(*works)["kind"], "no cpu")


class TooManyThreads(Advice):
    KIND = "too many threads"
    METRICS = ("work", "overhead", "off CPU")

    def found(self, nobody=300, threads=3, cpus=2, agents=("pthread", "gomp"), of=2000, lives=None, ready=None,
              event="CPUTIME"):
        metrics = self.METRICS if event == "REALTIME" else self.METRICS[:-1]
        lives = lives or [(0, 10)] * threads
        run = run_json([thread(n + 1, 5, "gomp" if n else None, begin=begin, wall=wall, ready=ready or 0)
                        for n, (begin, wall) in enumerate(lives)], wall=10, cpus=cpus, events=(event,), metrics=metrics)
        run["agents"] = [{"name": name, "version": "1.0"} for name in agents]
        run["processes"][0].update(samples=of, nobody_working=nobody, ready=ready and threads * ready)
        program = Program(metrics, threads)
        program.main.statement(program.file, 11).charge(5)
        found = self.advice(program, run)
        self.first = found[0]["kind"]
        return self.of_kind(found, self.KIND)

    def test_nobody_works_for_want_of_cpus(self):
        """15 % of 2,000 samples. Wilson's interval, with the variance of samples of random periods (13/12): 13.4 to 16.7 %."""
        finding, = self.found()
        self.assertEqual(finding["text"], "3 threads share 2 CPUs: in 15 % of the samples none of them worked; try 2 "
                                          "(OMP_NUM_THREADS, num_threads, no nested regions).")

    def test_nobody_works_though_there_are_cpus(self):
        """Threads that are hardly ever ready do not want for CPUs: their workers wait for something else. If they are, that
        is said."""
        self.assertEqual(self.found(ready=0.01), [])
        finding, = self.found(ready=1)
        self.assertIn("they waited for one for at least 3.0 s and ran for 15 s", finding["text"])
        self.assertEqual(self.first, self.KIND)

    def test_nobody_works_while_workers_sleep(self):
        """By the wall clock that does not come first: workers sleep."""
        self.found(ready=1, event="REALTIME")
        self.assertNotEqual(self.first, self.KIND)

    def test_threads_that_are_not_the_runtime_s(self):
        """Two of the runtime and one of a library: fewer of the runtime are no advice."""
        p = Program(self.METRICS[:-1], n_threads=3)
        p.main.statement(p.file, 11).charge(5)
        run = run_json([thread(1, 5), thread(2, 5, "gomp"), thread(3, 5, "blas")], 10, 2, metrics=p.db.metrics)
        run["agents"] = [{"name": "gomp"}]
        run["processes"][0].update(samples=2000, nobody_working=300)
        finding, = self.of_kind(self.advice(p, run), self.KIND)
        self.assertEqual(finding["text"], "3 threads share 2 CPUs: in 15 % of the samples none of them worked.")

    def test_a_runtime_that_nobody_uses(self):
        """A library is linked to OpenMP, and all threads are plain ones: no overhead is measured."""
        p = Program(n_threads=3)
        p.main.statement(p.file, 11).charge(5)
        run = run_json([thread(n, 5, "frame_worker", ready=2) for n in (1, 2, 3)], 10, 2)
        run["agents"] = [{"name": "gomp"}, {"name": "pthread"}]
        run["processes"][0].update(ready=6)
        finding, = self.of_kind(self.advice(p, run), self.KIND)
        self.assertEqual(finding["text"], "3 threads share 2 CPUs: they waited for one for at least 6.0 s and ran for 15 s.")

    def test_threads_that_live_at_once(self):
        """Of 42 threads at most 4 live at the same time, but for moments; of others two."""
        lives = [(0, 10), (0, 10)] + [(i // 2 * 0.5, 0.505) for i in range(40)]
        finding, = self.found(threads=42, lives=lives)
        self.assertIn("4 threads share 2 CPUs: ", finding["text"])
        self.assertEqual(self.found(threads=21, lives=[(0, 10)] + [(i * 0.5, 0.51) for i in range(20)]), [])
        finding, = self.found(threads=5, lives=[(0, 10), (0, 10)] + [(0, 3)] * 3)
        self.assertIn("Up to 5 threads share 2 CPUs: ", finding["text"])

    def test_enough_cpus(self):
        self.assertEqual(self.found(cpus=3), [])

    def test_seldom(self):
        """10.5 % of 2,000 samples may be less than 10 %."""
        self.assertEqual(self.found(nobody=210), [])
        self.assertEqual(self.found(nobody=3, of=20), [])

    def test_threads_without_a_parallel_runtime(self):
        self.assertEqual(self.found(agents=("pthread",)), [])

    def test_other_runtimes(self):
        finding, = self.found(agents=("minicilk",))
        self.assertTrue(finding["text"].endswith("; try 2 (MINICILK_WORKERS)."), finding["text"])


class CpusOfTheRun(Advice):
    """Four threads of a runtime are idle for half of their effort. For 10 s of wall clock they work for 16 s."""

    def all_found(self, cpus, in_calls=0, overhead=0, options=()):
        """`overhead`: seconds of each thread."""
        p, line = Program(("work", "idleness", "overhead"), 4), tw.Timeline(unit=10)
        loop = p.thread.statement(p.file, 31)
        place = line.place(loop.id)
        for profile in range(1, 5):
            loop.charge(4 - in_calls, 0, profile).charge(4, 1, profile).charge(overhead, 2, profile)
            loop.call(p.of_libc("write")).charge(in_calls, 0, profile)
            for time in range(12_500_000, 10**10 + 1, 12_500_000):
                line.record(profile, time, PERIOD * 1e9, tw.WORK, place, worker=True)
        threads = [thread(profile, 4 + overhead, "tbb") for profile in range(1, 5)]
        run = run_json(threads, 10, cpus, metrics=p.db.metrics)
        run["agents"] = [{"name": "tbb"}]
        run["processes"][0]["time_line_begin"] = 0
        self.write(p.db, run)
        line.places = [(loop.id, 0, 4, 2, 0, 0)]  # two of four work
        line.write(pathlib.Path(self.db))
        return viewer.printed_json("summary", *options, self.db)["advice"]

    def found(self, cpus, **how):
        finding, = self.of_kind(self.all_found(cpus, **how), "parallelization")
        return finding

    def test_they_limit_gains(self):
        """2 CPUs are used by 1.6 threads on average, so that no change of what is idle wins more than a quarter."""
        for cpus, most in ((2, 1.25), (3, 1.875)):
            found = self.found(cpus)
            self.assertEqual((found["gain"], *found["gain_interval"]), (most,) * 3)
            self.assertTrue(found["text"].endswith(f"at most {most:.2g}x faster."), found["text"])
        self.assertAlmostEqual(self.found(4)["gain"], 2)

    def test_the_limit_has_an_interval(self):
        """Overhead is known by samples. So is the CPU time in a piece of time, 8 s in 5."""
        def error(seconds):
            return 1.96 * (SPREAD * PERIOD * seconds) ** 0.5
        low, high = self.found(2, overhead=0.1)["gain_interval"]
        self.assertAlmostEqual(low, 20 / (16 + error(0.4)))
        self.assertAlmostEqual(high, 20 / (16 - error(0.4)))
        low, high = self.found(2, options=("--from", "5s"))["gain_interval"]
        self.assertAlmostEqual(low, 10 / (5 + 5 * (8 + error(8)) / 10), delta=0.001)
        self.assertAlmostEqual(high, 10 / (5 + 5 * (8 - error(8)) / 10), delta=0.001)

    def test_some_threads_in_a_piece_of_time(self):
        """Twice as fast in 5 of 10 s. What the process used of its CPUs is not known."""
        self.found(4)
        with Terminal([viewer.VIEWER, "--closed", "--from", "5s", "--threads", "7[12]", self.db]) as terminal:
            terminal.until_seen("?:help")
            lines = terminal.press_until("a", "hpcviewer: advice", "Too little parallelism")
        self.assertIn("; at most 1.4x faster.", " ".join(" ".join(lines).split()))

    def test_they_do_not_limit_what_less_work_wins(self):
        """Half of the work is system calls, without which there is half of it to do on the CPUs."""
        kinds = [f["kind"] for f in self.all_found(2, in_calls=2)]
        self.assertLess(kinds.index("system calls"), kinds.index("parallelization"))


class SharedHelpers(Advice):
    """produce, called by main in line 40, and two more threads, which are idle meanwhile, call burn, with its loop at
    line 61; `between`: by way of share, line 71. Of three CPUs."""

    def found(self, idle=(12, 0), work=(6, 2), between=False, callers=("produce", "parallel")):
        p = Program(("work", "idleness"), 3)
        for line in range(20, 40):
            p.main.statement(p.file, line).inline(p.function(f"step{line}", 80)).statement(p.file, 81)
        produce = p.main.statement(p.file, 40).call(p.function("produce", 50))
        procedures = {"produce": produce, "parallel": p.thread, "main": p.main}
        begin = p.main.statement(p.file, 12).call(p.of_libc("clone3")).call(p.of_libc("start_thread"))
        burn, share = p.function("burn", 60), p.function("share", 70)
        for caller, profile, seconds, idleness in zip(callers, (1, 2), work, idle):
            line = 51 if caller == "produce" else 31
            at = begin if caller == "thread" else procedures[caller].statement(p.file, line)
            if between:
                at = at.call(share).statement(p.file, 71)
            loop = at.call(burn).loop(p.file, 61)
            loop.statement(p.file, 62).charge(seconds, 0, profile).charge(idleness, 1, profile)
        run = run_json([thread(1, work[0])] + [thread(i, work[1] / 2) for i in (2, 3)], 7, 3, metrics=p.db.metrics)
        run["agents"] = [{"name": "pthread"}]
        self.all = self.advice(p, run)
        finding, = self.of_kind(self.all, "parallelization")
        return finding

    def test_the_thread_that_runs_alone_meanwhile(self):
        self.found()
        alone, = self.of_kind(self.all, "one thread")
        self.assertIn("Only the main thread runs for at least 4.0 s of 7.0 s, mostly in produce, p.c:51: could win",
                      alone["text"])

    def test_the_caller_during_whose_calls_others_are_idle(self):
        for between in (False, True):
            finding = self.found(between=between)
            self.assertIn("threads are idle 60 % of the time, 100 % of that during produce, p.c:51, which calls burn; ",
                          finding["text"])
            self.assertEqual(self.place(finding), ("produce", "/src/p.c", 51))
        self.assertIn("83 % of that during produce", self.found(idle=(10, 2))["text"])

    def test_a_thread_that_begins_in_the_helper(self):
        """main calls share; its threads begin there."""
        found = self.found(between=True, callers=("main", "thread"))
        self.assertIn("100 % of that during main, p.c:31, which calls burn; ", found["text"])

    def test_otherwise_the_helper(self):
        """Idleness during the calls of both; one caller, directly or not, that has all of the work."""
        for how in ({"idle": (9, 3)}, {"callers": ("produce", "produce")},
                    {"between": True, "callers": ("parallel", "parallel")}):
            self.assertIn("of that during the loop at p.c:61 of burn; at most ", self.found(**how)["text"], how)

    def test_in_folded_trees(self):
        text = self.found()["text"]
        for option in ("--fold-inlined", "--collapse-recursion"):
            finding, = self.of_kind(viewer.printed_json("summary", option, self.db)["advice"], "parallelization")
            self.assertEqual(finding["text"], text, option)


class Grain(Advice):
    """Two workers of OpenMP on two CPUs: each works for 2 s in the loop at line 31 while the other one is idle, and for 1 s,
    or another time, nobody works."""

    def found(self, nobody=1.0, of_worker=1.0, event="CPUTIME", agent="gomp", overhead=0.1, cpus=2, ready=0.0, processes=1,
              throttled=0.0, section=None, timeslices=9, period=PERIOD):
        p = Program(("work", "overhead", "idleness"), 2)
        loop = (p.thread.call(p.db.function(section)) if section else p.thread).loop(p.file, 31)
        for profile in (1, 2):
            loop.statement(p.file, 32).charge(2, 0, profile).charge(2, 2, profile).charge(overhead / 2, 1, profile)
        threads = [thread(i, 3 + overhead / 2, "gomp", ready=ready, timeslices=timeslices,
                          events=[{"event": name, "fates": {"nobody working": {"count": 200, "amount": amount}}}
                                  for name, amount in ((event, (nobody, of_worker)[i - 1]), ("REALTIME", 5))]) for i in (1, 2)]
        run = run_json(threads, 10, cpus, (event,), metrics=p.db.metrics)
        run["agents"] = [{"name": agent}]
        run["events"][0]["period"] = period
        run["processes"][0].update(workers=2, ready=2 * ready, throttled=throttled, quota=0.5)
        for pid in range(1, processes):
            run["processes"].append(dict(run["processes"][0], pid=70 + pid))
        self.all = self.advice(p, run)
        return self.of_kind(self.all, "parallelization")

    def test_few_samples_of_threads_that_spin(self):
        """One of two samples."""
        for period, n in ((0.005, 1), (4, 0)):
            self.found(ready=1.0, period=period)
            self.assertEqual(self.all[0]["text"].count("OMP_WAIT_POLICY"), n)

    def test_threads_that_spin_on_a_busy_machine(self):
        """2 of 6.1 s. Threads of TBB sleep anyway, and 1 of 6.1 s is not worth a word."""
        words = "; threads spent 33 % of their CPU time waiting for each other: try OMP_WAIT_POLICY=passive."
        self.found(ready=1.0)
        self.assertEqual(self.all[0]["text"], f"Others had the CPUs: threads waited for a CPU for at least 2.0 s and ran for 6.1 s{words}")
        for other in ({"agent": "tbb"}, {"nobody": 0.5, "of_worker": 0.5}, {"event": "REALTIME"}):
            self.found(ready=1.0, **other)
            self.assertEqual(self.all[0]["text"], "Others had the CPUs: threads waited for a CPU for at least 2.0 s and ran for 6.1 s.", other)
        self.found(throttled=4.0)
        self.assertEqual(self.all[0]["text"], f"A quota of 0.5 CPUs stopped the program for 4.0 s of 10 s{words}")

    def test_nobody_works(self):
        """2 of 10.1 s. Without them, and 0.1 s of overhead, 8 s are left."""
        finding, = self.found()
        self.assertEqual(finding["text"], "Too fine a grain: no worker has work for 20 % of the time, between pieces of the loop at p.c:31 "
                                          "of parallel; larger pieces could win 1.3x; try fewer threads, too (OMP_NUM_THREADS, "
                                          "num_threads, no nested regions).")
        self.assertEqual((finding["verdict"], self.place(finding)), ("too fine a grain", ("parallel", "/src/p.c", 31)))
        self.assertAlmostEqual(finding["gain"], 10.1 / 8)

    def by_wall(self, off_cpu=0.0, nobody=1.0, idle=0.0):
        """The same by REALTIME alone, in 3.05 s, with spins of 1 s."""
        p = Program(("work", "overhead", "idleness", "off CPU"), 2)
        loop = p.thread.loop(p.file, 31)
        for profile in (1, 2):
            loop.statement(p.file, 32).charge(2, 0, profile).charge(2, 2, profile).charge(0.05, 1, profile)
        if off_cpu:
            loop.statement(p.file, 33).call(p.of_libc("usleep")).charge(off_cpu, 0, 2).charge(off_cpu, 3, 2)
        fates = {name: {"count": 200, "amount": amount} for name, amount in
                 (("nobody working", nobody), ("idle thread", idle))}
        events = [{"event": "REALTIME", "fates": fates}]
        threads = [thread(i, 3.05, "gomp", ready=0, timeslices=9, wall=3.05, events=events) for i in (1, 2)]
        run = run_json(threads, 3.05, 2, ("REALTIME",), metrics=p.db.metrics)
        run["agents"] = [{"name": "gomp"}]
        run["processes"][0].update(workers=2, ready=0)
        return self.of_kind(self.advice(p, run), "parallelization")

    def test_nobody_works_by_realtime(self):
        """Of 6.1 s of CPU time, 4 s are work: on two CPUs this can be 1.525 times as fast. While a thread is blocked in
        the program's code, the other one may wait for it: 1.5 s leave 2.5 of 4 s, and 3.5 s too little."""
        finding, = self.by_wall()
        self.assertIn("no worker has work for 20 % of the time, between pieces of the loop at p.c:31 of parallel; "
                      "larger pieces could win 1.3x;", finding["text"])
        finding, = self.by_wall(nobody=4)
        self.assertAlmostEqual(finding["gain"], 1.525)
        finding, = self.by_wall(nobody=4, off_cpu=3.5)
        self.assertNotIn("Too fine a grain", finding["text"])
        finding, = self.by_wall(nobody=4, off_cpu=1.5)
        self.assertIn("no worker has work for 34 % of the time", finding["text"])

    def test_seldom(self):
        finding, = self.found(nobody=0.1)
        self.assertTrue(finding["text"].startswith("Too little parallelism: "), finding)

    def test_other_reasons(self):
        """Workers that spin while the initial thread sleeps; that wait for one of too few CPUs, or for others' programs; the
        wall clock of workers that are blocked; processes that share the CPUs; threads without a runtime."""
        for other in ({"nobody": 0}, {"cpus": 1}, {"event": "REALTIME"}, {"processes": 2}, {"agent": "pthread"}, {"ready": 1.0}):
            for finding in self.found(**other):
                self.assertNotIn("Too fine a grain", finding["text"], other)
        self.assertEqual(self.found(ready=2.0), [])

    def test_the_runtime_has_most_of_the_time(self):
        """20 of 24 s of CPU time: idleness is no other cause."""
        finding, = self.found(nobody=0, overhead=20)
        self.assertEqual(finding["text"], "Too fine a grain: overhead is 71 %, 100 % of that in the loop at p.c:31 of parallel; larger "
                                          "tasks could win 3.5x.")
        finding, = self.found(nobody=0, overhead=20, ready=3.0)
        self.assertEqual((finding["text"], finding["gain"], finding["details"]), (
            "Too fine a grain: overhead is 83 % of the CPU time, 100 % of that in the loop at p.c:31 of parallel; larger tasks may "
            "help.", None, []))
        self.assertEqual(self.found(nobody=0, overhead=9, ready=4.5), [])

    def test_idleness_that_others_did_not_cause(self):
        """4 of 8.1 s, and of 14.5 s with 6.5 s of overhead. Each second for which one of the two workers has no CPU can make the other
        one wait for a second. What others took from several processes, or a quota, is not known."""
        quiet, = self.found(nobody=0)
        found, = self.found(nobody=0, ready=0.5)
        self.assertEqual(self.all[0]["kind"], "no cpu")
        low = quiet["idleness_interval"][0] - 100 * 1 / 8.1
        self.assertEqual(found["text"], f"Too little parallelism: workers are idle at least {low:.0f} % of the time, 100 % of that during "
                                        "the loop at p.c:31 of parallel.")
        self.assertEqual((found["gain"], found["details"]), (None, []))
        found, = self.found(nobody=0, ready=1.0, timeslices=5000)  # half of that may be what CPUs took to wake up, or not
        low = quiet["idleness_interval"][0] - 100 * 2 / 8.1
        self.assertIn(f"workers are idle at least {low:.0f} % of the time", found["text"])
        self.assertEqual(self.found(nobody=0, ready=2.0), [])
        quiet, = self.found(nobody=0, overhead=6.5)
        found, = self.found(nobody=0, overhead=6.5, ready=0.5)
        idle, overhead = (quiet[f"{what}_interval"][0] - 100 * 1 / 14.5 for what in ("idleness", "overhead"))
        self.assertEqual(found["text"], f"Wrong parallelization: workers are idle at least {idle:.0f} % of the time, 100 % of that during "
                                        f"the loop at p.c:31 of parallel; overhead is at least {overhead:.0f} %, 100 % of that in the "
                                        "loop at p.c:31 of parallel.")
        self.assertEqual(self.found(nobody=0, ready=0.5, processes=2, cpus=4), [])
        self.assertEqual(self.all[0]["kind"], "no cpu")
        self.assertEqual(self.found(nobody=0, ready=0.5, throttled=4.0), [])

    def test_a_critical_section(self):
        """The remedy is not a larger piece."""
        section = "critical @ p.c:32"
        finding, = self.found(section=section)
        self.assertIn("around the loop at p.c:31; a reduction, or entering it less often, could win 1.3x;", finding["text"])
        finding, = self.found(section="critical(names) @ p.c:32", nobody=0, overhead=20)
        self.assertIn("; a reduction, or entering it less often, could win 3.5x.", finding["text"])
        finding, = self.found(section=section, nobody=0, overhead=20, ready=3.0)
        self.assertIn("; a reduction, or entering it less often, may help.", finding["text"])
        finding, = self.found(section=section, nobody=0, overhead=4)
        self.assertIn("Wrong parallelization: ", finding["text"])
        self.assertIn("; a reduction, or entering it less often, could win ", finding["text"])
        self.assertNotIn("a reduction", self.found(section="criticality")[0]["text"])


class UnknownCode(Advice):
    def unnamed(self, executable, command):
        p = Program(module=executable)
        p.main.call(p.db.function("<unknown code>")).charge(8)
        p.main.statement(p.file, 11).charge(2)
        return self.advice(p, run_json([thread(1, 10)], 10, executable=executable,
                                       command=command))[0]

    def test_makers_of_code(self):
        for executable, advice in (
                ("/usr/bin/node", "run node --perf-basic-prof."),
                ("/usr/bin/python3.11", "use Python 3.12 or later with -X perf."),
                ("/usr/bin/luajit", "run luajit -jp, its own profiler, or build it with -DLUAJIT_USE_PERFTOOLS."),
                ("/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
                 "run java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
                 "-XX:+PreserveFramePointer."),
                ("/usr/bin/python3.12", "run python3 -X perf (3.12 or later)."),
                ("/usr/lib/erlang/erts-13.1.5/bin/beam.smp", "run erl +JPperf true."),
                ("/usr/bin/sbcl", "use its own profiler, sb-sprof."),
                ("/opt/vm", "have it write /tmp/perf-PID.map, as a JIT can.")):
            found = self.unnamed(executable, executable)
            self.assertEqual(found["kind"], "no names")
            self.assertEqual(found["text"], "80 % of the time is in code without names that "
                                            f"{os.path.basename(executable)} made at run time: {advice}")
        found = self.unnamed("/usr/bin/node", "node --perf-basic-prof x.js")
        self.assertTrue(found["text"].endswith(": let it end by itself, so that --perf-basic-prof writes them."))
        found = self.unnamed("/usr/bin/luajit", "luajit -jp x.lua")
        self.assertTrue(found["text"].endswith("-DLUAJIT_USE_PERFTOOLS."))

    def test_lines_are_missing(self):
        """Of the program itself: it has no line that leads there. The procedure is known, and comes first."""
        p = Program()
        inner = p.db.function("inner", p.program, 64)
        p.main.statement(p.file, 11).call(inner).charge(8)
        p.main.statement(p.file, 14).charge(2)
        self.assertEqual(self.texts(p, run_json([thread(1, 10)], 10)),
                         ["80 % of the time is in inner.",
                          "80 % of the time is in prog, which has no source lines: compile it with -g, and do not strip it."])

        run = run_json([thread(1, 10)], 10)
        run["modules"] = [{"path": "/home/u/prog", "structure": "full"}]
        self.assertEqual(self.texts(p, run)[1], "80 % of the time is in prog, which has source lines, but not there: compile all "
                                                "that is linked into it with -g.")

    def test_what_another_finding_says(self):
        """Code without names, and system calls without a caller that has one, are no place."""
        for name, kinds in ("<unknown code>", ["no names"]), ("getdents64", ["system calls"]), ("memcpy", ["hot place"]):
            p = Program(module="/usr/bin/prog")
            p.main = p.db.entry(1, "main thread").call(p.db.function("<prog+0x10>", p.program, 16))
            p.main.call(p.db.function(name) if name[0] == "<" else p.of_libc(name)).charge(8)
            found = self.advice(p, run_json([thread(1, 8)], 8))
            self.assertEqual([f["kind"] for f in found if f["kind"] != "no lines"], kinds)
        p = Program()
        for name, seconds in ("getdents64", 6), ("write", 4):
            p.db.entry(1, "main thread").call(p.of_libc(name)).charge(seconds)
        kinds = [f["kind"] for f in self.advice(p, run_json([thread(1, 10)], 10))]
        self.assertEqual(kinds, ["system calls", "no lines"])

    def test_frames_that_were_not_read(self):
        p = Program()
        p.db.entry(1, "main thread").call(p.db.function("<Python frames not read in time>")).charge(6)
        p.main.statement(p.file, 14).charge(4)
        kinds = {f["kind"]: f["scope"] for f in self.advice(p, run_json([thread(1, 10)], 10))}
        self.assertEqual(kinds.get("hot place"), "main")

    def test_lines_that_lead_there(self):
        """The vdso and libraries: a line of the program is at fault."""
        for module in ("[vdso]", "/usr/lib/libinner.so"):
            p = Program()
            inner = p.db.function("inner", p.db.module(module), 64)
            p.main.statement(p.file, 11).call(inner).charge(8)
            p.main.statement(p.file, 14).charge(2)
            kinds = [f["kind"] for f in self.advice(p, run_json([thread(1, 10)], 10))]
            self.assertEqual(kinds, ["hot place"])

    def test_names_from_outside(self):
        """Control sequences in names do not reach the terminal."""
        p = Program()
        p.main.statement(p.file, 11).call(p.function("evil\x1b[31m\n", 40)).statement(p.file, 41) \
            .charge(10)
        self.write(p.db, run_json([thread(1, 10)], 10))
        shown = viewer.printed("summary", self.db).split("\nAdvice\n")[1]
        self.assertNotIn("\x1b", shown)
        self.assertIn("evil", shown)


class Unoptimized(Advice):
    def test_how_much_of_it(self):
        for units, words in ((3, "prog was compiled without -O, and 100 % of the time is in it: compile with -O2 first."),
                             (10, "3 of 10 source files of prog were compiled without -O, and 100 % of the time")):
            p = Program()
            p.main.statement(p.file, 11).charge(9)
            run = run_json([thread(1, 9)], 9)
            run["modules"] = [{"path": "/home/u/prog", "unoptimized_units": 3, "units": units}]
            found, = self.of_kind(self.advice(p, run), "not optimized")
            self.assertIn(words, found["text"])


class HotPlaces(Advice):
    def test_a_loop_over_several_lines(self):
        p = Program()
        loop = p.main.loop(p.file, 15)
        loop.statement(p.file, 16).charge(3)
        loop.statement(p.file, 17).charge(2)
        p.main.statement(p.file, 19).charge(4)
        found, = self.advice(p, run_json([thread(1, 9)], 9))
        self.assertEqual((found["kind"], *self.place(found)), ("hot place", "main", "/src/p.c", 15))
        self.assertEqual(found["text"], "56 % of the time is in the loop at p.c:15 of main.")

    def test_what_a_line_calls(self):
        """Time in the system's code is attributed to the line that calls it."""
        p = Program()
        p.main.statement(p.file, 18).call(p.of_libc("memcpy")).charge(6)
        p.main.statement(p.file, 19).charge(4)
        found = self.advice(p, run_json([thread(1, 10)], 10))
        found, = self.of_kind(found, "hot place")
        self.assertEqual(self.place(found), ("main", "/src/p.c", 18))
        self.assertEqual(found["text"], "100 % of the time is in main, p.c:18, most of it in memcpy (libc).")

    def test_a_line_that_calls_several(self):
        """It has more of the time than another line, though none of its callees has."""
        p = Program()
        line = p.main.statement(p.file, 19)
        line.call(p.of_libc("memcpy")).charge(3)
        line.call(p.of_libc("memset")).charge(3)
        p.main.statement(p.file, 18).charge(4)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 10)], 10)), "hot place")
        self.assertEqual(found["text"], "100 % of the time is in main, p.c:19.")

    def test_what_has_no_name_says_its_library(self):
        """Once, as the begin of its name."""
        p = Program()
        libz = p.db.module("/usr/lib/libz.so.1")
        p.main.statement(p.file, 18).call(p.db.function("<libz.so.1+0x80>", libz, 0x80)).charge(6)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 6)], 6)), "hot place")
        self.assertEqual(found["text"], "100 % of the time is in main, p.c:18, most of it in <libz.so.1+0x80>.")

    def test_code_of_a_package_without_names(self):
        """hpcstruct makes a name of the offset, which says nothing: the caller with a name is named, and what it calls."""
        p = Program(module="/usr/bin/prog")
        p.main = p.db.entry(1, "main thread").call(p.db.function("render", p.program, 16))
        p.main.call(p.db.function("<prog+0x1b919c0>", p.program, 32)).call(p.of_libc("memcpy")).charge(6)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 6)], 6)), "hot place")
        self.assertEqual(found["text"], "100 % of the time is in render, most of it in memcpy (libc).")

    def test_what_is_called_between_says_nothing(self):
        """A stripped library, numpy's function for each function that may be overridden, asyncio's loop. But where most of
        the time is their own, they are named."""
        packages, library = "/usr/lib/python3/dist-packages/numpy/", "/usr/lib/python3.11/asyncio/"
        stripped, own = ("<_um.so+0x80>", None), ("<_um.so+0x90>", None)
        loop = [("run", library + "runners.py"), ("_run_once", library + "base_events.py"), ("_run", library + "events.py")]
        public, sort = ("public_api", "<__array_function__ internals>"), ("sort", packages + "fromnumeric.py")
        read = ("_read_ready", library + "selector_events.py")
        for calls, callee in (([own], "<_um.so+0x90>"), ([stripped, public, stripped, sort], "sort"),
                              ([*loop, read], "_read_ready"), (loop, "run"), ([sort, read], "sort")):
            p = Program()
            module, at = p.db.module(packages + "_um.so"), p.main.statement(p.file, 18)
            for name, file in calls:
                at = at.call(p.db.function(name, file=p.db.file(file), line=1) if file else p.db.function(name, module, 0x80))
            at.charge(10)
            at.call(p.of_libc("memcpy")).charge(6 if calls == [own] else 0)
            found, = self.of_kind(self.advice(p, run_json([thread(1, 16)], 16)), "hot place")
            self.assertEqual(found["text"], f"100 % of the time is in main, p.c:18, most of it in {callee}.")

    def test_library_without_names(self):
        """A caller with a name in another module, which may only have created its thread, says less."""
        p = Program(module="/usr/bin/prog")
        main = p.db.entry(1, "main thread").call(p.db.function("main", p.program, 16))
        library = p.db.module("/usr/lib/libcodec.so.1")
        main.call(p.db.function("<libcodec.so.1+0x10>", library, 16)).charge(6)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 6)], 6)), "hot place")
        self.assertEqual(found["text"], "100 % of the time is in <libcodec.so.1+0x10>.")

    def test_package_of_which_nothing_has_a_name(self):
        """It says more than the C library, which calls it, and which it calls."""
        p = Program(("work", "off CPU", "waiting"), module="/usr/bin/prog")
        start = p.db.entry(1, "main thread").call(p.of_libc("__libc_start_call_main"))
        code = start.call(p.db.function("<prog+0x10>", p.program, 16))
        code.call(p.of_libc("memcpy")).charge(6)
        code.call(p.of_libc("pthread_cond_wait")).call(p.of_libc("__futex_abstimed_wait_common64")).charge(4, 0).charge(4, 1)
        run = run_json([thread(1, 6)], 10, events=("REALTIME",), metrics=p.db.metrics)
        self.assertEqual([f["text"] for f in self.advice(p, run) if f["kind"] in ("hot place", "blocked")],
                         ["100 % of the time is in <prog+0x10>, most of it in memcpy (libc).",
                          "A thread waits 40 % of the time for a condition at <prog+0x10> (pthread_cond_wait)."])

    def test_code_of_libraries_of_languages(self):
        """Files that are not here: Go's library, which -trimpath leaves without its folder, and what Cargo has fetched."""
        for file, scope in (("strings/strings.go", "main"), ("/rustc/59807616e/library/core/src/cmp.rs", "main"),
                            ("/home/u/.cargo/registry/src/index.crates.io-6f17d22b/rayon-1.8.0/src/iter.rs", "main"),
                            ("app/strings.go", "called")):
            p = Program()
            at = p.db.file(file)
            p.main.statement(p.file, 18).call(p.db.function("called", p.program, 640, at, 40)).statement(at, 41).charge(6)
            found, = self.of_kind(self.advice(p, run_json([thread(1, 6)], 6)), "hot place")
            self.assertEqual(found["scope"], scope, file)

    def test_code_of_ocaml(self):
        """Its library and runtime are in the program: a path that the compiler has left as it was, or no file. --own says
        otherwise, of the file, else of the binary."""
        add, own = "camlStdlib__Hashtbl__add_12", ("--own", "stdlib")
        for name, file, options, scope in (
                (add, "stdlib/hashtbl.ml", (), "main"), ("caml_hash", None, (), "main"),
                ("camlMl__work_81", "/src/ml.ml", (), "camlMl__work_81"), (add, "stdlib/hashtbl.ml", own, add),
                ("caml_hash", None, own, "main"), ("caml_hash", None, ("--own", "/home/u"), "caml_hash")):
            p = Program()
            called = p.db.function(name, p.program, 640, p.db.file(file) if file else None, 40 if file else 0)
            p.main.statement(p.file, 18).call(called).charge(6)
            found, = self.of_kind(self.advice(p, run_json([thread(1, 6)], 6), *options), "hot place")
            self.assertEqual(found["scope"], scope, (name, options))

    def test_a_program_that_sleeps(self):
        """For less than half of 20 s it has the CPU."""
        p = Program(("work", "waiting"))
        pool = p.db.function("pool_wait", p.db.module("/usr/lib/libpool.so"), 64)
        p.main.statement(p.file, 18).charge(6)
        p.main.statement(p.file, 19).call(pool).charge(3, 1)
        for wall, time in ((20, "CPU time"), (17, "time")):
            texts = self.texts(p, run_json([thread(1, 9)], wall, metrics=("work", "waiting")))
            self.assertEqual(texts, [f"67 % of the {time} is in main, p.c:18.",
                                     f"Threads wait 33 % of their {time} for others in pool_wait, p.c:19."])
        run = run_json([thread(1, 9, ready=11)], 20, metrics=("work", "waiting"))
        run["processes"][0]["ready"] = 11
        self.assertEqual(self.texts(p, run)[1], "67 % of the time is in main, p.c:18.")

    def test_a_procedure_that_a_loop_calls(self):
        """cell (p.c:40) has no loop, so that of its caller is named, too; sin is a variant of libm."""
        p = Program()
        libm = p.db.module("/lib/x86_64-linux-gnu/libm.so.6")
        cell = p.main.loop(p.file, 15).statement(p.file, 16).call(p.function("cell", 40))
        cell.statement(p.file, 41).call(p.db.function("__sin_fma", libm, 64)).charge(7)
        cell.statement(p.file, 42).charge(2)
        p.main.statement(p.file, 17).charge(1)
        found, = self.advice(p, run_json([thread(1, 10)], 10))
        self.assertEqual(found["text"], "90 % of the time is in cell, p.c:41, in the loop at p.c:15, most of it in sin (libm).")

    def test_whose_code_it_is(self):
        """A package's library called by the user's program: the user's line. Without a user's program: the innermost
        procedure of a package that has a name. --own and --own !DIR say otherwise."""
        p = Program(module="/usr/bin/prog")
        png, libz = p.db.module("/usr/lib/libpng.so.16"), p.db.module("/usr/lib/libz.so.1")
        write = p.main.statement(p.file, 18).call(p.db.function("png_write_row", png, 64))
        write.call(p.db.function("deflate", libz, 64)).call(p.db.function(None, libz, 128)).charge(10)
        run = run_json([thread(1, 10)], 10)
        for options, place in (((), "deflate"), (("--own", "/usr/bin"), "main, p.c:18"), (("--own", "/src"), "main, p.c:18"),
                               (("--own", "/usr/lib"), "<libz.so.1+0x80>"),
                               (("--own", "/usr", "--own", "!/usr/lib"), "main, p.c:18")):
            text = self.of_kind(self.advice(p, run, *options), "hot place")[0]["text"]
            self.assertTrue(text.startswith(f"100 % of the time is in {place}"), (options, text))

    def test_library_of_python(self):
        """Its files exist here, but the line that calls it is the user's."""
        p = Program()
        interpreter = p.db.module("/opt/conda/bin/python3.11")
        encoder = p.db.function("dumps", interpreter, 64, p.db.file(json.__file__), 183)
        in_c = p.db.function("encoder_call", interpreter, 128)
        p.main.statement(p.file, 18).call(encoder).statement(p.db.file(json.__file__), 238).call(in_c).charge(6)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 6)], 6)), "hot place")
        self.assertEqual(self.place(found), ("main", "/src/p.c", 18))

    def test_packages_of_python(self):
        """They are shown rather than Python's library, and than the interpreter, whose lines are of no use."""
        p = Program(module="/usr/bin/python3.11")
        packages, library = "/usr/lib/python3/dist-packages/p.py", "/usr/lib/python3.11/l.py"
        caller = p.db.entry(1, "main thread").call(p.db.function("run", file=p.db.file(packages), line=3))
        called = caller.statement(p.db.file(packages), 4).call(p.db.function("call", file=p.db.file(library), line=5))
        called.call(p.db.function("sort", p.program, 64)).charge(6)
        found, = self.advice(p, run_json([thread(1, 6)], 6))
        self.assertEqual(self.place(found), ("run", packages, 4))

    def test_python_code_without_a_file(self):
        """That of python3 -, python3 -c and IPython is the user's; what a library makes is called by the user's line."""
        for file, name, place in (("<stdin>", "f", ("f", "<stdin>", 2)), ("<string>", "<module>", ("<module>", "<string>", 2)),
                                  ("<ipython-input-3-8f>", "f", ("f", "<ipython-input-3-8f>", 2)),
                                  ("<string>", "__init__", ("main", "/src/p.c", 18)),
                                  ("<internals>", "<module>", ("main", "/src/p.c", 18))):
            p = Program()
            text = p.db.file(file)
            p.main.statement(p.file, 18).call(p.db.function(name, file=text, line=1)).statement(text, 2).charge(6)
            found, = self.advice(p, run_json([thread(1, 6)], 6))
            self.assertEqual(self.place(found), place)

    def test_import_of_a_module(self):
        p = Program()
        module = p.db.function("<module>", file=p.db.file("/usr/lib/python3/dist-packages/numpy/__init__.py"), line=1)
        p.main.statement(p.file, 18).call(module).charge(6)
        self.assertEqual(self.texts(p, run_json([thread(1, 6)], 6)),
                         ["100 % of the time is in main, p.c:18, most of it in <module> of numpy/__init__.py."])

    def test_headers_of_templates(self):
        """Code of a system's header, inlined or not, is not the user's; that of a header of the user's is."""
        p = Program()
        system, own = p.db.file("/usr/include/c++/12/bits/stl_algo.h"), p.db.file("/src/own.h")
        sort = p.main.statement(p.file, 18).call(p.db.function("std::sort<int>", p.program, 64, system, 5))
        sort.statement(system, 6).inline(p.db.function("std::swap<int>", file=system, line=8)).statement(system, 9).charge(3)
        sort.statement(system, 6).inline(p.db.function("less", file=own, line=3)).statement(own, 4).charge(7)
        texts = self.texts(p, run_json([thread(1, 10)], 10))
        self.assertEqual(texts, ["70 % of the time is in less, own.h:4."])

    def test_long_names_in_sentences(self):
        """Without the arguments of templates and functions, where they are long. The place has the whole name."""
        p = Program()
        long = "std::map<int, std::vector<char> >::find(int const&)"
        p.main.statement(p.file, 11).call(p.function(long, 20)).statement(p.file, 21).charge(6)
        p.main.statement(p.file, 19).call(p.function("list<int>::find(int)", 30)).statement(p.file, 31).charge(4)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 10)], 10)), "hot place")
        self.assertEqual(found["scope"], long)
        self.assertIn(" in std::map<...>::find(...), p.c:21", found["text"])

    def test_system_calls(self):
        """4 of 10 s. They may wait, too: no gain is claimed."""
        p = Program()
        p.main.statement(p.file, 18).call(p.of_libc("__write_nocancel")).charge(4)
        p.main.statement(p.file, 19).charge(6)
        found = self.advice(p, run_json([thread(1, 10)], 10))[0]
        self.assertEqual((found["kind"], *self.place(found)), ("system calls", "main", "/src/p.c", 18))
        self.assertEqual((found["text"], found["gain"]),
                         ("40 % of the time is in system calls, most of it in write (libc) called in main, p.c:18.", None))

    def test_a_place_of_system_calls_is_named_once(self):
        """Nothing but system calls of line 18: that is one finding. The next place is another one."""
        p = Program()
        p.main.statement(p.file, 11).call(p.function("serial", 20)).statement(p.file, 21) \
            .call(p.of_libc("__write_nocancel")).charge(7)
        self.assertEqual([f["kind"] for f in self.advice(p, run_json([thread(1, 7)], 10))], ["system calls"])
        p.main.statement(p.file, 19).charge(3)
        found = self.advice(p, run_json([thread(1, 10)], 10))
        self.assertEqual([(f["kind"], f["line"]) for f in found], [("system calls", 21), ("hot place", 19)])

    def test_system_calls_with_the_kernel_shown(self):
        """Procedures of the kernel below them change no advice."""
        p = Program()
        kernel = p.db.module("[kernel]")
        entry, copy = (p.db.function(name, kernel, at) for name, at in (("ksys_write", 64), ("copy_page", 80)))
        call = p.main.statement(p.file, 18).call(p.of_libc("__write_nocancel"))
        call.call(entry).charge(1).call(copy).charge(3)
        p.main.statement(p.file, 19).charge(1)
        p.main.statement(p.file, 20).call(copy).charge(5)  # page faults
        run = run_json([thread(1, 10)], 10)
        folded, shown = self.advice(p, run), self.advice(p, run, "--kernel")
        self.assertEqual([(found["kind"], found["line"]) for found in folded], [("system calls", 18), ("hot place", 20)])
        self.assertEqual(shown, folded)

    def test_system_calls_of_one_of_two_processes(self):
        """Saving them would gain 14 / 10 of the run, less than 10 / 6.5 by an even loop."""
        p = Program(n_threads=3)
        p.main.statement(p.file, 18).call(p.of_libc("__write_nocancel")).charge(4)
        p.main.statement(p.file, 19).charge(6)
        run = run_json([thread(1, 10)], 10)
        run["processes"].append(dict(run["processes"][0], pid=71, threads=[thread(2, 0.5)]))
        kinds = [f["kind"] for f in self.advice(p, run)]
        self.assertEqual(kinds, ["system calls", "hot place"])
        p.thread.statement(p.file, 31).charge(7, 0, 2).charge(0.5, 0, 3)
        run = run_json([thread(1, 10), thread(2, 7, "parallel"), thread(3, 0.5, "parallel")], 10.5, 4)
        run["processes"].append(dict(run["processes"][0], pid=71, threads=[thread(4, 1)]))
        kinds = [f["kind"] for f in self.advice(p, run)]
        self.assertLess(kinds.index("imbalance"), kinds.index("system calls"))

    def test_calls_that_may_wait(self):
        """By REALTIME, 5 s on a CPU in read are from before it if it waits, too."""
        for off_cpu, kinds in ((0, ["hot place"]), (3, [])):
            p = Program(("work", "off CPU"))
            p.main.statement(p.file, 18).call(p.of_libc("read")).charge(5 + off_cpu, 0).charge(off_cpu, 1)
            run = run_json([thread(1, 5)], 10, events=("REALTIME",), metrics=("work", "off CPU"))
            self.assertEqual([f["kind"] for f in self.advice(p, run) if f["kind"] != "blocked"], kinds)

    def test_intervals_of_long_samples(self):
        """A sample is as long as those that were taken, in all threads, if that is longer than the period: of 250 samples
        33 in system calls may be less than 10 %; of 2,000 samples, if they were as short as the period, not."""
        p = Program()
        p.main.statement(p.file, 18).call(p.of_libc("write")).charge(1.32)
        p.main.statement(p.file, 19).charge(8.68)
        said = []
        for period, counts in ((0.04, (0, 0)), (PERIOD, (150, 100))):
            run = run_json([thread(1, 6), thread(2, 4)], 10)
            run["events"][0]["period"] = period
            for described, count in zip(run["processes"][0]["threads"], counts):
                fired = {"count": count, "amount": count * 0.04}
                described["events"] = [{"event": "CPUTIME", "fates": {"fired": fired}}]
            said.append(self.of_kind(self.advice(p, run), "system calls"))
        self.assertEqual(said, [[], []])
        self.assertEqual(len(self.of_kind(self.advice(p, run_json([thread(1, 10)], 10)), "system calls")), 1)

    def allocator(self, system_call, callee, seconds, metrics=("work",), events=("CPUTIME",)):
        """Findings where so many of 10 s are in a system call, below a procedure of libc that line 18 calls."""
        p = Program(metrics)
        p.main.statement(p.file, 18).call(p.of_libc(callee)).call(p.of_libc(system_call)).charge(seconds)
        p.main.statement(p.file, 19).charge(10 - seconds)
        return self.of_kind(self.advice(p, run_json([thread(1, 10)], 10, events=events, metrics=metrics)),
                            "memory calls")

    def test_memory_that_is_given_back(self):
        for system_call, callee in (("__brk", "__libc_free"), ("brk", "std::vector<int>::~vector()"), ("munmap", "cfree"),
                                    ("mmap64", "operator new[](unsigned long)"), ("madvise", "operator delete(void*)")):
            with self.subTest(system_call=system_call):
                found, = self.allocator(system_call, callee, 0.8)
                self.assertEqual(self.place(found), ("main", "/src/p.c", 18))
                self.assertEqual(found["gain"], None)
                self.assertRegex(found["text"], r"^8\.0 % of the time goes into .* most of it in main, p\.c:18 \(" +
                                 system_call.strip("_").removesuffix("64") + r"\): .*MALLOC_TRIM_THRESHOLD_=")

    def test_memory_calls_of_others(self):
        """Stacks of threads, a library, little time."""
        self.assertEqual(self.allocator("mmap", "pthread_create", 5), [])
        self.assertEqual(self.allocator("munmap", "dlclose", 5), [])
        self.assertEqual(self.allocator("write", "free", 5), [])
        self.assertEqual(self.allocator("brk", "free", 0.5), [])


class Waiting(Advice):
    def test_cpu_time_of_threads_that_spin(self):
        """4 of 10 s, in calls from line 12."""
        p = Program(("work", "waiting"))
        pool = p.db.function("pool_wait", p.db.module("/usr/lib/libpool.so"), 64)
        p.main.statement(p.file, 12).call(pool).charge(4, 1)
        p.main.statement(p.file, 13).charge(6, 0)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 10)], 10,
                                                      metrics=("work", "waiting"))), "waiting")
        self.assertEqual(self.place(found), ("main", "/src/p.c", 12))
        self.assertEqual(found["text"], "Threads wait 40 % of their time for others in pool_wait, p.c:12.")
        self.assertEqual(found["gain"], None)

    def test_no_caller_has_a_name(self):
        """libc's own file and line say nothing."""
        p = Program(("work", "waiting"))
        wait = p.db.function("sched_yield", p.libc, 64, p.db.file("/build/syscall-template.S"), 120)
        p.db.entry(2, "thread root").call(p.of_libc("start_thread")).call(wait).charge(4, 1)
        p.main.statement(p.file, 13).charge(6, 0)
        found, = self.of_kind(self.advice(p, run_json([thread(1, 10)], 10, metrics=p.db.metrics)), "waiting")
        self.assertEqual(found["text"], "Threads wait 40 % of their time for others in sched_yield (libc).")


class Span(Advice):
    METRICS = ("work", "idleness", "incomplete")

    def program(self, metrics=METRICS):
        """4 workers, 24 s of effort: 6 s of wall clock, in 0.6 of which not all worked."""
        p = Program(metrics)
        p.main.statement(p.file, 11).call(p.function("serial", 20)).statement(p.file, 21) \
            .charge(1.5, 0).charge(0.7, 1).charge(0.45, 2)
        p.main.statement(p.file, 13).call(p.function("solve", 30)).statement(p.file, 31) \
            .charge(21.6, 0).charge(0.2, 1).charge(0.15, 2)
        return p

    def found(self, agent, program, kinds=("span",)):
        run = run_json([thread(1, 23.1)], 6, metrics=program.db.metrics)
        run["processes"][0]["workers"] = 4
        run["agents"] = [{"name": agent}]
        return [x for x in self.advice(program, run) if x["kind"] in kinds]

    def test_the_limit_with_unlimited_cpus(self):
        found, = self.found("minicilk", self.program())
        self.assertAlmostEqual(found["gain"], 10)
        low, high = found["gain_interval"]
        self.assertTrue(low < 10 < high)
        self.assertEqual(found["text"], f"Limit with unlimited CPUs: at least {6 / high:.1g} s, at most {high:.0f}x faster, "
                                        "75 % of it in serial, p.c:21.")
        self.assertEqual(found["scope"], "serial")

    def test_chunks_that_depend_on_the_workers(self):
        """With more threads OpenMP divides its loops otherwise."""
        p = self.program(self.METRICS + ("overhead",))
        self.assertEqual(self.found("gomp", p), [])
        self.assertEqual(len(self.found("minicilk", p)), 1)

    def test_where_idleness_has_the_same_time(self):
        p = self.program()
        p.main.statement(p.file, 14).charge(6, 1)
        found, = self.found("minicilk", p, ("span", "parallelization"))
        self.assertEqual(found["kind"], "parallelization")

    def test_where_span_was_measured(self):
        """Incomplete time includes what measuring costs, and says less."""
        p = self.program(self.METRICS + ("exact work", "span", "burdened span"))
        for i, amount in enumerate((18, 1, 1), 3):
            p.main.statement(p.file, 11).charge(amount, i)
        found, = self.found("minicilk", p, ("span", "parallelism"))
        self.assertEqual(found["kind"], "parallelism")


class Busy(Advice):
    """Plain threads without idleness."""

    def found(self, cpu, cpus, idleness=0, samples=0):
        """`samples`: by the wall clock, of each thread but the first."""
        p = Program(("work", "idleness"), len(cpu))
        p.main.statement(p.file, 11).charge(cpu[0]).charge(idleness, 1)
        for profile, seconds in enumerate(cpu[1:], 2):
            p.thread.statement(p.file, 31).charge(seconds, 0, profile)
        threads = [thread(i, s, "parallel" if i > 1 else None) for i, s in enumerate(cpu, 1)]
        for described in threads[1:]:
            described["events"] = [{"event": "REALTIME", "source": "timer", "samples": samples, "fates": {}}]
        run = run_json(threads, 10, cpus, metrics=("work", "idleness"))
        return self.texts(p, run)

    def test_all_cpus_are_busy(self):
        self.assertIn("Threads are busy (0 % idle): nothing to gain from more parallelism.", self.found([9.9, 9.9], 2))

    def test_there_are_more_cpus(self):
        self.assertFalse([t for t in self.found([9.9, 9.9], 4) if "busy" in t])

    def test_cpus_that_nobody_uses(self):
        """Threads that have ended, or not begun, are not idle: 13.5 % of two CPUs are left, or 8 %."""
        self.assertFalse([t for t in self.found([9.9, 7.4], 2) if "busy" in t])
        self.assertTrue([t for t in self.found([9.9, 8.5], 2) if "busy" in t])

    def test_a_thread_that_ended_early(self):
        """Nobody was idle, since the other one was gone."""
        texts = self.found([9.9, 2], 2)
        self.assertTrue(texts[0].startswith("Only the main thread runs for at least 7.9 s of 10 s"), texts)
        self.assertFalse([t for t in texts if "busy" in t])

    def test_cpu_time_of_samples(self):
        """1,800 samples a second cost a thread that waits 0.9 s of 10: that is no work of its own."""
        self.assertIn("Only the main thread runs for at least 8.1 s", self.found([9, 0.9], 2)[0])
        self.assertEqual(self.found([9, 0.9], 2, samples=18000), ["91 % of the time is in main, p.c:11."])

    def test_helpers_that_wait(self):
        """An interpreter with a helper thread that hardly works is no parallel program, however idle the helper is."""
        self.assertEqual(self.found([9.9, 0.3], 2, 9), ["97 % of the time is in main, p.c:11."])
        self.assertTrue(self.found([9.9, 3], 2, 9)[0].startswith("Too little parallelism: "))
