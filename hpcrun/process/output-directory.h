/* Signal handler: everything here may be used there.
 *
 * Access to the measurement directory, to create, open or rename a file in it. Other users may be
 * able to rename directories above it, or to write to it (hpcrun --shared). So the directory is
 * opened for each access, without following links; its owner must be the one that the launcher saw;
 * and file names are relative to its descriptor. It is not kept open, since a process could use the
 * descriptor to leave a chroot.
 *
 *     int directory, error = output_directory_open(&directory);
 *     if (error == 0) {
 *         fd = fds_open(directory, output_directory_name(directory, path), flags, mode);
 *         output_directory_close(directory);
 *     } */
#ifndef HPCRUN_PROCESS_OUTPUT_DIRECTORY_H
#define HPCRUN_PROCESS_OUTPUT_DIRECTORY_H

#include <fcntl.h>
#include <stdbool.h>

/* Flags for every file in the directory: do not follow links, do not block (FIFOs). */
#define OUTPUT_FLAGS (O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)

/* Opens the directory. Returns 0 and a descriptor for openat and relatives, which is not one of
 * ours (base/own-fds.h); or a negative errno, -EPERM if the directory belongs to another user. The
 * descriptor is AT_FDCWD if the process has few or none left: files are then opened by their whole
 * path. */
int output_directory_open(int *directory);
void output_directory_close(int directory);

/* Whether the process may have lost the right to create files in the directory since it began: it has
 * changed its user, its groups, its root or the files it may open, or runs as another user than the directory's. */
bool output_directory_may_be_lost(void);

/* Whether a program that the process executes would have no right to write there, because of such a
 * change: it has the process's user, and root's capabilities only if that is root. */
bool output_directory_is_lost(void);

/* The name to use with that descriptor for a file with this absolute path. */
const char *output_directory_name(int directory, const char *path);

/* Permissions of new files, before the umask: 0600, or 0666 with hpcrun --shared. */
int output_file_mode(void);

#endif
