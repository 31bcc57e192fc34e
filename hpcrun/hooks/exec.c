/* Hooks on the exec family and posix_spawn.
 *
 * Before an exec, everything measured is written; if the exec fails, measuring continues. The
 * library stays in LD_PRELOAD only for programs that can load it (hooks/exec-target.h). For system
 * and popen the shell does this, since it has these hooks, too. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/exec-target.h"
#include "hpcrun/hooks/fork.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"

#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

REAL_FUNCTION(execve)
REAL_FUNCTION(execvpe)
REAL_FUNCTION(fexecve)
REAL_FUNCTION(execveat)
REAL_VERSION(posix_spawn, "GLIBC_2.15")
REAL_VERSION(posix_spawnp, "GLIBC_2.15")
REAL_FUNCTION(system)
REAL_FUNCTION(popen)

/* An exec by this process, or by its vfork's child. */
struct exec {
    enum unmeasured why; /* why the new program is not measured, or UNMEASURED_NONE */
    bool written; /* everything measured is written: the image ends here unless the exec fails */
};

static struct exec before_exec(enum unmeasured why, const char *program)
{
    struct exec exec = {.why = why};
    if (!process.active)
        return exec;
    bool is_ours = fork_is_measured();
    if (why)
        note_unmeasured(sys_getpid(), why, program);
    exec.written = is_ours && process_before_exec(why == UNMEASURED_NONE);
    return exec;
}

static int exec_failed(struct exec exec, int result)
{
    if (process.active && (exec.why || exec.written))
        note_exec_failed();
    if (exec.written)
        process_exec_failed();
    return result;
}

/* After posix_spawn: notes a child that is not measured. */
static int spawned(enum unmeasured why, const char *program, int error, const pid_t *child)
{
    if (error == 0 && why && process.active)
        note_unmeasured(child ? *child : 0, why, program);
    return error;
}

static enum unmeasured check(enum unmeasured by_file, char *const *environment)
{
    enum unmeasured why = by_file ? by_file : environment_check(environment);
    return why ? why : exec_user_check();
}

/* Whether the library must be removed from LD_PRELOAD: the program's loader would print an error,
 * or fail, or the library would, because it can't write. */
static bool must_remove(enum unmeasured why)
{
    return why == UNMEASURED_OTHER_MACHINE || why == UNMEASURED_OTHER_LIBC ||
           (why >= UNMEASURED_SETUID && why <= UNMEASURED_CAPABILITIES) ||
           why == UNMEASURED_OUT_OF_REACH || why == UNMEASURED_OTHER_USER;
}

/* Defines `why` and `for_program`, the environment for the program. The library is removed from it
 * if the program can't load or find it, or if this process has withdrawn, for a reason that the
 * program inherits. */
#define ENVIRONMENT_FOR(checked_file)                                                              \
    enum unmeasured why = process.active ? check(checked_file, environment) : UNMEASURED_NONE;     \
    bool keeps_us = !process.withdrawn && !must_remove(why);                                       \
    struct environment_size room = {.entries = 1};                                                 \
    if (!keeps_us)                                                                                 \
        room = environment_size(environment);                                                      \
    char *without_us[room.entries], text[room.bytes + 1];                                          \
    if (!keeps_us)                                                                                 \
        environment_without_us(environment, without_us, text);                                     \
    char *const *for_program = keeps_us ? environment : without_us

/* Whether the exec fails for sure, as far as a process may ask that restricts its system calls. */
static bool is_missing(const char *path)
{
    if (process.restricted)
        return false;
    long found = sys3(SYS_faccessat, AT_FDCWD, path, F_OK);
    return found == -ENOENT || found == -ENOTDIR;
}

/* Shells try one directory of PATH after the other: a missing file must not stop sampling. */
HOOK int execve(const char *path, char *const arguments[], char *const environment[])
{
    if (is_missing(path))
        return REAL(execve)(path, arguments, environment);
    ENVIRONMENT_FOR(exec_target_check_at(AT_FDCWD, path));
    struct exec exec = before_exec(why, path);
    return exec_failed(exec, REAL(execve)(path, arguments, for_program));
}

HOOK int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

HOOK int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    ENVIRONMENT_FOR(exec_command_check(file));
    struct exec exec = before_exec(why, file);
    return exec_failed(exec, REAL(execvpe)(file, arguments, for_program));
}

HOOK int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

/* The name of a program that is started by a descriptor: its first argument. */
static const char *name_of(char *const arguments[])
{
    return arguments && arguments[0] ? arguments[0] : "";
}

HOOK int fexecve(int fd, char *const arguments[], char *const environment[])
{
    ENVIRONMENT_FOR(exec_target_check(fd));
    struct exec exec = before_exec(why, name_of(arguments));
    return exec_failed(exec, REAL(fexecve)(fd, arguments, for_program));
}

HOOK int execveat(int directory, const char *path, char *const arguments[],
                  char *const environment[], int flags)
{
    bool by_descriptor = (flags & AT_EMPTY_PATH) && !*path;
    ENVIRONMENT_FOR(by_descriptor ? exec_target_check(directory)
                                  : exec_target_check_at(directory, path));
    struct exec exec = before_exec(why, by_descriptor ? name_of(arguments) : path);
    return exec_failed(exec, REAL(execveat)(directory, path, arguments, for_program, flags));
}

HOOK int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const arguments[],
                     char *const environment[])
{
    ENVIRONMENT_FOR(exec_target_check_at(AT_FDCWD, path));
    int error = REAL(posix_spawn)(child, path, actions, attributes, arguments, for_program);
    return spawned(why, path, error, child);
}

HOOK int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const arguments[],
                      char *const environment[])
{
    ENVIRONMENT_FOR(exec_command_check(file));
    int error = REAL(posix_spawnp)(child, file, actions, attributes, arguments, for_program);
    return spawned(why, file, error, child);
}

/* The shells of system and popen are made inside libc. If they can't write, they don't measure
 * themselves (hooks/begin.c). */
static void note_shell(void)
{
    enum unmeasured why = process.active ? exec_user_check() : UNMEASURED_NONE;
    if (why)
        note_unmeasured(0, why, "/bin/sh");
}

HOOK int system(const char *command)
{
    if (command)
        note_shell();
    return REAL(system)(command);
}

HOOK FILE *popen(const char *command, const char *mode)
{
    note_shell();
    return REAL(popen)(command, mode);
}

/* Counts the variable arguments of execl and relatives, and copies them, with `first`, to an array.
 * The list is then behind the terminating NULL. */
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
