#include "lib/safe-output.h"

#include "lib/alloc.h"
#include "lib/trusted-path.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Where the file is written; NULL, with errno set, if another user decides that. The caller frees. */
static char *target_of(const char *path)
{
    struct stat status;
    char *target = trusted_new_path(path);
    if (target && lstat(target, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_uid != 0 &&
        status.st_uid != geteuid()) {
        free(target);
        target = NULL;
        errno = EPERM;
    }
    return target;
}

/* Gives a new file the permissions of the user's file that it replaces, or those that open would
 * have given it; mkostemp gave it 0600. */
static void set_permissions(int fd, const char *path)
{
    struct stat old;
    mode_t mask = umask(0);
    umask(mask);
    bool has_old = lstat(path, &old) == 0 && old.st_uid == geteuid();
    if (fchmod(fd, has_old ? old.st_mode & 0777 : 0666 & ~mask) != 0)
        return; /* some file systems have no permissions */
}

/* Opens a file in a directory in which the user cannot create files. -1 unless it is there, and has
 * no other name. */
static int open_in_place(const char *path)
{
    struct stat status;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
        ftruncate(fd, 0) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = EACCES;
    return -1;
}

static FILE *begin_regular(struct atomic_file *file)
{
    file->temporary = mem_printf("%s.XXXXXX", file->path);
    int fd = mkostemp(file->temporary, O_CLOEXEC);
    if (fd >= 0) {
        set_permissions(fd, file->path);
    } else if (errno == EACCES && (fd = open_in_place(file->path)) >= 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    return fd < 0 ? NULL : fdopen(fd, "w");
}

bool atomic_file_begin(struct atomic_file *file, const char *path, char **cause)
{
    *file = (struct atomic_file){.path = target_of(path)};
    if (file->path)
        file->out = is_special(path) ? fopen(path, "we") : begin_regular(file);
    if (file->out)
        return true;
    bool is_of_another = !file->path && errno == EPERM;
    *cause = mem_strdup(is_of_another ? "a link or FIFO of another user's decides where that is"
                                      : strerror(errno));
    free(file->temporary);
    file->temporary = NULL;
    atomic_file_abandon(file);
    return false;
}

bool atomic_file_commit(struct atomic_file *file, char **cause)
{
    assert(file->out);
    bool written = !ferror(file->out);
    if (written) /* else the last write that failed has set it */
        errno = 0;
    if (fclose(file->out) != 0)
        written = false;
    file->out = NULL;
    if (written && file->temporary && rename(file->temporary, file->path) == 0) {
        free(file->temporary);
        file->temporary = NULL;
    } else if (file->temporary) {
        written = false;
    }
    if (!written)
        *cause = mem_strdup(errno ? strerror(errno) : "cannot be written");
    atomic_file_abandon(file);
    return written;
}

void atomic_file_abandon(struct atomic_file *file)
{
    if (file->out)
        fclose(file->out);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (struct atomic_file){0};
}

bool output_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* ---- directories ---- */

mode_t own_directory_mode(bool shared)
{
    return shared ? 0777 : 0700;
}

mode_t own_file_mode(bool shared)
{
    return shared ? 0666 : 0600;
}

/* The owner of new files in the directory; false if none can be created. */
static bool owner_of_new_files(int directory, uid_t *owner)
{
    autofree char *name = mem_printf(".owner-%ld", (long)getpid());
    struct stat status;
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_known = fd >= 0 && fstat(fd, &status) == 0;
    if (fd >= 0) {
        unlinkat(directory, name, 0);
        close(fd);
    }
    if (is_known)
        *owner = status.st_uid;
    return is_known;
}

static bool is_own(int directory, const struct stat *status)
{
    uid_t given;
    if (status->st_uid == geteuid())
        return true;
    return owner_of_new_files(directory, &given) && given == status->st_uid;
}

int own_directory_open(const char *path, char **cause)
{
    struct stat status;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fstat(directory, &status) != 0) {
        *cause = mem_strdup(errno == ENOTDIR ? "exists and is no directory" : strerror(errno));
        if (directory >= 0)
            close(directory);
        return -1;
    }
    if (is_own(directory, &status))
        return directory;
    *cause = mem_printf("belongs to another user (%lu): name a directory that does not exist, or "
                        "one of your own",
                        (unsigned long)status.st_uid);
    close(directory);
    return -1;
}

bool own_directory_is_empty(int directory)
{
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    bool is_empty = stream != NULL;
    for (struct dirent *entry; is_empty && (entry = readdir(stream));)
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (stream)
        closedir(stream);
    else if (again >= 0)
        close(again);
    return is_empty;
}
