#include "hpcrun/process/process.h"

#include "hpcrun/base/sys.h"

struct process process;
struct sampling sampling;

bool process_is_ours(void)
{
    return process.pid == sys_getpid();
}

const sigset_t *mask_without_sampling(const sigset_t *set, sigset_t *copy)
{
    if (!set)
        return NULL;
    *copy = *set;
    if (process.active)
        copy->__val[0] &= ~sys_mask_bit(process.signal);
    return copy;
}
