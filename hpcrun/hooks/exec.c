/* Hooks on what replaces a process, or makes another from a program: the exec family, posix_spawn.
 *
 * Before an exec what was measured is written, and taken up again if it fails. The library stays in
 * LD_PRELOAD only for programs that can load it (hooks/exec-target.h); with system and popen that
 * is the shell's affair, which has these hooks, too. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/exec-target.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process-notes.h"
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

/* An exec by this process, or by its vfork's child. */
struct exec {
    enum unmeasured why; /* the program that is to run is not measured */
    bool written;        /* what was measured is: the image ends here, unless the exec fails */
};

static struct exec before_exec(enum unmeasured why, const char *program)
{
    struct exec exec = {.why = why};
    if (!process.active)
        return exec;
    if (why)
        note_unmeasured(sys_getpid(), why, program);
    exec.written = process_is_ours() && process_before_exec(why == UNMEASURED_NONE);
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

/* posix_spawn's child: told of when it is there. */
static int spawned(enum unmeasured why, const char *program, int error, const pid_t *child)
{
    if (error == 0 && why && process.active)
        note_unmeasured(child ? *child : 0, why, program);
    return error;
}

static enum unmeasured judge(enum unmeasured by_file, char *const *environment)
{
    return by_file ? by_file : environment_check(environment);
}

/* Whether the library has to go from LD_PRELOAD: others than the program's own loader would
 * complain, or end the program. */
static bool must_go(enum unmeasured why)
{
    return why == UNMEASURED_OTHER_MACHINE || why == UNMEASURED_OTHER_LIBC ||
           why == UNMEASURED_OUT_OF_REACH;
}

/* Defines `why`, and `for_program`: the environment, without our library for a program that can't
 * load it or won't find it, or that inherits what made us withdraw. */
#define ENVIRONMENT_FOR(judged_by_file)                                                            \
    enum unmeasured why = process.active ? judge(judged_by_file, environment) : UNMEASURED_NONE;   \
    bool keeps_us = !process.withdrawn && !must_go(why);                                           \
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

/* What is known of a program that is started by a descriptor. */
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
