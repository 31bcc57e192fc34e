"""A small run of which everything is known, for tests that check what people see.

    main thread                 main (xz.c:100)
                                  loop at xz.c:110
                                    111 coder_run (coder.c:20)   6.5 s
                                          line 25                   3.0
                                          loop at coder.c:30
                                            line 31                 2.0
                                            33 min_size, inlined (util.h:40)
                                              line 41               1.0
                                          40 coder_run
                                              line 25               0.5
                                    line 112                     0.25
                                  120 write_out (libc.so.6, no lines) 0.75
    application thread          worker (xz.c:200)
                                  201 coder_run
                                      line 25                    2.5
"""
import json
import os
import tempfile
import unittest

import v4_writer

SOURCE = {
    "coder.c": "".join(f"/* line {n} */\n" for n in range(1, 25)) +
               "    state = step(state); // here\n" +
               "".join(f"\tline_{n}();\n" for n in range(26, 60)),
    "xz.c": "".join(f"xz line {n}\n" for n in range(1, 250)),
}

FATES = {"fired": {"count": 2003, "amount": 10.015},
         "recorded": {"count": 2000, "amount": 10.0},
         "dropped: in hpcrun's own code": {"count": 3, "amount": 0.015},
         "partial: no unwind information": {"count": 4, "amount": 0.02}}

RUN = {
    "format": "hpctoolkit-run", "version": 2, "title": "xz",
    "measurements": ["hpctoolkit-xz-measurements"],
    "metrics": [{"name": "work", "event": "CPUTIME", "unit": "s", "state": "measured"},
                {"name": "idleness", "unit": "s", "state": "not measurable",
                 "why": "no runtime with an agent took part"}],
    "events": [{"name": "CPUTIME", "unit": "s", "period": 0.005, "by_default": True}],
    "agents": [{"name": "minicilk", "version": "1", "rules": "minicilk.rules",
                "rules_version": "1"}],
    "processes": [{
        "index": 0, "host": "h", "pid": 71, "parent_pid": 70, "exec_sequence": 0, "rank": None,
        "origin": "launched", "command": "xz -9 file", "executable": "/usr/bin/xz",
        "file": "xz-h-71-5-0.hpcrun", "state": "exit", "signal": None, "complete": True,
        "workers": None, "wall": 8.25, "cpu": 10.0, "startup_cpu": 0.002,
        "unsampled_cpu": 0.0, "samples": 2003,
        "recorded": 2000, "idle": 0, "nobody_working": 0,
        "dropped": {"in hpcrun's own code": 3}, "partial": {"no unwind information": 4},
        "threads": [
            {"index": 0, "tid": 71, "name": "xz", "kind": "initial", "profile": 1, "wall": 8.25,
             "cpu": 7.5, "ended": True,
             "events": [{"event": "CPUTIME", "source": "perf task-clock", "note": "",
                         "samples": 1503, "rate": 200.4, "fates": {
                             "fired": {"count": 1503, "amount": 7.515},
                             "recorded": {"count": 1500, "amount": 7.5},
                             "dropped: in hpcrun's own code": {"count": 3, "amount": 0.015},
                             "partial: no unwind information": {"count": 4, "amount": 0.02}}}]},
            {"index": 1, "tid": 72, "name": "xz-worker", "kind": "pthread", "profile": 2,
             "wall": 3.0, "cpu": 2.5, "ended": True,
             "events": [{"event": "CPUTIME", "source": "POSIX timer", "note": "perf is refused",
                         "samples": 500, "rate": 200.0, "fates": {
                             "fired": {"count": 500, "amount": 2.5},
                             "recorded": {"count": 500, "amount": 2.5}}}]}]}],
    "modules": [{"path": "/usr/bin/xz", "build_id": "ab12", "structure": "full", "why": ""},
                {"path": "/lib/libc.so.6", "build_id": "cd", "structure": "none",
                 "why": "changed since the run"}],
    "problems": ["xz-h-72-6-0.hpcrun: 132 bytes at 4096 are damaged"],
}


def describe():
    db = v4_writer.Database("xz (v4)", ["work"], 2)
    db.id_tuples = [[(1, True, 0, 7), (3, True, 0, 71), (4, False, i, i)] for i in range(2)]
    xz, libc = db.module("/usr/bin/xz"), db.module("/lib/libc.so.6")
    xz_c, coder_c = db.file("src/src/xz.c", True), db.file("src/src/coder.c", True)
    util_h = db.file("/src/util.h")
    main = db.function("main", xz, 0x1000, xz_c, 100)
    coder_run = db.function("coder_run", xz, 0x2000, coder_c, 20)
    min_size = db.function("min_size", None, 0, util_h, 40)
    write_out = db.function("write_out", libc, 0x3000)
    worker = db.function("worker", xz, 0x4000, xz_c, 200)

    in_main = db.entry(1, "main thread").call(main)
    loop = in_main.loop(xz_c, 110)
    outer = loop.statement(xz_c, 111).call(coder_run)
    outer.statement(coder_c, 25).charge(3.0)
    inner_loop = outer.loop(coder_c, 30)
    inner_loop.statement(coder_c, 31).charge(2.0)
    inner_loop.statement(coder_c, 33).inline(min_size).statement(util_h, 41).charge(1.0)
    outer.statement(coder_c, 40).call(coder_run).statement(coder_c, 25).charge(0.5)
    loop.statement(xz_c, 112).charge(0.25)
    in_main.statement(xz_c, 120).call(write_out).charge(0.75)
    in_worker = db.entry(2, "application thread").call(worker)
    in_worker.statement(xz_c, 201).call(coder_run).statement(coder_c, 25).charge(2.5, profile=2)
    return db


def describe_physical():
    """Another tree, as the machine made the calls: 1.5 s in one procedure."""
    db = v4_writer.Database("xz (physical)", ["work"], 1)
    xz = db.module("/usr/bin/xz")
    start = db.function("_start", xz, 0x500)
    db.entry(1, "main thread").call(start).charge(1.5)
    return db


def write(folder, with_run=True, with_sources=True):
    """The database with its physical projection; returns its description."""
    db = describe()
    v4_writer.write_database(db, folder)
    v4_writer.write_database(describe_physical(), os.path.join(folder, "physical"))
    if with_run:
        with open(os.path.join(folder, "run.json"), "w") as file:
            json.dump(RUN, file)
    if with_sources:
        os.makedirs(os.path.join(folder, "src", "src"))
        for name, text in SOURCE.items():
            with open(os.path.join(folder, "src", "src", name), "w") as file:
                file.write(text)
    return db


class StoryTest(unittest.TestCase):
    """Has the database in self.db."""

    @classmethod
    def setUpClass(cls):
        cls.db = os.path.join(cls.enterClassContext(tempfile.TemporaryDirectory()), "db")
        write(cls.db)


RULE = "─" * 100

# Every number here follows from the tree above by hand.
TOP_DOWN = """\
xz -9 file   8.25 s wall, 10.0 s CPU, 1.2 CPUs used
top-down view, logical projection
calling contexts, from the outermost procedure inwards

  work  10.00 s
  1 problem with the measurement: see --print summary

            work, s
       inclusive       exclusive  scope
""" + RULE + """
    10.00 100.0%        0         <whole program>
     7.50  75.0%        0           main thread
     7.50  75.0%     0.25   2.5%      main  xz.c:100
     6.75  67.5%     0.25   2.5%        loop at xz.c:110
     6.50  65.0%     5.00  50.0%          111 » coder_run  coder.c:20
     3.00  30.0%     3.00  30.0%            coder.c:25  state = step(state); // here
     3.00  30.0%     2.00  20.0%            loop at coder.c:30
     2.00  20.0%     2.00  20.0%              coder.c:31  line_31();
     1.00  10.0%     1.00  10.0%              33 » [I] min_size  util.h:40
     1.00  10.0%     1.00  10.0%                util.h:41
     0.50   5.0%     0.50   5.0%            40 » coder_run  coder.c:20
     0.50   5.0%     0.50   5.0%              coder.c:25  state = step(state); // here
     0.25   2.5%     0.25   2.5%          xz.c:112  xz line 112
     0.75   7.5%     0.75   7.5%        120 » write_out  libc.so.6
     2.50  25.0%        0           application thread
     2.50  25.0%        0             worker  xz.c:200
     2.50  25.0%     2.50  25.0%        201 » coder_run  coder.c:20
     2.50  25.0%     2.50  25.0%          coder.c:25  state = step(state); // here
"""

# coder_run: 3 + 2 in the outer call, 0.5 in the recursive one, 2.5 in the thread; the recursive
# call adds nothing to what is inclusive, 6.5 + 2.5.
BOTTOM_UP = """\
    10.00 100.0%    10.00 100.0%  <whole program>
     9.00  90.0%     8.00  80.0%    coder_run  coder.c:20
     6.50  65.0%     5.00  50.0%      « main  xz.c:111
     2.50  25.0%     2.50  25.0%      « worker  xz.c:201
     0.50   5.0%     0.50   5.0%      « coder_run  coder.c:40
     0.50   5.0%     0.50   5.0%        « main  xz.c:111
     1.00  10.0%     1.00  10.0%    [I] min_size  util.h:40
     1.00  10.0%     1.00  10.0%      « coder_run  coder.c:33
     1.00  10.0%     1.00  10.0%        « main  xz.c:111
     0.75   7.5%     0.75   7.5%    write_out  libc.so.6
     0.75   7.5%     0.75   7.5%      « main  xz.c:120
     7.50  75.0%     0.25   2.5%    main  xz.c:100

1 scope with less than 0.5% of work is left out (--min-percent 0 shows all).
"""

# The statement of the recursive call has what it calls; that of the call in the loop too.
FLAT = """\
    10.00 100.0%    10.00 100.0%  <whole program>
    10.00 100.0%     9.25  92.5%    /usr/bin/xz
    10.00 100.0%     0.25   2.5%      /src/xz.c
     7.50  75.0%     0.25   2.5%        main  xz.c:100
     6.75  67.5%     0.25   2.5%          loop at xz.c:110
     6.50  65.0%        0                   xz.c:111  xz line 111
     0.25   2.5%     0.25   2.5%            xz.c:112  xz line 112
     0.75   7.5%        0                 xz.c:120  xz line 120
     2.50  25.0%        0               worker  xz.c:200
     2.50  25.0%        0                 xz.c:201  xz line 201
     9.00  90.0%     9.00  90.0%      /src/coder.c
     9.00  90.0%     8.00  80.0%        coder_run  coder.c:20
     6.00  60.0%     6.00  60.0%          coder.c:25  state = step(state); // here
     3.00  30.0%     2.00  20.0%          loop at coder.c:30
     2.00  20.0%     2.00  20.0%            coder.c:31  line_31();
     1.00  10.0%     1.00  10.0%            33 » [I] min_size  util.h:40
     1.00  10.0%     1.00  10.0%              util.h:41
     0.50   5.0%        0                 coder.c:40  line_40();
     0.75   7.5%     0.75   7.5%    /lib/libc.so.6
     0.75   7.5%     0.75   7.5%      <unknown file>
     0.75   7.5%     0.75   7.5%        write_out  libc.so.6
"""

FOLDED = {"main thread;main": 250_000_000,
          "main thread;main;coder_run": 5_000_000_000,
          "main thread;main;coder_run;min_size": 1_000_000_000,
          "main thread;main;coder_run;coder_run": 500_000_000,
          "main thread;main;write_out": 750_000_000,
          "application thread;worker;coder_run": 2_500_000_000}

FOLDED_BOTTOM_UP = {"coder_run;main": 5_000_000_000,
                    "coder_run;worker": 2_500_000_000,
                    "coder_run;coder_run;main": 500_000_000,
                    "min_size;coder_run;main": 1_000_000_000,
                    "write_out;main": 750_000_000,
                    "main": 250_000_000}
