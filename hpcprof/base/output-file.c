#include "hpcprof/base/output-file.h"

#include "lib/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int root = AT_FDCWD;
static const char *root_path = "";

void output_root(int directory, const char *path)
{
    root = directory;
    root_path = path;
}

/* The part of a path below the root; NULL if it is not below. */
static const char *below_root(const char *path)
{
    size_t length = strlen(root_path);
    bool is_below = length && strncmp(path, root_path, length) == 0 && path[length] == '/';
    return is_below ? path + length + 1 : NULL;
}

/* Returns a descriptor of the directory that a path lies in, and sets *name to the last component;
 * -1 on failure. The caller closes it with close_parent. */
static int open_parent(const char *path, const char **name)
{
    *name = below_root(path);
    if (!*name) {
        *name = path;
        return AT_FDCWD;
    }
    int directory = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; directory >= 0 && (slash = strchr(*name, '/')); *name = slash + 1) {
        char component[NAME_MAX + 1] = "";
        size_t length = (size_t)(slash - *name);
        if (length < sizeof component)
            memcpy(component, *name, length);
        int next = openat(directory, component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(directory);
        directory = next;
    }
    return directory;
}

static void close_parent(int directory)
{
    int error = errno;
    if (directory >= 0)
        close(directory);
    errno = error;
}

static int open_below(const char *path, int flags)
{
    const char *name;
    int directory = open_parent(path, &name);
    if (directory == -1)
        return -1;
    int fd = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    close_parent(directory);
    return fd;
}

int output_create(const char *path)
{
    return open_below(path, O_RDWR | O_CREAT | O_EXCL);
}

FILE *output_stream(const char *path)
{
    int fd = output_create(path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        diag_fatal(path, "%s", strerror(errno));
    return out;
}

void output_stream_close(FILE *out, const char *path, bool is_written)
{
    is_written &= !ferror(out);
    if (fclose(out) != 0 || !is_written)
        diag_fatal(path, "%s", strerror(errno));
}

int output_open(const char *path)
{
    return open_below(path, O_RDONLY);
}

bool output_make_directory(const char *path)
{
    const char *name;
    int directory = open_parent(path, &name);
    if (directory == -1)
        return false;
    bool made = mkdirat(directory, name, 0777) == 0;
    close_parent(directory);
    return made;
}

bool output_symlink(const char *target, const char *path)
{
    const char *name;
    int directory = open_parent(path, &name);
    if (directory == -1)
        return false;
    bool made = symlinkat(target, directory, name) == 0;
    close_parent(directory);
    return made;
}

bool output_link(const char *from, const char *to)
{
    const char *from_name, *to_name;
    int from_directory = open_parent(from, &from_name), to_directory = open_parent(to, &to_name);
    bool made = from_directory != -1 && to_directory != -1 &&
                linkat(from_directory, from_name, to_directory, to_name, 0) == 0;
    close_parent(from_directory);
    close_parent(to_directory);
    return made;
}
