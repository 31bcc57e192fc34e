/* Idle workers sleep, and no wake-up is lost.
 *
 * Pushes are too frequent to announce themselves: they only read the flag minicilk_need_wake,
 * relaxed, and wake a worker if it is set. It is 0 while some worker searches for work. A worker
 * that finds no work
 *   1. sets `asleep`, and only then decrements `searchers`: so the last searcher sees all sleepers;
 *   2. sleeps, unless it was the last searcher. That one
 *   3. sets minicilk_need_wake,
 *   4. executes a membarrier: every push has either become visible, or will see the flag,
 *   5. looks for visible work once more, and sleeps if there is none.
 * If the last searcher finds work, it wakes another worker to search in its place. */
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "minicilk-runtime.h"

_Atomic unsigned char minicilk_need_wake;

static bool fenced; /* no membarrier: owners execute barriers themselves */

/* Rounds through all victims before a worker sleeps, with pauses in between: about 50 us in all, a
 * few times the cost of a wake-up. With more workers than CPUs each round yields the CPU, since the
 * worker that has work may be waiting for it. */
enum { ROUNDS = 32, PAUSES = 32 };

/* Without membarrier a push may miss the flag; the last searcher looks again at this interval. */
enum { RECHECK_NS = 2 * 1000 * 1000 };

static _Alignas(64) atomic_int searchers; /* workers that search for work, awake */
static bool crowded;                      /* more workers than CPUs */

#ifndef MINICILK_UNTAGGED
#line 38 "hpctoolkit:parallel-overhead:steal"
#endif
RUNTIME_CODE void minicilk_barrier_everywhere(void)
{
    if (!fenced)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

RUNTIME_CODE void minicilk_tell_before(struct worker *worker, struct minicilk_slot *slot)
{
    worker->told = slot;
    worker->inlined.slow = fenced ? worker->inlined.limit : slot;
}

RUNTIME_CODE void minicilk_idle_init(void)
{
    fenced = MINICILK_IN_MODE(MINICILK_NO_MEMBARRIER) ||
             syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    for (int i = 0; i < minicilk_runtime.count; i++) {
        struct worker *worker = &minicilk_runtime.workers[i];
        minicilk_tell_before(worker, minicilk_observer ? worker->inlined.limit : NULL);
    }
    atomic_store(&searchers, 0);
    atomic_store(&minicilk_need_wake, 0);
    crowded = minicilk_runtime.count > minicilk_usable_cpus();
}

RUNTIME_CODE void minicilk_wake(struct worker *worker)
{
    if (atomic_load(&worker->asleep) && atomic_exchange(&worker->asleep, 0))
        syscall(SYS_futex, &worker->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

RUNTIME_CODE void minicilk_wake_one(void)
{
    atomic_store(&minicilk_need_wake, 0);
    for (int i = 0; i < minicilk_runtime.count; i++) {
        struct worker *worker = &minicilk_runtime.workers[i];
        if (atomic_load(&worker->asleep) && atomic_exchange(&worker->asleep, 0)) {
            syscall(SYS_futex, &worker->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
            return;
        }
    }
}

RUNTIME_CODE static void wait_until_woken(struct worker *worker, bool forever)
{
    const struct timespec recheck = {.tv_nsec = RECHECK_NS};
    while (atomic_load(&worker->asleep)) {
        syscall(SYS_futex, &worker->asleep, FUTEX_WAIT_PRIVATE, 1, forever ? NULL : &recheck, NULL,
                0);
        if (!forever)
            break;
    }
    atomic_store(&worker->asleep, 0);
}

/* From now on pushes wake a worker. Returns whether there is work already. */
RUNTIME_CODE static bool watch_pushes(void)
{
    atomic_store(&minicilk_need_wake, 1);
    minicilk_barrier_everywhere();
    return minicilk_work_visible();
}

RUNTIME_CODE static void fall_asleep(struct worker *worker)
{
    atomic_store(&worker->asleep, 1);
    const bool last = atomic_fetch_sub(&searchers, 1) == 1;
    if ((last && watch_pushes()) || minicilk_ended(worker))
        atomic_store(&worker->asleep, 0);
    else
        wait_until_woken(worker, !last || !fenced);
    atomic_fetch_add(&searchers, 1);
}

RUNTIME_CODE static void pause_between_rounds(void)
{
    if (crowded)
        sched_yield();
    for (int i = 0; i < PAUSES && !crowded; i++)
        __builtin_ia32_pause();
}

RUNTIME_CODE static struct minicilk_frame *search(struct worker *worker)
{
    for (int round = 0; round < ROUNDS && !minicilk_ended(worker); round++) {
        struct minicilk_frame *frame = minicilk_steal(worker);
        if (frame)
            return frame;
        pause_between_rounds();
    }
    return NULL;
}

RUNTIME_CODE static void stop_searching(bool found)
{
    if (atomic_fetch_sub(&searchers, 1) != 1)
        return;
    if (found)
        minicilk_wake_one();
    else
        atomic_store(&minicilk_need_wake, 1);
}

RUNTIME_CODE struct minicilk_frame *minicilk_find_work(struct worker *worker)
{
    struct minicilk_frame *frame = NULL;
    atomic_fetch_add(&searchers, 1);
    while (!frame && !minicilk_ended(worker)) {
        frame = search(worker);
        if (!frame && !minicilk_ended(worker))
            fall_asleep(worker);
    }
    stop_searching(frame != NULL);
    return frame;
}
