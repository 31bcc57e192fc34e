/* library-mode MS: Cilk-5 as a library, written by hand without Cilk-5: what its agent reads of one worker that
 * runs the first procedure, and the functions on the stacks of both threads.
 *
 *     the worker                              the thread that calls
 *     Cilk_child_main                         main            main, in a thread of its own
 *       Cilk_scheduler                          first           second
 *         invoke_main_slow                        mt_work         mt_work
 *           _cilk_work_import                       Cilk_start      Cilk_start
 *             work: burns MS, or 2 MS                 Cilk_wakeup_workers
 *
 * Prints the CPU time, in ns, of work as called by first and by second. */
#include "tests/programs/hpcrun/burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRAM __attribute__((noinline))

/* Functions in this order, as the linker leaves those of a runtime: static ones lie between exported ones. */
#ifdef __clang__
#define RUNTIME PROGRAM
#else
#define RUNTIME __attribute__((noinline, no_reorder))
#endif

extern int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;
int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;

/* ---- the runtime's structures, of agents/cilk5/cilk5-runtime.h ---- */

enum { RUNNING = 42, READY = 45 };

static const void *first_frame[4];
static const void *const stack[] = {first_frame};

static struct {
    uint64_t cache[3];
    const void *const *stack;
    uint64_t other[8];
    uint32_t self;
    uint8_t more[276];
    const void *context;
} worker = {.stack = stack};

static struct {
    uint8_t mutex[40];
    uint32_t join_counter;
    volatile uint32_t status;
    uint64_t other[4];
    const void *parent, *frame;
    uint64_t abort;
    const void *cache;
    uint64_t more[12];
} closure = {.status = READY, .frame = first_frame, .cache = &worker};

static struct {
    uint8_t mutex[40];
    uint64_t top;
    const void *volatile bottom;
    uint8_t pad[64];
} deque;

static const struct {
    uint64_t other[4];
    uint32_t workers, more[5];
    const void *deques;
} parameters = {.workers = 1, .deques = &deque};

static const struct {
    const void *parameters, *state;
} context = {.parameters = &parameters};

_Static_assert(offsetof(__typeof__(worker), self) == 96 && offsetof(__typeof__(worker), context) == 376 &&
                   offsetof(__typeof__(closure), status) == 44 && offsetof(__typeof__(closure), parent) == 80 &&
                   offsetof(__typeof__(closure), cache) == 104 && offsetof(__typeof__(deque), bottom) == 48 &&
                   offsetof(__typeof__(parameters), deques) == 56,
               "as the agent reads them");

/* ---- the runtime ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wakeup = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static bool has_work, is_terminating;
static void (*import)(void);

void Cilk_scheduler(void);
void Cilk_wakeup_workers(void);
void Cilk_start(void (*its_import)(void));

RUNTIME void Cilk_wakeup_workers(void)
{
    pthread_mutex_lock(&mutex);
    has_work = true;
    pthread_cond_broadcast(&wakeup);
    while (has_work)
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

RUNTIME static void invoke_main_slow(void)
{
    import();
    burn_sink++;
}

RUNTIME void Cilk_scheduler(void)
{
    closure.status = RUNNING;
    deque.bottom = &closure;
    invoke_main_slow();
    deque.bottom = NULL;
    closure.status = READY;
}

RUNTIME void Cilk_start(void (*its_import)(void))
{
    import = its_import;
    Cilk_wakeup_workers();
    burn_sink++;
}

RUNTIME static void *Cilk_child_main(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&mutex);
    while (!is_terminating) {
        if (has_work) {
            pthread_mutex_unlock(&mutex);
            Cilk_scheduler();
            pthread_mutex_lock(&mutex);
            has_work = false;
            pthread_cond_broadcast(&done);
        } else {
            pthread_cond_wait(&wakeup, &mutex);
        }
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* ---- the program ---- */

static uint64_t wanted, took;

void work(void);
void _cilk_work_import(void);
void mt_work(void);

PROGRAM void work(void)
{
    took = burn(wanted);
}

PROGRAM void _cilk_work_import(void)
{
    work();
    burn_sink++;
}

PROGRAM void mt_work(void)
{
    Cilk_start(_cilk_work_import);
    burn_sink++;
}

PROGRAM static void first(void)
{
    mt_work();
    burn_sink++;
}

PROGRAM static void *second(void *argument)
{
    mt_work();
    burn_sink++;
    return argument;
}

int main(int count, char **arguments)
{
    static const struct {
        const void *context;
        int id;
    } child = {&context, 0};
    pthread_t its, other;
    worker.context = &context;
    wanted = (uint64_t)(count > 1 ? atoi(arguments[1]) : 100) * 1000000;
    if (pthread_create(&its, NULL, Cilk_child_main, (void *)&child) != 0)
        return 1;
    first();
    uint64_t by_first = took;
    wanted *= 2;
    if (pthread_create(&other, NULL, second, NULL) != 0)
        return 1;
    pthread_join(other, NULL);
    printf("%llu %llu\n", (unsigned long long)by_first, (unsigned long long)took);
    pthread_mutex_lock(&mutex);
    is_terminating = true;
    pthread_cond_broadcast(&wakeup);
    pthread_mutex_unlock(&mutex);
    return pthread_join(its, NULL);
}
