"""The time line that hpcrun records: what a full one pays is the profile, to the unit; a bounded one has its sums, and the
process's whole life; a killed process leaves its own. profiling.check_trace checks the sums of each program that any test
profiles."""
import collections
import ctypes
import json
import struct

import profiling
from evidence import OfChance
from measurement_reader import Measurement
from profiling import program
from test_recovery import RecoveryTest

WORK, WAITING, IDLE_WORKER, READY, OFF_CPU = 1, 3, 4, 7, 8
PHASES = profiling.BUILD / "tests" / "programs" / "logical" / "phases"
STATES = profiling.BUILD / "tests" / "programs" / "pthread" / "thread-states"


def paid_by(record):
    """(metric, amount) of all that a record pays: doc/FORMAT-hpcrun.md, TRACE."""
    amount, n, working = record.amount, record.n, record.working
    if record.state == READY:
        yield "ready", amount
    if record.state == WAITING:
        yield "waiting", amount
    if record.state == WORK:
        yield "wall", amount // working
    if record.state == OFF_CPU:
        yield "off CPU", amount
    if record.state in (WORK, OFF_CPU):
        yield "work", amount
        if record.is_worker and n > working:
            yield "idleness", amount * (n - working) // working
            yield "incomplete", amount // working
    if record.state in (WORK, OFF_CPU, WAITING, READY):
        yield "lock blame", amount * record.waiters


class Recorded(profiling.ProfilingTest):
    def threads(self):
        path, = self.measurements.glob("*.hpcrun")
        measurement = Measurement(path)
        return measurement.metrics, list(measurement.threads.values())

    def record(self, *command, event="CPUTIME@f2000", trace="full", options=()):
        """All records, of which each thread's have paid what its tree has."""
        self.measure(*command, events=(event,), options=("--trace", trace, *options))
        metrics, threads = self.threads()
        for thread in threads:
            paid = collections.Counter()
            for record in thread.trace:
                for metric, amount in paid_by(record):
                    paid[record.node, metric] += amount
            tree = {(node, metrics[metric]): amount for (node, metric), amount in thread.values.items()
                    if metrics[metric] != "lock wait"}
            self.assertEqual({key: amount for key, amount in paid.items() if amount}, tree)
            self.assertEqual(thread.step, 1)
            self.assertEqual([r.time for r in thread.trace], sorted(r.time for r in thread.trace))
        return [record for thread in threads for record in thread.trace]


class Workers(OfChance, Recorded):
    def test_workers(self):
        """A worker without work soon sleeps: few of its samples find it awake."""
        for event in ("CPUTIME@f2000", "REALTIME@f2000"):
            with self.subTest(event=event):
                for evidence in self.looks():
                    records = self.record(PHASES, 4, 60, event=event, options=("--cores", "4"))
                    self.assertTrue([r for r in records if r.is_worker and r.state == WORK and r.n > r.working])
                    idle = any(r.state == IDLE_WORKER and r.node == 0 for r in records)
                    evidence.rate("runs with idle workers", idle, 1, least=0.1, noticed=(0.001, 1))


class Trace(Recorded):
    def test_locks_and_waits(self):
        for scenario in ("convoy", "barrier", "sleeps"):
            records = self.record(STATES, scenario, 4, 20, event="REALTIME@f2000", options=("--cores", "64"))
            with self.subTest(scenario=scenario):
                self.assertTrue([r for r in records if r.state == WAITING])
                if scenario == "convoy":
                    self.assertTrue([r for r in records if r.waiters])

    def test_wall_clock_time_has_no_gaps(self):
        """Most samples pay exactly the time since the one before them, in one to three records, however late they are. Those
        at which the mean period changes pay a little more or less."""
        self.record(STATES, "convoy", 4, 20, event="REALTIME@f500", options=("--cores", "64"))
        gaps = []
        for thread in self.threads()[1]:
            amounts = collections.Counter()
            for record in thread.trace:
                amounts[record.time] += record.amount
            times = sorted(amounts)
            gaps += [amounts[time] - (time - before) * 1024 for before, time in zip(times, times[1:])]
        self.assertGreater(len(gaps), 10)
        self.assertGreater(gaps.count(0), len(gaps) / 2)

    def test_a_wall_clock_event_is_traced_first(self):
        for events in (("CPUTIME@f500", "REALTIME@f500"), ("REALTIME@f500", "CPUTIME@f500")):
            _, (image,) = self.measure(program("threads"), 2, 50, 2, events=events)
            self.assertEqual({thread.trace.event for thread in image.threads if thread.trace}, {"REALTIME"})

    def check_bounded(self, thread):
        """At least half of what there may be, 64, the open record, and up to 64 recent samples."""
        fired, step, records = (thread.count("CPUTIME", [profiling.FIRED]), thread.trace.step, thread.trace.records)
        self.assertGreater(fired, 128)
        self.assertIn(records, range(32, 64 + 1 + 64))
        self.assertIn(fired, range(step * (records - 65), step * 65 + 64))

    def test_a_bounded_trace_is_of_the_whole_run(self):
        _, (image,) = self.measure(program("threads"), 2, 150, 2, events=("CPUTIME@f2000",), options=("--trace", "64"))
        for thread in image.threads[1:]:
            self.check_bounded(thread)
            # Of the wall time the thread may have no CPU for most, also before its first sample and after its last one.
            self.assertGreater(thread.trace.last - thread.trace.first, 0.5 * thread.cpu)

    def test_wrong_limits(self):
        for text in ("63", "64x", "", "-1", "all", "99999999999"):
            done = self.run_tool(profiling.HPCRUN, "--trace", text, "true")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"hpcrun: --trace {text}: not full, off, or a number of records from 64 on", done.stderr)

    def test_the_error_of_the_clock_is_the_kernels(self):
        """It grows by 0.5 ms a second up to 16 s, unless a daemon that adjusts the clock sets it back."""
        def kernels():
            state = ctypes.create_string_buffer(256)  # struct timex: maxerror, us, is at 24
            ctypes.CDLL(None).adjtimex(state)
            return struct.unpack_from("<q", state, 24)[0] * 1e-6
        before = kernels()
        self.measure("true")
        after = kernels()
        process, = json.loads((self.make_database() / "run.json").read_text())["processes"]
        least, most = sorted((before, after))
        if least < 16:  # a daemon may set it back meanwhile
            least, most = least - 0.01, most + 0.01
        self.assertTrue(least - 1e-7 <= process["clock_error"] <= most + 1e-7, process)

    def test_none(self):
        _, (image,) = self.measure(program("threads"), 2, 50, 2, options=("--trace", "off"))
        self.assertEqual([thread.trace for thread in image.threads if thread.trace], [])


class Marks(RecoveryTest):
    BEGIN, END, MOST = 1, 2, 4096
    MARGIN = 1_000_000  # ns by which ticks may become other times

    def check_marks(self, image, inner, output):
        main, other = image.threads
        names = [(self.BEGIN, "outer")] + inner * [(self.BEGIN, "inner"), (self.END, "inner")] + [(self.END, "outer")]
        self.assertEqual([mark[1:] for mark in main.marks], names[:self.MOST])
        self.assertEqual(main.lost_marks, len(names[self.MOST:]))
        self.assertEqual([mark[1:] for mark in other.marks], [(self.BEGIN, "other")])
        times = [time for time, _, _ in main.marks]
        self.assertEqual(times, sorted(times))
        truth = list(map(int, output.split()))
        for time, before, after in ((times[0], *truth[:2]), (times[-1], *truth[1:4:2])):
            self.assertIn(time, range(before - self.MARGIN, after + self.MARGIN))

    def test_regions(self):
        for inner in (3, 3000):
            for options in ((), ("-ds",)):
                done, (image,) = self.measure(program("marks"), inner, events=("CPUTIME@f1000",), options=options)
                self.check_marks(image, inner, done.stdout)

    def test_a_killed_process(self):
        where = self.directory / "m"
        done = self.run_tool(profiling.HPCRUN, "-q", "-e", "CPUTIME@f1000", "-o", where, program("marks"), 40, "killed")
        self.check_marks(self.recovered(where), 40, done.stdout)

    def test_none_without_a_time_line(self):
        _, (image,) = self.measure(program("marks"), 3, options=("--trace", "off"))
        self.assertEqual([thread.marks for thread in image.threads], [[], []])


class Killed(RecoveryTest):
    RATE = 1000

    def test_its_trace_is_there(self):
        """But for one sample of each thread, which the kill interrupted."""
        where = self.directory / "m"
        process = self.start(where, "2", options=("--trace", "64"))
        self.wait_for_arenas(process, where)
        profiling.wait_until(lambda: max(self.ledger().values(), default=0) > 0.3, "work of the program")
        process.kill()
        process.wait()
        image = self.recovered(where)
        traces = [thread for thread in image.threads if thread.trace and thread.trace.step > 1]
        self.assertTrue(traces)
        for thread in traces:
            fired = thread.amount("CPUTIME", [profiling.FIRED])
            self.assertLessEqual(thread.trace.amount(*range(1, 10)), fired)
            self.assertGreater(thread.trace.amount(*range(1, 10)), 0.9 * fired)
            self.assertIn(thread.trace.records, range(32, 64 + 1 + 64))
