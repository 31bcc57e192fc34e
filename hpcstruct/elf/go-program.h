/* The table of functions of a Go program (lib/go-table.h): where it is, and the symbols that it gives. */
#ifndef HPCSTRUCT_GO_PROGRAM_H
#define HPCSTRUCT_GO_PROGRAM_H

#include "hpcstruct/elf/dynamic-linking.h"

#include "lib/go-table.h"

struct go_program {
    const struct elf_image *image;
    uint64_t address;      /* of the table */
    struct go_table table; /* count is 0 if the file has none */
};

/* Finds the table by its section, or where none has its name by its first bytes. Prints a note
 * (lib/diag.h) if it is of an unknown version, or damaged. */
void go_program_find(struct go_program *go, const struct elf_image *image,
                     const struct relocations *relocations);

/* Adds a symbol for each function. */
void go_program_add_symbols(const struct go_program *go, struct symbol_table *symbols);

/* Function i. False if it is damaged, or not in the program's code. */
bool go_program_function(const struct go_program *go, uint64_t i, struct go_function *function);

/* Inlined call i of a function. False if there is none. */
bool go_program_call(const struct go_program *go, const struct go_function *function, int64_t i,
                     struct go_call *call);

#endif
