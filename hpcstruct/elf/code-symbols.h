/* Code symbols of an ELF file and of its separate debug file. */
#ifndef HPCSTRUCT_CODE_SYMBOLS_H
#define HPCSTRUCT_CODE_SYMBOLS_H

#include "hpcstruct/elf/elf-image.h"

struct symbol {
    uint64_t address, size;
    const char *name; /* without version ("@@VERS"); belongs to the table or the file */
    bool local;
    bool function; /* STT_FUNC or STT_GNU_IFUNC; else a label */
};

struct symbol_table {
    VEC(struct symbol) symbols; /* sorted by address, better-known names first */
    VEC(char *) owned;          /* copied names */
};

/* Adds the symbols in .symtab and .dynsym of `from` that lie in code of `code`. `code` is the
 * binary, `from` the same or its debug file. */
void symbols_add(struct symbol_table *table, const struct elf_image *from,
                 const struct elf_image *code);

/* Sorts the symbols and removes duplicates (same address and name). */
void symbols_sort(struct symbol_table *table);

void symbols_free(struct symbol_table *table);

/* The index of the first symbol at or after an address; symbols.n if there is none. */
size_t symbols_lower_bound(const struct symbol_table *table, uint64_t address);

/* The name of a symbol in .dynsym, to which dynamic relocations refer; or NULL. */
const char *symbols_dynamic_name(const struct elf_image *image, uint64_t index);

#endif
