"""oneTBB programs under the agent tbb: results unchanged, the number of working threads, call paths of algorithms and
tasks. The programs say themselves what is right (tests/programs/tbb/)."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
from unittest import mock

import logical_case
import profiling
import test_critical_path
import test_sanitizers

SOURCES = profiling.ROOT / "tests" / "programs" / "tbb"

# Procedures of the program from main, or the thread's function, to a worker of tbb-paths.cc, and the calls of TBB.
GROW = ["branch", "grow", "task_group::run"]
PATHS = {
    "in_first": ["main", "first", "parallel_for"],
    "in_second": ["main", "second", "helper", "parallel_for"],
    "in_nested": ["main", "nested", "parallel_for", "middle", "parallel_for"],
    "in_sum": ["main", "sum", "parallel_reduce"],
    "in_left": ["main", "both", "parallel_invoke"],
    "in_right": ["main", "both", "parallel_invoke"],
    "leaf_1": ["main", "forest"] + GROW,
    "leaf_2": ["main", "forest"] + GROW * 2,
    "leaf_3": ["main", "forest"] + GROW * 3,
    "in_stage_1": ["main", "stages", "parallel_pipeline"],
    "in_stage_2": ["main", "stages", "parallel_pipeline"],
    "in_stage_3": ["main", "stages", "parallel_pipeline"],
    "in_node_1": ["main", "nodes", "receiver::try_put"],
    "in_node_2": ["main", "nodes", "receiver::try_put"],
    "in_arena": ["main", "in_other_arena", "task_arena::execute", "inside", "parallel_for"],
    "in_queue": ["main", "queue", "task_arena::enqueue"],
    "in_waiting": ["main", "waiting", "task_group::run_and_wait"],
    "in_later": ["main", "outer", "parallel_for", "leave", "task_group::run"],
    "in_standard": ["main", "standard", "std::for_each"],
    "in_thread": ["thread_main", "parallel_for"],
}


def name_of(node):
    """A procedure of the program or of TBB without arguments; None for lambdas, what they are called by in the C++
    library, and what is not a procedure."""
    name = node["name"]
    if node["kind"] not in ("procedure", "inlined") or re.search(r"lambda|\(anonymous\)|^(std|__gnu_cxx)::.*<", name):
        return None
    return name[len("tbb::"):] if name.startswith("tbb::") else re.sub(r"\(.*", "", name)


class Tbb(logical_case.LogicalTest):
    def build(self, source, *options):
        """Compiles a program; skips the test if oneTBB is not installed."""
        binary = self.directory / pathlib.Path(source).stem
        self.compile("-o", binary, SOURCES / source, *options, "-ltbb")
        return binary

    def compile(self, *arguments):
        if not shutil.which("g++") or not pathlib.Path("/usr/include/oneapi/tbb.h").exists():
            self.skipTest("g++ or oneTBB is not installed")
        subprocess.run(["g++", "-O2", "-g", "-I", profiling.ROOT, *arguments], check=True)

    def build_counts(self):
        subprocess.run(["gcc", "-O2", "-I", profiling.ROOT, "-c", "-o", self.directory / "count.o",
                        SOURCES / "slot-count.c"], check=True)
        return self.build("tbb-counts.cc", self.directory / "count.o")


class Counts(Tbb):
    RESULTS = "results 51 20 100 987 1 20000"  # what the program computes

    def test_working_threads_and_results(self):
        """Each count is the program's own. Where one of four threads works it pays three times its work."""
        program = self.build_counts()
        done, _ = self.profile(program, events=("CPUTIME@f4000",), options=("--cores", "4"))
        lines = done.stdout.splitlines()
        self.assertEqual(lines.pop(), self.RESULTS)
        self.assertEqual([line.split()[:-2][-1] for line in lines],
                         ["callback", "loop", "loop", "after", "group", "group", "nested", "nested", "thread",
                          "thread", "end"])
        for line in lines:
            expected, seen = line.split()[-2:]
            self.assertEqual(seen, expected, done.stdout)
        for alone in ("in_serial", "in_one"):
            work, idleness = (sum(self.value(metric, name) for name in (alone, alone + "()"))
                              for metric in ("work", "idleness"))
            self.assertGreater(work, 0)
            self.assertAlmostEqual(idleness / work, 3, places=3)
        for contexts in ("site", "off"):
            done, _ = self.measure(program, options=("--task-contexts", contexts))
            self.assertEqual(done.stdout.splitlines()[-1], self.RESULTS)
        if test_sanitizers.ADDRESS.exists():  # not in the trees of tests/mutants.py
            self.check_under_sanitizers(program)

    def check_under_sanitizers(self, program):
        """With hpcrun and its agents built with AddressSanitizer and UndefinedBehaviorSanitizer."""
        done = self.run_tool(test_sanitizers.ADDRESS / "bin" / "hpcrun", "-q", "-e", "CPUTIME@f4000", "-o",
                             self.directory / "sanitized", program,
                             env=dict(os.environ, **test_sanitizers.ADDRESS_OPTIONS))
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1], done.stderr), (0, self.RESULTS, ""))


class Beside(Tbb):
    WORKERS = 4  # of each runtime
    WORKING = {"in_openmp": 1, "in_tbb": 2, "in_cilk": 3}

    def build_three_runtimes(self):
        runtime = profiling.ROOT / "runtime-patches" / "minicilk"
        objects = []
        for name in ("cilk-strands.c", "slot-count.c"):
            objects.append(self.directory / f"{name}.o")
            subprocess.run(["gcc", "-O2", "-g", "-I", profiling.ROOT, "-I", runtime, "-c", "-o", objects[-1],
                            SOURCES / name], check=True)
        return self.build("three-runtimes.cc", "-O0", "-fopenmp", *objects, profiling.BUILD / "lib" / "libminicilk.a")

    def test_openmp_tbb_and_cilk_at_once(self):
        """Each runtime's idle workers are charged to its own working threads, whatever the others do. Threads of Cilk are
        not marked in slots, so nothing is said of plain ones."""
        with mock.patch.dict(os.environ, OMP_WAIT_POLICY="passive"):
            done, _ = self.profile(self.build_three_runtimes(), events=("CPUTIME@f4000",),
                                   options=("--cores", str(self.WORKERS)))
        self.assertEqual(done.stdout, "openmp 1 tbb 2\n")
        self.check_shares(self.WORKING)
        agents = json.loads((self.database / "run.json").read_text(encoding="utf-8"))["agents"]
        self.assertEqual({agent["name"] for agent in agents}, {"gomp", "minicilk", "tbb"})

    def amount(self, metric, name):
        return sum(self.value(metric, shown) for shown in (name, name + "()"))

    def check_shares(self, working):
        for name, count in working.items():
            work = self.amount("work", name)
            self.assertGreater(work, 0)
            self.assertAlmostEqual(self.amount("idleness", name) / work, (self.WORKERS - count) / count, places=3)

    def test_plain_threads_beside_openmp_and_tbb(self):
        """They have idleness and lock blame of their own."""
        subprocess.run(["gcc", "-O2", "-I", profiling.ROOT, "-c", "-o", self.directory / "count.o",
                        SOURCES / "slot-count.c"], check=True)
        program = self.build("beside-threads.cc", "-O0", "-fopenmp", self.directory / "count.o")
        with mock.patch.dict(os.environ, OMP_WAIT_POLICY="passive"):
            done, _ = self.profile(program, events=("CPUTIME@f4000",), options=("--cores", str(self.WORKERS)))
        self.assertEqual(done.stdout, "plain 1 openmp 2 tbb 3\n")
        self.assertNotIn("is not used", done.stderr)
        self.check_shares({"in_plain": 1, "in_team": 2, "in_tbb": 3})
        self.assertAlmostEqual(self.amount("lock blame", "in_plain") / self.amount("work", "in_plain"), 1, places=3)
        self.assertEqual({self.amount("lock blame", name) for name in ("in_team", "in_tbb")}, {0})


class Paths(Tbb):
    def check_paths(self):
        """Each sample of a worker function has the path that the program has, and no function of the runtime."""
        workers = set()
        for path in logical_case.walk(self.tree):
            if not any(m["exclusive"] for m in path[-1]["metrics"].values() if m):
                continue
            names = [name for name in map(name_of, path) if name]
            worker = next((name for name in names if name in PATHS), None)
            if not worker:
                continue
            workers.add(worker)
            start = names.index(PATHS[worker][0]) if PATHS[worker][0] in names else 0
            self.assertEqual(names[start:names.index(worker)], PATHS[worker])
            shown = " ".join(re.sub(r"\(.*", "", node["name"]) for node in path)
            self.assertNotRegex(shown, r"tbb::detail|__pstl|libtbb|run_task|run_callback")
        self.assertEqual(workers, set(PATHS))

    def test_paths_of_algorithms_and_tasks(self):
        program = self.build("tbb-paths.cc")
        for threads in (1, 4):
            with self.subTest(threads=threads):
                self.profile(program, "0.25", threads, events=("CPUTIME@f5000",))
                self.check_paths()


class Overhead(Tbb):
    """The compiler builds the body of a loop into a template of TBB's. Almost all time is in the body."""
    LOOP = """
        #include <tbb/parallel_for.h>
        static volatile double sink;
        int main()
        {
            tbb::parallel_for(0, 64, [](int i) {
                double x = i;
                for (int k = 0; k < 1000000; k++)
                    x = x * 0.999 + 1;
                sink = x;
            });
            return 0;
        }
        """

    def test_a_body_is_never_overhead(self):
        """With debug information it is told from the template. Without, overhead is a lower bound, which says so."""
        source = self.directory / "loop.cc"
        source.write_text(self.LOOP)
        for option, state in ("-g", "measured"), ("-g0", "lower bound"):
            program = self.build(source, option)
            self.profile(program, events=("CPUTIME@f1000",))
            total = self.tree["metrics"]
            self.assertGreater(total["work"]["inclusive"], 9 * (total["overhead"] or {"inclusive": 0})["inclusive"])
            run = json.loads((self.database / "run.json").read_text())
            overhead, = (metric for metric in run["metrics"] if metric["name"] == "overhead")
            self.assertEqual(overhead["state"], state)


class Aside(Tbb):
    # Returns the base name of the libtbb that runs the body.
    PLUG_IN = """
        #include <cstring>
        #include <dlfcn.h>
        #include <execinfo.h>
        #include <string>
        #include <tbb/parallel_for.h>
        static std::string library_around()
        {
            void *frames[64];
            Dl_info info;
            for (int i = 0, n = backtrace(frames, 64); i < n; i++)
                if (dladdr(frames[i], &info) && strstr(info.dli_fname, "/libtbb-"))
                    return strrchr(info.dli_fname, '/') + 1;
            return "none";
        }
        extern "C" const char *run(void)
        {
            static std::string found;
            tbb::parallel_for(0, 100, [&](int i) {
                if (i == 50)
                    found = library_around();
            });
            return found.c_str();
        }
        """
    LOADER = """
        #include <dlfcn.h>
        #include <stdio.h>
        int main(int count, char **arguments)
        {
            for (int i = 1; i < count; i++) {
                void *library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
                const char *(*run)(void) = library ? (const char *(*)(void))dlsym(library, "run") : NULL;
                puts(run ? run() : dlerror());
            }
            return 0;
        }
        """

    def build_plug_in(self, name):
        """A plug-in with a copy of libtbb of its own: it has another soname."""
        system = pathlib.Path("/usr/lib/x86_64-linux-gnu/libtbb.so.12").read_bytes()
        library = self.directory / f"libtbb-{name}.so"
        library.write_bytes(system.replace(b"\0libtbb.so.12\0", b"\0%b\0\0" % library.name.encode()))
        self.compile("-shared", "-o", self.directory / name, self.directory / "plug-in.o", library,
                     f"-Wl,-rpath,{self.directory}")
        return self.directory / name

    def test_plug_ins_with_a_libtbb_each(self):
        """The program knows nothing of TBB. Each plug-in calls its own copy, and that itself."""
        loader = self.compile_text("loader", self.LOADER, "-ldl")
        (self.directory / "plug-in.cc").write_text(self.PLUG_IN)
        self.compile("-fPIC", "-c", "-o", self.directory / "plug-in.o", self.directory / "plug-in.cc")
        plug_ins = [self.build_plug_in(name) for name in ("1", "2")]
        done, _ = self.measure(loader, *plug_ins)
        self.assertEqual(done.stdout, "libtbb-1.so\nlibtbb-2.so\n")

    # A worker runs an algorithm, while the constructor's thread waits for it without a call.
    IN_CONSTRUCTOR = """
        #include <atomic>
        #include <tbb/global_control.h>
        #include <tbb/parallel_for.h>
        #include <tbb/task_group.h>
        static std::atomic<int> sum, is_done;
        __attribute__((constructor)) static void add()
        {
            tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
            tbb::task_group group;
            group.run([] {
                tbb::parallel_for(0, 100, [](int) { sum++; });
                is_done = 1;
            });
            while (!is_done)
                continue;
            group.wait();
        }
        extern "C" const char *run() { return sum == 100 ? "right" : "wrong"; }
        """

    def test_an_algorithm_in_a_library_s_constructor(self):
        """The thread that opens the library holds the dynamic linker's lock: others must not wait for it."""
        loader = self.compile_text("loader", self.LOADER, "-ldl")
        (self.directory / "in-constructor.cc").write_text(self.IN_CONSTRUCTOR)
        self.compile("-shared", "-fPIC", "-o", self.directory / "plug-in.so", self.directory / "in-constructor.cc", "-ltbb")
        done, _ = self.measure(loader, self.directory / "plug-in.so")
        self.assertEqual(done.stdout, "right\n")

    def test_program_without_tbb(self):
        done, images = self.measure("/bin/true")
        self.assertNotIn("tbb", done.stderr)
        self.assertEqual(len(images), 1)


class CriticalPath(Tbb, test_critical_path.KnownPath):
    def test_known_path(self):
        """It goes over who created a task, or ended the last one that a thread waited for, whether that spins or sleeps."""
        program = self.build("tbb-path.cc")
        for event in "REALTIME@f1000", "CPUTIME@f1000":
            with self.subTest(event):
                self.check_undisturbed(self.check_path, program, 60, event=event)


del Tbb
