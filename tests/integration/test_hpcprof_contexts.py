"""hpcprof: contexts and values. Expectations are computed by brute force from the description of the run."""
import json
import os
import random
import resource
import tempfile

import measurement_writer as mw
from hpcprof_case import PROGRAM, SECONDS, WORK, HpcprofCase
from hpcprof_scenario import NO_SITE, UNKNOWN_CODE, Scenario, check_database, database_paths
from structure_model import A, F, L, P, S, Structure, function_label
from v4_reader import read_database


class ContextsCase(HpcprofCase):
    def start(self, structure, **fields):
        """A process with one thread in one module with this structure."""
        self.module = self.scenario.binary("program", "abcd01", structure)
        self.image = self.process(**fields)
        self.instance = self.scenario.load(self.image, self.module)
        self.thread = self.image.thread()

    def sample(self, addresses, seconds):
        notes = [(self.instance, address) for address in addresses]
        self.scenario.sample(self.image, self.thread, notes, 0, mw.seconds(seconds))

    def check(self, metrics=None, projection="logical", status=0, arguments=()):
        db = self.scenario.database(*arguments, status=status)
        check_database(self, self.scenario, db, metrics or WORK, projection)
        return db


class ContextsTest(ContextsCase):
    def test_functions_calls_and_lines(self):
        self.start(Structure(F("/s/a.c",
                               P("main", 10, [(0x1000, 0x1100)],
                                 S(12, (0x1000, 0x1010), (0x1020, 0x1030)),
                                 S(13, (0x1010, 0x1020)), S(0, (0x1030, 0x1100))),
                               P("leaf", 30, [(0x2000, 0x2100)], S(31, (0x2000, 0x2100))))))
        self.sample([0x1005], 0.25)
        self.sample([0x1025], 0.5)  # another address of the same line
        self.sample([0x1015], 0.125)
        self.sample([0x1040], 0.0625)  # code without line
        self.sample([0x1015, 0x2000], 1)
        self.sample([0x1005, 0x2010], 2)
        self.sample([0x1025, 0x20ff], 4)
        self.sample([0x1050, 0x2020], 8)  # a call from code without line
        self.sample([], 0.75)  # outside of all contexts
        db = self.check()
        main, = [f for f in db.functions if f.name == "main"]
        self.assertEqual((main.line, main.offset, main.file.path, main.module.path),
                         (10, 0x1000, "/s/a.c", self.module.path))
        total = db.profiles[0].values[0][db.metric("work", "execution")]
        self.assertEqual(total, 0.25 + 0.5 + 0.125 + 0.0625 + 1 + 2 + 4 + 8 + 0.75)

    def test_a_procedure_and_its_inlined_copies_are_one_function(self):
        self.start(Structure(F("/s/a.c",
                               P("main", 1, [(0x1000, 0x1100)],
                                 A(2, "f", "/s/a.c", 20, S(21, (0x1000, 0x1010))),
                                 S(3, (0x1010, 0x1020))),
                               P("f", 20, [(0x2100, 0x2200)], S(21, (0x2100, 0x2200))),
                               P("f", 20, [(0x2000, 0x2100)], S(21, (0x2000, 0x2100))))))  # a clone
        self.sample([0x1000], 1)
        self.sample([0x1010, 0x2000], 2)
        self.sample([0x1010, 0x2100], 4)
        db = self.check()
        function, = [f for f in db.functions if f.name == "f"]
        self.assertEqual(function.offset, 0x2000)

    def test_a_chain_takes_one_block_of_values(self):
        """Contexts with nothing of their own and one child: 32 bytes each in cct.db, and the values of the only thread
        are the summary."""
        self.start(Structure(F("/s/a.c", P("even", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010))),
                               P("odd", 10, [(0x2000, 0x2100)], S(11, (0x2000, 0x2100))))))
        self.sample([(0x1000, 0x2000)[i % 2] for i in range(500)], 1)
        db = self.check()
        self.assertEqual(len(db.contexts), 1002)
        self.assertLess(os.path.getsize(self.at("db/cct.db")), 1002 * 32 + 300)
        self.assertLess(os.path.getsize(self.at("db/profile.db")), 1002 * 22 + 500)

    def test_recursion_that_is_much_deeper(self):
        """hpcprof must not recurse over the tree: 30,000 levels do not fit on a stack of 256 KiB."""
        self.start(Structure(F("/s/a.c", P("f", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010))))))
        depth, node, stack = 15_000, 0, 1 << 18
        for _ in range(depth):
            node = self.thread.node(node, (self.instance, 0x1000), "ip")
            self.thread.add(node, 0, mw.seconds(0.001))
        self.scenario.write()
        self.scenario.run("-o", self.scenario.at("db"), preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_STACK, (stack, stack)))
        db = read_database(self.scenario.at("db"))
        execution = db.metric("work", "execution")
        context, number = db.contexts[1], 0
        while context.children:
            context, = context.children
            number += 1
            frames_left = depth - (number - 1) // 2  # a function and its line per frame
            self.assertEqual(db.profiles[1].values[context.id][execution],
                             frames_left * mw.seconds(0.001) / SECONDS)
        self.assertEqual(number, 2 * depth)

    def test_structure_that_lacks_an_address(self):
        self.start(Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)],
                                           S(2, (0x1000, 0x1010))))))
        self.sample([0x1000, 0x5000], 1)
        self.sample([0x5000, 0x1000], 2)
        self.sample([0x1010], 4)
        self.sample([0xfff], 8)
        self.check()

    def test_code_in_no_module_partial_paths_and_the_kernel(self):
        self.start(Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)],
                                           S(2, (0x1000, 0x1010))))))
        main = (self.instance, 0x1000)
        partial, kernel = (mw.PLACEHOLDER, mw.PARTIAL), (mw.PLACEHOLDER, mw.KERNEL)
        jit = [(mw.NO_MODULE, 0x7fff00001000), (mw.NO_MODULE, 0x7fff00002000)]
        for i, notes in enumerate(([main, jit[0]], [main, jit[1]], [main, *jit, main], [partial],
                                   [partial, main], [partial, jit[0], main], [kernel],
                                   [main, kernel])):
            self.scenario.sample(self.image, self.thread, notes, 0, mw.seconds(2.0 ** i))
        self.check()

    def test_a_thread_with_nothing_but_partial_paths(self):
        """An unused thread has no entry point: every context has values at or below it."""
        self.start(PROGRAM)
        self.scenario.sample(self.image, self.thread, [(mw.PLACEHOLDER, mw.PARTIAL),
                                                       (self.instance, 0x1000)], 0, mw.seconds(1))
        db = self.check()
        self.assertEqual([c.name for c in db.contexts[0].children], ["unknown entry"])

    def test_modules_that_come_and_go(self):
        """Two modules were mapped at one address in turn; one of them was mapped again elsewhere."""
        first = Structure(F("/s/x.c", P("x", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        second = Structure(F("/s/y.c", P("y", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        x = self.scenario.binary("libx.so", "0a", first)
        y = self.scenario.binary("liby.so", "0b", second)
        run = self.process()
        thread = run.thread()
        instances = [
            self.scenario.load(run, x, bias=0x7f0000000000, begin=0x7f0000000000),
            self.scenario.load(run, y, bias=0x7f0000000000, begin=0x7f0000000000, generation=1),
            self.scenario.load(run, x, bias=0x7f1100000000, begin=0x7f1100000000, generation=2)]
        for i, instance in enumerate(instances):
            self.scenario.sample(run, thread, [(instance, 0x1000)], 0, mw.seconds(2.0 ** i))
        db = self.check()
        self.assertEqual(sorted(m.path for m in db.modules), [x.path, y.path])
        self.assertEqual(len(self.scenario.hpcstruct.runs()), 2)

    def test_one_build_under_two_paths_is_one_module(self):
        structure = Structure(F("/s/x.c", P("x", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        b = self.scenario.binary("b/libx.so", "0a", structure)
        a = self.scenario.binary("a/libx.so", "0a", structure)
        for pid, module in ((5, b), (6, a)):
            run = self.process(pid=pid, start_time=pid)
            instance = self.scenario.load(run, module)
            self.scenario.sample(run, run.thread(), [(instance, 0x1000)], 0, mw.seconds(pid))
        db = self.check()
        self.assertEqual([m.path for m in db.modules], [a.path])
        self.assertEqual(len(db.functions), 1)

    def test_modules_without_build_id_are_told_apart_by_size_and_hash(self):
        structure = Structure(F("/s/x.c", P("x", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        module = self.scenario.binary("libx.so", "", structure)
        for i, (size, header_hash) in enumerate(((0, 0), (0, 0), (0, 7), (176, 0))):
            run = self.process(pid=i, start_time=i)
            known = size == 0 and header_hash == 0  # the others changed after the run
            named = module if known else type(module)(module.path, "", None)
            instance = self.scenario.load(run, named, size=size, header_hash=header_hash)
            self.scenario.sample(run, run.thread(), [(instance, 0x1000)], 0, mw.seconds(i + 1))
        run = self.scenario.database(status=1)
        self.assertEqual(len(run.modules), 3)
        self.assertEqual(self.scenario.stderr.count("changed since the run"), 2)

    def test_several_events(self):
        module = self.scenario.binary("program", "abcd01", Structure(
            F("/s/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
                          L(3, S(4, (0x1010, 0x1020)))))))
        run = self.scenario.process()
        cputime, realtime = run.event("CPUTIME"), run.event("REALTIME", flags=3)
        faults = run.event("perf::PAGE-FAULTS", unit="count", period=1)
        for name, event in (("work", cputime), ("work", realtime), ("off CPU", realtime),
                            ("perf::PAGE-FAULTS", faults)):
            run.metric(name, event)
        thread, instance = run.thread(), self.scenario.load(run, module)
        for i, address in enumerate((0x1000, 0x1010)):
            for metric in range(4):
                if (i, metric) != (0, 2):
                    amount = 1 + i if metric == 3 else mw.seconds(2.0 ** (i - metric))
                    self.scenario.sample(run, thread, [(instance, address)], metric, amount)
        self.check({0: ("work (CPUTIME)", SECONDS), 1: ("work (REALTIME)", SECONDS),
                    2: ("off CPU (REALTIME)", SECONDS), 3: ("perf::PAGE-FAULTS", 1)})

    def test_metrics_of_processes_with_other_events(self):
        """The files differ in the numbers of metrics and in the fixed point of amounts."""
        module = self.scenario.binary("program", "abcd01", Structure(
            F("/s/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100))))))
        first = self.process()
        instance = self.scenario.load(first, module)
        self.scenario.sample(first, first.thread(), [(instance, 0x1000)], 0, mw.seconds(1))
        second = self.scenario.process(pid=200, start_time=6000)
        faults = second.event("FAULTS", unit="count")
        second.metric("FAULTS", faults)
        second.metric("work", second.event("CPUTIME", shift=4))
        third = self.scenario.process(pid=300, start_time=7000)
        third.metric("work", third.event("CPUTIME", shift=12))
        third.metric("FAULTS", third.event("FAULTS", unit="count", shift=1))
        for process, amounts in ((second, (3, 16 * 5 * 10**8)), (third, (2**12 * 10**9, 10))):
            thread, instance = process.thread(), self.scenario.load(process, module)
            node = thread.path([(instance, 0x1000)])
            for metric, amount in enumerate(amounts):
                thread.add(node, metric, amount)
        db = self.scenario.database()
        values = db.profiles[0].values[0]
        self.assertEqual(values, {db.metric("work", "execution"): 2.5,
                                  db.metric("FAULTS", "execution"): 8})

    def test_sums_are_exact(self):
        """The sum of these amounts in doubles would depend on the order."""
        self.start(Structure(F("/s/a.c",
                               P("main", 1, [(0x1000, 0x2000)],
                                 *(S(i, (0x1000 + i, 0x1001 + i)) for i in range(1, 500))))))
        generator = random.Random(7)
        for i in range(1, 500):
            notes = [(self.instance, 0x1000 + i)]
            amount = generator.choice((1, 3, 10**6 + 7, 2**52 + 1))
            self.scenario.sample(self.image, self.thread, notes, 0, amount)
        other = self.image.thread()
        self.scenario.sample(self.image, other, [(self.instance, 0x1001)], 0, 2**63)
        self.scenario.sample(self.image, self.thread, [(self.instance, 0x1002)], 0, 2**63)
        db = self.scenario.database()
        expected, _ = self.scenario.expected("logical")
        total = expected[0, (), 0, "execution"]
        self.assertGreater(total, 2**64)
        self.assertEqual(db.profiles[0].values[0][db.metric("work", "execution")],
                         float(total) / SECONDS)

    def test_nodes_without_amounts_leave_no_contexts(self):
        self.start(Structure(F("/s/a.c",
                               P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100))),
                               P("never", 5, [(0x2000, 0x2100)], S(6, (0x2000, 0x2100))))))
        self.sample([0x1000], 1)
        self.thread.path([(self.instance, 0x1000), (self.instance, 0x2000)])
        zero = self.thread.path([(self.instance, 0x2000)])
        self.thread.add(zero, 0, 0)
        db = self.check()
        self.assertEqual([f.name for f in db.functions], ["main"])

    def test_a_run_without_any_sample(self):
        self.start(Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)],
                                           S(2, (0x1000, 0x1100))))))
        db = self.check()
        self.assertEqual(len(db.contexts), 1)
        self.assertEqual(len(db.profiles), 2)

    def test_siblings_are_in_order_and_ids_depth_first(self):
        names = ["zeta", "alpha", "Mid", "main"]
        self.start(Structure(F("/s/b.c", *(P(name, 10 * i + 1, [(0x1000 * i, 0x1000 * i + 64)],
                                             S(10 * i + 3, (0x1000 * i, 0x1000 * i + 16)),
                                             S(10 * i + 2, (0x1000 * i + 16, 0x1000 * i + 32)),
                                             L(10 * i + 4, S(1, (0x1000 * i + 32,
                                                                 0x1000 * i + 48))))
                                           for i, name in enumerate(names, 1)))))
        generator = random.Random(3)
        for _ in range(60):
            self.sample([0x1000 * generator.randrange(1, 5) + 16 * generator.randrange(3)
                         for _ in range(generator.randrange(1, 5))], 0.5)
        db = self.check()
        count, open_contexts = 0, [db.contexts[0]]
        order = {"call": 0, "inlined": 1, "loop": 2, "line": 3}
        while open_contexts:
            context = open_contexts.pop()
            self.assertEqual(context.id, count)
            count += 1
            keys = [(order[c.kind], *c.label()[1:]) for c in context.children
                    if c.entry is None]
            self.assertEqual(keys, sorted(keys))
            open_contexts += reversed(context.children)


class LogicalCase(ContextsCase):
    """Projections that differ."""

    def lips(self, thread, notes, metric, amount):
        """notes: (ip or None, lip or None, site): lip "ip", (instance, value) or ("names", ...)."""
        node, physical, logical = 0, [], []
        for ip, lip, site in notes:
            association = mw.ONE_ONE if lip else mw.ONE_ZERO
            node = thread.node(node, ip, lip, site, association)
            if ip:
                physical += self.scenario.labels(self.image, ip)
            if lip == "ip":
                logical += self.scenario.labels(self.image, ip)
            elif lip and lip[0] == "names":
                logical += self.named(lip, site)
            elif lip and site is None:
                logical += [*self.image.instances[lip[0]].procedure(lip[1]), NO_SITE]
            elif lip:
                logical += self.image.instances[lip[0]].labels(site)
        thread.add(node, metric, amount)
        entry = self.scenario.entry(thread)
        self.scenario.record(self.image, thread, [entry, *logical], [entry, *physical], metric,
                             amount)

    def named(self, lip, site):
        no_site = [NO_SITE] if site is None else []
        for value, name, file, line in self.image.name_tables[lip[1]]:
            if value == lip[2]:
                lines = [("line", file, site)] if site is not None and file else []
                return [function_label("call", name, file, line, 0), *lines, *no_site]
        return [*UNKNOWN_CODE, *no_site]

    def start_runtime(self):
        self.start(Structure(F("/s/a.c",
                               P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
                                 L(3, S(4, (0x1010, 0x1020)))),
                               P("task", 20, [(0x2000, 0x2100)], S(21, (0x2000, 0x2010)),
                                 A(22, "tiny", "/s/t.h", 7, S(8, (0x2010, 0x2020)))),
                               P("scheduler", 50, [(0x3000, 0x3100)], S(51, (0x3000, 0x3100))))))

    def check_both(self, status=0):
        db = self.check(status=status)
        physical = read_database(self.scenario.at("db/physical"))
        check_database(self, self.scenario, physical, WORK, "physical")
        with open(self.scenario.at("db/run.json"), encoding="utf-8") as file:
            unknown = json.load(file).get("unknown_call_sites", [])
        self.assertEqual(unknown, sorted(set(unknown)))
        path_of = database_paths(db.contexts.values())
        self.assertEqual({path_of[number] for number in unknown}, self.scenario.unknown_call_sites())
        return db, physical


class LogicalTest(LogicalCase):
    def install_agent(self, rules=""):
        os.makedirs(self.scenario.at("lib/agents"))
        with open(self.scenario.at("lib/agents/any.rules"), "w", encoding="utf-8") as file:
            file.write("agent any 1.0\nruntime-module libany.so\n" + rules)

    def use_agent(self):
        self.image.agents = [("any", "1.0", 1, "any.rules", "1.0")]

    def test_clones_are_one_procedure(self):
        """Clones by an agent's rules, in the logical projection. A clone whose procedure does not exist
        stays as it is."""
        self.install_agent("clone _cilk_*_slow\n")
        self.start(Structure(F("/s/a.cilk",
                               P("f", 10, [(0x1000, 0x1100)], S(11, (0x1000, 0x1010)),
                                 L(12, S(13, (0x1010, 0x1020)))),
                               P("_cilk_f_slow", 10, [(0x2000, 0x2100)], S(11, (0x2000, 0x2010)),
                                 L(12, S(13, (0x2010, 0x2020)))),
                               P("_cilk_g_slow", 10, [(0x3000, 0x3100)],
                                 S(11, (0x3000, 0x3010))))))
        self.use_agent()
        entry, i = self.scenario.entry(self.thread), self.instance
        for k, (slow, shown) in enumerate([(0x2000, 0x1000), (0x2010, 0x1010), (0x1000, 0x1000),
                                           (0x1010, 0x1010), (0x3000, 0x3000)]):
            node = self.thread.node(0, (i, slow), "ip")
            self.thread.add(node, 0, 10**k)
            self.scenario.record(self.image, self.thread,
                                 [entry, *self.scenario.labels(self.image, (i, shown))],
                                 [entry, *self.scenario.labels(self.image, (i, slow))], 0, 10**k)
        self.check_both()

    def test_parts_are_in_their_procedure(self):
        """Cilk-5's inlets: their code counts as the procedure's, in the scope that calls them. If another
        procedure calls an inlet, it is shown as a call of its procedure. The name begins with `f` and with
        `f_a`: the inlet belongs to the one that is declared last before it."""
        self.install_agent("clone _cilk_*_inlet*\nclone _cilk_*_slow\n")
        inlet, other, slow, import_ = 0x3000, 0x4000, 0x5000, 0x6000
        self.start(Structure(F("/s/a.cilk",
                               P("f", 10, [(0x1000, 0x1100)], S(11, (0x1000, 0x1010)),
                                 L(12, S(13, (0x1010, 0x1020))),
                                 A(14, "_cilk_f_a_b_inlet", "/s/a.cilk", 12,
                                   S(12, (0x1020, 0x1030)), L(15, S(16, (0x1030, 0x1040))))),
                               P("f_a", 20, [(0x2000, 0x2100)], S(21, (0x2000, 0x2010))),
                               P("_cilk_f_a_b_inlet", 12, [(inlet, inlet + 0x100)],
                                 S(12, (inlet, inlet + 0x10)), L(15, S(16, (inlet + 16, inlet + 32)))),
                               P("_cilk_f_a_b_inlet_slow", 22, [(other, other + 0x100)],
                                 S(22, (other, other + 0x10))),
                               P("_cilk_f_a_slow", 20, [(slow, slow + 0x100)],
                                 S(21, (slow, slow + 0x10))),
                               P("_cilk_x_a_inlet", 30, [(import_, import_ + 0x100)],
                                 S(31, (import_, import_ + 0x10))))))
        self.use_agent()
        entry, i, file = self.scenario.entry(self.thread), self.instance, "/s/a.cilk"

        def labels(*addresses):
            return [x for a in addresses for x in self.scenario.labels(self.image, (i, a))]
        of_f, of_fa = labels(0x1000)[:1], labels(0x2000)[:1]
        line = lambda number: ("line", file, number)  # noqa: E731
        loop = lambda number: ("loop", file, number)  # noqa: E731
        in_loop = labels(0x1010)[:-1]
        cases = [([0x1000, inlet], [*of_f, line(12)]),
                 ([0x1010, inlet], [*in_loop, line(12)]),
                 ([0x1000, inlet + 16], [*of_f, loop(15), line(16)]),
                 ([0x1020], [*of_f, line(12)]), ([0x1030], [*of_f, loop(15), line(16)]),
                 ([inlet], [*of_f, line(12)]),
                 ([0x2000, inlet], [*labels(0x2000), *of_f, line(12)]),
                 ([0x2000, other], [*of_fa, line(22)]), ([slow, other], [*of_fa, line(22)]),
                 ([0x1000, other], [*labels(0x1000), *of_fa, line(22)]),
                 ([0x1000, inlet, 0x2000], [*of_f, line(12), *labels(0x2000)]),
                 ([import_], labels(import_))]
        for k, (addresses, shown) in enumerate(cases):
            node = 0
            for address in addresses:
                node = self.thread.node(node, (i, address), "ip")
            self.thread.add(node, 0, 3**k)
            self.scenario.record(self.image, self.thread, [entry, *shown],
                                 [entry, *labels(*addresses)], 0, 3**k)
        self.check_both()

    def test_frames_that_lead_to_the_main_thread(self):
        """A thread of the runtime runs on a stack that is linked to the main one: only then do frames of
        a thread end in the program's executable."""
        self.install_agent()
        self.start_runtime()
        self.use_agent()
        executable = self.scenario.load(self.image, self.module, flags=1)  # the main program
        worker = self.image.thread(kind=1)
        for instance, kind in ((executable, "main thread"), (self.instance, "<thread root>")):
            worker.add(worker.path([(instance, 0x1010)]), 0, 1000 + instance)
            path = [("entry", kind), *self.scenario.labels(self.image, (instance, 0x1010))]
            self.scenario.record(self.image, worker, path, path, 0, 1000 + instance)
        self.check_both()

    def test_names_of_an_agent(self):
        self.start_runtime()
        i = self.instance
        table = self.image.names([(900, "py_outer", "/p/a.py", 3), (5, "py_inner", "/p/b.py", 30),
                                (7, "<builtin>", "", 0)])
        self.lips(self.thread, [((i, 0x3000), ("names", table, 900), 14),
                                (None, ("names", table, 5), 33)], 0, 1000)
        self.lips(self.thread, [((i, 0x3000), ("names", table, 900), 15),
                                (None, ("names", table, 7), None)], 0, 100)
        self.lips(self.thread, [((i, 0x3000), ("names", table, 900), None),
                                ((i, 0x2000), "ip", None)], 0, 10)
        self.lips(self.thread, [((i, 0x3000), ("names", table, 6), None)], 0, 1)  # lost
        db, _ = self.check_both()
        outer, = [f for f in db.functions if f.name == "py_outer"]
        self.assertEqual((outer.file.path, outer.line, outer.module), ("/p/a.py", 3, None))

    def test_names_of_two_processes(self):
        """The same name has different keys in different processes."""
        self.start_runtime()
        table = self.image.names([(1, "f", "/p/a.py", 3), (2, "g", "/p/a.py", 30)])
        self.lips(self.thread, [((self.instance, 0x3000), ("names", table, 1), 4)], 0, 1)
        first, thread = self.image, self.thread
        self.image = self.process(pid=7, start_time=9999)
        instance = self.scenario.load(self.image, self.module)
        table = self.image.names([(1, "g", "/p/a.py", 30), (2, "f", "/p/a.py", 3)])
        self.lips(self.image.thread(), [((instance, 0x3000), ("names", table, 2), 4)], 0, 2)
        self.assertIsNot(first, self.image)
        self.assertEqual(thread.index, 0)
        db, _ = self.check_both()
        self.assertEqual(len([f for f in db.functions if f.name == "f"]), 1)


def random_structure(generator):
    """Random nests of procedures, loops, inlined code and lines, and their addresses."""
    addresses = []

    def body(depth, at):
        elements = []
        for _ in range(generator.randrange(1, 4)):
            kind = generator.randrange(4) if depth < 4 else 0
            if kind <= 1:
                file = generator.choice((None, None, "/s/other.h"))
                elements.append(S(generator.choice((0, 1, 2, 3)), (at, at + 8), file=file))
                addresses.append(at)
                at += 8
            elif kind == 2:
                inner, at = body(depth + 1, at)
                elements.append(L(generator.choice((0, 1, 2)), *inner, header=at,
                                  file=generator.choice((None, "/s/loop.h"))))
            else:
                inner, at = body(depth + 1, at)
                elements.append(A(generator.choice((0, 4, 5)), generator.choice("fgh"),
                                  "/s/inlined.h", generator.choice((7, 8)), *inner))
        return elements, at

    at, files = 0x1000, []
    for number in range(3):
        procedures = []
        for name in generator.sample("fghijk", 3):
            inner, end = body(0, at)
            procedures.append(P(name, generator.choice((7, 8, 9)), [(at, end)], *inner))
            at = end
        files.append(F(generator.choice((f"/s/{number}.c", "/s/inlined.h", None)), *procedures))
    return Structure(*files), addresses


class RandomTest(LogicalCase):
    """Random trees of several processes and threads, with and without logical notes."""

    def notes(self, generator, addresses):
        for _ in range(generator.randrange(1, 7)):
            ip = self.instance, generator.choice(addresses)
            value = self.instance, generator.choice(addresses)
            yield generator.choice(((ip, "ip", None), (ip, "ip", None), (ip, None, None),
                                    (None, value, None), (ip, value, generator.choice(addresses)),
                                    (None, value, generator.choice(addresses))))

    def test_random_runs(self):
        found = set()
        for seed in range(5):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                generator = random.Random(seed)
                self.scenario = Scenario(folder)
                structure, addresses = random_structure(generator)
                self.module = self.scenario.binary("program", "abcd01", structure)
                for pid in range(3):
                    self.image = self.process(pid=pid, start_time=generator.randrange(9))
                    self.instance = self.scenario.load(self.image, self.module, bias=pid << 20)
                    for _ in range(generator.randrange(1, 4)):
                        self.thread = self.image.thread()
                        for _ in range(generator.randrange(120)):
                            self.lips(self.thread, list(self.notes(generator, addresses)), 0,
                                      generator.randrange(1, 2**40))
                self.check_both()
                found |= set(self.cases())
        self.assertLessEqual(self.CASES, found)

    CASES = {("call", "inlined"), ("line", "inlined"), ("inlined", "inlined"), ("loop", "inlined"), ("loop", "loop"),
             ("loop at", "line"), ("inlined", "loop"), ("inlined", "line"), "a loop in one of its line"}

    def cases(self):
        """Kinds of neighbors on paths of this run, and what else of CASES it has."""
        _, paths = self.scenario.expected("logical")
        for path in filter(None, paths):
            yield tuple(label[0] for label in path[-2:])
            if path[-1][0] == "loop" and path[-1] == path[-2]:
                yield "a loop in one of its line"
