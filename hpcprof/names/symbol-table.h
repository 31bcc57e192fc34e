/* The functions and source files of a run, in tables over all load modules. Calling contexts refer
 * to them.
 *
 * Functions that no structure describes have names in angle brackets. Nothing changes after
 * symbols_build: threads may share the table. */
#ifndef HPCPROF_SYMBOL_TABLE_H
#define HPCPROF_SYMBOL_TABLE_H

#include "hpcprof/measurement/measurements.h"
#include "hpcprof/modules/structure-finder.h"

#define NO_SYMBOL UINT32_MAX

struct function {
    const char *name;
    uint32_t module; /* index in measurements.modules; NO_SYMBOL: none */
    uint32_t file;   /* id in files; NO_SYMBOL: unknown */
    uint32_t line;   /* 0: unknown */
    uint64_t entry;  /* ELF address in the module; 0: unknown */
    bool is_body;    /* of a parallel construct (construct-names.h) */
    uint32_t header; /* of a runtime's headers: the function that the logical projection shows
                        (header-functions.h); 0: of none */
};

struct symbol_table {
    const struct measurements *measurements;
    const struct structures *structures;
    struct strtab files; /* normalized paths */
    VEC(struct function) functions;
    uint32_t *first_function;     /* by module: first function of its structure; all are in a row */
    uint32_t *unknown_function;   /* by module: stands for code that no structure describes */
    bool *is_header_file;         /* by id in files (header-functions.h) */
    bool has_headers;             /* some function has a header */
    uint32_t **file_of;           /* by module and file of its structure: id in files */
    struct strtab names;          /* of functions that are in no structure */
    struct idmap agent_functions; /* (name and file, line) -> function */
    uint32_t ***functions_of_names; /* by measurement file, name table and index in it */
    uint32_t **functions_of_code;   /* by measurement file and index in its code_names */
    struct idmap locks;             /* (ELF address, module) -> function that stands for the lock */
    uint32_t partial_path, kernel, serial, unknown_code, unnamed_lock, lock_without_cpu; /* functions */
};

/* The result refers to the arguments. */
void symbols_build(struct symbol_table *symbols, const struct measurements *measurements,
                   const struct structures *structures);

void symbols_free(struct symbol_table *symbols);

/* The structure of a module; NULL: it has none. */
const struct structure *symbols_structure(const struct symbol_table *symbols, uint32_t module);

/* The function of a structure's scope of kind SCOPE_PROCEDURE or SCOPE_INLINED. */
uint32_t symbols_function(const struct symbol_table *symbols, uint32_t module,
                          const struct structure_scope *scope);

/* The function that a value of an agent's name table means, in the measurement file of that index;
 * NO_SYMBOL if its name is lost. */
uint32_t symbols_agent_function(const struct symbol_table *symbols, size_t file, uint32_t space,
                                uint64_t value);

/* What stands for an address of a module that no structure describes: a lock that threads waited
 * for, "<lock queue_lock>", or the module's unknown code. */
uint32_t symbols_outside_code(const struct symbol_table *symbols, uint32_t module,
                              uint64_t address);

/* Whether a function stands for code that may be several procedures: "<unknown code>". Such names
 * are in angle brackets, as Rust's "<T as Trait>::f" are, whose entry or file is known. */
static inline bool function_is_placeholder(const struct function *function)
{
    return function->name[0] == '<' && function->file == NO_SYMBOL && function->entry == 0;
}

/* The function at an address in no module, in the measurement file of that index. */
uint32_t symbols_code_function(const struct symbol_table *symbols, size_t file, uint64_t address);

#endif
