/* The symbols of ELF files, and the code of a runtime that was linked into a program. Normal
 * context. */
#ifndef AGENTS_COMMON_LINKED_RUNTIME_H
#define AGENTS_COMMON_LINKED_RUNTIME_H

#include "agents/agent.h"

/* A function or an object that an ELF file defines. */
struct symbol {
    const char *name;
    uint64_t address, size; /* ELF virtual address, bytes */
    bool is_function;
    bool is_global; /* visible outside its source file */
};

/* Calls `visit` for each symbol of the file: those in .symtab, or in .dynsym if the file was
 * stripped. An empty path is the program's. False if the file cannot be read as ELF. */
bool symbols_visit(const char *path, void (*visit)(const struct symbol *symbol, void *data),
                   void *data);

/* The ranges of the module's code that belong to a runtime, ascending, each with `tag`. `functions`
 * are the names of the functions that the runtime's library exports; the last is NULL. The caller
 * frees. NULL if the module has none of them, or without memory.
 *
 * A range holds the listed functions that follow one another without another global function of the
 * program between them, and the local functions between them: linkers keep the code of a source
 * file together, and the files of an archive. */
struct agent_claim *linked_runtime(const struct agent_module *module, const char *const *functions,
                                   uint32_t tag, size_t *count);

#endif
