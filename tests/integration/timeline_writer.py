"""Writes timeline.db (lib/trace-format.h): records of threads, from plain values."""
import struct

WORK, OVERHEAD, WAITING, IDLE, NOBODY, RUNTIME, READY, OFF_CPU, DROPPED = range(1, 10)
WORKER = 16
SHIFT = 10
HEADER, THREAD, RECORD, PLACE = "<8s4I6Q", "<2I2Q", "<2IQ", "<6I"
WAKE_LIST, WAKE_UP = "<5Q", "<4I"


class Timeline:
    """Times and amounts are in ns; counts have a shift of 0."""

    def __init__(self, event=0, unit=1, begin=0, shift=SHIFT):
        self.event, self.unit, self.begin, self.shift = event, unit, begin, shift
        self.places, self.threads, self.wake_ups = [], {}, {}

    def place(self, logical, physical=0, n=0, working=1, waiters=0, kind=0):
        self.places.append((logical, physical, n, working, waiters, kind))
        return len(self.places) - 1

    def record(self, profile, time, amount, state, place, worker=False, word=0):
        """`amount` may be a fraction; `word` may have more flags."""
        word |= round(amount * (1 << self.shift)) << 8 | state | (WORKER if worker else 0)
        self.threads.setdefault(profile, []).append((round(time / self.unit), place, word))

    def wake_up(self, profile, began, released, time, waker):
        """Of a thread with records; `waker` is a profile."""
        at = [round(t / self.unit) for t in (time, began, released)]
        self.wake_ups.setdefault(profile, []).append((*at, waker))

    def encode(self, step=1):
        places = b"".join(struct.pack(PLACE, *place) for place in self.places)
        at = struct.calcsize(HEADER) + len(places)
        threads, records, lists = b"", b"", b""
        for profile, its in sorted(self.threads.items()):
            threads += struct.pack(THREAD, profile, step, at + len(records), len(its))
            records += b"".join(struct.pack(RECORD, *record) for record in its)
            wake_ups = self.wake_ups.get(profile, [])
            lists += struct.pack(WAKE_LIST, at + len(records), len(wake_ups), 1, 0, 0)
            records += b"".join(struct.pack(WAKE_UP, *wake_up) for wake_up in wake_ups)
        header = struct.pack(HEADER, b"HPCTLINE", 1, self.event, self.shift, len(self.threads), len(self.places),
                             at + len(records), struct.calcsize(HEADER), self.begin, self.unit,
                             at + len(records) + len(threads))
        return header + places + records + threads + lists

    def write(self, folder, step=1):
        (folder / "timeline.db").write_bytes(self.encode(step))
