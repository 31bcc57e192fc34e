"""The time view of a program that measures its own phases, and the exports of its time line."""
import json
import struct

import profiling
import viewer
from profiling import program
from test_viewer_timeline import slices_of

MS = 300
PERIOD = 0.001
COLUMNS = 100


class TimeViewOfPrograms(profiling.ProfilingTest):
    def analyze(self):
        """Measures a run: its phases, as (begin, end, stalled) in seconds of the time line; and its database."""
        done, _ = self.measure(program("planned-phases"), MS, events=("REALTIME@f1000",), options=("--trace", "full"))
        db = self.make_database()
        (begin,) = struct.unpack_from("<Q", (db / "timeline.db").read_bytes(), 48)
        return [((int(a) - begin) / 1e9, (int(b) - begin) / 1e9, int(c) / 1e9)
                for a, b, c in (line.split() for line in done.stdout.splitlines())], db

    def test_cells_show_the_phases_where_they_are(self):
        """Columns more than 1.5 periods away from a boundary, and from a time without a CPU near it, have one procedure:
        that of their phase. Thread 1 runs `assemble` and `rest`, the others `solve`."""
        phases, db = self.analyze()
        shown = viewer.printed_json("timeline", "--depth", 2, db)
        n = 0
        for (begin, end, stalled), name in zip(phases, ("assemble", "solve", "rest")):
            threads = shown["threads"][1:] if name == "solve" else shown["threads"][:1]
            self.assertEqual(len(threads), 4 if name == "solve" else 1)
            margin = 1.5 * PERIOD + stalled
            n += sum(self.check_phase(shown, thread, begin + margin, end - margin, name) for thread in threads)
        if n < COLUMNS:
            self.skipTest("the threads had no CPUs near the ends of their phases")

    def check_phase(self, shown, thread, begin, end, name):
        """Returns the number of columns that lie in that time."""
        length = (shown["to"] - shown["from"]) / COLUMNS
        columns = [i for i in range(COLUMNS) if begin <= i * length and (i + 1) * length <= end]
        for i in columns:
            found = thread["procedures"][i]["name"]
            self.assertEqual(found, "run" if name == "solve" else name, i)  # run > solve, at depth 3
        return len(columns)

    def test_the_chrome_trace_has_the_times_of_the_view(self):
        phases, db = self.analyze()
        threads = viewer.printed_json("timeline", "--depth", 2, db)["threads"]
        slices = slices_of(self, json.loads(viewer.printed("timeline", "--format", "chrome", db)))
        assemble = sum(cell["amount"] for thread in threads for cell in thread["procedures"]
                       if cell and cell["name"] == "assemble")
        self.assertAlmostEqual(sum(time for (_, name), time in slices.items() if name == "assemble"), assemble,
                               delta=0.1 * assemble + 4 * PERIOD)
        self.assertGreater(assemble, 0.5 * (phases[0][1] - phases[0][0]))
