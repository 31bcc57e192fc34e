/* Hooks on closing and replacing file descriptors: ours stay open and look closed. And on getting a
 * table of one's own: what we open later is in one of the tables only. */
#include "hpcrun/base/own-fds.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/measurement-file.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <unistd.h>

REAL_FUNCTION(close)
REAL_FUNCTION(dup2)
REAL_FUNCTION(dup3)
REAL_FUNCTION(close_range)
REAL_FUNCTION(unshare)

static int bad_descriptor(void)
{
    errno = EBADF;
    return -1;
}

HOOK int close(int fd)
{
    return fds_is_ours(fd) ? bad_descriptor() : REAL(close)(fd);
}

HOOK int dup2(int old, int new)
{
    return fds_is_ours(old) || fds_is_ours(new) ? bad_descriptor() : REAL(dup2)(old, new);
}

HOOK int dup3(int old, int new, int flags)
{
    return fds_is_ours(old) || fds_is_ours(new) ? bad_descriptor() : REAL(dup3)(old, new, flags);
}

/* The measurement is to be the same descriptor in both. */
static void before_own_table(void)
{
    if (!process.active || !process_is_ours())
        return;
    uint64_t mask = sys_mask(SIG_BLOCK, ~(uint64_t)0);
    measurement_create();
    sys_mask(SIG_SETMASK, mask);
}

HOOK int unshare(int what)
{
    if (what & CLONE_FILES)
        before_own_table();
    return REAL(unshare)(what);
}

/* In pieces around our descriptors. */
HOOK int close_range(unsigned first, unsigned last, int flags)
{
    if (flags & CLOSE_RANGE_UNSHARE)
        before_own_table();
    for (;;) {
        int hole = first > INT_MAX ? -1 : fds_next((int)first);
        if (hole < 0 || (unsigned)hole > last)
            return REAL(close_range)(first, last, flags);
        if ((unsigned)hole > first && REAL(close_range)(first, (unsigned)hole - 1, flags) != 0)
            return -1;
        if ((unsigned)hole == last)
            return 0;
        first = (unsigned)hole + 1;
    }
}

HOOK void closefrom(int first)
{
    close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0);
}
