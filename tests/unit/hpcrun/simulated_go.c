#include "tests/unit/hpcrun/simulated_go.h"

/* Sizes of the name and of the data, and the type. Go counts the padding of its name. */
__asm__(".section .note.go.buildid, \"a\", @note\n"
        ".balign 4\n"
        ".long 4, 4, 4\n"
        ".ascii \"Go\\0\\0test\"\n"
        ".text\n");

void (*during_handler_of_go)(void);

void handler_of_go(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    during_handler_of_go();
}
