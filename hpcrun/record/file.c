#include "hpcrun/record/file.h"

#include "hpcrun/base/fds.h"
#include "hpcrun/base/sys.h"

#include <stdatomic.h>

static struct {
    int fd;
    _Atomic long error;
    _Atomic uint64_t failures;
} file = {.fd = -1};

int file_create(const char *path)
{
    int fd = fds_open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0644);
    if (fd < 0)
        return fd;
    file.fd = fd;
    return 0;
}

bool file_failed(long error)
{
    atomic_store(&file.error, error);
    atomic_fetch_add(&file.failures, 1);
    return false;
}

bool file_write(const void *data, size_t size)
{
    long error = sys_write_all(file.fd, data, size);
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
