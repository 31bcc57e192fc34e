/* The functions and objects that a module's ELF file names. Normal context. */
#ifndef AGENTS_CILK5_SYMBOLS_H
#define AGENTS_CILK5_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls `visit` for each symbol that is defined in the file: of .symtab, or of .dynsym when it was
 * stripped. `address` is as in the file. False when the file can't be read as ELF. */
bool symbols_visit(const char *path,
                   void (*visit)(const char *name, uint64_t address, uint64_t size, void *data),
                   void *data);

#endif
