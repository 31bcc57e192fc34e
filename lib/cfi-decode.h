/* Decoder of .eh_frame: encoded pointers, and the headers of its entries (CIEs and FDEs). After the
 * Linux Standard Base 10.6 and DWARF 5, section 6.4.
 *
 * Freestanding: no state, no libc beyond memcpy, no allocation. hpcrun decodes its own process's
 * sections in the signal handler, in a guarded region (hpcrun/unwind/memory.h); hpcstruct decodes
 * sections of files. Malformed bytes set `bad`; no read goes beyond `end`.
 *
 *     entry   length (4 bytes, or 0xffffffff and 8 bytes), id (4 bytes), contents
 *     CIE     id 0: version, augmentation, alignment factors, return register, augmentation data,
 *             instructions
 *     FDE     id = distance back from the id to its CIE: begin, range, augmentation data,
 * instructions
 */
#ifndef LIB_CFI_DECODE_H
#define LIB_CFI_DECODE_H

#include "lib/bytes.h"

#include <stdbool.h>

/* A position in bytes of the section. `bad` is set, and stays set, by a read beyond the end or of a
 * value that cannot be decoded. */
struct cfi_cursor {
    const uint8_t *at, *end;
    uint64_t bias; /* address of a byte in the program - its address here; 0 in the same process */
    bool bad;
};

static inline bool cfi_has(struct cfi_cursor *c, uint64_t size)
{
    if ((uint64_t)(c->end - c->at) < size)
        c->bad = true;
    return !c->bad;
}

/* An integer of `size` bytes, at most 8; 0 beyond the end. */
static inline uint64_t cfi_uint(struct cfi_cursor *c, unsigned size)
{
    uint64_t value = 0;
    if (cfi_has(c, size)) {
        memcpy(&value, c->at, size);
        c->at += size;
    }
    return value;
}

static inline uint64_t cfi_uleb(struct cfi_cursor *c)
{
    uint64_t value = 0;
    if (c->at < c->end && *c->at < 0x80)
        return *c->at++;
    if (!get_varint(&c->at, c->end, &value))
        c->bad = true;
    return value;
}

static inline int64_t cfi_sleb(struct cfi_cursor *c)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while ((byte & 0x80) && shift < 64 && cfi_has(c, 1)) {
        byte = *c->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if ((byte & 0x40) && shift < 64)
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

/* ---- encoded pointers ---- */

/* DW_EH_PE_*: a format, and what the value is relative to. */
enum {
    PE_ABSPTR = 0x00,
    PE_ULEB128 = 0x01,
    PE_UDATA2 = 0x02,
    PE_UDATA4 = 0x03,
    PE_UDATA8 = 0x04,
    PE_SLEB128 = 0x09,
    PE_SDATA2 = 0x0a,
    PE_SDATA4 = 0x0b,
    PE_SDATA8 = 0x0c,
    PE_FORMAT = 0x0f,
    PE_PCREL = 0x10,
    PE_DATAREL = 0x30,
    PE_APPLICATION = 0x70,
    PE_INDIRECT = 0x80,
    PE_OMIT = 0xff,
};

/* A value in the format of an encoding. */
static inline uint64_t cfi_value(struct cfi_cursor *c, uint8_t encoding)
{
    if ((encoding & PE_FORMAT) == PE_SDATA4) /* nearly all */
        return (uint64_t)(int32_t)cfi_uint(c, 4);
    switch (encoding & PE_FORMAT) {
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8: return cfi_uint(c, 8);
    case PE_UDATA4: return cfi_uint(c, 4);
    case PE_UDATA2: return cfi_uint(c, 2);
    case PE_SDATA2: return (uint64_t)(int16_t)cfi_uint(c, 2);
    case PE_ULEB128: return cfi_uleb(c);
    case PE_SLEB128: return (uint64_t)cfi_sleb(c);
    default: c->bad = true; return 0;
    }
}

/* The address in the program that an encoded pointer stands for. A value of 0 is the null pointer,
 * whatever it is relative to. Pointers to pointers (PE_INDIRECT) are not followed. */
static inline uint64_t cfi_pointer(struct cfi_cursor *c, uint8_t encoding)
{
    uint64_t place = (uint64_t)(uintptr_t)c->at + c->bias;
    uint64_t value = cfi_value(c, encoding);
    if ((encoding & PE_APPLICATION) == PE_PCREL)
        return value ? value + place : 0;
    if (encoding & PE_APPLICATION)
        c->bad = true;
    return value;
}

/* ---- entries ---- */

/* Reads the length of the entry at the cursor, which then stands behind the entry. Returns a cursor
 * over the entry from its id on; bad for the terminator of the section. */
static inline struct cfi_cursor cfi_entry(struct cfi_cursor *c)
{
    uint64_t length = cfi_uint(c, 4);
    if (length == UINT32_MAX)
        length = cfi_uint(c, 8);
    struct cfi_cursor entry = {.at = c->at, .end = c->at, .bias = c->bias};
    if (length > INT32_MAX || !cfi_has(c, length) || length == 0)
        entry.bad = true;
    else
        c->at = entry.end = entry.at + length;
    return entry;
}

/* The header of a common information entry (CIE), which its FDEs share. */
struct cfi_cie {
    const uint8_t *instructions, *end;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register; /* DWARF number */
    uint8_t pointer_encoding; /* of `begin` in its FDEs */
    uint8_t lsda_encoding;    /* of the pointer to exception tables in its FDEs; PE_OMIT: none */
    bool has_augmentation_data;
    bool signal_frame;
};

/* The augmentation data of a CIE, described by the letters after the 'z'. Data of unknown letters,
 * and all after them, are skipped. */
static inline void cfi_parse_augmentation(struct cfi_cursor *c, const char *letters,
                                          struct cfi_cie *cie)
{
    uint8_t encoding;
    for (; *letters; letters++)
        switch (*letters) {
        case 'R': cie->pointer_encoding = (uint8_t)cfi_uint(c, 1); break;
        case 'L': cie->lsda_encoding = (uint8_t)cfi_uint(c, 1); break;
        case 'P':
            encoding = (uint8_t)cfi_uint(c, 1);
            if (encoding != PE_OMIT)
                cfi_value(c, encoding);
            break;
        case 'S': cie->signal_frame = true; break;
        case 'B': break;
        default: return;
        }
}

/* Parses a CIE; the cursor stands after its id. False if it is malformed or of an unknown version.
 */
static inline bool cfi_parse_cie(struct cfi_cursor *c, struct cfi_cie *cie)
{
    uint8_t version = (uint8_t)cfi_uint(c, 1);
    if (version != 1 && version != 3 && version != 4)
        return false;
    const char *augmentation = (const char *)c->at;
    while (cfi_has(c, 1) && *c->at)
        c->at++;
    cfi_uint(c, 1);
    if (version == 4)
        cfi_uint(c, 2); /* address size, segment size */
    *cie = (struct cfi_cie){.end = c->end, .lsda_encoding = PE_OMIT};
    cie->code_align = cfi_uleb(c);
    cie->data_align = cfi_sleb(c);
    cie->return_register = version == 1 ? cfi_uint(c, 1) : cfi_uleb(c);
    cie->instructions = c->at;
    if (c->bad || augmentation[0] == '\0')
        return !c->bad;
    if (augmentation[0] != 'z')
        return false;
    cie->has_augmentation_data = true;
    uint64_t size = cfi_uleb(c);
    if (!cfi_has(c, size))
        return false;
    cie->instructions = c->at + size;
    cfi_parse_augmentation(c, augmentation + 1, cie);
    return !c->bad;
}

/* The header of a frame description entry (FDE): a range of code. */
struct cfi_fde {
    uint64_t begin, range;          /* address and bytes of the code */
    struct cfi_cursor augmentation; /* data: a pointer of lsda_encoding, if its CIE has one */
    const uint8_t *instructions, *end;
};

/* Parses an FDE; the cursor stands after its id. False if it is malformed. */
static inline bool cfi_parse_fde(struct cfi_cursor *c, const struct cfi_cie *cie,
                                 struct cfi_fde *fde)
{
    fde->begin = cfi_pointer(c, cie->pointer_encoding);
    fde->range = cfi_value(c, cie->pointer_encoding);
    uint64_t size = cie->has_augmentation_data ? cfi_uleb(c) : 0;
    if (!cfi_has(c, size))
        return false;
    fde->augmentation = (struct cfi_cursor){.at = c->at, .end = c->at + size, .bias = c->bias};
    fde->instructions = c->at + size;
    fde->end = c->end;
    return true;
}

#endif
