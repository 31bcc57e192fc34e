/* What hpcrun-outside reads of a process that another user may have made: the files of its modules, and paths
 * through them. Images are read in guarded regions; the code under test is built without the address sanitizer, which
 * does not know about these. */
#include "tests/fuzz/fuzz-target.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/outside/foreign-memory.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/linked-agents.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/process/process.h"
#include "hpcrun/unwind/unwind.h"
#include "lib/bytes.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Where the process has mapped the file: no program of ours has anything there. */
#define MAPPED_AT ((uint64_t)0x500000000000)
#define HEAD      4
#define SAMPLES   8

struct process process;

static struct rule_cache cache;
static struct frame path[UNWIND_FRAMES];
static struct unwinder unwinder = {.cache = &cache, .path = path};
static struct guard outer;
static struct sigaction before;

/* ---- the measured process: the files are of this one, and all its memory is the input, repeated ---- */

static const uint8_t *input;
static size_t input_size;

int measured_open(int pid, const char *name, int flags)
{
    char self[64];
    (void)pid;
    snprintf(self, sizeof self, "/proc/self/%s", name);
    return (int)sys4(SYS_openat, AT_FDCWD, self, flags | O_CLOEXEC, 0);
}

bool measured_read(uint64_t address, void *to, size_t size)
{
    for (size_t i = 0; i < size && input_size > 0; i++)
        ((uint8_t *)to)[i] = input[(address + i) % input_size];
    return input_size > 0; /* 0: the input is for another target */
}

void measured_link(const char *link, char *to, size_t room)
{
    ssize_t length = readlink(link, to, room - 1);
    to[length > 0 ? length : 0] = '\0';
}

/* ---- agents: not here ---- */

void linked_agents_add(const struct module_image *image)
{
    (void)image;
}

void linked_agents_remove(const struct module_image *image)
{
    (void)image;
}

/* ---- samples ---- */

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (!guard_fix_up(&unwinder.guard, context) && !guard_abandon(&outer, context))
        before.sa_sigaction(number, info, context);
}

static void set_up(void)
{
    const struct sigaction action = {.sa_sigaction = on_fault,
                                     .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGSEGV, &action, &before);
    sigaction(SIGBUS, &action, NULL);
    PROMISE(modules_init("/program", &(struct known_code){0}));
}

static void sample(uint64_t pc, const uint8_t *stack, size_t bytes)
{
    ucontext_t context = {0};
    struct module_range range;
    for (int i = 0; i < REG_RIP; i++)
        context.uc_mcontext.gregs[i] = (greg_t)(0x7ffffff00000 + 8 * i);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    unwinder.elsewhere = foreign_memory(stack, bytes, NULL);
    enum unwind_end end = unwind(&unwinder, &context);
    PROMISE(end != UNWIND_COMPLETE || unwinder.depth > 0);
    if (guard_enter(&outer) == 0) {
        for (uint32_t i = 0; i < unwinder.depth; i++)
            unwind_ip(&unwinder, &path[i]);
        if (module_range_find(pc, &range))
            modules_ip(pc, &range);
        guard_leave(&outer);
    }
}

/* All modules are gone. */
static void unmap_all(void)
{
    const struct mapping all = {.end = UINT64_MAX, .path = "/"};
    foreign_modules_add(&all);
}

/* The input: number of the file's first page that is mapped, bytes of the stack (16 bits each); the stack; the file. */
static void run_outside(const uint8_t *data, size_t size)
{
    struct mapping mapping = {.start = MAPPED_AT, .end = MAPPED_AT + (1 << 20)};
    struct stat status;
    if (!before.sa_sigaction)
        set_up();
    if (size < HEAD)
        return;
    input = data;
    input_size = size;
    size_t stack_bytes = get_u16(data + 2);
    if (stack_bytes > size - HEAD)
        stack_bytes = size - HEAD;
    const uint8_t *stack = data + HEAD, *file = stack + stack_bytes;
    snprintf(mapping.path, sizeof mapping.path, "%s/module",
             input_folder("module", file, size - HEAD - stack_bytes));
    PROMISE(stat(mapping.path, &status) == 0);
    mapping.offset = (uint64_t)get_u16(data) << 12;
    mapping.inode = status.st_ino;
    mapping.major = major(status.st_dev);
    mapping.minor = minor(status.st_dev);
    foreign_modules_add(&mapping);
    for (uint64_t i = 0; i < SAMPLES; i++)
        sample(MAPPED_AT + i * i * 37, stack, stack_bytes);
    unmap_all();
}

/* The table of a program's sections and their names are copied, and .eh_frame, for which an index is made. */
const struct fuzz_target outside_target = {"outside", run_outside, 2 << 20, 64};
