/* The output of the programs in this folder: the time that each thread used in the program's own code
 * and, if it is known, while it waited in the runtime; per thread a line, times in ns:
 *     thread TID BODY-CPU BODY-WALL WAITING-CPU WAITING-WALL */
#ifndef TESTS_PROGRAMS_WAITING_LEDGER_H
#define TESTS_PROGRAMS_WAITING_LEDGER_H

#include "tests/programs/hpcrun/burn.h"

#include <sys/syscall.h>

enum { MOST_THREADS = 64 };

struct clocks {
    uint64_t cpu, wall;
};

/* Each thread writes its own. */
static struct account {
    long tid;
    struct clocks body, waiting;
    char padding[64];
} accounts[MOST_THREADS];

static inline struct clocks clocks_now(void)
{
    struct clocks now = {clock_ns(CLOCK_THREAD_CPUTIME_ID), clock_ns(CLOCK_MONOTONIC)};
    return now;
}

/* Adds what has passed since `begin`. */
static inline void clocks_add(struct clocks *sum, struct clocks begin)
{
    struct clocks now = clocks_now();
    sum->cpu += now.cpu - begin.cpu;
    sum->wall += now.wall - begin.wall;
}

static inline struct account *account_of(int thread)
{
    accounts[thread].tid = syscall(SYS_gettid);
    return &accounts[thread];
}

__attribute__((noinline, unused)) static void body(struct account *account, uint64_t ns)
{
    struct clocks begin = clocks_now();
    burn(ns);
    clocks_add(&account->body, begin);
}

static inline void print_ledger(void)
{
    for (int i = 0; i < MOST_THREADS; i++)
        if (accounts[i].tid)
            printf("thread %ld %llu %llu %llu %llu\n", accounts[i].tid,
                   (unsigned long long)accounts[i].body.cpu,
                   (unsigned long long)accounts[i].body.wall,
                   (unsigned long long)accounts[i].waiting.cpu,
                   (unsigned long long)accounts[i].waiting.wall);
}

#endif
