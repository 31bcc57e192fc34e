/* Hooks on what creates, replaces and ends processes: fork and its relatives through
 * pthread_atfork, _Fork, the exec family, _exit, _Exit, quick_exit.
 *
 * exit and a return from main end in a function registered with __cxa_atexit for no particular
 * library, before any other: it runs after all handlers and destructors. The child of a vfork runs
 * in our memory: process_is_ours keeps it from writing our data. posix_spawn, system and popen make
 * their children inside libc, without these hooks, and need none: the children load the library. */
#include "hpcrun/hooks/process.h"

#include "hpcrun/hooks/real.h"
#include "hpcrun/process.h"
#include "hpcrun/sys.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

REAL_FUNCTION(_Fork)
REAL_FUNCTION(execve)
REAL_FUNCTION(execvp)
REAL_FUNCTION(execvpe)
REAL_FUNCTION(fexecve)
REAL_FUNCTION(execveat)
REAL_FUNCTION(_exit)
REAL_FUNCTION(quick_exit)

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static void on_exit_of_process(void *argument)
{
    (void)argument;
    if (process_is_ours())
        process_end(PROCESS_EXIT, 0);
}

void hook_process_init(void)
{
    pthread_atfork(process_before_fork, process_after_fork_in_parent, process_after_fork_in_child);
    __cxa_atexit(on_exit_of_process, NULL, NULL);
}

HOOK pid_t _Fork(void)
{
    if (!process.active)
        return REAL(_Fork)();
    process_before_fork();
    pid_t child = REAL(_Fork)();
    if (child == 0)
        process_after_fork_in_child();
    else
        process_after_fork_in_parent();
    return child;
}

/* As glibc's, whose parent ends inside libc, without our _exit. */
HOOK int daemon(int stay, int keep_streams)
{
    pid_t child = fork();
    if (child > 0)
        _exit(0);
    if (child < 0 || setsid() < 0)
        return -1;
    int moved = stay ? 0 : chdir("/");
    (void)moved; /* glibc's goes on, too */
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

/* Around an exec of our process: what was measured is written, and taken up again if it fails. */
static bool before_exec(void)
{
    return process.active && process_is_ours() && process_before_exec();
}

static int exec_failed(bool written, int result)
{
    if (written)
        process_exec_failed();
    return result;
}

/* Shells try one directory of PATH after the other: what is not there is not worth stopping for. */
HOOK int execve(const char *path, char *const arguments[], char *const environment[])
{
    long found = sys3(SYS_faccessat, AT_FDCWD, path, F_OK);
    bool written = found != -ENOENT && found != -ENOTDIR && before_exec();
    return exec_failed(written, REAL(execve)(path, arguments, environment));
}

HOOK int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

HOOK int execvp(const char *file, char *const arguments[])
{
    bool written = before_exec();
    return exec_failed(written, REAL(execvp)(file, arguments));
}

HOOK int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    bool written = before_exec();
    return exec_failed(written, REAL(execvpe)(file, arguments, environment));
}

HOOK int fexecve(int fd, char *const arguments[], char *const environment[])
{
    bool written = before_exec();
    return exec_failed(written, REAL(fexecve)(fd, arguments, environment));
}

HOOK int execveat(int directory, const char *path, char *const arguments[],
                  char *const environment[], int flags)
{
    bool written = before_exec();
    return exec_failed(written, REAL(execveat)(directory, path, arguments, environment, flags));
}

/* The list arguments of execl and its relatives, counted, then copied to an array that starts with
 * `first`; `rest` ends up behind the terminating NULL. */
static size_t count_list(va_list list)
{
    size_t count = 1;
    while (va_arg(list, char *))
        count++;
    return count;
}

#define LIST_TO_ARRAY(first, array)                                                                \
    va_list list;                                                                                  \
    va_start(list, first);                                                                         \
    size_t count = count_list(list);                                                               \
    va_end(list);                                                                                  \
    char *array[count + 1];                                                                        \
    va_start(list, first);                                                                         \
    array[0] = (char *)first;                                                                      \
    for (size_t i = 1; i <= count; i++)                                                            \
        array[i] = va_arg(list, char *);

HOOK int execl(const char *path, const char *first, ...)
{
    LIST_TO_ARRAY(first, arguments)
    va_end(list);
    return execv(path, arguments);
}

HOOK int execlp(const char *file, const char *first, ...)
{
    LIST_TO_ARRAY(first, arguments)
    va_end(list);
    return execvp(file, arguments);
}

HOOK int execle(const char *path, const char *first, ...)
{
    LIST_TO_ARRAY(first, arguments)
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
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
