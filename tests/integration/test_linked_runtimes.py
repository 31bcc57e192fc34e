"""Programs that a runtime was linked into: hpcrun opens the runtime's agent by the program's symbols.
What they have of a runtime here is its names only, so that the agents decline: in one line, or
silently where nothing tells that it is the runtime."""
import json
import pathlib
import re
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
        done, images = self.measure(self.compile_text("program", WORK, "-O1", *program, *options))
        self.check_fates(images)
        fates = images[0].threads[0].fates
        self.assertEqual({code for (_, code), (count, _) in fates.items() if count},
                         {profiling.FIRED, profiling.RECORDED})
        log = (self.measurements / "hpcrun.log").read_text(encoding="utf-8")
        lines = [line for line in log.splitlines() if "is not used" in line]
        said = [line for line in done.stderr.splitlines() if "is not used" in line]
        self.assertEqual(said, ["hpcrun: " + line for line in lines])
        self.check_database([re.match("agent (.*) is not used: (.*): native call paths", line)
                             .groups() for line in lines])
        return lines

    def check_database(self, refusals):
        """Who refused did not take part, and the summary says why."""
        run = json.loads((self.make_database() / "run.json").read_text(encoding="utf-8"))
        self.assertEqual([(a["name"], a["why"]) for a in run["refused_agents"]], refusals)
        names = [agent["name"] for agent in run["agents"]]
        self.assertEqual([name for name, _ in refusals if name in names], [])
        states = {m["name"]: m.get("why", "") for m in run["metrics"]}
        text, shown = (subprocess.run([profiling.BUILD / "bin" / "hpcviewer", "--print", "summary",
                                       "--format", format, self.database], check=True,
                                      capture_output=True, text=True).stdout
                       for format in ("text", "json"))
        self.assertEqual(json.loads(shown)["refused_agents"], run["refused_agents"])
        self.assertEqual("Agents that took no part" in text, bool(refusals))
        self.assertNotIn("Runtimes with an agent", text)
        for name, why in refusals:
            self.assertIn(f"{name}: {why}\n", text)
            self.assertIn(f"({name} refused: {why})", states["idleness"])
            self.assertIn(f"({name} refused: {why})", states["overhead"])

    def test_cilk5_of_another_build(self):
        lines = self.log_lines(LIKE_CILK5)
        self.assertEqual(len(lines), 1, lines)
        self.assertEqual(lines[0], "agent cilk5 is not used: the runtime is not Cilk-5.4.6 in its "
                                   "default build: native call paths")

    def test_opencilk_of_another_version(self):
        lines = self.log_lines(LIKE_OPENCILK)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("agent opencilk is not used: the runtime is of a version that the agent "
                      "does not know", lines[0])

    def test_stripped(self):
        self.assertEqual(self.log_lines(LIKE_CILK5, "-s"), [])
        self.assertEqual(self.log_lines(LIKE_OPENCILK, "-s"), [])

    def test_stripped_but_for_what_it_exports(self):
        self.assertEqual(len(self.log_lines(LIKE_CILK5, "-s", "-rdynamic")), 1)

    def test_other_programs(self):
        self.assertEqual(self.log_lines(["-DFUNCTION=my_Cilk_scheduler_2", "-DTHREAD_LOCAL="]), [])


class NamedAsOpenBlas(profiling.ProfilingTest):
    """hpcrun's agents are in each process. One exports functions whose names a library of the program may have, too."""

    def test_functions_with_other_parameters(self):
        source = pathlib.Path(__file__).parents[1] / "programs/waiting/named-as-openblas.c"
        libraries = [self.directory / name for name in ("two.so", "wait.so")]
        for library, *options in ((libraries[0], "-DLIBRARY"), (libraries[1], "-DWAIT_ONLY")):
            subprocess.run(["gcc", "-O1", "-shared", "-fPIC", *options, "-o", library, source], check=True)
        program = self.directory / "program"
        subprocess.run(["gcc", "-O1", "-o", program, source, *libraries], check=True)
        expected = "1 2 3 4 5 6 7.25 8.5 9.75 281 285 13\n" * 2
        done, _ = self.measure(program)
        self.assertEqual(done.stdout, expected)

    def test_omp_in_parallel(self):
        source = pathlib.Path(__file__).parents[1] / "programs/waiting/in-parallel.c"
        program, plugin = self.directory / "program", self.directory / "plugin.so"
        subprocess.run(["gcc", "-o", program, source], check=True)
        for compiler in ("gcc", "clang"):
            subprocess.run([compiler, "-fopenmp", "-DPLUGIN", "-shared", "-fPIC", "-o", plugin, source], check=True)
            done, _ = self.measure(program, plugin)
            self.assertEqual(done.stdout, "20\n")  # in both threads of the region, and not outside of it
