/* The functions and objects that a module's ELF file names. Normal context. */
#ifndef AGENTS_COMMON_ELF_SYMBOLS_H
#define AGENTS_COMMON_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    const char *name;
    uint64_t address, size; /* as in the file */
    bool is_function;
    bool is_global; /* visible outside its source file */
};

/* Calls `visit` for each symbol that is defined in the file: of .symtab, or of .dynsym when it was
 * stripped. False when the file can't be read as ELF. An empty path is the program's. */
bool symbols_visit(const char *path, void (*visit)(const struct symbol *symbol, void *data),
                   void *data);

#endif
