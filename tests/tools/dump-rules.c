/* dump-rules LIBRARY: the unwind rows that hpcrun computes for every FDE of a shared library, in
 * the notation of `readelf --debug-dump=frames-interp`: first address, CFA, rbp, return address. */
#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/cfi.h"
#include "lib/bytes.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

static void print_rule(const struct reg_rule *rule)
{
    switch (rule->kind) {
    case REG_SAME: printf(" s"); break;
    case REG_UNDEFINED: printf(" u"); break;
    case REG_AT_CFA: printf(" c%+ld", (long)rule->offset); break;
    case REG_CFA_PLUS: printf(" v%+ld", (long)rule->offset); break;
    case REG_IN_REG: printf(" r%ld", (long)rule->offset); break;
    case REG_AT_EXPR: printf(" exp"); break;
    case REG_IS_EXPR: printf(" vexp"); break;
    }
}

static void print_row(uint64_t pc, const struct cfi_row *row)
{
    static const char *const names[DWARF_REGS] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                  "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                  "r12", "r13", "r14", "r15", "rip"};
    printf("%016lx", (unsigned long)pc);
    if (row->cfa_expr)
        printf(" exp");
    else
        printf(" %s%+ld", names[row->cfa_reg], (long)row->cfa_offset);
    print_rule(&row->reg[DWARF_RBP]);
    print_rule(&row->reg[DWARF_RIP]);
    printf("\n");
}

int main(int count, char **arguments)
{
    void *handle = count == 2 ? dlopen(arguments[1], RTLD_LAZY) : NULL;
    struct link_map *map;
    struct module_range range;
    static struct cfi_scratch scratch;
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 ||
        !module_range_find((uint64_t)(uintptr_t)map->l_ld, &range) || !range.eh_frame_hdr) {
        fprintf(stderr, "dump-rules: no library with .eh_frame_hdr given\n");
        return 1;
    }
    const uint8_t *hdr = range.eh_frame_hdr;
    uint32_t entries = get_u32(hdr + 8);
    static struct cfi_index index;
    cfi_open(&index, hdr);
    for (uint32_t i = 0; i < entries; i++) {
        uint64_t pc = (uint64_t)(uintptr_t)hdr + (uint64_t)(int32_t)get_u32(hdr + 12 + 8 * i);
        const struct cfi_row *row;
        while ((row = cfi_row_at(pc, &index, &scratch)) != NULL) {
            print_row(pc - range.bias, row);
            uint64_t next = row->end;
            if (i + 1 < entries &&
                next >= (uint64_t)(uintptr_t)hdr + (uint64_t)(int32_t)get_u32(hdr + 20 + 8 * i))
                break;
            pc = next;
        }
    }
    return 0;
}
