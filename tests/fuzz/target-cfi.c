/* hpcrun's unwind rules: the search table, the frame descriptions and their expressions, which it
 * reads in the signal handler, in a guarded region. Reads beyond the bytes fault, and the region is
 * left. This file and the code under test are built without the address sanitizer, which does not
 * know about guarded regions. */
#include "tests/fuzz/fuzz-target.h"

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/expression.h"
#include "lib/bytes.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

/* The bytes lie between two areas without access: offsets of 32 bits from them stay inside. */
#define NO_ACCESS ((size_t)5 << 30)
#define MOST      ((size_t)1 << 20)

static struct guard guard;
static struct sigaction before;

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (!guard_fix_up(&guard, context))
        before.sa_sigaction(number, info, context);
}

static uint8_t *set_up(void)
{
    uint8_t *area =
        mmap(NULL, 2 * NO_ACCESS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    PROMISE(area != MAP_FAILED);
    PROMISE(mprotect(area + NO_ACCESS, MOST, PROT_READ | PROT_WRITE) == 0);
    const struct sigaction action = {.sa_sigaction = on_fault,
                                     .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGSEGV, &action, &before);
    sigaction(SIGBUS, &action, NULL);
    return area + NO_ACCESS;
}

static void evaluate(const uint8_t *expression, struct memory *memory)
{
    static const uint64_t registers[DWARF_REGS] = {1, 2, 3};
    static const uint64_t initial = 0x1000;
    uint64_t value;
    expression_evaluate(expression, registers, &initial, memory, &value);
}

static void evaluate_row(const struct cfi_row *row, struct memory *memory)
{
    if (row->cfa_expr)
        evaluate(row->cfa_expr, memory);
    for (unsigned i = 0; i < DWARF_REGS; i++)
        if (row->reg[i].kind == REG_AT_EXPR || row->reg[i].kind == REG_IS_EXPR)
            evaluate(row->reg[i].expr, memory);
}

/* All rows from the start of an entry of the search table on, at most 16. */
static void read_rows(uint64_t pc, struct cfi_index *index, struct memory *memory)
{
    static struct cfi_scratch scratch;
    scratch.cie_at = NULL;
    for (unsigned i = 0; i < 16; i++) {
        const struct cfi_row *row = cfi_row_at(pc, index, &scratch);
        if (!row)
            return;
        PROMISE(row->cfa_reg < DWARF_REGS);
        evaluate_row(row, memory);
        pc = row->end;
    }
}

/* The input: the contents of .eh_frame_hdr, and behind it .eh_frame. */
static void run_cfi(const uint8_t *data, size_t size)
{
    static uint8_t *bytes;
    static struct cfi_index index;
    static struct memory memory;
    if (!bytes)
        bytes = set_up();
    if (size > MOST - 4096)
        return;
    memcpy(bytes, data, size);
    memset(bytes + size, 0, 4096);
    memory = (struct memory){.own_low = (uint64_t)(uintptr_t)bytes,
                             .own_high = (uint64_t)(uintptr_t)bytes + size,
                             .guard = MEMORY_GUARD_KERNEL};
    if (guard_enter(&guard) == 0) {
        if (cfi_open(&index, bytes))
            for (uint32_t i = 0; i < index.count && i < 64; i++) {
                int32_t key = (int32_t)get_u32(index.entries + 8 * (uint64_t)i);
                read_rows((uint64_t)(uintptr_t)bytes + (uint64_t)key, &index, &memory);
            }
        guard_leave(&guard);
    }
}

const struct fuzz_target cfi_target = {"cfi", run_cfi, 1 << 16, 0};
