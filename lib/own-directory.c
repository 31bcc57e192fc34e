#include "lib/own-directory.h"

#include "lib/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mode_t own_directory_mode(bool shared)
{
    return shared ? 0777 : 0700;
}

mode_t own_file_mode(bool shared)
{
    return shared ? 0666 : 0600;
}

/* The user that a new file in the directory belongs to; false when none can be made. */
static bool owner_of_new_files(int directory, uid_t *owner)
{
    char *name = mem_printf(".owner-%ld", (long)getpid());
    struct stat status;
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_known = fd >= 0 && fstat(fd, &status) == 0;
    if (fd >= 0) {
        unlinkat(directory, name, 0);
        close(fd);
    }
    free(name);
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
