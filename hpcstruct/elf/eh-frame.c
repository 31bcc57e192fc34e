#include "hpcstruct/elf/eh-frame.h"

#include "lib/hash-tables.h"

#include <elf.h>
#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- encoded pointers ---- */

static uint64_t read_value(struct byte_reader *reader, uint8_t format)
{
    switch (format) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8: return read_uint(reader, 8);
    case DW_EH_PE_udata4: return read_uint(reader, 4);
    case DW_EH_PE_sdata4: return (uint64_t)(int32_t)read_uint(reader, 4);
    case DW_EH_PE_udata2: return read_uint(reader, 2);
    case DW_EH_PE_sdata2: return (uint64_t)(int16_t)read_uint(reader, 2);
    case DW_EH_PE_uleb128: return read_uleb128(reader);
    case DW_EH_PE_sleb128: return (uint64_t)read_sleb128(reader);
    }
    reader->failed = true;
    return 0;
}

uint64_t read_encoded_pointer(struct byte_reader *reader, uint64_t address, uint8_t encoding)
{
    if (encoding == DW_EH_PE_omit)
        return 0;
    uint64_t position = address + reader->at;
    uint64_t value = read_value(reader, encoding & 0x0f);
    if (value == 0)
        return 0; /* a null pointer, however it is encoded */
    switch (encoding & 0x70) {
    case DW_EH_PE_absptr: return value;
    case DW_EH_PE_pcrel: return position + value;
    }
    return 0;
}

/* ---- entries ---- */

/* What a common information entry (CIE) says about its frame description entries. */
struct cie {
    uint8_t pointer_encoding, data_encoding;
    bool has_augmentation, usable;
};

/* `c` stands after the id of the entry and ends with the entry. */
static struct cie parse_cie(struct byte_reader *c)
{
    struct cie cie = {.data_encoding = DW_EH_PE_omit};
    uint64_t version = read_uint(c, 1);
    const char *augmentation = read_cstring(c);
    if (c->failed || (version != 1 && version != 3))
        return cie;
    read_uleb128(c); /* code alignment */
    read_sleb128(c); /* data alignment */
    if (version == 1)
        read_uint(c, 1); /* return address register */
    else
        read_uleb128(c);
    cie.has_augmentation = augmentation[0] == 'z';
    if (!cie.has_augmentation && augmentation[0] != '\0')
        return cie;
    if (cie.has_augmentation)
        read_uleb128(c); /* length */
    for (const char *letter = augmentation; *letter && !c->failed; letter++) {
        if (*letter == 'R')
            cie.pointer_encoding = (uint8_t)read_uint(c, 1);
        else if (*letter == 'L')
            cie.data_encoding = (uint8_t)read_uint(c, 1);
        else if (*letter == 'P')
            read_value(c, (uint8_t)read_uint(c, 1) & 0x0f);
        else if (!strchr("zSB", *letter))
            return cie;
    }
    cie.usable = !c->failed;
    return cie;
}

/* Whether the rules change before the first instruction. A function starts with the rules of the
 * CIE; a part that was split off starts with those at the point of the split. */
static bool changes_rules_at_start(const struct byte_reader *instructions)
{
    if (!has_more_bytes(instructions))
        return false;
    uint8_t opcode = instructions->bytes.at[instructions->at];
    return (opcode & 0xc0) == DW_CFA_offset || opcode == DW_CFA_def_cfa ||
           opcode == DW_CFA_def_cfa_register || opcode == DW_CFA_def_cfa_offset ||
           opcode == DW_CFA_def_cfa_expression || opcode == DW_CFA_remember_state;
}

/* The section, and the CIEs that were parsed already: nearly all entries share a few. */
struct eh_frame {
    const struct elf_image *image;
    struct elf_bytes section;
    uint64_t address;    /* of the section */
    struct idmap cie_at; /* offset -> index in cies */
    VEC(struct cie) cies;
};

/* `c` stands after the id of the entry. */
static void add_fde(struct frame_entries *entries, const struct eh_frame *eh, struct byte_reader *c,
                    const struct cie *cie)
{
    struct frame_entry entry = {0};
    entry.begin = read_encoded_pointer(c, eh->address, cie->pointer_encoding);
    uint64_t length = read_value(c, cie->pointer_encoding & 0x0f);
    if (cie->has_augmentation) {
        uint64_t size = read_uleb128(c);
        struct byte_reader augmentation = sub_reader(c, size);
        if (size)
            entry.exceptions = read_encoded_pointer(&augmentation, eh->address, cie->data_encoding);
    }
    entry.begins_mid_function = changes_rules_at_start(c);
    const struct elf_code *code = elf_code_at(eh->image, entry.begin);
    if (c->failed || !code || length == 0)
        return;
    entry.end = length > code->end - entry.begin ? code->end : entry.begin + length;
    vec_push(&entries->entries, entry);
}

/* Sets `entry` to the contents of the next entry, from its id on; `c` then stands after the entry.
 * False at the end: at the terminator, or at damage (no compiler uses the 64-bit format). */
static bool next_entry(struct byte_reader *c, struct byte_reader *entry)
{
    uint64_t length = read_uint(c, 4);
    *entry = sub_reader(c, length);
    return !c->failed && length >= 4 && length != UINT32_MAX;
}

static const struct cie *cie_at(struct eh_frame *eh, size_t offset)
{
    uint32_t known = idmap_get(&eh->cie_at, offset, 0);
    if (known != IDMAP_NONE)
        return &eh->cies.at[known];
    struct byte_reader c = {.bytes = eh->section, .at = offset}, entry;
    struct cie cie = {0};
    if (next_entry(&c, &entry) && read_uint(&entry, 4) == 0)
        cie = parse_cie(&entry);
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
        struct byte_reader header = {.bytes = segment->stored};
        skip_bytes(&header, 1); /* version */
        uint8_t encoding = (uint8_t)read_uint(&header, 1);
        skip_bytes(&header, 2); /* encodings of the search table */
        eh->address = read_encoded_pointer(&header, segment->address, encoding);
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
    struct byte_reader c = {.bytes = eh.section}, entry;
    while (has_more_bytes(&c) && next_entry(&c, &entry)) {
        size_t id_at = entry.at;
        uint64_t back = read_uint(&entry, 4); /* to the CIE; 0 in a CIE */
        const struct cie *cie = back && back <= id_at ? cie_at(&eh, id_at - back) : NULL;
        if (cie && cie->usable)
            add_fde(entries, &eh, &entry, cie);
    }
    idmap_free(&eh.cie_at);
    vec_free(&eh.cies);
    if (entries->entries.n)
        qsort(entries->entries.at, entries->entries.n, sizeof *entries->entries.at, by_begin);
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
    struct byte_reader c = {.bytes = elf_loaded(image, address)};
    uint8_t encoding = (uint8_t)read_uint(&c, 1);
    if (encoding != DW_EH_PE_omit)
        pad_base = read_encoded_pointer(&c, address, encoding);
    if ((uint8_t)read_uint(&c, 1) != DW_EH_PE_omit)
        read_uleb128(&c);                        /* offset of the type table */
    encoding = (uint8_t)read_uint(&c, 1) & 0x0f; /* plain offsets: only the format counts */
    struct byte_reader table = sub_reader(&c, read_uleb128(&c));
    while (has_more_bytes(&table)) {
        uint64_t begin = entry->begin + read_encoded_pointer(&table, address, encoding);
        uint64_t length = read_encoded_pointer(&table, address, encoding);
        uint64_t offset = read_encoded_pointer(&table, address, encoding); /* 0: no landing pad */
        read_uleb128(&table);                                              /* action */
        if (table.failed)
            return;
        const struct landing_pad pad = {begin, begin + length, pad_base + offset};
        if (offset && length && elf_code_at(image, pad.address))
            vec_push(&pads->all, pad);
    }
}
