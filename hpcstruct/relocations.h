/* What the dynamic linker will write into a module: pointers in tables, and which function a slot
 * of the global offset table stands for. */
#ifndef HPCSTRUCT_RELOCATIONS_H
#define HPCSTRUCT_RELOCATIONS_H

#include "hpcstruct/elf-image.h"

struct pointer_relocation {
    uint64_t address, value; /* the 8 bytes at `address` become load bias + value */
};

struct slot_relocation {
    uint64_t address;
    const char *name; /* of the function; NULL for one of this module that is chosen at load time */
    uint64_t resolver; /* address of the function that chooses, where name is NULL */
};

struct relocations {
    VEC(struct pointer_relocation) pointers; /* sorted by address */
    VEC(struct slot_relocation) slots;       /* sorted by address */
    VEC(struct slot_relocation) lazy;        /* those of .rela.plt in its order */
};

void relocations_read(struct relocations *relocations, const struct elf_image *image);

void relocations_free(struct relocations *relocations);

/* The pointer that will stand at an address: relocated, or as in the file. False when the image
 * has no bytes there. */
bool relocations_pointer(const struct relocations *relocations, const struct elf_image *image,
                         uint64_t address, uint64_t *value);

/* The slot at an address, or NULL. */
const struct slot_relocation *relocations_slot(const struct relocations *relocations,
                                               uint64_t address);

#endif
