#include "hpcstruct/relocations.h"

#include "hpcstruct/sorted.h"
#include "hpcstruct/symbols.h"

#include "lib/bytes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static void add(struct relocations *relocations, const struct elf_image *image,
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
            add(relocations, image, &rela, lazy);
        }
    }
    if (relocations->pointers.n)
        qsort(relocations->pointers.at, relocations->pointers.n, sizeof *relocations->pointers.at,
              pointer_by_address);
    if (relocations->slots.n)
        qsort(relocations->slots.at, relocations->slots.n, sizeof *relocations->slots.at,
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
