/* Hooks on closing and replacing file descriptors: ours stay open and look closed. */
#include "hpcrun/base/fds.h"

#include "hpcrun/hooks/real.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

REAL_FUNCTION(close)
REAL_FUNCTION(dup2)
REAL_FUNCTION(dup3)
REAL_FUNCTION(close_range)

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

/* In pieces around our descriptors. */
HOOK int close_range(unsigned first, unsigned last, int flags)
{
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
