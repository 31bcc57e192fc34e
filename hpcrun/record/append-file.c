#include "hpcrun/record/append-file.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/output-directory.h"

#include <stdatomic.h>
#include <sys/stat.h>

static struct {
    int fd;
    struct stat status; /* at its creation */
    _Atomic long error;
    _Atomic uint64_t failures;
} file = {.fd = -1};

int file_create(int directory, const char *name)
{
    int fd = fds_open(directory, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | OUTPUT_FLAGS,
                      output_file_mode());
    if (fd < 0)
        return fd;
    file.fd = fd;
    sys2(SYS_fstat, fd, &file.status);
    return 0;
}

bool file_failed(long error)
{
    atomic_store(&file.error, error);
    atomic_fetch_add(&file.failures, 1);
    return false;
}

/* False in a thread with a descriptor table of its own, in which the number belongs to another
 * file. */
static bool descriptor_is_the_file(void)
{
    struct stat now;
    return sys2(SYS_fstat, file.fd, &now) == 0 && now.st_dev == file.status.st_dev &&
           now.st_ino == file.status.st_ino;
}

bool file_write(const void *data, size_t size)
{
    long error = descriptor_is_the_file() ? sys_write_all(file.fd, data, size) : -EBADF;
    return error == 0 || file_failed(error);
}

void file_close(void)
{
    fds_close(file.fd);
}

void file_close_or_reserve(void)
{
    fds_close_or_reserve(file.fd);
}

uint64_t file_failures(long *error)
{
    *error = atomic_load(&file.error);
    return atomic_load(&file.failures);
}

void file_forget_failures(void)
{
    atomic_store(&file.failures, 0);
}
