/* Hooks on clone, and on what programs do with processes and their rights by way of libc's `syscall`.
 *
 * A child with a copy of the memory is one of a fork. A child that shares the memory is either that
 * of a vfork, which soon executes a program, or a process that can't be measured: its parent says so.
 * A child with a stack of its own, made by `syscall`, does not return through us; like the child of an
 * inlined system call, it becomes a measured process at its first call of a hook
 * (fork_is_measured). */
#include "hpcrun/hooks/bare-calls.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/fork.h"
#include "hpcrun/hooks/rights.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"

#include <linux/sched.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

REAL_FUNCTION(clone)
REAL_FUNCTION(syscall)

/* ---- clone ---- */

/* What the child of a clone runs. */
struct start {
    int (*function)(void *);
    void *argument;
};

/* When the function returns, libc's clone ends the process by a bare system call. */
static int run_child(void *data)
{
    struct start start = *(const struct start *)data;
    fork_end_in_child();
    int status = start.function(start.argument);
    fork_end_process();
    return status;
}

/* Other calls make threads, or processes that share the memory; or the child has none of our
 * thread-local variables. */
static bool is_a_fork(uint64_t flags)
{
    return !(flags & (CLONE_VM | CLONE_SETTLS | CLONE_THREAD));
}

static bool shares_memory(uint64_t flags)
{
    return (flags & (CLONE_VM | CLONE_VFORK | CLONE_THREAD)) == CLONE_VM;
}

HOOK int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    va_list list;
    va_start(list, argument);
    pid_t *parent_tid = va_arg(list, pid_t *);
    void *tls = va_arg(list, void *);
    pid_t *child_tid = va_arg(list, pid_t *);
    va_end(list);
    if (!is_a_fork((unsigned)flags) || !fork_is_measured()) {
        int child = REAL(clone)(function, stack, flags, argument, parent_tid, tls, child_tid);
        if (child > 0 && process.active && shares_memory((unsigned)flags))
            note_unmeasured(child, UNMEASURED_SHARED_MEMORY, process.executable);
        return child;
    }
    struct start start = {function, argument};
    fork_begin();
    int child = REAL(clone)(run_child, stack, flags, &start, parent_tid, tls, child_tid);
    fork_end_in_parent();
    return child;
}

/* ---- syscall ---- */

static long forks(long number, long a, long b, long c, long d, long e)
{
    fork_begin();
    long child = REAL(syscall)(number, a, b, c, d, e);
    if (child == 0)
        fork_end_in_child();
    else
        fork_end_in_parent();
    return child;
}

static long executes(long number, const char *path, char *const *arguments,
                     char *const *environment)
{
    (void)number;
    return execve(path, arguments, environment);
}

static long executes_at(long number, int directory, const char *path, char *const *arguments,
                        char *const *environment, int flags)
{
    (void)number;
    return execveat(directory, path, arguments, environment, flags);
}

static long ends(long number, int status)
{
    (void)number;
    _exit(status);
}

static long waits(long number, pid_t which, int *status, int options, struct rusage *usage)
{
    (void)number;
    return wait4(which, status, options, usage);
}

static long waits_by_id(long number, idtype_t kind, id_t which, siginfo_t *info, int options)
{
    (void)number;
    return waitid(kind, which, info, options);
}

/* Copies the arguments of clone3. With a bad pointer the kernel's call fails: reading there must not
 * end the program before. */
static struct clone_args read_clone_args(const void *from, size_t size)
{
    struct clone_args args = {0};
    size_t room = size < sizeof args ? size : sizeof args;
    const struct iovec to = {&args, room}, there = {(void *)(uintptr_t)from, room};
    if (sys6(SYS_process_vm_readv, sys_getpid(), (long)&to, 1, (long)&there, 1, 0) != (long)room)
        args.flags = CLONE_VM;
    return args;
}

/* Whether the system call makes a child that returns from it as its parent does. */
static bool makes_a_child(long number, long a, long b)
{
    if (number == SYS_fork)
        return true;
    if (number == SYS_clone)
        return is_a_fork((uint64_t)a) && b == 0;
    struct clone_args args = read_clone_args((const void *)a, (size_t)b);
    return is_a_fork(args.flags) && args.stack == 0;
}

void *bare_call(long number, long a, long b, long e)
{
    switch (number) {
    case SYS_fork:
    case SYS_clone:
    case SYS_clone3:
        return fork_is_measured() && makes_a_child(number, a, b) ? (void *)(uintptr_t)forks : NULL;
    case SYS_execve: return (void *)(uintptr_t)executes;
    case SYS_execveat: return (void *)(uintptr_t)executes_at;
    case SYS_exit_group: return (void *)(uintptr_t)ends;
    case SYS_setuid:
    case SYS_setreuid:
    case SYS_setresuid:
    case SYS_setgid:
    case SYS_setregid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_landlock_restrict_self:
    case SYS_chroot: rights_change(); return NULL;
    case SYS_wait4: return (void *)(uintptr_t)waits;
    case SYS_waitid: return e == 0 ? (void *)(uintptr_t)waits_by_id : NULL;
    default: return NULL;
    }
}
