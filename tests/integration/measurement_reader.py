"""Reads intact measurement files, for tests. An independent implementation of doc/FORMAT-hpcrun.md."""
import collections
import struct
import zlib

from measurement_writer import (FATES, HAS_IP, HAS_LIP, LIP_IS_IP, MARKS, METRICS, MODULES, NODES,
                                PROCESS_CHUNK, THREAD, TRACE, VALUES, WAKE_UPS)


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def v(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def vs(self, count):
        return [self.v() for _ in range(count)]

    def z(self):
        value = self.v()
        return value >> 1 ^ -(value & 1)

    def u8(self):
        self.at += 1
        return self.data[self.at - 1]

    def u64s(self, count):
        self.at += 8 * count
        return struct.unpack_from(f"<{count}Q", self.data, self.at - 8 * count)

    def bytes(self):
        size = self.v()
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        return self.bytes().decode()


TraceRecord = collections.namedtuple("TraceRecord", "time state is_worker amount node n working waiters")


class Thread:
    def __init__(self):
        self.nodes = {}   # id: (parent, instance, offset); without ip (parent,)
        self.lips = {}    # id: (space, value, site or None), of nodes with an l-note
        self.values = {}  # (node, metric): amount
        self.fates = {}   # (event, code): [count, amount]
        self.creation = None  # (creating Thread, its node)
        self.first = None  # CLOCK_MONOTONIC when it was first seen
        self.trace, self.trace_event, self.step = [], None, 1  # TraceRecords
        self.marks, self.lost_marks = [], 0  # (time, kind, name)
        self.wake_ups, self.lost_wake_ups, self.wake_up_step, self.wake_up_window = [], 0, 1, 1  # (time, began, released, thread)

    def path(self, node):
        """The physical (instance, offset) notes from the outermost to the node."""
        notes = []
        while node:
            parent, *note = self.nodes[node]
            if note:
                notes.append(tuple(note))
            node = parent
        return notes[::-1]


class Measurement:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        assert data[:8] == b"HPCRUNMF"
        self.metrics, self.modules, self.threads = {}, {}, {}
        at = 16
        while at < len(data):
            magic, kind, _, size, thread, _, crc = struct.unpack_from("<IHHIIII", data, at)
            payload = data[at + 24:at + 24 + size]
            assert magic == 0x6b6e4843 and crc == zlib.crc32(data[at:at + 20] + payload)
            at += 24 + size
            self.take(kind, Cursor(payload), self.threads.setdefault(thread, Thread())
                      if thread != PROCESS_CHUNK else None)

    def logical_nodes(self):
        """The number of nodes of all threads' logical trees, each path counted once per thread."""
        merged = {}
        for thread in self.threads.values():
            of = {0: 0}
            for number, (parent, *_) in sorted(thread.nodes.items()):
                of[number] = of[parent]
                if number in thread.lips:
                    of[number] = merged.setdefault((of[parent], thread.lips[number]), len(merged) + 1)
        return len(merged)

    def take(self, kind, c, thread):
        if kind == METRICS:
            first = c.v()
            for i in range(c.v()):
                self.metrics[first + i] = c.text()
                c.vs(2)
        elif kind == MODULES:
            for _ in range(c.v()):
                number = c.v()
                c.u64s(3), c.vs(2)
                self.modules[number] = c.text()
                c.bytes(), c.u64s(1), c.vs(2)
        elif kind == THREAD:
            c.vs(2), c.text()
            creator, node, thread.first = c.vs(3)
            if creator:
                thread.creation = self.threads.setdefault(creator - 1, Thread()), node
        elif kind == NODES:
            first = c.v()
            for number in range(first, first + c.v()):
                parent, tag = number - c.v(), c.u8()
                ip = c.vs(2) if tag & HAS_IP else []
                thread.nodes[number] = (parent, *ip)
                if tag & HAS_LIP:
                    space, value, site = c.vs(3)
                    thread.lips[number] = (space, value, site - 1 if site else None)
                elif tag & LIP_IS_IP:
                    thread.lips[number] = (2 * ip[0], ip[1], ip[1])
        elif kind == VALUES:
            node, count = 0, c.v()
            for _ in range(count):
                node += c.v()
                for _ in range(c.v()):
                    key, amount = (node, c.v()), c.v()
                    thread.values[key] = thread.values.get(key, 0) + amount
        elif kind == FATES:
            event, _, count = c.vs(3)
            for _ in range(count):
                fate = thread.fates.setdefault((event, c.v()), [0, 0])
                fate[0] += c.v()
                fate[1] += c.v()
        elif kind == TRACE:
            thread.trace_event, step, count = c.vs(3)
            thread.step = max(thread.step, step)
            time, node, n, working = thread.first, 0, 0, 0
            for _ in range(count):
                time += c.z()
                tag, amount = c.u8(), c.v()
                node += c.z()
                if tag & 32:
                    n, working = c.vs(2)
                waiters = c.v() if tag & 64 else 0
                thread.trace.append(TraceRecord(time, tag & 15, bool(tag & 16), amount, node, n, working, waiters))
        elif kind == MARKS:
            time, count = thread.first, c.v()
            for _ in range(count):
                time += c.z()
                thread.marks.append((time, c.u8(), c.text()))
            thread.lost_marks = c.v()
        elif kind == WAKE_UPS:
            time = thread.first
            for _ in range(c.v()):
                time += c.z()
                thread.wake_ups.append((time, time - c.v(), time - c.v(), c.v()))
            thread.lost_wake_ups, thread.wake_up_step, thread.wake_up_window = c.vs(3)
