/* Waiting for work without a busy CPU, and without losing a wake-up.
 *
 * Pushes are too frequent to announce anything: they only read a flag, minicilk_need_wake, relaxed.
 * The last worker that looks for work sets it before it goes to sleep; then a membarrier makes sure
 * that every push either has become visible, and the look around that follows finds its frame, or
 * sees the flag. While anybody looks for work no push needs to wake anyone; a worker that finds
 * work as the last one looking wakes one more, to look in its place.
 *
 * Order matters: `asleep` is set before `searchers` goes down, so that whoever becomes last
 * afterwards sees all sleepers. */
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "minicilk-runtime.h"

_Atomic unsigned char minicilk_need_wake;

/* Rounds through all victims before a worker sleeps, with pauses between them: some 50 us in all, a
 * few times what a wake-up costs. Where there are more workers than CPUs, the one that has work may
 * wait for this CPU: then each round gives it away. */
enum { ROUNDS = 32, PAUSES = 32 };

/* Where there is no membarrier, a push may miss the flag; then the last one looks again this often.
 */
enum { PATIENCE_NS = 2 * 1000 * 1000 };

static _Alignas(64) atomic_int searchers; /* workers that look for work, awake */
static bool crowded;                      /* more workers than CPUs */

#ifndef MINICILK_UNTAGGED
#line 35 "hpctoolkit:parallel-overhead:steal"
#endif
RUNTIME_CODE void minicilk_idle_init(void)
{
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
    const struct timespec patience = {.tv_nsec = PATIENCE_NS};
    while (atomic_load(&worker->asleep)) {
        syscall(SYS_futex, &worker->asleep, FUTEX_WAIT_PRIVATE, 1, forever ? NULL : &patience, NULL,
                0);
        if (!forever)
            break;
    }
    atomic_store(&worker->asleep, 0);
}

/* Makes pushes from now on wake somebody. Whether there is work already. */
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
        wait_until_woken(worker, !last || !minicilk_fenced);
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
