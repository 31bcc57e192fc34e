/* working-threads SCALE: phases, in which it compares how many threads work for the agent with clocks
 * of its own.
 *
 * Bodies sleep by a bare system call, which no profiler takes for a wait, so the truth depends neither
 * on the number of CPUs nor on their load. A thread beside OpenMP counts about 1,000 times a second, at
 * random instants and before all others, if it may. For each phase the program prints
 *     phase NAME SECONDS CLOCKS AGENT SAME
 * its length; the mean number of threads in bodies, by the clocks of the bodies; the mean of the
 * agent's numbers; and that of the threads in bodies at the same instants. So AGENT - SAME is free of
 * the chance that lies in the choice of instants. */
#define _GNU_SOURCE
#include "tests/programs/openmp/agent-states.h"
#include "tests/programs/openmp/construct-phases.h"
#include "tests/tools/naps.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int in_bodies;
static _Atomic uint64_t body_time; /* ns, of all threads */

void body(int milliseconds)
{
    const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    in_bodies++;
    nap_until(begin + (uint64_t)milliseconds * 1000000);
    in_bodies--;
    body_time += clock_ns(CLOCK_MONOTONIC) - begin;
}

static struct {
    long looks, working, in_bodies;
} seen;
static _Atomic bool is_looking;

static void *look(void *unused)
{
    const struct sched_param first = {.sched_priority = 1};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
    for (unsigned random = 1; is_looking; random = random * 1103515245 + 12345) {
        nap_until(clock_ns(CLOCK_MONOTONIC) + 500000 + (random >> 12) % 1000000);
        seen.working +=
            slots_count(&hpctoolkit_thread_slots, RUNTIME).working + threads_that_take_tasks();
        seen.in_bodies += in_bodies;
        seen.looks++;
    }
    return unused;
}

static void run(const struct phase *phase)
{
    pthread_t thread;
    memset(&seen, 0, sizeof seen);
    is_looking = true;
    if (pthread_create(&thread, NULL, look, NULL) != 0)
        abort();
    body_time = 0;
    const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    phase->run();
    const double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - begin) * 1e-9;
    is_looking = false;
    pthread_join(thread, NULL);
    const double looks = (double)seen.looks;
    printf("phase %s %.3f %.3f %.3f %.3f\n", phase->name, seconds,
           (double)body_time * 1e-9 / seconds, (double)seen.working / looks,
           (double)seen.in_bodies / looks);
}

int main(int count, char **arguments)
{
    scale = count > 1 ? atoi(arguments[1]) : 20;
    if (!&hpctoolkit_thread_slots)
        return 1;
    for (const struct phase *phase = phases; phase->run; phase++)
        run(phase);
    return 0;
}
