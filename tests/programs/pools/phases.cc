// Parallel loops whose first one is trivial: it starts the threads of the runtime's pool, and the
// second and third ones use them. Of OpenMP if the compiler has it, else of oneTBB. Prints what each
// phase used (phase-ledger.h).
#include "phase-ledger.h"

#ifdef _OPENMP
#define LOOP(n, work)                                                                              \
    _Pragma("omp parallel for schedule(dynamic)") for (int i = 0; i < n; i++) work(i)
#else
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#define LOOP(n, work) tbb::parallel_for(0, n, work)
#endif

#define PHASE(name, n, ns)                                                                         \
    static ledger by_##name;                                                                       \
    __attribute__((noinline)) static void work_of_##name(int)                                      \
    {                                                                                              \
        by_##name.use(ns);                                                                         \
        asm volatile("");                                                                          \
    }                                                                                              \
    __attribute__((noinline)) static void phase_##name()                                           \
    {                                                                                              \
        LOOP(n, work_of_##name);                                                                   \
        asm volatile("");                                                                          \
    }
PHASE(one, 8, 1000000)
PHASE(two, 16, 40000000)
PHASE(three, 16, 10000000)

int main()
{
    in_phase(by_one, phase_one);
    in_phase(by_two, phase_two);
    in_phase(by_three, phase_three);
    by_one.say("one");
    by_two.say("two");
    by_three.say("three");
    return 0;
}
