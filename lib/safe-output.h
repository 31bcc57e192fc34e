/* Output files of the tools that are never seen half written, in directories that other users
 * cannot tamper with. */
#ifndef LIB_SAFE_OUTPUT_H
#define LIB_SAFE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* A file that appears under its name only when it is complete: it is written under a temporary name
 * in the same directory and then renamed. If several processes write the same file, the last one
 * wins. A file of the user's keeps its permissions. Devices, pipes and the like, and files in a
 * directory in which the user cannot create others, are written directly.
 *
 * A link of the user's or of root's is followed, and stays a link. A link or FIFO of another user's
 * is refused: in /tmp, that user could make us overwrite any file of ours, or read what we write. */
struct atomic_file {
    FILE *out;       /* write here */
    char *path;      /* without links; owned */
    char *temporary; /* owned; NULL if the file is written directly */
};

/* Begins a file. False if it cannot be created; *cause is then a line that says why, which the
 * caller frees. */
bool atomic_file_begin(struct atomic_file *file, const char *path, char **cause);

/* Finishes the file and gives it its name. False, with *cause as above, if something could not be
 * written; the file is then removed. */
bool atomic_file_commit(struct atomic_file *file, char **cause);

/* Removes the unfinished file. */
void atomic_file_abandon(struct atomic_file *file);

/* Whether a file, link or the like has this name, so that nothing is replaced unasked. */
bool output_exists(const char *path);

/* Directories for output that may be private (arguments, paths, sources) belong to the user: in
 * another user's directory, that user could place links under the names that we write next.
 * libhpcrun.so has its own version (hpcrun/process/output-directory.h). */

/* Permissions for mkdir and open, before the umask: only the user's (0700, 0600), or with `shared`
 * those that other programs use (0777, 0666). */
mode_t own_directory_mode(bool shared);
mode_t own_file_mode(bool shared);

/* Opens a directory that the user named or that was just made; follows a link. Returns a
 * descriptor, close-on-exec, for openat and the like; or -1 if it cannot be opened or belongs to
 * another user. *cause is then a line that says so, which the caller frees. Some file systems give
 * all files to one user (NFS with root squashed, some FUSE file systems): a directory of theirs
 * counts as the user's own if a file that is created in it, and removed at once, has the
 * directory's owner. */
int own_directory_open(const char *path, char **cause);

/* Whether the directory is empty; false if it cannot be read. */
bool own_directory_is_empty(int directory);

#endif
