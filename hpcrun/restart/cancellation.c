#include "hpcrun/restart/cancellation.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-ranges.h"

#include <pthread.h>

#define RET 0xc3

bool is_cancelable(uint64_t pc)
{
    struct module_range libc, here;
    return *(const uint8_t *)pc == RET &&
           module_range_find((uint64_t)(uintptr_t)pthread_testcancel, &libc) &&
           module_range_find(pc, &here) && here.start == libc.start;
}

static void set_mask(void *mask)
{
    sys_mask(SIG_SETMASK, *(const uint64_t *)mask);
}

void cancel_if_requested(const ucontext_t *context)
{
    uint64_t mask = context->uc_sigmask.__val[0];
    pthread_cleanup_push(set_mask, &mask);
    pthread_testcancel();
    pthread_cleanup_pop(0);
}
