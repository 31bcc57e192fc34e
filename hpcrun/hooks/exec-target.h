/* Whether a program can have our library preloaded. Loaders for another machine say on standard
 * error that they can't; other C libraries than glibc end the program. System calls and the stack
 * only: may be called where a vfork's child may be.
 *
 * Programs that can't be read, and static ones, which know no preloading, are taken for such as
 * can. */
#ifndef HPCRUN_HOOKS_EXEC_TARGET_H
#define HPCRUN_HOOKS_EXEC_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/* The program, or the interpreter of the script, that is open as `fd`. */
bool exec_target_loads_us(int fd);
/* The same of a path, relative to the directory open as `directory`. */
bool exec_target_at_loads_us(int directory, const char *path);
/* The same of a command that is looked for in PATH if there is no slash in it. */
bool exec_command_loads_us(const char *command);

/* Whether our library, where LD_PRELOAD names it, can be opened: not behind a chroot, in a
 * container of its own files, or with another user's rights. The loader would say so on standard
 * error. */
bool environment_reaches_us(char *const *environment);

/* Room for a copy of an environment: entries, and bytes for one that changes. */
struct environment_size {
    size_t entries, bytes;
};
struct environment_size environment_size(char *const *environment);

/* Copies an environment without our library in LD_PRELOAD. */
void environment_without_us(char *const *environment, char **copy, char *text);

#endif
