"""Programs that a runtime was linked into: hpcrun opens the runtime's agent by the program's symbols.
What they have of a runtime here is its names only, so that the agents decline: in one line, or
silently where nothing tells that it is the runtime."""
import subprocess

import profiling

WORK = """
volatile unsigned long count;
void FUNCTION(void);
void FUNCTION(void) { while (count < 30000000) count++; }
THREAD_LOCAL
int main(void) { FUNCTION(); return 0; }
"""
LIKE_CILK5 = ["-DFUNCTION=Cilk_scheduler", "-DTHREAD_LOCAL="]
LIKE_OPENCILK = ["-DFUNCTION=work",
                 "-DTHREAD_LOCAL=__thread void *__cilkrts_tls_worker = (void *)&count;"]


class LinkedRuntimes(profiling.ProfilingTest):
    def log_lines(self, program, *options):
        """What hpcrun.log says of agents; the program's work is native code in any case."""
        source = self.directory / "program.c"
        source.write_text(WORK, encoding="utf-8")
        subprocess.run(["gcc", "-O1", *program, *options, "-o", self.directory / "program", source],
                       check=True)
        _, images = self.measure(self.directory / "program")
        self.check_fates(images)
        fates = images[0].threads[0].fates
        self.assertEqual({code for (_, code), (count, _) in fates.items() if count},
                         {profiling.FIRED, profiling.RECORDED})
        log = (self.measurements / "hpcrun.log").read_text(encoding="utf-8")
        return [line for line in log.splitlines() if "cilk" in line and "native call paths" in line]

    def test_cilk5_of_another_build(self):
        lines = self.log_lines(LIKE_CILK5)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("cilk5: the runtime is not Cilk-5.4.6 in its default build", lines[0])

    def test_opencilk_of_another_version(self):
        lines = self.log_lines(LIKE_OPENCILK)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("opencilk: the runtime is of a version that the agent does not know", lines[0])

    def test_stripped(self):
        self.assertEqual(self.log_lines(LIKE_CILK5, "-s"), [])
        self.assertEqual(self.log_lines(LIKE_OPENCILK, "-s"), [])

    def test_stripped_but_for_what_it_exports(self):
        self.assertEqual(len(self.log_lines(LIKE_CILK5, "-s", "-rdynamic")), 1)

    def test_other_programs(self):
        self.assertEqual(self.log_lines(["-DFUNCTION=my_Cilk_scheduler_2", "-DTHREAD_LOCAL="]), [])
