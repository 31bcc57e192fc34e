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
TOLERANCE = 0.01  # seconds: what threads do before hpcrun knows them and after, and libc's helper


class HiddenThreads(unittest.TestCase):
    def process(self, *command):
        """What the program printed, its process in run.json and the summary's text."""
        with tempfile.TemporaryDirectory() as folder:
            m, db = f"{folder}/m", f"{folder}/db"
            done = subprocess.run([profiling.HPCRUN, "-o", m, *command], timeout=120,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (0, 1))
            subprocess.run([profiling.BUILD / "bin" / "hpcprof", "-o", db, m], check=True,
                           capture_output=True, timeout=120)
            run = json.loads((pathlib.Path(db) / "run.json").read_text())
            process, = run["processes"]
            return [int(word) * 1e-9 for word in done.stdout.split()], process, viewer.printed("summary", db), done.stderr

    def test_they_are_accounted_for(self):
        for kind in ("timer", "clone"):
            with self.subTest(kind=kind):
                (used, others), process, summary, line = self.process(
                    f"{profiling.PROGRAMS}/hidden_threads", kind, str(MILLISECONDS))
                self.assertGreaterEqual(used, MILLISECONDS * 1e-3)
                self.assertGreater(process["unsampled_cpu"], used - TOLERANCE)
                self.assertLess(process["unsampled_cpu"], others + TOLERANCE)
                self.assertRegex(summary, r"  process \d+: [\d.]+ ms of CPU time \([\d.]+%\) "
                                          r"without samples: in threads not made by pthread_create")
                said, = re.findall(r", ([\d.]+) s CPU in threads without samples", line)
                self.assertAlmostEqual(float(said), process["unsampled_cpu"], delta=0.002)

    def test_nothing_is_missing_where_all_threads_are_known(self):
        for command in (("hidden_threads", "main", MILLISECONDS), ("threads", 8, 40, 4)):
            with self.subTest(command=command):
                _, process, summary, line = self.process(f"{profiling.PROGRAMS}/{command[0]}",
                                                   *map(str, command[1:]))
                self.assertLess(process["unsampled_cpu"], TOLERANCE)
                self.assertNotIn("without samples", summary + line)


if __name__ == "__main__":
    unittest.main()
