/* Call-site tables of C++ exceptions (.gcc_except_table): which landing pad is entered when a call
 * throws. A catch block is reached in no other way. (Itanium C++ ABI, "Exception Handling Tables".)
 */
#ifndef HPCSTRUCT_EXCEPTION_TABLE_H
#define HPCSTRUCT_EXCEPTION_TABLE_H

#include "hpcstruct/eh-frame.h"

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
