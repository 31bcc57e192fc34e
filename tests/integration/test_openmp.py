"""OpenMP programs of gcc under the agent gomp, and those of clang under the agent openmp: results unchanged, the number
of working threads, call paths of regions and tasks. The programs say themselves what is right (tests/programs/openmp/)."""
import collections
import os
import re
import shutil
import subprocess
from unittest import mock

import logical_case
import profiling
from evidence import OfChance, of_ends, of_samples
from openmp_case import CLANG, SOURCES, OpenMp
from structure_file import Structure

RUNTIME = re.compile(r"GOMP_|gomp_|omp_set|run_region|run_task|copy_block|libgomp|__kmp|libomp|omp_outlined|omp_task_entry"
                     r"|^(parallel_begin|implicit_task|task_create|task_schedule|sync_region_wait)$")


class Results(OpenMp):
    SETTINGS = (("passive", "true"), ("passive", "false"), ("active", "false"))  # of waiting; of cancellation

    def test_every_construct(self):
        program = self.build("constructs.c")
        for threads in (1, 2, 4, 8):
            for policy, cancellation in self.SETTINGS:
                if policy == "active" and threads > (os.cpu_count() or 1):
                    continue  # spinning threads that share CPUs take minutes, with libgomp alone, too
                with self.subTest(threads=threads, policy=policy, cancellation=cancellation):
                    out = self.run_with(threads, program, policy=policy, OMP_CANCELLATION=cancellation)
                    self.assertEqual(out, "")

    def test_exceptions_and_copies(self):
        program = self.build("objects.cc")
        for threads in (1, 2, 4):
            with self.subTest(threads=threads):
                self.assertEqual(self.run_with(threads, program), "")

    def test_a_plug_in_that_is_loaded_again_and_again(self):
        """Each time with a libgomp that was not there before."""
        plug_in = self.build("plug-in.c", "-DPLUG_IN", "-shared", "-fPIC")
        loader = self.directory / "reload"
        subprocess.run(["gcc", "-o", loader, SOURCES / "plug-in.c", "-ldl"], check=True)
        self.assertEqual(self.run_with(1, loader, plug_in, 40), "400\n")

    def test_a_region_in_a_library_s_constructor(self):
        """The thread that opens the library holds the dynamic linker's lock: others must not wait for it."""
        plug_in = self.build("in-constructor.c", "-DPLUG_IN", "-shared", "-fPIC")
        loader = self.directory / "loader"
        subprocess.run(["gcc", "-o", loader, SOURCES / "in-constructor.c", "-ldl"], check=True)
        self.assertEqual(self.run_with(2, loader, plug_in), "6\n")

    # The frame of make() has forbidden memory around its array.
    SANITIZED = """
        #include <stdio.h>
        __attribute__((noipa)) static void set(char *at) { *at = 1; }
        __attribute__((noipa)) static void make(int *sum)
        {
            char one[8];
            set(one);
        #pragma omp task firstprivate(one)
        #pragma omp atomic
            *sum += one[0];
        }
        int main(void)
        {
            int sum = 0;
        #pragma omp parallel
        #pragma omp single
            for (int i = 0; i < 100; i++)
                make(&sum);
            printf("%d\\n", sum);
            return 0;
        }
        """

    def test_a_program_with_address_sanitizer(self):
        """The agent copies whole frames of tasks' creators."""
        done, _ = self.measure(self.compile_text("tasks", self.SANITIZED, "-O1", "-fopenmp", "-fsanitize=address"))
        self.assertEqual(done.stdout, "100\n")

    # Prints by how many bytes the process grows in the second half of its rounds.
    CANCELLED = """
        #include <stdio.h>
        #include <unistd.h>
        static long memory(void)
        {
            long size = 0, resident = 0;
            FILE *file = fopen("/proc/self/statm", "r");
            fscanf(file, "%ld %ld", &size, &resident);
            fclose(file);
            return resident * sysconf(_SC_PAGESIZE);
        }
        int main(void)
        {
            long before = 0;
            volatile int run = 0;
            for (int round = 0; round < 600; round++) {
                before = round == 300 ? memory() : before;
        #pragma omp parallel
                {
        #pragma omp single nowait
                    for (int i = 0; i < 60; i++)
        #pragma omp task shared(run)
                        run++;
        #pragma omp cancel parallel
                }
            }
            printf("%d %ld\\n", run, memory() - before);
            return 0;
        }
        """

    # The same in one region: of groups with their own tasks, and with those of a task of theirs.
    CANCELLED_GROUPS = CANCELLED.replace("""
        #pragma omp parallel
                {
        #pragma omp single nowait
                    for (int i = 0; i < 60; i++)
        #pragma omp task shared(run)
                        run++;
        #pragma omp cancel parallel
                }
            }
""", """
        #pragma omp taskgroup
                {
                    for (int i = 0; i < 20; i++)
        #pragma omp task shared(run)
                        run++;
        #pragma omp taskgroup
                    {
        #pragma omp task shared(run)
                        run--;
                    }
                    run++;
        #pragma omp task if (0) shared(run)
                    {
                        for (int i = 0; i < 20; i++)
        #pragma omp task shared(run)
                            run++;
        #pragma omp cancel taskgroup
                    }
                }
            }
""").replace("for (int round", """
        #pragma omp parallel
        #pragma omp single
            for (int round""", 1)

    THREADS_OF_CANCELLED = 1

    def test_memory_of_tasks_of_groups_that_never_run(self):
        """What is kept of them ends with the group: those of 300 * 40 tasks take 13 MB."""
        if self.compilers == CLANG:
            self.skipTest("libomp says which tasks it drops")
        program = self.compile_text("groups", self.CANCELLED_GROUPS, "-w", "-O1", "-fopenmp")
        for contexts in "full", "site":
            with self.subTest(contexts=contexts), self.environment(1, OMP_CANCELLATION="true"):
                done, _ = self.measure(program, options=["--task-contexts", contexts])
                run, grown = map(int, done.stdout.split())
                self.assertEqual(run, 0)
                self.assertLess(grown, 1 << 20)

    def test_memory_of_tasks_that_never_run(self):
        if self.compilers == CLANG:
            self.need_libomp()
            if not shutil.which("clang"):
                self.skipTest("clang is not installed")
        program = self.compile_text("cancelled", self.CANCELLED, "-w", "-O1", "-fopenmp", compiler=self.compilers[".c"])
        for options in ([], ["--work-span"]):
            with self.subTest(options), self.environment(self.THREADS_OF_CANCELLED, OMP_CANCELLATION="true"):
                done, _ = self.measure(program, options=options)
                run, grown = map(int, done.stdout.split())
                self.assertEqual(run, 0)
                # The records of 300 * 60 tasks take 21 MB. Those of work and span stay for tasks that never run.
                self.assertLess(grown, 1 << (24 if options else 20))

    STACK_OF_TASK = 160  # bytes: the frame of run_task has a link, six registers and a few words

    def test_stack_of_nested_tasks(self):
        """A program whose stack is large enough for its nested tasks alone has little room for more."""
        program = self.build("nested-tasks.c")
        with self.environment(1):
            alone = list(map(int, subprocess.run([program], capture_output=True, check=True).stdout.split()))
            for contexts in "full", "off":
                out = self.run_with(1, program, how={"options": ("--task-contexts", contexts)})
                for before, now in zip(alone, map(int, out.split()), strict=True):
                    self.assertLessEqual(now - before, self.STACK_OF_TASK)

    def test_less_of_task_contexts(self):
        program = self.build("constructs.c")
        for contexts in ("site", "off"):
            with self.subTest(contexts=contexts):
                out = self.run_with(4, program, how={"options": ("--task-contexts", contexts)})
                self.assertEqual(out, "")


class ResultsOfClang(Results):
    """Without cancellation: libomp 14 and 16 then hang in this program, with and without hpcrun."""
    compilers = CLANG
    SETTINGS = (("passive", "false"), ("active", "false"))
    test_a_plug_in_that_is_loaded_again_and_again = None
    test_a_program_with_address_sanitizer = None
    THREADS_OF_CANCELLED = 2  # libomp runs all tasks of a team of one thread
    STACK_OF_TASK = 0  # libomp's callbacks return before the task


class States(OpenMp):
    """A thread works for the agent if it is in a body, and else waits: at each of some hundred instants at which nothing
    moves, so that the program knows what is right."""
    THREADS = (2, 8)
    PHASES = 24
    SCALE = 8

    def test_working_threads(self):
        program = self.build("lockstep.c")
        for threads in self.THREADS:
            with self.subTest(threads=threads):
                with mock.patch.dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive"):
                    done, _ = self.measure(program, self.SCALE)
                phases = {name: list(map(int, numbers)) for _, name, *numbers in map(str.split, done.stdout.splitlines())}
                self.assertEqual(len(phases), self.PHASES, done.stdout)
                self.assertEqual({name: wrong for name, (*_, wrong) in phases.items() if wrong}, {})
                # One look for each body; all bodies of a round at once; one after the other.
                bodies = self.SCALE * threads
                self.assertEqual(phases["balanced"][:3], [bodies, bodies, bodies * (threads + 1) // 2])
                self.assertEqual(phases["convoy"][2], bodies // 2)


class StatesOfClang(States):
    compilers = CLANG
    PHASES = 23


class TeamStarts(OpenMp):
    """A master that makes its team works; one that waits for its team does not, for itself and for others."""
    WAKES = 100  # at least as many samples find it waiting

    def test_making_and_waiting(self):
        program = self.build("slow-team.c")
        out = self.run_with(2, program, self.WAKES, how={"events": ["REALTIME@f1000"]})
        self.assertEqual(out, "start 0\nbody 2\n")
        image, = self.images
        self.assertGreater(self.value("work", "make_slowly"), 0)
        self.assertGreater(image.count("REALTIME", [profiling.IDLE, profiling.NOBODY]), self.WAKES / 2)


# Procedures between main and a worker of paths.c; what is not in the program's own list is a construct.
GROW = ["branch", "grow"]
PATHS = {
    "in_first": ["first"],
    "in_second": ["second", "helper"],
    "in_nested": ["nested", "middle"],
    "leaf_1": ["forest"] + GROW,
    "leaf_2": ["forest"] + GROW * 2,
    "leaf_3": ["forest"] + GROW * 3,
    "in_loop": ["loops", "from_loop"],
    "in_left": ["loops", "leave"],
    "in_large": ["forest", "large"],
    "in_deep": ["forest"] + ["dig"] * 11,
}
CONSTRUCTS = {"in_first": ["parallel"], "leaf_1": ["parallel", "task"], "leaf_2": ["parallel", "task", "task"],
              "in_loop": ["parallel", "taskloop"], "in_left": ["parallel", "taskloop"]}
OWN = {name for path in PATHS.values() for name in path}

# Work of each worker with a number of threads t: how often it is called, and for how long each time, in units of a
# thousandth of the program's argument.
UNITS = {
    "in_first": lambda t: (t, 50),
    "in_second": lambda t: (t, 25),
    "in_nested": lambda t: (4, 20),
    "leaf_1": lambda t: (4 * 2, 8),
    "leaf_2": lambda t: (4 * 4, 4),
    "leaf_3": lambda t: (4 * 8, 2),
    "in_loop": lambda t: (8, 8),
    "in_left": lambda t: (8, 8),
    "in_large": lambda t: (4, 20),
    "in_deep": lambda t: (4, 10),
}


BODY = re.compile("(parallel|task|taskloop|construct)( for| sections)? @ ")


class Paths(OfChance, OpenMp):
    RATE = 10000
    THREADS = (2, 4, 8) if os.environ.get("TEST_ALL") else (4,)
    UNFOLDED = ("-fno-ipa-icf", "-fno-optimize-sibling-calls")
    KINDS = {"taskloop": "taskloop"}  # what the kinds in CONSTRUCTS are called
    WORKERS = set(PATHS)

    def check_no_runtime(self, names):
        """Before main the runtime's constructor is native code. The stub of a call is the program's own code."""
        for name in names[names.index("main"):] if "main" in names else ():
            self.assertFalse(RUNTIME.search(name) and not name.endswith("@plt"), names)

    def check_paths(self):
        """Each path of a worker function is the one that the program has; the runtime is in none."""
        workers = set()
        for path in logical_case.walk(self.tree):
            names = logical_case.procedures(path)
            if not any(m["exclusive"] for m in path[-1]["metrics"].values() if m):
                continue
            self.check_no_runtime(names)
            self.assertEqual([s["name"] for s in path if s["kind"] == "inlined" and BODY.match(s["name"])], [])
            worker = next((name for name in names if name in PATHS), None)
            if worker:
                workers.add(worker)
                self.assertIn("main", names)
                between = names[names.index("main") + 1:names.index(worker)]
                self.assertEqual([name for name in between if name in OWN], PATHS[worker], names)
                constructs = [name for name in between if name not in OWN]
                for name in constructs:
                    self.assertRegex(name, r"^(parallel|task|taskloop|construct) @ paths\.c:[0-9]+$", names)
                kinds = [name.split()[0] for name in constructs]
                kind = CONSTRUCTS.get(worker, kinds)[-1]
                self.assertEqual(kinds[-1], self.KINDS.get(kind, kind), names)
        self.assertEqual(workers, self.WORKERS)

    def claim_work(self, threads, seconds):
        """Each worker function's work, within 1 %. A fault moves half."""
        image, = self.images
        period = image.mean_period("CPUTIME")
        for worker in self.WORKERS:
            calls, each = UNITS[worker](threads)
            truth = calls * each * seconds / 1000
            chance = of_samples(truth, period) + of_ends(threads, period) + self.late(2 * calls)
            self.found.between(worker, self.value("work", worker), 0.99 * truth, 1.01 * truth, chance, truth / 2)

    def test_paths_of_regions_and_tasks(self):
        program = self.build("paths.c", *self.UNFOLDED)
        for threads in self.THREADS:
            with self.subTest(threads=threads):
                for _ in self.looks(20):
                    self.run_with(threads, program, "1", how={"events": [f"CPUTIME@f{self.RATE}"]})
                    self.check_paths()
                    self.claim_work(threads, 1)

    def test_site_of_tasks(self):
        """With --task-contexts site a task hangs below the context in which its creator ran."""
        program = self.build("paths.c", *self.UNFOLDED)
        self.run_with(4, program, "0.5", how={"events": [f"CPUTIME@f{self.RATE}"],
                                              "options": ("--task-contexts", "site")})
        names = {tuple(name for name in path if name in OWN or name in PATHS) for path in self.sampled_paths()}
        self.assertIn(("forest", "grow", "leaf_1"), names)
        self.assertIn(("forest", "large", "in_large"), names)

    def test_regions_of_fortran(self):
        program = self.build("regions.f90", "-fno-inline")
        for threads in self.THREADS:
            with self.subTest(threads=threads):
                self.run_with(threads, program)
                found = {}
                for path in self.sampled_paths():
                    names = [re.sub(r".*_MOD_", "", name) for name in path]
                    self.check_no_runtime(names)
                    worker = [name for name in names if name.startswith("work_")]
                    if worker:
                        callers = [name for name in names if name in ("heavy", "light")]
                        found.setdefault(worker[0], set()).add(tuple(callers))
                self.assertEqual(found, {"work_heavy": {("heavy",)}, "work_light": {("light",)}})


class PathsOfClang(Paths):
    """libomp does not tell a task of a taskloop from others."""
    compilers = CLANG
    THREADS = (4,)
    UNFOLDED = ()
    KINDS = {"taskloop": "task"}
    WORKERS = set(PATHS) - {"in_deep"}
    test_regions_of_fortran = None
    CALLS = """
        #include <omp.h>
        static volatile int number;
        __attribute__((noinline)) void calls(void)
        {
        #pragma omp parallel
            for (int i = 0; i < 40000000; i++)
                number = omp_get_thread_num();
            __asm__("");
        }
        int main(void)
        {
            calls();
            return 0;
        }
        """

    def test_calls_of_the_runtime_in_a_body_without_frame_pointer(self):
        """The register still has the frame pointer of libomp's function that called the body. Of the functions that
        the body calls, few samples are outside of it: the region's begin calls them, too."""
        source = self.directory / "calls.c"
        source.write_text(self.CALLS)
        self.run_with(2, self.build(str(source), "-fomit-frame-pointer"), how={"events": ["CPUTIME@f5000"]})
        in_body, elsewhere = collections.Counter(), collections.Counter()
        region = "parallel @ calls.c:6"
        for path in logical_case.walk(self.tree):
            names = logical_case.procedures(path)
            is_in_body = region in names and names[:names.index(region)][-2:] == ["main", "calls"]
            (in_body if is_in_body else elsewhere)[names[-1] if names else ""] += path[-1]["metrics"]["work"]["exclusive"]
        called = in_body.keys() - {region}
        self.assertTrue(called)
        self.assertLess(sum(elsewhere[name] for name in called), 0.02 * sum(in_body.values()))


# The path to each worker function of task-parts.c.
PARTS = {
    "part_1": ["yields", "parallel", "create_yielding", "task"],
    "part_2": ["yields", "parallel", "create_yielding", "task"],
    "part_3": ["yields", "parallel", "create_yielding", "task"],
    "before_wait": ["waits", "parallel", "create_waiting", "task"],
    "between": ["waits", "parallel", "create_waiting", "task"],
    "after_wait": ["waits", "parallel", "create_waiting", "task"],
    "in_child": ["waits", "parallel", "create_waiting", "task", "create_child", "task"],
    "leaf": ["grows", "parallel", "grow", "task", "grow", "task"],
    "iteration": ["splits", "parallel", "from_loop", "taskloop"],
    "in_region": ["behind", "parallel", "nested", "parallel"],
}


class Parts(OpenMp):
    UNFOLDED = ("-fno-optimize-sibling-calls",)
    KINDS = {}  # what the kinds in PARTS are called

    def test_untied_tasks_and_split_taskloops(self):
        """All parts of a task are below its creation, what comes behind it is not, and the tasks in which a runtime
        splits a taskloop are not shown."""
        program = self.build("task-parts.c", *self.UNFOLDED)
        for threads in (1, 2, 4):
            with self.subTest(threads=threads):
                self.run_with(threads, program, "0.001", how={"events": ["CPUTIME@f10000"]})
                found = set()
                for path in self.sampled_paths():
                    worker = next((name for name in path if name in PARTS), None)
                    if not worker:
                        continue
                    found.add(worker)
                    names = path[path.index("main") + 1:path.index(worker)]
                    kinds = [re.sub(r" @ task-parts\.c:[0-9]+$", "", name) for name in names]
                    truth = [self.KINDS.get(kind, kind) for kind in PARTS[worker]]
                    # One in which no sample was, but which created a task, is a construct.
                    self.assertEqual([true if kind == "construct" else kind for kind, true in zip(kinds[:-1], truth)]
                                     + kinds[len(truth) - 1:], truth, path)
                self.assertEqual(found, set(PARTS))


class PartsOfClang(Parts):
    compilers = CLANG
    UNFOLDED = ()
    KINDS = PathsOfClang.KINDS


class KindsOfThreads(OpenMp):
    """Regions in two kinds of threads that have one start routine: each hangs where its own thread was created."""
    PATHS = {("main", "loads", "first", "in_loop"), ("main", "stores", "second", "create", "in_task")}
    OWN = {name for path in PATHS for name in path}

    def test_paths_in_two_kinds_of_threads(self):
        """One thread of a team waits outside of the runtime until the other one takes its task. libomp loses the
        wake-up of a thread that is about to sleep when the first task is created: here none sleeps."""
        program = self.build("two-kinds.cc", "-pthread")
        self.run_with(2, program, "0.03", policy="active", how={"events": ["CPUTIME@f5000"]})
        found = set()
        for path in self.sampled_paths():
            names = [re.sub(r"\(.*", "", name) for name in path]
            if "in_loop" in names or "in_task" in names:
                self.assertTrue(any(BODY.match(name) for name in names), path)
                self.assertNotIn("start_thread", names)
                found.add(tuple(name for name in names if name in self.OWN))
        self.assertEqual(found, self.PATHS)


class KindsOfThreadsOfClang(KindsOfThreads):
    compilers = CLANG


# The constructs around each function of nested-scopes.c, outermost first, but for the region.
SCOPES = {
    "in_region": [],
    "in_critical": ["critical"],
    "in_table": ["critical(table)"],
    "in_nested": ["critical(table)", "critical(inner)"],
    "after_nested": ["critical(table)"],
    "in_loop": ["critical(loop)"],
    "in_branch": ["critical(branch)"],
    "in_inlined": ["critical(helper)"],
    "in_single": ["single"],
    "after_single": [],
    "in_nowait": ["single"],
    "in_ordered": ["ordered"],
    "after_ordered": [],
    "in_section_1": ["sections"],
    "in_section_2": ["sections"],
    "in_master": [],
    "in_last": ["critical(last)"],
    "in_for": [],
    "in_sections": [],
}


class Scopes(OpenMp):
    """Scopes of constructs whose code stays in the body of the region."""
    SCOPES = SCOPES
    PLACED = "critical"  # constructs whose line the compiler tells
    REGIONS = {"in_for": "parallel for", "in_sections": "parallel sections"}  # others are parallel

    def check_scopes(self, program):
        """Each call of a function is in its constructs, which begin at the line of their directive."""
        text = (SOURCES / "nested-scopes.c").read_text().splitlines()
        structure = self.directory / "structure.xml"
        done = self.run_tool(logical_case.TOOLS / "hpcstruct", "--calls", "-o", structure, program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        structure = Structure(structure.read_bytes())
        names = {procedure.ranges[0][0]: procedure.name for procedure in structure.procedures}
        found = set()
        for procedure in structure.procedures:
            for call in procedure.within():
                name = names.get(int(call.target, 16)) if call.kind == "C" and call.target else None
                if name not in self.SCOPES:
                    continue
                scopes = [scope for scope in call.chain() if scope.kind == "A" and " @ nested-scopes.c:" in scope.name]
                self.assertEqual([scope.name.split(" @ ")[0] for scope in scopes], self.SCOPES[name], name)
                for scope in scopes:
                    self.assertEqual(scope.name.split(" @ ")[1], f"nested-scopes.c:{scope.line}")
                    if scope.name.startswith(self.PLACED):
                        self.assertIn("#pragma omp " + scope.name.split(" @ ")[0], text[scope.line - 1])
                found.add(name)
        self.assertEqual(found, set(self.SCOPES))

    def test_calls_in_constructs(self):
        for optimization in ("-O0", "-O2"):
            with self.subTest(optimization=optimization):
                self.check_scopes(self.build("nested-scopes.c", optimization))

    def test_samples_in_constructs(self):
        program = self.build("nested-scopes.c")
        self.run_with(2, program, "10", how={"events": ["CPUTIME@f5000"]})
        found = set()
        for path in logical_case.walk(self.tree):
            names = [node["name"] for node in path]
            worker = next((name for name in names if name in self.SCOPES), None)
            if worker and any(m["exclusive"] for m in path[-1]["metrics"].values() if m):
                self.assertEqual([name.split(" @ ")[0] for name in names[:names.index(worker)] if " @ " in name],
                                 [self.REGIONS.get(worker, "parallel")] + self.SCOPES[worker])
                found.add(worker)
        self.assertLessEqual({"in_critical", "in_for", "in_sections"}, found)


class ScopesOfClang(Scopes):
    """Its sections are a loop without calls of their own. Without optimization it makes two procedures of the body."""
    compilers = CLANG
    SCOPES = dict(SCOPES, in_section_1=[], in_section_2=[], in_master=["master"])
    REGIONS = {}
    PLACED = ""


# The path to each worker function of jumps.c. What qsort calls in libc is left out.
JUMPS = {
    "in_region": ["main", "plain", "parallel", "in_region"],
    "in_nested": ["main", "nested", "parallel", "middle", "parallel", "in_nested"],
    "in_inner": ["main", "inside", "parallel", "parallel", "in_inner"],
    "in_leaf": ["main", "start", "parallel", "tree", "task", "tree", "task", "tree", "in_leaf"],
    "compare": ["main", "library", "parallel", "compare"],
    "in_frame": ["main", "framed", "parallel", "in_frame"],
    "in_part": ["main", "parted", "parallel", "in_part"],
    "in_alone": ["main", "deep", "parallel", "lower", "parallel", "lowest", "parallel", "in_alone"],
}


class Jumps(OpenMp):
    JUMPS = JUMPS
    OPTIONS = ()

    def constructs_in(self, source):
        """{line: kind of the construct and the function that has it}. It is the directive's line or that of the first
        statement inside."""
        function, kind, found = None, None, {}
        for number, line in enumerate((SOURCES / source).read_text().splitlines(), 1):
            name, directive = re.match(r"FUNCTION \w+ (\w+)\(", line), re.match("#pragma omp (parallel|task)", line)
            function, kind = name[1] if name else function, directive[1] if directive else kind
            if kind:
                found[number] = kind, function
            kind = kind if line.startswith("#pragma") else None
        return found

    def kinds_of(self, names, constructs):
        """The names, but of constructs their kinds. One that no sample was in, but that created a task, is `construct`."""
        kinds, caller = [], None
        for name in names:
            place = re.match(r"(\w+) @ jumps\.c:([0-9]+)$", name)
            if place:
                kind, function = constructs[int(place[2])]
                self.assertEqual(function, caller)
                self.assertIn(place[1], (kind, "construct"))
            else:
                caller = name
            kinds.append(kind if place else name)
        return kinds

    def test_bodies_that_jump_to_a_function(self):
        """They are shown all the same, once, around that function, which keeps its name; also where they created tasks."""
        program = self.build("jumps.c")
        self.run_with(2, program, "0.01", how={"events": ["CPUTIME@f5000"], "options": self.OPTIONS})
        constructs, found = self.constructs_in("jumps.c"), set()
        for path in self.sampled_paths():
            worker = next((name for name in path if name in self.JUMPS), None)
            if not worker:
                continue
            found.add(worker)
            names = list(path[path.index("main"):path.index(worker) + 1])
            if worker == "compare":
                del names[3:-1]
            self.assertEqual(self.kinds_of(names, constructs), self.JUMPS[worker], path)
        self.assertEqual(found, set(self.JUMPS))


class JumpsOfClang(Jumps):
    """Of a body that jumps to libomp, nothing is known."""
    compilers = CLANG
    JUMPS = dict(JUMPS, in_inner=["main", "inside", "parallel", "in_inner"])


class JumpsOnLlvm(Jumps):
    """libomp does not keep the body of a region of one thread."""
    JUMPS = dict(JumpsOfClang.JUMPS, in_alone=["main", "deep", "parallel", "lower", "parallel", "lowest", "in_alone"])
    OPTIONS = ("--openmp=llvm",)

    def setUp(self):
        super().setUp()
        self.need_libomp()


class Aside(OpenMp):
    """Where the agent can't serve a program it says so, and the program runs as without it."""

    def test_a_region_in_a_library_s_destructor(self):
        """To find the copy of libgomp that the library means, an agent must not open the library, which has ended."""
        library, program = self.directory / "ending.so", self.directory / "ends"
        part = self.build("in-destructor.c", "-DLIBRARY", "-c", "-fPIC")
        subprocess.run(["gcc", "-shared", "-o", library, part], check=True)
        subprocess.run(["gcc", "-o", program, SOURCES / "in-destructor.c", "-Wl,--no-as-needed", library, "-lgomp"], check=True)
        self.assertEqual(self.run_with(2, program), "begins: 1, sum: 2\n")

    def test_static_libgomp(self):
        library = subprocess.run(["gcc", "-print-file-name=libgomp.a"], capture_output=True, text=True,
                                 check=True).stdout.strip()
        if not os.path.exists(library):
            self.skipTest("no libgomp.a")
        binary = self.directory / "static"
        subprocess.run(["gcc", "-O2", "-g", "-fopenmp", "-I", profiling.ROOT, "-c", "-o", f"{binary}.o",
                        SOURCES / "constructs.c"], check=True)
        subprocess.run(["gcc", "-o", binary, f"{binary}.o", library, "-ldl", "-lpthread"], check=True)
        done, _ = self.measure(binary)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(re.findall("agent gomp is not used: libgomp is linked into the program", done.stderr)), 1,
                         done.stderr)

    # Functions of a libgomp that take six words more than the known ones: number of all, of those that are flags.
    NEWER = {"GOMP_task": (16, 5), "GOMP_parallel": (10, None), "GOMP_parallel_loop_dynamic": (14, None)}

    def test_newer_libgomp(self):
        """Its calls are passed on with words that the agent does not know."""
        library, program, expected = "#include <stdio.h>\n", "", ""
        for name, (count, flag) in self.NEWER.items():
            values = [str(1 if n == flag else n) for n in range(count)]
            parameters = ", ".join(f"long w{n}" for n in range(count))
            words = ", ".join(f"(int)w{n}" for n in range(count))
            library += f"void {name}({parameters}) {{ printf(\"{'%d ' * count}\", {words}); }}\n"
            program += f"    {name}({', '.join(values)});\n"
            expected += " ".join(values) + " "
        prototypes = "".join(f"void {name}();\n" for name in self.NEWER)
        done = self.measure_with_libgomp("GOMP_7.0", library, f"{prototypes}int main(void)\n{{\n{program}    return 0;\n}}\n")
        self.assertEqual(done.stdout, expected)
        self.assertIn("agent gomp is not used: libgomp is newer than the agent knows", done.stderr)

    def measure_with_libgomp(self, version, library, program):
        """Runs a program with a libgomp of ours, whose newest interface has this name."""
        (self.directory / "versions").write_text(f"GOMP_1.0 {{ global: *; }};\n{version} {{ }} GOMP_1.0;\n")
        libgomp = self.compile_text("libgomp.so.1", f"{library}int omp_get_max_threads(void) {{ return 1; }}\n", "-O2",
                                    "-shared", "-fPIC", "-Wl,-soname,libgomp.so.1",
                                    f"-Wl,--version-script={self.directory}/versions")
        return self.measure(self.compile_text("program", program, "-O2", libgomp, f"-Wl,-rpath,{self.directory}"))[0]

    def test_newest_known_libgomp(self):
        """gcc 16's: the agent is used."""
        region = "void GOMP_parallel(void (*body)(void *), void *data, unsigned n, unsigned flags)"
        done = self.measure_with_libgomp(
            "GOMP_6.0.1", f"{region} {{ body(data); }}\n",
            f"#include <stdio.h>\n{region};\nstatic void body(void *data) {{ puts(data); }}\n"
            'int main(void) { GOMP_parallel(body, "done", 1, 0); return 0; }\n')
        self.assertEqual(done.stdout, "done\n")
        self.assertNotIn("agent gomp is not used", done.stderr)

    # Parameters on the stack of functions that store them there before they jump to libgomp's function.
    STACK_WORDS = {"GOMP_task": 4, "GOMP_parallel_loop_static_start": 1, "GOMP_parallel_loop_dynamic_start": 1,
                   "GOMP_parallel_loop_guided_start": 1}

    def test_wrappers_write_no_caller_s_variables(self):
        """Behind its parameters on the stack are variables of the caller, which other threads may be writing."""
        agent = profiling.BUILD / "lib" / "agents" / "gomp.so"
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", agent], capture_output=True, text=True,
                              check=True).stdout
        bodies = re.findall(r"^[0-9a-f]+ <(GOMP_\w+)>:\n((?: .*\n)+)", code, re.MULTILINE)
        self.assertGreater(len(bodies), 40)
        for name, body in bodies:
            for offset in re.findall(r"mov\w*\s+[^,]+,0x([0-9a-f]+)\(%rbp\)", body):
                self.assertLess(int(offset, 16), 16 + 8 * self.STACK_WORDS.get(name, 0), name)

    def test_program_without_openmp(self):
        done, _ = self.measure("/bin/true")
        self.assertNotIn("gomp", done.stderr)
        self.assertNotIn("openmp", done.stderr)


class OnLlvm(OpenMp):
    """hpcrun --openmp=llvm: programs of gcc on libomp."""
    WHO = """
        #include <omp.h>
        #include <stdio.h>
        void __attribute__((weak)) __kmpc_fork_call(void);
        int main(void)
        {
            long sum = 0, tasks = 0;
        #pragma omp parallel for schedule(dynamic) reduction(+ : sum)
            for (int i = 0; i < 1000; i++) sum += i;
        #pragma omp parallel
        #pragma omp single
            for (int i = 0; i < 100; i++)
        #pragma omp task shared(tasks)
        #pragma omp atomic
                tasks++;
            printf("%ld %ld %s\\n", sum, tasks, __kmpc_fork_call ? "llvm" : "gcc");
            return 0;
        }
        """
    DETACH = """
        #include <omp.h>
        int main(void)
        {
            omp_event_handle_t event;
        #pragma omp task detach(event)
            omp_fulfill_event(event);
            return 0;
        }
        """
    NOTE = r"--openmp=llvm: its OpenMP runs on \S*libomp\.so\.5 in place of GCC's libgomp"

    def setUp(self):
        super().setUp()
        self.need_libomp()

    def test_same_results_and_one_line(self):
        program = self.compile_text("who", self.WHO, "-O2", "-fopenmp")
        for option, runtime, notes in ((), "gcc", 0), (("--openmp=llvm",), "llvm", 1):
            done, _ = self.measure(program, options=option)
            self.assertEqual(done.stdout, f"499500 100 {runtime}\n")
            self.assertEqual(len(re.findall(self.NOTE, done.stderr)), notes, done.stderr)
            self.assertNotIn("is not used", done.stderr)

    def test_paths(self):
        """The agent openmp has the paths: a region's body below the function with the region."""
        program = self.build("paths.c", *Paths.UNFOLDED)
        self.run_with(4, program, "0.3", how={"events": ["CPUTIME@f10000"], "options": ("--openmp=llvm",)})
        found = {}
        for path in self.sampled_paths():
            worker = next((name for name in path if name in PATHS), None)
            if worker:
                own = [name for name in path[:path.index(worker)] if name in OWN]
                found.setdefault(worker, set()).add(tuple(own))
        found.pop("in_deep")  # more than 16 KB of frames: what libomp executes at once has no record
        self.assertEqual(found, {worker: {tuple(path)} for worker, path in PATHS.items() if worker != "in_deep"})

    def test_what_it_refuses(self):
        """One clear line, and the program does not run."""
        plain = self.compile_text("plain", "int main(void) { return 0; }")
        openmp = self.compile_text("who", self.WHO, "-fopenmp")
        empty = self.directory / "empty"
        empty.mkdir()
        subprocess.run(["gcc", "-shared", "-o", empty / "libomp.so.5", "-x", "c", "/dev/null"], check=True)
        with mock.patch.dict(os.environ, LD_LIBRARY_PATH=str(empty)):
            self.check_refusal(openmp, f"which {empty}/libomp.so.5 lacks")
        for program in "/bin/true", plain:
            self.check_refusal(program, "it is not linked to GCC's OpenMP, libgomp.so.1")
        self.check_refusal(self.compile_text("detach", self.DETACH, "-fopenmp"), "it has tasks with `detach`")

    def check_refusal(self, program, why):
        done = self.run_tool(profiling.HPCRUN, "--openmp=llvm", "-o", self.directory / "m", program)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn(why, done.stderr)
        self.assertFalse((self.directory / "m").exists())


class AsideOfClang(OpenMp):
    """libomp has one tool. A tool that the user or the program brings comes first."""
    TOOL = """
        #include <stdio.h>
        static int initialize(void *lookup, int device, void *data) { puts("initialized"); return 1; }
        static void finalize(void *data) { puts("finalized"); }
        static struct { void *initialize, *finalize, *data; } self = {initialize, finalize, 0};
        __attribute__((visibility("default"))) void *ompt_start_tool(unsigned version, const char *name)
        { return &self; }
        """
    PROGRAM = """
        #include <stdio.h>
        int main(void)
        {
            int sum = 0;
        #pragma omp parallel for reduction(+ : sum)
            for (int i = 0; i < 100; i++) sum += i;
            printf("%d\\n", sum);
            return 0;
        }
        """

    def compile(self, name, text, *options):
        source, binary = self.directory / f"{name}.c", self.directory / name
        source.write_text(text)
        try:
            done = subprocess.run(["clang", "-o", binary, source, *options], capture_output=True, text=True,
                                  check=False)
        except FileNotFoundError:
            self.skipTest("clang is not installed")
        if "cannot find -lomp" in done.stderr:
            self.skipTest("LLVM's libomp is not installed")
        self.assertEqual(done.returncode, 0, done.stderr)
        return binary

    def check(self, why, program, expected, **variables):
        with mock.patch.dict(os.environ, OMP_NUM_THREADS="2", **variables):
            done, _ = self.measure(program)
        self.assertEqual(done.stdout.split(), expected)
        self.assertEqual(len(re.findall(f"agent openmp is not used: {why}", done.stderr)), 1, done.stderr)

    def test_other_tools(self):
        program = self.compile("program", self.PROGRAM, "-fopenmp")
        tool = self.compile("tool.so", self.TOOL, "-shared", "-fPIC")
        own = self.compile("own", self.PROGRAM + self.TOOL, "-fopenmp", "-rdynamic")
        linked = self.compile("linked", self.PROGRAM, "-fopenmp", "-Wl,--no-as-needed", tool,
                              f"-Wl,-rpath,{self.directory}")
        both = ["initialized", "4950", "finalized"]
        self.check("OMP_TOOL_LIBRARIES", program, both, OMP_TOOL_LIBRARIES=str(tool))
        self.check("OMP_TOOL=disabled", program, ["4950"], OMP_TOOL="disabled")
        self.check("the program has a tool", own, both)
        self.check("the program has a tool", linked, both)


del OpenMp
