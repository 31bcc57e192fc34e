/* The command to profile: finds its file, and checks whether the library can be loaded into it. */
#ifndef HPCRUN_LAUNCH_TARGET_H
#define HPCRUN_LAUNCH_TARGET_H

#include <stdbool.h>

/* The path of the command's file, found as execvp does; owned by the caller. Ends the process with
 * a message and status 127 if there is none, 126 if it can't be executed. */
char *target_find(const char *command);

/* Ends the process with a message if the library can't be loaded into the file: it is statically linked,
 * of another architecture or libc, or gives rights (base/program-file.h). A script is checked by its
 * interpreter. */
void target_check(const char *path);

/* Ends the process with a message if the file can't be measured from outside: it is of another
 * architecture, or it gives rights or can't be read and the user is not root. */
void target_check_outside(const char *path);

/* Whether the file can be measured, but only from outside. Says so on standard error. */
bool target_is_foreign(const char *path);

#endif
