#include "hpcrun/base/kernel-text.h"

#include "hpcrun/base/small-file.h"

/* Before the code come symbols of each CPU's data, with small numbers, in kernels before 6.15: a few hundred. */
#define MOST_BYTES 65536u
#define DIGITS     16u

/* The first address in the kernel's half among those that begin the lines of a piece of text. The state is that of
 * the line so far. */
struct line {
    uint64_t address;
    unsigned length;
};

static uint64_t find_address(struct line *line, const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at == '\n') {
            *line = (struct line){0};
        } else if (line->length++ < DIGITS) {
            line->address = line->address << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
            if (line->length == DIGITS && line->address >> 63)
                return line->address;
        }
    }
    return 0;
}

uint64_t kernel_text_start(void)
{
    char piece[512];
    struct line line = {0};
    uint64_t found = 0, size = 0;
    long fd = sys4(SYS_openat, AT_FDCWD, "/proc/kallsyms", O_RDONLY | O_CLOEXEC, 0), got = 1;
    while (fd >= 0 && !found && size < MOST_BYTES && (got = sys3(SYS_read, fd, piece, sizeof piece)) > 0) {
        found = find_address(&line, piece, piece + got);
        size += (uint64_t)got;
    }
    if (fd >= 0)
        sys1(SYS_close, fd);
    return found;
}

uint64_t kernel_boot(void)
{
    char id[64];
    uint64_t hash = 0xcbf29ce484222325u;
    size_t size = small_file_read("/proc/sys/kernel/random/boot_id", id, sizeof id);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)id[i]) * 0x100000001b3u;
    return size ? hash : 0;
}

long kernel_names_append(int directory, const char *file, int mode, const char *bytes, size_t size)
{
    long fd = sys4(SYS_openat, directory, file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return fd;
    long written = sys3(SYS_write, fd, bytes, size);
    sys1(SYS_close, fd);
    return written < 0 ? written : (size_t)written < size ? -ENOSPC : 0;
}
