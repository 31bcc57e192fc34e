/* Hooks on waiting for children. A child that is killed, or that ends by a direct system call,
 * can't note its end. Its parent does, when it learns of it (process/process-notes.h). The program
 * gets the kernel's answer unchanged. system and pclose wait inside libc, past these hooks, so the
 * ends of their shells are not noted. */
#include "hpcrun/base/hook.h"
#include "hpcrun/logical/long-calls.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"

#include <sys/resource.h>
#include <sys/wait.h>

REAL_FUNCTION(wait3)
REAL_FUNCTION(wait4)
REAL_FUNCTION(waitpid)
REAL_FUNCTION(waitid)

/* Ignores children that have stopped or continued. */
static void note_status(pid_t child, const int *status)
{
    if (child > 0 && process.active && (WIFEXITED(*status) || WIFSIGNALED(*status)))
        note_child_end(child, WIFSIGNALED(*status) ? WTERMSIG(*status) : 0);
}

/* Where to store the status; `own` if the program passes NULL. */
static int *place(int *status, int *own)
{
    *own = 0;
    return status ? status : own;
}

HOOK pid_t waitpid(pid_t which, int *status, int options)
{
    int own, *to = place(status, &own);
    struct long_call call = long_call_begin(own_slot, 0);
    pid_t child = REAL(waitpid)(which, to, options);
    long_call_end(&call);
    note_status(child, to);
    return child;
}

HOOK pid_t wait(int *status)
{
    return waitpid(-1, status, 0);
}

HOOK pid_t wait3(int *status, int options, struct rusage *usage)
{
    int own, *to = place(status, &own);
    struct long_call call = long_call_begin(own_slot, 0);
    pid_t child = REAL(wait3)(to, options, usage);
    long_call_end(&call);
    note_status(child, to);
    return child;
}

HOOK pid_t wait4(pid_t which, int *status, int options, struct rusage *usage)
{
    int own, *to = place(status, &own);
    struct long_call call = long_call_begin(own_slot, 0);
    pid_t child = REAL(wait4)(which, to, options, usage);
    long_call_end(&call);
    note_status(child, to);
    return child;
}

HOOK int waitid(idtype_t kind, id_t which, siginfo_t *info, int options)
{
    siginfo_t own;
    siginfo_t *to = info ? info : &own; /* the kernel sets si_pid to 0 if no child has changed */
    struct long_call call = long_call_begin(own_slot, 0);
    int result = REAL(waitid)(kind, which, to, options);
    long_call_end(&call);
    if (result != 0 || to->si_pid == 0 || !process.active)
        return result;
    if (to->si_code == CLD_EXITED)
        note_child_end(to->si_pid, 0);
    else if (to->si_code == CLD_KILLED || to->si_code == CLD_DUMPED)
        note_child_end(to->si_pid, to->si_status);
    return result;
}
