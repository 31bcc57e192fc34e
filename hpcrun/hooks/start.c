/* The hook on the C library's start of the program: every library is initialised, and main has not
 * begun. It is the first point where something may be loaded: our constructor runs before the C
 * library's own initialisation, which a dlopen would do then, with no environment. */
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/left-alone.h"
#include "hpcrun/hooks/real.h"
#include "hpcrun/life/thread-life.h"
#include "hpcrun/logical/agents.h"
#include "hpcrun/process/process.h"

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end);

REAL_FUNCTION(__libc_start_main)

static void before_main(void)
{
    if (is_left_alone())
        tell_left_alone();
    if (!process.active)
        return;
    uint64_t mask = sys_mask(SIG_BLOCK, ~(uint64_t)0);
    agents_look();
    if (thread_self)
        thread_tell_agents(thread_self);
    sys_mask(SIG_SETMASK, mask);
}

HOOK int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                           void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                           void *stack_end)
{
    before_main();
    return REAL(__libc_start_main)(main, count, arguments, init, fini, loader_fini, stack_end);
}
