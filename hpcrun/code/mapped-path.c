#include "hpcrun/code/mapped-path.h"

#include "hpcrun/base/sys.h"

#include <string.h>

/* A line is "START-END PERMISSIONS OFFSET DEVICE INODE PATH", with addresses in hexadecimal. */
static bool begins_at(const char *line, uint64_t start)
{
    uint64_t address = 0;
    for (; *line && *line != '-'; line++)
        address = address << 4 | (uint64_t)(*line <= '9' ? *line - '0' : *line - 'a' + 10);
    return address == start;
}

/* The path in the line that begins with `start`, among the whole lines of a text, which it ends
 * with 0. *rest is what follows the last one that was looked at. */
static const char *find_line(char *text, uint64_t start, char **rest)
{
    char *end;
    for (; (end = strchr(text, '\n')); text = end + 1) {
        *end = '\0';
        if (begins_at(text, start))
            return strchr(text, '/');
    }
    *rest = text;
    return NULL;
}

static const char *find_in(long fd, uint64_t start, char *buffer, size_t room)
{
    size_t used = 0;
    while (used + 1 < room) {
        char *rest = buffer;
        long size = sys3(SYS_read, fd, buffer + used, room - 1 - used);
        if (size <= 0)
            break;
        used += (size_t)size;
        buffer[used] = '\0';
        const char *path = find_line(buffer, start, &rest);
        if (path)
            return path;
        used = (size_t)(buffer + used - rest);
        memmove(buffer, rest, used);
    }
    return NULL;
}

const char *mapped_path(uint64_t start, char *buffer, size_t room)
{
    long fd = sys4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    const char *path = find_in(fd, start, buffer, room);
    sys1(SYS_close, fd);
    return path;
}
