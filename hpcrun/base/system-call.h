/* Signal handler: everything here may be used there.
 *
 * The system call instruction. sys6 returns the kernel's result, a negative errno on failure, and
 * leaves errno as it is. Tests replace this header by a simulated kernel. */
#ifndef HPCRUN_BASE_SYSTEM_CALL_H
#define HPCRUN_BASE_SYSTEM_CALL_H

static inline long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
