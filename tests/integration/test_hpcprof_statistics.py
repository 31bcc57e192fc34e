"""hpcprof -M: statistics over threads, computed here from the amounts that were written to the measurement files."""
import fractions
import math
import pathlib
import random

import measurement_writer as mw
from hpcprof_case import HpcprofCase
from hpcprof_scenario import SCOPES, check_database, database_paths
from structure_model import F, L, P, S, Structure
from taxonomy_reader import check_for_viewer, formulas_of, metrics_in, read_taxonomy, value
from v4_reader import read_database

CODE = (0x1000, 0x1010, 0x2000, 0x2010, 0x3000)
PROGRAM = Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
                                  L(3, S(4, (0x1010, 0x1020)))),
                      P("inner", 20, [(0x2000, 0x2100)], S(21, (0x2000, 0x2010)),
                        S(22, (0x2010, 0x2100))),
                      P("leaf", 30, [(0x3000, 0x3100)], S(31, (0x3000, 0x3100)))))
METRICS = {0: ("work", 1024e9), 1: ("FAULTS", 1)}


class Statistics(HpcprofCase):
    def sample_at_random(self, seed, processes=3):
        """Threads with samples in some of the code, and one without any."""
        generator = random.Random(seed)
        module = self.program()
        for pid in range(processes):
            image = self.process(pid=pid, start_time=pid)
            image.metric("FAULTS", image.event("FAULTS", unit="count"))
            instance = self.scenario.load(image, module)
            for number in range(3):
                thread = image.thread()
                for _ in range(0 if pid == 1 and number == 2 else 12):
                    path = [(instance, generator.choice(CODE)) for _ in range(generator.randrange(1, 5))]
                    self.scenario.sample(image, thread, path, 0, generator.randrange(1, 2 ** 45))
                if number != 1:
                    self.scenario.sample(image, thread, [(instance, 0x1000), (instance, 0x3000)], 1,
                                         generator.randrange(1, 100))

    def program(self):
        return self.scenario.binary("program", "abcd01", PROGRAM)

    def spread(self, projection="logical"):
        """{(path, metric, scope): values of all threads, in units}."""
        expected, _ = self.scenario.expected(projection)
        n = len(self.scenario.ordered_threads())
        spread = {}
        for (profile, path, metric, scope), amount in expected.items():
            if profile:
                values = spread.setdefault((path, metric, scope), [fractions.Fraction(0)] * n)
                values[profile - 1] = fractions.Fraction(amount) / int(METRICS[metric][1])
        return spread

    def stored(self, db):
        """{(path, metric, scope, combine, formula): value} of the summary."""
        names = {name: number for number, (name, _) in METRICS.items()}
        kinds = {number: (names[metric.name], *kind) for metric in db.metrics
                 for kind, number in metric.summaries.items()}
        path_of = database_paths(db.contexts.values())
        return {(path_of[context], *kinds[number]): value
                for context, row in db.profiles[0].values.items() for number, value in row.items()}

    def test_what_is_stored(self):
        self.sample_at_random(1)
        db = self.scenario.database("-M", "mean,min,max,stddev")
        found = self.stored(db)
        expected = {}
        for (path, metric, scope), values in self.spread().items():
            for combine, formula, value in (("sum", "$$", sum(values)), ("min", "$$", min(values)),
                                            ("max", "$$", max(values)),
                                            ("sum", "$$^2", sum(v * v for v in values))):
                if value:
                    expected[path, metric, scope, combine, formula] = float(value)
        self.assertEqual(set(found), set(expected))
        for key, value in expected.items():
            self.assertLess(abs(found[key] - value), 1e-13 * value, key)
        self.assertEqual({metric.name: len(metric.summaries) for metric in db.metrics},
                         {"work": 4 * len(SCOPES), "FAULTS": 4 * len(SCOPES)})
        for scope in SCOPES:  # exact but for rounding once
            for path in {path for path, *_ in found}:
                key = (path, 0, scope, "max", "$$")
                self.assertEqual(found.get(key), expected.get(key))

    def test_threads_and_sums_stay_what_they_are(self):
        self.sample_at_random(2)
        self.scenario.write()
        self.scenario.run("-o", "plain")
        self.scenario.run("-M", "sum", "-o", "sum")
        self.scenario.run("-M", "stddev,max", "-o", "more")
        plain, more = (read_database(self.at(name)) for name in ("plain", "more"))
        check_database(self, self.scenario, read_database(self.at("sum")), METRICS)
        for a, b in zip(plain.profiles[1:], more.profiles[1:]):
            self.assertEqual(a.values, b.values)
        self.assertEqual(plain.by_context, more.by_context)
        self.assertEqual([kind for kind in more.metrics[0].summaries if kind[0] == "execution"],
                         [("execution", "sum", "$$"), ("execution", "sum", "$$^2"),
                          ("execution", "max", "$$")])
        for context, row in plain.profiles[0].values.items():
            self.assertEqual({number: more.profiles[0].values[context][number] for number in row}, row)

    def test_one_thread_of_several_has_samples(self):
        """The summary is not that thread's block then."""
        image = self.process(self.program())
        image.thread()
        db = self.scenario.database("-M", "min,mean,max")
        found = self.stored(db)
        self.assertEqual({combine for *_, combine, _ in found}, {"sum", "max"})  # the minimum is 0
        run = self.run_json()
        self.assertEqual(run["statistics"], ["sum", "mean", "min", "max"])

    def taxonomy(self, db):
        """metrics/default.yaml, and {(context, metric, variant, part, key): value} of its formulas."""
        taxonomy = read_taxonomy(pathlib.Path(self.at("db/metrics/default.yaml")).read_text())
        check_for_viewer(taxonomy, db.metrics)
        ids = {(metric.name, *kind): number for metric in db.metrics
               for kind, number in metric.summaries.items()}
        found, path_of = {}, database_paths(db.contexts.values())
        for context, row in db.profiles[0].values.items():
            path = path_of[context]

            def of_input(entry):
                return row.get(ids[tuple(entry[key] for key in ("metric", "scope", "combine", "formula"))], 0)
            for metric in metrics_in(taxonomy):
                for name, variant in metric["variants"].items():
                    for part, key, formula in formulas_of(variant):
                        found[path, metric["name"], name, part, key] = value(formula, of_input)
        return taxonomy, found

    def test_the_taxonomy(self):
        """Formulas have the values that the statistics of the threads' amounts have."""
        self.sample_at_random(4)
        taxonomy, found = self.taxonomy(self.scenario.database("-M", "mean,stddev,min,max"))
        n = len(self.scenario.ordered_threads())
        parts = {"execution": ("inclusive", "standard"), "function": ("exclusive", "standard"),
                 "lex_aware": ("exclusive", "custom")}
        expected = {}
        for (path, metric, scope), values in self.spread().items():
            if scope in parts:
                mean = sum(values) / n
                for name, one in (("Sum", sum(values)), ("Mean", mean), ("Min", min(values)),
                                  ("Max", max(values)),
                                  ("StdDev", math.sqrt(sum((v - mean) ** 2 for v in values) / n))):
                    expected[path, METRICS[metric][0], name, *parts[scope]] = float(one)
        self.assertLessEqual(set(expected), set(found))
        for key, number in found.items():
            # The root of a variance that is rounded may be the root of that rounding.
            self.assertAlmostEqual(number, expected.get(key, 0), delta=1e-4 * (1 + abs(number)), msg=key)
        self.assertEqual([metric["name"] for metric in taxonomy["roots"]], ["work", "FAULTS"])

    def test_effort_in_the_taxonomy(self):
        """The sum of work, overhead and idleness of each time event, with its mean; of no other event."""
        module = self.program()
        image = self.process()
        image.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
        image.workers.append((0, [(5, 2, 2)]))
        amounts = {}
        for event, names in (("REALTIME", ("work", "idleness", "incomplete")), ("FAULTS", ("FAULTS",))):
            number = image.event(event, **({"unit": "count"} if event == "FAULTS" else {}))
            for name in names:
                amounts[name, event] = image.metric(name, number)
        instance = self.scenario.load(image, module)
        for count in (1, 3):
            thread = image.thread()
            for (name, event), metric in amounts.items():
                self.scenario.sample(image, thread, [(instance, 0x1000)], metric,
                                     mw.seconds(count if name == "work" else 10 * count))
        taxonomy, found = self.taxonomy(self.scenario.database("-M", "max,mean"))
        names = [metric["name"] for metric in metrics_in(taxonomy)]
        self.assertEqual(names, ["work (CPUTIME)", "work (REALTIME)", "idleness (REALTIME)", "FAULTS",
                                 "overhead (CPUTIME)", "overhead (REALTIME)", "FAULTS overhead",
                                 "effort (CPUTIME)", "effort (REALTIME)"], "all but the internal ones")
        effort = metrics_in(taxonomy)[-1]
        self.assertEqual([list(metric["variants"]) for metric in (taxonomy["roots"][0], effort)],
                         [["Sum", "Mean", "Max"], ["Sum", "Mean"]])
        lines = {path for path, *_ in found if path and path[-1][0] == "line"}
        self.assertEqual(len(lines), 2)  # one below the entry of each thread
        for part, key in (("inclusive", "standard"), ("exclusive", "standard"), ("exclusive", "custom")):
            for variant, total in (("Sum", 44), ("Mean", 22)):
                self.assertEqual(sum(found[path, "effort (REALTIME)", variant, part, key] for path in lines), total)
        descriptions = [metric["description"] for metric in taxonomy["roots"]]
        self.assertEqual(descriptions[3], "What FAULTS counted, without overhead and waiting. Counts of FAULTS.")
        self.assertRegex(descriptions[5], r"^The parallel runtime itself\. In seconds, by REALTIME\. A lower bound: "
                                          r"no code is tagged as that of the runtime of agent minicilk.*\.$")

    def test_a_yaml_library_reads_the_taxonomy(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no yaml module for Python")
        self.sample_at_random(5)
        self.scenario.database("-M", "mean,stddev,min,max")
        text = pathlib.Path(self.at("db/metrics/default.yaml")).read_text()
        self.assertEqual(yaml.safe_load(text), read_taxonomy(text))

    def test_what_makes_no_sense(self):
        self.process(self.program())
        self.scenario.write()
        for text in ("", "average", "mean,", "mean stddev"):
            self.assert_says(self.scenario.run("-M", text, status=2).stderr, "-M takes names")
