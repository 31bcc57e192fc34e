/* Hooks on waiting for children. A child that is killed, or that ends by a direct system call,
 * can't note its end. Its parent does, when it learns of it (process/process-notes.h), together with
 * the child's CPU time: there may be no other trace of it. The program gets the kernel's answer
 * unchanged. system and pclose wait inside libc, past these hooks, so the ends of their shells are
 * not noted. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/logical/long-calls.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"

#include <sys/resource.h>
#include <sys/wait.h>

REAL_FUNCTION(wait4)
REAL_FUNCTION(waitid)

static uint64_t cpu_of(const struct rusage *usage)
{
    const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;
    return (uint64_t)(user->tv_sec + system->tv_sec) * 1000000000u +
           (uint64_t)(user->tv_usec + system->tv_usec) * 1000u;
}

/* Where the kernel stores what the program asks for, and what we need; `own` if the program passes
 * NULL. */
struct answer {
    int own_status, *status;
    struct rusage own_usage, *usage;
};

#define ANSWER(answer, to_status, to_usage)                                                        \
    struct answer answer = {.status = to_status, .usage = to_usage};                               \
    answer.status = answer.status ? answer.status : &answer.own_status;                            \
    answer.usage = answer.usage ? answer.usage : &answer.own_usage

/* Ignores children that have stopped or continued. */
static void note_answer(pid_t child, const struct answer *answer)
{
    int status = *answer->status;
    if (child > 0 && process.active && (WIFEXITED(status) || WIFSIGNALED(status)))
        note_child_end(child, WIFSIGNALED(status) ? WTERMSIG(status) : 0, cpu_of(answer->usage));
}

HOOK pid_t wait4(pid_t which, int *status, int options, struct rusage *usage)
{
    ANSWER(answer, status, usage);
    struct long_call call = long_call_begin(own_slot, 0);
    pid_t child = REAL(wait4)(which, answer.status, options, answer.usage);
    long_call_end(&call);
    note_answer(child, &answer);
    return child;
}

HOOK pid_t waitpid(pid_t which, int *status, int options)
{
    return wait4(which, status, options, NULL);
}

HOOK pid_t wait(int *status)
{
    return wait4(-1, status, 0, NULL);
}

HOOK pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

/* CPU time of the children that were waited for. */
static uint64_t cpu_of_children(void)
{
    struct rusage usage = {0};
    sys2(SYS_getrusage, RUSAGE_CHILDREN, &usage);
    return cpu_of(&usage);
}

/* libc's waitid does not return the child's CPU time: it is what that of all children grows by. With
 * WNOWAIT the child is still to be waited for. */
HOOK int waitid(idtype_t kind, id_t which, siginfo_t *info, int options)
{
    siginfo_t own;
    siginfo_t *to = info ? info : &own; /* the kernel sets si_pid to 0 if no child has changed */
    bool is_counted = process.active && !process_is_restricted();
    uint64_t cpu = is_counted ? cpu_of_children() : 0;
    struct long_call call = long_call_begin(own_slot, 0);
    int result = REAL(waitid)(kind, which, to, options);
    long_call_end(&call);
    if (result != 0 || to->si_pid == 0 || !process.active || (options & WNOWAIT))
        return result;
    if (to->si_code == CLD_EXITED)
        note_child_end(to->si_pid, 0, is_counted ? cpu_of_children() - cpu : 0);
    else if (to->si_code == CLD_KILLED || to->si_code == CLD_DUMPED)
        note_child_end(to->si_pid, to->si_status, is_counted ? cpu_of_children() - cpu : 0);
    return result;
}
