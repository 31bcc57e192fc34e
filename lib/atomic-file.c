#include "lib/atomic-file.h"

#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Gives a file the permissions that it would have got from open. */
static void make_readable(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0)
        return; /* some file systems have no permissions */
}

bool atomic_file_begin(struct atomic_file *file, const char *path, char **cause)
{
    *file = (struct atomic_file){.path = mem_strdup(path)};
    if (is_special(path)) {
        file->out = fopen(path, "we");
    } else {
        file->temporary = mem_printf("%s.XXXXXX", path);
        int fd = mkostemp(file->temporary, 0);
        if (fd >= 0) {
            make_readable(fd);
            file->out = fdopen(fd, "w");
        }
    }
    if (file->out)
        return true;
    *cause = mem_strdup(strerror(errno));
    free(file->temporary);
    file->temporary = NULL;
    atomic_file_abandon(file);
    return false;
}

bool atomic_file_commit(struct atomic_file *file, char **cause)
{
    errno = 0;
    bool written = !ferror(file->out);
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
