"""hpcprof: its command line, and its output except for contexts (see test_hpcprof_contexts.py)."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import unittest.mock

import measurement_writer as mw
from hpcprof_case import WORK, HpcprofCase, differences
from hpcprof_scenario import check_database, hpcprof_path
from structure_model import F, L, P, S, Structure
from v4_reader import read_database


class CommandLineTest(HpcprofCase):
    def hpcprof(self, *arguments, status=0):
        done = subprocess.run([hpcprof_path(), *arguments], capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_help_and_version(self):
        usage = self.hpcprof("--help").stdout
        self.assertEqual(self.hpcprof("-h").stdout, usage)
        self.assertEqual(self.hpcprof("-V").stdout, self.hpcprof("--version").stdout)
        for option in ("-o", "-I", "-R", "-j", "--help", "--version"):
            self.assertIn(option, usage)
        self.assertRegex(self.hpcprof("--version").stdout, r"^hpcprof \d+\.\d+\n$")
        with open("/dev/full", "w") as full:
            done = subprocess.run([hpcprof_path(), "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "hpcprof: standard output: No space left on device\n"))

    def test_what_makes_no_sense(self):
        for arguments, part in (((), "no measurement directory"), (("-j",), "-j needs a value"),
                                (("-j", "0", "x"), "-j takes"), (("-j", "-3", "x"), "-j takes"),
                                (("-j", "4x", "x"), "-j takes"), (("-R", "abc", "x"), "OLD=NEW"),
                                (("-R", "=abc", "x"), "OLD=NEW"), (("--frob", "x"), "--frob"),
                                (("-o", "", "x"), "-o needs")):
            done = self.hpcprof(*arguments, status=2)
            self.assert_says(done.stderr, part)
            self.assertIn("--help", done.stderr)

    def test_the_default_name(self):
        self.process(self.program())
        self.scenario.write()
        for _ in range(3):
            self.scenario.run()
        self.assertEqual(self.names(), ["hpctoolkit-program-database",
                                        "hpctoolkit-program-database-1",
                                        "hpctoolkit-program-database-2",
                                        "hpctoolkit-program-measurements"])
        os.rename(self.scenario.measurements, self.at("hpctoolkit-program-measurements-7"))
        done = self.scenario.run(directories=[self.at("hpctoolkit-program-measurements-7/")])
        self.assertEqual(done.stdout, "hpctoolkit-program-database-7\n")
        os.rename(self.at("hpctoolkit-program-measurements-7"), self.at("anything"))
        done = self.scenario.run(directories=["anything"])
        self.assertEqual(done.stdout, "hpctoolkit-anything-database\n")
        read_database(self.at("hpctoolkit-anything-database"))

    def test_an_output_that_exists(self):
        self.process(self.program())
        self.scenario.write()
        os.mkdir(self.at("empty"))
        self.scenario.run("-o", "empty/")
        read_database(self.at("empty"))
        before = os.stat(self.at("empty/meta.db")).st_mtime_ns
        done = self.scenario.run("-o", "empty", status=1)
        self.assert_says(done.stderr, "empty", "not an empty directory")
        self.assertEqual(os.stat(self.at("empty/meta.db")).st_mtime_ns, before)
        pathlib.Path(self.at("file")).write_text("precious")
        self.scenario.run("-o", "file", status=1)
        self.assertEqual(pathlib.Path(self.at("file")).read_text(), "precious")

    def test_an_output_that_cannot_be_written(self):
        self.process(self.program())
        self.scenario.write()
        done = self.scenario.run("-o", "no/such/folder/db", status=1)
        self.assert_says(done.stderr, "no/such/folder/db", "No such file or directory")

    def test_a_full_disk_leaves_nothing(self):
        self.process(self.program())
        self.scenario.write()
        before = self.names()
        done = self.scenario.run(
            status=1, restore_signals=False,  # Python ignores SIGXFSZ, and hpcprof inherits that
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))
        self.assert_says(done.stderr, ".db", "File too large")
        self.assertEqual(self.names(), before)

    def test_an_interrupted_run_leaves_nothing(self):
        """Stops hpcprof while hpcstruct runs; hpcstruct is stopped, too."""
        module = self.program()
        os.mkfifo(self.at("started"))
        os.mkfifo(self.at("stopped"))
        self.scenario.hpcstruct.set_code(
            module.path, "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
                         f"open({self.at('started')!r}, 'w').close()\n"
                         "signal.sigwait({signal.SIGTERM})\n"
                         f"open({self.at('stopped')!r}, 'w').close()\n")
        self.process(module)
        self.scenario.write()
        before = self.names()
        for number in (signal.SIGINT, signal.SIGTERM):
            running = subprocess.Popen([self.scenario.hpcprof, self.scenario.measurements],
                                       cwd=self.scenario.folder, start_new_session=True,
                                       env={**os.environ, "XDG_CACHE_HOME": self.at("cache")})
            open(self.at("started")).close()  # blocks until the fifo has a reader
            self.assertNotEqual(self.names(), before)
            running.send_signal(number)
            self.assertEqual(running.wait(timeout=600), -number)
            open(self.at("stopped")).close()
            self.assertEqual(self.names(), before)


class SourcesTest(HpcprofCase):
    def source(self, name, text):
        path = pathlib.Path(self.at(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def build(self, *files):
        """A program with a sampled function in each file, and a function without samples."""
        procedures = [F(path, P(f"f{i}", 1, [(0x1000 * i, 0x1000 * i + 16)],
                                S(2, (0x1000 * i, 0x1000 * i + 16))))
                      for i, path in enumerate(files, 1)]
        unused = self.source("unused.c", "not sampled")
        procedures.append(F(unused, P("unused", 1, [(0x9000, 0x9010)], S(2, (0x9000, 0x9010)))))
        module = self.scenario.binary("program", "abcd01", Structure(*procedures))
        process = self.process()
        thread, instance = process.thread(), self.scenario.load(process, module)
        for i in range(len(files)):
            self.scenario.sample(process, thread, [(instance, 0x1000 * (i + 1))], 0, 1000)

    def check_copies(self, expected, *arguments):
        """expected: {function: text of the copy, or None}."""
        self.scenario.database(*arguments)
        for folder in ("db", "db/physical"):
            db = read_database(self.at(folder))
            for function in db.functions:
                text = expected.pop(function.name) if folder == "db/physical" \
                    else expected[function.name]
                self.assertEqual(function.file.copied, text is not None, function.name)
                if text is not None:
                    path = pathlib.Path(self.at(folder), function.file.path)
                    self.assertEqual(path.read_text(), text)
        self.assertEqual(expected, {})

    def test_copies(self):
        self.build(self.source("a/one.c", "one"), self.source("two.c", "two"), "/nonexistent/x.c",
                   "relative.c", self.at("a"))
        self.check_copies({"f1": "one", "f2": "two", "f3": None, "f4": None, "f5": None})
        copied = [str(p) for p in pathlib.Path(self.at("db/src")).rglob("*") if p.is_file()]
        self.assertEqual(sorted(copied), [self.at("db/src") + self.at("a/one.c"),
                                          self.at("db/src") + self.at("two.c")])

    def test_names_that_are_not_utf8(self):
        """Strings in the database are UTF-8 whatever the bytes of a file name, and each message is one line."""
        folder = self.at("l\udcf6st\n")  # Latin-1, and a line break
        os.mkdir(folder)
        program = self.scenario.binary("program", "abcd01", Structure())
        os.rename(program.path, folder + "/program")
        process = self.process()
        name = os.fsencode(folder + "/program")
        instance = process.module(name, "abcd01")
        missing = process.module(os.fsencode(folder + "/missing"), "abcd02")
        thread = process.thread()
        for module in (instance, missing):
            thread.add(thread.path([(module, 0x1000)]), 0, 1000)
        db = self.scenario.database(status=1)
        self.assertEqual(sorted(m.path for m in db.modules),
                         [self.at("l\ufffdst\n/missing"), self.at("l\ufffdst\n/program")])
        self.assert_says(self.scenario.stderr, r"l\xf6st\x0a/missing", "does not exist")
        self.assert_says(self.scenario.stderr, r"l\xf6st\x0a/program", "hpcstruct")
        self.assertEqual(len(self.scenario.stderr.splitlines()), 3, self.scenario.stderr)

    def test_replaced_and_searched_paths(self):
        self.source("new/sub/one.c", "one")
        self.source("tree/x/deep/two.c", "deep two")
        self.source("tree/two.c", "two")
        self.source("more/deep/two.c", "other two")
        self.source("tree/relative.c", "relative")
        self.build("/old/sub/one.c", "/build/deep/two.c", "/oldest/sub/one.c", "src/relative.c")
        self.check_copies({"f1": "one", "f2": "other two", "f3": None, "f4": "relative"},
                          "-R", f"/old={self.at('new')}", "-I", self.at("tree"),
                          "-I", self.at("more"))

    def test_a_search_directory_that_does_not_exist(self):
        self.build("/nonexistent/x.c")
        self.scenario.database("-I", "/nonexistent", status=1)
        self.assert_says(self.scenario.stderr, "/nonexistent", "not a directory")


class RunJsonTest(HpcprofCase):
    def test_everything_about_a_process(self):
        module = self.program()
        process = self.scenario.process(
            pid=71, parent_pid=70, start_time=123, exec_sequence=2, origin=1, host="höst",
            executable="/usr/bin/xz", arguments=["xz", "-9", 'a "b"'], rank=-1,
            clock=(0, 10**9, 2 * 10**6), end=(11_020_000_000, 9_982_000_000, mw.SIGNAL, 15))
        process.metric("work", process.event("CPUTIME", flags=5, why="perf_event_open is refused"))
        process.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
        process.workers.append((0, [(5, 2, 2), (9, 4, 3), (10, 1, 1)]))
        thread = process.thread(name="xz \x01", first=(10**9, 10**6),
                                last=(11 * 10**9, 501 * 10**6))
        instance = self.scenario.load(process, module)
        self.scenario.sample(process, thread, [(instance, 0x1000)], 0, mw.seconds(2))
        for code, count, amount in ((mw.FIRED, 10, 7), (mw.RECORDED, 5, 4), (mw.IDLE, 2, 1),
                                    (mw.NOBODY_WORKING, 1, 1), (mw.IN_OWN_CODE, 2, 1),
                                    (mw.NO_UNWIND_INFORMATION, 3, 2), (200, 1, 0)):
            thread.fate(0, mw.CPU_TIMER, code, count, mw.seconds(amount))
        self.scenario.database()
        run = self.run_json()
        self.assertEqual((run["format"], run["version"], run["title"]),
                         ("hpctoolkit-run", 2, "xz"))
        self.assertEqual(run["measurements"], [self.scenario.measurements])
        self.assertEqual(run["events"], [{"name": "CPUTIME", "unit": "s", "period": 0.005,
                                          "by_default": True}])
        self.assertEqual(run["agents"], [{"name": "minicilk", "version": "1",
                                          "rules": "minicilk.rules", "rules_version": "7"}])
        self.assertEqual(run["metrics"][0], {"name": "work", "event": "CPUTIME", "unit": "s",
                                             "state": "measured"})
        self.assertEqual([(m["name"], m["state"]) for m in run["metrics"][1:]],
                         [("overhead", "lower bound"), ("idleness", "not measurable"),
                          ("incomplete", "not measurable"), ("waiting", "not measurable")])
        self.assertEqual(run["problems"], [])
        found, = run["processes"]
        threads, = found.pop("threads")
        self.assertEqual(found, {
            "index": 0, "host": "höst", "pid": 71, "parent_pid": 70, "exec_sequence": 2,
            "rank": None, "origin": "exec", "command": 'xz -9 a "b"', "executable": "/usr/bin/xz", "program": "xz",
            "file": "höst-71-123-2.hpcrun", "state": "signal", "signal": 15, "complete": True,
            "data_until": None, "missing_at_most": None, "recovered": 0, "write_error": None,
            "workers": 3, "cpus": 4, "time_line_begin": None, "clock_error": None, "wall": 10.02, "cpu": 9.98, "startup_cpu": 0.002,
            "unsampled_cpu": 9.48, "ready": None, "quota": None, "throttled": None, "samples": 10,
            "recorded": 5, "idle": 2, "nobody_working": 1,
            "dropped": {"in hpcrun's own code": 2}, "partial": {"no unwind information": 3}})
        events, = threads.pop("events")
        self.assertEqual(threads, {"index": 0, "tid": 71, "name": "xz \x01", "kind": "initial",
                                   "profile": 1, "begin": 0, "wall": 10.0, "cpu": 0.5, "ready": None, "timeslices": None, "ended": True,
                                   "start_routine": None, "root": "main thread", "created_at": None})
        self.assertEqual(events, {
            "event": "CPUTIME", "source": "POSIX timers", "note": "perf_event_open is refused",
            "samples": 10, "rate": 20.0,
            "fates": {"fired": {"count": 10, "amount": 7.0},
                      "recorded": {"count": 5, "amount": 4.0},
                      "idle thread": {"count": 2, "amount": 1.0},
                      "nobody working": {"count": 1, "amount": 1.0},
                      "dropped: in hpcrun's own code": {"count": 2, "amount": 1.0},
                      "partial: no unwind information": {"count": 3, "amount": 2.0},
                      "code 200": {"count": 1, "amount": 0.0}}})

    def test_commands_of_processes_with_a_title(self):
        """The rest of the arguments is blanks, as of redis-server, or NULs."""
        for arguments, command in ((["redis-server *:6379     "], "redis-server *:6379"),
                                   (["postgres: main", "", "", ""], "postgres: main"), (["a b", "c"], "a b c"),
                                   (["", ""], "")):
            with self.subTest(arguments=arguments):
                self.setUp()
                self.process(executable="/bin/app", arguments=arguments)
                self.scenario.database()
                self.assertEqual(self.run_json()["processes"][0]["command"], command)

    def test_clocks(self):
        """An event of the wall clock has its rate by that clock. A process lives until its last thread was seen."""
        process = self.process(self.program(), end=(5 * 10**9, 9 * 10**9, mw.EXIT, 0))
        real = process.event("REALTIME", flags=mw.TIME | mw.WALL_CLOCK)
        thread, = process.threads  # from 1 to 11 s of the wall clock, with 9 s of CPU time
        thread.fate(0, mw.CPU_TIMER, mw.FIRED, 18)
        thread.fate(real, mw.MONOTONIC_TIMER, mw.FIRED, 20)
        process.thread(tid=72, last=(12 * 10**9, 10**9))
        process.thread(tid=73, last=(11 * 10**9, 10**9))
        self.scenario.database()
        found, = self.run_json()["processes"]
        self.assertEqual(found["wall"], 11)
        self.assertEqual([event["rate"] for event in found["threads"][0]["events"]], [2, 2])

    def test_time_without_a_cpu(self):
        """Of each thread; of the process if it is known for all of them, with the quota."""
        process = self.process(self.program(), end=(11 * 10**9, 9 * 10**9, mw.EXIT, 0, 500, 1 + 7 * 10**9))
        first, = process.threads
        first.ready, first.timeslices = 250_000_000, 7
        second = process.thread(tid=72, last=(11 * 10**9, 10**9))
        for ready in (None, 0, 10**9):
            second.ready = ready
            shutil.rmtree(self.scenario.at("db"), ignore_errors=True)
            self.scenario.database()
            found, = self.run_json()["processes"]
            known = ready is not None
            self.assertEqual([thread["ready"] for thread in found["threads"]],
                             [0.25, ready / 10**9 if known else None])
            self.assertEqual([thread["timeslices"] for thread in found["threads"]], [7, 0 if known else None])
            self.assertEqual((found["ready"], found["quota"], found["throttled"]),
                             (0.25 + ready / 10**9 if known else None, 0.5, 7))

    def test_the_metric_ready_needs_an_account(self):
        """Without one its time is in `off CPU`."""
        process = self.process(self.program())
        real = process.event("REALTIME", flags=mw.TIME | mw.WALL_CLOCK)
        process.metric("off CPU", real)
        ready = process.metric("ready", real)
        process.threads[0].add(1, ready, mw.seconds(4))
        for known in (False, True):
            process.threads[0].ready = 4 * 10**9 if known else None
            shutil.rmtree(self.scenario.at("db"), ignore_errors=True)
            db = self.scenario.database()
            described, = (m for m in self.run_json()["metrics"] if m["name"].startswith("ready"))
            self.assertEqual((described["state"], "off CPU contains" in described.get("why", "")),
                             ("measured", False) if known else ("not measurable", True))
            self.assertEqual(any(m.name.startswith("ready") for m in db.metrics), known)

    def test_idleness_is_measured_where_workers_were_counted(self):
        process = self.process(self.program())
        process.metric("idleness", 0)
        db = self.scenario.database()
        states = {m["name"]: m["state"] for m in self.run_json()["metrics"]}
        self.assertEqual(states, {"work": "measured", "idleness": "not measurable",
                                  "incomplete": "not measurable", "overhead": "not measurable",
                                  "waiting": "not measurable"})
        self.assertEqual([m.name for m in db.metrics], ["work"])

    def test_idleness_and_overhead_that_were_measured(self):
        process = self.process(self.program())
        process.metric("idleness", 0)
        process.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
        process.workers.append((0, [(5, 2, 2)]))
        process.threads[0].add(1, 1, mw.seconds(4))
        db = self.scenario.database()
        states = {m["name"]: m["state"] for m in self.run_json()["metrics"]}
        self.assertEqual(states, {"work": "measured", "idleness": "measured",
                                  "incomplete": "not measurable", "overhead": "lower bound",
                                  "waiting": "not measurable"})
        self.assertEqual([m.name for m in db.metrics], ["work", "idleness", "overhead"])
        self.assertEqual(db.profiles[0].values[0][db.metric("idleness", "execution")], 4)

    def incomplete_of_workers(self, n):
        """The database of a run with 4 s of incomplete time and `workers` workers, and its state in run.json."""
        process = self.process(self.program())
        incomplete = process.metric("incomplete", 0)
        process.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
        process.workers.append((0, [(5, n, n)]))
        process.threads[0].add(1, incomplete, mw.seconds(4))
        db = self.scenario.database()
        return db, next(m for m in self.run_json()["metrics"] if m["name"] == "incomplete")

    def test_incomplete_time_of_two_workers(self):
        db, described = self.incomplete_of_workers(2)
        self.assertEqual(described, {"name": "incomplete", "event": "CPUTIME", "unit": "s",
                                     "state": "measured"})
        self.assertEqual(db.profiles[0].values[0][db.metric("incomplete", "execution")], 4)

    def test_incomplete_time_of_one_worker_is_no_measurement(self):
        db, described = self.incomplete_of_workers(1)
        self.assertEqual(described["state"], "not measurable")
        self.assertIn("one worker", described["why"])
        self.assertNotIn("incomplete", [m.name for m in db.metrics])

    def test_waiting_without_an_agent_for_threads(self):
        """A worker of another runtime waited in a call of libc: that time is in no other metric."""
        process = self.process(self.program())
        waiting = process.metric("waiting", 0)
        process.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
        process.workers.append((0, [(5, 2, 2)]))
        process.threads[0].add(1, waiting, mw.seconds(4))
        db = self.scenario.database()
        self.assertEqual(db.profiles[0].values[0][db.metric("waiting", "execution")], 4)
        self.assertIn(("waiting", "measured"), [(m["name"], m["state"]) for m in self.run_json()["metrics"]])

    def test_quality_of_structure(self):
        symbols = Structure(F(None, P("f", 0, [(0x1000, 0x3000)], S(0, (0x1000, 0x3000)))))
        self.process(self.scenario.binary("bare", "0b", symbols))
        self.scenario.database()
        module, = self.run_json()["modules"]
        self.assertEqual((module["build_id"], module["structure"], module["why"]),
                         ("0b", "symbols", ""))


class ProcessesTest(HpcprofCase):
    """Many processes and threads: each occurs once, in order."""

    def ids(self, db):
        return [tuple((i.kind, i.logical, i.physical) for i in p.ids) for p in db.profiles[1:]]

    def test_a_fork_tree_and_an_exec_chain(self):
        module = self.program()
        for i in range(40):  # shuffled
            pid = 100 + i * 7 % 40
            self.process(module, pid=pid, parent_pid=100, start_time=5000 + pid // 3,
                         origin=2 if pid > 100 else 0)
        for sequence in (2, 0, 1):
            self.process(module, pid=5, start_time=1, exec_sequence=sequence, origin=1,
                         end=(2 * 10**9, 10**9, mw.EXEC if sequence < 2 else mw.EXIT, 0))
        db = self.scenario.database()
        check_database(self, self.scenario, db, WORK)
        expected = [(5, 0), (5, 1), (5, 2)] + [(pid, 0) for pid in range(100, 140)]
        self.assertEqual(self.ids(db), [
            (("NODE", 0, 0x70f0), ("PROCESS", i, pid), ("THREAD", 0, 0))
            for i, (pid, _) in enumerate(expected)])
        run = self.run_json()
        self.assertEqual([(p["pid"], p["exec_sequence"]) for p in run["processes"]], expected)
        self.assertEqual([p["state"] for p in run["processes"][:3]], ["exec", "exec", "exit"])

    def test_ranks_and_hosts(self):
        module = self.program()
        for rank in (3, 1, 0, 2):
            self.process(module, pid=50 + rank, start_time=9 - rank, rank=rank,
                         host=f"n{rank % 2}", host_id=10 + rank % 2)
        db = self.scenario.database()
        check_database(self, self.scenario, db, WORK)
        self.assertEqual(self.ids(db), [
            (("NODE", node, 10 + node), ("RANK", rank, rank), ("PROCESS", i, 50 + rank),
             ("THREAD", 0, 0))
            for i, (node, rank) in enumerate(((0, 0), (0, 2), (1, 1), (1, 3)))])

    def test_hosts_of_one_id(self):
        """gethostid is the same on many hosts if nobody has set it."""
        module = self.program()
        for host in ("b", "a", "c"):
            self.process(module, host=host)
        db = self.scenario.database()
        check_database(self, self.scenario, db, WORK)
        self.assertEqual([ids[0] for ids in self.ids(db)],
                         [("NODE", node, 0x70f0) for node in range(3)])
        run = self.run_json()
        self.assertEqual([p["host"] for p in run["processes"]], ["a", "b", "c"])

    def test_images_that_only_their_clock_tells_apart(self):
        """Two runs in containers have the same host name, pid and, without a time namespace, start time."""
        for name, began in (("one", 10**18), ("two", 10**18 + 5)):
            process = self.process(self.program(), clock=(began, 10**9, 10**7))
            process.write(self.at(name))
        self.scenario.run("-o", "db", directories=["two", "one"])
        check_database(self, self.scenario, read_database(self.at("db")), WORK)
        run = self.run_json()
        self.assertEqual(len(run["processes"]), 2)

    def test_threads_with_and_without_samples(self):
        process = self.process(self.program())
        for i in range(1, 300):
            thread = process.thread(name=f"t{i}")
            if i % 3:
                self.scenario.sample(process, thread, [(2, 0x1000 + i % 20)], 0, i)
        db = self.scenario.database()
        check_database(self, self.scenario, db, WORK)
        self.assertEqual([ids[-1] for ids in self.ids(db)],
                         [("THREAD", i, i) for i in range(300)])
        run = self.run_json()
        self.assertEqual([(t["name"], t["profile"]) for t in run["processes"][0]["threads"][1:]],
                         [(f"t{i}", i + 1) for i in range(1, 300)])


class SameBytesTest(HpcprofCase):
    def write_files_in_other_order(self, reverse):
        """Makes the measurement files anew, so that the directory lists them in another order."""
        old = self.at("old")
        os.rename(self.scenario.measurements, old)
        os.mkdir(self.scenario.measurements, 0o700)
        for name in sorted(os.listdir(old), reverse=reverse):
            os.rename(os.path.join(old, name), os.path.join(self.scenario.measurements, name))
        os.rmdir(old)

    def test_the_same_input_gives_the_same_bytes(self):
        """The same bytes for every -j, every order of files and every locale."""
        structure = Structure(F(self.at("program"), *(
            P(f"f{i}", i, [(0x1000 * i, 0x1000 * i + 64)], S(2 * i, (0x1000 * i, 0x1000 * i + 16)),
              L(i, S(2 * i + 1, (0x1000 * i + 16, 0x1000 * i + 32)))) for i in range(1, 60))))
        module = self.scenario.binary("program", "abcd01", structure)
        for pid in range(8):
            process = self.process(pid=pid, start_time=pid)
            instance = self.scenario.load(process, module)
            for _ in range(6):
                thread = process.thread()
                for i in range(60):
                    notes = [(instance, 0x1000 * (1 + (i * k + pid) % 59) + 16 * (i % 2))
                             for k in range(1, 6)]
                    self.scenario.sample(process, thread, notes, 0, 1 + i * pid)
                self.scenario.sample(process, thread, [(instance, 0x1000)], 0, 1)
            thread.node(0, (instance, 0x1000))  # the projections differ
        self.scenario.write()
        for i, workers in enumerate((1, 2, 8, 8)):
            self.write_files_in_other_order(reverse=i % 2 == 1)
            with unittest.mock.patch.dict(os.environ, LC_ALL=("C", "C.UTF-8", "tr_TR.UTF-8", "")[i]):
                self.scenario.run("-j", str(workers), "-o", f"db{i}")
                self.scenario.run("-j", str(workers), "-M", "min,mean,max,stddev",
                                  "--collapse-recursion", "-o", f"small{i}")
            for name in ("db", "small"):
                self.assertEqual(differences(self.at(f"{name}0"), self.at(f"{name}{i}")), [])
        check_database(self, self.scenario, read_database(self.at("db0")), WORK)

    def test_equal_projections_share_their_values(self):
        self.process(self.program())
        self.scenario.database()
        for name in ("meta.db", "profile.db", "cct.db"):
            self.assertTrue(os.path.samefile(self.at("db/" + name), self.at("db/physical/" + name)))
        check_database(self, self.scenario, read_database(self.at("db/physical")), WORK,
                       "physical")


class TextsTest(HpcprofCase):
    def title(self, *images):
        """The title of a run of these images: (executable, origin, pid, exec sequence)."""
        for executable, origin, pid, sequence in images:
            self.process(executable=executable, origin=origin, pid=pid, exec_sequence=sequence,
                         start_time=pid)
        return self.scenario.database().title

    LAUNCHED, EXEC, FORK, OTHER = range(4)

    def test_title_of_what_the_launched_process_became(self):
        self.assertEqual(self.title(("/bin/a_forked", self.FORK, 9, 0),
                                    ("/usr/bin/env", self.LAUNCHED, 7, 0),
                                    ("/bin/sh", self.EXEC, 7, 1), ("/bin/xz", self.EXEC, 7, 2),
                                    ("/bin/b_execed", self.EXEC, 9, 1)), "xz")

    def test_title_without_the_launched_process(self):
        self.assertEqual(self.title(("/bin/first", self.FORK, 8, 0),
                                    ("/bin/second", self.OTHER, 9, 0)), "first")

    def test_title_is_the_name_that_was_called(self):
        """As of a file with several names; a path, a login shell, and processes whose first argument tells nothing."""
        for executable, first, title in (("/usr/bin/redis-check-rdb", "redis-server", "redis-server"),
                                         ("/usr/bin/python3.11", "/usr/bin/python3", "python3"),
                                         ("/usr/bin/dash", "-sh", "sh"), ("/usr/bin/dash", "-", "dash"),
                                         ("/bin/ls", "", "ls"), ("/bin/ls", "folder/", "ls"), ("", "", "unknown program"),
                                         ("", "./lost", "lost")):
            with self.subTest(executable=executable, first=first):
                self.setUp()
                self.process(executable=executable, arguments=[first])
                self.assertEqual(self.scenario.database().title, title)

    def test_title_of_an_interpreter(self):
        """Workers of multiprocessing; a script; code with arguments; a folder or an archive, an argument of a script."""
        fork_server = "from multiprocessing.forkserver import main; main(3)"
        for arguments, title in ((["-c", fork_server], "multiprocessing.forkserver"),
                                 (["-c", f"import sys; {fork_server}", "m.py"], "multiprocessing.forkserver"),
                                 (["-X", "utf8", "m.py"], "m.py"), (["-c", "import m", "m.py"], "python3"),
                                 (["apps/app"], "app"), (["__main__.py"], "__main__.py"), (["p", "m.py"], "m.py")):
            with self.subTest(arguments=arguments):
                self.setUp()
                process = self.process(executable="/usr/bin/python3", arguments=["python3", *arguments])
                process.names([(1, "f", "/home/m.py", 1), (2, "g", "apps/app/__main__.py", 1)])
                self.assertEqual(self.scenario.database().title, title)

    def test_the_taxonomy_of_metrics(self):
        process = self.scenario.process()
        for name, flags in (("CPUTIME", 1), ("REAL \"TIME\"\n", 3)):
            process.metric("work", process.event(name, flags=flags))
        process.thread()
        db = self.scenario.database()
        text = pathlib.Path(self.at("db/metrics/default.yaml")).read_text()
        self.assertEqual([m.name for m in db.metrics],
                         ["work (CPUTIME)", "work (REAL \"TIME\"\n)"])
        self.assertIn('metric: "work (REAL \\"TIME\\"\\x0a)"', text)
        for scope, number in (("execution", 2), ("lex_aware", 2), ("function", 2)):
            self.assertEqual(text.count(f"    scope: {scope}\n"), number)
        for anchor in ("metric-0-execution", "metric-1-function", "metric-1-lex_aware"):
            self.assertEqual((text.count("&" + anchor + "\n"), text.count("*" + anchor + "\n")),
                             (1, 1))

    def test_title_description_and_formats(self):
        self.process(self.program(), executable="/usr/bin/xz")
        db = self.scenario.database()
        self.assertEqual(db.title, "xz")
        self.assertIn("/usr/bin/xz", db.description)
        formats = pathlib.Path(self.at("db/FORMATS.md")).read_text()
        for name in ("meta.db", "profile.db", "cct.db", "run.json", "physical"):
            self.assertIn(name, formats)
