#include "hpcrun/restart/restart.h"

#include "hpcrun/restart/thread-calls.h"

#include <errno.h>

_Atomic uint64_t restart_known_handlers;

static __thread uintptr_t part; /* restart_has_part */

/* ---- calls at their instruction ---- */

static const struct interruptible_call *restarting_call(const greg_t *reg)
{
    bool at_instruction = reg[REG_RCX] == reg[REG_RIP] + SYSCALL_SIZE;
    return at_instruction ? interruptible_call(reg[REG_RAX], reg) : NULL;
}

static void mark(const greg_t *reg, greg_t result, bool put_back)
{
    struct thread_calls *calls = own_calls();
    if (calls)
        calls->mark = (struct call_mark){reg[REG_RIP], reg[REG_RSP], result, put_back};
}

void restart_mark(const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    const struct interruptible_call *call = restarting_call(reg);
    if (call && call->restarts) /* else keep the old mark: a handler may be about to need it */
        mark(reg, -EINTR, false);
}

void restart_mark_put_back(const greg_t *reg, greg_t result)
{
    mark(reg, result, true);
}

/* ---- handlers of the program ---- */

static bool continues_part(const greg_t *reg)
{
    return part - (uintptr_t)reg[REG_RSP] < LIBC_STACK;
}

void restart_before_handler(ucontext_t *context, bool restarts)
{
    greg_t *reg = context->uc_mcontext.gregs;
    if (restart_is_at_exit(reg))
        reg[REG_RCX] = 0;
    if (!restarting_call(reg))
        return;
    struct call_mark none = {0}, *mark = own_calls() ? &own_calls()->mark : &none;
    bool ours = reg[REG_RIP] == mark->pc && reg[REG_RSP] == mark->sp;
    bool put_back = ours && mark->put_back;
    if (ours)
        mark->pc = 0;
    if (put_back || (ours && !restarts) || continues_part(reg)) {
        reg[REG_RAX] = put_back ? mark->result : -EINTR;
        reg[REG_RIP] += SYSCALL_SIZE;
        reg[REG_RCX] = 0;
    }
}

void restart_has_part(void *frame)
{
    part = (uintptr_t)frame;
}
