#include "hpcrun/base/own-fds.h"

#include "hpcrun/base/sys.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#define MAX_FD 65536
#define SCARCE 16 /* a limit below this leaves no descriptor for perf events */

static _Atomic uint64_t ours[MAX_FD / 64];
static int first_high, table_end;
static _Atomic int reserved = -1; /* -1: none */

void fds_init(void)
{
    struct rlimit limit = {.rlim_cur = 1024};
    sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
    table_end = limit.rlim_cur < MAX_FD ? (int)limit.rlim_cur : MAX_FD;
    first_high = table_end - table_end / 4;
}

bool fds_are_scarce(void)
{
    return table_end < SCARCE;
}

static int make_ours(int fd)
{
    atomic_fetch_or(&ours[fd / 64], (uint64_t)1 << (fd % 64));
    return fd;
}

/* A copy of `fd` up high, or a negative errno. */
static int copy_up(int fd)
{
    int high = (int)sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, first_high);
    if (high == -EINVAL) { /* the limit was lowered */
        fds_init();
        high = (int)sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, first_high);
    }
    if (high < MAX_FD)
        return high;
    sys1(SYS_close, high);
    return -EMFILE;
}

int fds_adopt(int fd)
{
    int high = copy_up(fd);
    sys1(SYS_close, fd);
    return high < 0 ? high : make_ours(high);
}

void fds_reserve(void)
{
    int fd = fds_are_scarce() ? -1 : (int)sys2(SYS_eventfd2, 0, EFD_CLOEXEC);
    if (fd >= 0 && (fd = fds_adopt(fd)) >= 0)
        atomic_store(&reserved, fd);
}

void fds_close_or_reserve(int fd)
{
    int none = -1;
    if (fds_are_scarce() || !atomic_compare_exchange_strong(&reserved, &none, fd))
        fds_close(fd);
}

void fds_release_reserve(void)
{
    fds_close(atomic_exchange(&reserved, -1));
}

static int open_file(int directory, const char *name, int flags, int mode)
{
    return (int)sys4(SYS_openat, directory, name, flags | O_CLOEXEC, mode);
}

/* When all descriptors are taken, the reserve is closed, and the file gets its number. */
int fds_open(int directory, const char *name, int flags, int mode)
{
    int fd = open_file(directory, name, flags, mode);
    if (fd == -EMFILE) {
        fds_release_reserve();
        fd = open_file(directory, name, flags, mode);
        if (fd >= first_high && fd < MAX_FD)
            return make_ours(fd);
    }
    if (fd < 0)
        return fd;
    int high = copy_up(fd);
    if (high < 0) {
        fds_release_reserve();
        high = copy_up(fd);
    }
    if (high < 0 && fd >= first_high && fd < MAX_FD)
        return make_ours(fd);
    sys1(SYS_close, fd);
    return high < 0 ? high : make_ours(high);
}

void fds_close(int fd)
{
    if (fd < 0)
        return;
    atomic_fetch_and(&ours[fd / 64], ~((uint64_t)1 << (fd % 64)));
    sys1(SYS_close, fd);
}

bool fds_is_ours(int fd)
{
    return fd >= 0 && fd < MAX_FD && (atomic_load(&ours[fd / 64]) >> (fd % 64) & 1);
}

int fds_next(int from)
{
    for (int fd = from < 0 ? 0 : from; fd < MAX_FD; fd = (fd / 64 + 1) * 64) {
        uint64_t word = atomic_load(&ours[fd / 64]) >> (fd % 64);
        if (word)
            return fd + __builtin_ctzll(word);
    }
    return -1;
}
