/* Signal handler: everything here may be used there.
 *
 * The measurement directory, while a file in it is created, opened or renamed. Other users may be
 * able to rename what lies above it, or to write to it (hpcrun --shared). So it is opened each time
 * without following a link, it must belong to the user that hpcrun found it to belong to, and names
 * are taken relative to its descriptor. It is not kept open: a process could leave a chroot by it.
 *
 *     int directory, error = output_directory_open(&directory);
 *     if (error == 0) {
 *         fd = fds_open(directory, output_directory_name(directory, path), flags, mode);
 *         output_directory_close(directory);
 *     } */
#ifndef HPCRUN_PROCESS_OUTPUT_DIRECTORY_H
#define HPCRUN_PROCESS_OUTPUT_DIRECTORY_H

#include <fcntl.h>

/* Flags for every file in the directory: no links, and nothing that waits for somebody. */
#define OUTPUT_FLAGS (O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)

/* 0 and a descriptor for openat and its like, which is not one of ours (base/own-fds.h), or a
 * negative errno: -EPERM when the directory is somebody else's. The descriptor is AT_FDCWD where
 * the process has few or none left: files are then opened by their whole path. */
int output_directory_open(int *directory);
void output_directory_close(int directory);

/* What stands for a file, given by its whole path, in calls with that descriptor. */
const char *output_directory_name(int directory, const char *path);

/* Permissions of new files, less the umask: the user's alone, but for hpcrun --shared. */
int output_file_mode(void);

#endif
