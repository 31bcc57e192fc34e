/* .eh_frame and .gcc_except_table: the address ranges of functions and of the parts split off from
 * them, also in stripped binaries, and the landing pads of their exceptions.
 * (System V ABI, AMD64 supplement; Linux Standard Base 10.6; Itanium C++ ABI, "Exception Handling
 * Tables".) */
#ifndef HPCSTRUCT_EH_FRAME_H
#define HPCSTRUCT_EH_FRAME_H

#include "hpcstruct/elf/elf-image.h"

/* A frame description entry (FDE). */
struct frame_entry {
    uint64_t begin, end;
    uint64_t exceptions; /* address of its language-specific data (call-site table); 0: none */
    /* The first instruction already has a frame: the range continues a function that begins
     * elsewhere, such as the part that gcc puts into .text.unlikely. */
    bool begins_mid_function;
};

struct frame_entries {
    VEC(struct frame_entry) entries; /* sorted by begin; only those that lie in code */
};

/* Reads the entries of a binary; skips those that it cannot decode. */
void frame_entries_read(struct frame_entries *entries, const struct elf_image *image);

void frame_entries_free(struct frame_entries *entries);

/* A call-site record: calls in [begin, end) continue at `address` if they throw. Catch blocks and
 * destructors are reached in no other way. */
struct landing_pad {
    uint64_t begin, end;
    uint64_t address;
};

struct landing_pads {
    VEC(struct landing_pad) all;
};

/* Appends the landing pads of a frame entry, except those outside all code. */
void landing_pads_read(struct landing_pads *pads, const struct elf_image *image,
                       const struct frame_entry *entry);

#endif
