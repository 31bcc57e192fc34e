#include "hpcrun/restart/ended-calls.h"

#include "hpcrun/process/process.h"
#include "hpcrun/restart/call-number.h"
#include "hpcrun/restart/cancellation.h"
#include "hpcrun/restart/restart.h"
#include "hpcrun/restart/resumed-calls.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <sys/socket.h>

#ifndef IORING_ENTER_ABS_TIMER /* Linux 6.12 */
#define IORING_ENTER_ABS_TIMER (1u << 5)
#endif

/* ---- FRED ---- */

static bool leaves_rcx;

__attribute__((constructor)) static void learn_whether_rcx_stays(void)
{
    long rcx = 0, result;
    __asm__ volatile("syscall" : "=a"(result), "+c"(rcx) : "a"(SYS_getppid) : "r11", "memory");
    leaves_rcx = rcx == 0;
}

/* ---- functions of libc ---- */

struct call_start call_begins(void *frame, void *caller)
{
    struct thread_calls *calls = own_calls();
    struct call_start before = {0};
    if (calls) {
        before = calls->last_start;
        calls->last_start = (struct call_start){(uintptr_t)frame, (uint64_t)(uintptr_t)caller,
                                                sys_clock(CLOCK_MONOTONIC)};
    }
    return before;
}

void call_ends(struct call_start before)
{
    struct thread_calls *calls = own_calls();
    if (calls)
        calls->last_start = before;
}

void note_syscall(const struct noted_syscall *call)
{
    struct thread_calls *calls = own_calls();
    if (calls)
        calls->noted = *call;
}

/* ---- what a call that ended needs ---- */

/* A call that is being put back. */
struct ended {
    struct unwinder *unwinder;
    ucontext_t *context;
    greg_t *reg;
    struct resumed_call *resumed; /* in case that it goes on elsewhere */
};

/* What becomes of a call. */
enum way { AT_ITS_PLACE, ELSEWHERE, NOT_AT_ALL };

static bool copy(const struct ended *ended, uint64_t from, void *to, size_t size)
{
    return memory_read_guarded(&ended->unwinder->memory, from, to, size);
}

static uint64_t to_ns(const struct timespec *time)
{
    if (time->tv_sec > INT32_MAX)
        return (uint64_t)INT32_MAX * 1000000000u;
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* Time for which the call has waited, if that is known; else 0. */
static uint64_t time_waited(const struct ended *ended)
{
    const struct call_start *start = &own_calls()->last_start;
    uint64_t caller, now = sys_clock(CLOCK_MONOTONIC);
    bool from_hook = start->at && start->frame - (uintptr_t)ended->reg[REG_RSP] < LIBC_STACK;
    bool is_there = from_hook && memory_load(&ended->unwinder->memory, start->frame + 8, &caller);
    return is_there && caller == start->caller && now > start->at ? now - start->at : 0;
}

static enum way wait_for(const struct ended *ended, uint64_t timeout)
{
    uint64_t waited = time_waited(ended), left = timeout > waited ? timeout - waited : 0;
    ended->resumed->deadline = sys_clock(ended->resumed->clock) + left;
    return ELSEWHERE;
}

static enum way wait_for_spec(const struct ended *ended, uint64_t from)
{
    struct timespec time;
    if (from == 0)
        return AT_ITS_PLACE;
    return copy(ended, from, &time, sizeof time) ? wait_for(ended, to_ns(&time)) : NOT_AT_ALL;
}

/* The kernel stores the rest of the time, if the program wants to know it. CPU clocks stand while the
 * thread waits for others, so that the time waited does not count. */
static enum way sleep_on(const struct ended *ended, const struct interruptible_call *call)
{
    struct resumed_call *resumed = ended->resumed;
    const greg_t *reg = ended->reg;
    uint64_t from = (uint64_t)reg[call->time_at], rest = (uint64_t)reg[call->rest_at];
    struct timespec time;
    if (call->number == SYS_clock_nanosleep && reg[REG_RDI] != CLOCK_REALTIME)
        resumed->clock = (clockid_t)reg[REG_RDI];
    bool is_cpu_clock = resumed->clock < 0 || resumed->clock == CLOCK_PROCESS_CPUTIME_ID;
    if (!rest && !is_cpu_clock)
        return wait_for_spec(ended, from);
    if (!copy(ended, rest ? rest : from, &time, sizeof time))
        return NOT_AT_ALL;
    resumed->deadline = sys_clock(resumed->clock) + to_ns(&time);
    return ELSEWHERE;
}

/* The kernel has stored the rest of the time, unless it is read-only. */
static enum way wait_counted(const struct ended *ended, const struct interruptible_call *call)
{
    struct resumed_call *resumed = ended->resumed;
    uint64_t from = (uint64_t)ended->reg[call->time_at];
    struct timespec time;
    if (from == 0)
        return AT_ITS_PLACE;
    if (!copy(ended, from, &time, sizeof time))
        return NOT_AT_ALL;
    if (call->number == SYS_select)
        time.tv_nsec *= 1000; /* of a struct timeval */
    if (!resumed_is_writable(from))
        return wait_for(ended, to_ns(&time));
    resumed->stores = from;
    resumed->deadline = sys_clock(CLOCK_MONOTONIC) + to_ns(&time);
    return ELSEWHERE;
}

static enum way wait_extended(const struct ended *ended)
{
    struct resumed_call *resumed = ended->resumed;
    const greg_t *reg = ended->reg;
    if (!reg[REG_R8] || (uint64_t)reg[REG_R9] != sizeof resumed->extended)
        return AT_ITS_PLACE;
    if (!copy(ended, (uint64_t)reg[REG_R8], &resumed->extended, sizeof resumed->extended))
        return NOT_AT_ALL;
    return reg[REG_R10] & IORING_ENTER_ABS_TIMER ? AT_ITS_PLACE
                                                 : wait_for_spec(ended, resumed->extended.ts);
}

/* A filter of the program might not allow to ask for the time. */
static enum way wait_on_socket(const struct ended *ended, int option)
{
    struct timeval time = {0};
    socklen_t size = sizeof time;
    if (process.restricted)
        return NOT_AT_ALL;
    sys6(SYS_getsockopt, ended->reg[REG_RDI], SOL_SOCKET, option, SYS_ARG(&time), SYS_ARG(&size),
         0);
    if (!time.tv_sec && !time.tv_usec)
        return AT_ITS_PLACE;
    return wait_for(ended, (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u);
}

static enum way way_by_time(const struct ended *ended, const struct interruptible_call *call)
{
    greg_t argument = ended->reg[call->time_at];
    switch ((enum call_time)call->time) {
    case TIME_MS:
        return (int)argument < 0 ? AT_ITS_PLACE
                                 : wait_for(ended, (uint64_t)(int)argument * 1000000u);
    case TIME_SPEC: return wait_for_spec(ended, (uint64_t)argument);
    case TIME_SLEEP: return sleep_on(ended, call);
    case TIME_COUNTED: return wait_counted(ended, call);
    case TIME_EXTENDED: return wait_extended(ended);
    case TIME_OF_RECEIVER: return wait_on_socket(ended, SO_RCVTIMEO);
    case TIME_OF_SENDER: return wait_on_socket(ended, SO_SNDTIMEO);
    default: return AT_ITS_PLACE;
    }
}

/* ---- its signal mask ---- */

/* Faults, the two signals that libc uses to cancel threads and change users, and samples are never
 * blocked by us. */
static uint64_t never_blocked(void)
{
    return sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS) | sys_mask_bit(SIGILL) |
           sys_mask_bit(SIGFPE) | sys_mask_bit(32) | sys_mask_bit(33) |
           sys_mask_bit(process.signal);
}

/* The signals that the call blocks while it waits. */
static bool blocked_in_call(const struct ended *ended, const struct interruptible_call *call,
                            uint64_t *blocked)
{
    uint64_t at = (uint64_t)ended->reg[call->mask_at];
    *blocked = 0;
    if (call->mask == MASK_NONE || at == 0)
        return true;
    if (call->mask == MASK_PAIR && !copy(ended, at, &at, sizeof at))
        return false;
    if (call->mask == MASK_EXTENDED)
        at = ended->resumed->extended.sigmask;
    return at == 0 || copy(ended, at, blocked, sizeof *blocked);
}

/* Keeps the signals blocked that only the call blocks, until its end. So are samples, if the call
 * would never get on with them. */
static enum way way_by_mask(const struct ended *ended, const struct interruptible_call *call,
                            enum way way)
{
    struct resumed_call *resumed = ended->resumed;
    uint64_t *mask = &ended->context->uc_sigmask.__val[0], blocked;
    if (way == NOT_AT_ALL || !blocked_in_call(ended, call, &blocked))
        return NOT_AT_ALL;
    blocked &= ~never_blocked();
    if (call->loses || (call->restarts && way == AT_ITS_PLACE))
        blocked |= sys_mask_bit(process.signal);
    if (!(blocked & ~*mask))
        return way;
    resumed->sets_mask = 1;
    resumed->mask = *mask;
    *mask |= blocked;
    return ELSEWHERE;
}

/* ---- calls that end with a part ---- */

/* io_uring_enter with all requests submitted, if the registers are its arguments. */
static bool may_be_part_of_uring(const greg_t *reg)
{
    return reg[REG_RAX] == (greg_t)(uint32_t)reg[REG_RSI] && (uint32_t)reg[REG_RDX] > 0 &&
           (reg[REG_R10] & IORING_ENTER_GETEVENTS);
}

/* io_getevents with fewer events than the least, and at most as many as there is room for. */
static bool may_be_part_of_events(const greg_t *reg)
{
    return reg[REG_RAX] > 0 && reg[REG_RAX] < reg[REG_RSI] && reg[REG_RSI] <= reg[REG_RDX];
}

static bool may_be_part(const greg_t *reg, long number)
{
    switch (number) {
    case SYS_io_uring_enter: return may_be_part_of_uring(reg);
    case SYS_io_getevents:
    case SYS_io_pgetevents: return may_be_part_of_events(reg);
    default: return false;
    }
}

/* Leaves the rest in the arguments. Returns whether there was a part. */
static bool take_part(struct resumed_call *resumed, greg_t *reg)
{
    greg_t done = reg[REG_RAX];
    if (done <= 0)
        return false;
    resumed->done += (uint64_t)done;
    reg[REG_RSI] -= done; /* requests to submit, or the least number of events */
    if (resumed->call->number != SYS_io_uring_enter) {
        reg[REG_RDX] -= done;
        reg[REG_R10] += done * (greg_t)sizeof(struct io_event);
    }
    return true;
}

/* ---- putting back ---- */

/* Whether a signal is pending whose handler the kernel enters directly, without us. While a sample is
 * taken, the kernel also keeps signals that have no handler. */
static bool other_handler_is_pending(const ucontext_t *context)
{
    uint64_t pending = 0;
    sys2(SYS_rt_sigpending, &pending, sizeof pending);
    pending &= ~(context->uc_sigmask.__val[0] | atomic_load(&restart_known_handlers) |
                 sys_mask_bit(process.signal));
    for (; pending; pending &= pending - 1) {
        struct sys_sigaction action;
        if (sys_sigaction(__builtin_ctzll(pending) + 1, NULL, &action) == 0 &&
            (uintptr_t)action.handler > (uintptr_t)SIG_IGN)
            return true;
    }
    return false;
}

static long number_of_call(struct unwinder *unwinder, const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    if (guard_enter(&unwinder->guard) != 0)
        return -1;
    long number = call_number(context, &unwinder->memory, unwinder->cache);
    guard_leave(&unwinder->guard);
    const struct noted_syscall *noted = &own_calls()->noted;
    bool is_noted = noted->sp == (uint64_t)reg[REG_RSP] && noted->a == reg[REG_RDI] &&
                    noted->b == reg[REG_RSI] && noted->c == reg[REG_RDX];
    return number < 0 && is_noted ? noted->number : number;
}

/* The interrupted call, if it can be made again. */
static const struct interruptible_call *ended_call(struct unwinder *unwinder,
                                                   const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    long number = number_of_call(unwinder, context);
    const struct interruptible_call *call = interruptible_call(number, reg);
    bool again = reg[REG_RAX] == -EINTR ? call && call->repeats : may_be_part(reg, number);
    return again ? call : NULL;
}

/* For the first time: at its place, or elsewhere. */
static bool put_back(const struct ended *ended, const struct interruptible_call *call)
{
    greg_t *reg = ended->reg;
    enum way way = way_by_mask(ended, call, way_by_time(ended, call));
    if (way == NOT_AT_ALL)
        return false;
    if (take_part(ended->resumed, reg) || way == ELSEWHERE)
        return resumed_go_on(ended->resumed, ended->context);
    reg[REG_RAX] = call->number;
    reg[REG_RCX] = reg[REG_RIP];
    reg[REG_RIP] -= SYSCALL_SIZE;
    return true;
}

static bool was_cut_short(const greg_t *reg)
{
    if (!restart_is_at_exit(reg) && !leaves_rcx)
        return false;
    return reg[REG_RAX] == -EINTR || may_be_part_of_uring(reg) || may_be_part_of_events(reg);
}

bool ended_call_goes_on(struct thread *thread, ucontext_t *context)
{
    greg_t *reg = context->uc_mcontext.gregs, result = reg[REG_RAX] < 0 ? -EINTR : 0;
    uint64_t pc = (uint64_t)reg[REG_RIP];
    struct unwinder *unwinder = &thread->unwinder;
    bool goes_on = false;
    if (!was_cut_short(reg) || other_handler_is_pending(context))
        return false;
    struct resumed_call *resumed = resumed_at(context);
    if (resumed) {
        if (reg[REG_RAX] == -EINTR || may_be_part(reg, resumed->call->number)) {
            take_part(resumed, reg);
            goes_on = resumed_go_on(resumed, context);
        }
    } else {
        unwind_prepare(unwinder, context);
        const struct interruptible_call *call = ended_call(unwinder, context);
        if (call) {
            struct ended ended = {unwinder, context, reg, resumed_new(call, context)};
            goes_on = put_back(&ended, call);
        }
        memory_end_sample(&unwinder->memory);
    }
    if (goes_on)
        restart_mark_put_back(reg, result);
    return goes_on && is_cancelable(pc);
}
