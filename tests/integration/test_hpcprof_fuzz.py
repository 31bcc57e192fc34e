"""hpcprof with damaged measurements and structure that have valid checksums: one clear line and a
valid database of the rest; never a crash, a hang or excessive memory. FUZZ_ROUNDS is the number of damaged inputs
(default 40)."""
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import zlib

import measurement_writer as mw
from hpcprof_case import HpcprofCase
from hpcprof_scenario import hpcprof_path
from structure_model import A, F, L, P, S, Structure
from timeline_reader import read_timeline, read_trace
from v4_reader import read_database

ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "40"))
FIRST_SEED = int(os.environ.get("FUZZ_SEED", "1"))
SANITIZED = b"__asan_init" in pathlib.Path(hpcprof_path()).read_bytes()
MEMORY = 1 << 30

STRUCTURE = Structure(
    F("/s/a.c",
      P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
        L(3, S(4, (0x1010, 0x1020)), L(5, S(6, (0x1020, 0x1030))), header=0x1010),
        A(7, "tiny", "/s/t.h", 70, S(71, (0x1030, 0x1040)),
          A(72, "tinier", "/s/t.h", 80, S(81, (0x1040, 0x1050))))),
      P("leaf", 20, [(0x2000, 0x2100), (0x3000, 0x3040)], S(21, (0x2000, 0x2100)))),
    F(None, P("bare", 0, [(0x4000, 0x4100)], L(0, S(0, (0x4000, 0x4010)), header=0x4000))))
ADDRESSES = (0x1000, 0x1015, 0x1025, 0x1035, 0x1045, 0x2000, 0x3000, 0x4000, 0x9999)


def limit():
    """Limits for a damaged input. None under sanitizers, which reserve terabytes of address space."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))


def damage(payload, rng):
    """One to four changes of numbers, mostly to values that break things."""
    data = bytearray(payload)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.choice((0, 1, 2, 0x7f, 0x80, 0xff))
        elif kind == 2:
            del data[at:at + rng.randrange(1, 8)]
        else:
            data[at:at] = rng.choice((b"\0", b"\xff" * 9 + b"\1", b"\x80\x80\4", b"\n\x1b"))
    return bytes(data)


class FuzzTest(HpcprofCase):
    def measurement(self, **fields):
        """A measurement with every kind of record."""
        module = self.scenario.binary("program", "abcd01", STRUCTURE)
        run = self.scenario.process(**fields)
        run.metric("work", run.event("CPUTIME"))
        run.metric("off CPU", run.event("REALTIME", flags=3))
        run.metric("FAULTS", run.event("FAULTS", unit="count", why="no PMU"))
        run.agents.append(("minicilk", "1", 4, "minicilk.rules", "7"))
        run.workers.append((0, [(5, 2, 2), (9, 4, 3)]))
        table = run.names([(900, "py_outer", "/p/a.py", 3), (5, "py_inner", "", 0)])
        program, unsized = self.scenario.load(run, module), run.module("/lib/x.so", size=4)
        for i in range(3):
            thread = run.thread(name=f"t{i}", creator=(0, 1) if i else None)
            node = 0
            for k, address in enumerate(ADDRESSES):
                node = thread.node(node if k % 4 else 0, (program, address), "ip")
                thread.add(node, k % 3, 1000 * k + i)
                below = thread.node(node, (unsized, k), ("names", table, 900), 5, mw.ONE_M, k % 2)
                thread.add(below, 0, 77)
                thread.add(thread.node(below, None, (program, address)), 1, 3)
            for offset in (mw.PARTIAL, mw.KERNEL):
                thread.add(thread.path([(mw.PLACEHOLDER, offset), (mw.NO_MODULE, 5)]), 0, 10)
            thread.associations[1] = 3
            for k, state in enumerate((mw.WORK, mw.WORK + mw.WORKER, mw.READY, mw.OFF_CPU, mw.WAITING, mw.NOBODY)):
                thread.record(10**9 + 7 * 10**6 * k, state, 10**9 * k, node if k < 5 else mw.ROOT, 3, k, k % 2)
            for code in (mw.FIRED, mw.RECORDED, mw.NO_UNWIND_INFORMATION):
                thread.fate(0, mw.CPU_TIMER, code, 3, 3000)
        return run

    time_lines = 0  # of threads, that were read

    def check(self, seed):
        """Runs hpcprof: it must print one line per problem, and leave a valid database or none."""
        done = subprocess.run(
            [self.scenario.hpcprof, "-j", "2", "-o", "db", self.scenario.measurements],
            cwd=self.scenario.folder, capture_output=True, text=True, errors="replace",
            preexec_fn=limit, timeout=600,
            env={**os.environ, "XDG_CACHE_HOME": self.at("cache"),
                 "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99"})
        what = f"seed {seed}: status {done.returncode}\n{done.stderr[:4000]}"
        self.assertIn(done.returncode, (0, 1), what)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^hpcprof: [^\x00-\x1f]+$", what)
        self.assertTrue(done.returncode == 0 or done.stderr, what)
        self.assertLess(len(done.stderr.splitlines()), 20, what)
        self.assertEqual([name for name in self.names() if "unfinished" in name], [], what)
        if os.path.exists(self.at("db")):
            for folder in ("db", "db/physical"):
                try:
                    db = read_database(self.at(folder))
                    if os.path.exists(self.at(folder + "/trace.db")):
                        read_trace(self.at(folder), db)
                        self.time_lines += len(read_timeline(self.at("db")).threads)
                except Exception as error:
                    raise AssertionError(f"{what}: {folder} is no database: {error}") from error
            shutil.rmtree(self.at("db"))
        else:
            self.assertEqual(done.returncode, 1, what)

    def test_damaged_measurements(self):
        runs = [self.measurement(pid=pid, start_time=pid) for pid in (5, 6)]
        runs[1].write(self.scenario.measurements)
        path = pathlib.Path(runs[0].write(self.scenario.measurements))
        for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS):
            rng = random.Random(seed)
            chance, chunks = rng.choice((0.05, 0.2, 0.6)), []
            for number, (kind, thread, payload) in enumerate(runs[0].chunks()):
                if rng.random() < chance:
                    payload = damage(payload, rng)
                head = struct.pack("<IHHIII", 0x6b6e4843, kind, 0, len(payload), thread, number)
                chunks.append(head + struct.pack("<I", zlib.crc32(head + payload)) + payload)
            path.write_bytes(runs[0].encode()[:16] + b"".join(chunks))
            self.check(seed)
        self.assertGreater(self.time_lines, ROUNDS)

    def test_damaged_structure(self):
        run = self.measurement()
        run.write(self.scenario.measurements)
        whole = STRUCTURE.image()
        for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS // 2):
            rng, data = random.Random(seed), bytearray(whole)
            for at in rng.sample(range(16, len(data), 4), rng.randint(1, 3)):
                data[at:at + 4] = rng.choice((b"\0\0\0\0", b"\1\0\0\0", b"\xff\xff\xff\xff", b"\0\x10\0\0"))
            if rng.random() < 0.2:
                del data[rng.randrange(len(data)):]
            self.scenario.hpcstruct.set_image(self.at("program"), bytes(data))
            self.check(seed)
