"""Rules files: how they classify a runtime's procedures by name, compared with lists made by hand."""
import os
import pathlib
import re

import measurement_writer as mw
from hpcprof_case import HpcprofCase
from hpcprof_scenario import read_database
from structure_model import A, F, L, P, S, Structure

SECOND = mw.seconds(1)

# The user's module. The compiler inlined procedures of the runtime's header into it, some with helpers of that
# header in them and one with a procedure of the user's. Each has 16 bytes.
USER = Structure(
    F("/home/u/fib.c",
      P("main", 1, [(0x1000, 0x1010)], S(2, (0x1000, 0x1010))),
      P("fib", 10, [(0x2000, 0x2100)],
        S(11, (0x2000, 0x2010)),
        A(12, "rt_push", "/rt/inline.h", 5, S(6, (0x2010, 0x2020)),
          A(7, "fence", "/rt/fence.h", 9, S(10, (0x2020, 0x2030))),
          L(8, S(9, (0x2030, 0x2040))),
          A(8, "callback", "/home/u/fib.c", 30, S(31, (0x2040, 0x2050)),
            A(32, "rt_pop", "/rt/inline.h", 20, S(21, (0x2050, 0x2060)))),
          A(9, "atomic", "/usr/include/atomic.h", 3, S(4, (0x2060, 0x2070)))),
        A(13, "rt_tagged", "/rt/inline.h", 40, S(41, (0x2070, 0x2080), tag="steal")),
        A(14, "fence", "/rt/fence.h", 9, S(10, (0x2080, 0x2090))),
        A(15, "rt_barrier", "/rt/inline.h", 50, S(51, (0x2090, 0x20a0))),
        S(16, (0x20a0, 0x20b0)),
        A(17, "rt_pop", "/rt/inline.h", 20, S(21, (0x20b0, 0x20c0))),
        S(18, (0x20c0, 0x2100))),
      P("my_rt_push", 50, [(0x3000, 0x3010)], S(51, (0x3000, 0x3010))),
      P("rt_pusher", 60, [(0x3010, 0x3020)], S(61, (0x3010, 0x3020)))),
    F("", P("rt_exported", 0, [(0x4000, 0x4010)], S(0, (0x4000, 0x4010))),
      P("__rt_reserved", 0, [(0x4010, 0x4020)], S(0, (0x4010, 0x4020))),
      P("rt_mine", 0, [(0x4020, 0x4030)], S(0, (0x4020, 0x4030)))))
RULES = """# of a made-up runtime
overhead rt_push spawn
overhead rt_pop sync

overhead rt_tagged loop
overhead rt_exported
overhead rt_exported never
fence rt_barrier sync
overhead __rt_* steal
overhead rt_* never
"""
EXPECTED = {0x1000: None, 0x2000: None, 0x2010: "spawn", 0x2020: "spawn", 0x2030: "spawn",
            0x2040: None, 0x2050: "sync", 0x2060: None, 0x2070: "steal", 0x2080: None,
            0x2090: "sync",
            0x209f: "sync",
            0x20a0: "sync",  # directly after a fence: counts as the fence
            0x20a1: None,
            0x20c0: None,  # rt_pop is not a fence
            0x3000: None, 0x3010: None, 0x4000: "other", 0x4010: "steal",
            0x4020: None}  # a pattern with a star does not apply to the user's module


def code(places, file="/s/a.c", size=16):
    """Procedures of a line each. places: {name: address}."""
    return Structure(F(file, *(P(name, 10 * i if file else 0, [(at, at + size)], S(10 * i + 1 if file else 0, (at, at + size)))
                               for i, (name, at) in enumerate(places.items(), 1))))


class RulesCase(HpcprofCase):
    def write_rules(self, text, name="any.rules", first="agent any 1.0"):
        folder = self.scenario.at("lib/agents")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"{first}\n{text}")
        return os.path.join(folder, name)

    def start(self, module, agent=True, flags=0, **fields):
        process = self.scenario.process(**fields)
        process.metric("work", process.event("CPUTIME"))
        if agent:
            process.agents.append(("any", "1.0", 1, "any.rules", "1.0"))
        return process, self.scenario.load(process, module, flags=flags)

    def sample_all(self, process, instance, addresses):
        """A sample of one second at each address, below main."""
        thread = process.thread()
        main = thread.node(mw.ROOT, (instance, 0x1000), "ip")
        for address in addresses:
            thread.add(thread.node(main, (instance, address), "ip"), 0, SECOND)

    def totals(self, db):
        """{metric: seconds} of the metrics with values."""
        total = db.profiles[0].values[0]
        return {m.name: total[db.metric(m.name, "execution")] for m in db.metrics
                if db.metric(m.name, "execution") in total}

    def metric(self, name):
        """What run.json says of a metric."""
        found, = (m for m in self.run_json()["metrics"] if m["name"] == name)
        return found

    def own_paths(self, db):
        """{names of the procedures of a sample: their seconds}"""
        own, found = db.metric("work", "point"), {}
        for context, row in db.profiles[0].values.items():
            if own in row:
                names = tuple(at.function.name for at in db.contexts[context].above() if at.kind == "call")
                found[names] = found.get(names, 0) + row[own]
        return found

    def count(self, expected):
        """The metrics for one second of each of these kinds."""
        kinds = [kind for kind in expected if kind]
        named = set(kinds) - {"other"}  # without kinds there are no metrics for them
        by_kind = {"overhead:" + kind: kinds.count(kind) for kind in set(kinds) if named}
        totals = {"work": len(expected) - len(kinds), "overhead": len(kinds), **by_kind}
        return {name: seconds for name, seconds in totals.items() if seconds}


class Glue(RulesCase):
    """An interpreter's machinery, which only the physical projection shows."""
    RULES = "runtime-export rt_loop\nworking rt_builtin*\nglue *\n"
    LOOP, CALL, BUILTIN, LEAF = 0x2000, 0x2100, 0x2200, 0x1100

    def start_interpreter(self, rules, loop="rt_loop"):
        self.write_rules(rules)
        interpreter = code({loop: self.LOOP, "rt_call": self.CALL, "rt_builtin_sum": self.BUILTIN}, "/rt/a.c")
        user = code({"main": 0x1000, "leaf": self.LEAF})
        process, runtime = self.start(self.scenario.binary("interpreter", "01", interpreter))
        extension = self.scenario.load(process, self.scenario.binary("user", "02", user))
        table, thread = process.names([(1, "outer", "/p/m.py", 3), (2, "inner", "/p/m.py", 30)]), process.thread()
        node = thread.node(mw.ROOT, (runtime, self.CALL), "ip")
        for name in (1, 2):
            node = thread.node(node, (runtime, self.LOOP), ("names", table, name), 40 + name)
            node = thread.node(node, (runtime, self.CALL), "ip")
        thread.add(node, 0, SECOND)
        thread.add(thread.path([(runtime, self.BUILTIN), (runtime, self.CALL), (extension, self.LEAF)], node), 0, SECOND)

    def paths(self, physical=False):
        db = read_database(self.scenario.at("db/physical")) if physical else self.scenario.database()
        return set(self.own_paths(db))

    def test_it_is_hidden_between_the_calls_of_the_program(self):
        self.start_interpreter(self.RULES)
        self.assertEqual(self.paths(), {("outer", "inner"), ("outer", "inner", "rt_builtin_sum", "leaf")})
        machinery = ("rt_call", "rt_loop", "rt_call", "rt_loop", "rt_call")
        self.assertEqual(self.paths(physical=True), {machinery, (*machinery, "rt_builtin_sum", "rt_call", "leaf")})

    def test_only_in_modules_of_the_runtime(self):
        self.start_interpreter(self.RULES, loop="another_loop")
        self.assertIn(("rt_call", "outer", "rt_call", "inner", "rt_call"), self.paths())


class Bodies(RulesCase):
    """Bodies of constructs, some of which an agent has added since they have no frame."""
    RULES = "runtime-module librt.so\nconstruct rt_run* task\noutlined *._fn.* construct\n"
    RUN, BODY, OTHER, PART, LEAF = 0x2000, 0x1100, 0x1200, 0x1300, 0x1400

    def setUp(self):
        super().setUp()
        self.write_rules(self.RULES)
        user = Structure(F("/s/a.c", *(P(name, line, [(at, at + 16)], S(line + 1, (at, at + 16))) for name, line, at in
                                       (("main", 1, 0x1000), ("main._fn.0", 20, self.BODY), ("main._fn.1", 30, self.OTHER),
                                        ("main._fn.0.cold", 20, self.PART), ("leaf", 40, self.LEAF)))))
        runtime = code({"rt_run_task": self.RUN}, "/rt/a.c")
        self.process, self.runtime = self.start(self.scenario.binary("librt.so", "01", runtime))
        self.user = self.scenario.load(self.process, self.scenario.binary("user", "02", user), flags=mw.MAIN)
        self.thread = self.process.thread()

    def caller(self, body=None, outer=None):
        """The node of rt_run_task in a call from main(), with a body that the agent has added. `outer`: an agent has put
        main(), and this body, in the place of its callers."""
        run, added = (self.runtime, self.RUN), body and (self.user, body)
        if outer:
            node = self.thread.node(mw.ROOT, run, (self.user, 0x1004), 0x1004, mw.ONE_M)
            node = self.thread.node(node, None, (self.user, outer), None, mw.ONE_M, first=False)
            return self.thread.node(node, None, added, None, mw.ONE_M, first=False)
        main = self.thread.node(mw.ROOT, (self.user, 0x1004), "ip")
        return self.thread.node(main, run, added, None, mw.ONE_ONE if body else mw.ONE_ZERO)

    def sample(self, node, *path):
        self.thread.add(self.thread.path([(self.user, address) for address in path], node), 0, SECOND)

    def paths(self):
        return self.own_paths(self.scenario.database())

    def test_a_body_that_jumped(self):
        """It is shown around the function that it jumped to, and named by what called it."""
        self.sample(self.caller(self.BODY), self.LEAF)
        self.assertEqual(self.paths(), {("main", "task @ a.c:20", "leaf"): 1})

    def test_bodies_of_creators_that_jumped(self):
        """Of two bodies in the place of one frame, that frame has called the inner one."""
        self.sample(self.caller(self.BODY, outer=self.OTHER), self.LEAF)
        self.assertEqual(self.paths(), {("main", "construct @ a.c:30", "task @ a.c:20", "leaf"): 1})

    def test_a_part_of_the_body(self):
        """The compiler has moved it: the body is shown once. Other samples are in the body itself."""
        self.sample(self.caller(self.BODY), self.PART, self.LEAF)
        self.sample(self.caller(), self.BODY, self.LEAF)
        self.assertEqual(self.paths(), {("main", "task @ a.c:20", "leaf"): 2})

    def test_a_function_in_the_place_of_a_body(self):
        """In older measurements it has no body around it. It keeps its name."""
        self.sample(self.caller(), self.LEAF)
        self.assertEqual(self.paths(), {("main", "leaf"): 1})


class Overhead(RulesCase):
    def test_procedures_inlined_ones_and_symbols(self):
        """Tests each address alone, then all together."""
        self.write_rules(RULES)
        for address, kind in EXPECTED.items():
            with self.subTest(address=hex(address)):
                self.setUp()
                self.write_rules(RULES)
                module = self.scenario.binary("user", "01", USER)
                self.sample_all(*self.start(module), [address])
                found = self.totals(self.scenario.database())
                self.assertEqual(found, {"overhead": 1, f"overhead:{kind}": 1} if kind
                                 else {"work": 1})
        self.setUp()
        self.write_rules(RULES)
        self.sample_all(*self.start(self.scenario.binary("user", "01", USER)), EXPECTED)
        self.assertEqual(self.totals(self.scenario.database()), self.count(EXPECTED.values()))

    def test_stars_count_in_the_runtimes_own_module(self):
        self.write_rules("runtime-module librt.so\n" + RULES)
        module = self.scenario.binary("librt.so.3", "01", USER)
        self.sample_all(*self.start(module), [0x3010, 0x4000, 0x4010, 0x4020, 0x3000])
        self.assertEqual(self.totals(self.scenario.database()),
                         self.count(["never", "other", "steal", "never", None]))

    def test_a_call_behind_a_fence(self):
        """A caller's return address directly after a fence is not a sample of the fence."""
        self.write_rules(RULES)
        process, user = self.start(self.scenario.binary("user", "01", USER))
        thread = process.thread()
        caller = thread.node(mw.ROOT, (user, 0x20a4), "ip")
        thread.add(thread.node(caller, (user, 0x3000), "ip"), 0, SECOND)
        self.assertEqual(self.totals(self.scenario.database()), {"work": 1})

    def test_a_body_that_ended_with_a_jump_into_the_c_library(self):
        """It has no frame: its caller seems to call the library."""
        self.write_rules("runtime-module librt.so\noverhead rt_* task\nconstruct rt_run* task\n")
        functions = code({"main": 0x1000, "rt_run_task": 0x2000, "rt_wait": 0x3000}, "/rt/a.c")
        process, runtime = self.start(self.scenario.binary("librt.so", "01", functions))
        libc = self.scenario.load(process, self.scenario.binary("libc.so", "02", code({"qsort": 0x4000}, "/c.c")), flags=mw.LIBC)
        main, run, wait, qsort = (runtime, 0x1000), (runtime, 0x2000), (runtime, 0x3000), (libc, 0x4000)
        shown = mw.ONE_M, main, 0x1000  # an agent shows the path to the construct in the place of the frame
        for path, kind in (([(run, shown)], "task"), ([(run, shown), (None, shown)], "task"),
                           ([(run, shown), qsort], None), ([(run, shown), (None, shown), qsort], None),
                           ([(run, shown), qsort, qsort], None), ([(run, shown), wait, qsort], "task"),
                           ([(run, shown), main, wait, qsort], "task"), ([wait, qsort], "task")):
            thread, node = process.thread(), mw.ROOT
            for frame in path:
                ip, (association, lip, site) = frame if isinstance(frame[1], tuple) else (frame, (mw.ONE_ONE, "ip", None))
                node = thread.node(node, ip, lip, site, association, first=ip is not None)
            thread.add(node, 0, SECOND)
            thread.expected = {"overhead" if kind else "work": 1}
        db = self.scenario.database()
        names = {db.metric(name, "execution"): name for name in ("work", "overhead")}
        for thread, profile in zip(process.threads, db.profiles[1:]):
            found = {names[k]: value for k, value in profile.values[0].items() if k in names}
            self.assertEqual(found, thread.expected, thread.index)

    def test_state(self):
        """Rules give a lower bound."""
        untagged = code({"main": 0x1000, "rt_exported": 0x4000}, "")
        for structure, state in ((untagged, "lower bound"), (USER, "measured")):
            self.setUp()
            self.write_rules(RULES)
            self.sample_all(*self.start(self.scenario.binary("user", "01", structure)), [0x4000])
            self.scenario.database()
            self.assertEqual(self.metric("overhead")["state"], state)

    def test_state_of_runtimes_that_are_only_libraries(self):
        """Overhead is measured if the rules of each runtime that counted workers say so."""
        complete, plain = "overhead-complete yes\n" + RULES, "overhead rt_other\n"
        for rules, workers, state in ((complete, ["any"], "measured"), (complete, ["any", "pthread"], "measured"),
                                      (complete, ["pthread", "any", "other"], "lower bound"), (complete, ["other"], "lower bound"),
                                      (RULES, ["any"], "lower bound"), (complete, ["pthread"], "lower bound")):
            with self.subTest(workers=workers, state=state):
                self.setUp()
                self.write_rules(rules)
                self.write_rules(plain, "other.rules", "agent other 1.0")
                untagged = self.scenario.binary("user", "01", code({"rt_exported": 0x4000}, ""))
                process, instance = self.start(untagged, agent=False)
                for agent in workers:
                    process.workers.append((len(process.agents), [(5, 2, 2)]))
                    process.agents.append((agent, "1.0", 4, f"{agent}.rules", "1.0"))
                if "any" not in workers:
                    process.agents.append(("any", "1.0", 4, "any.rules", "1.0"))
                thread = process.thread()
                thread.add(thread.node(mw.ROOT, (instance, 0x4000), "ip"), 0, SECOND)
                self.write_rules("", "pthread.rules", "agent pthread 1.0")
                self.scenario.database()
                overhead = self.metric("overhead")
                self.assertEqual(overhead["state"], state)
                if "other" in workers:
                    self.assertIn("runtime of agent other ", overhead["why"])

    def test_other_processes_are_left_alone(self):
        """An agent's rules apply where it took part. Elsewhere, a procedure of that name is the user's."""
        self.write_rules(RULES)
        plain = code({"main": 0x1000, "rt_push": 0x2000}, "/home/u/b.c")
        self.sample_all(*self.start(self.scenario.binary("user", "01", USER)), [0x2010])
        other = self.start(self.scenario.binary("plain", "02", plain), agent=False, pid=99)
        self.sample_all(*other, [0x2000])
        self.assertEqual(self.totals(self.scenario.database()),
                         {"work": 1, "overhead": 1, "overhead:spawn": 1})

    def test_libc_belongs_to_its_caller(self):
        self.write_rules(RULES)
        process, user = self.start(self.scenario.binary("user", "01", USER))
        lock = self.scenario.load(process, self.scenario.binary("libc", "02", code({"futex": 0x10}, "/l/futex.c")), flags=mw.LIBC)
        thread = process.thread()
        for caller in (0x2000, 0x2010, 0x4000):
            thread.add(thread.node(thread.node(mw.ROOT, (user, caller), "ip"), (lock, 0x10), "ip"),
                       0, SECOND)
        self.assertEqual(self.totals(self.scenario.database()), self.count([None, "spawn", "other"]))


class Headers(RulesCase):
    """A runtime whose headers have templates. The compiler builds them into the program, and the program's code into
    them."""
    RULES = """runtime-module librt.so
compiled-in rt::*
working rt::sort*
overhead rt::wait* sync
overhead rt::push* spawn
overhead-file */rt/task.h task
helper */bits/atomic.h
overhead-complete debug
"""
    ATOMIC = "atomic_add", "/usr/include/bits/atomic.h", 7
    MAIN = P("main", 1, [(0x1000, 0x1020)], S(2, (0x1000, 0x1010)), A(3, *ATOMIC, S(8, (0x1010, 0x1020))))
    WITH_DEBUG = Structure(
        F("/home/u/a.cc", MAIN),
        F("/usr/include/rt/task.h",
          P("rt::run<f>", 10, [(0x2000, 0x2060)],
            S(11, (0x2000, 0x2010)),
            A(12, "f", "/home/u/a.cc", 3, S(4, (0x2010, 0x2020))),
            A(13, *ATOMIC, S(8, (0x2020, 0x2030))),
            A(14, "rt::sort<f>", "/usr/include/rt/sort.h", 1, S(2, (0x2030, 0x2040))),
            A(15, "rt::pause", "/usr/include/rt/detail/pause.h", 1, S(2, (0x2040, 0x2050))),
            A(16, "rt::wait<f>", "/usr/include/rt/task.h", 30, S(31, (0x2050, 0x2060))))),
        F("/usr/include/rt/vector.h", P("rt::vector<f>::push", 5, [(0x2060, 0x2070)], S(6, (0x2060, 0x2070)))))
    KINDS = {0x1000: None, 0x1010: None, 0x2000: "task", 0x2010: None, 0x2020: "task", 0x2030: None, 0x2040: "task",
             0x2050: "sync", 0x2060: None}
    PLAIN_MAIN = P("main", 0, [(0x1000, 0x1010)], S(0, (0x1000, 0x1010)))
    PLAIN = P("rt::push<f>", 0, [(0x2000, 0x2010)], S(0, (0x2000, 0x2010)))
    STUB = P("rt::push(int)@plt", 0, [(0x3000, 0x3010)], S(0, (0x3000, 0x3010)))

    def sample(self, structure, addresses, name="user"):
        """{metric: seconds}, and how the overhead was found."""
        self.setUp()
        self.write_rules(self.RULES)
        process, instance = self.start(self.scenario.binary(name, "01", structure), agent=False)
        process.workers.append((0, [(5, 2, 2)]))
        process.agents.append(("any", "1.0", 4, "any.rules", "1.0"))
        thread = process.thread()
        for address in addresses:
            thread.add(thread.node(mw.ROOT, (instance, address), "ip"), 0, SECOND)
        totals = self.totals(self.scenario.database())
        return {name: seconds for name, seconds in totals.items() if not name.startswith("idle")}, self.metric("overhead")

    def test_with_debug_information(self):
        for address, kind in self.KINDS.items():
            with self.subTest(address=hex(address)):
                found, overhead = self.sample(self.WITH_DEBUG, [address])
                self.assertEqual(found, {"overhead": 1, f"overhead:{kind}": 1} if kind else {"work": 1})
                self.assertEqual(overhead["state"], "measured")

    def test_without_debug_information(self):
        """A function of the headers may contain code of the program: no time in it is overhead. A stub's is."""
        for functions, address, kind in (((self.PLAIN_MAIN, self.PLAIN), 0x2000, None),
                                         ((self.PLAIN_MAIN, self.PLAIN, self.STUB), 0x3000, "spawn"),
                                         ((self.PLAIN_MAIN, self.STUB), 0x1000, None)):  # it was stripped
            found, overhead = self.sample(Structure(F("", *functions)), [address])
            self.assertEqual(found, {"overhead": 1, f"overhead:{kind}": 1} if kind else {"work": 1})
            self.assertEqual(overhead["state"], "lower bound")
            self.assertIn("compile it with -g", overhead["why"])

    def test_the_runtime_itself_needs_no_debug_information(self):
        found, overhead = self.sample(Structure(F("", self.PLAIN, self.STUB)), [0x2000, 0x3000], "librt.so.2")
        self.assertEqual(found, {"overhead": 2, "overhead:spawn": 2})
        self.assertEqual(overhead["state"], "measured")

    # Inner namespaces, arguments and return types are left out.
    SHOWN = {"void rt::detail::d1::run<int, f()::<lambda> >(int)": "rt::run", "rt::r1::wait(rt::d0::task&)": "rt::wait",
             "rt::v2::sort(int*)": "rt::v2::sort", "rt::dim::fill(int)": "rt::dim::fill",
             "int rt::queue<int (*)(int)>::operator()(int) const": "rt::queue::operator()(int) const"}

    def test_names_of_functions_in_headers(self):
        self.write_rules("runtime-module librt.so\nheader */rt/*\n")
        structure = code({name: 0x1000 * i for i, name in enumerate(self.SHOWN, 1)}, "/usr/include/rt/all.h")
        process, instance = self.start(self.scenario.binary("user", "01", structure))
        for i in range(1, len(self.SHOWN) + 1):
            thread = process.thread()
            thread.add(thread.node(mw.ROOT, (instance, 0x1000 * i), "ip"), 0, SECOND)
        contexts = self.scenario.database().contexts.values()
        self.assertEqual({context.function.name for context in contexts if context.function}, set(self.SHOWN.values()))

    def test_a_program_without_the_headers(self):
        _, overhead = self.sample(Structure(F("", self.PLAIN_MAIN)), [0x1000])
        self.assertEqual(overhead["state"], "measured")


AGENTS = pathlib.Path(__file__).resolve().parents[2] / "agents"
# Procedures in the headers of Cilk-5.4.6 and in OpenCilk's bitcode with their kind of overhead, and names that a user
# may give to procedures.
OF_HEADERS = {
    "cilk5": {"CILK_MB": "spawn", "Cilk_membar_StoreLoad": "spawn", "Cilk_create_frame": "spawn",
              "Cilk_cilk2c_init_frame": "spawn", "Cilk_cilk2c_pop_check": "spawn",
              "Cilk_cilk2c_pop": "spawn", "Cilk_cilk2c_before_return_fast": "spawn",
              "Cilk_destroy_frame_fast": "spawn", "Cilk_internal_malloc_fast": "spawn",
              "Cilk_internal_free_fast": "spawn", "Cilk_cilk2c_at_sync_fast_cp": "sync",
              "Cilk_cilk2c_start_thread_slow": "steal", "Cilk_sync": "sync",
              "Cilk_mine": None, "promote_child": None, "fib": None, "sync": None},
    "opencilk": {"__cilkrts_enter_frame": "spawn", "__cilkrts_enter_frame_helper": "spawn",
                 "__cilkrts_detach": "spawn", "__cilk_prepare_spawn": "spawn",
                 "__cilkrts_leave_frame": "spawn", "__cilk_parent_epilogue": "spawn",
                 "__cilk_helper_epilogue": "spawn", "__cilk_sync_nothrow": "sync",
                 "__cilkrts_cilk_for_grainsize_8": "loop", "__cilkrts_get_worker_number": "other",
                 "worker_scheduler": None, "cilk_mine": None, "fib": None, "sync": None}}


class Installed(RulesCase):
    """The installed rules of the agents, with the names in the runtimes."""

    def check(self, agent, module, names):
        self.setUp()
        rules = (AGENTS / agent / f"{agent}.rules").read_text(encoding="utf-8")
        first, rest = rules.split("\n", 1)
        self.write_rules(rest, f"{agent}.rules", first)
        places = {name: 0x2000 + 16 * i for i, name in enumerate(names)}
        process, instance = self.start(self.scenario.binary(module, "01", code({"main": 0x1000, **places}, size=8)), agent=False)
        process.agents.append((agent, "1", 1, f"{agent}.rules", "1"))
        self.sample_all(process, instance, places.values())
        self.assertEqual(self.totals(self.scenario.database()), self.count(names.values()))

    def test_in_users_modules(self):
        for agent, names in OF_HEADERS.items():
            for name, kind in names.items():
                with self.subTest(agent=agent, name=name):
                    self.check(agent, "program", {"other_name": None, name: kind})

    def test_in_the_agent_that_calls_bodies(self):
        """Time in its functions is overhead of what their bodies are."""
        for name, kind in {"run_region": "region", "run_loop": "region", "run_sections": "region", "run_task": "task",
                           "run_taskloop": "task"}.items():
            self.check("gomp", "gomp.so", {"other_name": None, name: kind})

    def test_all_that_a_library_exports(self):
        for agent, library in (("cilk5", "libcilk.so.0"), ("opencilk", "libopencilk.so")):
            with self.subTest(agent=agent):
                exports = re.findall(r'"(\w+)"', next((AGENTS / agent).glob("*exports.[ch]")).read_text())
                self.assertGreater(len(exports), 50)
                self.setUp()
                rules = (AGENTS / agent / f"{agent}.rules").read_text(encoding="utf-8")
                first, rest = rules.split("\n", 1)
                self.write_rules(rest, f"{agent}.rules", first)
                exported = code({name: 0x1000 + 16 * i for i, name in enumerate(exports)}, "", size=8)
                process, instance = self.start(self.scenario.binary(library, "01", exported), agent=False)
                process.agents.append((agent, "1", 1, f"{agent}.rules", "1"))
                thread = process.thread()
                for i in range(len(exports)):
                    thread.add(thread.node(mw.ROOT, (instance, 0x1000 + 16 * i), "ip"), 0, SECOND)
                totals = self.totals(self.scenario.database())
                self.assertEqual(totals.get("work", 0), 0)
                self.assertEqual(totals["overhead"], len(exports))


class WithoutAgent(RulesCase):
    """Rules of a runtime that needs no agent."""

    def test_only_its_modules(self):
        for name, is_its in (("librt-x.so", True), ("librt-x.so.5", True), ("librt-x-2.so", True),
                             ("librt.so", False), ("mylibrt-x.so", False), ("librt-x.sox", False)):
            with self.subTest(name=name):
                self.setUp()
                self.write_rules("runtime-module librt-x*.so\noverhead rt_* loop\n", "rt.rules",
                                 "runtime rt 1")
                module = self.scenario.binary(name, "01", code({"main": 0x1000, "rt_exported": 0x2000}, "/rt/a.c"))
                self.sample_all(*self.start(module, agent=False), [0x2000])
                self.assertEqual(self.totals(self.scenario.database()),
                                 {"overhead": 1, "overhead:loop": 1} if is_its else {"work": 1})
                self.assertEqual(self.metric("overhead")["state"],
                                 "lower bound" if is_its else "not measurable")

    def test_an_agent_that_took_no_part(self):
        """The rules of an agent that took no part are not read."""
        self.write_rules("nonsense\noverhead rt_* loop\n")
        module = self.scenario.binary("user", "01", USER)
        self.sample_all(*self.start(module, agent=False), [0x2010])
        self.assertEqual(self.totals(self.scenario.database()), {"work": 1})


class Stripped(RulesCase):
    def test_clones_cannot_be_told(self):
        """A stripped program is reported; nothing else is."""
        stripped, named = ("<p+0x1000>", "<p+0x1010>"), ("f", "_cilk_f_slow")
        for names, rules, flags, agent, is_said in (
                (stripped, "clone _cilk_*_slow\n", mw.MAIN, True, True),
                (named, "clone _cilk_*_slow\n", mw.MAIN, True, False),
                (stripped, "clone _cilk_*_slow\n", 0, True, False),
                (stripped, "clone _cilk_*_slow\n", mw.MAIN, False, False),
                (stripped, "overhead rt_*\n", mw.MAIN, True, False)):
            with self.subTest(names=names, rules=rules, flags=flags, agent=agent):
                self.setUp()
                self.write_rules(rules)
                module = self.scenario.binary("p", "01", code({name: 0x1000 + 16 * i for i, name in enumerate(names)}, ""))
                process, instance = self.start(module, agent, flags)
                self.sample_all(process, instance, [0x1010])
                self.scenario.database()
                self.assertEqual("it was stripped: the clones" in self.scenario.stderr, is_said)
                self.assertEqual("it was stripped" in self.run_json()["modules"][0]["why"], is_said)


class Refused(RulesCase):
    def test_an_agent_that_refused(self):
        """An agent that refused took no part; one that withdrew its refusal did."""
        for refusals, took_part in (([("any", "it was stripped")], False),
                                    ([("any", "it was stripped"), ("any", "")], True),
                                    ([("other", "of another version")], True)):
            self.setUp()
            self.write_rules(RULES)
            process, user = self.start(self.scenario.binary("user", "01", USER))
            process.refusals += refusals
            self.sample_all(process, user, [0x2010])
            db = self.scenario.database()
            run = self.run_json()
            self.assertEqual([a["name"] for a in run["agents"]], ["any"] if took_part else [])
            self.assertEqual(self.totals(db), {"overhead": 1, "overhead:spawn": 1} if took_part
                             else {"work": 1})
            self.assertEqual([(a["name"], a["why"]) for a in run["refused_agents"]],
                             [] if refusals[-1][1] == "" else [refusals[0]])


WAIT_RULES = """runtime-module librt.so
waiting rt_wait
waiting-code rt_b*
waiting-call *yield
working rt_run
"""
# Each procedure has 256 bytes; its waiting code is at the given offsets.
RUNTIME = Structure(F("", *(
    P(name, 0, [(at, at + 0x100)],
      S(0, (at, at + 0x10)),
      L(0, S(0, (at + 0x10, at + 0x20)), L(0, S(0, (at + 0x20, at + 0x30)), header=at + 0x20),
        header=at + 0x10, pauses=True),
      L(0, S(0, (at + 0x30, at + 0x40)), header=at + 0x30),
      S(0, (at + 0x40, at + 0x100)), waits=[(at + 0x50, at + 0x53), (at + 0x60, at + 0x63)])
    for name, at in (("rt_wait", 0x1000), ("rt_barrier", 0x2000), ("rt_run", 0x3000),
                     ("other", 0x4000)))))
LIBC = Structure(F("", *(P(name, 0, [(at, at + 0x100)], S(0, (at, at + 0x100)))
                         for name, at in (("sched_yield", 0x1000), ("memcpy", 0x2000),
                                          ("write", 0x3000)))))
PROGRAM = Structure(F("/home/u/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100))),
                      P("task", 3, [(0x2000, 0x2100)], S(4, (0x2000, 0x2100)))))


class Waiting(RulesCase):
    MAIN, TASK = ("user", 0x1000), ("user", 0x2000)
    # Call paths, outermost frame first, and whether they wait.
    PATHS = (
        # by name, with calls of its own runtime and of libc
        ([MAIN, ("rt", 0x1000)], True),
        ([MAIN, ("rt", 0x1000), ("rt", 0x4000)], True),
        ([MAIN, ("rt", 0x1000), ("libc", 0x2000)], True),
        ([MAIN, ("rt", 0x4000)], False),
        # a task run by waiting code is work, and so is a procedure that `working` names
        ([MAIN, ("rt", 0x1000), TASK], False),
        ([MAIN, ("rt", 0x1000), TASK, ("libc", 0x1000)], False),
        ([MAIN, ("rt", 0x1000), TASK, ("rt", 0x4000)], False),
        ([MAIN, ("rt", 0x1000), ("rt", 0x3000)], False),
        ([MAIN, ("rt", 0x1000), ("rt", 0x3010)], False),
        ([MAIN, ("rt", 0x1000), ("rt", 0x3000), ("rt", 0x1000)], True),
        # loops with a pause of their own, and the loops inside them
        ([MAIN, ("rt", 0x2000)], False),
        ([MAIN, ("rt", 0x2010)], True),
        ([MAIN, ("rt", 0x201f)], True),
        ([MAIN, ("rt", 0x2020)], True),
        ([MAIN, ("rt", 0x2030)], False),
        ([MAIN, ("rt", 0x2010), ("rt", 0x4000)], True),
        ([MAIN, ("rt", 0x2030), ("rt", 0x4000)], False),
        ([MAIN, ("rt", 0x4010)], False),
        # waiting system calls, and the address after them
        ([MAIN, ("rt", 0x204f)], False),
        ([MAIN, ("rt", 0x2050)], True),
        ([MAIN, ("rt", 0x2052)], True),
        ([MAIN, ("rt", 0x2053)], False),
        ([MAIN, ("rt", 0x2060)], True),
        ([MAIN, ("rt", 0x4050)], False),
        # functions of libc, called by the runtime
        ([MAIN, ("rt", 0x4000), ("libc", 0x1000)], True),
        ([MAIN, ("rt", 0x4000), ("libc", 0x1000), ("libc", 0x3000)], True),
        ([MAIN, ("rt", 0x4000), ("libc", 0x3000)], False),
        ([MAIN, ("libc", 0x1000)], False),
        ([("rt", 0x4000), MAIN, ("libc", 0x1000)], False),
        # another runtime's code, called back by the first one
        ([MAIN, ("rt", 0x1000), ("second", 0x4000)], False),
        ([MAIN, ("second", 0x2010)], True))

    def database_of(self, paths, rules=WAIT_RULES):
        self.setUp()
        self.write_rules(rules, "rt.rules", "runtime rt 1")
        self.write_rules(WAIT_RULES.replace("librt", "second"), "second.rules", "runtime second 1")
        process, user = self.start(self.scenario.binary("user", "01", PROGRAM), agent=False)
        load, binary = self.scenario.load, self.scenario.binary
        spaces = {"user": user, "rt": load(process, binary("librt.so.1", "02", RUNTIME)),
                  "libc": load(process, binary("libc.so.6", "03", LIBC), flags=mw.LIBC),
                  "second": load(process, binary("second.so", "04", RUNTIME))}
        thread = process.thread()
        for path in paths:
            node = mw.ROOT
            for module, address in path:
                node = thread.node(node, (spaces[module], address), "ip")
            thread.add(node, 0, SECOND)
        return self.scenario.database()

    def test_each_path(self):
        for path, waits in self.PATHS:
            with self.subTest(path=path):
                self.assertEqual(self.totals(self.database_of([path])),
                                 {"waiting" if waits else "work": 1})

    def test_all_paths(self):
        """Work and waiting add up to what was measured."""
        waiting = sum(waits for _, waits in self.PATHS)
        found = self.totals(self.database_of([path for path, _ in self.PATHS]))
        self.assertEqual(found, {"waiting": waiting, "work": len(self.PATHS) - waiting})

    def test_state(self):
        self.database_of([[self.MAIN]])
        self.assertEqual(self.metric("waiting")["state"], "measured")
        self.setUp()
        self.sample_all(*self.start(self.scenario.binary("user", "01", USER), agent=False), [0x2000])
        self.scenario.database()
        self.assertEqual(self.metric("waiting")["state"], "not measurable")

    def test_counters_wait_as_well(self):
        self.setUp()
        self.write_rules(WAIT_RULES, "rt.rules", "runtime rt 1")
        process = self.scenario.process()
        process.metric("CYCLES", process.event("CYCLES", unit="count", flags=0))
        runtime = self.scenario.load(process, self.scenario.binary("librt.so", "02", RUNTIME))
        thread = process.thread()
        for address in (0x1000, 0x4000, 0x4000):
            thread.add(thread.node(mw.ROOT, (runtime, address), "ip"), 0, 7)
        self.assertEqual(self.totals(self.scenario.database()), {"CYCLES": 14, "CYCLES waiting": 7})


class BadLines(RulesCase):
    def test_file_and_line(self):
        """An invalid line does not affect the others."""
        path = self.write_rules("overhead rt_push spawn\noverhead\noverhead a b c\nclone f\n"
                                "clone a*b*c\noverhed x\nruntime-note x\nwaiting\n" +
                                "overhead " + "x" * 5000 + " y z\noverhead rt_pop sync\noverhead-complete no\noverhead-complete")
        self.sample_all(*self.start(self.scenario.binary("user", "01", USER)), [0x2010, 0x2050])
        db = self.scenario.database(status=1)
        self.assertEqual(self.totals(db),
                         {"overhead": 2, "overhead:spawn": 1, "overhead:sync": 1})
        for number, cause in ((3, "overhead: the pattern is missing"),
                              (4, "overhead: there are too many words"),
                              (5, "clone: the pattern needs a star"),
                              (6, "clone: the pattern needs a star"),
                              (7, "overhed: no such rule"), (9, "waiting: the pattern is missing"),
                              (10, "overhead: there are too many words"), (12, "overhead-complete: it is neither yes nor debug"),
                              (13, "overhead-complete: the pattern is missing")):
            self.assertIn(f"{os.path.realpath(path)}:{number}: {cause}",
                          self.scenario.stderr.replace("/bin/../lib/", "/lib/"))
        self.assertEqual(self.scenario.stderr.count("the line is skipped"), 9)

    def test_strange_files(self):
        for text, first in (("", ""), ("overhead rt_push spawn\n", "other any 1"),
                            ("overhead rt_push spawn\n", "agentless")):
            self.setUp()
            self.write_rules(text, first=first)
            self.sample_all(*self.start(self.scenario.binary("user", "01", USER)), [0x2000])
            self.scenario.database(status=1)
            self.assertIn(":1: first line: it is not 'agent NAME VERSION'", self.scenario.stderr)

    def test_no_file(self):
        self.sample_all(*self.start(self.scenario.binary("user", "01", USER)), [0x2010])
        self.assertEqual(self.totals(self.scenario.database()), {"work": 1})
        self.assertIn("any.rules: No such file", self.scenario.stderr)
