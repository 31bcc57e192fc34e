"""Libraries that are loaded and unloaded while samples are taken, compared with the program's own records."""
import math
import os
import re
import shutil
import subprocess

from logical_case import TOOLS, LogicalTest, procedures, walk
import profiling
from evidence import EXACT, Chance, OfChance, of_samples
from profiling import FIRED, PARTIAL, RECORDED, program, sources

LIBRARIES = 4
RATE = 5000
MS = int(os.environ.get("LOADER_MS", 1000))  # more for `make stress`

# Libraries of the same size with different frames at the same addresses: a stale rule of one library is wrong in
# another.
LIBRARY = """
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define NAME(x) CAT(x, N)
static volatile long sink;
__attribute__((noinline, used)) static void NAME(leaf_)(long spins) {
    volatile long room[1 + 3 * N];
    room[N] = spins;
    for (long i = 0; i < spins; i++) room[N] += i;
    sink += room[N];
}
__attribute__((noinline, used)) static void NAME(inner_)(long spins) {
    volatile char room[8 + 40 * (3 - N)];
    room[N] = 1;
    NAME(leaf_)(spins);
    sink += room[N];
}
__attribute__((noinline, used)) static void NAME(outer_)(long spins, int deep) {
    if (deep) NAME(outer_)(spins, deep - 1); else NAME(inner_)(spins);
    sink++;
}
void work(long spins) { NAME(outer_)(spins, N); sink++; }
__attribute__((constructor)) static void NAME(begin_)(void) { NAME(leaf_)(4000); }
__attribute__((destructor)) static void NAME(end_)(void) { NAME(inner_)(4000); }
"""


# Calls hooked functions in its constructor, and works in its own threads then and in its destructor.
EARLY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile double sink;
static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static long long worked;
static void *work(void *argument) {
    long long begin = now();
    for (int i = 0; i < 20000000; i++) sink += i;
    worked = now() - begin;
    return argument;
}
static void work_in_thread(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
__attribute__((constructor)) static void begin(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    pthread_sigmask(SIG_UNBLOCK, &all, 0);
    signal(SIGUSR1, SIG_IGN);
    dlclose(dlopen("libm.so.6", RTLD_NOW));
    int fd = open("/dev/null", O_RDONLY);
    printf("%d %d\\n", fd, dup2(fd, 50));
    fflush(stdout);
    close(fd);
    pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    work_in_thread();
    printf("child %d\\n", WEXITSTATUS(status));
}
__attribute__((destructor)) static void end(void) { work_in_thread(); printf("end %lld\\n", worked); }
"""


# The same library with another name of the function that does the work.
REPLACED = """
static volatile double sink;
__attribute__((noinline)) void NAME(void) { for (int i = 0; i < 50000000; i++) sink += i; }
void work(void) { NAME(); sink++; }
"""

# Works in a library, replaces, deletes or moves its file, and works in it again.
REPLACES = """
import ctypes, os
library = ctypes.CDLL('./library.so')
library.work()
{what}
library.work()
"""


class Replaced(LogicalTest):
    """A library without build-id whose file is another one, or missing, when it is recorded at the end."""

    def build(self, path, name):
        self.compile_text(path, REPLACED, "-O1", "-shared", "-fPIC", "-Wl,--build-id=none", f"-DNAME={name}")

    def run_and_analyse(self, what):
        """The names of the library's code, and the messages of hpcprof."""
        self.build("library.so", "first_work")
        self.build("other.so", "other_work")
        self.assertEqual(*((self.directory / name).stat().st_size for name in ("library.so", "other.so")))
        self.measure("/usr/bin/python3", "-c", REPLACES.format(what=what))
        if not (self.directory / "library.so").exists():
            os.rename(self.directory / "other.so", self.directory / "library.so")
        self.database = self.directory / f"database-{len(list(self.directory.iterdir()))}"
        made = self.run_tool(TOOLS / "hpcprof", "-o", self.database, self.measurements,
                             env=dict(os.environ, XDG_CACHE_HOME=str(profiling.CACHE)))
        found = {name for path in walk(self.view()["root"]) for name in procedures(path)
                 if name in ("first_work", "other_work") or "library.so" in name}
        return made, found

    def test_it_does_not_get_the_other_s_names(self):
        for what in ("os.rename('other.so', 'library.so')", "os.remove('library.so')",
                     "os.rename('library.so', 'moved.so'); os.rename('other.so', 'library.so')"):
            with self.subTest(what):
                made, found = self.run_and_analyse(what)
                self.assertRegex(made.stderr, r"library\.so: it has changed since the run")
                self.assertEqual(len(found), 1, found)
                self.assertIn("library.so", found.pop())

    def test_otherwise_it_has_its_own(self):
        made, found = self.run_and_analyse("pass")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(found, {"first_work"})


# What an agent looks for in a module: for each, how to make a library that has it. None of them runs, so that the
# library can be closed.
CILK5 = """
const char Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile = 1;
void Cilk_child_main(void) {} void invoke_main_slow(void) {} void Cilk_scheduler(void) { Cilk_child_main(); }
__attribute__((noinline)) void twice(void) { __asm__ volatile(""); }
void _cilk_twice_import(void) { twice(); __asm__ volatile(""); }
"""
RUNTIMES = {
    "libgomp": ("int omp_get_max_threads(void); int main_(void) { return omp_get_max_threads(); }", "libx.so", ["-lgomp"]),
    "libtbb": ("", "libx.so", ["-l:libtbb.so.12"]),
    "minicilk": ("", "libx.so", [profiling.BUILD / "lib/libminicilk.so", f"-Wl,-rpath,{profiling.BUILD}/lib"]),
    "cilk5": (CILK5, "libcilk.so", []),
}
CHURN_MS = int(os.environ.get("CHURN_MS", 400))  # more for `make stress`


class Churn(profiling.ProfilingTest):
    """Threads open and close libraries while others create threads, which have their first samples: hpcrun and its
    agents read what another thread unmaps. A fault ends the program within 0.3 s."""

    def build(self, name, source, file, flags):
        where = self.directory / name
        where.mkdir()
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", where / file, "-Wl,--no-as-needed", *flags],
                       input=source, text=True, check=True)
        return where / file

    def churn(self, hpcrun, churn, libraries, event="CPUTIME@f5000", options=(), env=None):
        where = self.directory / f"m{len(list(self.directory.iterdir()))}"
        done = self.run_tool(hpcrun, "-e", event, "-o", where, *options, "--", churn, CHURN_MS, *libraries, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"loads [1-9]\d+, threads [1-9]\d+\nsurvived\n")
        return where

    def plain_libraries(self):
        return [self.build(f"plain{n}", f"int f{n}(void) {{ return {n}; }}", "libplain.so", []) for n in range(3)]

    def test_plain_libraries(self):
        libraries = self.plain_libraries()
        for event in ("CPUTIME@f5000", "REALTIME@f1000"):
            with self.subTest(event):
                where = self.churn(profiling.HPCRUN, program("churn"), libraries, event)
                self.check_fates(profiling.read_measurements(where))

    def test_runtimes_with_agents(self):
        libraries = [self.build(name, *how) for name, how in RUNTIMES.items()]
        cheetah = self.directory / "libopencilk.so"
        shutil.copy(profiling.BUILD / "tests/simulated/simulated-cheetah.so", cheetah)
        plain = self.plain_libraries()[:1]
        for library in [*libraries, cheetah]:
            with self.subTest(library.parent.name):
                self.churn(profiling.HPCRUN, program("churn"), [library, *plain])
        self.churn(profiling.HPCRUN, program("churn"), [*libraries, cheetah, *plain])


class Loader(OfChance, profiling.ProfilingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.modules = {"loads": program("loads")}

    def build_libraries(self):
        self.paths = [self.compile_text(f"library{n}.so", LIBRARY, "-O2", "-g0", "-fno-optimize-sibling-calls",
                                        "-fno-ipa-cp", "-shared", "-fPIC", f"-DN={n}") for n in range(LIBRARIES)]
        self.modules |= {path.name: path for path in self.paths}

    def function(self, frame):
        """The name of a frame's function in the program or its libraries."""
        module = frame.rpartition("+")[0]
        names = profiling.functions([frame], self.modules[module]) if module in self.modules else []
        return names[0] if names else module

    def what_is_wrong(self, names):
        """`names` is a complete path of functions, innermost first. Returns None if it is possible, else the error."""
        own = [name for name in names if name[-1] in "0123" and name[:-1] in
               ("leaf_", "inner_", "outer_", "begin_", "end_", "call_")]
        if not own:
            return None
        numbers = {name[-1] for name in own} | {name[7] for name in names if name.startswith("library")}
        if len(numbers) != 1:
            return "two libraries"
        n = numbers.pop()
        inside = [name[:-2] for name in own]
        inside = inside[inside.index("leaf"):] if "leaf" in inside else inside
        whole = {"call": ["leaf", "inner", *["outer"] * (int(n) + 1), "call"],
                 "begin": ["leaf", "begin"], "end": ["leaf", "inner", "end"]}.get(inside[-1])
        if not whole:
            return "no outermost frame of its own"
        return None if whole[-len(inside):] == inside else "frames are missing, or are too many"

    def check_paths(self, image):
        """Every complete path is possible in the program. Returns the seconds below each library's call."""
        seconds = [0] * LIBRARIES
        for thread in image.threads:
            for _, value, path in thread.paths:
                if profiling.is_partial(path):
                    continue
                names = [self.function(frame) for frame in path]
                self.assertIsNone(self.what_is_wrong(names), names)
                for n in range(LIBRARIES):
                    if f"call_{n}" in names:
                        seconds[n] += value * profiling.TIME_UNIT
        return seconds

    def test_more_libraries_than_there_is_room_for(self):
        """At most 2046 if the address space is limited: later ones only lose their names. How many libraries samples
        find is chance, so the program opens more until there are enough."""
        self.build_libraries()
        for loads in (2400, 6000, 12000, 24000, 48000):
            command = " ".join(map(str, [program("loads"), "dlopen", 100, loads, *self.paths]))
            done, images = self.measure("sh", "-c", f"ulimit -v 8000000; exec {command}", events=["CPUTIME@f10000"])
            image = images[-1]
            self.check_fates(images)
            burned, = re.findall(r"burned (\d+)", done.stdout)
            self.check_time(image.seconds("CPUTIME", [FIRED]), int(burned) * 1e-9, image.cpu, 0.001)
            if "more than 2046 libraries came and went: the code of later ones has no names\n" in done.stderr:
                self.assertEqual(len(image.modules), 2046)
                return
            self.assertLess(len(image.modules), 2046)
        self.skipTest(f"samples met {len(image.modules)} libraries of {loads}, not 2046")

    def late_in(self, image, seconds):
        """The Chance that late samples are in code that runs for so long. Each is late by a tick at most, and is there
        with the probability of its share of the time. All together they are late by the time by which increments are
        longer than asked for: these are uniform in half to one and a half periods, so that the sum of the others is
        less than their number of periods by 2 sqrt(number) periods with a probability below 1e-8 (Bernstein)."""
        if not self.has_timers:
            return EXACT
        count = image.count("CPUTIME", [FIRED])
        late = image.seconds("CPUTIME", [FIRED]) - (count - 2 * math.sqrt(count)) / RATE
        return Chance(max(0, late) * profiling.KERNEL_TICK * min(1, seconds / image.cpu), profiling.KERNEL_TICK)

    def look(self, evidence, how, ms, least, reused, **source):
        """A library's time is at most what the program counted, and at least what its calls took without samples,
        within 2 %; few paths are incomplete; libraries come to the addresses of others. The sample behind a halt of the
        machine pays for all of it, and may be in the call or behind it."""
        done, images = self.measure(program("loads"), how, ms, least, *self.paths, events=(f"CPUTIME@f{RATE}",),
                                    paths=True, **source)
        self.check_fates(images)
        image, = images
        seen, period = self.check_paths(image), image.mean_period("CPUTIME")
        evidence.rate("incomplete", image.count("CPUTIME", PARTIAL), image.count("CPUTIME", [RECORDED]), most=0.005,
                      noticed=(0, 0.03))
        lines = [line.split() for line in done.stdout.splitlines()]
        halted, squares, longest = map(float, lines[LIBRARIES][1:])
        halts = Chance(squares, longest * 1e-9, halted * 1e-9)
        for n in range(LIBRARIES):
            loads, shortest, counted = map(int, lines[n][2:])
            self.assertGreaterEqual(loads, least // LIBRARIES)
            shortest, counted = shortest * 1e-9, counted * 1e-9
            late = self.late_in(image, counted)
            evidence.between(f"library {n}", seen[n], 0.98 * shortest, 1.02 * counted,
                             of_samples(counted, period) + late + halts, 0.3 * counted)
        evidence.enough("loads to another one's addresses", int(lines[-1][1]), reused)

    def check(self, *arguments, **source):
        evidence = self.evidence()
        self.build_libraries()
        for _ in evidence.looks():
            self.look(evidence, *arguments, **source)

    def test_address_reuse_at_full_speed(self):
        for name, how in sources():
            with self.subTest(name):
                self.check("dlopen", 3 * MS // 5, 200, 101, **how)

    def test_libraries_that_begin_before_us(self):
        """Their constructors work, sampled or not; their destructors are sampled."""
        for flags in ([], ["-Wl,-z,initfirst"]):
            with self.subTest(flags=flags):
                library = self.compile_text("libearly.so", EARLY, "-O1", "-shared", "-fPIC", *flags)
                self.compile_text("main", "int main(void) { return 0; }", "-Wl,--no-as-needed", library)
                plain = self.run_tool("./main")
                said = r"3 50\nchild 7\nend (\d+)\n"
                self.assertRegex(plain.stdout, said)
                done, images = self.measure("./main", events=("CPUTIME@f2000",))
                self.assertRegex(done.stdout, said)
                self.check_fates(images)
                (image,) = [image for image in images if image.origin == 0]
                self.assertGreaterEqual(len(image.threads), 2 if flags else 3)
                last = max(image.threads, key=lambda thread: thread.index)
                worked = int(re.fullmatch(said, done.stdout)[1]) * 1e-9
                self.check_time(last.amount("CPUTIME", [RECORDED]) * profiling.TIME_UNIT, worked, last.cpu, 0.001)

    def test_other_namespaces(self):
        self.check("dlmopen", MS // 2, 44, 0)
