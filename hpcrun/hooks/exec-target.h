/* Checks before an exec whether our library can be preloaded into the program. If it can't, it must
 * be removed from LD_PRELOAD: loaders of another architecture print an error, and C libraries other
 * than glibc end the program. Uses system calls and the stack only, so that the child of a vfork
 * may call it. */
#ifndef HPCRUN_HOOKS_EXEC_TARGET_H
#define HPCRUN_HOOKS_EXEC_TARGET_H

#include "lib/measurement-format.h"

#include <stddef.h>

/* Checks the program's file (base/program-file.h): open as `fd`, at a path relative to the
 * directory open as `directory`, or of a command, which is searched in PATH if it has no slash. */
enum unmeasured exec_target_check(int fd);
enum unmeasured exec_target_check_at(int directory, const char *path);
enum unmeasured exec_command_check(const char *command);

/* Checks its environment: UNMEASURED_ENVIRONMENT if LD_PRELOAD does not name our library, or the run's
 * configuration is missing; UNMEASURED_OUT_OF_REACH if the library can't be opened (in a chroot or a
 * container, or with another user's rights): the loader would print an error; UNMEASURED_OTHER_RUN
 * if the configuration is that of another run: this process is another hpcrun. */
enum unmeasured environment_check(char *const *environment);

/* UNMEASURED_OTHER_USER if the program could not write to the measurement directory, as this process
 * can't, which has changed its user or its root. */
enum unmeasured exec_user_check(void);

/* Room for a copy of an environment: entries, and bytes for the changed LD_PRELOAD. */
struct environment_size {
    size_t entries, bytes;
};
struct environment_size environment_size(char *const *environment);

/* Copies an environment without our library in LD_PRELOAD. */
void environment_without_us(char *const *environment, char **copy, char *text);

#endif
