/* Functions that glibc has as symbols since 2.33. The kernel's structure is the same as glibc's. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OURS __attribute__((visibility("hidden")))

OURS int fstat(int fd, struct stat *status)
{
    return (int)syscall(SYS_fstat, fd, status);
}

OURS int stat(const char *path, struct stat *status)
{
    return (int)syscall(SYS_stat, path, status);
}

OURS int lstat(const char *path, struct stat *status)
{
    return (int)syscall(SYS_lstat, path, status);
}
