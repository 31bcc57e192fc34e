"""The time view of a program that measures its own phases, and the exports of its time line."""
import json
import struct

import profiling
import viewer
from evidence import OfChance
from profiling import program
from test_viewer_timeline import check_firefox, slices_of

MS = 300
PERIOD = 0.001
COLUMNS = 100


class TimeViewOfPrograms(OfChance, profiling.ProfilingTest):
    def analyze(self):
        """Measures a run: its phases, as (begin, end, stalled) in seconds of the time line; and its database."""
        done, _ = self.measure(program("planned-phases"), MS, events=("REALTIME@f1000",), options=("--trace", "full"))
        db = self.measurements.with_suffix(".db")
        made = self.run_tool(profiling.BUILD / "bin" / "hpcprof", "-o", db, self.measurements)
        self.assertEqual(made.returncode, 0, made.stderr)
        (begin,) = struct.unpack_from("<Q", (db / "timeline.db").read_bytes(), 48)
        return [((int(a) - begin) / 1e9, (int(b) - begin) / 1e9, int(c) / 1e9)
                for a, b, c in (line.split() for line in done.stdout.splitlines())], db

    def test_cells_show_the_phases_where_they_are(self):
        """Columns more than 1.5 periods away from a boundary have one procedure: that of their phase. Thread 1 runs
        `assemble` and `rest`, the others `solve`."""
        for evidence in self.looks():
            phases, db = self.analyze()
            shown = viewer.printed_json("timeline", "--depth", 2, db)
            is_sound = all(stalled < PERIOD for _, _, stalled in phases)
            evidence.enough("runs that had the CPUs near the ends of phases", is_sound, 2)
            if not is_sound:
                continue
            for (begin, end, _), name in zip(phases, ("assemble", "solve", "rest")):
                threads = shown["threads"][1:] if name == "solve" else shown["threads"][:1]
                self.assertEqual(len(threads), 4 if name == "solve" else 1)
                for thread in threads:
                    self.check_phase(shown, thread, begin + 1.5 * PERIOD, end - 1.5 * PERIOD, name)

    def check_phase(self, shown, thread, begin, end, name):
        length = (shown["to"] - shown["from"]) / COLUMNS
        columns = [i for i in range(COLUMNS) if begin <= i * length and (i + 1) * length <= end]
        self.assertGreater(len(columns), COLUMNS / 5)
        for i in columns:
            found = thread["procedures"][i]["name"]
            self.assertTrue(found == name or name == "solve" and found in ("solve", "run"), (name, i, found))

    def test_exports_have_the_times_of_the_view(self):
        phases, db = self.analyze()
        seconds = viewer.printed_json("timeline", db)["threads"]
        slices = slices_of(self, json.loads(viewer.printed("timeline", "--format", "chrome", db)))
        stacks = check_firefox(self, json.loads(viewer.printed("timeline", "--format", "firefox", db)))
        of_view = sum(sum(amounts) for thread in seconds for amounts in thread["states"].values())
        self.assertAlmostEqual(sum(stacks.values()), of_view, delta=1e-3 * of_view)
        assemble = sum(time for (_, path), time in stacks.items() if " assemble" in path)
        self.assertAlmostEqual(sum(time for (_, name), time in slices.items() if name == "assemble"), assemble,
                               delta=0.1 * assemble + 4 * PERIOD)
        self.assertGreater(assemble, 0.5 * (phases[0][1] - phases[0][0]))
