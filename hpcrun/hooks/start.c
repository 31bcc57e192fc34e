/* The hook on the C library's start of the program: every library is initialised, and main has not
 * begun. It is the first point where something may be loaded: our constructor runs before the C
 * library's own initialisation, which a dlopen would do then, with no environment. */
#include "hpcrun/hooks/real.h"
#include "hpcrun/process.h"

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end);

REAL_FUNCTION(__libc_start_main)

HOOK int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                           void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                           void *stack_end)
{
    process_starts_program();
    return REAL(__libc_start_main)(main, count, arguments, init, fini, loader_fini, stack_end);
}
