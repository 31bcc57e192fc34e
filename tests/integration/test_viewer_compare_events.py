"""hpcviewer A B of runs with different events, or numbers of events: which metrics are compared, and that
the output says so."""

import viewer
from terminal import Terminal
from test_viewer_compare import Compared, parallel

CPU = [("work (CPUTIME)", "CPUTIME"), ("idleness (CPUTIME)", "CPUTIME")]
REAL = [("work (REALTIME)", "REALTIME"), ("idleness (REALTIME)", "REALTIME")]


def described(metrics, unit="s"):
    """run.json's metrics from (name, event)."""
    return {"metrics": [{"name": name, "event": event, "unit": unit, "state": "measured"}
                        for name, event in metrics]}


class Events(Compared):
    """The costs of a run's metrics are 1, 2, 3, 4, ... in their order."""

    def write_runs(self, left, right):
        self.write(*(parallel(name, [(metric, cost) for cost, (metric, _) in enumerate(run, 1)])
                     for name, run in zip("ab", (left, right))))
        self.describe_runs(described(left), described(right))

    def compared_costs(self):
        """{metric: (before, after)}, and the explanation of different names."""
        shown = self.compared("top-down")
        costs = {name: cost["inclusive"] for name, cost in shown["root"]["metrics"].items()}
        bases = [name.removesuffix(" [before]") for name in costs if name.endswith(" [before]")]
        self.assertEqual(len(costs), 4 * len(bases))
        for base in bases:
            self.assertEqual(costs[f"{base} difference"],
                             costs[f"{base} [after]"] - costs[f"{base} [before]"])
        called = {metric["name"]: metric["called"] for metric in shown["metrics"]
                  if "called" in metric}
        return {base: (costs[f"{base} [before]"], costs[f"{base} [after]"]) for base in bases}, called

    def test_one_event_against_several(self):
        """In both orders, and for each of the several events."""
        for event, costs in (("CPUTIME", (3, 4, 7)), ("REALTIME", (1, 2, 3))):
            one = [("work", event), ("idleness", event)]
            own = {f"{part} ({event})": (cost, other) for part, cost, other in
                   zip(("work", "idleness", "effort"), (1, 2, 3), costs)}
            self.write_runs(one, REAL + CPU)
            shown, called = self.compared_costs()
            self.assertEqual(shown, own)
            self.assertEqual(called, {f"{name} [before]": name.split()[0] for name in own})
            self.write_runs(REAL + CPU, one)
            shown, called = self.compared_costs()
            self.assertEqual(shown, {name: (b, a) for name, (a, b) in own.items()})
            self.assertEqual(called, {f"{name} [after]": name.split()[0] for name in own})

    def test_it_is_said(self):
        self.write_runs([("work", "CPUTIME"), ("idleness", "CPUTIME")], CPU + REAL)
        for view in ("top-down", "summary"):
            said = viewer.printed(view, *self.folders)
            self.assertIn("Compared with each other: work [before] and work (CPUTIME) [after], "
                          "idleness [before] and idleness (CPUTIME) [after], effort [before] and "
                          "effort (CPUTIME) [after]. Only in after: work (REALTIME), "
                          "idleness (REALTIME), effort (REALTIME).", said)

    def test_metrics_and_sort_know_the_name_without_the_event(self):
        """In each run the name stands for its metric of that name."""
        self.write_runs([("work", "CPUTIME"), ("idleness", "CPUTIME")], REAL + CPU)
        for options, first in ((("--metrics", "work"), "m.c:13"), (("--sort", "idleness"), "m.c:14"),
                               (("--sort", "work"), "m.c:13")):
            shown = self.compared("top-down", *options)["root"]
            self.assertIn("work (CPUTIME) difference", shown["metrics"])
            self.assertEqual("idleness (CPUTIME) difference" in shown["metrics"],
                             "--metrics" not in options)
            self.assertEqual(viewer.find(shown, "main", "procedure")["children"][0]["name"], first)
        after = self.folders[1]
        alone = viewer.printed_json("flat", "--metrics", "idleness,work (REALTIME)", after)
        self.assertEqual(list(alone["root"]["metrics"]),
                         ["idleness (REALTIME)", "idleness (CPUTIME)", "work (REALTIME)"])
        self.assertIn("no metric 'work' to sort by",  # which of the two?
                      self.refused(2, "--print", "flat", "--sort", "work", after))
        self.assertIn("no metric 'idle'",
                      self.refused(2, "--print", "flat", "--metrics", "idle", *self.folders))

    def test_effort_against_work(self):
        """The same event, but only one of the programs is parallel."""
        self.write_runs([("work", "CPUTIME")], CPU + REAL)
        shown, called = self.compared_costs()
        self.assertEqual(shown, {"work (CPUTIME)": (1, 1), "effort (CPUTIME)": (1, 3)})
        self.assertEqual(set(called.values()), {"work"})

    def test_other_events_are_not_compared(self):
        """Though the metrics have the same name."""
        self.write_runs([("work", "CPUTIME"), ("cycles", "cycles")],
                        [("work", "REALTIME"), ("cycles", "cycles")])
        self.assertEqual(self.compared_costs(), ({"cycles": (2, 2)}, {}))
        self.assertIn("Only in before: work (of CPUTIME). Only in after: work (of REALTIME).",
                      viewer.printed("summary", *self.folders))
        self.write_runs([("work", "CPUTIME")], [("work", "REALTIME")])
        said = self.refused(1, "--print", "flat", *self.folders)
        self.assertIn("has no metric in common", said)
        self.assertIn("work (of REALTIME)", said)

    def test_other_units_are_not_compared(self):
        self.write_runs([("work", "CPUTIME"), ("waits", "WAIT")],
                        [("work", "CPUTIME"), ("waits", "WAIT")])
        self.describe_runs(described([("work", "CPUTIME"), ("waits", "WAIT")]),
                           {"metrics": [*described([("work", "CPUTIME")])["metrics"],
                                        *described([("waits", "WAIT")], "count")["metrics"]]})
        self.assertEqual(self.compared_costs()[0], {"work": (1, 1)})

    def test_where_no_event_is_told(self):
        """A match must be unique."""
        self.write_runs([("work", "CPUTIME"), ("cycles", "cycles")], [*CPU[:1], ("cycles", "cycles")])
        for folder in self.folders:
            (folder / "run.json").unlink()
        self.assertEqual(self.compared_costs()[0], {"work (CPUTIME)": (1, 1), "cycles": (2, 2)})
        self.write_runs([("work", "CPUTIME"), ("cycles", "cycles")],
                        [*CPU[:1], *REAL[:1], ("cycles", "cycles")])
        for folder in self.folders:
            (folder / "run.json").unlink()
        self.assertEqual(self.compared_costs()[0], {"cycles": (2, 3)})

    def test_the_inspector_says_it(self):
        self.write_runs([("work", "CPUTIME")], CPU[:1] + REAL[:1])
        terminal = self.enterContext(Terminal([viewer.VIEWER, "--closed", *self.folders], 110, 40))
        terminal.until_seen("?:help")
        terminal.press("i")
        terminal.until_seen("work (CPUTIME) [before], s, there called work",
                            "work (CPUTIME) [after], s")
