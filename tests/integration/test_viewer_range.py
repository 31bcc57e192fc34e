"""A piece of time: all views of it, compared with those of a database that has only what its records say.

The oracle computes the part of each record in the piece, and what it pays, by lib/trace-format.h's definitions, in
rational numbers, and charges that to the same tree without a time line."""
import json
import pathlib
import random
import tempfile
import unittest
from fractions import Fraction

import timeline_writer as tw
import v4_writer
import viewer
from timeline_writer import NOBODY, OFF_CPU, OVERHEAD, READY, WAITING, WORK, WORKER
from view_oracle import ByThread
from viewer_screen import costs_of_threads

AS_OVERHEAD, AS_WAITING = 32, 64
NAMES = ("work", "wall", "idleness", "overhead", "overhead:spawn", "waiting", "off CPU", "ready", "lock blame",
         "lock wait", "incomplete")
METRICS = [{"name": name, "unit": "s", "state": "measured", "event": "REALTIME"} for name in NAMES]
UNKNOWN = {"lock wait"}


class Recorded:
    """A random tree, and records of three threads in it; times in ns."""

    def __init__(self, seed, wall_time=True):
        self.rng = rng = random.Random(seed)
        self.seed, self.n_profiles, self.end = seed, 3, 0
        self.processes = []  # of run.json
        self.line = tw.Timeline()
        self.contexts = [c for c in self.tree().contexts() if not isinstance(c, v4_writer.Entry)]
        self.records = []  # (profile, begin, end, amount, flags and state, place)
        places = [self.line.place(0)]
        while len(places) < 40:
            places.append(self.line.place(rng.randrange(len(self.contexts)), 0, rng.randint(0, 5), rng.randint(1, 4),
                                          rng.randint(0, 2), rng.choice((0, 1 + NAMES.index("overhead:spawn")))))
        for profile in 1, 2, 3:
            self.add_thread(profile, places, wall_time)

    def tree(self):
        return viewer.random_database(self.seed, 80, NAMES, 3)

    def add_thread(self, profile, places, wall_time):
        rng, time = self.rng, self.rng.randrange(1 << 20)
        for _ in range(60):
            before = time
            time += rng.randint(1, 1 << 21) + (0 if wall_time else rng.randint(0, 1 << 20))
            parts = sorted(rng.sample(range(1, 1 << 20), rng.randint(1, 3)))
            whole = (time - before) if wall_time else (time - before) // 2 + 1
            amounts = [Fraction(b - a, 1 << 20) * whole for a, b in zip([0] + parts, parts[:-1] + [1 << 20])]
            words = rng.sample([WORK, WORK | WORKER, OVERHEAD | WORKER | AS_OVERHEAD, WAITING, WAITING | AS_WAITING,
                                OFF_CPU, OFF_CPU | AS_OVERHEAD, READY, NOBODY], len(amounts))
            amounts = [round(amount * 1024) for amount in amounts]
            begin = max(time - (sum(amounts) >> 10), before)
            for amount, word in zip(amounts, words):
                place = rng.choice(places)
                self.line.record(profile, time, Fraction(amount, 1024), word & 15, place, word=word)
                self.records.append((profile, begin, time, amount, word, self.line.places[place]))
            self.end = max(self.end, time)

    def charged(self, *pieces):
        """The tree with what the records pay for pieces of time, each a begin and an end."""
        db = self.tree()
        contexts = [c for c in db.contexts() if not isinstance(c, v4_writer.Entry)]
        for context in db.contexts():
            context.charges.clear()
        for profile, since, until, amount, word, place in self.records:
            inside = sum(max(min(until, end) - max(since, begin), 0) for begin, end in pieces)
            part = Fraction(amount, 1024) * inside / (until - since) / 10**9
            for name, paid in payments(word, place, part):
                if paid and place[0]:
                    contexts[place[0]].charge(float(paid), NAMES.index(name), profile)
        return db

    def write(self, folder, charged=None, with_line=True):
        """The whole run's costs and time line, or those of a piece of it without."""
        db = charged or self.charged((0, self.end))
        v4_writer.write_database(db, folder)
        ids = {n: context.id for n, context in enumerate(c for c in db.contexts()
                                                         if not isinstance(c, v4_writer.Entry))}
        viewer.describe_run(folder, METRICS, processes=self.processes, events=[{"name": "REALTIME", "unit": "s", "period": 0.001}])
        if with_line:
            places = self.line.places
            self.line.places = [(ids[p[0]] if p[0] else 0, *p[1:]) for p in places]
            self.line.write(pathlib.Path(folder))
            self.line.places = places


def payments(word, place, amount):
    """The metrics that a record pays, and how much."""
    state, n, working, waiters, kind = word & 15, *place[2:]
    runs = state in (WORK, OVERHEAD) or state == WAITING and word & AS_WAITING
    if state == READY:
        yield "ready", amount
        yield "lock blame", amount * waiters
    if not runs and state not in (WAITING, OFF_CPU):
        return
    time = "overhead" if word & AS_OVERHEAD else "waiting" if state == WAITING else "work"
    yield time, amount
    if time == "overhead" and kind:
        yield NAMES[kind - 1], amount
    if runs:
        yield "wall", amount / working
    if state == OFF_CPU:
        yield "off CPU", amount
    yield "lock blame", amount * waiters
    if word & WORKER and n > working:
        yield "idleness", amount * (n - working) / working
        yield "incomplete", amount / working


def rounded(row):
    """A row of JSON without what is nothing, and costs to 9 digits; None if nothing is left."""
    costs = {name: [round(cost[part] or 0, 12) for part in ("inclusive", "exclusive")]
             for name, cost in row["metrics"].items() if name not in UNKNOWN}
    below = [child for child in map(rounded, row["children"]) if child]
    if not below and not any(any(cost) for cost in costs.values()):
        return None
    return (row["kind"], row["name"], row["file"], row["line"], str(row.get("call_site"))), costs, below


class Range(unittest.TestCase):
    def assert_near(self, shown, expected, path=()):
        self.assertEqual(shown[0], expected[0], path)
        path += (shown[0][1],)
        for name, costs in expected[1].items():
            for a, b in zip(shown[1].get(name, (0, 0)), costs):
                self.assertAlmostEqual(a, b, delta=1e-9, msg=(path, name))
        key = str
        ours, theirs = sorted(shown[2], key=lambda r: key(r[0])), sorted(expected[2], key=lambda r: key(r[0]))
        self.assertEqual([r[0] for r in ours], [r[0] for r in theirs], path)
        for a, b in zip(ours, theirs):
            self.assert_near(a, b, path)

    def compare(self, recorded, folder, time, *pieces):
        """The views of the options `time` with those of the pieces of time."""
        alone = pathlib.Path(folder) / "alone"
        recorded.write(alone, recorded.charged(*pieces), with_line=False)
        for view, more in (("top-down", ()), ("bottom-up", ("--depth", 3)), ("flat", ()), ("top-down", ("--kinds",))):
            shown = viewer.printed_json(view, *more, *time, pathlib.Path(folder) / "db")
            expected = viewer.printed_json(view, *more, alone)
            self.assert_near(rounded(shown["root"]), rounded(expected["root"]))
        rows = {row["name"]: row["metrics"] for row in ByThread(recorded.charged(*pieces)).bottomup(1)["children"]}
        n = 0
        for name, part, values in costs_of_threads(self, *time, "--filter", "name:^f0$", pathlib.Path(folder) / "db"):
            expected = {profile: rows[name]["work", profile][part] for profile in (1, 2, 3)}
            for profile, value in expected.items():
                self.assertAlmostEqual(values.get(profile, 0), value, delta=1e-3 * max(expected.values()))
            n += 1
        self.assertEqual(n, 2)
        ours = viewer.printed_json("threads", *time, pathlib.Path(folder) / "db")["threads"]
        theirs = {t["profile"]: t for t in viewer.printed_json("threads", alone)["threads"]}
        self.assertTrue(ours)
        for thread in ours:
            for name, value in thread["metrics"].items():
                if name not in UNKNOWN:
                    self.assertAlmostEqual(value or 0, theirs[thread["profile"]]["metrics"][name] or 0, delta=1e-9, msg=name)

    def test_metrics_without_records_say_so(self):
        with tempfile.TemporaryDirectory() as folder:
            Recorded(1).write(folder)
            states = {m["name"]: m for m in viewer.printed_json("summary", "--to", "50%", folder)["metric_states"]}
            self.assertEqual(states["lock wait"]["state"], "not measurable")
            self.assertEqual(states["lock wait"]["why"],
                             "it is known for the whole run only: the time line has the samples of REALTIME")
            self.assertEqual(states["work"]["state"], "measured")

    def test_views_of_any_piece_are_those_of_its_records_alone(self):
        for seed in 1, 2, 3:
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                recorded = Recorded(seed, wall_time=seed != 2)
                recorded.write(pathlib.Path(folder) / "db")
                rng = random.Random(seed)
                a, b = sorted(rng.sample(range(recorded.end), 2))
                for begin, end in (0, recorded.end), (a, b), (0, a), (b, recorded.end):
                    time = ("--from", f"{begin / 1e9:.9f}s", "--to", f"{end / 1e9:.9f}")
                    self.compare(recorded, folder, time, (begin, end))


if __name__ == "__main__":
    unittest.main()
