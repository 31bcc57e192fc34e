/* slow-team WAKES: counts the working threads of two regions of two threads, as another thread's
 * sample would. At the start of the first one the master makes the other thread, then waits for it to
 * come. Both last as long as the program wants:
 *
 *   - libgomp calls this program's pthread_create, which computes for a while in make_slowly;
 *   - the new thread handles a signal before anything else. There it sleeps until the master has slept
 *     and woken WAKES times, and counts. Each sample wakes the master, since it interrupts a system
 *     call.
 *
 * The second region is one of gcc before 4.9, where the master calls the body itself. It counts while
 * both are in their bodies. */
#define _GNU_SOURCE
#include "agents/common/thread-slots.c"
#include "tests/programs/hpcrun/burn.h"
#include "tests/tools/sleeping-threads.h"
#include "tests/tools/working-yield.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>

/* hpcrun's, if that runs the program. */
extern struct agent_slots hpctoolkit_thread_slots __attribute__((weak));

void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);

static void count_working(const char *when)
{
    if (&hpctoolkit_thread_slots)
        printf("%s %u\n", when, slots_count(&hpctoolkit_thread_slots, RUNTIME_GOMP).working);
}

/* -------- the first region -------- */

static long wakes;
static char master[16]; /* its name in /proc/self/task */

static void wait_until_master_has_slept(long times)
{
    long first = 0, last = 0;
    while (!thread_sleeps(master, &first))
        sched_yield();
    while (!thread_sleeps(master, &last) || last < first + times)
        sched_yield();
}

/* In the new thread, before libgomp's code runs there. */
static void delay_start(int signal)
{
    (void)signal;
    wait_until_master_has_slept(wakes);
    count_working("start");
}

__attribute__((noinline)) static void make_slowly(void)
{
    burn(200000000);
    __asm__ volatile("");
}

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The signal is pending for the process, since all its threads block it. The new one does not, so that
 * it gets the signal at once. */
int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument)
{
    pthread_attr_t unblocked = *attributes;
    sigset_t none;
    sigemptyset(&none);
    pthread_attr_setsigmask_np(&unblocked, &none);
    make_slowly();
    kill(getpid(), SIGUSR1);
    return ((create *)dlsym(RTLD_NEXT, "pthread_create"))(id, &unblocked, function, argument);
}

/* -------- the second region -------- */

static atomic_bool is_in_body, has_counted;

static void body(void *unused)
{
    (void)unused;
    is_in_body = true;
    while (!has_counted)
        working_yield();
}

static void old_region(void)
{
    GOMP_parallel_start(body, NULL, 2);
    while (!is_in_body)
        working_yield();
    count_working("body");
    has_counted = true;
    body(NULL);
    GOMP_parallel_end();
}

int main(int count, char **arguments)
{
    sigset_t own;
    wakes = count > 1 ? atol(arguments[1]) : 0;
    snprintf(master, sizeof master, "%d", (int)gettid());
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &own, NULL);
    signal(SIGUSR1, delay_start);
#pragma omp parallel num_threads(2)
    {
    }
    old_region();
    return 0;
}
