/* A directory for output that is the user's own: what is written to it may be private (arguments,
 * paths, sources), and where others can write they can put links under names that are used next.
 * For the tools; libhpcrun.so has its own (hpcrun/process/output-directory.h). */
#ifndef LIB_OWN_DIRECTORY_H
#define LIB_OWN_DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

/* Permissions for mkdir and open, less the umask: the user's alone, or with `shared` as other
 * programs make them. */
mode_t own_directory_mode(bool shared);
mode_t own_file_mode(bool shared);

/* Opens a directory that the user gave or that was just made (a link is followed). A descriptor,
 * close-on-exec, for openat and its like; -1 when it can't be opened or is somebody else's: *cause
 * is then a line that says so and belongs to the caller. A file system that gives all files to one
 * user, whoever makes them (NFS where root is nobody, some of FUSE's), is told by a file that is
 * made and removed. */
int own_directory_open(const char *path, char **cause);

/* Whether nothing is in it; false also when it can't be read. */
bool own_directory_is_empty(int directory);

#endif
