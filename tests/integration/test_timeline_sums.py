"""The whole chain: what the records of a full trace pay are the values of the profile, in every context and metric of both
projections, to the unit. Only `lock wait` is no sample's, and hpcrun traces no kernel time of processors."""
import os
import signal
import unittest
from unittest import mock

import profiling
from timeline_reader import paid, read_timeline, read_trace
from v4_reader import read_database

FIB = profiling.BUILD / "tests" / "programs" / "cilk" / "fib"
UNIT = 1024e9  # of amounts in a second
NOT_TRACED = {"lock wait"}

BURN = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
static void burn(long n) { for (long i = 0; i < n * 100000; i++) sink += i; }
"""

SERIAL = "static void inner(void) { burn(300); }\nint main(void) { inner(); burn(300); return 0; }\n"

THREADS = r"""
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static void *work(void *number)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        burn(3);
        pthread_mutex_unlock(&lock);
        burn(2 * (long)number);
        if (i % 3 == 0)
            usleep(1000);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}
int main(void)
{
    pthread_t id[3];
    pthread_barrier_init(&barrier, NULL, 3);
    for (long i = 0; i < 3; i++)
        pthread_create(&id[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(id[i], NULL);
    return 0;
}
"""

OPENMP = r"""
int main(void)
{
    for (int round = 0; round < 5; round++) {
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < 9; i++)
            burn(i);
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 9; i++) {
#pragma omp task
            burn(2);
        }
    }
    return 0;
}
"""

FORKS = r"""
int main(void)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            burn(100 * i);
            _exit(0);
        }
    burn(100);
    while (wait(NULL) > 0)
        ;
    return 0;
}
"""

KILLED = "int main(void) { burn(400); kill(getpid(), SIGKILL); }\n"


class Sums(profiling.ProfilingTest):
    def build(self, code, *flags):
        return self.compile_text("program", BURN + code, "-O1", "-g", "-pthread", *flags)

    def compare(self, line, folder, projection):
        db = read_database(folder)
        traces = read_trace(folder, db)
        names = [metric.name for metric in db.metrics]
        kernel = {context.id for context in db.contexts.values()
                  if context.function and context.function.name == "<kernel, unattributed>"}
        for number, profile in enumerate(db.profiles[1:], 1):
            found = {}
            for context, row in profile.values.items():
                for metric, value in row.items():
                    name, scope = (item.name for item in db.meta.prop_ids[metric])
                    if scope == "point" and name not in NOT_TRACED and context not in kernel:
                        found[context, name] = value
            sums = paid(line.threads[number], projection, names)
            self.assertEqual({key: amount / UNIT for key, amount in sums.items()}, found, (projection, number))
            self.assertLessEqual({context for _, context in traces.get(number, ())} - {0}, set(profile.values))

    def check(self, *command, status=0, **environment):
        for event in ("CPUTIME@f1000", "REALTIME@f1000"):
            with mock.patch.dict(os.environ, environment):
                self.measure(*command, events=[event], options=["--trace", "full"], status=status)
            database = self.make_database()
            line = read_timeline(database)
            self.assertTrue(any(thread.records for thread in line.threads.values()))
            self.assertTrue(all(thread.step == 1 for thread in line.threads.values()))
            self.compare(line, database, "logical")
            self.compare(line, database / "physical", "physical")

    def test_serial(self):
        self.check(self.build(SERIAL))

    def test_cilk(self):
        self.check(FIB, "-w", "3", "30")

    def test_threads(self):
        self.check(self.build(THREADS))

    def test_openmp(self):
        self.check(self.build(OPENMP, "-fopenmp"), OMP_NUM_THREADS="3")

    def test_forks(self):
        self.check(self.build(FORKS))

    def test_a_killed_process(self):
        """It kills itself, so no sample of it is unfinished."""
        self.check(self.build(KILLED), status=-signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
