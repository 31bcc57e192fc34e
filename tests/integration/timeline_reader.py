"""Reads the files of the time line, timeline.db and trace.db, and checks on the way that they conform to doc/FORMAT-database.md
and to the v4 format's specification. An implementation of its own.

    line = read_timeline(folder)
    for thread in line.threads.values(): thread.profile, thread.step, thread.records[0].time (ns), .amount, .state, .place
    paid(line, line.threads[1], metrics)     what the records pay, by context and metric"""
import collections
import os
import struct

from v4_reader import Item, check, open_file

WORK, OVERHEAD, WAITING, IDLE, NOBODY, RUNTIME, READY, OFF_CPU, DROPPED = range(1, 10)
WORKER, AS_OVERHEAD, AS_WAITING = 16, 32, 64
HEADER, THREAD, RECORD, PLACE = "<8s4I6Q", "<2I2Q", "<2IQ", "<6I"
WAKE_LIST, WAKE_UP = "<5Q", "<4I"

Record = collections.namedtuple("Record", "time state flags amount place")
WakeUp = collections.namedtuple("WakeUp", "time began released profile")
Place = collections.namedtuple("Place", "logical physical n working waiters kind")


def array(data, layout, at, count, what):
    size = struct.calcsize(layout)
    check(at % 8 == 0 and at + count * size <= len(data), what, "lie outside of timeline.db")
    return list(struct.iter_unpack(layout, data[at:at + count * size]))


def read_records(data, at, count, line):
    """The records of a thread: states that exist, places of the list, ascending times."""
    records, before = [], 0
    for time, place, word in array(data, RECORD, at, count, "records"):
        state, flags = word & 15, word & 240
        check(0 < state <= DROPPED, "state", state)
        check(flags & ~(WORKER | AS_OVERHEAD | AS_WAITING) == 0, "flags", flags)
        check(state in (OVERHEAD, OFF_CPU) if flags & AS_OVERHEAD else state != OVERHEAD, "overhead in state", state)
        check(state in (WAITING, OFF_CPU) or not flags & AS_WAITING, "waiting in state", state)
        check(place < len(line.places), "a place that does not exist")
        check(before <= time, "times go backwards")
        before = time
        records.append(Record(time * line.unit, state, flags, word >> 8, line.places[place]))
    return records


def read_wake_ups(data, at, count, line):
    """Those of a thread: ascending, each released in its wait, by a thread of the list."""
    wake_ups, before = [], -1
    for time, began, released, profile in array(data, WAKE_UP, at, count, "wake-ups"):
        check(before <= time and began <= released <= time, "times of a wake-up")
        check(profile in line.threads, "a wake-up by no thread")
        before = time
        wake_ups.append(WakeUp(time * line.unit, began * line.unit, released * line.unit, profile))
    return wake_ups


def read_timeline(folder):
    with open(os.path.join(folder, "timeline.db"), "rb") as file:
        data = file.read()
    (magic, version, event, shift, n_threads, n_places, threads, places, begin,
     unit, wake_lists) = struct.unpack_from(HEADER, data)
    check(magic == b"HPCTLINE" and version == 1, "header of timeline.db")
    check(unit > 0, "unit")
    line = Item(event=event, shift=shift, begin=begin, unit=unit, threads={})
    line.places = [Place(*place) for place in array(data, PLACE, places, n_places, "places")]
    check(line.places == sorted(set(line.places), key=lambda p: (p.logical, p.physical, p.kind, p.waiters, p.n, p.working)),
          "places repeat, or are not sorted")
    before = -1
    for profile, step, at, count in array(data, THREAD, threads, n_threads, "threads"):
        check(before < profile, "threads are not sorted by profile")
        check(step > 0 and step & (step - 1) == 0, "step", step)
        before = profile
        line.threads[profile] = Item(profile=profile, step=step, records=read_records(data, at, count, line))
    lists = array(data, WAKE_LIST, wake_lists, n_threads, "lists of wake-ups")
    for thread, (at, count, *thread.windows) in zip(line.threads.values(), lists):
        check(thread.windows[0] > 0, "step of wake-ups")
        thread.wake_ups = read_wake_ups(data, at, count, line)
    used = {record.place for thread in line.threads.values() for record in thread.records}
    check(used == set(line.places), "places that no record has")
    return line


def payments(record):
    """(metric, amount) of what a record pays; ("kind", k, amount) is by the index of a metric."""
    a, place = record.amount, record.place
    pays_work = record.state in (WORK, OVERHEAD, OFF_CPU) or record.flags & AS_WAITING
    if record.state == READY:
        yield "ready", a
    if pays_work and record.flags & AS_OVERHEAD:
        yield "overhead", a
        if place.kind:
            yield place.kind - 1, a
    elif pays_work:
        yield "waiting" if record.flags & AS_WAITING else "work", a
    elif record.state == WAITING:
        yield "waiting", a
    if pays_work and record.state == OFF_CPU:
        yield "off CPU", a
    elif pays_work:
        yield "wall", a // place.working
    if pays_work and record.flags & WORKER and place.n > place.working:
        yield "idleness", a * (place.n - place.working) // place.working
        yield "incomplete", a // place.working
    if pays_work or record.state in (WAITING, READY):
        yield "lock blame", a * place.waiters


def paid(thread, projection, names):
    """{(context, name of the metric): amount}; `names` are those of meta.db, by index."""
    sums = collections.Counter()
    for record in thread.records:
        for metric, amount in payments(record):
            name = names[metric] if isinstance(metric, int) else metric
            if amount:
                sums[getattr(record.place, projection), name] += amount
    return sums


def read_trace(folder, db):
    """The traces of trace.db, by profile: [(time in ns since the epoch, context)]."""
    path = os.path.join(folder, "trace.db")
    data, sections = open_file(path, b"trce", b"trace.db", ("CtxTraces",))
    section = sections["CtxTraces"]
    traces, count, stride, first, last = section.unpack("QIB3xQQ", section.begin, "CtxTraces header")
    check(stride == 24, "traces have size", stride)
    found, spans = {}, [(section.begin, section.end)]
    for i in range(count):
        profile, start, end = section.unpack("I4xQQ", traces + 24 * i, "trace")
        check(0 < profile < len(db.profiles) and profile not in found, "profile of a trace")
        check(start % 8 == 0 and start <= end <= len(data) - 8 and (end - start) % 12 == 0, "extent of a trace")
        spans.append((start, end))
        found[profile] = list(struct.iter_unpack("<QI", data[start:end]))
        check_trace(found[profile], db)
    spans.sort()
    for (_, end), (begin, _) in zip(spans, spans[1:]):
        check(end <= begin, "traces overlap")
    times = [time for trace in found.values() for time, _ in trace]
    check((first, last) == ((min(times), max(times)) if times else (0, 0)), "the range of times")
    return found


def check_trace(trace, db):
    for (time, context), (next_time, next_context) in zip(trace, trace[1:]):
        check(time < next_time, "times of a trace don't ascend")
        check(context or next_context, "a thread stops twice")
    check(all(context in db.contexts for _, context in trace), "a trace is in no context")
