"""hpcprof: calls from unknown sites join a known site if there is exactly one. Expectations are computed path
by path from the description of the run."""
import filecmp
import itertools
import os
import random
import shutil

import viewer
from hpcprof_case import WORK
from hpcprof_scenario import check_database, database_paths
from structure_model import A, F, L, P, S, Structure
from test_hpcprof_contexts import LogicalCase
from v4_reader import CALL, INLINED_CALL, LEXICAL, read_database

FILE = "/s/a.c"

# Sites of calls in `outer`: a line, a line in a loop, and a line of an inlined procedure.
PROGRAM = Structure(F(FILE,
                      P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
                        S(3, (0x1010, 0x1020))),
                      P("outer", 10, [(0x2000, 0x2100)], S(12, (0x2000, 0x2010)),
                        L(13, S(14, (0x2010, 0x2020)), S(15, (0x2030, 0x2040))),
                        A(16, "tiny", "/s/t.h", 70, S(71, (0x2020, 0x2030))),
                        S(0, (0x2040, 0x2050))),
                      P("inner", 20, [(0x3000, 0x3100)], S(21, (0x3000, 0x3010)),
                        L(22, S(23, (0x3010, 0x3020)))),
                      P("leaf", 30, [(0x4000, 0x4100)], S(31, (0x4000, 0x4010)))))

MAIN, OUTER, INNER, LEAF = 0x1000, 0x2000, 0x3000, 0x4000
LINE, LOOP, INLINED, NO_LINE = OUTER, OUTER + 0x10, OUTER + 0x20, OUTER + 0x40


class CallSitesCase(LogicalCase):
    def setUp(self):
        super().setUp()
        self.start(PROGRAM)

    def call(self, *notes, amount=1, thread=None):
        """A path of addresses; (address,) means a procedure with an unknown site."""
        i = self.instance
        self.lips(thread or self.thread,
                  [((i, note[0]), (i, note[0]), None) if isinstance(note, tuple)
                   else ((i, note), "ip", None) for note in notes], 0, amount)

    def calls(self, db, function):
        """The contexts of a function's calls."""
        return [c for c in db.contexts.values() if c.relation == CALL and c.function.name == function]

    def unknown(self):
        return self.run_json().get("unknown_call_sites", [])


class OneSiteTest(CallSitesCase):
    def check_joined(self, site):
        """All calls of `inner` have one context, at that site."""
        db, _ = self.check_both()
        inner, = self.calls(db, "inner")
        self.assertEqual([c.label() for c in (inner.parent, inner.parent.parent)], site)
        self.assertEqual(self.unknown(), [])
        return db, inner

    def test_it_is_a_line(self):
        self.call(MAIN, LINE, INNER, amount=3)
        self.call(MAIN, (OUTER + 0x4f,), INNER, amount=2)
        db, inner = self.check_joined([("line", FILE, 12), ("call", "outer")])
        execution = db.metric("work", "execution")
        self.assertEqual(db.profiles[0].values[inner.id][execution] * 1024e9, 5)

    def test_it_is_in_a_loop(self):
        self.call(MAIN, LOOP, INNER)
        self.call(MAIN, (OUTER,), INNER)
        self.check_joined([("line", FILE, 14), ("loop", FILE, 13)])

    def test_it_is_in_an_inlined_procedure(self):
        self.call(MAIN, INLINED, INNER)
        self.call(MAIN, (OUTER,), INNER)
        self.check_joined([("line", "/s/t.h", 71), ("inlined", "tiny")])

    def test_level_after_level(self):
        """Calls that moved to a known site have calls from unknown sites themselves, and recurse."""
        for depth in range(1, 6):
            self.call(MAIN, *[LOOP] * depth, LEAF, amount=10 ** depth)
            for known in itertools.product((False, True), repeat=depth):
                self.call(MAIN, *[LOOP if is_known else (OUTER,) for is_known in known], LEAF)
        db, _ = self.check_both()
        self.assertEqual(len(self.calls(db, "outer")), 5)
        self.assertEqual(len(self.calls(db, "leaf")), 5)
        self.assertEqual(self.unknown(), [])

    def test_copies_that_have_other_loops(self):
        """One line, which is in a loop in one copy of a procedure and in none in the other."""
        self.module = self.scenario.binary("clones", "abcd02", Structure(F(
            FILE, P("outer", 10, [(0x2000, 0x2100)], S(14, (0x2000, 0x2010)),
                    L(13, S(14, (0x2010, 0x2020)))), P("inner", 20, [(0x3000, 0x3100)],
                                                    S(21, (0x3000, 0x3010))))))
        self.instance = self.scenario.load(self.image, self.module)
        self.call(LINE, INNER, amount=100)
        self.call(LOOP, INNER, amount=10)
        self.call((OUTER,), INNER)
        db, _ = self.check_both()
        execution = db.metric("work", "execution")
        found = {c.parent.parent.label()[0]: db.profiles[0].values[c.id][execution] * 1024e9
                 for c in self.calls(db, "inner")}
        self.assertEqual(found, {"loop": 11, "call": 100})

    def test_samples_of_unknown_site(self):
        """Unresolved calls hang directly below the procedure, at none of its lines."""
        self.call(MAIN, LINE, INNER)
        self.lips(self.thread, [((self.instance, OUTER), (self.instance, OUTER), None),
                                ((self.instance, LEAF), None, None)], 0, 5)
        self.check_both()


class SeveralSitesTest(CallSitesCase):
    def check_apart(self, *sites):
        """The lines of the calls of `inner`; None for calls from unknown sites."""
        db, _ = self.check_both()
        calls = self.calls(db, "inner")
        self.assertEqual({c.parent.line if c.parent.relation == LEXICAL else None for c in calls},
                         {*sites, None})
        unknown, = [c.id for c in calls if c.parent.relation == CALL]
        self.assertEqual(self.unknown(), [unknown])

    def test_two_lines(self):
        self.call(MAIN, LINE, INNER)
        self.call(MAIN, LOOP, INNER)
        self.call(MAIN, (OUTER,), INNER)
        self.check_apart(12, 14)

    def test_a_line_of_two_inlined_copies(self):
        self.module = self.scenario.binary("inlined", "abcd02", Structure(F(
            FILE, P("outer", 10, [(0x2000, 0x2100)],
                    A(11, "tiny", "/s/t.h", 70, S(71, (0x2000, 0x2010))),
                    A(12, "tiny", "/s/t.h", 70, S(71, (0x2010, 0x2020)))),
            P("inner", 20, [(0x3000, 0x3100)],
                                                    S(21, (0x3000, 0x3010))))))
        self.instance = self.scenario.load(self.image, self.module)
        for note in (OUTER, OUTER + 0x10, (OUTER,)):
            self.call(note, INNER)
        self.check_apart(71)

    def test_another_context_knows_the_other_one(self):
        """fib: if all samples of a context come from one line, that does not prove that its other calls do."""
        self.call(MAIN, LINE, OUTER)
        self.call(MAIN, (OUTER,), OUTER, amount=10)
        self.call(MAIN, LINE, LOOP, OUTER)
        db, _ = self.check_both()
        self.assertEqual(len(self.unknown()), 1)
        self.assertEqual(len(self.calls(db, "outer")), 4)


class CodeTest(CallSitesCase):
    """Direct calls in the code, at sites without samples. Neither they nor sites with samples have priority."""

    def lines(self, *calls):
        """The lines of the calls of `inner` if the code has these calls; None for a call without a line."""
        self.scenario.hpcstruct.set_calls(self.module.path, *calls)
        db = self.scenario.database()
        return sorted((c.parent.line if c.parent.relation == LEXICAL else 0,
                       c.id in self.unknown()) for c in self.calls(db, "inner"))

    def test_another_site(self):
        """All samples from known sites come from one of two calls."""
        self.call(MAIN, LINE, INNER)
        self.call(MAIN, (OUTER,), INNER)
        self.assertEqual(self.lines((LINE, INNER), (LOOP, INNER)), [(0, True), (12, False)])

    def test_the_only_site(self):
        self.call(MAIN, (OUTER,), INNER)
        self.assertEqual(self.lines((LOOP, INNER), (LINE, LEAF), (MAIN, INNER)), [(14, False)])

    def test_a_site_of_two_instructions(self):
        self.call(MAIN, (OUTER,), INNER)
        self.assertEqual(self.lines((LOOP, INNER), (LOOP + 8, INNER)), [(14, False)])

    def test_one_line_in_code_that_was_copied(self):
        """The chosen site is the one with samples."""
        self.module = self.scenario.binary("clones", "abcd02", Structure(F(
            FILE, P("outer", 10, [(0x2000, 0x2100)], S(14, (0x2000, 0x2010)),
                    L(13, S(14, (0x2010, 0x2020)))), P("inner", 20, [(0x3000, 0x3100)],
                                                       S(21, (0x3000, 0x3010))))))
        self.instance = self.scenario.load(self.image, self.module)
        self.call(LINE, INNER, amount=2)
        self.call((OUTER,), INNER, amount=3)
        self.assertEqual(self.lines((LINE, INNER), (LOOP, INNER)), [(14, False)])

    def test_code_that_nothing_is_known_of(self):
        self.call(MAIN, LINE, INNER)
        self.call(MAIN, (OUTER,), INNER)
        self.assertEqual(self.lines((0x9000, INNER), (LOOP, 0x9000), (LINE, LEAF)), [(12, False)])

    def test_a_list_that_is_damaged(self):
        self.call(MAIN, LINE, INNER)
        self.call(MAIN, (OUTER,), INNER)
        image = self.module.structure.image()
        for i, data in enumerate((b"", b"<", image[:100], image[:-8])):
            with open(self.scenario.hpcstruct.path(self.module.path) + ".calls", "wb") as file:
                file.write(data)
            self.scenario.run("-o", self.at(f"db{i}")) if i else self.check_both()


def rounded(row):
    """A row and all below it, without the last digits of its costs; siblings in order."""
    site = row.get("call_site") or {}
    return (row["name"], row["file"], row["line"], site.get("file"), site.get("line"),
            site.get("state"),
            [f"{cost or 0:.9g}" for _, metric in sorted(row["metrics"].items())
             for _, cost in sorted(metric.items())],
            sorted(map(rounded, row["children"]), key=repr))


class WholeTest(CallSitesCase):
    """The same database however the work is divided, and whichever thread comes first."""

    DATABASE = ("meta.db", "profile.db", "cct.db", "physical/meta.db", "physical/profile.db")

    def sample_at_random(self, generator, processes):
        code = [MAIN, MAIN + 0x10, LINE, LOOP, INLINED, NO_LINE, OUTER + 0x30, INNER, INNER + 0x10]
        for pid in range(processes):
            self.image = self.process(pid=pid, start_time=5)
            self.instance = self.scenario.load(self.image, self.module, bias=pid << 20)
            for _ in range(generator.randrange(1, 4)):
                thread = self.image.thread()
                kept = [address for address in code if generator.random() < 0.6] or code
                for _ in range(40):
                    path = [generator.choice(kept) for _ in range(generator.randrange(1, 6))]
                    self.call(*[(note & ~0xfff,) if generator.random() < 0.4 else note
                                for note in path], LEAF, thread=thread,
                              amount=generator.randrange(1, 2 ** 50))

    def test_workers_and_order_of_files(self):
        self.sample_at_random(random.Random(1), 5)
        self.check_both()
        names = sorted(os.listdir(self.scenario.measurements))
        directories = [self.at(f"part{i}") for i in range(len(names))]
        for name, directory in zip(names, directories):
            os.mkdir(directory)
            shutil.copy(os.path.join(self.scenario.measurements, name), directory)
        for number, (workers, order) in enumerate([(1, directories), (2, directories[::-1]),
                                                   (7, directories[2:] + directories[:2])]):
            other = self.at(f"other{number}")
            self.scenario.run("-j", str(workers), "-o", other, directories=order)
            for name in self.DATABASE:
                self.assertTrue(filecmp.cmp(self.at(f"db/{name}"), f"{other}/{name}", False),
                                (name, workers))

    def test_random_trees(self):
        """Every call that the rule can resolve is resolved, and no unit is lost or counted twice."""
        for seed in range(8):
            with self.subTest(seed=seed):
                self.setUp()
                self.sample_at_random(random.Random(seed), 3)
                db, _ = self.check_both()
                self.check_unknown(db)
                total = sum(amount for *_, amount in self.scenario.samples)
                for projection in ("", "/physical"):
                    self.check_total(projection, total)

    def test_recursion_is_collapsed(self):
        """Every amount is at the collapsed path of its resolved call path."""
        for seed in range(2):
            with self.subTest(seed=seed):
                self.setUp()
                self.scenario.collapses = True
                self.sample_at_random(random.Random(seed), 3)
                db = self.scenario.database("--collapse-recursion")
                check_database(self, self.scenario, db, WORK)
                check_database(self, self.scenario, read_database(self.at("db/physical")), WORK,
                               "physical")
                run = self.run_json()
                self.assertEqual(run["recursion"], "collapsed")
                path_of = database_paths(db.contexts.values())
                self.assertEqual({path_of[c] for c in run["unknown_call_sites"]},
                                 self.scenario.unknown_call_sites() & set(path_of.values()))

    def test_the_viewer_collapses_in_the_same_way(self):
        self.sample_at_random(random.Random(1), 3)
        self.scenario.database()
        self.scenario.run("--collapse-recursion", "-o", self.at("collapsed"))
        for projection in ([], ["--physical"]):
            shown, expected = (viewer.printed_json("top-down", *projection, *options)["root"]
                               for options in (["--collapse-recursion", self.at("db")],
                                               [self.at("collapsed")]))
            self.assertEqual(rounded(shown), rounded(expected))

    def check_total(self, projection, total):
        db = read_database(self.at("db") + projection)
        execution = db.metric("work", "execution")
        self.assertEqual(db.profiles[0].values[0][execution], total / 1024e9)

    def check_unknown(self, db):
        """From the tree alone: a call that stays unresolved has no single site elsewhere in its procedure."""
        unknown, sites = set(self.unknown()), {}
        self.assertTrue(unknown)

        def site(call):
            scope, labels = call.parent, []
            while scope.relation in (LEXICAL, INLINED_CALL):
                labels.append(scope.label())
                scope = scope.parent
            return scope, tuple(labels)
        for call in db.contexts.values():
            if call.relation == CALL and call.id not in unknown:
                caller, labels = site(call)
                if caller.relation == CALL:
                    key = caller.function.name, call.function.name
                    sites.setdefault(key, set()).add(labels)
        for number in unknown:
            caller, labels = site(db.contexts[number])
            self.assertEqual(labels, ())
            key = caller.function.name, db.contexts[number].function.name
            self.assertNotEqual(len(sites.get(key, ())), 1, key)
