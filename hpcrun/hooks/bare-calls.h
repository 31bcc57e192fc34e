/* Normal context. System calls by libc's `syscall` that make, replace, end or await a process: they
 * pass libc's functions, and so our hooks on them. The same for its user and root. */
#ifndef HPCRUN_HOOKS_BARE_CALLS_H
#define HPCRUN_HOOKS_BARE_CALLS_H

/* The function to jump to in place of libc's `syscall`, with the same arguments; NULL: none. `a`, `b`
 * and `e` are the first, second and fifth argument after the number. */
void *bare_call(long number, long a, long b, long e);

#endif
