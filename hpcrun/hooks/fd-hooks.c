/* Hooks on functions that close or replace file descriptors: ours stay open and look closed to the
 * program. And on functions that give a thread a descriptor table of its own. */
#include "hpcrun/base/own-fds.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/base/own-section.h"
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

/* Opens the measurement file before the tables are separated, so that it is in both. */
static void before_own_table(void)
{
    if (!process.active || !process_is_ours())
        return;
    uint64_t mask = own_section_begin();
    measurement_create();
    own_section_end(mask);
}

HOOK int unshare(int what)
{
    if (what & CLONE_FILES)
        before_own_table();
    return REAL(unshare)(what);
}

/* Closes the ranges between our descriptors. */
HOOK int close_range(unsigned first, unsigned last, int flags)
{
    if (flags & CLOSE_RANGE_UNSHARE)
        before_own_table();
    for (;;) {
        int ours = first > INT_MAX ? -1 : fds_next((int)first);
        if (ours < 0 || (unsigned)ours > last)
            return REAL(close_range)(first, last, flags);
        if ((unsigned)ours > first && REAL(close_range)(first, (unsigned)ours - 1, flags) != 0)
            return -1;
        if ((unsigned)ours == last)
            return 0;
        first = (unsigned)ours + 1;
    }
}

HOOK void closefrom(int first)
{
    close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0);
}
