#include "hpcstruct/elf/dynamic-linking.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/bytes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- relocations ---- */

static void add_relocation(struct relocations *relocations, const struct elf_image *image,
                           const Elf64_Rela *rela, bool lazy)
{
    unsigned type = ELF64_R_TYPE(rela->r_info);
    struct slot_relocation slot = {.address = rela->r_offset};
    if (type == R_X86_64_RELATIVE) {
        const struct pointer_relocation pointer = {rela->r_offset, (uint64_t)rela->r_addend};
        vec_push(&relocations->pointers, pointer);
        return;
    }
    if (type == R_X86_64_IRELATIVE)
        slot.resolver = (uint64_t)rela->r_addend;
    else if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
        slot.name = symbols_dynamic_name(image, ELF64_R_SYM(rela->r_info));
    if (lazy)
        vec_push(&relocations->lazy, slot);
    if (slot.name || slot.resolver)
        vec_push(&relocations->slots, slot);
}

static int pointer_by_address(const void *a, const void *b)
{
    const struct pointer_relocation *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int slot_by_address(const void *a, const void *b)
{
    const struct slot_relocation *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->resolver > y->resolver) - (x->resolver < y->resolver);
}

void relocations_read(struct relocations *relocations, const struct elf_image *image)
{
    for (size_t i = 0; i < image->sections.n; i++) {
        const struct elf_section *section = &image->sections.at[i];
        if (section->type != SHT_RELA || !(section->flags & SHF_ALLOC) ||
            section->coding != ELF_PLAIN)
            continue;
        bool lazy = strcmp(section->name, ".rela.plt") == 0;
        struct elf_bytes bytes = section->stored;
        for (size_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size; at += sizeof(Elf64_Rela)) {
            Elf64_Rela rela;
            memcpy(&rela, bytes.at + at, sizeof rela);
            add_relocation(relocations, image, &rela, lazy);
        }
    }
    sort_table(relocations->pointers.at, relocations->pointers.n, sizeof *relocations->pointers.at,
               pointer_by_address);
    sort_table(relocations->slots.at, relocations->slots.n, sizeof *relocations->slots.at,
               slot_by_address);
}

void relocations_free(struct relocations *relocations)
{
    vec_free(&relocations->pointers);
    vec_free(&relocations->slots);
    vec_free(&relocations->lazy);
}

bool relocations_pointer(const struct relocations *relocations, const struct elf_image *image,
                         uint64_t address, uint64_t *value)
{
    size_t i = sorted_below(&relocations->pointers, address, address);
    if (i < relocations->pointers.n && relocations->pointers.at[i].address == address) {
        *value = relocations->pointers.at[i].value;
        return true;
    }
    struct elf_bytes bytes = elf_loaded(image, address);
    if (bytes.size < sizeof *value)
        return false;
    *value = get_u64(bytes.at);
    return true;
}

const struct slot_relocation *relocations_slot(const struct relocations *relocations,
                                               uint64_t address)
{
    size_t i = sorted_below(&relocations->slots, address, address);
    if (i == relocations->slots.n || relocations->slots.at[i].address != address)
        return NULL;
    return &relocations->slots.at[i];
}

/* ---- stubs ---- */

static const char *symbol_name_at(const struct symbol_table *symbols, uint64_t address)
{
    size_t i = symbols_lower_bound(symbols, address);
    if (i < symbols->symbols.n && symbols->symbols.at[i].address == address)
        return symbols->symbols.at[i].name;
    return NULL;
}

/* The slot of the function that a stub calls; NULL if its code has none of these forms:
 *     [endbr64] [bnd] jmp *SLOT(%rip)
 *     [endbr64] push $NUMBER; jmp HEADER    in .plt, with lazy binding or a second table */
static const struct slot_relocation *slot_of_stub(const struct relocations *relocations,
                                                  uint64_t address, const uint8_t *code,
                                                  size_t size)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t bnd = 0xf2, push_imm32 = 0x68;
    const size_t jump_size = 6, push_size = 5;
    size_t at = 0;
    if (size >= sizeof endbr64 && memcmp(code, endbr64, sizeof endbr64) == 0)
        at += sizeof endbr64;
    if (at < size && code[at] == bnd)
        at++;
    if (size - at >= jump_size && code[at] == 0xff && code[at + 1] == 0x25) {
        int32_t displacement = (int32_t)get_u32(code + at + 2);
        uint64_t slot = address + at + jump_size + (uint64_t)(int64_t)displacement;
        return relocations_slot(relocations, slot);
    }
    if (size - at >= push_size && code[at] == push_imm32) {
        uint32_t number = get_u32(code + at + 1);
        if (number < relocations->lazy.n)
            return &relocations->lazy.at[number];
    }
    return NULL;
}

static char *stub_name(const struct slot_relocation *slot, const struct symbol_table *symbols)
{
    if (!slot)
        return NULL;
    const char *name = slot->name ? slot->name : symbol_name_at(symbols, slot->resolver);
    return name ? mem_printf("%s@plt", name) : NULL;
}

static void add_stubs(struct plt_stubs *stubs, const struct elf_section *section,
                      const struct relocations *relocations, const struct symbol_table *symbols)
{
    size_t step = section->entry_size == 8 ? 8 : 16;
    for (size_t at = 0; at + step <= section->stored.size; at += step) {
        uint64_t address = section->address + at;
        const struct slot_relocation *slot =
            slot_of_stub(relocations, address, section->stored.at + at, step);
        const struct plt_stub stub = {address, address + step, stub_name(slot, symbols)};
        vec_push(&stubs->all, stub);
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct plt_stub *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

void plt_read(struct plt_stubs *stubs, const struct elf_image *image,
              const struct relocations *relocations, const struct symbol_table *symbols)
{
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct elf_section *section = elf_section(image, names[i]);
        if (section && section->coding == ELF_PLAIN && elf_code_at(image, section->address))
            add_stubs(stubs, section, relocations, symbols);
    }
    vec_sort(&stubs->all, by_begin);
}

void plt_free(struct plt_stubs *stubs)
{
    for (size_t i = 0; i < stubs->all.n; i++)
        free(stubs->all.at[i].name);
    vec_free(&stubs->all);
}
