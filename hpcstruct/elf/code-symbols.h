/* Code symbols of an ELF file and of its separate debug file. */
#ifndef HPCSTRUCT_CODE_SYMBOLS_H
#define HPCSTRUCT_CODE_SYMBOLS_H

#include "hpcstruct/elf/elf-image.h"

struct symbol {
    uint64_t address, size;
    const char *name; /* without version ("@@VERS"); belongs to the table */
    bool local;
    bool function; /* declared as code (STT_FUNC, STT_GNU_IFUNC); else a plain label */
};

struct symbol_table {
    VEC(struct symbol) symbols; /* sorted by address, better names first */
    VEC(char *) owned;          /* names that had to be copied */
};

/* Adds the symbols in .symtab and .dynsym of `from` that lie in code of `code` (the binary itself;
 * `from` may be its debug file). */
void symbols_add(struct symbol_table *table, const struct elf_image *from,
                 const struct elf_image *code);

/* Brings the symbols into order; of equal ones (address and name) one is kept. */
void symbols_sort(struct symbol_table *table);

void symbols_free(struct symbol_table *table);

/* The first of the symbols at or after an address (an index, symbols.n when there is none). */
size_t symbols_lower_bound(const struct symbol_table *table, uint64_t address);

/* The symbols of a section of dynamic relocations: name of symbol number `index`, or NULL. */
const char *symbols_dynamic_name(const struct elf_image *image, uint64_t index);

#endif
