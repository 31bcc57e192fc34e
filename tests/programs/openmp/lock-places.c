/* lock-places KIND THREADS ROUNDS: threads of a region that want one lock at three places, which hold it for 7, 2 and
 * 1 ms of CPU time, with a ledger of the truth (state-ledger.h). Critical sections without a name are one lock. */
#include "tests/programs/pthread/state-ledger.h"

#include <omp.h>
#include <stdlib.h>

enum kind { UNNAMED, NAMED, BY_LOCK, BY_NEST_LOCK, BY_TEST_LOCK };

omp_lock_t queue_lock;
static omp_nest_lock_t nest_lock;

static double per_burn; /* turns of the loop for a microsecond */

static void turn_around(double turns)
{
    for (volatile double i = 0; i < turns; i += 1)
        ;
}

static void hold(int site, double microseconds)
{
    ledger_note(WORK, -1, -1);
    ledger_note(TAKE, 0, site);
    turn_around(microseconds * per_burn);
    ledger_note(FREE, 0, -1);
}

static void lock_it(enum kind kind)
{
    switch (kind) {
    case BY_NEST_LOCK:
        omp_set_nest_lock(&nest_lock);
        omp_set_nest_lock(&nest_lock);
        break;
    case BY_TEST_LOCK: /* thread 0 tries until it has the lock: it does not wait */
        while (omp_get_thread_num() == 0 && !omp_test_lock(&queue_lock))
            ;
        if (omp_get_thread_num() == 0)
            break;
        __attribute__((fallthrough));
    default: omp_set_lock(&queue_lock); break;
    }
}

static void unlock_it(enum kind kind)
{
    if (kind != BY_NEST_LOCK) {
        omp_unset_lock(&queue_lock);
        return;
    }
    omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
}

/* A place: a function with a section of each kind. */
#define PLACE(name, site, microseconds)                                                            \
    __attribute__((noinline)) static void name(enum kind kind)                                     \
    {                                                                                              \
        bool tries = kind == BY_TEST_LOCK && omp_get_thread_num() == 0;                            \
        ledger_note(WAIT, tries ? -1 : 0, -1);                                                     \
        if (kind == UNNAMED) {                                                                     \
            _Pragma("omp critical") hold(site, microseconds);                                      \
        } else if (kind == NAMED) {                                                                \
            _Pragma("omp critical(queue)") hold(site, microseconds);                               \
        } else {                                                                                   \
            lock_it(kind);                                                                         \
            hold(site, microseconds);                                                              \
            unlock_it(kind);                                                                       \
        }                                                                                          \
        nap(50);                                                                                   \
    }
PLACE(hold_long, 0, 7000)
PLACE(hold_short, 1, 2000)
PLACE(hold_briefly, 2, 1000)

static void calibrate(void)
{
    uint64_t began = ledger_cpu(CLOCK_THREAD_CPUTIME_ID);
    turn_around(1e7);
    per_burn = 1e7 / ((double)(ledger_cpu(CLOCK_THREAD_CPUTIME_ID) - began) / 1000);
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    enum kind kind = (enum kind)atoi(arguments[1]);
    int threads = atoi(arguments[2]), rounds = atoi(arguments[3]);
    omp_init_lock(&queue_lock);
    omp_init_nest_lock(&nest_lock);
    calibrate();
#pragma omp parallel num_threads(threads)
    {
        ledger_note(BEGIN, -1, -1);
        for (int i = 0; i < rounds; i++) {
            hold_long(kind);
            hold_short(kind);
            hold_briefly(kind);
        }
        ledger_note(END, -1, -1);
    }
    ledger_print();
    return 0;
}
