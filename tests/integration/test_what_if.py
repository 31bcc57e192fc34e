"""hpcviewer --what-if, and the advice on parallelism, on a database with known work and span."""
import viewer
from test_viewer_advice import Program, run_json, thread
from test_viewer_efficiency import Case

SERIAL = "<serial code, between computations>"
METRICS = ("work", "exact work", "span", "burdened span")
WORK, SPAN, BURDENED = 1, 2, 3
# Own work, span and burdened span.
COSTS = {SERIAL: (0.04, 0.04, 0.04), "sample_qsort": (1.5, 0.05, 0.06), "partition": (2.4, 0.61, 0.62)}


class WhatIf(Case):
    """Sample sort: partition is serial, beside it little else."""
    def setUp(self):
        super().setUp()
        self.work, self.span, self.burdened = (sum(column) for column in zip(*COSTS.values()))
        p = Program(METRICS)
        qsort = p.main.statement(p.file, 11).call(p.function("sample_qsort", 40))
        rows = {"sample_qsort": qsort, "partition": qsort.statement(p.file, 42).call(p.function("partition", 50)),
                SERIAL: p.db.entry(1, "main thread").call(p.db.function(SERIAL))}
        for name, costs in COSTS.items():
            for metric, cost in zip((WORK, SPAN, BURDENED), costs):
                rows[name].charge(cost, metric)
        self.write(p.db, run_json([thread(1, 4.0)], 4.0, metrics=METRICS))

    def summary(self, *changes):
        options = [option for change in changes for option in ("--what-if", change)]
        return viewer.printed_json("summary", *options, self.db)

    def what_if(self, change):
        found, = self.summary(change)["what_if"]
        return found

    def check(self, bounds, least, most):
        self.assertAlmostEqual(bounds["at_least"], least)
        self.assertAlmostEqual(bounds["at_most"], most)

    def test_twice_as_fast(self):
        found = self.what_if("partition 2x")
        work, least = self.work - 1.2, self.span - 0.305
        self.assertEqual((found["procedure"], found["change"]), ("partition", "2x"))
        self.assertAlmostEqual(found["work"], work)
        self.check(found["span"], least, self.span)
        self.check(found["burdened_span"], self.burdened - 0.31, self.burdened)
        self.check(found["parallelism"], work / self.span, work / least)
        for speedup in found["speedups"]:
            cpus = speedup["cpus"]
            self.check(speedup, work / (work / cpus + 1.7 * self.burdened), min(cpus, work / least))
        self.assertEqual([s["cpus"] for s in found["speedups"]], [2, 4, 8, 16, 32, 64])

    def test_parallel(self):
        found = self.what_if("partition parallel")
        self.assertAlmostEqual(found["work"], self.work)
        self.check(found["span"], self.span - 0.61, self.span)

    def test_slower(self):
        """A path without the procedure may take it up: at most as long as the whole span."""
        found = self.what_if("sample_qsort 0.5x")
        self.assertAlmostEqual(found["work"], self.work + 1.5)
        self.check(found["span"], self.span + 0.05, self.span + (self.span - 0.04))

    def test_serial_code_is_on_every_path(self):
        found = self.what_if(SERIAL + " 4x")
        self.check(found["span"], self.span - 0.03, self.span - 0.03)
        text = viewer.run("--what-if", SERIAL + " 4x", self.db).stdout
        self.assertIn("670.0 ms  span (was 700.0 ms)\n", text)

    def test_measured_speedups_stand_beside(self):
        summary = self.summary("partition 2x", "sample_qsort parallel")
        self.assertEqual([w["procedure"] for w in summary["what_if"]], ["partition", "sample_qsort"])
        speedup = summary["work_span"]["speedups"][2]
        self.assertEqual(speedup["cpus"], 8)
        self.check(speedup, self.work / (self.work / 8 + 1.7 * self.burdened), self.work / self.span)
        self.assertNotIn("what_if", self.summary())

    def test_text(self):
        text = viewer.run("--what-if", "partition 2x", "--what-if", "partition 0.5x", self.db).stdout
        least, work = self.span - 0.305, self.work - 1.2
        self.assertIn("What if partition ran 2x faster\n"
                      "       2.740 s  work (was 3.940 s)\n"
                      "    ≥ 395.0 ms  span (was 700.0 ms); at most 700.0 ms: another path may become the longest\n"
                      "        ≤ %.2f  parallelism (was %.2f); at least %.2f\n"
                      % (work / least, self.work / self.span, work / self.span), text)
        self.assertIn("What if partition ran 2x slower\n", text)
        self.assertIn("4 CPUs  %.2f to 4.00 times faster than one (was %.2f to 4.00)\n"
                      % (work / (work / 4 + 1.7 * self.burdened), self.work / (self.work / 4 + 1.7 * self.burdened)),
                      text)
        ascii_text = viewer.run("--what-if", "partition 2x", self.db, locale="C").stdout
        self.assertIn(">= 395.0 ms  span", ascii_text)
        self.assertIn("<= %.2f  parallelism" % (work / least), ascii_text)

    def test_advice_says_what_it_would_gain(self):
        found = next(f for f in self.summary()["advice"] if f["kind"] == "parallelism")
        self.assertIn("87.1%% of the span is in partition, p.c:50: making it "
                      "parallel raises parallelism from %.1f to at most %.1f."
                      % (self.work / self.span, self.work / (self.span - 0.61)), found["text"])

    def refused(self, status, *arguments):
        done = viewer.run(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_refusals(self):
        self.assertIn("no spawned procedure is called 'quicksort'; there are: partition, sample_qsort, " + SERIAL,
                      self.refused(2, "--what-if", "quicksort 2x", self.db))
        self.assertIn("no spawned procedure is called 'main'", self.refused(2, "--what-if", "main 2x", self.db))
        for change in ("partition", "partition 0x", "partition -1x", "partition twice", "partition nanx"):
            self.assertIn("--what-if takes 'PROCEDURE parallel' or 'PROCEDURE 2x' (a number above 0), not '%s'"
                          % change, self.refused(2, "--what-if", change, self.db))
        self.assertIn("works with the summary",
                      self.refused(2, "--print", "flat", "--what-if", "partition 2x", self.db))
        self.assertIn("works with one database", self.refused(2, "--what-if", "partition 2x", self.db, self.db))

    def test_without_span(self):
        self.write(Program().db, run_json([thread(1, 4.0)], 4.0))
        self.assertIn("--what-if needs work and span, which hpcrun --work-span measures",
                      self.refused(2, "--what-if", "partition 2x", self.db))
        run = run_json([thread(1, 4.0)], 4.0)
        run["metrics"].append({"name": "exact work", "unit": "s", "event": None, "state": "not measurable",
                               "why": "strands are too short"})
        self.write(Program().db, run)
        self.assertIn("--what-if needs work and span, and the work is not exact: strands are too short",
                      self.refused(2, "--what-if", "partition 2x", self.db))
