/* The command that is to be profiled: finding it, and judging whether the library can be loaded
 * into it. */
#ifndef HPCRUN_LAUNCH_TARGET_H
#define HPCRUN_LAUNCH_TARGET_H

/* The path of the command's file, as execvp would find it; owned by the caller. Ends the process
 * with status 127 when there is none and 126 when it can't be executed, with a message. */
char *target_find(const char *command);

/* Ends the process with a message when nothing useful could come of running the file: it is
 * statically linked, of another architecture or libc, or gains rights (base/program-file.h).
 * Follows the interpreter of a script. */
void target_check(const char *path);

/* Why an exec of the file failed with `error`. */
const char *target_problem(int error);

#endif
