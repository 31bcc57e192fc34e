"""CPU time of threads that hpcrun does not know: it has no samples, and that is said: by hpcrun in its
last line, and in the summary."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import profiling
import viewer

MILLISECONDS = 300
ROUNDED = 0.001  # seconds: hpcrun's line has three places
WORTH_WORDS = 0.01  # seconds, where that is a hundredth of all


class HiddenThreads(unittest.TestCase):
    def process(self, *command):
        """What was used on purpose, in seconds, the process in run.json, and what summary and hpcrun say."""
        with tempfile.TemporaryDirectory() as folder:
            m, db = f"{folder}/m", f"{folder}/db"
            done = subprocess.run([profiling.HPCRUN, "-o", m, *command], timeout=600,
                                  capture_output=True, text=True)
            said = profiling.without_perf_notice(done.stderr)
            self.assertEqual((done.returncode, len(said.splitlines())), (0, 1), done.stderr)
            subprocess.run([profiling.BUILD / "bin" / "hpcprof", "-o", db, m], check=True,
                           capture_output=True, timeout=600)
            run = json.loads((pathlib.Path(db) / "run.json").read_text())
            process, = run["processes"]
            burned = int(done.stdout.split()[0]) * 1e-9
            return burned, process, viewer.printed("summary", db), said

    def in_line(self, line):
        """How many seconds of CPU time hpcrun's last line has, and how many without samples."""
        said = re.search(r" in ([\d.]+) s CPU, .*?(?:, ([\d.]+) s CPU without samples|$)", line)
        return float(said[1]), float(said[2] or 0)

    def test_they_are_accounted_for(self):
        """No less than they used on purpose, no more than there was: the rest is what it took threads to
        begin and to end, the main one, too, and libc's helper, which on a slow machine may be anything."""
        for kind in ("timer", "clone"):
            with self.subTest(kind=kind):
                burned, process, summary, line = self.process(f"{profiling.PROGRAMS}/hidden_threads", kind,
                                                        str(MILLISECONDS))
                self.assertGreaterEqual(burned, MILLISECONDS * 1e-3)
                self.assertGreater(process["unsampled_cpu"], burned - 1e-6)
                self.assertLess(process["unsampled_cpu"], process["cpu"])
                self.assertRegex(summary, r"  process \d+: [\d.]+ ms of CPU time \([\d.]+%\) "
                                          r"without samples: in threads not made by pthread_create")
                cpu, said = self.in_line(line)
                self.assertGreater(said, burned - ROUNDED)
                self.assertLess(said, cpu + ROUNDED)

    def test_nothing_is_missing_where_all_threads_are_known(self):
        """But their beginnings and ends, which are worth words only where these take long."""
        for command in (("hidden_threads", "main", MILLISECONDS), ("threads", 8, 40, 4)):
            with self.subTest(command=command):
                burned, process, summary, line = self.process(f"{profiling.PROGRAMS}/{command[0]}",
                                                              *map(str, command[1:]))
                unsampled, cpu = process["unsampled_cpu"], process["cpu"]
                self.assertLess(unsampled, cpu - burned + 0.001)
                self.assertEqual("without samples" in summary, unsampled >= max(WORTH_WORDS, 0.01 * cpu))
                cpu, said = self.in_line(line)
                self.assertLess(said, cpu - burned + 2 * ROUNDED)
