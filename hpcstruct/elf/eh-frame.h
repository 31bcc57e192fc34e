/* Frame description entries of .eh_frame: which address ranges are functions or parts of functions,
 * even in stripped binaries. (System V ABI, AMD64 supplement, and Linux Standard Base 10.6.) */
#ifndef HPCSTRUCT_EH_FRAME_H
#define HPCSTRUCT_EH_FRAME_H

#include "hpcstruct/elf/byte-reader.h"

struct frame_entry {
    uint64_t begin, end;
    uint64_t exceptions; /* address of its language-specific data (call-site table), 0: none */
    /* The frame is not that of a function's entry at `begin`: the code continues another's. */
    bool begins_inside;
};

struct frame_entries {
    VEC(struct frame_entry) entries; /* sorted by begin; only those that lie in code */
};

/* Reads them from a binary. Entries that cannot be understood are left out. */
void frame_entries_read(struct frame_entries *entries, const struct elf_image *image);

void frame_entries_free(struct frame_entries *entries);

/* A pointer in one of the DW_EH_PE encodings; `address` is that of the cursor's first byte. 0 for a
 * null pointer, and for encodings that are relative to anything but the pointer's position. */
uint64_t read_encoded_pointer(struct cursor *cursor, uint64_t address, uint8_t encoding);

/* Call-site tables of C++ exceptions (.gcc_except_table): which landing pad is entered when a call
 * throws. A catch block is reached in no other way. (Itanium C++ ABI, "Exception Handling Tables".)
 */

struct landing {
    uint64_t begin, end; /* calls in here */
    uint64_t pad;        /* continue here when they throw */
};

struct landings {
    VEC(struct landing) all;
};

/* Appends the landings of a frame entry; those that point outside of the code are left out. */
void landings_read(struct landings *landings, const struct elf_image *image,
                   const struct frame_entry *entry);

#endif
