#include "hpcrun/fds.h"

#include "hpcrun/sys.h"

#include <stdatomic.h>
#include <sys/resource.h>

#define MAX_FD 65536

static _Atomic uint64_t ours[MAX_FD / 64];
static int first_high;

void fds_init(void)
{
    struct rlimit limit = {.rlim_cur = 1024};
    sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
    int end = limit.rlim_cur < MAX_FD ? (int)limit.rlim_cur : MAX_FD;
    first_high = end - end / 4;
}

int fds_adopt(int fd)
{
    int high = (int)sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, first_high);
    if (high == -EINVAL) { /* the limit was lowered */
        fds_init();
        high = (int)sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, first_high);
    }
    sys1(SYS_close, fd);
    if (high >= MAX_FD) {
        sys1(SYS_close, high);
        return -EMFILE;
    }
    if (high >= 0)
        atomic_fetch_or(&ours[high / 64], (uint64_t)1 << (high % 64));
    return high;
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
