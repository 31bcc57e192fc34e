"""A program that measures its own phases: what pieces of its time say, and where its phases are found."""
import struct
import unittest

import profiling
import viewer
from evidence import OfChance, of_ends
from profiling import program

PERIOD = 0.001
THREADS = 4


class PlannedPhases(OfChance, profiling.ProfilingTest):
    MOST_READY = 20  # per cent of a phase in which threads had no CPU, though its ends are found

    def analyze(self, *options):
        """Measures a run: its phases, as (begin, end, stalled) in seconds of the time line; and its database."""
        done, _ = self.measure(program("planned-phases"), 600, events=("REALTIME@f1000",), options=options)
        db = self.make_database()
        (begin,) = struct.unpack_from("<Q", (db / "timeline.db").read_bytes(), 48)
        return [[(int(a) - begin) / 1e9, (int(b) - begin) / 1e9, int(c) / 1e9]
                for a, b, c in (line.split() for line in done.stdout.splitlines())], db

    def times_of(self, db, begin, end, name):
        """Seconds of a procedure in all states."""
        shown = viewer.printed_json("top-down", "--from", f"{begin:.9f}s", "--to", f"{end:.9f}s", db)
        metrics = viewer.find(shown["root"], name)["metrics"]
        return {kind: metrics[kind]["inclusive"] or 0 for kind in ("work", "ready", "waiting")}

    def test_pieces_of_time_have_what_threads_did_then(self):
        for evidence in self.looks():
            phases, db = self.analyze("--trace", "full")
            for (begin, end, stalled), name, threads in zip(phases, ("assemble", "solve", "rest"), (1, THREADS, 1)):
                length = threads * (end - begin)
                seen = self.times_of(db, begin, end, name)
                there = seen["waiting" if name == "rest" else "work"] + seen["ready"]
                chance = of_ends(2 * threads, PERIOD)
                evidence.between(name, there, 0.99 * length, 1.01 * length, chance, 0.1 * length,
                                 unsure=2 * threads * stalled)

    def test_phases_are_found_where_they_are(self):
        """Others that take the CPUs for a part of the run change its mix, which makes more phases. The planned ends are
        among theirs, unless they take most; if there are no others, they are exact."""
        for evidence in self.looks():
            phases, db = self.analyze("--trace", "full")
            found = viewer.printed_json("phases", db)["phases"]
            names = [phase["procedure"] for phase in found]
            evidence.enough("runs without phases of others", names == ["assemble", "solve", "rest"], 2)
            if max(phase["percent"]["ready"] or 0 for phase in found) > self.MOST_READY:
                continue
            for before, after in zip(phases, phases[1:]):
                distance = min(abs(phase["end"] - before[1]) for phase in found)
                self.assertLess(distance, 0.1 * (before[1] - before[0]) + after[0] - before[1] + before[2] + after[2], found)
            if names == ["assemble", "solve", "rest"]:
                for before, after, phase in zip(phases, phases[1:], found):
                    # A thread without a CPU has no sample.
                    self.assertGreater(phase["end"], before[1] - 1.5 * PERIOD - before[2])
                    self.assertLess(phase["end"], after[0] + 1.5 * PERIOD + after[2])

    def test_the_whole_time_is_the_profile(self):
        _, db = self.analyze("--trace", "full")
        for projection in (), ("--physical",):
            whole = viewer.printed_json("top-down", *projection, db)
            piece = viewer.printed_json("top-down", *projection, "--from", "0%", "--to", "100%", db)
            self.same_costs(whole["root"], piece["root"])

    def same_costs(self, whole, piece):
        self.assertEqual(whole["name"], piece["name"])
        for name, cost in whole["metrics"].items():
            for part in ("inclusive", "exclusive"):
                if name != "lock wait":
                    self.assertAlmostEqual(cost[part] or 0, piece["metrics"][name][part] or 0, delta=1e-9, msg=name)
        children = {self.place(row): row for row in piece["children"]}
        for row in whole["children"]:
            if any(cost["inclusive"] for name, cost in row["metrics"].items() if name != "lock wait"):
                self.same_costs(row, children[self.place(row)])

    @staticmethod
    def place(row):
        return str([row.get(key) for key in ("kind", "name", "file", "line", "module", "call_site")])


if __name__ == "__main__":
    unittest.main()
