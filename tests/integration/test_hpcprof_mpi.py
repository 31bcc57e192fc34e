"""hpcprof-mpi: its database has the bytes that hpcprof writes, with any number of ranks; whatever fails leaves nothing
that looks like a database."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import measurement_writer as mw
from hpcprof_case import HpcprofCase, contents, differences
from profiling import HPCRUN
from structure_model import A, F, L, P, S, Structure
from timeline_reader import read_timeline

MPI_BUILD = pathlib.Path(os.environ["BUILD"]).resolve() / "bin" / "hpcprof-mpi"
RULES = "agent any 1.0\nruntime-module librt.so\nconstruct call_body parallel\n"

# Ends rank 1 when it writes to the database.
DEADLY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int MPI_File_write_at(void *file, long long offset, const void *data, int count, void *type, void *status)
{
    int (*next)(void *, long long, const void *, int, void *, void *) = dlsym(RTLD_NEXT, "MPI_File_write_at");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && strcmp(rank, "1") == 0)
        kill(getpid(), SIGKILL);
    return next(file, offset, data, count, type, status);
}
"""


@unittest.skipUnless(MPI_BUILD.exists() and shutil.which("mpirun"), "needs MPI")
class HpcprofMpi(HpcprofCase):
    @classmethod
    def setUpClass(cls):
        version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True)
        if "Open MPI" not in version.stdout:
            raise unittest.SkipTest("mpirun is not Open MPI's")

    def setUp(self):
        super().setUp()
        shutil.copy(MPI_BUILD, self.at("bin/hpcprof-mpi"))
        sessions = tempfile.TemporaryDirectory(dir="/tmp")  # paths of sockets must be short
        self.addCleanup(sessions.cleanup)
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.at("cache"), "TMPDIR": sessions.name,
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
                            "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                            "OMPI_MCA_hwloc_base_binding_policy": "none"}

    def mpi(self, ranks, *arguments, program=None, **environment):
        program = program or self.at("bin/hpcprof-mpi")
        return subprocess.run(["mpirun", "-n", str(ranks), program, "-j", "1", *arguments], cwd=self.scenario.folder,
                              env={**self.environment, **environment}, capture_output=True, text=True,
                              errors="replace", timeout=600, stdin=subprocess.DEVNULL)

    def binaries(self):
        program = Structure(F("/s/a.c", *(
            P(f"f{i}", i, [(0x1000 * i, 0x1000 * i + 64)], S(2 * i, (0x1000 * i, 0x1000 * i + 16)),
              L(i, A(i, "tiny", "/s/t.h", 70, S(71, (0x1000 * i + 16, 0x1000 * i + 32))),
                header=0x1000 * i + 16)) for i in range(1, 12))))
        runtime = Structure(F("/s/rt.c", P("call_body", 5, [(0x1000, 0x1100)], S(6, (0x1000, 0x1010)))))
        return (self.scenario.binary("program", "abcd01", program),
                self.scenario.binary("librt.so", "abcd02", runtime))

    def rich_process(self, pid):
        """All that a rank has to know of the files of others: creations, locks, constructs, names, unknown sites."""
        program, runtime = self.binaries()
        process = self.scenario.process(pid=pid, start_time=100 - pid, rank=pid % 3, host=f"n{pid % 2}",
                                        host_id=pid % 2)
        work = process.metric("work", process.event("CPUTIME"))
        delay = process.metric("lock wait", 0)
        process.agents += [("pthread", "1", 1, "pthread.rules", "1"), ("any", "1.0", 1, "any.rules", "1.0")]
        process.workers.append((0, [(10**9, 4, 4)]))
        table = process.names([(900, f"task {pid}", "/p/a.py", 3)])
        process.code_names = mw.string("5000 100 jit\n")
        main, rt = self.scenario.load(process, program), self.scenario.load(process, runtime)
        creation = 0
        for k in range(3):
            thread = process.thread(creator=(0, creation) if k else None)
            paths = [[(main, 0x1000 * (1 + (i + pid) % 11)), (main, 0x1000 * (1 + i * k % 11) + 16)]
                     for i in range(8)]
            thread.step, thread.lost_marks = 1 << k, pid
            thread.marks = [(10**9 + pid, 1, f"region {pid}"), (10**9 + pid + 5, 2, f"region {pid}")] * (k % 2)
            thread.wake_ups = [(10**9 + 100 * i + pid, 10**9 + 100 * i, 10**9 + 100 * i + pid // 2, (k + 1) % 3) for i in range(1, pid % 7)]
            for i, path in enumerate(paths):
                thread.add(thread.path(path), work, 1000 + i * pid)
                thread.record(10**9 + (pid + 5 * i) * 10**7, mw.WORK, (i % 5) * 10**10, thread.path(path), 4, i % 3)
            creation = creation or thread.path(paths[0])
            thread.add(thread.path([(main, 0x3000), (mw.NO_MODULE, 0x5004)]), work, 50)
            construct = thread.node(0, (rt, 0x1000), ("names", table, 900), 3, mw.ONE_M)
            thread.add(thread.node(construct, (main, 0x1000 * (4 + pid))), work, 70)
            thread.add(thread.node(thread.node(0, (main, 0x2000), (main, 0x2000)), (main, 0x1000), "ip"), work, 60)
            thread.add(thread.path([(main, 0x1000), (main, 0x9000 + 0x100 * pid + k)]), delay, 4000)
            thread.fate(0, mw.CPU_TIMER, mw.FIRED, 8, 9000)
        return process

    def write_rich_run(self):
        os.makedirs(self.at("lib/agents"))
        pathlib.Path(self.at("lib/agents/any.rules")).write_text(RULES)
        for pid in range(5):
            self.rich_process(pid).write(self.at("m"))
        self.process(self.binaries()[0], pid=77).write(self.at("more"))

    def check_same(self, ranks, *arguments):
        """Both write the same, say the same, and end alike."""
        alone = subprocess.run([self.scenario.hpcprof, "-o", "alone", *arguments], cwd=self.scenario.folder,
                               capture_output=True, text=True, timeout=600, env=self.environment)
        self.assertTrue(os.path.exists(self.at("alone/profile.db")))
        for n in ranks:
            done = self.mpi(n, "-o", f"with-{n}", *arguments)
            self.assertEqual(done.stdout, f"with-{n}\n", done.stderr)
            self.assertEqual(done.returncode, alone.returncode, done.stderr)
            self.assertEqual(differences(self.at("alone"), self.at(f"with-{n}")), [], f"{n} ranks")
        return alone, done

    def test_the_same_bytes_with_any_number_of_ranks(self):
        self.write_rich_run()
        alone, _ = self.check_same((1, 2, 4), "m", "more")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertNotEqual(contents(self.at("alone"))["profile.db"],
                            contents(self.at("alone/physical"))["profile.db"])
        self.assertNotEqual(contents(self.at("alone"))["trace.db"], contents(self.at("alone/physical"))["trace.db"])
        self.assertEqual(sum(len(thread.records) for thread in read_timeline(self.at("alone")).threads.values()), 120)
        self.assertTrue(b'"region 3"' in contents(self.at("alone"))["run.json"])
        names = (pathlib.Path(self.at("alone/meta.db"))).read_bytes()
        for name in (b"parallel @ a.c:", b"<lock ", b"task 3", b"jit", b"tiny"):
            self.assertTrue(name in names, name)

    def test_parts_of_structures(self):
        """All ranks know the same procedures of large binaries: those in call paths of any rank."""
        bins = HPCRUN.parent
        where = self.at("real")
        command = ["sh", "-c", f"{bins}/hpcstruct -o - {bins}/hpcrun | xz | cksum; grep -c e {bins}/hpcprof"]
        subprocess.run([HPCRUN, "-e", "CPUTIME@f1000", "-o", where, *command], check=True, capture_output=True)
        results = []
        for ranks in (1, 3):
            done = self.mpi(ranks, "--large", "0", "-o", self.at(f"parts-{ranks}"), where, program=MPI_BUILD)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"\Ahpcprof-mpi: sh\[\d+\], 5 processes: \d+ samples of CPUTIME .* partial paths.*\n\Z")
            results.append(contents(self.at(f"parts-{ranks}")))
        self.assertEqual(*results)
        self.assertEqual(list(pathlib.Path(self.at("cache")).rglob("*.hpcstruct")), [])

    def test_another_order_and_damaged_files(self):
        """Other ranks get other files; one file is cut, one can't be read at all. With statistics over threads."""
        self.write_rich_run()
        files = sorted(pathlib.Path(self.at("m")).iterdir())
        for i, path in enumerate(files):
            path.rename(path.with_name(f"{9 - i}.hpcrun"))
        cut = pathlib.Path(self.at("m/8.hpcrun"))
        cut.write_bytes(cut.read_bytes()[:-100])
        pathlib.Path(self.at("m/7.hpcrun")).write_bytes(b"nothing")
        alone, done = self.check_same((3,), "-M", "mean,min,max,stddev", "more", "m")
        self.assertEqual(alone.returncode, 1)
        lines = [line for line in done.stderr.splitlines() if line.startswith("hpcprof-mpi: ")]
        self.assertEqual([line.replace("hpcprof-mpi: ", "hpcprof: ") for line in lines], alone.stderr.splitlines())

    def check_failure(self, done):
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(self.at("db")), done.stderr)
        for name in self.names():
            if name.startswith("db"):
                self.assertIn(".unfinished-", name)

    def test_a_rank_is_killed(self):
        self.write_rich_run()
        library = self.at("deadly.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-", "-ldl"], input=DEADLY, text=True,
                       check=True)
        done = self.mpi(2, "-o", "db", "m", LD_PRELOAD=library)
        self.check_failure(done)
        self.assertRegex(done.stderr, "(?s)rank 1.*signal 9")

    def test_a_rank_fails(self):
        """It sees other files than the others."""
        self.write_rich_run()
        choice = '[ "$OMPI_COMM_WORLD_RANK" = 0 ] && seen=m || seen=more; exec "$0" -o db $seen'
        done = subprocess.run(["mpirun", "-n", "2", "sh", "-c", choice, self.at("bin/hpcprof-mpi")],
                              cwd=self.scenario.folder, env=self.environment, capture_output=True, text=True,
                              timeout=600, stdin=subprocess.DEVNULL)
        self.check_failure(done)
        self.assertIn("the ranks see different measurement files", done.stderr)
