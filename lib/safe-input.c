#include "lib/safe-input.h"

#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_RATIO    64
#define ALWAYS_ENOUGH ((size_t)16 << 20)

/* Bytes that are read at a time. */
#define PIECE ((size_t)1 << 16)

static void fail(int error, const char *why, char **cause)
{
    *cause = mem_strdup(why ? why : strerror(error));
    errno = error;
}

int input_open(const char *path, struct stat *status, char **cause)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, status) != 0)
        fail(errno, NULL, cause);
    else if (S_ISDIR(status->st_mode))
        fail(EISDIR, NULL, cause);
    else if (!S_ISREG(status->st_mode))
        fail(EINVAL, "not a regular file", cause);
    else
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

FILE *input_stream(const char *path, char **cause)
{
    struct stat status;
    int fd = input_open(path, &status, cause);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !in) {
        fail(errno, NULL, cause);
        close(fd);
    }
    return in;
}

char *input_read(const char *path, size_t most, size_t *size, char **cause)
{
    struct stat status;
    VEC(char) text = {0};
    int fd = input_open(path, &status, cause);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && text.n <= most) { /* files of /proc have size 0 */
        vec_reserve(&text, PIECE + 1);
        got = read(fd, text.at + text.n, PIECE);
        text.n += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0 && got < 0)
        fail(errno, NULL, cause);
    else if (got > 0)
        fail(EFBIG, NULL, cause);
    if (fd >= 0)
        close(fd);
    if (got != 0) {
        vec_free(&text);
        return NULL;
    }
    text.at[text.n] = '\0';
    *size = text.n;
    return text.at;
}

const uint8_t *input_map_open(int fd, struct stat *status)
{
    void *at = MAP_FAILED;
    errno = ENODATA;
    if (fstat(fd, status) == 0 && status->st_size)
        at = mmap(NULL, (size_t)status->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

const uint8_t *input_map(const char *path, struct stat *status, char **cause)
{
    int fd = input_open(path, status, cause);
    const uint8_t *at = fd < 0 ? NULL : input_map_open(fd, status);
    if (fd >= 0 && !at)
        fail(errno, errno == ENODATA ? "the file is empty" : NULL, cause);
    if (fd >= 0)
        close(fd);
    return at;
}

size_t input_most_unpacked(size_t size)
{
    size_t most;
    if (__builtin_mul_overflow(size, MOST_RATIO, &most))
        return SIZE_MAX;
    return most > ALWAYS_ENOUGH ? most : ALWAYS_ENOUGH;
}
