/* Whether a program that is to be started can have our library preloaded, and why not. Loaders for
 * another machine say on standard error that they can't; other C libraries than glibc end the
 * program. System calls and the stack only: may be called where a vfork's child may be. */
#ifndef HPCRUN_HOOKS_EXEC_TARGET_H
#define HPCRUN_HOOKS_EXEC_TARGET_H

#include "lib/measurement-format.h"

#include <stddef.h>

/* By its file, as base/program-file.h says: of a descriptor, of a path relative to the directory
 * open as `directory`, or of a command that is looked for in PATH if there is no slash in it. */
enum unmeasured exec_target_check(int fd);
enum unmeasured exec_target_check_at(int directory, const char *path);
enum unmeasured exec_command_check(const char *command);

/* By its environment: UNMEASURED_ENVIRONMENT if LD_PRELOAD does not name our library,
 * UNMEASURED_OUT_OF_REACH if it does and the library can't be opened: behind a chroot, in a
 * container of its own files, or with another user's rights. The loader would say so on standard
 * error. */
enum unmeasured environment_check(char *const *environment);

/* Room for a copy of an environment: entries, and bytes for one that changes. */
struct environment_size {
    size_t entries, bytes;
};
struct environment_size environment_size(char *const *environment);

/* Copies an environment without our library in LD_PRELOAD. */
void environment_without_us(char *const *environment, char **copy, char *text);

#endif
