/* The system call futex, when the program makes it by syscall. */
#ifndef HPCRUN_HOOKS_CONDITION_WAITS_H
#define HPCRUN_HOOKS_CONDITION_WAITS_H

#include <stdbool.h>

/* Whether this futex operation may wait, in a thread that has a slot. */
bool futex_waits(int operation);

/* Replaces syscall(SYS_futex, ...) for an operation that may wait. */
long futex_wait(long number, long a, long b, long c, long d, long e, long f);

#endif
