#include "hpcstruct/elf/eh-frame.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/cfi-decode.h"
#include "lib/hash-tables.h"

#include <elf.h>
#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

/* A cursor over bytes of a file, the first of which has this address in the program. */
static struct cfi_cursor cursor_of(struct elf_bytes bytes, uint64_t address)
{
    return (struct cfi_cursor){.at = bytes.at,
                               .end = bytes.size ? bytes.at + bytes.size : bytes.at,
                               .bias = address - (uint64_t)(uintptr_t)bytes.at};
}

/* ---- entries ---- */

/* Whether the rules change before the first instruction. A function starts with the rules of the
 * CIE; a part that was split off starts with those at the point of the split. */
static bool changes_rules_at_start(const struct cfi_fde *fde)
{
    if (fde->instructions == fde->end)
        return false;
    uint8_t opcode = *fde->instructions;
    return (opcode & 0xc0) == DW_CFA_offset || opcode == DW_CFA_def_cfa ||
           opcode == DW_CFA_def_cfa_register || opcode == DW_CFA_def_cfa_offset ||
           opcode == DW_CFA_def_cfa_expression || opcode == DW_CFA_remember_state;
}

struct known_cie {
    struct cfi_cie cie;
    bool usable;
};

/* The section, and the CIEs that were parsed already: nearly all entries share a few. */
struct eh_frame {
    const struct elf_image *image;
    struct elf_bytes section;
    uint64_t address;    /* of the section */
    struct idmap cie_at; /* offset -> index in cies */
    VEC(struct known_cie) cies;
};

/* The cursor stands after the id of the entry. */
static void add_fde(struct frame_entries *entries, const struct eh_frame *eh, struct cfi_cursor *c,
                    const struct cfi_cie *cie)
{
    struct cfi_fde fde;
    if (!cfi_parse_fde(c, cie, &fde) || fde.range == 0)
        return;
    const struct elf_code *code = elf_code_at(eh->image, fde.begin);
    if (!code)
        return;
    struct frame_entry entry = {.begin = fde.begin,
                                .begins_mid_function = changes_rules_at_start(&fde)};
    entry.end = fde.range > code->end - fde.begin ? code->end : fde.begin + fde.range;
    if (cie->lsda_encoding != PE_OMIT && fde.augmentation.at < fde.augmentation.end)
        entry.exceptions = cfi_pointer(&fde.augmentation, cie->lsda_encoding);
    if (fde.augmentation.bad)
        entry.exceptions = 0;
    vec_push(&entries->entries, entry);
}

static const struct known_cie *cie_at(struct eh_frame *eh, const uint8_t *at)
{
    size_t offset = (size_t)(at - eh->section.at);
    uint32_t known = idmap_get(&eh->cie_at, offset, 0);
    if (known != IDMAP_NONE)
        return &eh->cies.at[known];
    struct cfi_cursor c = cursor_of(eh->section, eh->address);
    c.at = at;
    struct cfi_cursor entry = cfi_entry(&c);
    struct known_cie cie = {0};
    cie.usable = cfi_uint(&entry, 4) == 0 && !entry.bad && cfi_parse_cie(&entry, &cie.cie);
    idmap_put(&eh->cie_at, offset, 0, (uint32_t)eh->cies.n);
    vec_push(&eh->cies, cie);
    return &eh->cies.at[eh->cies.n - 1];
}

/* Finds .eh_frame by its section; without section headers, by .eh_frame_hdr, which a program header
 * points to. */
static void find_section(struct eh_frame *eh)
{
    const struct elf_section *section = elf_section(eh->image, ".eh_frame");
    if (section && section->coding == ELF_PLAIN) {
        eh->address = section->address;
        eh->section = section->stored;
        return;
    }
    for (size_t i = 0; i < eh->image->segments.n && eh->image->sections.n == 0; i++) {
        const struct elf_segment *segment = &eh->image->segments.at[i];
        if (segment->type != PT_GNU_EH_FRAME)
            continue;
        struct cfi_cursor header = cursor_of(segment->stored, segment->address);
        cfi_uint(&header, 1); /* version */
        uint8_t encoding = (uint8_t)cfi_uint(&header, 1);
        cfi_uint(&header, 2); /* encodings of the search table */
        eh->address = cfi_pointer(&header, encoding);
        eh->section = elf_loaded(eh->image, eh->address);
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct frame_entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

void frame_entries_read(struct frame_entries *entries, const struct elf_image *image)
{
    struct eh_frame eh = {.image = image};
    find_section(&eh);
    struct cfi_cursor c = cursor_of(eh.section, eh.address), entry;
    while (c.at < c.end && !(entry = cfi_entry(&c)).bad) {
        const uint8_t *id_at = entry.at;
        uint64_t back = cfi_uint(&entry, 4), most = (uint64_t)(id_at - eh.section.at);
        const struct known_cie *known = back && back <= most ? cie_at(&eh, id_at - back) : NULL;
        if (known && known->usable)
            add_fde(entries, &eh, &entry, &known->cie);
    }
    idmap_free(&eh.cie_at);
    vec_free(&eh.cies);
    sort_table(entries->entries.at, entries->entries.n, sizeof *entries->entries.at, by_begin);
}

void frame_entries_free(struct frame_entries *entries)
{
    vec_free(&entries->entries);
}

/* ---- call-site tables ---- */

void landing_pads_read(struct landing_pads *pads, const struct elf_image *image,
                       const struct frame_entry *entry)
{
    if (entry->exceptions == 0)
        return;
    uint64_t address = entry->exceptions, pad_base = entry->begin;
    struct cfi_cursor c = cursor_of(elf_loaded(image, address), address);
    uint8_t encoding = (uint8_t)cfi_uint(&c, 1);
    if (encoding != PE_OMIT)
        pad_base = cfi_pointer(&c, encoding);
    if ((uint8_t)cfi_uint(&c, 1) != PE_OMIT)
        cfi_uleb(&c);                    /* offset of the type table */
    encoding = (uint8_t)cfi_uint(&c, 1); /* of plain offsets: only the format counts */
    uint64_t size = cfi_uleb(&c);
    if (!cfi_has(&c, size))
        return;
    c.end = c.at + size;
    while (c.at < c.end) {
        uint64_t begin = entry->begin + cfi_value(&c, encoding);
        uint64_t length = cfi_value(&c, encoding);
        uint64_t offset = cfi_value(&c, encoding); /* 0: no landing pad */
        cfi_uleb(&c);                              /* action */
        if (c.bad)
            return;
        const struct landing_pad pad = {begin, begin + length, pad_base + offset};
        if (offset && length && elf_code_at(image, pad.address))
            vec_push(&pads->all, pad);
    }
}
