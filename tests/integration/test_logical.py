"""Logical call paths, idleness and overhead of programs under minicilk: hpcrun, the agent, hpcprof and
hpcviewer. What must come out is known from how the programs are made."""
import math
import os
import re
import shutil
import subprocess

import profiling
from evidence import OfChance, of_share
from logical_case import LogicalTest, procedures, walk

CILK = profiling.BUILD / "tests" / "programs" / "cilk"
PHASES = profiling.BUILD / "tests" / "programs" / "logical" / "phases"

# Frames of the runtime, and of the C library below it, that no programmer wrote.
GLUE = re.compile(r"minicilk_|cilk_call_base|start_thread|clone3|work$")


class Idleness(OfChance, LogicalTest):
    """Blame for idle workers: the ratio of idle to working ones is known in every phase, and each sample pays by it,
    whenever it comes."""
    WORKERS = 8

    def test_phases(self):
        for name, how in profiling.sources():
            with self.subTest(name):
                for found in self.looks():
                    self.profile(PHASES, self.WORKERS, 85, options=("--cores", str(self.WORKERS)),
                                 events=["CPUTIME@f2000"], **how)
                    for procedure, ratio in (("before", 7), ("alone", 7), ("half", 1), ("full", 0)):
                        work, idleness = self.value("work", procedure), self.value("idleness", procedure)
                        found.enough(f"seconds in {procedure}", work, 0.075)
                        self.assertAlmostEqual(idleness, ratio * work, delta=(0.01 + 0.02 * ratio) * work,
                                               msg=procedure)
                self.check_paths_of_the_blame()

    def check_paths_of_the_blame(self):
        """Whoever runs a procedure, it is below what spawned it."""
        callers = {"before": ["main"], "alone": ["main", "phases"],
                   "half": ["main", "phases", "half_task"], "full": ["main", "phases", "full_task"]}
        seen = set()
        for path in self.sampled_paths():
            for burning in callers.keys() & set(path):
                seen.add(burning)
                to = path.index(burning)
                self.assertEqual(list(path[path.index("main"):to]), callers[burning])
        self.assertEqual(seen, set(callers))

    def test_cores_bound_what_could_work(self):
        """With fewer CPUs than workers only they could have done more."""
        self.profile(PHASES, self.WORKERS, 100, options=("--cores", "4"), events=["CPUTIME@f2000"])
        for procedure, ratio in (("before", 3), ("alone", 3), ("half", 0), ("full", 0)):
            work, idleness = self.value("work", procedure), self.value("idleness", procedure)
            self.assertGreater(work, 0, procedure)
            self.assertAlmostEqual(idleness / work, ratio, delta=0.01 + 0.02 * ratio, msg=procedure)

    def test_cpus_that_the_program_may_use_bound_what_could_work(self):
        """Under taskset or in a cpuset the other CPUs could not have done anything."""
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("needs two CPUs")
        allowed = cpus[:len(cpus) // 2]
        self.profile("taskset", "-c", ",".join(map(str, allowed)), PHASES, self.WORKERS, 100, events=["CPUTIME@f2000"])
        n = min(len(allowed), self.WORKERS)
        for procedure, working in (("before", 1), ("alone", 1), ("half", self.WORKERS // 2), ("full", self.WORKERS)):
            work, idleness = self.value("work", procedure), self.value("idleness", procedure)
            ratio = (n - min(working, n)) / min(working, n)
            self.assertGreater(work, 0, procedure)
            self.assertAlmostEqual(idleness / work, ratio, delta=0.01 + 0.02 * ratio, msg=procedure)


class Paths(LogicalTest):
    """Stealing leaves no trace in logical paths."""

    def check_paths(self, root, spawned, called):
        """All that user code was sampled in is a path of the program's spawn tree: from main to the
        root, spawns, then calls, and below them, or below the runtime, the C library."""
        allowed = [re.compile("^(%s)$" % "|".join(names)) for names in (spawned, called)]
        for path in walk(self.tree):
            nodes = [node for node in path if node["kind"] == "procedure"]
            names = [node["name"] for node in nodes]
            if "main" not in names or root not in names:
                continue
            self.assertEqual(names.index(root), names.index("main") + 1)
            stage = 0
            for node in nodes[names.index(root):]:
                self.assertNotRegex(node["name"], GLUE)
                while stage < 2 and not allowed[stage].match(node["name"]):
                    stage += 1
                if stage == 2:
                    self.assertRegex(os.path.basename(node["module"]), r"^(libc\.so|\[vdso)", names)

    def spawn_lines(self, program):
        """The lines that a procedure may be called at: of its spawns, and of the run."""
        source = profiling.ROOT / "tests" / "programs" / "cilk" / f"{program}.c"
        return {number for number, line in enumerate(source.read_text().splitlines(), 1)
                if f"CILK_SPAWN({program}," in line or f"CILK_RUN({program}," in line}

    def test_any_number_of_workers(self):
        for workers in (1, 2, 5, 16):
            with self.subTest(workers):
                self.profile(CILK / "nqueens", "-w", workers, 14, events=["CPUTIME@f2000"])
                self.check_paths("nqueens", ["nqueens"], ["count_serially"])
                recorded = self.tree["metrics"]["work"]["inclusive"] + \
                    self.tree["metrics"]["overhead"]["inclusive"]
                # What is not below main is the thread's start and end.
                self.assertGreater(sum(self.value(m, "main") for m in ("work", "overhead")),
                                   0.97 * recorded)
                for path in walk(self.tree):
                    if path[-1]["kind"] == "procedure" and path[-1]["name"] == "nqueens":
                        self.assertIn(path[-1]["call_site"]["line"], self.spawn_lines("nqueens"))

    def test_the_set_of_paths_is_that_of_one_worker(self):
        """On a program with few paths, each often sampled."""
        found = {}
        for workers in (1, 2, 4):
            self.profile(PHASES, workers * 2, 200 // workers, events=["CPUTIME@f1000"],
                         options=("--cores", "4"))
            found[workers] = {path[path.index("main"):] for path in self.sampled_paths()
                              if {"before", "alone", "half", "full"} & set(path) and
                              path[-1] == "burn_unit"}
        self.assertEqual(found[1], found[2])
        self.assertEqual(found[1], found[4])
        self.assertEqual(len(found[1]), 4)

    def test_the_physical_projection_has_the_threads_own_frames(self):
        self.profile(PHASES, 8, 100)
        # A worker's own frames are those from its thread's start on; what created it is not among them.
        own = {tuple(procedures(path)) for path in walk(self.view("--physical")["root"])
               if len(path) > 1 and path[1]["name"] == "<thread root>"}
        stolen = [path for path in own if "full_task" in path]
        self.assertTrue(stolen)
        self.assertTrue(all("cilk_call_base" in path and "main" not in path for path in stolen), stolen)


class Overhead(OfChance, LogicalTest):
    def test_a_fine_grained_program_has_much_overhead(self):
        """fib does nothing but spawn, how long its own instructions take depends on the processor (0.38
        to 0.47 of all were seen); nqueens works between spawns."""
        for found in self.looks():
            for program, size, least, most in (("fib", 34, 0.25, 1), ("nqueens", 14, 0, 0.02)):
                _, (image,) = self.profile(CILK / program, "-w", 1, size, events=["CPUTIME@f2000"])
                work, overhead = (self.tree["metrics"][m]["inclusive"] for m in ("work", "overhead"))
                total, period = work + overhead, image.mean_period("CPUTIME")
                found.between(program, overhead, least * total, most * total,
                              of_share(max(overhead, 0.02 * total), total, period), 0.1 * total)

    KINDS = [f"overhead:{kind}" for kind in ("other", "scheduler", "spawn", "steal", "sync")]

    def test_kinds_of_overhead(self):
        """fib's is in its spawns, and some of it in its syncs; all is told apart, in every row and thread."""
        for found in self.looks():
            _, (image,) = self.profile(CILK / "fib", "-w", 2, 38, events=["CPUTIME@f2000"])
            total = self.check_kinds()
            found.between("spawn", total["overhead:spawn"], 0.6 * total["overhead"], math.inf,
                          of_share(total["overhead:spawn"], total["overhead"], image.mean_period("CPUTIME")),
                          0.2 * total["overhead"])
            found.enough("seconds in syncs", total["overhead:sync"], 1e-9)

    def check_kinds(self):
        """Returns the total of each."""
        shown = self.view("--metrics", ",".join(["overhead", *self.KINDS]))
        rows = list(walk(shown["root"]))
        for path in rows:
            for part in ("inclusive", "exclusive"):
                costs = {name: cost[part] for name, cost in path[-1]["metrics"].items()}
                self.assertAlmostEqual(sum(costs[kind] for kind in self.KINDS), costs["overhead"],
                                       delta=1e-12)
        total = {name: cost["inclusive"] for name, cost in shown["root"]["metrics"].items()}
        self.assertEqual(total["overhead:other"], 0)
        threads = self.view("--metrics", ",".join(["overhead", *self.KINDS]), view="threads")
        for thread in threads["threads"]:
            self.assertAlmostEqual(sum(thread["metrics"][kind] for kind in self.KINDS),
                                   thread["metrics"]["overhead"], delta=1e-12)
        return total

    def test_nothing_is_measured_without_tags_and_agents(self):
        self.profile(profiling.program("recursion"), 10, 200)
        states = {m["name"]: m["state"] for m in self.view()["metrics"]}
        self.assertEqual(states["work"], "measured")
        self.assertNotEqual(states["overhead"], "measured")
        self.assertNotEqual(states["idleness"], "measured")


class Opening(LogicalTest):
    def test_what_runs_before_main_is_as_without_us(self):
        """An agent is opened; the constructors of the runtime's library have their environment, and
        the C library knows the program's name."""
        library = self.compile_text("libopencilk.so", """
            #include <stdlib.h>
            const char *seen;
            __attribute__((constructor)) static void look(void) { seen = getenv("PROBE"); }
            """, "-shared", "-fPIC")
        program = self.compile_text("program", """
            #define _GNU_SOURCE
            #include <errno.h>
            #include <stdio.h>
            extern const char *seen;
            int main(void) { printf("%s %s", seen ? seen : "nothing", program_invocation_short_name); }
            """, library, f"-Wl,-rpath,{self.directory}")
        done = self.run_tool(profiling.HPCRUN, "-q", "--agent", "opencilk", "-o",
                             self.directory / "m", program, env=dict(os.environ, PROBE="it"))
        self.assertEqual((done.returncode, done.stdout), (0, "it program"), done.stderr)

    def close_and_open(self, *libraries):
        """Profiles a program that closes the first library and opens the others; what hpcrun says. libopencilk.so
        creates a thread when it is called, and when it ends."""
        self.compile_text("libopencilk.so", """
            #include <pthread.h>
            #include <stdio.h>
            static int begins;
            static void *do_nothing(void *unused) { return unused; }
            void create(void) {
                pthread_t thread;
                if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
                    pthread_join(thread, NULL);
            }
            __attribute__((constructor)) static void begin(void) { begins++; }
            __attribute__((destructor)) static void end(void) {
                create();
                printf("begins: %d\\n", begins);
                fflush(stdout);
            }""", "-shared", "-fPIC")
        program = self.compile_text("closes", """
            #include <dlfcn.h>
            int main(int count, char **paths) {
                int status = dlclose(dlopen(paths[1], RTLD_NOW));
                for (int i = 2; i < count; i++)
                    ((void (*)(void))dlsym(dlopen(paths[i], RTLD_NOW), "create"))();
                return status;
            }""")
        done = self.run_tool(profiling.HPCRUN, "-o", self.directory / "m", program, *libraries, cwd=self.directory)
        self.assertEqual((done.returncode, done.stdout), (0, "begins: 1\n"), done.stderr)
        return done.stderr

    def test_a_library_that_ends_is_opened_by_no_agent(self):
        """It would be new to the agent. If it were opened, glibc 2.41 would run its constructor again."""
        self.assertNotIn("agent opencilk", self.close_and_open("./libopencilk.so"))

    def test_a_library_that_comes_after_the_end_of_another(self):
        self.assertIn("agent opencilk", self.close_and_open("libBrokenLocale.so.1", "./libopencilk.so"))


class BadInput(LogicalTest):
    def test_unknown_agent(self):
        done = self.run_tool(profiling.HPCRUN, "--agent", "nosuch", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no agent 'nosuch'", done.stderr.splitlines()[0])
        self.assertIn("minicilk", done.stderr.splitlines()[0])

    def test_no_agent(self):
        self.profile(PHASES, 4, 50, options=("--agent", "none"))
        states = {m["name"]: m["state"] for m in self.view()["metrics"]}
        self.assertNotEqual(states["idleness"], "measured")
        self.assertEqual(states["overhead"], "measured")  # by its tags
        self.assertTrue(any("cilk_call_base" in path for path in self.sampled_paths()))

    def native(self, hpcrun, program, *options):
        """Profiles with what is damaged: the paths are native, and all of the rest works."""
        where = self.directory / "m"
        done = self.run_tool(hpcrun, "-q", "-o", where, *options, program, 4, 50)
        self.assertEqual(done.returncode, 0, done.stderr)
        images = profiling.read_measurements(where)
        self.assertEqual([image.problems for image in images], [[]])
        self.check_fates(images)
        self.assertEqual(images[0].count("CPUTIME", [profiling.IDLE, profiling.NOBODY]), 0)
        return done.stderr.splitlines(), (where / "hpcrun.log").read_text()

    def test_agent_of_another_interface(self):
        root = self.directory / "installed"
        for part in ("bin", "lib"):
            shutil.copytree(profiling.BUILD / part, root / part)
        source = self.directory / "agent.c"
        source.write_text('#include "agents/agent.h"\n'
                          "const struct agent hpcrun_agent = {.interface = AGENT_INTERFACE + 1};\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-I", profiling.ROOT, source, "-o",
                        root / "lib" / "agents" / "minicilk.so"], check=True)
        # Nobody asks for this one, though its name begins that of the other one.
        rules = (root / "lib" / "agents" / "minicilk.rules").read_text()
        (root / "lib" / "agents" / "mini.rules").write_text(rules.replace("agent minicilk", "agent mini"))
        lines, _ = self.native(root / "bin" / "hpcrun", PHASES, "--agent", "gomp,minicilk")
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], "agent minicilk is not used: .*interface")

    def test_layout_that_is_not_known(self):
        program = self.directory / "phases"
        content = PHASES.read_bytes()
        at = content.index(b"minicilk\x03\x00\x00\x00")
        program.write_bytes(content[:at + 8] + b"\x63" + content[at + 9:])
        program.chmod(0o755)
        lines, log = self.native(profiling.HPCRUN, program)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("agent minicilk is not used: the program's version is not known", lines[0])
        self.assertEqual(len([line for line in log.splitlines() if "not known to the agent" in line]), 1)
