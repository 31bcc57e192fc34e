/* A preloaded library that unwinds at every instruction of a part of a program: from one int3 to
 * the next the program runs in single steps. What a sample would find at some instruction, however
 * seldom one strikes there, is found.
 *
 * Paths go to the file UNWIND_REPORT, a line each, where more than the innermost frame differs from
 * the path before: "END MODULE+ADDRESS ...", innermost frame first. END is of enum unwind_end; the
 * program's module has no name, and what is in no module has "?" for it. The last line is "steps
 * N".
 */
#include "hpcrun/code/module-ranges.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/unwind/unwind.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TRAP_FLAG 0x100

static struct unwinder unwinder;
static uint64_t last[UNWIND_FRAMES];
static uint32_t last_depth;
static enum unwind_end last_end;
static unsigned long steps;
static FILE *report;

static void print_frame(const struct frame *frame)
{
    struct module_range range;
    if (!module_range_find(frame->pc, &range)) {
        fprintf(report, " ?+%lx", frame->pc);
        return;
    }
    const char *slash = strrchr(range.name, '/');
    fprintf(report, " %s+%lx", slash ? slash + 1 : range.name, frame->pc - range.bias);
}

/* The callers' pcs, outermost first, beside those of the path before. */
static bool is_new(enum unwind_end end)
{
    bool new = end != last_end || unwinder.depth != last_depth;
    last_end = end;
    last_depth = unwinder.depth;
    for (uint32_t i = 0; i + 1 < unwinder.depth; i++) {
        new |= last[i] != unwinder.path[i].pc;
        last[i] = unwinder.path[i].pc;
    }
    return new;
}

static void step(const ucontext_t *context)
{
    enum unwind_end end = unwind(&unwinder, context);
    steps++;
    if (!is_new(end))
        return;
    fprintf(report, "%d", (int)end);
    for (uint32_t i = unwinder.depth; i > 0; i--)
        print_frame(&unwinder.path[i - 1]);
    fprintf(report, "\n");
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    if (info->si_code == SI_KERNEL) /* int3. A step is TRAP_TRACE, or TRAP_BRKPT if the debug register doesn't tell */
        *flags ^= TRAP_FLAG;
    else
        step(context);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)info;
    if (!guard_fix_up(&unwinder.guard, context))
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(signal, &action, NULL);
}

static void *fresh_pages(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &low, &size);
    unwinder.stack_low = (uint64_t)(uintptr_t)low;
    unwinder.stack_high = (uint64_t)(uintptr_t)low + size;
    pthread_attr_destroy(&attributes);
}

__attribute__((constructor)) static void begin(void)
{
    static char buffer[1 << 16];
    const char *path = getenv("UNWIND_REPORT");
    report = path ? fopen(path, "w") : NULL;
    if (!report)
        return;
    setvbuf(report, buffer, _IOFBF, sizeof buffer);
    modules_init("", &(struct known_code){.own = (uintptr_t)begin});
    module_ranges_refresh();
    unwinder.cache = fresh_pages(sizeof *unwinder.cache);
    unwinder.path = fresh_pages(UNWIND_FRAMES * sizeof(struct frame));
    unwinder.fault_handler = (void *)(uintptr_t)on_fault;
    find_stack();
    handle(SIGSEGV, on_fault);
    handle(SIGBUS, on_fault);
    handle(SIGTRAP, on_trap);
}

__attribute__((destructor)) static void finish(void)
{
    if (!report)
        return;
    fprintf(report, "steps %lu\n", steps);
    fclose(report);
}
