"""How hpcprof tells the ends of processes that could not write them, and processes without a file: from made-up
measurements and lists of processes (doc/FORMAT-hpcrun.md, section 9)."""
import errno
import json
import os
import pathlib

import viewer
from hpcprof_case import HpcprofCase

SECOND = 10**9
RUNNING, EXIT, EXEC = 0, 1, 3
BEGAN = 100 * SECOND  # CLOCK_MONOTONIC of every process


class Ends(HpcprofCase):
    def setUp(self):
        super().setUp()
        self.lines = []
        self.host = "host"

    def process_until(self, pid, *last, ended=(), state=RUNNING, **fields):
        """A process whose threads have data until these seconds of its life; some of them have ended."""
        end = BEGAN + max((at for i, at in enumerate(last) if i not in ended), default=0) * SECOND
        process = self.process(pid=pid, start_time=pid, clock=(0, BEGAN, 0), end=(end, 0, state, 0), **fields)
        for i, seconds in enumerate(last):
            process.thread(first=(BEGAN, 0), last=(BEGAN + round(seconds * SECOND), 0), ended=i in ended)
        return process

    def begin(self, pid, parent=1, origin=2, path="/bin/app", start=None):
        self.lines.append(f"begin 0 {pid} {start or pid} {parent} {origin} {BEGAN} {path}")

    def end(self, pid, seconds, state=EXIT, cpu=0.0, loss=(0, 0)):
        self.lines.append(f"end {pid} {pid} {state} 0 {BEGAN + round(seconds * SECOND)} {loss[0]} {loss[1]} "
                          f"{round(cpu * SECOND)} 0")

    def waited(self, pid, seconds, signal=0, cpu=0.0, parent=1):
        self.lines.append(f"waited {pid} {signal} {BEGAN + round(seconds * SECOND)} {round(cpu * SECOND)} {parent}")

    def run_json(self, status=0):
        self.scenario.write()
        pathlib.Path(self.scenario.measurements, f"{self.host}.processes").write_text("".join(line + "\n" for line in self.lines))
        self.said = self.scenario.run("-o", self.at("db"), status=status).stderr
        return json.loads(pathlib.Path(self.at("db"), "run.json").read_text())

    def ends(self):
        """{pid: (state, data until, missing at most)}"""
        return {p["pid"]: (p["state"], p["data_until"], p["missing_at_most"]) for p in self.run_json()["processes"]}

    def test_a_killed_process_lacks_what_came_after_the_oldest_write_of_a_thread(self):
        """Threads write one by one: the one that wrote first lacks most. One that has ended lacks nothing."""
        self.process_until(71, 8, 4, 6, 1, 9, ended=(3, 4))
        self.begin(71)
        self.waited(71, 10, signal=9)
        self.assertEqual(self.ends(), {71: ("killed", 9, 6)})

    def test_no_thread_lacks_more_than_it_collects_between_two_writes(self):
        self.process_until(71, 8, 90)
        self.begin(71)
        self.waited(71, 100, signal=9)
        self.process_until(72, 8)  # when it ended is not known
        self.begin(72)
        self.assertEqual(self.ends(), {71: ("killed", 90, 15), 72: ("unknown", 8, 15)})

    def test_a_process_that_runs_on(self):
        """This one; not an earlier one with its number, nor one of another machine. One that has ended with an exec may go on
        as a program that loads libhpcrun.so any moment."""
        own, start = os.getpid(), int(pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
        for host, since, state in ((os.uname().nodename, start, "running"), (os.uname().nodename, start + 1, "unknown"),
                                   (os.uname().nodename + "x", start, "unknown")):
            self.setUp()
            self.host = host
            process = self.process(pid=own, start_time=since, clock=(0, BEGAN, 0), end=(BEGAN + 8 * SECOND, 0, RUNNING, 0))
            process.thread(first=(BEGAN, 0), last=(BEGAN + 8 * SECOND, 0))
            self.begin(own, start=since)
            self.assertEqual(self.ends(), {own: (state, 8, 15)})
            self.assertEqual("measured in part: 1 still running (app" in self.said, state == "running", self.said)
        self.setUp()
        self.host = os.uname().nodename
        self.process_until(71, 8)
        self.begin(own, start=start)
        self.lines.append(f"end {own} {start} {EXEC} 0 {BEGAN + SECOND} 0 0 0 0")
        self.run_json()
        self.assertIn("still running: nothing is written yet", self.said)

    def test_one_that_could_not_write_lacks_everything_since(self):
        """Its own account is better than the interval of its writes."""
        self.process_until(71, 8, 90)
        self.begin(71)
        self.end(71, 100, loss=(1, errno.ENOSPC))
        self.process_until(72)  # it wrote what it is, and no thread
        self.begin(72)
        self.end(72, 50, loss=(2, errno.EFBIG))
        run = self.run_json()
        self.assertEqual([(p["state"], p["data_until"], p["missing_at_most"], p["write_error"]) for p in run["processes"]],
                         [("exit", 90, 92, "No space left on device"), ("exit", 0, 50, "File too large")])
        self.assertEqual(run["problems"], [
            "host-71-71-0.hpcrun: No space left on device: data until 90.0 s of its life; the last 92.0 s are missing",
            "host-72-72-0.hpcrun: File too large: data until 0.0 s of its life; the last 50.0 s are missing"])
        text = viewer.printed("summary", self.at("db"))
        self.assertIn("[exit; not all could be written: File too large: data until 0.0 s, at most the last 50.0 s are missing]",
                      text)

    def test_a_part_that_could_not_be_written_though_the_end_was(self):
        self.process_until(71, 8, ended=(0,), state=EXIT)
        self.begin(71)
        self.end(71, 10, loss=(1, errno.ENOSPC))
        run = self.run_json()
        self.assertEqual((run["processes"][0]["state"], run["processes"][0]["missing_at_most"]), ("exit", None))
        self.assertEqual(run["problems"],
                         ["host-71-71-0.hpcrun: No space left on device: a part of its data could not be written"])

    def test_other_ends(self):
        for pid in (72, 73):
            self.process_until(pid, 5)
            self.begin(pid)
        self.end(72, 5.5, state=RUNNING)  # withdrawn
        self.waited(73, 6)
        self.assertEqual(self.ends(), {72: ("withdrawn", 5, 0), 73: ("bare system call", 5, 1)})

    def test_files_that_were_cut(self):
        """The list says that the whole of the process's data was written, and how it ended."""
        for pid, state in ((71, EXIT), (74, EXEC)):
            self.process_until(pid, 5)
            self.begin(pid)
            self.end(pid, 5.5, state=state, cpu=4)
        run = self.run_json(status=1)
        self.assertEqual([(p["wall"], p["cpu"], p["unsampled_cpu"]) for p in run["processes"]], 2 * [(5.5, 4, 0)])
        self.assertEqual([(p["state"], p["data_until"], p["missing_at_most"]) for p in run["processes"]],
                         [("exit", 5, 0.5), ("exec", 5, 0.5)])
        problems = [f"host-{pid}-{pid}-0.hpcrun: cut: its process has written an end ({state}) that is not in it"
                    for pid, state in ((71, "exit"), (74, "exec"))]
        self.assertEqual(run["problems"], problems)
        for problem in problems:
            self.assertIn(problem, self.said)

    def unmeasured(self):
        return {u["reason"]: (u["count"], u["cpu"], u["programs"]) for u in self.run_json()["unmeasured"]}

    def test_processes_without_a_file(self):
        self.process_until(71, 5, state=EXIT)
        self.begin(71)
        self.end(71, 5)
        for pid, loss in ((72, (2, errno.ENOSPC)), (73, (2, errno.ENOSPC)), (74, (2, errno.EACCES))):
            self.begin(pid)
            self.end(pid, 3, cpu=0.5, loss=loss)
        self.begin(75)
        self.end(75, 3, cpu=0.25)  # somebody has removed its file
        self.begin(76)
        self.waited(76, 3, signal=9, cpu=0.125)
        self.waited(77, 3, cpu=2, parent=71)
        self.lines.append(f"unmeasured 0 78 9 {BEGAN} /bin/sh")
        self.waited(78, 3, cpu=1.5)
        self.assertEqual(self.unmeasured(), {
            "could not be written: No space left on device": (2, 1.0, ["/bin/app"]),
            "could not be written: Permission denied": (1, 0.5, ["/bin/app"]),
            "its measurement file is missing or cannot be read": (1, 0.25, ["/bin/app"]),
            "killed by signal 9 before anything was written": (1, 0.125, ["/bin/app"]),
            "left no record of itself": (1, 2.0, ["/bin/app"]),
            "run by a user who may not write to the measurement directory": (1, 1.5, ["/bin/sh"])})
        text = viewer.printed("summary", self.at("db"))
        self.assertIn("             2  could not be written: No space left on device: /bin/app; 1.000 s CPU time\n", text)

    def test_files_of_children_in_their_parent_s(self):
        """Forks that may not create files; they are processes like others."""
        module = self.program()
        parent, first, second = (self.process(module, pid=pid, start_time=pid, parent_pid=70) for pid in (71, 72, 73))
        parent.children = [first, second]
        self.scenario.write()
        for child in (first, second):
            os.unlink(pathlib.Path(self.scenario.measurements, child.file_name()))
        self.scenario.run("-o", self.at("db"))
        inside = pathlib.Path(self.at("db"), "run.json").read_text()
        self.assertEqual([p["file"] for p in json.loads(inside)["processes"]],
                         [p.file_name() for p in (parent, first, second)])
        parent.children = []
        self.scenario.write()
        self.scenario.run("-o", self.at("apart"))
        self.assertEqual(inside, pathlib.Path(self.at("apart"), "run.json").read_text())
        for name in ("meta.db", "profile.db", "cct.db"):
            self.assertEqual(pathlib.Path(self.at("db"), name).read_bytes(), pathlib.Path(self.at("apart"), name).read_bytes())

    def test_damage_in_a_child(self):
        """It costs the child only."""
        module = self.program()
        parent, child = (self.process(module, pid=pid, start_time=pid) for pid in (71, 72))
        parent.children = [child]
        self.scenario.write()
        os.unlink(pathlib.Path(self.scenario.measurements, child.file_name()))
        path = pathlib.Path(self.scenario.measurements, parent.file_name())
        whole = path.read_bytes()
        first = whole.index(b"HPCRUNMF", 16)
        path.write_bytes(whole[:first] + b"hpcrunmf" + whole[first + 8:])
        done = self.scenario.run("-o", self.at("db"), status=1)
        self.assert_says(done.stderr, parent.file_name(), "damaged")
        run = json.loads(pathlib.Path(self.at("db"), "run.json").read_text())
        self.assertEqual(sorted((p["pid"], len(p["threads"])) for p in run["processes"]), [(71, 1), (72, 1)])
