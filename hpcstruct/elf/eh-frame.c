#include "hpcstruct/elf/eh-frame.h"

#include "lib/idmap.h"

#include <elf.h>
#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- encoded pointers ---- */

static uint64_t read_value(struct cursor *cursor, uint8_t format)
{
    switch (format) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8: return cursor_unsigned(cursor, 8);
    case DW_EH_PE_udata4: return cursor_unsigned(cursor, 4);
    case DW_EH_PE_sdata4: return (uint64_t)(int32_t)cursor_unsigned(cursor, 4);
    case DW_EH_PE_udata2: return cursor_unsigned(cursor, 2);
    case DW_EH_PE_sdata2: return (uint64_t)(int16_t)cursor_unsigned(cursor, 2);
    case DW_EH_PE_uleb128: return cursor_uleb(cursor);
    case DW_EH_PE_sleb128: return (uint64_t)cursor_sleb(cursor);
    }
    cursor->bad = true;
    return 0;
}

uint64_t read_encoded_pointer(struct cursor *cursor, uint64_t address, uint8_t encoding)
{
    if (encoding == DW_EH_PE_omit)
        return 0;
    uint64_t position = address + cursor->at;
    uint64_t value = read_value(cursor, encoding & 0x0f);
    if (value == 0)
        return 0; /* a null pointer, however it is encoded */
    switch (encoding & 0x70) {
    case DW_EH_PE_absptr: return value;
    case DW_EH_PE_pcrel: return position + value;
    }
    return 0;
}

/* ---- entries ---- */

/* What a common information entry says about its frame description entries. */
struct cie {
    uint8_t pointer_encoding, data_encoding;
    bool has_augmentation, usable;
};

/* `c` stands behind the length and the id of the entry and ends with it. */
static struct cie parse_cie(struct cursor *c)
{
    struct cie cie = {.data_encoding = DW_EH_PE_omit};
    uint64_t version = cursor_unsigned(c, 1);
    const char *augmentation = cursor_string(c);
    if (c->bad || (version != 1 && version != 3))
        return cie;
    cursor_uleb(c); /* code alignment */
    cursor_sleb(c); /* data alignment */
    if (version == 1)
        cursor_unsigned(c, 1); /* return address register */
    else
        cursor_uleb(c);
    cie.has_augmentation = augmentation[0] == 'z';
    if (!cie.has_augmentation && augmentation[0] != '\0')
        return cie;
    if (cie.has_augmentation)
        cursor_uleb(c); /* length */
    for (const char *letter = augmentation; *letter && !c->bad; letter++) {
        if (*letter == 'R')
            cie.pointer_encoding = (uint8_t)cursor_unsigned(c, 1);
        else if (*letter == 'L')
            cie.data_encoding = (uint8_t)cursor_unsigned(c, 1);
        else if (*letter == 'P')
            read_value(c, (uint8_t)cursor_unsigned(c, 1) & 0x0f);
        else if (!strchr("zSB", *letter))
            return cie;
    }
    cie.usable = !c->bad;
    return cie;
}

/* Whether the rules change before the first instruction does: compilers open a function with the
 * rules of the CIE, and a part that is split off with those at the point of the split. */
static bool changes_frame_at_once(const struct cursor *instructions)
{
    if (instructions->bad || instructions->at >= instructions->bytes.size)
        return false;
    uint8_t opcode = instructions->bytes.at[instructions->at];
    return (opcode & 0xc0) == DW_CFA_offset || opcode == DW_CFA_def_cfa ||
           opcode == DW_CFA_def_cfa_register || opcode == DW_CFA_def_cfa_offset ||
           opcode == DW_CFA_def_cfa_expression || opcode == DW_CFA_remember_state;
}

/* The section, and its parts that were parsed already: nearly all entries share a few CIEs. */
struct reader {
    const struct elf_image *image;
    struct elf_bytes section;
    uint64_t address;    /* of the section */
    struct idmap cie_at; /* offset -> index in cies */
    VEC(struct cie) cies;
};

/* `c` stands behind the id of the entry. */
static void add_fde(struct frame_entries *entries, const struct reader *r, struct cursor *c,
                    const struct cie *cie)
{
    struct frame_entry entry = {0};
    entry.begin = read_encoded_pointer(c, r->address, cie->pointer_encoding);
    uint64_t length = read_value(c, cie->pointer_encoding & 0x0f);
    if (cie->has_augmentation) {
        uint64_t size = cursor_uleb(c);
        struct cursor augmentation = cursor_part(c, size);
        if (size)
            entry.exceptions = read_encoded_pointer(&augmentation, r->address, cie->data_encoding);
    }
    entry.begins_inside = changes_frame_at_once(c);
    const struct elf_code *code = elf_code_at(r->image, entry.begin);
    if (c->bad || !code || length == 0)
        return;
    entry.end = length > code->end - entry.begin ? code->end : entry.begin + length;
    vec_push(&entries->entries, entry);
}

/* The entry at the cursor: its contents, which start with the id, and the cursor behind it. False
 * at the end of the entries: the terminator, or damage (the 64-bit format is not in use). */
static bool next_entry(struct cursor *c, struct cursor *entry)
{
    uint64_t length = cursor_unsigned(c, 4);
    *entry = cursor_part(c, length);
    return !c->bad && length >= 4 && length != UINT32_MAX;
}

static const struct cie *cie_at(struct reader *r, size_t offset)
{
    uint32_t known = idmap_get(&r->cie_at, offset, 0);
    if (known != IDMAP_NONE)
        return &r->cies.at[known];
    struct cursor c = {.bytes = r->section, .at = offset}, entry;
    struct cie cie = {0};
    if (next_entry(&c, &entry) && cursor_unsigned(&entry, 4) == 0)
        cie = parse_cie(&entry);
    idmap_put(&r->cie_at, offset, 0, (uint32_t)r->cies.n);
    vec_push(&r->cies, cie);
    return &r->cies.at[r->cies.n - 1];
}

/* Finds .eh_frame: by its section, else by the header that the program headers point to. */
static void find_section(struct reader *r)
{
    const struct elf_section *section = elf_section(r->image, ".eh_frame");
    if (section && section->coding == ELF_PLAIN) {
        r->address = section->address;
        r->section = section->stored;
        return;
    }
    for (size_t i = 0; i < r->image->segments.n && r->image->sections.n == 0; i++) {
        const struct elf_segment *segment = &r->image->segments.at[i];
        if (segment->type != PT_GNU_EH_FRAME)
            continue;
        struct cursor header = {.bytes = segment->stored};
        cursor_skip(&header, 1); /* version */
        uint8_t encoding = (uint8_t)cursor_unsigned(&header, 1);
        cursor_skip(&header, 2); /* encodings of the search table */
        r->address = read_encoded_pointer(&header, segment->address, encoding);
        r->section = elf_loaded(r->image, r->address);
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
    struct reader r = {.image = image};
    find_section(&r);
    struct cursor c = {.bytes = r.section}, entry;
    while (cursor_has_more(&c) && next_entry(&c, &entry)) {
        size_t id_at = entry.at;
        uint64_t back = cursor_unsigned(&entry, 4); /* to the CIE; 0 in a CIE */
        const struct cie *cie = back && back <= id_at ? cie_at(&r, id_at - back) : NULL;
        if (cie && cie->usable)
            add_fde(entries, &r, &entry, cie);
    }
    idmap_free(&r.cie_at);
    vec_free(&r.cies);
    if (entries->entries.n)
        qsort(entries->entries.at, entries->entries.n, sizeof *entries->entries.at, by_begin);
}

void frame_entries_free(struct frame_entries *entries)
{
    vec_free(&entries->entries);
}

void landings_read(struct landings *landings, const struct elf_image *image,
                   const struct frame_entry *entry)
{
    if (entry->exceptions == 0)
        return;
    uint64_t address = entry->exceptions, pad_base = entry->begin;
    struct cursor c = {.bytes = elf_loaded(image, address)};
    uint8_t encoding = (uint8_t)cursor_unsigned(&c, 1);
    if (encoding != DW_EH_PE_omit)
        pad_base = read_encoded_pointer(&c, address, encoding);
    if ((uint8_t)cursor_unsigned(&c, 1) != DW_EH_PE_omit)
        cursor_uleb(&c);                               /* offset of the type table */
    encoding = (uint8_t)cursor_unsigned(&c, 1) & 0x0f; /* of offsets: relative to no place */
    struct cursor table = cursor_part(&c, cursor_uleb(&c));
    while (cursor_has_more(&table)) {
        uint64_t begin = entry->begin + read_encoded_pointer(&table, address, encoding);
        uint64_t length = read_encoded_pointer(&table, address, encoding);
        uint64_t pad = read_encoded_pointer(&table, address, encoding);
        cursor_uleb(&table); /* action */
        if (table.bad)
            return;
        const struct landing landing = {begin, begin + length, pad_base + pad};
        if (pad && length && elf_code_at(image, landing.pad))
            vec_push(&landings->all, landing);
    }
}
