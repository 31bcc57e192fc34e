"""Incomplete time in computations whose strands keep a ledger: when each of them ran, and its CPU time.
Expectations come from that ledger, or from the shape of the computation."""
import collections
import math
import os

import profiling
from evidence import OfChance, of_ends, of_samples
from logical_case import LogicalTest

SPANS = profiling.BUILD / "tests" / "programs" / "logical" / "spans"

Piece = collections.namedtuple("Piece", "procedure begin end cpu")


def read_ledger(text):
    """The span and the pieces of the strands, in seconds."""
    span, pieces = None, []
    for words in map(str.split, text.splitlines()):
        if words[0] == "span":
            span = int(words[1]) / 1e9
        else:
            pieces.append(Piece(words[1], *(int(word) / 1e9 for word in words[2:])))
    return span, pieces


def segments(pieces):
    """(begin, end, number of running strands) of each interval between beginnings and ends."""
    changes = sorted([(p.begin, 1) for p in pieces] + [(p.end, -1) for p in pieces])
    running = 0
    for (begin, step), (end, _) in zip(changes, changes[1:]):
        running += step
        if end > begin:
            yield begin, end, running


class Ledger:
    """Incomplete time with n workers: as CPU time of the pieces, and as wall time."""

    def __init__(self, pieces, n):
        self.cpu, self.wall = collections.Counter(), collections.Counter()
        self.off_cpu = sum(p.end - p.begin - p.cpu for p in pieces)
        waiting = sorted(pieces, key=lambda p: p.begin, reverse=True)
        live = []
        for begin, end, running in segments(pieces):
            while waiting and waiting[-1].begin <= begin:
                live.append(waiting.pop())
            live = [p for p in live if p.end > begin]
            if running >= n:
                continue
            for p in live:
                part = (end - begin) / running
                self.wall[p.procedure] += part
                self.cpu[p.procedure] += part * p.cpu / (p.end - p.begin)


class Shapes(OfChance, LogicalTest):
    """Alone, since wall time is compared: a strand that waits for a CPU is paid for by the wrong number of workers."""
    measures_time = True
    RATE = 4000
    EVENTS = ("CPUTIME", "REALTIME")

    def run_shape(self, workers, shape, milliseconds=20):
        events = [f"{event}@f{self.RATE}" for event in self.EVENTS]
        done, (self.image,) = self.profile(SPANS, workers, shape, milliseconds, events=events,
                                           options=("--cores", workers))
        self.span, self.pieces = read_ledger(done.stdout)
        self.ledger = Ledger(self.pieces, workers)

    def chance(self, event, seconds):
        """Of a sum of that many seconds. An increment may be shared by several workers, so that it is smaller."""
        period = self.image.mean_period(event)
        return of_samples(seconds, period) + of_ends(2, period)

    def claim(self, event, procedure, truth, unsure=0, what=""):
        """Within 1 %. A fault moves a fifth of the time."""
        seen, whole = self.value(f"incomplete ({event})", procedure), self.span
        self.found.between(f"{event} {procedure} {what}", seen, 0.99 * truth, 1.01 * truth, self.chance(event, truth),
                           0.2 * whole, unsure)

    def claim_ledger(self, workers):
        for procedure in ("first", "wide"):
            self.claim("CPUTIME", procedure, self.ledger.cpu[procedure])
            # A thread that is off the CPU gets its signal when it is back. It then pays for the time before by the
            # current number of working workers. If workers share CPUs, that is nearly all the time.
            if workers <= len(os.sched_getaffinity(0)):
                self.claim("REALTIME", procedure, self.ledger.wall[procedure], self.ledger.off_cpu)

    def claim_span(self):
        """At most the span, unless a worker that looked for work did not get a CPU; the ledger has that, too."""
        incomplete = sum(self.value("incomplete (CPUTIME)", p) for p in ("first", "wide"))
        late = max(0, sum(self.ledger.cpu.values()) - self.span)
        self.found.between("span", incomplete, -math.inf, 1.01 * self.span + late, self.chance("CPUTIME", self.span),
                           0.2 * self.span)

    def of_shape(self, shape, more=lambda: None):
        for workers in (2, 4):
            with self.subTest(workers=workers):
                for _ in self.looks():
                    self.run_shape(workers, shape)
                    self.claim_ledger(workers)
                    self.claim_span()
                    more()

    def test_serial_and_parallel_phase(self):
        """While the strands in a row run, no other strand can: all their time is incomplete."""
        self.of_shape("phases", lambda: self.claim(
            "CPUTIME", "first", sum(p.cpu for p in self.pieces if p.procedure == "first"), what="in a row"))

    def test_chain_beside_wide_work(self):
        self.of_shape("chain")

    def test_unbalanced_tree(self):
        self.of_shape("tree")


class Incomplete(LogicalTest):
    EVENTS = ("CPUTIME", "REALTIME")

    def test_with_two_workers_it_is_idleness(self):
        """If one of two workers works, the number of idle workers per working one is 1, and so is 1 / n_w."""
        events = [f"{event}@f4000" for event in self.EVENTS]  # at 200/s, a run may have no sample of such a time
        self.profile(SPANS, 2, "chain", 5, events=events, options=("--cores", 2))
        for event in self.EVENTS:
            incomplete, idleness = (self.tree["metrics"][f"{metric} ({event})"]["inclusive"]
                                    for metric in ("incomplete", "idleness"))
            self.assertEqual(incomplete, idleness)
            self.assertGreater(incomplete, 0)

    def state(self, name="incomplete"):
        return next(m for m in self.view(view="summary")["metric_states"] if m["name"] == name)

    def test_what_one_worker_does_says_nothing_of_the_span(self):
        self.profile(SPANS, 1, "chain", 1)
        self.assertEqual(self.state()["state"], "not measurable")
        self.assertIn("only one worker could run at a time", self.state()["why"])
        self.assertEqual(self.state("idleness")["state"], "measured")
        self.assertIsNone(self.tree["metrics"]["incomplete"]["inclusive"])

    def test_not_measurable_without_an_agent(self):
        self.profile("true")
        self.assertEqual(self.state()["state"], "not measurable")
        self.assertEqual(self.state()["why"], "no runtime with an agent took part")
