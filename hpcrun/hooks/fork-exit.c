/* Hooks on fork (through pthread_atfork), _Fork, daemon, _exit, _Exit and quick_exit. The exec
 * family is in hooks/exec.c.
 *
 * exit and a return from main call a function that we register with __cxa_atexit, for no
 * particular library and before any other, so that it runs after all handlers and destructors. The
 * child of a vfork runs in our memory; it must not change our data (fork_is_measured). posix_spawn,
 * system and popen make their children inside libc, past these hooks. They need none: the children
 * load the library. hooks/bare-calls.c has clone, and forks by libc's syscall. */
#include "hpcrun/hooks/hook-init.h"

#include "hpcrun/base/fork-mark.h"
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/fork.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/thread/live-threads.h"

#include <linux/kcmp.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

REAL_FUNCTION(_Fork)
REAL_FUNCTION(_exit)
REAL_VERSION(quick_exit, "GLIBC_2.24")

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* ---- forks ---- */

void fork_begin(void)
{
    if (!process.active)
        return;
    process_before_fork();
    signals_lock_for_fork();
}

void fork_end_in_parent(void)
{
    if (!process.active)
        return;
    signals_unlock_after_fork();
    process_after_fork_in_parent();
}

static void become_child(enum fork_way way)
{
    if (!process.active)
        return;
    signals_unlock_after_fork();
    process_after_fork_in_child(way);
    fork_mark_set();
}

void fork_end_in_child(void)
{
    become_child(FORK_HOOKED);
}

/* Whether the process shares its memory with its parent, as the child of a vfork by a process that is the
 * child of a bare fork itself. Where the kernel does not say: unless the parent is the process that
 * was measured, or has ended. */
static bool shares_memory(void)
{
    long parent = sys0(SYS_getppid);
    long differs = sys6(SYS_kcmp, sys_getpid(), parent, KCMP_VM, 0, 0, 0);
    return differs < 0 ? parent != process.pid && parent != 1 : differs == 0;
}

/* In the child of a bare fork. Another thread of the parent may have held our locks, and is not here
 * to release them: then the child can't be measured. */
static bool adopt(void)
{
    if (!fork_mark_is_wiped() || process_is_restricted() || shares_memory())
        return false;
    if (!threads_can_lock() || !signals_can_lock()) {
        process.active = false;
        return false;
    }
    fork_begin();
    become_child(FORK_BARE);
    return true;
}

bool fork_is_measured(void)
{
    return process.active && (process_is_ours() || adopt());
}

/* Also in a child that shares its parent's memory: its own child has a copy. */
static void before_fork(void)
{
    fork_is_measured(); /* or becomes so */
    fork_begin();
}

HOOK pid_t _Fork(void)
{
    before_fork();
    pid_t child = REAL(_Fork)();
    if (child == 0)
        fork_end_in_child();
    else
        fork_end_in_parent();
    return child;
}

/* ---- ends ---- */

static void end(enum process_state state)
{
    if (fork_is_measured())
        process_end(state, 0);
    else if (process.active)
        note_exec_failed(); /* the child of a vfork */
}

void fork_end_process(void)
{
    end(PROCESS_EXIT_NOW);
}

static void on_exit_of_process(void *argument)
{
    (void)argument;
    if (fork_is_measured())
        process_end(PROCESS_EXIT, 0);
}

void hook_process_init(void)
{
    fork_mark_set();
    pthread_atfork(before_fork, fork_end_in_parent, fork_end_in_child);
    __cxa_atexit(on_exit_of_process, NULL, NULL);
}

/* The same as glibc's, whose parent process ends inside libc, past our _exit. */
HOOK int daemon(int stay, int keep_streams)
{
    pid_t child = fork();
    if (child > 0)
        _exit(0);
    if (child < 0 || setsid() < 0)
        return -1;
    int moved = stay ? 0 : chdir("/");
    (void)moved; /* glibc also ignores a failure */
    if (keep_streams)
        return 0;
    int null = open("/dev/null", O_RDWR);
    if (null < 0)
        return -1;
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    return 0;
}

HOOK void _exit(int status)
{
    end(PROCESS_EXIT_NOW);
    REAL(_exit)(status);
    __builtin_unreachable();
}

HOOK void _Exit(int status)
{
    _exit(status);
}

HOOK void quick_exit(int status)
{
    end(PROCESS_QUICK_EXIT);
    REAL(quick_exit)(status);
    __builtin_unreachable();
}
