/* The dynamic linking of a module: relocations of pointers and of slots of the
 * global offset table, and the stubs of the procedure linkage table, which jump through these
 * slots. */
#ifndef HPCSTRUCT_DYNAMIC_LINKING_H
#define HPCSTRUCT_DYNAMIC_LINKING_H

#include "hpcstruct/elf/code-symbols.h"

/* ---- relocations ---- */

struct pointer_relocation {
    uint64_t address, value; /* the 8 bytes at `address` become load bias + value */
};

struct slot_relocation {
    uint64_t address;
    const char
        *name; /* of the function; NULL: a function of this module that is chosen at load time */
    uint64_t resolver; /* if name is NULL: address of the function that chooses (ifunc) */
};

struct relocations {
    VEC(struct pointer_relocation) pointers; /* sorted by address */
    VEC(struct slot_relocation) slots;       /* sorted by address */
    VEC(struct slot_relocation) lazy;        /* those of .rela.plt, in its order */
};

void relocations_read(struct relocations *relocations, const struct elf_image *image);

void relocations_free(struct relocations *relocations);

/* The pointer at an address after relocation. False if the image has no bytes there. */
bool relocations_pointer(const struct relocations *relocations, const struct elf_image *image,
                         uint64_t address, uint64_t *value);

/* The slot at an address, or NULL. */
const struct slot_relocation *relocations_slot(const struct relocations *relocations,
                                               uint64_t address);

/* ---- stubs ---- */

struct plt_stub {
    uint64_t begin, end;
    char *name; /* "FUNCTION@plt", for the function that it calls; NULL: unknown. Owned */
};

struct plt_stubs {
    VEC(struct plt_stub) all; /* sorted by begin */
};

/* Finds the stubs in .plt, .plt.sec and .plt.got. */
void plt_read(struct plt_stubs *stubs, const struct elf_image *image,
              const struct relocations *relocations, const struct symbol_table *symbols);

void plt_free(struct plt_stubs *stubs);

#endif
