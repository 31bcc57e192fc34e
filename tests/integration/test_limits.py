"""The program has what it had without the profiler: of its user's limits, and of the loader's static storage."""
import itertools
import os
import resource
import re
import subprocess

import profiling
from profiling import BUILD, FIRED, program, sources

# One that keeps to the interface, and looks at each object and symbol.
AUDITOR = """
    #define _GNU_SOURCE
    #include <link.h>
    static int objects;
    unsigned la_version(unsigned version) { return LAV_CURRENT; }
    unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
    { objects++; return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
    uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *by, uintptr_t *in, unsigned *flags,
                           const char *name)
    { return symbol->st_value; }
    """

# Thread-local storage of a megabyte, in the program itself.
LARGE_TLS = """
    #include <pthread.h>
    #include <stdio.h>
    #include <string.h>
    static __thread char large[1 << 20];
    static void *use(void *sum)
    {
        for (int i = 0; i < 200; i++) memset(large, i, sizeof large);
        *(long *)sum += large[1 << 19];
        return sum;
    }
    int main(void)
    {
        pthread_t thread;
        long sum = 0;
        if (pthread_create(&thread, 0, use, &sum) != 0) return 1;
        pthread_join(thread, 0);
        use(&sum);
        printf("%ld\\n", sum);
        return 0;
    }
    """

MOST_STATIC_TLS = 64  # bytes of libhpcrun.so: doc/limits.md


class Auditors(profiling.ProfilingTest):
    """The loader initializes the storage of threads before it loads auditors. What libraries need that are loaded later
    comes from a reserve of 1.6 KB."""

    def test_programs_start(self):
        """With auditors, with little reserve, and with much storage of their own."""
        auditors = [self.compile_text(f"auditor{i}.so", AUDITOR, "-O1", "-shared", "-fPIC") for i in range(3)]
        large = self.compile_text("large", LARGE_TLS, "-O1", "-pthread")
        for n, tunable in ((1, ""), (3, ""), (1, "glibc.rtld.optional_static_tls=0"),
                           (1, "glibc.rtld.nns=1:glibc.rtld.optional_static_tls=0")):
            with self.subTest(auditors=n, tunable=tunable):
                done, images = self.measure("env", "LD_AUDIT=" + ":".join(map(str, auditors[:n])),
                                            f"GLIBC_TUNABLES={tunable}", large)
                self.assertEqual(done.stdout, "-114\n")
                self.check_fates(images)
                self.assertGreater(images[-1].count("CPUTIME", [FIRED]), 0)

    def test_static_storage(self):
        def size(library):
            lines = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True).stdout
            return sum(int(found, 16) for found in re.findall(r"^ +TLS +(?:\S+ +){4}(\S+)", lines, re.M))
        self.assertLessEqual(size(BUILD / "lib" / "libhpcrun.so"), MOST_STATIC_TLS)
        agents = sorted((BUILD / "lib" / "agents").glob("*.so"))
        self.assertGreater(len(agents), 5)
        self.assertEqual([agent.name for agent in agents if size(agent)], [])


class Limits(profiling.ProfilingTest):
    users = itertools.count(100000 + os.getpid() % 100000 * 16)

    def left(self, limit, soft, user=None, how=None):
        """Signals and descriptors that are left, and the limit of descriptors, under hpcrun if `how` is given."""
        hard = resource.getrlimit(limit)[1]
        option = "--sigpending" if limit == resource.RLIMIT_SIGPENDING else "--nofile"
        command = ["prlimit", f"{option}={soft}:{hard if hard >= 0 else 'unlimited'}", program("limits_left"), 16]
        done = self.measure(*command, user=user, **how)[0] if how is not None else self.run_tool(*command, user=user)
        return [int(word) for word in done.stdout.split()], done.stderr

    def test_queued_signals(self):
        """A user of its own has nothing queued elsewhere. A timer takes one signal as long as it exists."""
        if os.geteuid() != 0:
            self.skipTest("only root can be a user that nobody else is")
        for soft, most in ((40, 0), (63, 0), (100, 6), (300, 20)):
            for event in ("CPUTIME@f1000", "REALTIME@f1000"):
                with self.subTest(f"{soft} {event}"):
                    (signals, _, _), _ = self.left(resource.RLIMIT_SIGPENDING, soft, next(self.users))
                    self.assertEqual(signals, soft)
                    (signals, _, _), stderr = self.left(resource.RLIMIT_SIGPENDING, soft, next(self.users),
                                                        {"events": [event], "deny_perf": True})
                    self.assertGreaterEqual(signals, soft - most)
                    self.assertEqual("no source: " in stderr, soft < 64, stderr)
                    self.assertEqual("11 threads have no samples of" in stderr, soft == 100, stderr)

    def test_descriptors(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if 0 <= hard < 1000:
            self.skipTest("the hard limit is too low")
        for soft in (30, 256):
            (_, alone, _), _ = self.left(resource.RLIMIT_NOFILE, soft)
            for name, how in sources():
                with self.subTest(f"{soft} {name}"):
                    (_, descriptors, limit), _ = self.left(resource.RLIMIT_NOFILE, soft, how=how)
                    self.assertEqual((descriptors, limit), (alone, soft))
