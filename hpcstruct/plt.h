/* Stubs of the procedure linkage table, named after the functions that they call. */
#ifndef HPCSTRUCT_PLT_H
#define HPCSTRUCT_PLT_H

#include "hpcstruct/relocations.h"
#include "hpcstruct/symbols.h"

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
