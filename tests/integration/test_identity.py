"""What hpcrun takes from a program and says of it: its signals, the names of its threads, its call paths while
it sleeps."""
import os

import profiling
from logical_case import LogicalTest, walk

BURN = profiling.ROOT / "tests" / "programs" / "hpcrun"  # has burn.h

# Counts the SIGPROFs of its own timer, or, called with an argument, those that nobody asked for. Then blocks
# SIGPROF and sends itself one: prints whether that is pending.
SIGNALS = r"""
#include "burn.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int n_profiles;
static void count_profile(int signal)
{
    (void)signal;
    n_profiles++;
}
int main(int count, char **arguments)
{
    const struct itimerval often = {{0, 10000}, {0, 10000}};
    (void)arguments;
    signal(SIGPROF, count_profile);
    if (count == 1)
        setitimer(ITIMER_PROF, &often, NULL);
    burn(300000000);
    printf("%d ", n_profiles);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPROF);
    sigpending(&set);
    printf("%d\n", sigismember(&set, SIGPROF));
    return 0;
}
"""

# Names its threads and burns some time in each; one keeps the name that it inherits, one lives until the process
# ends.
NAMES = r"""
#define _GNU_SOURCE
#include "burn.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *run(void *name)
{
    char own[16];
    if (name)
        pthread_setname_np(pthread_self(), name);
    prctl(PR_GET_NAME, own);
    printf("%ld %s\n", syscall(SYS_gettid), own);
    fflush(stdout);
    burn(20000000);
    return NULL;
}
static pthread_barrier_t has_run;
static void *stay(void *name)
{
    run(name);
    pthread_barrier_wait(&has_run);
    pause();
    return NULL;
}
int main(void)
{
    char *names[] = {"reader", "writer 2", "a name of 15 by", NULL};
    pthread_t threads[5];
    pthread_barrier_init(&has_run, NULL, 2);
    pthread_create(&threads[4], NULL, stay, "stays");
    pthread_barrier_wait(&has_run);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run, names[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    run(NULL);
    return 0;
}
"""

# Sleeps 0.1 s in each of several calls that hpcrun wraps.
SLEEPS = r"""
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
#define CALL(name, ...) __attribute__((noinline)) static void name(void) { __VA_ARGS__; __asm__ volatile(""); }
static const struct timespec tenth = {0, 100000000};
CALL(in_nanosleep, nanosleep(&tenth, NULL))
CALL(in_usleep, usleep(100000))
CALL(in_poll, poll(NULL, 0, 100))
CALL(in_select, struct timeval t = {0, 100000}; select(0, NULL, NULL, NULL, &t))
CALL(in_clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &tenth, NULL))
int main(void)
{
    in_nanosleep();
    in_usleep();
    in_poll();
    in_select();
    in_clock_nanosleep();
    return 0;
}
"""

# The first instruction of a function raises a signal, whose handler works for 0.3 s and goes on behind it.
FIRST_INSTRUCTION = r"""
#define _GNU_SOURCE
#include "burn.h"
#include <signal.h>
#include <ucontext.h>
void before(void);
void raises_at_once(void);
__asm__(".text\n"
        ".globl before, raises_at_once\n"
        ".type before, @function\n"
        "before: .cfi_startproc\n"
        "    nop\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size before, . - before\n"
        ".type raises_at_once, @function\n"
        "raises_at_once: .cfi_startproc\n"
        "    ud2\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size raises_at_once, . - raises_at_once\n");
static void handler(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    burn(300000000);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}
int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
    before();
    raises_at_once();
    return 0;
}
"""


class Identity(LogicalTest):
    def build(self, source):
        return self.compile_text("program", source, "-O1", "-g", "-I", BURN, "-lpthread")

    def test_signals(self):
        """SIGPROF stays the program's: it gets those of its own timer, and no other."""
        program = self.build(SIGNALS)
        for name, source in profiling.sources():
            for arguments, least, most in ((["no timer"], 0, 0), ([], 5, 100)):
                with self.subTest(name, arguments=arguments):
                    done, (image,) = self.measure(program, *arguments, **source)
                    seen, pending = map(int, done.stdout.split())
                    self.assertTrue(least <= seen <= most, seen)
                    self.assertEqual(pending, 1)
                    self.check_time(image.seconds("CPUTIME", [profiling.FIRED]), 0.3, image.cpu, 0.0015)

    def test_names_of_threads(self):
        done, (image,) = self.measure(self.build(NAMES))
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        self.assertEqual(sorted(said.values()), ["a name of 15 by", "program", "program", "reader", "stays",
                                                 "writer 2"])
        self.assertEqual({thread.tid: thread.name for thread in image.threads},
                         {int(tid): name for tid, name in said.items()})

    def test_no_frame_of_ours_in_a_sleep(self):
        self.profile(self.build(SLEEPS), events=("REALTIME@f1000",))
        self.assertFalse([node for path in walk(self.tree) for node in path
                          if os.path.basename(node.get("module") or "") == "libhpcrun.so"])
        for name in ("in_nanosleep", "in_usleep", "in_poll", "in_select", "in_clock_nanosleep"):
            self.assertGreater(self.value("work", name), 0.09, name)
            above = {tuple(node["name"] for node in path if node["kind"] == "procedure")
                     for path in walk(self.tree) if path[-1]["name"] == name}
            self.assertEqual({names[-2:] for names in above}, {("main", name)})

    def test_the_frame_that_a_signal_interrupted(self):
        """Its pc is an instruction's address, not a return address: at a function's first instruction it is that
        function's."""
        for name, source in profiling.sources():
            with self.subTest(name):
                self.profile(self.build(FIRST_INSTRUCTION), events=("CPUTIME@f1000",), **source)
                self.assertGreater(self.value("work", "raises_at_once"), 0.25, self.sampled_paths())
                self.assertEqual(self.value("work", "before"), 0)
                paths = {tuple(node["name"] for node in path if node["kind"] == "procedure")
                         for path in walk(self.tree) if path[-1]["name"] == "handler"}
                self.assertEqual({path[path.index("main"):-1][:2] for path in paths}, {("main", "raises_at_once")})
