/* Hook on sigaltstack. A sample that comes while a handler of the program's runs on its signal
 * stack is taken there, too: where the stack has no room for that the kernel would end the program.
 */
#include "hpcrun/hooks/handler.h"
#include "hpcrun/hooks/real.h"
#include "hpcrun/hooks/signals.h"

#include <sys/auxv.h>

REAL_FUNCTION(sigaltstack)

/* What a handler of the program's is left with. */
#define ROOM_FOR_PROGRAM 16384u

static bool is_small(const stack_t *stack)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    return stack->ss_size < (1 + HANDLER_FRAMES) * frame + HANDLER_STACK_BYTES + ROOM_FOR_PROGRAM;
}

HOOK int sigaltstack(const stack_t *stack, stack_t *old)
{
    if (stack && !(stack->ss_flags & SS_DISABLE) && is_small(stack))
        signals_have_small_stack();
    return REAL(sigaltstack)(stack, old);
}
