#include "hpcrun/thread/signal-stack.h"

#include "hpcrun/base/own-section.h"
#include "hpcrun/base/sys.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

/* Makes ours at least as large as the program's and SIGNAL_STACK_BYTES together. Without memory it
 * stays as it is. */
static void enlarge(struct thread *thread)
{
    size_t size = thread->program_stack.ss_size + SIGNAL_STACK_BYTES;
    void *larger = size > thread->signal_stack.ss_size ? sys_pages(size) : NULL;
    if (!larger)
        return;
    signal_stack_free(thread);
    thread->signal_stack = (stack_t){.ss_sp = larger, .ss_size = size};
}

static void give_ours(struct thread *thread)
{
    enlarge(thread);
    bool have_it = thread->signal_stack.ss_sp != NULL;
    thread->has_signal_stack =
        have_it && sys2(SYS_sigaltstack, &thread->signal_stack, NULL) == 0;
}

void signal_stack_begin(struct thread *thread)
{
    thread->has_signal_stack = false;
    if (sys2(SYS_sigaltstack, NULL, &thread->program_stack) == 0)
        give_ours(thread);
}

void signal_stack_end(struct thread *thread)
{
    if (thread->has_signal_stack)
        sys2(SYS_sigaltstack, &thread->program_stack, NULL);
    thread->has_signal_stack = false;
}

void signal_stack_free(struct thread *thread)
{
    sys_pages_free(thread->signal_stack.ss_sp, thread->signal_stack.ss_size);
    thread->signal_stack = (stack_t){.ss_sp = NULL};
}

/* What the program sees as its stack. */
static stack_t as_seen(const stack_t *program, uint64_t sp)
{
    stack_t seen = *program;
    if (signal_stack_holds(program, sp))
        seen.ss_flags |= SS_ONSTACK;
    return seen;
}

static stack_t as_kept(const stack_t *stack)
{
    if (stack->ss_flags & SS_DISABLE)
        return (stack_t){.ss_flags = SS_DISABLE};
    return (stack_t){.ss_sp = stack->ss_sp, .ss_size = stack->ss_size};
}

/* The kernel gets the program's stack, and with that judges it and reads and writes the program's
 * memory; then it gets ours again. */
static long change(struct thread *thread, const stack_t *stack, stack_t *old, uint64_t sp)
{
    bool was_ours = thread->has_signal_stack;
    stack_t before = as_seen(&thread->program_stack, sp);
    if (was_ours && stack && (before.ss_flags & SS_ONSTACK))
        return -EPERM;
    long result = sys2(SYS_sigaltstack, stack, old);
    if (result != 0)
        return result;
    if (stack && (stack->ss_flags & SS_AUTODISARM)) {
        thread->has_signal_stack = false;
    } else if (stack) {
        thread->program_stack = as_kept(stack);
        give_ours(thread);
    }
    if (old && was_ours)
        *old = before;
    return 0;
}

long signal_stack_change(struct thread *thread, const stack_t *stack, stack_t *old, uint64_t sp)
{
    uint64_t mask = own_section_begin();
    long result = change(thread, stack, old, sp);
    own_section_end(mask);
    return result;
}
