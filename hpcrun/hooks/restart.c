#include "hpcrun/hooks/restart.h"

#include <errno.h>
#include <stdint.h>

#define SYSCALL_SIZE 2 /* of the instruction */

/* From the frame of a hook to a call that it makes through libc there is less stack than this. A
 * signal frame is larger: calls made in a handler are not taken for the one that it interrupted. */
#define LIBC_STACK 1024

static __thread struct {
    greg_t pc, sp; /* of the call that the last sample found about to start again */
    uintptr_t part;
} marked;

static bool is_to_start_again(const greg_t *reg)
{
    return reg[REG_RCX] == reg[REG_RIP] + SYSCALL_SIZE;
}

void restart_mark(const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    if (!is_to_start_again(reg))
        return; /* a handler that is about to be entered may still need the mark */
    marked.pc = reg[REG_RIP];
    marked.sp = reg[REG_RSP];
}

static bool goes_on_with_part(const greg_t *reg)
{
    return marked.part - (uintptr_t)reg[REG_RSP] < LIBC_STACK;
}

void restart_before_handler(ucontext_t *context, bool restarts)
{
    greg_t *reg = context->uc_mcontext.gregs;
    if (!is_to_start_again(reg))
        return;
    bool ours = reg[REG_RIP] == marked.pc && reg[REG_RSP] == marked.sp;
    if (ours)
        marked.pc = 0;
    if ((ours && !restarts) || goes_on_with_part(reg)) {
        reg[REG_RAX] = -EINTR;
        reg[REG_RIP] += SYSCALL_SIZE;
    }
}

void restart_has_part(void *frame)
{
    marked.part = (uintptr_t)frame;
}
