/* Hooks on what replaces a process, or makes another from a program: the exec family, posix_spawn.
 *
 * Before an exec what was measured is written, and taken up again if it fails. The library stays in
 * LD_PRELOAD only for programs that can load it (hooks/exec-target.h); with system and popen that
 * is the shell's affair, which has these hooks, too. */
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/exec-target.h"
#include "hpcrun/hooks/real.h"
#include "hpcrun/life/end.h"
#include "hpcrun/process/process.h"

#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

REAL_FUNCTION(execve)
REAL_FUNCTION(execvpe)
REAL_FUNCTION(fexecve)
REAL_FUNCTION(execveat)
REAL_FUNCTION(posix_spawn)
REAL_FUNCTION(posix_spawnp)

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

/* Defines `for_program`: the environment, without our library for a program that can't load it or
 * won't find it, or that inherits what made us withdraw. */
#define ENVIRONMENT_FOR(loads_us)                                                                  \
    bool keeps_us = !process.withdrawn &&                                                          \
                    (!process.active || ((loads_us) && environment_reaches_us(environment)));      \
    struct environment_size room = {.entries = 1};                                                 \
    if (!keeps_us)                                                                                 \
        room = environment_size(environment);                                                      \
    char *without_us[room.entries], text[room.bytes + 1];                                          \
    if (!keeps_us)                                                                                 \
        environment_without_us(environment, without_us, text);                                     \
    char *const *for_program = keeps_us ? environment : without_us

/* Shells try one directory of PATH after the other: what is not there is not worth stopping for. */
HOOK int execve(const char *path, char *const arguments[], char *const environment[])
{
    long found = sys3(SYS_faccessat, AT_FDCWD, path, F_OK);
    if (found == -ENOENT || found == -ENOTDIR)
        return REAL(execve)(path, arguments, environment);
    ENVIRONMENT_FOR(exec_target_at_loads_us(AT_FDCWD, path));
    bool written = before_exec();
    return exec_failed(written, REAL(execve)(path, arguments, for_program));
}

HOOK int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

HOOK int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    ENVIRONMENT_FOR(exec_command_loads_us(file));
    bool written = before_exec();
    return exec_failed(written, REAL(execvpe)(file, arguments, for_program));
}

HOOK int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

HOOK int fexecve(int fd, char *const arguments[], char *const environment[])
{
    ENVIRONMENT_FOR(exec_target_loads_us(fd));
    bool written = before_exec();
    return exec_failed(written, REAL(fexecve)(fd, arguments, for_program));
}

HOOK int execveat(int directory, const char *path, char *const arguments[],
                  char *const environment[], int flags)
{
    bool by_descriptor = (flags & AT_EMPTY_PATH) && !*path;
    ENVIRONMENT_FOR(by_descriptor ? exec_target_loads_us(directory)
                                  : exec_target_at_loads_us(directory, path));
    bool written = before_exec();
    return exec_failed(written, REAL(execveat)(directory, path, arguments, for_program, flags));
}

HOOK int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const arguments[],
                     char *const environment[])
{
    ENVIRONMENT_FOR(exec_target_at_loads_us(AT_FDCWD, path));
    return REAL(posix_spawn)(child, path, actions, attributes, arguments, for_program);
}

HOOK int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const arguments[],
                      char *const environment[])
{
    ENVIRONMENT_FOR(exec_command_loads_us(file));
    return REAL(posix_spawnp)(child, file, actions, attributes, arguments, for_program);
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
