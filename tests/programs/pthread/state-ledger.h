/* The truth about who works, who waits, and for whom: every thread of a test program notes by the
 * clock when it begins to wait, goes on, gets a lock, frees it and ends. ledger_print merges the
 * notes of all threads and prints, in seconds:
 *
 *     total T       sum over time of the number of threads, n
 *     working W     of the number of threads that do not wait
 *     idle I        of the number of threads that wait while another one works
 *     held SITE S   of the number of threads that wait for a lock whose holder took it at SITE
 *     paid SITE S   the same over the CPU time of the holders
 *     late S        sum of what naps took too long, each beyond LEDGER_LATE: the machine was busy or halted
 *
 * Bodies of work are naps by a bare system call, which no profiler takes for a wait: so the truth
 * depends neither on the number of CPUs nor on their load. */
#ifndef TESTS_STATE_LEDGER_H
#define TESTS_STATE_LEDGER_H

#include "tests/tools/naps.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum ledger_kind { BEGIN, WAIT, WORK, TAKE, FREE, END };

#define LEDGER_NOTES   20000
#define LEDGER_THREADS 80
#define LEDGER_LOCKS   8
#define LEDGER_SITES   8
#define LEDGER_LATE    1000000 /* ns */

struct ledger_note {
    uint64_t at, cpu;       /* cpu: TAKE and FREE: CPU clock of the thread; WAIT: of the holder */
    int thread, lock, site; /* WAIT: for this lock, -1 for none; TAKE: a lock, at a site */
    int holder;             /* WAIT: thread that holds the lock; -1: none */
    enum ledger_kind kind;
};

static struct ledger_note ledger[LEDGER_THREADS][LEDGER_NOTES];
static int ledger_count[LEDGER_THREADS];
static int ledger_threads;
static __thread int ledger_self = -1;
static clockid_t ledger_clock[LEDGER_THREADS]; /* CPU clock of each thread */
static int ledger_holder[LEDGER_LOCKS];        /* thread that holds the lock, + 1; 0: none */
static uint64_t ledger_late;                   /* ns that naps took too long */

/* CPU time of a thread; 0: it has ended. */
static uint64_t ledger_cpu(clockid_t clock)
{
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void ledger_note(enum ledger_kind kind, int lock, int site)
{
    if (kind == BEGIN)
        ledger_self = __atomic_fetch_add(&ledger_threads, 1, __ATOMIC_RELAXED);
    if (ledger_self >= LEDGER_THREADS || ledger_count[ledger_self] == LEDGER_NOTES)
        abort();
    uint64_t cpu = 0;
    int holder = -1;
    if (kind == BEGIN)
        pthread_getcpuclockid(pthread_self(), &ledger_clock[ledger_self]);
    if (kind == TAKE)
        __atomic_store_n(&ledger_holder[lock], ledger_self + 1, __ATOMIC_RELEASE);
    if (kind == FREE)
        __atomic_store_n(&ledger_holder[lock], 0, __ATOMIC_RELEASE);
    if (kind == WAIT && lock >= 0)
        holder = __atomic_load_n(&ledger_holder[lock], __ATOMIC_ACQUIRE) - 1;
    if (kind == TAKE || kind == FREE || holder >= 0)
        cpu = ledger_cpu(ledger_clock[holder >= 0 ? holder : ledger_self]);
    ledger[ledger_self][ledger_count[ledger_self]++] =
        (struct ledger_note){clock_ns(CLOCK_MONOTONIC), cpu, ledger_self, lock, site, holder, kind};
}

/* Makes a call that waits, for a lock or for something else (-1). */
#define WAITING(lock, call)                                                                        \
    do {                                                                                           \
        ledger_note(WAIT, lock, -1);                                                               \
        call;                                                                                      \
        ledger_note(WORK, -1, -1);                                                                 \
    } while (0)

static inline void nap(unsigned microseconds)
{
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + microseconds * UINT64_C(1000);
    nap_until(until);
    uint64_t late = clock_ns(CLOCK_MONOTONIC) - until;
    if (late > LEDGER_LATE)
        __atomic_fetch_add(&ledger_late, late, __ATOMIC_RELAXED);
}

static int ledger_compare(const void *a, const void *b)
{
    const struct ledger_note *x = (const struct ledger_note *)a;
    const struct ledger_note *y = (const struct ledger_note *)b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void ledger_print(void)
{
    static struct ledger_note all[LEDGER_THREADS * LEDGER_NOTES];
    static int waits_for[LEDGER_THREADS];
    double total = 0, working = 0, idle = 0, held[LEDGER_SITES] = {0}, paid[LEDGER_SITES] = {0};
    uint64_t cpu_at[LEDGER_LOCKS] = {0}; /* CPU clock of the holder, up to which others have paid */
    int held_by[LEDGER_LOCKS];
    int n = 0, alive = 0, waiting = 0, waiters[LEDGER_LOCKS] = {0}, site_of[LEDGER_LOCKS];
    for (int lock = 0; lock < LEDGER_LOCKS; lock++)
        site_of[lock] = held_by[lock] = -1;
    for (int thread = 0; thread < ledger_threads; thread++)
        for (int i = 0; i < ledger_count[thread]; i++)
            all[n++] = ledger[thread][i];
    qsort(all, (size_t)n, sizeof *all, ledger_compare);
    for (int i = 0; i < n; i++) {
        const struct ledger_note *note = &all[i];
        double past = i ? (double)(note->at - all[i - 1].at) * 1e-9 : 0;
        total += past * alive;
        working += past * (alive - waiting);
        idle += alive > waiting ? past * waiting : 0;
        for (int lock = 0; lock < LEDGER_LOCKS; lock++)
            if (site_of[lock] >= 0)
                held[site_of[lock]] += past * waiters[lock];
        int lock = note->lock;
        bool is_of_holder = lock >= 0 && site_of[lock] >= 0 && note->cpu > cpu_at[lock] &&
                            held_by[lock] == (note->kind == WAIT ? note->holder : note->thread);
        if (is_of_holder) {
            paid[site_of[lock]] += (double)(note->cpu - cpu_at[lock]) * 1e-9 * waiters[lock];
            cpu_at[lock] = note->cpu;
        }
        switch (note->kind) {
        case BEGIN: alive++; break;
        case END: alive--; break;
        case WAIT:
            waiting++;
            waits_for[note->thread] = lock;
            waiters[lock >= 0 ? lock : 0] += lock >= 0;
            break;
        case WORK:
            waiting--;
            lock = waits_for[note->thread];
            waiters[lock >= 0 ? lock : 0] -= lock >= 0;
            break;
        case TAKE:
            site_of[lock] = note->site;
            held_by[lock] = note->thread;
            cpu_at[lock] = note->cpu;
            break;
        case FREE: site_of[lock] = held_by[lock] = -1; break;
        }
    }
    printf("total %.6f\nworking %.6f\nidle %.6f\n", total, working, idle);
    printf("late %.6f\n", (double)ledger_late * 1e-9);
    for (int site = 0; site < LEDGER_SITES; site++)
        if (held[site] > 0)
            printf("held %d %.6f\npaid %d %.6f\n", site, held[site], site, paid[site]);
}

#endif
