"""hpcviewer --print losses: the trees of a set's runs as one, compared with sums and means over the trees that
view_oracle makes of each run."""
import json
import random
import re

import v4_writer
import viewer
from set_case import COSTS, KnownSet
from terminal import Terminal
from view_oracle import Oracle

RUNS = [(4, 1), (1, 1), (2, 1), (2, 2), (1, 2), (4, 2)]
PARTS = ("inclusive", "exclusive")


def identity(row):
    site = row.get("call_site")
    return (row["kind"], row["name"], row["file"], row["line"], row["module"],
            (site["file"], site["line"]) if site else None)


def lost(values, p):
    """The metrics of P workers by their name, of the means of work, overhead and idleness by workers."""
    work, overhead, idleness = values[p]
    inflation = work - values[1][0]
    return {"loss": inflation + overhead + idleness, "inflation": inflation, "overhead": overhead,
            "idleness": idleness, "work": work, "effort": work + overhead + idleness}


def merged(rows):
    """The row for those of runs: a list of (workers, row)."""
    workers = sorted({p for p, _ in RUNS}, reverse=True)
    metrics = {}
    for part in PARTS:
        means = {p: [sum(row["metrics"][name][part] for q, row in rows if q == p) /
                     sum(q == p for q, _ in RUNS) for name in COSTS] for p in workers}
        for p in workers:
            for name, value in lost(means, p).items():
                metrics.setdefault(f"{name} [{p}]", {})[part] = value
    children = {}
    for p, row in rows:
        for child in row["children"]:
            children.setdefault(identity(child), []).append((p, child))
    return dict(rows[0][1], metrics=metrics, children=[merged(same) for same in children.values()])


def perturbed(seed, run):
    """A random tree whose structure the seed decides, with costs of the run, and some contexts without any."""
    db = viewer.random_database(seed, 60, COSTS, 1)
    rng = random.Random(f"{seed} {run}")
    for context in db.contexts():
        kept = rng.random() < 0.8
        context.charges = {key: rng.randint(1, 5000) * viewer.UNIT for key in context.charges if kept}
    return db


class Trees(KnownSet):
    def add_database(self, p, repeat, db):
        """A run with a database that was made before."""
        def replace(other):
            other.__dict__.update(db.__dict__)
        self.add(p, repeat, 1, replace)

    def test_random_trees(self):
        for seed in range(6):
            with self.subTest(seed=seed):
                self.setUp()
                dbs = [(p, perturbed(seed, (p, repeat))) for p, repeat in RUNS]
                for (p, db), (_, repeat) in zip(dbs, RUNS):
                    self.add_database(p, repeat, db)
                shown = json.loads(self.printed("json", "losses"))
                expected = merged([(p, Oracle(db).topdown()) for p, db in dbs])
                self.assertIsNone(viewer.difference(viewer.canonical(shown["root"]), viewer.canonical(expected)))
                self.check_sorted(shown["root"])

    def check_sorted(self, row):
        losses = [child["metrics"]["loss [4]"]["inclusive"] for child in row["children"]]
        self.assertEqual(losses, sorted(losses, reverse=True))
        for child in row["children"]:
            self.check_sorted(child)


class Losses(KnownSet):
    """main calls solve, which has a loop, and pack; solve inflates, pack is serial."""

    def tree(self, solve, pack):
        def build(db):
            program, file = db.module("/app"), db.file("/src/app.c")
            main = db.entry(1, "main thread").call(db.function("main", program, 16, file, 10))
            for name, line, costs in (("solve", 20, solve), ("pack", 30, pack)):
                called = main.statement(file, line - 9).call(db.function(name, program, 16 * line, file, line))
                for metric, cost in enumerate(costs):
                    called.charge(cost, metric)
        return build

    def add_all(self, **more):
        self.add(1, 1, 10, self.tree((7, 0.5, 0), (2, 0, 0)), **more)
        self.add(4, 1, 3, self.tree((9, 1, 0.5), (2, 0, 6)), **more)
        self.add(4, 2, 4, self.tree((10, 1, 0.5), (2, 0, 7)), **more)
        self.add(2, 1, 5, self.tree((1, 1, 1), (1, 1, 1)), status=3)

    def test_text(self):
        self.add_all()
        text = viewer.printed("losses", self.set)
        self.assertEqual(text.splitlines()[:2], ["./app {P} [1 worker] and [4]   10.0 s wall -> 3.50 s, 1.00 s CPU -> 1.00 s",
                                                 "top-down view, logical projection"])
        self.assertIn("loss = inflation + overhead + idleness", text)
        rows = re.findall(r"^ *(-?[\d.]+) +[\d.]+% +(-?[\d.]+) +(?:[\d.]+%)? +([\d.]+) +(?:[\d.]+%)? +([\d.]+)"
                          r" +(?:[\d.]+%)? +(?:\d+ » )?(\w+)  ", text, re.M)
        self.assertEqual([(row[4], *map(float, row[:4])) for row in rows if row[4] in ("solve", "pack")],
                         [("pack", 6.5, 0, 0, 6.5), ("solve", 4, 2.5, 1, 0.5)])
        self.assertIn("loss [1]", viewer.printed("losses", "--sort", "loss [1]", self.set))

    def test_csv_has_every_number_of_workers(self):
        self.add_all()
        head = self.printed("csv", "losses").splitlines()[0]
        for name in ("loss [4]", "loss [1]", "inflation [4]", "idleness [1]", "effort [4]"):
            self.assertIn(name, head)
        self.assertNotIn("[2]", head)

    def metrics(self, *arguments):
        done = viewer.run("--print", "losses", "--format", "json", *arguments, self.set)
        return done, {metric["name"]: metric for metric in json.loads(done.stdout)["metrics"]}

    def test_without_one_worker(self):
        self.add(4, 1, 3.5, self.tree((9, 1, 0.5), (2, 0, 6)))
        done, metrics = self.metrics()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(metrics["inflation [4]"]["state"], "not measurable")
        self.assertEqual(metrics["loss [4]"]["why"], "without inflation: no run with one worker")
        self.assertEqual(metrics["idleness [4]"]["state"], "measured")

    def test_without_idleness(self):
        self.add_all(metrics=("work",))
        _, metrics = self.metrics()
        self.assertEqual(metrics["idleness [4]"]["why"], "a run has no idleness: it needs an agent")
        self.assertEqual(metrics["inflation [4]"]["state"], "measured")

    def test_one_of_two_runs_without_idleness(self):
        self.add_all()
        self.add(8, 1, 3, (9, 1), metrics=COSTS[:2])
        self.add(8, 2, 3, (9, 1, 1))
        _, metrics = self.metrics()
        self.assertEqual([metrics[f"idleness [{p}]"]["state"] for p in (8, 4)], ["not measurable", "measured"])

    def test_more_workers_than_cpus(self):
        self.add_all(cpus=2)
        _, metrics = self.metrics()
        for name, state in (("idleness [4]", "lower bound"), ("loss [4]", "lower bound"), ("loss [1]", "measured"),
                            ("inflation [4]", "measured")):
            self.assertEqual(metrics[name]["state"], state, name)

    def test_a_damaged_run_is_left_out(self):
        self.add_all()
        (self.set / "run-4-2-database" / "meta.db").write_bytes(b"HPCTOOLKITmeta")
        done = viewer.run("--print", "losses", "--format", "json", self.set)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("run-4-2-database", done.stderr)
        solve = viewer.find(json.loads(done.stdout)["root"], "solve")
        self.assertEqual(solve["metrics"]["inflation [4]"]["inclusive"], 2)

    def test_calls_from_unknown_sites(self):
        """One run does not know where pack is called: its calls are one row."""
        self.add_all()
        run = self.set / "run-4-1-database" / "run.json"
        facts = json.loads(run.read_text())
        db = v4_writer.Database("app", COSTS)
        program, file = db.module("/app"), db.file("/src/app.c")
        main = db.entry(1, "main thread").call(db.function("main", program, 16, file, 10))
        pack = db.function("pack", program, 480, file, 30)
        known, unknown = main.statement(file, 21).call(pack), main.call(pack)
        known.charge(1, 0)
        unknown.charge(4, 0)
        v4_writer.write_database(db, str(run.parent))
        facts["unknown_call_sites"] = [unknown.id]
        run.write_text(json.dumps(facts))
        root = json.loads(self.printed("json", "losses"))["root"]
        packs = [row for _, row in viewer.rows_of(root) if row["name"] == "pack"]
        self.assertEqual([row["metrics"]["work [4]"]["inclusive"] for row in packs], [(1 + 4 + 2) / 2])

    def test_calls_in_other_lines(self):
        """The runs are of one program, so calls of a procedure from different lines are different rows."""
        def tree(line, work):
            def build(db):
                program, file = db.module("/app"), db.file("/src/app.c")
                main = db.entry(1, "main thread").call(db.function("main", program, 16, file, 10))
                main.statement(file, line).call(db.function("solve", program, 320, file, 20)).charge(work, 0)
            return build
        self.add(1, 1, 10, tree(11, 7))
        self.add(4, 1, 3, tree(12, 9))
        root = json.loads(self.printed("json", "losses"))["root"]
        calls = [(row["call_site"]["line"], row["metrics"]["inflation [4]"]["inclusive"])
                 for _, row in viewer.rows_of(root) if row["name"] == "solve"]
        self.assertEqual(sorted(calls), [(11, -7), (12, 9)])

    def test_refusals(self):
        self.refused("not a set of runs", "--print", "losses", self.folder)
        self.add(4, 1, 3, (9, 1, 2), status=1)
        self.refused("no run of the set has a database", "--print", "losses", self.set)
        self.refused("text, csv, json", "--print", "losses", "--format", "folded", self.set, status=2)
        self.refused("losses have their own", "--print", "losses", "--metrics", "work", self.set, status=2)
        self.refused("one set of runs", "--print", "losses", self.set, self.set, status=2)

    def test_from_the_page(self):
        self.add_all()
        with Terminal([viewer.VIEWER, self.set], width=120, height=30) as terminal:
            terminal.until_seen("L: losses")
            terminal.press_until("L", "loss [4]", "pack", "solve")
            for key, message in (("4", "the view of threads works with one run"), ("5", "the summary works with one"),
                                 ("a", "advice works with one run"), ("|", "choosing threads works with one run"),
                                 (".", "going to another view"), ("i", "one row")):
                terminal.press(key)
                terminal.until_seen(message)
            terminal.press("q")
            for key, text in (("2", "bottom-up"), ("3", "flat"), ("1", "top-down"), ("s", "loss [4]"), ("s", "loss")):
                terminal.press(key)
                terminal.until_seen(text)
            terminal.press_until("q", "open a run")
            terminal.press_until("q", "ended 0")
