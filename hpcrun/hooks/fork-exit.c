/* Hooks on fork (through pthread_atfork), _Fork, daemon, _exit, _Exit and quick_exit. The exec
 * family is in hooks/exec.c.
 *
 * exit and a return from main call a function that we register with __cxa_atexit, for no
 * particular library and before any other, so that it runs after all handlers and destructors. The
 * child of a vfork runs in our memory; it must not change our data (process_is_ours). posix_spawn,
 * system and popen make their children inside libc, past these hooks. They need none: the children
 * load the library. */
#include "hpcrun/hooks/hook-init.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

REAL_FUNCTION(_Fork)
REAL_FUNCTION(_exit)
REAL_FUNCTION(quick_exit)

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static void on_exit_of_process(void *argument)
{
    (void)argument;
    if (process.active && process_is_ours())
        process_end(PROCESS_EXIT, 0);
}

static void before_fork(void)
{
    if (!process.active)
        return;
    process_before_fork();
    signals_lock_for_fork();
}

static void after_fork_in_parent(void)
{
    if (!process.active)
        return;
    signals_unlock_after_fork();
    process_after_fork_in_parent();
}

static void after_fork_in_child(void)
{
    if (!process.active)
        return;
    signals_unlock_after_fork();
    process_after_fork_in_child();
}

void hook_process_init(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    __cxa_atexit(on_exit_of_process, NULL, NULL);
}

HOOK pid_t _Fork(void)
{
    before_fork();
    pid_t child = REAL(_Fork)();
    if (child == 0)
        after_fork_in_child();
    else
        after_fork_in_parent();
    return child;
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

static void end(enum process_state state)
{
    if (process.active && process_is_ours())
        process_end(state, 0);
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
