/* Lets other threads run while the thread counts as working: hpcrun does not observe this call. */
#ifndef TESTS_TOOLS_WORKING_YIELD_H
#define TESTS_TOOLS_WORKING_YIELD_H

#include <sys/syscall.h>
#include <unistd.h>

static inline void working_yield(void)
{
    syscall(SYS_sched_yield);
}

#endif
