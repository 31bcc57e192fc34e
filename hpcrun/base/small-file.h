/* Signal handler: small_file_read may be used there.
 *
 * Small files of the kernel: /proc, /sys. */
#ifndef HPCRUN_BASE_SMALL_FILE_H
#define HPCRUN_BASE_SMALL_FILE_H

#include "hpcrun/base/sys.h"

/* Reads the first `room` - 1 bytes of a file, and ends them with a 0. Returns how many it has read; 0
 * also if the file can't be read. */
static inline size_t small_file_read(const char *path, char *to, size_t room)
{
    long fd = sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long size = fd < 0 ? 0 : sys3(SYS_read, fd, to, room - 1);
    if (fd >= 0)
        sys1(SYS_close, fd);
    to[size > 0 ? size : 0] = '\0';
    return size > 0 ? (size_t)size : 0;
}

#endif
