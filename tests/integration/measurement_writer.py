"""Writes measurement files, for tests. An independent implementation of doc/FORMAT-hpcrun.md.

    run = Measurement(pid=71, executable="/usr/bin/xz")
    cputime = run.event("CPUTIME")
    work = run.metric("work", cputime)
    xz = run.module("/usr/bin/xz", build_id="ab12")
    thread = run.thread()
    node = thread.path([(xz, 0x1000), (xz, 0x2040)])      # outermost first
    thread.add(node, work, seconds(0.005))
    run.write(directory)

Amounts are in the event's fixed point. A thread's values are written as two increments where they
can be split, which reveals readers that do not add up."""
import itertools
import os
import struct
import zlib

PROCESS_CHUNK = 0xffffffff
(PROCESS, EVENTS, METRICS, MODULES, NAMES, AGENTS, WORKERS, PROCESS_CLOCK, CODE_NAMES) = range(1, 10)
REFUSALS, METRIC_STATES, REGIONS, CHILD, LINES = 10, 12, 13, 14, 15
NO_NUMBER = 0xffffffff
(THREAD, THREAD_CLOCK, NODES, ASSOCIATIONS, VALUES, FATES, JOINS, TRACE, MARKS, WAKE_UPS) = range(16, 26)
WORK, WAITING, IDLE_WORKER, NOBODY, RUNTIME, READY, OFF_CPU, DROPPED = 1, 3, 4, 5, 6, 7, 8, 9  # states of TRACE
WORKER = 16

TIME, WALL_CLOCK, BY_DEFAULT = 1, 2, 4
MAIN, VDSO, OWN, LIBC = 1, 2, 4, 8
ONE_ONE, ONE_ZERO, M_ZERO, M_ONE, ONE_M = range(5)
FIRST, HAS_IP, HAS_LIP, LIP_IS_IP = 8, 16, 32, 64

NO_MODULE, PLACEHOLDER = 0, 1
PARTIAL, KERNEL = 1, 2
STACK_OF = 1 << 32  # + index of a thread
ROOT = 0

FIRED, RECORDED, IDLE, NOBODY_WORKING, IN_OWN_CODE, NO_UNWIND_INFORMATION = 0, 1, 2, 3, 16, 64
TASK_CLOCK, TASK_CLOCK_USER, CPU_TIMER, MONOTONIC_TIMER, COUNTER = range(1, 6)

EXIT, EXEC, SIGNAL = 1, 3, 4


def seconds(value):
    """Seconds as an amount of a time event: 2^-10 ns."""
    return round(value * 1024e9)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return varint(len(data)) + data


def varints(*values):
    return b"".join(map(varint, values))


class Thread:
    """A thread. Node ids are those of the file."""

    def __init__(self, index, tid, kind, name, first, last, ended, creator, start):
        self.index, self.tid, self.kind, self.name = index, tid, kind, name
        self.first, self.last, self.ended = first, last, ended  # clocks: (wall, CPU)
        self.creator = creator  # (thread, node) or None
        self.ready, self.timeslices = None, 0  # ns without a CPU; times that it got one
        self.start = start  # start routine: (module, offset) or None
        self.joins = []
        self.trace = []  # (time, state, amount, node, n, n_w, waiters)
        self.trace_event, self.step = 0, 1
        self.marks, self.lost_marks = [], 0  # (time, kind, name)
        self.wake_ups, self.lost_wake_ups, self.wake_up_step, self.wake_up_window = [], 0, 1, 1  # (time, began, released, thread)
        self.nodes = []  # encoded, ids from 1
        self.children = {}
        self.values = {}
        self.fates = []
        self.associations = {}  # node: set of bits

    def node(self, parent, ip=None, lip=None, site=None, association=ONE_ONE, first=True):
        """A node below `parent`; ip and lip are (module, offset). lip "ip" is the ip; a lip without
        a site has an unknown one; ("names", table, value) is a name of an agent's table."""
        key = (parent, ip, lip, site, association)
        if key in self.children:
            return self.children[key]
        tag, data = association | (FIRST if first else 0), b""
        if ip is not None:
            tag |= HAS_IP
            data += varints(*ip)
        if lip == "ip":
            tag |= LIP_IS_IP
        elif lip is not None:
            tag |= HAS_LIP
            space = lip[1] * 2 + 1 if lip[0] == "names" else lip[0] * 2
            data += varints(space, lip[-1], 0 if site is None else site + 1)
        number = len(self.nodes) + 1
        self.nodes.append(varint(number - parent) + bytes([tag]) + data)
        self.children[key] = number
        return number

    def path(self, ips, parent=ROOT):
        """The node at the end of a native path: every note's lip is its ip."""
        for ip in ips:
            parent = self.node(parent, ip, "ip")
        return parent

    def add(self, node, metric, amount):
        key = node, metric
        self.values[key] = self.values.get(key, 0) + amount

    def joined(self, thread, node, ip):
        """This thread joins a thread that it created; `node` is the frame that stayed live."""
        self.joins.append(varints(thread.index, node, *ip) + bytes([0]))

    def record(self, time, state, amount, node=ROOT, n=0, working=0, waiters=0):
        """A record of the time line; `state` may have WORKER added."""
        self.trace.append((time, state, amount, node, n, working, waiters))

    def mark_chunk(self):
        out, before = [varint(len(self.marks))], self.first[0]
        for time, kind, name in self.marks:
            out.append(zigzag(time - before) + bytes([kind]) + string(name))
            before = time
        return b"".join(out) + varint(self.lost_marks)

    def wake_up_chunk(self):
        out, before = [varint(len(self.wake_ups))], self.first[0]
        for time, began, released, thread in self.wake_ups:
            out.append(zigzag(time - before) + varints(time - began, time - released, thread))
            before = time
        return b"".join(out) + varints(self.lost_wake_ups, self.wake_up_step, self.wake_up_window)

    def trace_chunks(self):
        """Two chunks, if there are two records."""
        half = (len(self.trace) + 1) // 2
        return [self.trace_chunk(part) for part in (self.trace[:half], self.trace[half:]) if part]

    def trace_chunk(self, records):
        out, before = [varints(self.trace_event, self.step, len(records))], (self.first[0], 0, 0, 0)
        for time, state, amount, node, n, working, waiters in records:
            has_capacity = (n, working) != before[2:]
            out.append(zigzag(time - before[0]) + bytes([state + 32 * has_capacity + 64 * (waiters > 0)])
                       + varint(amount) + zigzag(node - before[1]))
            out.append(varints(*[n, working] * has_capacity, *[waiters] * (waiters > 0)))
            before = time, node, n, working
        return b"".join(out)

    def fate(self, event, source, code, count, amount=0):
        self.fates.append((event, source, code, count, amount))

    def value_chunks(self):
        """Two increments that add up to the values."""
        halves = {}, {}
        for key, amount in self.values.items():
            halves[0][key] = amount // 3
            halves[1][key] = amount - amount // 3
        return [self.value_chunk(half) for half in halves]

    @staticmethod
    def value_chunk(values):
        nodes = {}
        for (node, metric), amount in sorted(values.items()):
            nodes.setdefault(node, []).append((metric, amount))
        out, before = [varint(len(nodes))], 0
        for node, pairs in nodes.items():
            out.append(varints(node - before, len(pairs)))
            out += [varints(*pair) for pair in pairs]
            before = node
        return b"".join(out)


class Measurement:
    """The measurement file of one process image."""

    def __init__(self, pid=100, parent_pid=1, start_time=5000, exec_sequence=0, host="host",
                 host_id=0x70f0, rank=-1, origin=0, executable="/bin/program", directory="/",
                 arguments=None, clock=(0, 10**9, 10**7), cpus=4, version="0.1",
                 end=(11 * 10**9, 9 * 10**9, EXIT, 0), clock_error=None):
        self.pid, self.parent_pid, self.start_time = pid, parent_pid, start_time
        self.exec_sequence, self.host, self.host_id, self.rank = exec_sequence, host, host_id, rank
        self.origin, self.executable, self.directory = origin, executable, directory
        self.arguments = [executable] if arguments is None else arguments
        self.clock, self.cpus, self.version, self.end = clock, cpus, version, end
        self.clock_error = clock_error  # None: of an earlier version, without this field
        self.format_version = 2, 2
        self.events, self.metrics, self.modules, self.threads = [], [], [], []
        self.name_tables, self.agents, self.workers, self.refusals = [], [], [], []
        self.metric_states = []  # (metric, state, why, and perhaps error)
        self.regions = []  # (number, name, times, work, span, burdened span, spawns, flags)
        self.code_names = b""  # lines of a perf map
        self.children = []  # measurements whose files are in this one

    def event(self, name, unit="ns", shift=None, period=5_000_000, flags=None, why=""):
        if shift is None:
            shift = 10 if unit == "ns" else 0
        if flags is None:
            flags = TIME if unit == "ns" else 0
        self.events.append(string(name) + string(unit) + varints(shift, period, flags)
                           + string(why))
        return len(self.events) - 1

    def metric(self, name, event):
        self.metrics.append(string(name) + varints(event, 1))
        return len(self.metrics) - 1

    def module(self, path, build_id="", begin=0x400000, end=0x800000, bias=0, flags=0,
               generation=0, header_hash=0, size=0, modified=0):
        """The id of a module instance."""
        number = len(self.modules) + 2
        self.modules.append(
            varint(number) + struct.pack("<QQQ", begin, end, bias) + varints(flags, generation)
            + string(path) + string(bytes.fromhex(build_id)) + struct.pack("<Q", header_hash)
            + varints(size, modified))
        return number

    def names(self, names):
        """A name table; names are (value, procedure, file, line) and perhaps a table of CPython's locations. Returns
        its number."""
        self.name_tables.append(names)
        return len(self.name_tables) - 1

    def thread(self, tid=None, kind=None, name="", first=(10**9, 0), last=(11 * 10**9, 9 * 10**9),
               ended=True, creator=None, start=None):
        index = len(self.threads)
        thread = Thread(index, self.pid + index if tid is None else tid,
                        (1 if index else 0) if kind is None else kind, name, first, last, ended,
                        creator, start)
        self.threads.append(thread)
        return thread

    def process_record(self):
        return (string(self.host) + struct.pack("<Q", self.host_id)
                + varints(self.pid, self.parent_pid, self.start_time, self.exec_sequence)
                + zigzag(self.rank) + varint(self.origin) + string(self.executable)
                + string(self.directory) + varint(len(self.arguments))
                + b"".join(map(string, self.arguments)) + varints(*self.clock, self.cpus)
                + string(self.version) + (b"" if self.clock_error is None else varint(self.clock_error)))

    def chunks(self):
        """(kind, thread, payload) of every chunk."""
        def counted(items):
            return varint(len(items)) + b"".join(items)
        yield PROCESS, PROCESS_CHUNK, self.process_record()
        yield EVENTS, PROCESS_CHUNK, varint(0) + counted(self.events)
        yield METRICS, PROCESS_CHUNK, varint(0) + counted(self.metrics)
        yield MODULES, PROCESS_CHUNK, counted(self.modules)
        for number, table in enumerate(self.name_tables):
            yield NAMES, PROCESS_CHUNK, varint(number) + counted(
                [varint(value) + string(name) + string(file) + varint(line)
                 for value, name, file, line, *_ in table])
            for value, _, _, _, *lines in table:
                for at in range(0, len(lines[0]) if lines else 0, 1000):
                    part = lines[0][at:at + 1000]
                    yield LINES, PROCESS_CHUNK, varints(number, value, 1, at, len(part)) + part
        if self.agents:
            yield AGENTS, PROCESS_CHUNK, counted(
                [string(a[0]) + string(a[1]) + varint(a[2]) + string(a[3]) + string(a[4])
                 for a in self.agents])
        if self.code_names:
            yield CODE_NAMES, PROCESS_CHUNK, self.code_names
        if self.refusals:
            yield REFUSALS, PROCESS_CHUNK, counted([string(agent) + string(why)
                                                    for agent, why in self.refusals])
        if self.metric_states:
            yield METRIC_STATES, PROCESS_CHUNK, counted([varints(metric, state) + string(why)
                                                         for metric, state, why, *_ in self.metric_states]) + varints(
                *(error for _, _, _, *errors in self.metric_states for error in errors))
        for number, name, *values in self.regions:
            yield REGIONS, PROCESS_CHUNK, varint(number) + string(name) + varints(*values)
        for agent, changes in self.workers:
            yield WORKERS, PROCESS_CHUNK, varint(agent) + counted(
                [varints(*change) for change in changes])
        for thread in self.threads:
            yield from self.thread_chunks(thread)
        if self.end:
            yield PROCESS_CLOCK, PROCESS_CHUNK, varints(*self.end)

    @staticmethod
    def thread_chunks(thread):
        creator, context = thread.creator or (-1, 0)
        yield (THREAD, thread.index, varints(thread.tid, thread.kind) + string(thread.name)
               + varints(creator + 1, context, *thread.first, *(thread.start or ())))
        size = 50_000  # nodes per chunk
        for first in range(0, len(thread.nodes), size):
            part = thread.nodes[first:first + size]
            yield NODES, thread.index, varints(first + 1, len(part)) + b"".join(part)
        if thread.associations:
            yield (ASSOCIATIONS, thread.index, varint(len(thread.associations))
                   + b"".join(varint(node) + bytes([seen])
                              for node, seen in thread.associations.items()))
        if thread.values:
            for payload in thread.value_chunks():
                yield VALUES, thread.index, payload
        for event, source, code, count, amount in thread.fates:
            yield FATES, thread.index, varints(event, source, 1, code, count, amount)
        for payload in thread.trace_chunks():
            yield TRACE, thread.index, payload
        if thread.marks:
            yield MARKS, thread.index, thread.mark_chunk()
        if thread.wake_ups:
            yield WAKE_UPS, thread.index, thread.wake_up_chunk()
        if thread.joins:
            yield JOINS, thread.index, varint(len(thread.joins)) + b"".join(thread.joins)
        if thread.last:
            yield THREAD_CLOCK, thread.index, varints(*thread.last, int(thread.ended),
                                                           0 if thread.ready is None else thread.ready + 1,
                                                           thread.timeslices)

    def encoded_chunks(self):
        for number, (kind, thread, payload) in enumerate(self.chunks()):
            head = struct.pack("<IHHIII", 0x6b6e4843, kind, 0, len(payload), thread, number)
            yield head + struct.pack("<I", zlib.crc32(head + payload)) + payload

    @staticmethod
    def child_chunks(child):
        """The child's file in pieces, which it writes one by one."""
        whole, key = child.encode(), varints(child.pid, child.start_time)
        for at in range(0, len(whole), 100):
            payload = key + whole[at:at + 100]
            head = struct.pack("<IHHIII", 0x6b6e4843, CHILD, 0, len(payload), PROCESS_CHUNK, NO_NUMBER)
            yield head + struct.pack("<I", zlib.crc32(head + payload)) + payload

    def encode(self):
        """Pieces of children come between this process's chunks, in turn."""
        pieces = [self.child_chunks(child) for child in self.children]
        turns = itertools.zip_longest(self.encoded_chunks(), *pieces, fillvalue=b"")
        return b"HPCRUNMF" + struct.pack("<HHI", *self.format_version, 0) + b"".join(itertools.chain.from_iterable(turns))

    def file_name(self):
        return f"{self.host}-{self.pid}-{self.start_time}-{self.exec_sequence}.hpcrun"

    def write(self, directory):
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, self.file_name())
        with open(path, "wb") as file:
            file.write(self.encode())
        return path
