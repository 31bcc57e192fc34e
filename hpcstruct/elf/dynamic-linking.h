/* What the dynamic linker will write into a module: pointers in tables, and which function a slot
 * of the global offset table stands for. */
#ifndef HPCSTRUCT_DYNAMIC_LINKING_H
#define HPCSTRUCT_DYNAMIC_LINKING_H

#include "hpcstruct/elf/code-symbols.h"
#include "hpcstruct/elf/elf-image.h"

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

/* Stubs of the procedure linkage table, named after the functions that they call. */

struct plt_stub {
    uint64_t begin, end;
    char *name; /* "FUNCTION@plt", owned; NULL: not known */
};

struct plt_stubs {
    VEC(struct plt_stub) all; /* sorted by begin */
};

/* Finds the stubs in .plt, .plt.sec and .plt.got. */
void plt_read(struct plt_stubs *stubs, const struct elf_image *image,
              const struct relocations *relocations, const struct symbol_table *symbols);

void plt_free(struct plt_stubs *stubs);

#endif
