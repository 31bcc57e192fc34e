#include "hpcrun/unwind/irregular-step.h"
#include "hpcrun/unwind/return-address.h"

#include <stddef.h>

bool context_step(const ucontext_t *interrupted, struct memory *memory, struct frame *frame,
                  struct frame *caller)
{
    greg_t gregs[NGREG];
    uint64_t resumed = (uint64_t)interrupted->uc_mcontext.gregs[REG_RDX];
    if (!memory_read_guarded(memory, resumed + offsetof(ucontext_t, uc_mcontext.gregs), gregs,
                             sizeof gregs))
        return false;
    uint64_t pc = (uint64_t)gregs[REG_RIP], sp = (uint64_t)gregs[REG_RSP];
    if (frame->sp != sp && frame->sp != sp - 8)
        return false;
    frame->link = LINK_IRREGULAR;
    *caller = (struct frame){.pc = pc - return_address_is_plausible(memory, frame, pc),
                             .sp = sp,
                             .bp = (uint64_t)gregs[REG_RBP]};
    return true;
}
