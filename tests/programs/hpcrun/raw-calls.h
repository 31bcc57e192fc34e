/* System calls that are made without libc's functions for them: by syscall(), and by an instruction of the
 * program's own. The latter also tells whether the registers of the arguments are unchanged, as the kernel
 * leaves them. */
#ifndef RAW_CALLS_H
#define RAW_CALLS_H

#include "interrupted-calls.h"

#include <sys/syscall.h>

enum way { BY_SYSCALL, INLINED, WAYS };

#define REGISTERS_CHANGED (-77)

static inline __attribute__((always_inline)) long inlined(long number, long a, long b, long c,
                                                          long d, long e, long f)
{
    long result, rdi = a, rsi = b, rdx = c;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), "+r"(r8), "+r"(r9)
                     : "a"(number)
                     : "rcx", "r11", "memory");
    if (rdi != a || rsi != b || rdx != c || r10 != d || r8 != e || r9 != f)
        return REGISTERS_CHANGED;
    errno = result < 0 ? (int)-result : 0;
    return result < 0 ? -1 : result;
}

#define ARG(x) ((long)(x))
#define RAW6(number, a, b, c, d, e, f)                                                             \
    (way == INLINED ? inlined(number, ARG(a), ARG(b), ARG(c), ARG(d), ARG(e), ARG(f))              \
                    : syscall(number, ARG(a), ARG(b), ARG(c), ARG(d), ARG(e), ARG(f)))

/* Defines both ways of a call, in which the parameter `way` is a constant. */
#define CALL(name)                                                                                 \
    static inline __attribute__((always_inline)) long name(enum way way);                          \
    static long name##_by_syscall(void)                                                            \
    {                                                                                              \
        return name(BY_SYSCALL);                                                                   \
    }                                                                                              \
    static long name##_inlined(void)                                                               \
    {                                                                                              \
        return name(INLINED);                                                                      \
    }                                                                                              \
    static inline __attribute__((always_inline)) long name(enum way way)

/* Both ways of it, in a table of struct call. */
#define BOTH(name, prepare, make, end, modes, timed)                                               \
    {name " by syscall", prepare, make##_by_syscall, end, modes, timed},                           \
    {                                                                                              \
        name " inlined", prepare, make##_inlined, end, modes, timed                                \
    }

static inline void prepare_pipe(void)
{
    must(pipe(fds));
}

static inline void put_byte(void)
{
    must(write(fds[1], "x", 1));
}

#endif
