"""The advice on two databases: what got worse and better and which procedures are responsible, checked
against each database alone."""
import collections
import os

import v4_writer
import viewer
from comparison_oracle import Program
from terminal import Terminal
from test_viewer_compare import NAMES, Compared, parallel

PARTS = ("work", "overhead", "idleness")
NOTABLE = 0.01  # of the first run's effort
CODE = ("procedure", "inlined")


def own_costs(root, metric):
    """{(procedure, file): its own cost in all its contexts} below a row, itself included."""
    costs = collections.Counter()
    for _, row in viewer.rows_of(root):
        if row["kind"] in CODE:
            cost = row["metrics"][metric]["exclusive"]
            costs[row["name"], os.path.basename(row["file"] or "")] += cost
    return costs


def expected_hotspots(before, after, whole):
    """{"more", "less": [(name, file, difference)]} of the three that changed most, of those that
    changed by so much that it is told."""
    found = {"more": [], "less": []}
    for name, file in {*before, *after}:
        difference = after[name, file] - before[name, file]
        if difference and abs(difference) >= NOTABLE * whole:
            found["more" if difference > 0 else "less"].append((name, file, difference))
    return {way: sorted(some, key=lambda one: (-abs(one[2]), one[:2]))[:3]
            for way, some in found.items()}


def listed_hotspots(change):
    return {way: [(one["name"], os.path.basename(one["file"] or ""), one["difference"])
                  for one in change[way]] for way in ("more", "less")}


class OfRandomPrograms(Compared):
    """Without run.json the period of samples is unknown, so no change is judged as chance."""

    def alone(self, part, side):
        return own_costs(viewer.printed_json("top-down", self.folders[side])["root"], part)

    def check(self):
        changes, = viewer.printed_json("summary", *self.folders)["advice"]
        costs = self.compared("top-down")["root"]["metrics"]
        whole = costs[f"effort [{NAMES[0]}]"]["inclusive"]
        self.assertIsNone(changes["event"])
        for part in (*PARTS, "effort"):
            change = changes[part]
            shown = {name: costs[f"{part} [{name}]"]["inclusive"] for name in NAMES}
            self.assertEqual({name: change[name] for name in NAMES}, shown)
            self.assertEqual(change["difference"], shown["after"] - shown["before"])
            verdict = "hardly changed"
            if abs(change["difference"]) >= NOTABLE * whole:
                verdict = "worse" if change["difference"] > 0 else "better"
            self.assertEqual(change["verdict"], verdict)
        for part in PARTS:
            expected = expected_hotspots(self.alone(part, 0), self.alone(part, 1), whole)
            self.assertEqual(listed_hotspots(changes[part]), expected)

    def test_differences(self):
        for seed in range(8):
            with self.subTest(seed=seed):
                self.write(*Program(seed, metrics=PARTS).databases)
                self.check()


def program(*procedures):
    """A program with the work of procedures, each (name, file, cost), that main calls."""
    db = v4_writer.Database("p")
    module = db.module("/bin/p")
    main = db.entry().call(db.function("main", module, 0, db.file("/src/main.c"), 1))
    main.charge(1000)
    for number, (name, file, cost) in enumerate(procedures, 1):
        function = db.function(name, module, 64 * number, db.file(file), 10 * number)
        main.call(function).charge(cost)
    return db


class ByHand(Compared):
    RUN = {"metrics": viewer.measured("work", event="X"), "events": [{"name": "X", "unit": "s", "period": 10}]}

    def told(self):
        change = viewer.printed_json("summary", *self.folders)["advice"][0]["work"]
        return listed_hotspots(change)

    def test_a_procedure_in_another_folder_or_file(self):
        self.write(program(("f", "/old/f.c", 100), ("g", "/old/g.c", 100)),
                   program(("f", "/new/f.c", 150), ("g", "/new/moved.c", 130)))
        self.assertEqual(self.told(), {"more": [("f", "f.c", 50), ("g", "moved.c", 30)], "less": []})

    def test_procedures_of_one_name(self):
        """Procedures of one name are told apart by their files; without a match they are not paired."""
        self.write(program(("f", "/a.c", 100), ("f", "/b.c", 100)),
                   program(("f", "/a.c", 150), ("f", "/b.c", 60)))
        self.assertEqual(self.told(), {"more": [("f", "a.c", 50)], "less": [("f", "b.c", -40)]})
        self.write(program(("f", "/a.c", 100), ("f", "/b.c", 100)),
                   program(("f", "/c.c", 150), ("f", "/d.c", 60)))
        self.assertEqual(self.told(), {"more": [("f", "c.c", 150), ("f", "d.c", 60)],
                                       "less": [("f", "a.c", -100), ("f", "b.c", -100)]})

    def test_what_is_only_in_one(self):
        self.write(program(("gone", "/a.c", 100)), program(("new", "/a.c", 150)))
        self.assertEqual(self.told(), {"more": [("new", "a.c", 150)], "less": [("gone", "a.c", -100)]})
        text = viewer.printed("summary", *self.folders)
        self.assertIn("+150 (13.6%) new, a.c:10", text)
        self.assertIn("-100 (9.1%) gone, a.c:10", text)

    def test_what_is_small_is_not_told(self):
        self.write(program(("f", "/a.c", 100)), program(("f", "/a.c", 110)))
        self.assertEqual(self.told(), {"more": [], "less": []})
        self.assertIn("Hardly changed: work.", viewer.printed("summary", *self.folders))

    def test_what_may_be_chance(self):
        """Samples of 10: 40 of them and 60 differ by 20, twice the standard deviation; 61 by more."""
        for after, verdict, said in ((600, "may be chance", "What may be chance: work 200.0 s (50.0%) more."),
                                     (610, "worse", "Worse in after: work by 210.0 s (52.5%).")):
            self.write(parallel("a", [("work", 400)]), parallel("b", [("work", after)]))
            self.describe_runs(*2 * [self.RUN])
            changes, = viewer.printed_json("summary", *self.folders)["advice"]
            self.assertEqual(changes["work"]["verdict"], verdict)
            self.assertEqual(len(changes["work"]["more"]), verdict == "worse")
            self.assertIn(said, viewer.printed("summary", *self.folders))

    def test_in_words(self):
        self.write(parallel("a", [("work", 60), ("overhead", 30), ("idleness", 10)]),
                   parallel("b", [("work", 60), ("overhead", 20), ("idleness", 40)]))
        text = viewer.printed("summary", *self.folders)
        for said in ("Effort is 120 in after and 100 in before: 20 (20.0%) more.",
                     "Worse in after: idleness by 30 (30.0%).",
                     "Better in after: overhead by 10 (10.0%).", "Hardly changed: work.",
                     "More idleness in after is in:\n    +30 (30.0%) main, m.c:10",
                     "Less overhead in after is in:\n    -10 (10.0%) main, m.c:10"):
            self.assertIn(said, text)

    def run_of(self, wall, cpu, event="CPUTIME", **fates):
        """One process with one thread; fates in seconds."""
        fates = {name.replace("_", " "): {"count": amount * 100, "amount": amount} for name, amount in fates.items()}
        return {"processes": [{"origin": "launched", "wall": wall, "cpu": cpu,
                               "threads": [{"cpu": cpu, "events": [{"event": event, "fates": fates}]}]}]}

    def test_the_whole_runs_come_first_with_what_no_code_pays(self):
        self.write(parallel("a", [("work", 60)]), parallel("b", [("work", 60)]))
        before = self.run_of(20, 40, recorded=10, idle_thread=14, nobody_working=16)
        self.describe_runs(before, self.run_of(5, 9.9, recorded=9, idle_thread=0.5, nobody_working=0.4))
        text = " ".join(viewer.printed("summary", *self.folders).split())
        self.assertIn("Advice Wall clock is 5.000 s in after and 20.00 s in before: 15.00 s (75.0%) less. "
                      "CPU time is 9.900 s in after and 40.00 s in before: 30.10 s (75.2%) less. Of that, waiting is "
                      "900.0 ms in after and 30.00 s in before: 29.10 s (72.8%) less. Hardly", text)
        self.describe_runs(before, self.run_of(20.1, 41, recorded=11, idle_thread=14, nobody_working=15.7))
        text = " ".join(viewer.printed("summary", *self.folders).split())
        self.assertIn("Wall clock is 20.10 s in after and 20.00 s in before: hardly changed. CPU time is 41.00 s in after "
                      "and 40.00 s in before: 1.000 s (2.5%) more. Hardly", text)
        self.describe_runs(before, self.run_of(20, 40, "REALTIME", recorded=10, idle_thread=30))
        text = " ".join(viewer.printed("summary", *self.folders).split())
        self.assertIn("Of that, waiting is 0 s in after", text)
        self.describe_runs(*(self.run_of(20, 0.4, recorded=0.3, idle_thread=seconds) for seconds in (0.1, 0.05)))
        self.assertNotIn("Of that", viewer.printed("summary", *self.folders))  # 10 samples and 5
        self.describe_runs(before, {})
        self.assertNotIn("Wall clock", viewer.printed("summary", *self.folders))

    def test_threads_that_spin_where_code_waits(self):
        self.write(*(parallel(name, [("work", 6), ("waiting", seconds)]) for name, seconds in (("a", 30), ("b", 2))))
        metrics = [{"name": name, "event": "CPUTIME", "unit": "s", "state": "measured"} for name in ("work", "waiting")]
        self.describe_runs(*({**self.run_of(20, cpu, idle_thread=1), "metrics": metrics} for cpu in (37, 9)))
        self.assertIn("Of that, waiting is 3.000 s in after and 31.00 s in before: 28.00 s (75.7%) less.",
                      " ".join(viewer.printed("summary", *self.folders).split()))

    def test_what_only_one_run_measured(self):
        self.write(parallel("a", [("work", 60)]), parallel("b", [("work", 90), ("idleness", 30)]))
        text = viewer.printed("summary", *self.folders)
        self.assertIn("Effort is 120 in after and 60 in before: 60 (100.0%) more.", text)
        self.assertIn("Worse in after: work by 30 (50.0%).", text)
        self.assertIn("Not measured in both: overhead, idleness.", text)
        self.write(parallel("a", [("cycles", 60)]), parallel("b", [("cycles", 90)]))
        self.assertIn("None: the runs have not measured work by the same event.",
                      viewer.printed("summary", *self.folders))

    def test_of_each_event(self):
        events = ("CPUTIME", "REALTIME")
        self.write(*(parallel(name, [(f"work ({event})", 100 + i * more) for i, event in
                                     enumerate(events)]) for name, more in (("a", 0), ("b", 50))))
        run = {"metrics": [{"name": f"work ({event})", "event": event, "unit": "s", "state": "measured"}
                           for event in events]}
        self.describe_runs(run, run)
        text = viewer.printed("summary", *self.folders)
        self.assertIn("By CPUTIME:\n  Hardly changed: work.", text)
        self.assertIn("By REALTIME:\n  Worse in after: work by 50.00 s (50.0%).", text)
        advice = viewer.printed_json("summary", *self.folders)["advice"]
        self.assertEqual([one["event"] for one in advice], list(events))


class OnTheScreen(Compared):
    def start(self, *arguments, width=110, height=60, **more):
        terminal = Terminal([viewer.VIEWER, "--closed", *arguments, *self.folders], width, height, **more)
        self.addCleanup(terminal.__exit__)
        terminal.until_seen("?:help")
        return terminal

    def test_of_the_whole_program_it_is_the_summarys(self):
        self.write(*Program(6, metrics=PARTS).databases)
        text = viewer.printed("summary", *self.folders).partition("\nAdvice\n")[2]
        wanted = text.partition("\n\n")[0].splitlines()
        terminal = self.start(width=96)
        for view in "123":
            terminal.press(view, "Home", "a")
            lines = terminal.until_seen("what changed", *(line.strip() for line in wanted))
            first = next(n for n, line in enumerate(lines) if line.startswith(wanted[0]))
            self.assertEqual([line.rstrip() for line in lines[first:first + len(wanted)]], wanted)
            terminal.press_until("q", "scope")

    def test_of_a_row_it_is_what_is_below(self):
        """Costs of the rows below the selected one, added up by procedures."""
        self.write(*Program(11, metrics=PARTS, unit=1).databases)
        tree = self.compared("top-down")["root"]
        whole = tree["metrics"]["effort [before]"]["inclusive"]
        row = tree["children"][0]["children"][0]
        terminal = self.start("--names", ",".join(NAMES))
        terminal.press("Home", "j", "+", "j", "a")
        for part in PARTS:
            sides = [own_costs(row, f"{part} [{name}]") for name in NAMES]
            for way, hotspots in expected_hotspots(*sides, whole).items():
                if hotspots:
                    terminal.until_seen(f"{way.capitalize()} {part} in after is in:")
                for name, file, difference in hotspots:
                    sign = "+" if difference > 0 else "-"
                    self.assert_shown(terminal, f"{sign}{abs(difference):.0f} ", f"%) {name}")
        terminal.press_until("q", "scope")

    def assert_shown(self, terminal, *parts):
        terminal.until(lambda lines: any(all(part in line for part in parts) for line in
                                         (line.replace(",", "") for line in lines)),
                       f"a line with {parts}")

    def test_small_and_plain_screens(self):
        self.write(*Program(6, metrics=PARTS).databases)
        terminal = self.start(width=40, height=10, environment={"LC_ALL": "C"})
        for view in "123":
            terminal.press(view, "Home", "+", "j", "a")
            terminal.until_seen("what changed")
            terminal.press_until("q", "whole program")
