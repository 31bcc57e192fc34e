"""Every fate of doc/FORMAT-hpcrun.md, from a measurement file to the database and the views: its words, counts and
times. Also the sources with their reasons, and files with problems."""
import json
import pathlib
import re

import hpcprof_case
import measurement_writer as mw
import profiling
import viewer

WHY = "perf_event_open is refused: Operation not permitted"


def specified():
    """{code: words} of the table in section 8."""
    text = (profiling.ROOT / "doc" / "FORMAT-hpcrun.md").read_text()
    section = text.split("\n## 8. ")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", section, re.MULTILINE)
    fates = {int(code): re.split(r" \(contained in|(?<=idle thread): ", words)[0]
             for code, words in rows}
    fates[96] = fates[96].removeprefix("time of ").strip("`")
    return fates


class Fates(hpcprof_case.HpcprofCase):
    def make(self):
        """A process with two threads and samples of every fate: code c has c + 1 samples and 2 (c + 1) seconds in each
        thread."""
        self.fates = specified()
        module = self.program()
        process = self.scenario.process(pid=71)
        process.metric("work", process.event("CPUTIME", flags=5, why=WHY))
        for tid in (71, 72):
            thread = process.thread(tid=tid)
            instance = self.scenario.load(process, module)
            self.scenario.sample(process, thread, [(instance, 0x1000)], 0, mw.seconds(2))
            for code in self.fates:
                thread.fate(0, mw.CPU_TIMER, code, code + 1, mw.seconds(2 * (code + 1)))
        self.scenario.database()
        return self.at("db")

    def test_the_table_was_read(self):
        fates = specified()
        self.assertEqual((fates[0], fates[2], fates[96]),
                         ("fired", "idle thread", "kernel, unattributed"))
        self.assertEqual(fates[64], "partial: no unwind information")
        self.assertGreaterEqual(len(fates), 15)

    def test_all_reach_the_database(self):
        run = json.loads((pathlib.Path(self.make()) / "run.json").read_text())
        process, = run["processes"]
        for thread in process["threads"]:
            event, = thread["events"]
            self.assertEqual(event["fates"], {
                words: {"count": code + 1, "amount": 2.0 * (code + 1)}
                for code, words in self.fates.items()})
        for prefix, codes in (("dropped", range(16, 64)), ("partial", range(64, 96))):
            self.assertEqual(process[prefix], {
                words.removeprefix(f"{prefix}: "): 2 * (code + 1)
                for code, words in self.fates.items() if code in codes})
        self.assertEqual([process[key] for key in ("samples", "recorded", "idle",
                                                   "nobody_working")], [2, 4, 6, 8])

    def test_all_are_in_the_summary_with_a_meaning(self):
        text = viewer.printed("summary", self.make())
        lines = text.splitlines()
        self.assertIn(f"    source: POSIX timers, in 2 threads ({WHY})", lines)
        for code, words in self.fates.items():
            shown = [line for line in lines if re.search(rf" {re.escape(words)}(:|$)", line)]
            self.assertEqual(len(shown), 1, words)
            self.assertEqual(shown[0].split()[0], f"{2 * (code + 1):,}")
            self.assertIn(f" {4 * (code + 1):.2f}"[:5], shown[0])
            if code:  # fired samples need no explanation
                self.assertRegex(shown[0], rf" {re.escape(words)}: \w+")

    def test_all_are_in_the_summary_for_programs(self):
        db = self.make()
        sample, = viewer.printed_json("summary", db)["samples"]
        self.assertEqual(sample["fates"], {
            words: {"count": 2 * (code + 1), "amount": 4.0 * (code + 1)}
            for code, words in self.fates.items()})
        self.assertEqual(sample["sources"], [{"source": "POSIX timers", "why": WHY, "threads": 2}])

    def test_threads_say_what_they_lost(self):
        db = self.make()
        dropped = sum(code + 1 for code in self.fates if 16 <= code < 64)
        partial = sum(code + 1 for code in self.fates if 64 <= code < 96)
        for thread in viewer.printed_json("threads", db)["threads"]:
            self.assertEqual([thread[key] for key in ("samples", "dropped", "partial")],
                             [1, dropped, partial])
        self.assertEqual(viewer.printed("threads", db).count(
            f"(of 1 samples {dropped} dropped, {partial} partial)"), 2)

    def test_files_with_problems_are_named(self):
        module = self.program()
        for pid in (71, 72):
            self.process(module, pid=pid)
        self.scenario.write()
        damaged = pathlib.Path(self.scenario.measurements, self.scenario.processes[1].file_name())
        damaged.write_bytes(damaged.read_bytes()[:-3])
        self.scenario.run("-o", "db", status=1)
        summary = viewer.printed_json("summary", self.at("db"))
        self.assertEqual(len(summary["problems"]), 1)
        self.assertTrue(summary["problems"][0].startswith(damaged.name))
        self.assertIn(damaged.name, viewer.printed("summary", self.at("db")))
