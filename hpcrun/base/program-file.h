/* Checks before an exec, by the program's file, whether the library can be loaded into the program.
 * Part of the library and of the launcher. Uses system calls and the stack only, so that the child
 * of a vfork may call it.
 *
 * The check passes for a file that can't be read, and for one that is neither a program nor a
 * script: if it can't be run, the exec fails with an error. A script is checked by its interpreter.
 *
 * The loader ignores LD_PRELOAD if the file gives rights (the kernel's AT_SECURE): set-user-ID to a
 * user other than the process's real one, set-group-ID likewise, or capabilities for a user who is
 * not root. On mounts with nosuid and in processes with no_new_privs, files give no rights. */
#ifndef HPCRUN_BASE_PROGRAM_FILE_H
#define HPCRUN_BASE_PROGRAM_FILE_H

#include "lib/measurement-format.h"

#include <stdbool.h>

/* Checks the program that is open as `fd`, or at a path relative to the directory that is open as
 * `directory`. Returns UNMEASURED_NONE if the library can be loaded into it. Pass `rights` = false
 * in a process that restricts its own system calls: the check of rights needs some that it may have
 * forbidden. */
enum unmeasured program_file_check(int fd, bool rights);
enum unmeasured program_file_check_at(int directory, const char *path, bool rights);

#endif
