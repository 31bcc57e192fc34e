/* The measurement directory. */
#ifndef HPCRUN_LAUNCH_DIRECTORY_H
#define HPCRUN_LAUNCH_DIRECTORY_H

/* Makes the directory and returns its absolute path, owned by the caller. `wanted` may exist when
 * it is an empty directory; NULL asks for hpctoolkit-COMMAND-measurements[-N], the first that does
 * not exist. Ends the process with a message when that is not possible. */
char *directory_make(const char *wanted, const char *command);

#endif
