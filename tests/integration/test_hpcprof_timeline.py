"""The time line of made-up measurements: timeline.db and trace.db."""
import filecmp
import os
import random
import shutil
import unittest

import measurement_writer as mw
import test_hpcprof_overhead
from hpcprof_case import SECONDS, HpcprofCase
from hpcprof_scenario import database_paths
from timeline_reader import (DROPPED, IDLE, OFF_CPU, READY, WAITING, WORK, WORKER, paid, read_timeline, read_trace)
from v4_reader import read_database

MS = 10**6


class Timeline(HpcprofCase):
    def traced(self, pid=71, **fields):
        """A process whose thread has two nodes with values."""
        process = self.process(pid=pid, **fields)
        thread, instance = process.thread(last=(4 * 10**9, 10**9)), self.scenario.load(process, self.program())
        nodes = [thread.path([(instance, address), (instance, 0x2000)]) for address in (0x1000, 0x1010)]
        for node in nodes:
            thread.add(node, 0, 1000)
        return process, thread, nodes

    def read(self, *arguments, **options):
        db = self.scenario.database(*arguments, **options)
        return db, read_timeline(self.at("db"))

    def test_records(self):
        _, thread, (a, b) = self.traced()
        thread.record(1010 * MS, mw.WORK + WORKER, 10 * MS << 10, a, 4, 2, 1)
        thread.record(1020 * MS, mw.READY, 3 * MS << 10, b, 4, 2, 5)
        thread.record(1020 * MS, mw.WORK, 7 * MS << 10, b, 4, 0)
        thread.record(1030 * MS, mw.IDLE_WORKER, 10 * MS << 10, a, 4, 2)
        thread.record(1040 * MS, mw.WAITING, 10 * MS << 10, a, 4, 2)
        thread.record(1050 * MS, mw.DROPPED, 10 * MS << 10)
        thread.record(1060 * MS, mw.OFF_CPU, 10 * MS << 10, a, 4, 2)
        db, line = self.read()
        paths = database_paths(db.contexts.values())
        found = [(r.time, r.state, r.flags, r.amount >> 10, (paths[r.place.logical] or (None,))[-1], r.place[2:])
                 for r in line.threads[1].records]
        leaf = ("line", "/s/a.c", 21)
        self.assertEqual(found, [
            (10 * MS, WORK, WORKER, 10 * MS, leaf, (4, 2, 1, 0)),
            (20 * MS, READY, 0, 3 * MS, leaf, (0, 0, 5, 0)),
            (20 * MS, WORK, 0, 7 * MS, leaf, (0, 1, 0, 0)),
            (30 * MS, IDLE, 0, 10 * MS, None, (0, 0, 0, 0)),
            (40 * MS, WAITING, 0, 10 * MS, leaf, (0, 0, 0, 0)),
            (50 * MS, DROPPED, 0, 10 * MS, None, (0, 0, 0, 0)),
            (60 * MS, OFF_CPU, 0, 10 * MS, leaf, (0, 0, 0, 0))])
        contexts = [record.place.logical for record in line.threads[1].records]
        self.assertEqual(paths[contexts[0]][1:-1],
                         (("call", "main", "/s/a.c", 1), ("line", "/s/a.c", 2), ("call", "leaf", "/s/a.c", 20)))
        self.assertNotEqual(contexts[0], contexts[1])
        self.assertTrue(all(record.place.logical == record.place.physical for record in line.threads[1].records))

    def elements(self, *records, step=1, **options):
        """The trace of a thread with some records (end in ms, state, amount in ms, index of the node): (ms, index of the
        node, or None). The thread begins at 1000 ms."""
        _, thread, nodes = self.traced()
        thread.step = step
        for end, state, amount, node in records:
            thread.record((1000 + end) * MS, state, amount * MS << 10, nodes[node] if node is not None else mw.ROOT)
        db = self.scenario.database(**options)
        contexts = sorted(context for context in db.profiles[1].values if "point" in
                          {db.meta.prop_ids[metric][1].name for metric in db.profiles[1].values[context]})
        line = read_timeline(self.at("db"))
        indices = {0: None, **{context: i for i, context in enumerate(reversed(contexts))}}
        first = [record.place.logical for record in line.threads[1].records if record.place.logical][:1]
        self.assertTrue(not first or records[0][3] is None or indices[first[0]] == records[0][3])
        return [((time - line.begin) / MS, indices[context]) for time, context in read_trace(self.at("db"), db)[1]]

    def test_elements_begin_where_records_do(self):
        self.assertEqual(self.elements((10, mw.WORK, 5, 0), (15, mw.WORK, 5, 0), (20, mw.WORK, 5, 1)),
                         [(5, 0), (15, 1), (20, None)])

    def test_pieces_of_one_sample_follow_each_other(self):
        self.assertEqual(self.elements((10, mw.WORK, 5, 0), (20, mw.READY, 3, 1), (20, mw.WORK, 7, 0)),
                         [(5, 0), (10, 1), (13, 0), (20, None)])

    def test_a_thread_is_in_no_context_where_records_have_none(self):
        self.assertEqual(self.elements((10, mw.IDLE_WORKER, 5, None), (15, mw.WORK, 5, 0), (20, mw.NOBODY, 5, None),
                                       (25, mw.DROPPED, 5, None), (30, mw.OFF_CPU, 5, 1), (35, mw.RUNTIME, 5, None)),
                         [(10, 0), (15, None), (25, 1), (30, None)])

    def test_gaps(self):
        """The mean period is 5 ms. A gap of two periods is the context's, a longer one is not."""
        self.assertEqual(self.elements((10, mw.WORK, 5, 0), (25, mw.WORK, 5, 1), (41, mw.WORK, 5, 0)),
                         [(5, 0), (10, 1), (25, None), (36, 0), (41, None)])

    def test_gaps_of_a_thinned_trace(self):
        self.assertEqual(self.elements((20, mw.WORK, 10, 0), (50, mw.WORK, 10, 1), (81, mw.WORK, 10, 0), step=2),
                         [(10, 0), (20, 1), (50, None), (71, 0), (81, None)])
        self.assertEqual(read_timeline(self.at("db")).threads[1].step, 2)

    def test_records_of_more_time_than_there_was(self):
        """The first sample of a thread pays whole periods. No record begins before its thread, or before the last one ends."""
        self.assertEqual(self.elements((3, mw.WORK, 5, 0), (5, mw.WORK, 5, 1), (10, mw.WORK, 5, 1)),
                         [(0, 0), (3, 1), (10, None)])

    def test_clocks(self):
        """All processes of a host and a run have the clock of the one that began first; hosts have their own."""
        epoch = 10**18
        clocks = {71: (epoch, 10**9), 72: (epoch + 999 * 10**9, 2 * 10**9), 73: (epoch + 500 * MS, 7 * 10**9)}
        for pid, clock in clocks.items():
            host = {"host": "other", "host_id": 0x80, "clock_error": 1 + 2500} if pid == 73 else {}
            process, thread, (a, _) = self.traced(pid=pid, clock=(*clock, 10**7), **host)
            thread.first, thread.last = (clock[1], 0), (clock[1] + 10**9, 10**9)
            process.end = clock[1] + 10**9, 10**9, mw.EXIT, 0
            thread.record(clock[1] + 10 * MS, mw.WORK, 5 * MS << 10, a)
        db, line = self.read()
        self.assertEqual(line.begin, epoch)
        pids = {profile: next(i.physical for i in db.profiles[profile].ids if i.kind == "PROCESS") for profile in (1, 2, 3)}
        times = {pids[profile]: thread.records[0].time for profile, thread in line.threads.items()}
        self.assertEqual(times, {71: 10 * MS, 72: 1010 * MS, 73: 510 * MS})
        begins = {process["pid"]: (process["time_line_begin"], process["clock_error"])
                  for process in self.run_json()["processes"]}
        self.assertEqual(begins, {71: (0, None), 72: (1, None), 73: (0.5, 0.0025)})

    def test_another_run_has_a_clock_of_its_own(self):
        for pid, folder in ((71, "m"), (72, "n")):
            process, thread, (a, _) = self.traced(pid=pid, clock=(10**18 if pid == 71 else 10**18 + 3 * 10**9, 10**9, 10**7))
            process.end = 3 * 10**9, 10**9, mw.EXIT, 0
            thread.last = 3 * 10**9, 10**9
            thread.record(1010 * MS, mw.WORK, 5 * MS << 10, a)
            process.write(self.at(folder))
        self.scenario.run("-o", self.at("db"), directories=[self.at("m"), self.at("n")])
        line = read_timeline(self.at("db"))
        self.assertEqual(line.unit, 2)
        self.assertEqual([thread.records[0].time for thread in line.threads.values()], [10 * MS, 3010 * MS])

    def test_without_records(self):
        self.traced()
        self.scenario.database()
        for name in ("timeline.db", "trace.db", "physical/trace.db"):
            self.assertFalse(os.path.exists(self.at("db/" + name)), name)
        self.assertIsNone(self.run_json()["processes"][0]["time_line_begin"])

    def test_threads_without_records(self):
        process, thread, (a, _) = self.traced()
        process.thread()
        thread.record(1010 * MS, mw.WORK, 5 * MS << 10, a)
        db, line = self.read()
        self.assertEqual([len(line.threads[profile].records) for profile in (1, 2)], [1, 0])
        self.assertEqual(list(read_trace(self.at("db"), db)), [1])

    def test_a_node_without_values(self):
        """Its context would be one without values, so the record has none."""
        _, thread, (a, _) = self.traced()
        instance = 2
        thread.record(1010 * MS, mw.WORK, 5 * MS << 10, thread.path([(instance, 0x1000)]))
        thread.record(1020 * MS, mw.WORK, 5 * MS << 10, a)
        db, line = self.read()
        first, second = line.threads[1].records
        self.assertEqual((first.state, first.place.logical, first.amount), (WORK, 0, 5 * MS << 10))
        self.assertNotEqual(second.place.logical, 0)

    def test_records_of_other_events(self):
        """Processes of two runs traced different events: wall-clock time comes first."""
        for pid, event in ((71, "CPUTIME"), (72, "REALTIME")):
            process = self.scenario.process(pid=pid)
            flags = mw.TIME | (mw.WALL_CLOCK if event == "REALTIME" else 0)
            process.metric("work", process.event(event, flags=flags))
            thread, instance = process.thread(), self.scenario.load(process, self.program())
            node = thread.path([(instance, 0x1000)])
            thread.add(node, 0, 1000)
            thread.record(1010 * MS, mw.WORK, 5 * MS << 10, node)
        _, line = self.read()
        self.assertEqual(self.run_json()["events"][line.event]["name"], "REALTIME")
        self.assertEqual([len(thread.records) for thread in line.threads.values()], [0, 1])
        self.assert_says(self.scenario.stderr, "records of REALTIME", "other events, which 1 thread has")

    def test_counts(self):
        """Records of an event that does not measure time are about the time since the last one, or since the thread began."""
        process = self.scenario.process()
        process.metric("FAULTS", process.event("FAULTS", unit="count", period=100))
        thread, instance = process.thread(), self.scenario.load(process, self.program())
        a, b = (thread.path([(instance, address)]) for address in (0x1000, 0x1010))
        for end, node in ((10, a), (500, b), (900, b), (900, a)):
            thread.add(node, 0, 10**12)
            thread.record((1000 + end) * MS, mw.WORK, 10**12, node)
        db, line = self.read()
        self.assertEqual((line.shift, [record.amount for record in line.threads[1].records]), (0, [10**12] * 4))
        first, second = (line.threads[1].records[i].place.logical for i in (0, 1))
        self.assertEqual([((time - line.begin) // MS, context) for time, context in read_trace(self.at("db"), db)[1]],
                         [(0, first), (10, second), (500, first), (900, 0)])

    def test_the_same_bytes_with_any_number_of_workers(self):
        for pid in range(60, 70):
            _, thread, nodes = self.traced(pid=pid)
            for i in range(50):
                thread.record((1010 + 10 * i) * MS, mw.WORK + WORKER, (pid + i) * MS << 8, nodes[i * pid % 7 % 2], 9, i % 5)
        self.scenario.write()
        for workers in ("1", "4"):
            self.scenario.run("-j", workers, "-o", self.at("db" + workers))
        for name in ("timeline.db", "trace.db", "physical/trace.db"):
            self.assertTrue(filecmp.cmp(self.at("db1/" + name), self.at("db4/" + name), shallow=False), name)
        self.assertTrue(os.path.samefile(self.at("db1/trace.db"), self.at("db1/physical/trace.db")))
        line = read_timeline(self.at("db4"))
        self.assertEqual(sum(len(thread.records) for thread in line.threads.values()), 500)

    def test_damaged_records(self):
        """A thread without its record has no times; times that go backwards stand still."""
        process, lost, (a, _) = self.traced()
        process.end = 3 * 10**9, 10**9, mw.EXIT, 0
        whole = process.thread(last=(3 * 10**9, 10**9))
        node = whole.path([(2, 0x1000)])
        whole.add(node, 0, 1000)
        lost.record(1010 * MS, mw.WORK, 5 * MS << 10, a)
        for end in (1010, 1020, 1005, 1030):
            whole.record(end * MS, mw.WORK, 5 * MS << 10, node)
        process.thread_chunks = lambda thread: (chunk for chunk in mw.Measurement.thread_chunks(thread)
                                                if (chunk[0], thread) != (mw.THREAD, lost))
        db, line = self.read(status=1)
        self.assertEqual({profile: [record.time // MS for record in thread.records]
                          for profile, thread in line.threads.items()}, {2: [10, 20, 20, 30]})
        self.assertEqual(len(db.profiles), 3)
        self.assertTrue(any("thread 0: its time line is lost" in line for line in self.run_json()["problems"]))

    def test_wake_ups(self):
        """The creation is the first one. Wakers that are not known, or the thread itself, are left out."""
        process, thread, _ = self.traced()
        end = 4 * 10**9, 10**9
        process.end = *end, mw.EXIT, 0
        other = process.thread(creator=(0, 0), first=(2 * 10**9, 0), last=end)
        last = process.thread(creator=(1, 0), first=(3 * 10**9, 0), last=end)
        last.index = 5  # those between are lost
        other.wake_ups = [(2010 * MS, 2005 * MS, 2009 * MS, last.index), (2015 * MS, 2011 * MS, 2012 * MS, 3),
                          (2020 * MS, 2015 * MS, 2020 * MS, 1), (2030 * MS, 2025 * MS, 2028 * MS, 99),
                          (2040 * MS, 2035 * MS, 2036 * MS, 0)]
        other.wake_up_step, other.wake_up_window = 4, 50 * MS
        thread.record(1010 * MS, mw.WORK, 10 * MS << 10)
        _, line = self.read()
        at = lambda *times: tuple((time - 1000) * MS for time in times)
        self.assertEqual(line.threads[1].wake_ups, [])
        self.assertEqual(line.threads[2].wake_ups, [(*at(2000, 2000, 2000), 1), (*at(2010, 2005, 2009), 3),
                                                    (*at(2040, 2035, 2036), 1)])
        self.assertEqual(line.threads[3].wake_ups, [(*at(3000, 3000, 3000), 2)])
        self.assertEqual(line.threads[2].windows, [4, 50 * MS, 0])
        self.assertEqual(line.threads[1].windows[0], 1)

    def test_wake_ups_after_the_end(self):
        """A damaged time does not become one in the run."""
        process, thread, _ = self.traced()
        end = 4 * 10**9, 10**9
        process.end = *end, mw.EXIT, 0
        other = process.thread(creator=(0, 0), first=(2 * 10**9, 0), last=end)
        late = 10**9 + (1 << 32) + 10 * MS
        other.wake_ups = [(3500 * MS, 3400 * MS, 3450 * MS, 0), (late, 3600 * MS, late, 0)]
        thread.record(1010 * MS, mw.WORK, 10 * MS << 10)
        _, line = self.read()
        self.assertEqual(line.threads[2].wake_ups[1:], [(2500 * MS, 2400 * MS, 2450 * MS, 1), (3000 * MS, 2600 * MS, 3000 * MS, 1)])

    def test_regions(self):
        """Begins and ends are paired by name, the latest begin first. Ends without a begin say nothing."""
        process, thread, _ = self.traced()
        begin, end = 1, 2
        thread.marks = [((1000 + time) * MS, kind, name) for time, kind, name in (
            (1, end, "never"), (2, begin, "sort"), (3, begin, "merge"), (4, begin, "sort"), (5, end, "sort"),
            (6, end, "sort"), (7, end, "sort"), (8, begin, "é"), (9, 77, "merge"))]
        thread.lost_marks = 3
        process.thread()
        self.scenario.database()
        found, other = self.run_json()["processes"][0]["threads"]
        self.assertEqual([(region["name"], region["begin"], region["end"]) for region in found["regions"]],
                         [("sort", 0.002, 0.006), ("merge", 0.003, None), ("sort", 0.004, 0.005), ("é", 0.008, None)])
        self.assertEqual(found["lost_marks"], 3)
        self.assertFalse({"regions", "lost_marks"} & set(other))


class Classes(test_hpcprof_overhead.OverheadCase):
    """What the records pay is what the values of the same samples are paid as."""

    def sample(self, thread, frames, amount, metric=0):
        kind = super().sample(thread, frames, amount, metric)
        node = self.last_node(thread, frames)
        self.time += 5 * MS
        for state, part in ((mw.WORK, amount // 3), (mw.OFF_CPU, amount - amount // 3)):
            thread.record(self.time, state, part, node, 0, 1)
        return kind

    def last_node(self, thread, frames):
        """That of a sample, which exists."""
        node = mw.ROOT
        for module, address, hidden in frames:
            ip = self.instances[module], address
            node = thread.node(node, ip, None, None, mw.ONE_ZERO) if hidden else thread.node(node, ip, "ip")
        return node

    def check_sums(self, *arguments):
        self.scenario.database("-M", "min,stddev", *arguments)
        line, compared = read_timeline(self.at("db")), 0
        for projection, folder in (("logical", "db"), ("physical", "db/physical")):
            db = read_database(self.at(folder))
            read_trace(self.at(folder), db)
            names = [metric.name for metric in db.metrics]
            for number, thread in line.threads.items():
                found = {(context, name): value for context, row in db.profiles[number].values.items()
                         for name in names for value in [row.get(db.metric(name, "point"))] if value}
                sums = paid(thread, projection, names)
                self.assertEqual({key: amount / SECONDS for key, amount in sums.items() if key[1] in names}, found)
                compared += len(found)
        self.assertGreater(compared, 100)
        return line

    def test_random_paths(self):
        self.start()
        rng, seen, self.time = random.Random(5), set(), 10**9
        for _ in range(2):
            thread = self.process.thread()
            for _ in range(150):
                seen.add(self.sample(thread, test_hpcprof_overhead.KindsTest.random_frames(self, rng), rng.randrange(1, 10**9)))
        self.assertGreater(len(seen), 5)
        places = self.check_sums().places
        self.assertTrue(any(place.logical != place.physical for place in places))
        shutil.rmtree(self.at("db"))
        collapsed = self.check_sums("--collapse-recursion").places
        self.assertLess(len({place.logical for place in collapsed}), len({place.logical for place in places}))


if __name__ == "__main__":
    unittest.main()
