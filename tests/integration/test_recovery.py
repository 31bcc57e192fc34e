"""Nothing is lost with the process: what its arena file has after kill -9, or an end by a bare system call.

The program notes the CPU time of its threads in a ledger that outlives it. A measurement may differ from the
ledger by one sample of each thread, at both ends: the first sample stands for a whole number of periods, so for up
to one period too much; after the last one, the thread has run for at most 1.5 periods, the longest, until the next
one is due, and again as long if the kill interrupted that sample. Only a machine that takes the CPU away without
stopping the thread's clock makes a sample later than that, or the ledger's entry: that happens to less than one thread
in a hundred, and to none for as long as the 1.4 s between two looks at the clock."""
import errno
import json
import os
import random
import subprocess
import time

import profiling
from evidence import OfChance
from profiling import FIRED, RECORDED, program

SYS_FALLOCATE = 285  # x86-64
KILLS = int(os.environ.get("RECOVERY_KILLS", 20))


class RecoveryTest(profiling.ProfilingTest):
    RATE = 200
    PERIOD = 1 / RATE
    NOTES = 0.001  # seconds between two entries of the ledger, and from the process's begin to main

    def ledger(self):
        """tid -> seconds that the thread had noted when the process ended."""
        return {tid: burned for _, tid, burned, _ in profiling.read_ledger(self.directory / "ledger")}

    def start(self, where, *how, options=(), inside=()):
        """Below the command `inside`, if there is one."""
        (self.directory / "ledger").unlink(missing_ok=True)
        command = [*inside, profiling.HPCRUN, "-q", "-e", f"CPUTIME@f{self.RATE}", "-o", where, *options,
                   program("endless"), "ledger", *how]
        return subprocess.Popen(command, cwd=self.directory)

    def need_arenas(self, where):
        """Skips the test where arena files can't be made, such as on 9p. What hpcrun does not try is no reason."""
        log = where / "hpcrun.log"
        for line in log.read_text().splitlines() if log.exists() else []:
            if "no arena file" in line and not any(os.strerror(e) in line for e in (errno.EPERM, errno.EOPNOTSUPP)):
                self.skipTest(line.split(": ", 1)[1])

    def wait_for_arenas(self, process, where):
        """The path of the arena file, which a process makes at its first sample."""
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while not list(where.glob("*.arenas")):
            self.assertIsNone(process.poll())
            self.need_arenas(where)
            time.sleep(0.001)
        return list(where.glob("*.arenas"))[0]

    def kill(self, process, where, seconds):
        """Kills it some time after the first sample."""
        self.wait_for_arenas(process, where)
        time.sleep(seconds)
        process.kill()
        process.wait()

    def recovered(self, where):
        """The image that was recovered, which must be sound."""
        self.need_arenas(where)
        image, = profiling.read_measurements(where)
        self.assertEqual((image.state, image.problems), (profiling.RUNNING, []))
        self.check_fates([image])
        profiling.check_sums(image)
        return image

    def differences(self, image):
        """Seconds that the ledger has more than the measurement, per thread."""
        threads = {thread.tid: thread for thread in image.threads}
        for tid, burned in self.ledger().items():
            paid = threads[tid].amount("CPUTIME", [RECORDED]) * profiling.TIME_UNIT if tid in threads else 0
            yield burned - paid

    def claim_differences(self, found, image):
        """All entries of the ledger but one in a hundred. Without its last second, the data of most threads are off."""
        differences = list(self.differences(image))
        self.assertTrue(all(abs(d) < 0.5 for d in differences), differences)
        off = [d for d in differences
               if not -self.PERIOD - self.NOTES < d <= 2 * 1.5 * self.PERIOD + self.NOTES]
        found.rate("threads that differ from the ledger", len(off), len(differences), most=0.01, noticed=(0, 0.4))
        return len(differences)


class Recovery(OfChance, RecoveryTest):
    def test_kills(self):
        """At random moments, with three threads that grow their trees; the first one also creates others."""
        found = self.evidence(limit=3 * max(KILLS, 20))
        for look in found.looks():
            where = self.directory / f"m{look}"
            self.kill(self.start(where, "3"), where, random.uniform(0, 0.4))
            found.enough("threads", self.claim_differences(found, self.recovered(where)), 2 * KILLS)

    def test_kills_after_looks(self):
        """A thread looks at the clock every second or two; what it keeps at each sample must not wait for that."""
        found = self.evidence()
        for look in found.looks():
            where = self.directory / f"m{look}"
            self.kill(self.start(where, "40"), where, 2)
            self.claim_differences(found, self.recovered(where))

    def test_bare_exit(self):
        found = self.evidence()
        for look in found.looks():
            where = self.directory / f"m{look}"
            self.assertEqual(self.start(where, "12", "500").wait(), 3)
            self.claim_differences(found, self.recovered(where))

    def check_inside(self, *command):
        found = self.evidence()
        for look in found.looks():
            where = self.directory / f"m{look}"
            self.start(where, "12", "400", inside=command).wait()
            self.claim_differences(found, self.recovered(where))

    def test_in_a_container(self):
        """Its filter of system calls answers those that are forbidden with an error."""
        self.check_inside(profiling.TOOLS / "deny-perf")

    def test_a_file_system_that_does_not_allocate_blocks(self):
        """As ext2, NFS before 4.2 and most of FUSE."""
        self.check_inside(profiling.TOOLS / "deny-perf", "-n", str(SYS_FALLOCATE))


class Reports(RecoveryTest):
    def test_hpcprof_says_so(self):
        """One note, and the process's entry in run.json and in the summary."""
        where = self.directory / "m"
        self.start(where, "3", "300").wait()
        self.need_arenas(where)
        done = self.run_tool(profiling.BUILD / "bin" / "hpcprof", "-o", "db", where)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^hpcprof: recovered the data of \d+ threads in 1 process ")
        process, = json.loads((self.directory / "db" / "run.json").read_text())["processes"]
        self.assertEqual(process["recovered"], sum(not thread["ended"] for thread in process["threads"]))
        self.assertEqual(process["missing_at_most"], 0)
        self.assertGreater(process["data_until"], 0)
        summary = self.run_tool(profiling.BUILD / "bin" / "hpcviewer", "--print", "summary", "db").stdout
        self.assertIn(f"recovered until {process['data_until']:.1f} s", summary)

    def test_nothing_is_left_of_a_process_that_ends(self):
        done, images = self.measure(program("ends"), "exit", "50", status=3)
        self.assertGreater(images[0].count("CPUTIME", [FIRED]), 0)
        self.assertEqual(list(self.measurements.glob("*.arenas")), [])

    def test_children_of_a_fork(self):
        """Each process has its own data only, whoever is killed."""
        script = ("import os, signal, time\n"
                  "def work(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"
                  "work(0.1)\npids = []\n"
                  "for i in range(3):\n    pid = os.fork()\n"
                  "    if pid == 0:\n        work(0.2); os.kill(os.getpid(), signal.SIGKILL)\n    pids.append(pid)\n"
                  "work(0.1)\nfor pid in pids: os.waitpid(pid, 0)\n"
                  "os.kill(os.getpid(), signal.SIGKILL)\n")
        _, images = self.measure("/usr/bin/python3", "-c", script, status=-9)
        self.need_arenas(self.measurements)
        images = [image for image in images if image.state == profiling.RUNNING]
        self.check_fates(images)
        seconds = sorted(image.seconds("CPUTIME", [RECORDED]) for image in images)
        self.assertEqual(len(seconds), 4)
        for s in seconds[:-1]:
            self.assertGreater(s, 0.15)

    def test_generations_of_forks_keep_no_descriptors(self):
        """Each process has an arena file; none has that of the process before it open, too."""
        script = ("import os, time\n"
                  "def work():\n    end = time.process_time() + 0.1\n    while time.process_time() < end: pass\n"
                  "    return len(os.listdir('/proc/self/fd'))\n"
                  "first = work()\n"
                  "for i in range(5):\n    pid = os.fork()\n"
                  "    if pid: os._exit(os.waitpid(pid, 0)[1] != 0)\n"
                  "    last = work()\n"
                  "print(first, last, flush=True)\nos._exit(0)\n")
        done, images = self.measure("/usr/bin/python3", "-c", script)
        self.assertEqual(len(images), 6)
        first, last = map(int, done.stdout.split())
        self.assertLessEqual(last, first)

    def test_a_cut_file_kills_nobody(self):
        """Somebody else cuts the arena file while the process uses it."""
        where = self.directory / "m"
        process = self.start(where, "2")
        path = self.wait_for_arenas(process, where)
        time.sleep(0.1)
        os.truncate(path, 0)
        before = sum(self.ledger().values())
        while sum(self.ledger().values()) < before + 0.2:
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()


class WithoutArenas(RecoveryTest):
    """Where a process can't have an arena file, threads flush every ten seconds, and the log says so."""

    def run_without(self, where, **how):
        """What the log says."""
        self.assertEqual(self.start(where, "1", "400", **how).wait(), 3)
        self.assertEqual(list(where.glob("*.arenas")), [])
        return (where / "hpcrun.log").read_text()

    def test_a_nearly_full_disk(self):
        small = self.small_file_system("8m")
        self.assertIn("no arena file: No space left on device", self.run_without(small / "m"))

    def test_a_filter_that_ends_processes(self):
        """An arena file's blocks are allocated by a call that ends the process: hpcrun tries that in a child."""
        inside = [profiling.TOOLS / "deny-perf", "-k", str(SYS_FALLOCATE)]
        self.assertIn("no arena file: Operation not permitted", self.run_without(self.directory / "m", inside=inside))

    def test_a_filter_of_the_program(self):
        """A program in a container that adds a filter of its own before an exec."""
        tool = profiling.TOOLS / "deny-perf"
        where = self.directory / "m"
        done = self.run_tool(tool, profiling.HPCRUN, "-q", "-o", where, tool, "-k", SYS_FALLOCATE, "sh", "-c",
                             "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo fine")
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr)
        self.assertIn("no arena file: Operation not permitted", (where / "hpcrun.log").read_text())
