// CPU time of each phase of a program, by the clocks of its threads: of the thread that called the
// phase, which is the initial one, and of all others together.
#ifndef TESTS_PROGRAMS_POOLS_LEDGER_H
#define TESTS_PROGRAMS_POOLS_LEDGER_H

#include "tests/programs/hpcrun/burn.h"

#include <atomic>
#include <cstdio>

struct ledger {
    std::atomic<uint64_t> burned[2], counted[2]; // of the caller, of the others
    uint64_t phase;                              // the caller's clock over the call of the phase

    void use(uint64_t ns)
    {
        uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        int who = getpid() != gettid();
        burned[who] += burn(ns);
        counted[who] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    }

    void say(const char *name)
    {
        printf("%s %lu %lu %lu %lu %lu\n", name, (unsigned long)burned[0],
               (unsigned long)counted[0], (unsigned long)burned[1], (unsigned long)counted[1],
               (unsigned long)phase);
    }
};

// Calls a phase and notes what its caller used.
template <class Phase> static void in_phase(ledger &its, Phase phase)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    phase();
    its.phase += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

#endif
