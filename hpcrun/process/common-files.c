#include "hpcrun/process/common-files.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"

#include <linux/falloc.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Each time the list has grown by this much, blocks for RESERVE_BYTES are allocated beyond its end, or
 * for a part of what is free if that is less. A process has some 250 bytes in the list. */
#define RESERVE_STEP  65536u
#define RESERVE_BYTES 262144u
#define RESERVE_PART  4

/* Descriptors that are kept open. */
static struct {
    int fd; /* -1: none */
    struct stat status;
} kept[COMMON_FILES] = {{.fd = -1}, {.fd = -1}};

static const char *name_of(enum common_file which)
{
    return which == COMMON_LOG ? MEASUREMENT_LOG : process.list_name;
}

/* With hpcrun --shared other users may write to the directory, and could make the name a hard link
 * to any file, or a FIFO. */
static bool is_ours(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_nlink == 1;
}

static long open_in(int directory, enum common_file which, const char *name)
{
    int access = which == COMMON_LIST ? O_RDWR : O_WRONLY;
    return sys4(SYS_openat, directory, name, access | O_APPEND | O_CREAT | OUTPUT_FLAGS,
                output_file_mode());
}

/* Not inlined: only this case needs the stack for a path, and signal stacks may be small. */
__attribute__((noinline)) static long open_by_path(enum common_file which)
{
    char buffer[PATH_MAX + 128];
    struct text path = TEXT(buffer);
    text_add(&path, process.config.directory);
    text_add(&path, "/");
    text_add(&path, name_of(which));
    return open_in(AT_FDCWD, which, path.at);
}

static long open_file(enum common_file which)
{
    int directory;
    long error = output_directory_open(&directory);
    if (error != 0)
        return error;
    long fd =
        directory == AT_FDCWD ? open_by_path(which) : open_in(directory, which, name_of(which));
    output_directory_close(directory);
    return fd;
}

/* The kept descriptor, unless the program has closed it by a bare system call. */
static int kept_descriptor(enum common_file which)
{
    struct stat now;
    int fd = kept[which].fd;
    bool is_it = fd >= 0 && sys2(SYS_fstat, fd, &now) == 0 &&
                 now.st_dev == kept[which].status.st_dev && now.st_ino == kept[which].status.st_ino;
    return is_it ? fd : -1;
}

/* Some file systems can't do this; then there is no reserve. */
static void reserve(int fd, uint64_t end)
{
    struct statfs now;
    if (sys2(SYS_fstatfs, fd, &now) != 0)
        return;
    uint64_t most = (uint64_t)now.f_bavail * (uint64_t)now.f_bsize / RESERVE_PART;
    sys4(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, end, most < RESERVE_BYTES ? most : RESERVE_BYTES);
}

/* A line that was written in part, on a full disk, has no newline. */
static bool ends_in_mid_line(int fd, uint64_t size)
{
    char last;
    return size > 0 && sys4(SYS_pread64, fd, &last, 1, size - 1) == 1 && last != '\n';
}

static long append(int fd, enum common_file which, const char *lines, size_t size)
{
    struct stat status;
    if (sys2(SYS_fstat, fd, &status) != 0 || !is_ours(&status))
        return -EPERM;
    uint64_t before = (uint64_t)status.st_size, end = before + size;
    if (which == COMMON_LIST && ends_in_mid_line(fd, before))
        sys_write_all(fd, "\n", 1);
    long error = sys_write_all(fd, lines, size);
    if (which == COMMON_LIST && error == 0 &&
        (before == 0 || before / RESERVE_STEP != end / RESERVE_STEP) && !process_is_restricted())
        reserve(fd, end);
    return error;
}

long common_file_append(enum common_file which, const char *lines, size_t size)
{
    long fd = open_file(which);
    if (fd < 0) {
        int other = kept_descriptor(which);
        return other < 0 ? fd : append(other, which, lines, size);
    }
    long error = append((int)fd, which, lines, size);
    sys1(SYS_close, fd);
    return error;
}

void common_files_release(void)
{
    for (unsigned i = 0; i < COMMON_FILES; i++) {
        if (kept_descriptor((enum common_file)i) >= 0)
            fds_close(kept[i].fd);
        kept[i].fd = -1;
    }
}

void common_files_keep(void)
{
    for (unsigned i = 0; i < COMMON_FILES; i++) {
        if (kept_descriptor((enum common_file)i) >= 0)
            continue;
        long fd = open_file((enum common_file)i);
        if (fd < 0)
            continue;
        kept[i].fd = fds_adopt((int)fd);
        sys2(SYS_fstat, kept[i].fd, &kept[i].status);
    }
}
