"""The time line of made-up measurements: timeline.db and trace.db."""
import filecmp
import json
import os
import pathlib
import unittest

import measurement_writer as mw
from hpcprof_case import HpcprofCase
from hpcprof_scenario import database_path
from timeline_reader import (AS_OVERHEAD, DROPPED, IDLE, OFF_CPU, READY, WAITING, WORK, WORKER, read_timeline,
                             read_trace)
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

    def run_json(self):
        with open(self.at("db/run.json")) as file:
            return json.load(file)

    def test_records(self):
        _, thread, (a, b) = self.traced()
        thread.record(1010 * MS, mw.WORK + WORKER, 10 * MS << 10, a, 4, 2, 1)
        thread.record(1020 * MS, mw.READY, 3 * MS << 10, b, 4, 2)
        thread.record(1020 * MS, mw.WORK, 7 * MS << 10, b, 4, 0)
        thread.record(1030 * MS, mw.IDLE_WORKER, 10 * MS << 10)
        thread.record(1040 * MS, mw.WAITING, 10 * MS << 10, a, 4, 2)
        thread.record(1050 * MS, mw.DROPPED, 10 * MS << 10)
        thread.record(1060 * MS, mw.OFF_CPU, 10 * MS << 10, a, 4, 2)
        db, line = self.read()
        paths = {context.id: database_path(context)[-1] for context in db.contexts.values() if context.id}
        found = [(r.time, r.state, r.flags, r.amount >> 10, paths.get(r.place.logical), r.place[2:])
                 for r in line.threads[1].records]
        leaf = ("line", "/s/a.c", 21)
        self.assertEqual(found, [
            (10 * MS, WORK, WORKER, 10 * MS, leaf, (4, 2, 1, 0)),
            (20 * MS, READY, 0, 3 * MS, leaf, (0, 0, 0, 0)),
            (20 * MS, WORK, 0, 7 * MS, leaf, (0, 1, 0, 0)),
            (30 * MS, IDLE, 0, 10 * MS, None, (0, 0, 0, 0)),
            (40 * MS, WAITING, 0, 10 * MS, leaf, (0, 0, 0, 0)),
            (50 * MS, DROPPED, 0, 10 * MS, None, (0, 0, 0, 0)),
            (60 * MS, OFF_CPU, 0, 10 * MS, leaf, (0, 0, 0, 0))])
        contexts = [record.place.logical for record in line.threads[1].records]
        self.assertEqual(database_path(db.contexts[contexts[0]])[1:-1],
                         (("call", "main", "/s/a.c", 1), ("line", "/s/a.c", 2), ("call", "leaf", "/s/a.c", 20)))
        self.assertNotEqual(contexts[0], contexts[1])
        self.assertTrue(all(record.place.logical == record.place.physical for record in line.threads[1].records))


if __name__ == "__main__":
    unittest.main()
