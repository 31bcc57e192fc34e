#include "hpcrun/base/own-fds.h"

#include "hpcrun/base/sys.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#define MAX_FD 65536
#define SCARCE 16   /* a limit below this leaves no descriptor for a reserve */
#define FEW    1024 /* a limit below this was set on purpose: the program may need them all */

static _Atomic uint64_t ours[MAX_FD / 64];
static _Atomic int reserved = -1; /* -1: none */

/* ---- above the program's limit ----
 *
 * A descriptor stays valid when the limit is lowered below its number. So where the hard limit allows,
 * the limit is raised for the moment in which one of ours gets its number: the program's table stays
 * whole. */

static struct {
    int table_end;
    int above; /* numbers for ours from there on; 0: they lie in the table's last quarter */
} table;

/* The program's limit, and how many numbers above it there are for ours. */
static int room_above(const struct rlimit *limit)
{
    rlim_t soft = limit->rlim_cur, end = limit->rlim_max < MAX_FD ? limit->rlim_max : MAX_FD;
    rlim_t wanted = soft / 4 + SCARCE;
    if (soft >= end || end - soft < SCARCE)
        return 0;
    return (int)(end - soft < wanted ? end - soft : wanted);
}

void fds_init(void)
{
    struct rlimit limit = {.rlim_cur = 1024, .rlim_max = 1024};
    sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
    table.table_end = limit.rlim_cur < MAX_FD ? (int)limit.rlim_cur : MAX_FD;
    table.above = room_above(&limit);
}

bool fds_are_scarce(void)
{
    return !table.above && table.table_end < SCARCE;
}

bool fds_are_few(void)
{
    return !table.above && table.table_end < FEW;
}

/* Most time to wait until another thread has its number: it may not get a CPU for a while. */
#define RAISE_WAIT_NS 100000000u

enum { NOBODY = 0 };

/* The limit, while it is raised. */
static struct {
    _Atomic int by; /* the thread's tid, or NOBODY; the rest is that thread's */
    bool is_raised;
    struct rlimit before, now;
} raised;

/* Whether the caller may raise it: not if it is a handler that interrupts its own thread there. A waiting
 * thread sleeps, as lock.h says. */
static bool become_raiser(void)
{
    const struct timespec nap = {.tv_nsec = 20000};
    int self = sys_gettid(), by = NOBODY;
    uint64_t deadline = 0;
    while (!atomic_compare_exchange_strong(&raised.by, &by, self)) {
        uint64_t now = sys_clock(CLOCK_MONOTONIC);
        if (!deadline)
            deadline = now + RAISE_WAIT_NS;
        if (by == self || now > deadline)
            return false;
        sys2(SYS_nanosleep, &nap, NULL);
        by = NOBODY;
    }
    return true;
}

/* If the program has set another limit meanwhile, that remains. */
static void limit_restore(void)
{
    struct rlimit found = raised.now;
    if (raised.is_raised) {
        sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised.before, &found);
        if (found.rlim_cur != raised.now.rlim_cur || found.rlim_max != raised.now.rlim_max)
            sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, &found, NULL);
    }
    raised.is_raised = false;
    atomic_store(&raised.by, NOBODY);
}

/* False, and nothing to restore, if the program has too high a limit for that. */
static bool limit_raise(void)
{
    if (!table.above || !become_raiser())
        return false;
    int room = sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &raised.before) == 0 ? room_above(&raised.before) : 0;
    raised.now = raised.before;
    raised.now.rlim_cur += (rlim_t)room;
    raised.is_raised = room > 0; /* first, for the child of a fork */
    if (room && sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised.now, NULL) == 0)
        return true;
    raised.is_raised = false;
    atomic_store(&raised.by, NOBODY);
    return false;
}

void fds_after_fork(void)
{
    if (atomic_load(&raised.by) != NOBODY)
        limit_restore();
}

/* ---- descriptors ---- */

static int make_ours(int fd)
{
    atomic_fetch_or(&ours[fd / 64], (uint64_t)1 << (fd % 64));
    return fd;
}

static int copy_from(int fd, int first)
{
    return (int)sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, first);
}

static int first_in_table(void)
{
    return table.table_end - table.table_end / 4;
}

/* A copy of `fd` up high, or a negative errno. */
static int copy_up(int fd)
{
    bool is_above = limit_raise();
    int high = copy_from(fd, is_above ? (int)raised.before.rlim_cur : first_in_table());
    if (is_above)
        limit_restore();
    if (high == -EINVAL) { /* the limit was lowered */
        fds_init();
        high = copy_from(fd, first_in_table());
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

/* The program has taken all descriptors: opens the file above its limit; or closes the reserve, whose
 * number the file then gets. */
static int open_in_full_table(int directory, const char *name, int flags, int mode)
{
    if (limit_raise()) {
        int fd = open_file(directory, name, flags, mode);
        limit_restore();
        if (fd >= 0)
            return fd;
    }
    fds_release_reserve();
    return open_file(directory, name, flags, mode);
}

int fds_open(int directory, const char *name, int flags, int mode)
{
    int fd = open_file(directory, name, flags, mode);
    if (fd == -EMFILE) {
        fd = open_in_full_table(directory, name, flags, mode);
        if (fd >= first_in_table() && fd < MAX_FD)
            return make_ours(fd);
    }
    if (fd < 0)
        return fd;
    int high = copy_up(fd);
    if (high < 0) {
        fds_release_reserve();
        high = copy_up(fd);
    }
    if (high < 0 && fd >= first_in_table() && fd < MAX_FD)
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
