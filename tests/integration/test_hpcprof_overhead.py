"""Overhead and its kinds: random call paths through a made-up program, C library and runtime, against the rule
of hpcprof/metrics/overhead-samples.h, applied from the leaf outwards."""
import json
import pathlib
import random
import re

import measurement_writer as mw
from hpcprof_case import SECONDS, HpcprofCase, differences
from hpcprof_scenario import check_database
from structure_model import A, F, P, S, Structure
from v4_reader import read_database

# fib has code of its own and inlined operations of the runtime. It calls other modules through PLT stubs.
STUB = 0x3000
PROGRAM = Structure(F("/s/fib.c",
                      P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100))),
                      P("fib", 10, [(0x2000, 0x2100)],
                        S(11, (0x2000, 0x2040)),
                        A(12, "push", "/r/inline.h", 5, S(6, (0x2040, 0x2050)), tag="spawn"),
                        A(13, "wait", "/r/inline.h", 9,
                          S(10, (0x2050, 0x2060), tag="sync"),
                          S(11, (0x2060, 0x2070))),
                        A(14, "both", "/r/inline.h", 20,
                          S(21, (0x2070, 0x2080)),
                          A(22, "deep", "/r/inline.h", 30, S(31, (0x2080, 0x2090)), tag="sync"),
                          S(23, (0x2090, 0x20a0), tag="overhead"), tag="spawn"),
                        S(15, (0x20a0, 0x2100)))),
                    F("", P("futex@plt", 0, [(STUB, STUB + 16)], S(0, (STUB, STUB + 16)))))
RUNTIME = Structure(F("/r/runtime.c",
                      P("look", 1, [(0x100, 0x200)], S(2, (0x100, 0x200)), tag="steal"),
                      P("run", 20, [(0x200, 0x300)], S(21, (0x200, 0x280)),
                        S(22, (0x280, 0x300), tag="loop"), tag="scheduler"),
                      P("any", 30, [(0x300, 0x400)], S(31, (0x300, 0x400)), tag="overhead"),
                      P("helper", 40, [(0x400, 0x500)], S(41, (0x400, 0x500)))))
LIBC = Structure(F("/l/futex.c", P("futex", 1, [(0x10, 0x50)], S(2, (0x10, 0x50)))))

WORK, IDLENESS, OVERHEAD, KINDS = 0, 1, 10, 20


class OverheadCase(HpcprofCase):
    """A process with the three modules and a count of workers."""

    def start(self, program=PROGRAM, runtime=RUNTIME, agent=True, events=("CPUTIME",)):
        self.modules = {"program": self.scenario.binary("program", "01", program),
                        "runtime": self.scenario.binary("runtime", "02", runtime),
                        "libc": self.scenario.binary("libc", "03", LIBC)}
        self.process = self.scenario.process()
        for event in events:
            self.process.metric("work", self.process.event(event))
        self.instances = {name: self.scenario.load(self.process, module,
                                                   flags=mw.LIBC if name == "libc" else 0)
                          for name, module in self.modules.items()}
        if agent:
            self.process.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
            self.process.workers.append((0, [(5, 2, 2)]))

    def tag(self, frame):
        """The kind of the innermost tag at a frame's address; "other" for a tag without a kind."""
        module, address, _ = frame
        structure = self.modules[module].structure if module in self.modules else None
        tags = structure.tags(address) if structure else []
        return {"overhead": "other"}.get(tags[-1], tags[-1]) if tags else None

    def kind(self, frames):
        """The kind of overhead of a sample at the innermost of these frames (module, address, hidden); None
        for work."""
        is_overhead = False
        for frame in reversed(frames):
            module, address, hidden = frame
            if self.tag(frame):
                return self.tag(frame)
            is_overhead |= hidden
            if not hidden and module != "libc" and (module, address) != ("program", STUB):
                break
        return "other" if is_overhead else None

    def sample(self, thread, frames, amount, metric=WORK):
        """`frames` are outermost first."""
        node, logical = mw.ROOT, [self.scenario.entry(thread)]
        physical = list(logical)
        for module, address, hidden in frames:
            ip = self.instances[module], address
            labels = self.modules[module].labels(address)
            physical += labels
            if hidden:
                node = thread.node(node, ip, None, None, mw.ONE_ZERO)
            else:
                node = thread.node(node, ip, "ip")
                logical += labels
        thread.add(node, metric, amount)
        kind = self.kind(frames)
        if metric == IDLENESS or kind is None:
            paid = [metric]
        else:
            paid = [OVERHEAD, (KINDS, kind)]
        for number in paid:
            self.scenario.record(self.process, thread, logical, physical, number, amount)
        return kind

    def names(self, kinds, event=""):
        names = {WORK: ("work", SECONDS), OVERHEAD: ("overhead", SECONDS)}
        for kind in kinds:
            names[KINDS, kind] = ("overhead:" + kind, SECONDS)
        return {number: (name + event, unit) for number, (name, unit) in names.items()}


ALL_KINDS = ["loop", "scheduler", "spawn", "steal", "sync", "other"]
USER = [0x2000, 0x203f, 0x2040, 0x2050, 0x2060, 0x2070, 0x2080, 0x2090, 0x20a0, 0x20ff]
INNER = [("runtime", 0x100), ("runtime", 0x200), ("runtime", 0x2ff), ("runtime", 0x300),
         ("runtime", 0x400), ("libc", 0x10), ("program", STUB)]


class KindsTest(OverheadCase):
    def random_frames(self, rng):
        frames = [("program", 0x1000, False)]
        frames += [("program", rng.choice(USER), False) for _ in range(rng.randrange(4))]
        for _ in range(rng.randrange(4)):
            module, address = rng.choice(INNER)
            frames.append((module, address, module == "runtime" and rng.random() < 0.5))
        return frames

    def check_sums(self, db, kinds):
        """Exact in every profile, context and scope."""
        checked = 0
        for profile in db.profiles:
            for row in profile.values.values():
                for scope in ("point", "function", "lex_aware", "execution"):
                    def units(name):
                        return round(row.get(db.metric(name, scope), 0) * SECONDS)
                    parts = sum(units("overhead:" + kind) for kind in kinds)
                    self.assertEqual(parts, units("overhead"))
                    checked += parts > 0
        self.assertGreater(checked, 100)

    def test_random_paths(self):
        self.start()
        self.process.metric("idleness", 0)
        rng, seen = random.Random(4), set()
        for _ in range(3):
            thread = self.process.thread()
            for _ in range(400):
                frames = self.random_frames(rng)
                seen.add(self.sample(thread, frames, rng.randrange(1, 10**9)))
                self.sample(thread, frames, rng.randrange(1, 10**9), IDLENESS)
        self.assertEqual(seen, {*ALL_KINDS, None})
        db = self.scenario.database()
        names = {**self.names(ALL_KINDS), IDLENESS: ("idleness", SECONDS)}
        self.assertEqual([m.name for m in db.metrics],
                         ["work", "idleness", "overhead", *("overhead:" + k for k in ALL_KINDS)])
        check_database(self, self.scenario, db, names)
        physical = read_database(self.at("db/physical"))
        check_database(self, self.scenario, physical, names, "physical")
        self.check_sums(db, ALL_KINDS)
        self.check_sums(physical, ALL_KINDS)

    def test_known_paths(self):
        """The frame that decides the kind."""
        main, fib = ("program", 0x1000, False), ("program", 0x2000, False)
        spawn, libc = ("program", 0x2040, False), ("libc", 0x10, False)
        steal, run = ("runtime", 0x100, True), ("runtime", 0x200, True)
        stub = ("program", STUB, False)
        helper, any_tag = ("runtime", 0x400, True), ("runtime", 0x300, False)
        expected = [
            ([], None),
            ([fib], None),
            ([fib, libc], None),              # called by the user
            ([spawn], "spawn"),
            ([spawn, libc], "spawn"),         # called by the runtime
            ([spawn, stub], "spawn"),         # just before calling it
            ([fib, stub], None),
            ([spawn, stub, libc], "spawn"),
            ([spawn, fib], None),             # user's code, called by the runtime
            ([spawn, libc, fib, libc], None),
            ([run, steal], "steal"),          # the innermost of two
            ([run, steal, libc], "steal"),
            ([helper], "other"),              # no tag names a kind
            ([fib, helper], "other"),
            ([spawn, helper], "spawn"),       # a hidden frame has the kind of its caller
            ([run, helper, libc], "scheduler"),
            ([run, helper, fib], None),
            ([spawn, any_tag], "other"),      # tagged, without a kind
        ]
        self.start()
        thread = self.process.thread()
        for frames, kind in expected:
            self.assertEqual(self.sample(thread, [main, *frames], mw.seconds(1)), kind, frames)
        db = self.scenario.database()
        check_database(self, self.scenario, db, self.names(ALL_KINDS))
        total = db.profiles[0].values[0]
        for kind in ALL_KINDS:
            self.assertEqual(total.get(db.metric("overhead:" + kind, "execution"), 0),
                             sum(k == kind for _, k in expected))

    def test_several_events(self):
        """Every event has metrics for each kind, counters too. Only kinds of modules with samples count."""
        self.start(events=("CPUTIME", "REALTIME"))
        faults = self.process.event("FAULTS", unit="count")
        self.process.metric("FAULTS", faults)
        thread = self.process.thread()
        for metric, amount in ((0, mw.seconds(1)), (1, mw.seconds(2)), (2, 7)):
            self.sample(thread, [("program", 0x1000, False), ("program", 0x2040, False)], amount,
                        metric)
        db = self.scenario.database()
        names = [f"overhead{kind} ({event})" for event in ("CPUTIME", "REALTIME")
                 for kind in ("", ":spawn", ":sync", ":other")]
        names += ["FAULTS overhead" + kind for kind in ("", ":spawn", ":sync", ":other")]
        self.assertEqual([m.name for m in db.metrics],
                         ["work (CPUTIME)", "work (REALTIME)", "FAULTS", *names])
        total = db.profiles[0].values[0]
        found = {m.name: total[db.metric(m.name, "execution")] for m in db.metrics
                 if db.metric(m.name, "execution") in total}
        self.assertEqual(found, {"overhead (CPUTIME)": 1, "overhead:spawn (CPUTIME)": 1,
                                 "overhead (REALTIME)": 2, "overhead:spawn (REALTIME)": 2,
                                 "FAULTS overhead": 7, "FAULTS overhead:spawn": 7})

    def test_without_named_kinds_overhead_is_not_told_apart(self):
        untold = Structure(F("/r/runtime.c", P("any", 30, [(0x300, 0x400)], S(31, (0x300, 0x400)),
                                               tag="overhead")))
        plain = Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        for agent in (False, True):
            with self.subTest(agent=agent):
                self.setUp()
                self.start(plain, untold, agent)
                thread = self.process.thread()
                frames = [("program", 0x1000, False), ("runtime", 0x300, False)]
                self.sample(thread, frames, mw.seconds(3))
                db = self.scenario.database()
                self.assertEqual([m.name for m in db.metrics], ["work", "overhead"])
                self.assertEqual(db.profiles[0].values[0], {db.metric("overhead", "execution"): 3})

    def states(self):
        """{name: (state, reason)} of the metrics in run.json."""
        run = json.loads(pathlib.Path(self.scenario.at("db"), "run.json").read_text())
        return {m["name"]: (m["state"], m.get("why")) for m in run["metrics"]}

    def test_lower_bound(self):
        """Without tags, an agent knows the frames that it hides, but not the code compiled into the user's."""
        runtime = Structure(F("/r/runtime.c", P("helper", 40, [(0x400, 0x500)],
                                                S(41, (0x400, 0x500)))))
        plain = Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        for program, agent, state in ((plain, True, "lower bound"), (PROGRAM, True, "measured"),
                                      (PROGRAM, False, "measured"),
                                      (plain, False, "not measurable")):
            with self.subTest(agent=agent, state=state):
                self.setUp()
                self.start(program, runtime, agent)
                frames = [("program", 0x1000, False), ("runtime", 0x400, True)]
                self.sample(self.process.thread(), frames, mw.seconds(3))
                self.scenario.database()
                found, why = self.states()["overhead"]
                self.assertEqual(found, state)
                if state == "lower bound":
                    self.assertRegex(why, "no code is tagged .* agent minicilk.* tags")
                self.assertEqual(self.states()["work"], ("measured", None))

    def test_one_process_without_tags(self):
        """If overhead of one process is a lower bound, so is overhead of the run."""
        self.start()
        self.sample(self.process.thread(), [("program", 0x2040, False)], mw.seconds(1))
        plain = Structure(F("/s/b.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        other = self.scenario.process(pid=99)
        other.metric("work", other.event("CPUTIME"))
        other.agents.append(("cilk5", "1", 4, "cilk5.rules", "1"))
        other.workers.append((0, [(5, 2, 2)]))
        module = self.scenario.load(other, self.scenario.binary("other", "04", plain))
        thread = other.thread()
        thread.add(thread.node(mw.ROOT, (module, 0x1000), "ip"), 0, mw.seconds(1))
        self.scenario.database()
        states = self.states()
        for name in ("overhead", "overhead:spawn", "overhead:other"):
            self.assertEqual(states[name][0], "lower bound")
            self.assertIn("agent cilk5", states[name][1])

    def test_kinds_that_nobody_knows(self):
        """A tag may have any text as its kind."""
        strange = Structure(F("/r/runtime.c",
                              P("a", 1, [(0x100, 0x200)], S(2, (0x100, 0x200)), tag="zu: (x), <y>"),
                              P("b", 3, [(0x200, 0x300)], S(4, (0x200, 0x300)), tag="other")))
        self.start(runtime=strange)
        thread = self.process.thread()
        for address in (0x100, 0x200):
            self.sample(thread, [("program", 0x1000, False), ("runtime", address, False)],
                        mw.seconds(1))
        db = self.scenario.database()
        kinds = ["spawn", "sync", "zu: (x), <y>", "other"]
        check_database(self, self.scenario, db, self.names(kinds))

    def test_any_number_of_threads_gives_the_same_bytes(self):
        self.start()
        rng = random.Random(9)
        for _ in range(6):
            thread = self.process.thread()
            for _ in range(60):
                self.sample(thread, self.random_frames(rng), rng.randrange(1, 10**9))
        self.scenario.write()
        for jobs in (1, 4):
            self.scenario.run("-j", str(jobs), "-o", self.at(f"db{jobs}"))
        self.assertEqual(differences(self.at("db1"), self.at("db4")), [])

    def test_other_viewers_show_kinds_on_request(self):
        """In HPCToolkit's taxonomy of metrics, kinds are children of overhead."""
        self.start()
        self.sample(self.process.thread(), [("program", 0x2040, False)], mw.seconds(1))
        db = self.scenario.database()
        kinds = ["overhead:spawn", "overhead:sync", "overhead:other"]
        text = pathlib.Path(self.at("db/metrics/default.yaml")).read_text()
        roots = re.findall('^  - name: "(.*)"$', text, re.M)
        self.assertEqual(roots, ["work", "overhead", "effort"])
        of_overhead = text[text.index('  - name: "overhead"'):]
        self.assertEqual(text.count("children:"), 1)
        self.assertIn("\n    children:\n", of_overhead)
        self.assertEqual(re.findall('^    - name: "(.*)"$', of_overhead, re.M), kinds)
        self.assertEqual([m.name for m in db.metrics], ["work", "overhead"] + kinds)
        for number in range(2 + len(kinds)):
            for scope in ("execution", "function", "lex_aware"):
                anchor = f"metric-{number}-{scope}"
                self.assertEqual((text.count(f"&{anchor}\n"), text.count(f"*{anchor}\n")), (1, 1))
        run = self.run_json()
        self.assertEqual({m["name"]: m["state"] for m in run["metrics"]},
                         dict.fromkeys(["work", "overhead"] + kinds, "measured")
                         | dict.fromkeys(("idleness", "incomplete", "waiting"), "not measurable"))
