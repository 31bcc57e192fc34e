/* Whether the library can be loaded into a program, judged by the program's file before it runs.
 * System calls and the stack only: may be called in the child of a vfork. Part of the library and
 * of the launcher.
 *
 * A file that can't be read, and one that is neither a program nor a script, is taken for one that
 * loads the library: if it can't be run, the exec says so. A script is judged by its interpreter.
 *
 * The loader ignores LD_PRELOAD where a program gains rights by its file (the kernel's AT_SECURE):
 * set-user-ID to another user than the process's real one, set-group-ID likewise, or capabilities
 * for a user who is not root. Mounts with nosuid and processes with no_new_privs gain none. */
#ifndef HPCRUN_BASE_PROGRAM_FILE_H
#define HPCRUN_BASE_PROGRAM_FILE_H

#include "lib/measurement-format.h"

#include <stdbool.h>

/* The program that is open as `fd`, or that is at a path relative to the directory open as
 * `directory`: UNMEASURED_NONE where the library can be loaded into it. Without `rights` its rights
 * are not looked at: that takes system calls that a process may have forbidden itself. */
enum unmeasured program_file_judge(int fd, bool rights);
enum unmeasured program_file_judge_at(int directory, const char *path, bool rights);

#endif
