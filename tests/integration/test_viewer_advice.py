"""Advice for programs without an agent, on small databases with known numbers: from the CPU clocks of
threads, from blocked time, and from code without lines."""
import math
import unittest

import v4_writer
import viewer
from test_viewer_efficiency import Case

PERIOD = 0.005
SPREAD = 13 / 12  # of increments: their mean square over the square of their mean


def thread(profile, cpu, start_routine=None, kind="created"):
    return {"index": profile - 1, "tid": 70 + profile, "name": "t", "kind": kind,
            "profile": profile, "wall": 10.0, "cpu": cpu, "start_routine": start_routine,
            "events": []}


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
        return p, [thread(1, serial)] + [thread(i, s, "parallel") for i, s in enumerate(parts, 2)]

    def test_one_thread_runs_alone(self):
        """8 s in the main thread, 3 s in all others: it runs alone for at least 5 s. On 4 CPUs
        these become 1.25 s: 9 s of wall clock become 5.25."""
        p, threads = self.program(8, [1.5, 1.5])
        found = self.advice(p, run_json(threads, 9))[0]
        self.assertEqual((found["kind"], *self.place(found)), ("one thread", "serial", "/src/p.c", 21))
        self.assertAlmostEqual(found["gain"], 9 / 5.25)
        self.assertIn("for at least 5.000 s of 9.000 s", found["text"])

    def test_what_an_imbalance_explains(self):
        """Of 5, 1 and 1 s, one thread has 3 s more than the others together: of the 12 - 7 s of the main thread, 2 are
        left."""
        p, threads = self.program(12, [5, 1, 1])
        found, = self.of_kind(self.advice(p, run_json(threads, 13)), "one thread")
        self.assertIn("for at least 2.000 s of 13.00 s", found["text"])
        p, threads = self.program(9.5, [5, 1, 1])
        self.assertEqual(self.of_kind(self.advice(p, run_json(threads, 13)), "one thread"), [])

    def test_few_threads_run_at_once(self):
        """4 threads use 10 s in 10 s. While two or more run they use 2 s each second, which can't last
        longer than 5 s: at most one runs for 5 s at least. It may be more: nobody knows when which ran."""
        p, threads = self.program(4, [2, 2, 2])
        found, = self.of_kind(self.advice(p, run_json(threads, 10)), "one thread")
        self.assertIn("for at least 5.000 s of 10.00 s; on average 1.0 do", found["text"])
        self.assertEqual(found["gain"], None)

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
        sigma = math.sqrt(SPREAD * PERIOD * 7)
        self.assertAlmostEqual(found["gain_interval"][1], 8 / (8 - 4 - 1.96 * sigma))
        self.assertLess(found["gain_interval"][0], found["gain"])
        self.assertIn("of the 4 threads in parallel, p.c:30, one has 7.000 s of CPU time, the mean "
                      "is 3.000 s", found["text"])

    def test_unequal_parts_of_a_pool(self):
        """Threads of a pool hang below <thread root>; the main thread takes part, below a library
        of the system: 6, 1 and 2 s, 3 more than the mean."""
        p = Program(n_threads=3)
        pool = p.db.module("/usr/lib/libpool.so")
        work, body = p.db.function("pool_work", pool, 64), p.function("body", 40)
        p.main.statement(p.file, 11).call(p.db.function("pool_run", pool, 32)) \
            .call(body).statement(p.file, 41).charge(6)
        shared = p.db.entry(2, "<thread root>").call(work).call(body).statement(p.file, 41)
        shared.charge(1, 0, 2).charge(2, 0, 3)
        run = run_json([thread(1, 6), thread(2, 1, "pool_work"), thread(3, 2, "pool_work")], 9)
        found = self.advice(p, run)[0]
        self.assertEqual((found["kind"], found["scope"]), ("imbalance", "body"))
        self.assertAlmostEqual(found["gain"], 9 / (9 - 3))

    def test_parts_of_recursive_calls(self):
        """count once: 7, 2, 2 and 1 s again."""
        p, threads = self.program(0.01, [4, 1, 1, 0.5])
        inner = p.thread.statement(p.file, 33).call(p.thread.function).statement(p.file, 31)
        for profile, seconds in enumerate((3, 1, 1, 0.5), 2):
            inner.charge(seconds, 0, profile)
            threads[profile - 1]["cpu"] += seconds
        found = self.advice(p, run_json(threads, 8))[0]
        self.assertIn("one has 7.000 s of CPU time, the mean is 3.000 s", found["text"])

    def test_a_thread_without_a_part(self):
        """A thread without work that began like the others counts: 3, 3 and 0 s."""
        p, threads = self.program(0.01, [3, 3], 1)
        threads.append(thread(4, 0.0, "parallel"))
        found, = self.of_kind(self.advice(p, run_json(threads, 4)), "imbalance")
        self.assertIn("of the 3 threads", found["text"])
        self.assertAlmostEqual(found["gain"], 4 / (4 - 1))

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
        """6 s of 10 in a lock; 7 s of CPU time on two CPUs: not below 4 s."""
        found = self.advice(self.program({"__pthread_mutex_lock": 6}), self.run_of())[0]
        self.assertEqual((found["kind"], *self.place(found)), ("blocked", "parallel", "/src/p.c", 32))
        self.assertIn("Threads wait for a lock: parallel, p.c:32, in __pthread_mutex_lock; on "
                      "average 0.6 of 3 threads", found["text"])
        self.assertAlmostEqual(found["gain"], 10 / 4)

    def test_cpus_limit_the_gain(self):
        found = self.advice(self.program({"pthread_mutex_lock": 9}), self.run_of())[0]
        self.assertAlmostEqual(found["gain"], 10 / 3.5)

    def test_causes_and_consequences(self):
        """Sleeps, input and barriers are causes; to wait for threads to end is not; conditions may
        be, but nothing is known of what is gained."""
        for name, cause in (("clock_nanosleep", "in a sleep"), ("__libc_read", "for input or output"),
                            ("pthread_barrier_wait", "at a barrier")):
            found, = self.of_kind(self.advice(self.program({name: 6}), self.run_of()), "blocked")
            self.assertIn(f"Threads wait {cause}: ", found["text"])
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

    def test_no_cpu(self):
        found, = self.of_kind(self.advice(self.program({"": 6}), self.run_of()), "no cpu")
        self.assertIn("on average 0.6 threads", found["text"])
        self.assertIn("There are 3 threads for 2 CPUs, or other programs", found["text"])
        found, = self.of_kind(self.advice(self.program({"": 6}), self.run_of(cpus=3)), "no cpu")
        self.assertIn(". Perhaps other programs", found["text"])


class Locks(Advice):
    """Thread 2 holds a lock in line 31 while others wait for it in line 32 for 4 s, and for another one for 1 s."""

    def found(self, event, *metrics):
        p = Program((*metrics, "lock blame", "lock wait"), 2)
        p.thread.statement(p.file, 31).charge(9, 0, 2).charge(5, len(metrics), 2)
        waits = p.thread.statement(p.file, 32)
        for name, seconds in (("<lock queue_lock>", 4), ("<lock other>", 1)):
            waits.call(p.function(name, 0)).charge(seconds, len(metrics) + 1, 2)
        run = run_json([thread(1, 1), thread(2, 9)], 10, events=(event,), metrics=p.db.metrics)
        found, = self.of_kind(self.advice(p, run), "lock")
        self.assertEqual(self.place(found), ("parallel", "/src/p.c", 31))
        return found["text"]

    def test_how_long_and_where(self):
        """By CPUTIME, a holder off the CPU has no samples."""
        said = "5.000 s for lock queue_lock (80%) and other locks. 100% of that time the holder is at parallel, p.c:31."
        self.assertEqual(self.found("CPUTIME", "work"), f"Threads wait at least {said}")
        self.assertEqual(self.found("REALTIME", "work", "off CPU"), f"Threads wait {said}")


class TooManyThreads(Advice):
    KIND = "too many threads"

    def found(self, nobody=300, threads=3, cpus=2, agents=("pthread", "gomp"), of=2000):
        run = run_json([thread(n + 1, 5) for n in range(threads)], wall=10, cpus=cpus)
        run["agents"] = [{"name": name, "version": "1.0"} for name in agents]
        run["processes"][0].update(samples=of, nobody_working=nobody)
        program = Program(n_threads=threads)
        program.main.statement(program.file, 11).charge(5)
        return self.of_kind(self.advice(program, run), self.KIND)

    def test_nobody_works_for_want_of_cpus(self):
        """15 % of 2,000 samples. Wilson's interval, with the variance of samples of random periods (13/12): 13.4 to 16.7 %."""
        finding, = self.found()
        self.assertTrue(finding["text"].startswith("More threads than CPUs: 3 for 2, and none of them was working in 15.0% "
                                                   "(13.4% to 16.7%) of the samples."), finding["text"])
        self.assertTrue(finding["text"].endswith("Try 2 threads (OMP_NUM_THREADS)."), finding["text"])

    def test_enough_cpus(self):
        self.assertEqual(self.found(cpus=3), [])

    def test_seldom(self):
        self.assertEqual(self.found(nobody=210), [])
        self.assertEqual(self.found(nobody=3, of=20), [])

    def test_threads_without_a_parallel_runtime(self):
        self.assertEqual(self.found(agents=("pthread",)), [])

    def test_other_runtimes(self):
        finding, = self.found(agents=("minicilk",))
        self.assertIn("Try 2 threads (MINICILK_WORKERS).", finding["text"])


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
                ("/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
                 "run java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
                 "-XX:+PreserveFramePointer."),
                ("/usr/bin/python3.12", "run python3 -X perf (3.12 or later)."),
                ("/opt/vm", "have it write /tmp/perf-PID.map, as a JIT can.")):
            found = self.unnamed(executable, executable)
            self.assertEqual(found["kind"], "no names")
            self.assertRegex(found["text"], r"^Code without names: 80\.0% \(.*\) of the CPU time")
            self.assertTrue(found["text"].endswith(advice), found["text"])
        found = self.unnamed("/usr/bin/node", "node --perf-basic-prof x.js")
        self.assertIn("--perf-basic-prof was given", found["text"])

    def test_lines_are_missing(self):
        p = Program()
        inner = p.db.function("inner", p.db.module("/opt/lib/libinner.so"), 64)
        p.main.statement(p.file, 11).call(inner).charge(8)
        p.main.statement(p.file, 14).charge(2)
        found = self.advice(p, run_json([thread(1, 10)], 10))[0]
        self.assertEqual(found["kind"], "no lines")
        self.assertRegex(found["text"], r"^No source lines: 80\.0% \(.*\) of the CPU time is in "
                                        r"libinner\.so, .* most of it in inner")

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
        for units, words in ((3, "which was compiled without -O: compile it with -O2 first"),
                             (10, "of which 3 of 10 source files were compiled without -O")):
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
        self.assertRegex(found["text"], r"55\.6% \(.*\) in the loop at p\.c:15 of main")

    def test_what_a_line_calls(self):
        """Time in the system's code is attributed to the line that calls it."""
        p = Program()
        p.main.statement(p.file, 18).call(p.of_libc("memcpy")).charge(6)
        p.main.statement(p.file, 19).charge(4)
        found = self.advice(p, run_json([thread(1, 10)], 10))
        found, = self.of_kind(found, "hot place")
        self.assertEqual(self.place(found), ("main", "/src/p.c", 18))
        self.assertIn("most of it in memcpy", found["text"])

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
        """4 of 10 s: 10 / 6."""
        p = Program()
        p.main.statement(p.file, 18).call(p.of_libc("__write_nocancel")).charge(4)
        p.main.statement(p.file, 19).charge(6)
        found = self.advice(p, run_json([thread(1, 10)], 10))[0]
        self.assertEqual((found["kind"], *self.place(found)), ("system calls", "main", "/src/p.c", 18))
        self.assertAlmostEqual(found["gain"], 10 / 6)

    def test_system_calls_of_one_of_two_processes(self):
        """The gain is that of the run: 4 of 14 s."""
        p = Program()
        p.main.statement(p.file, 18).call(p.of_libc("__write_nocancel")).charge(4)
        p.main.statement(p.file, 19).charge(6)
        run = run_json([thread(1, 10)], 10)
        run["processes"].append(dict(run["processes"][0], pid=71, threads=[thread(2, 4)]))
        found, = self.of_kind(self.advice(p, run), "system calls")
        self.assertIn("at least 40.0%", found["text"])
        self.assertAlmostEqual(found["gain"], 14 / 10)

    def test_intervals_of_long_samples(self):
        """A sample is as long as those that were taken, in all threads, if that is longer than the period."""
        p = Program()
        p.main.statement(p.file, 18).charge(6)
        p.main.statement(p.file, 19).charge(4)
        said = []
        for period, counts in ((0.04, (0, 0)), (PERIOD, (150, 100))):
            run = run_json([thread(1, 6), thread(2, 4)], 10)
            run["events"][0]["period"] = period
            for described, count in zip(run["processes"][0]["threads"], counts):
                fired = {"count": count, "amount": count * 0.04}
                described["events"] = [{"event": "CPUTIME", "fates": {"fired": fired}}]
            said += [f["text"] for f in self.of_kind(self.advice(p, run), "hot place")]
        self.assertIn("60.0% (", said[0])
        self.assertEqual(said[0], said[1])

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
                self.assertRegex(found["text"], r": 8\.0% \(.*\) of the CPU time .* in " + system_call +
                                 r" called from main, p\.c:18;.*MALLOC_TRIM_THRESHOLD_=")

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
        self.assertRegex(found["text"], r"for 40\.0% \(.*\) of the time that was sampled, mostly in "
                                        r"calls from main, p\.c:12")
        self.assertEqual(found["gain"], None)


class Span(Advice):
    METRICS = ("work", "idleness", "incomplete")

    def test_what_no_number_of_workers_makes_faster(self):
        """4 workers, 24 s of effort: 6 s of wall clock, in 2 of which not all worked."""
        p = Program(self.METRICS)
        p.main.statement(p.file, 11).call(p.function("serial", 20)).statement(p.file, 21) \
            .charge(1.5, 0).charge(4.5, 1).charge(1.5, 2)
        p.main.statement(p.file, 13).call(p.function("solve", 30)).statement(p.file, 31) \
            .charge(16.5, 0).charge(1.5, 1).charge(0.5, 2)
        run = run_json([thread(1, 18)], 6, metrics=self.METRICS)
        run["processes"][0]["workers"] = 4
        found, = self.of_kind(self.advice(p, run), "span")
        self.assertAlmostEqual(found["gain"], 3)
        low, high = found["gain_interval"]
        self.assertTrue(low < 3 < high)
        self.assertRegex(found["text"], r"^No number of workers makes this faster than about 2\.000 s"
                                        r" \(.*\), 3\.00x faster \(.*\): parallelism is at most about "
                                        r"9\.0\. 75\.0% \(.*\) of that is in serial, p\.c:20")
        self.assertEqual(found["scope"], "serial")

    def test_where_span_was_measured(self):
        """Incomplete time includes what measuring costs, and says less."""
        exact = ("exact work", "span", "burdened span")
        for more, kinds in (((), ["span"]), (exact, ["parallelism"])):
            metrics = self.METRICS + more
            p = Program(metrics)
            line = p.main.statement(p.file, 11).charge(18, 0).charge(6, 1).charge(2, 2)
            for i, amount in enumerate((18, 1, 1)[:len(more)], 3):
                line.charge(amount, i)
            run = run_json([thread(1, 18)], 6, metrics=metrics)
            run["processes"][0]["workers"] = 4
            found = self.advice(p, run)
            self.assertEqual([x["kind"] for x in found if x["kind"] in ("span", "parallelism")], kinds)


if __name__ == "__main__":
    unittest.main()
