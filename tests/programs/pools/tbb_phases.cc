// Parallel loops of oneTBB whose first one is trivial: it starts the threads of the runtime's pool,
// and the second and third ones use them. Prints what each phase used (phase-ledger.h).
#include "phase-ledger.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

static ledger by_one, by_two, by_three;

__attribute__((noinline)) static void work_of_one(int)
{
    by_one.use(1000000);
    asm volatile("");
}
__attribute__((noinline)) static void work_of_two(int)
{
    by_two.use(40000000);
    asm volatile("");
}
__attribute__((noinline)) static void work_of_three(int)
{
    by_three.use(10000000);
    asm volatile("");
}

__attribute__((noinline)) static void phase_one()
{
    tbb::parallel_for(0, 8, work_of_one);
    asm volatile("");
}

__attribute__((noinline)) static void phase_two()
{
    tbb::parallel_for(0, 16, work_of_two);
    asm volatile("");
}

__attribute__((noinline)) static void phase_three()
{
    tbb::parallel_for(0, 16, work_of_three);
    asm volatile("");
}

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
