/* What contexts name: the functions, source files and modules of a run, in tables over all load
 * modules, and the way from an address to its scopes.
 *
 * Functions that no structure knows have names in angle brackets. Everything is built before the
 * call paths are fused and does not change then: threads may read it together. */
#ifndef HPCPROF_SYMBOL_TABLE_H
#define HPCPROF_SYMBOL_TABLE_H

#include "hpcprof/measurement/measurements.h"

#define PROGRAM_NONE UINT32_MAX

struct function {
    const char *name;
    uint32_t module; /* index in modules, or PROGRAM_NONE */
    uint32_t file;   /* in files, or PROGRAM_NONE */
    uint32_t line;   /* 0: unknown */
    uint64_t entry;  /* ELF address in the module, 0: unknown */
};

struct program {
    const struct modules *modules;
    struct strtab files; /* normalized paths */
    VEC(struct function) functions;
    uint32_t *original; /* of each function: what it is a clone of, or itself */
    bool *is_part;      /* of each function: it is a part of that, not a whole */
    bool has_clones, has_parts;
    uint32_t *first_function;     /* of each module: its structure's functions follow one another */
    uint32_t *unknown_function;   /* of each module: code that no structure describes */
    uint32_t **file_of;           /* of each module: file of its structure -> id in files */
    struct strtab names;          /* of functions that are in no structure */
    struct idmap agent_functions; /* (name and file, line) -> function */
    /* Of each measurement file, of each of its name tables: functions of its names. */
    uint32_t ***functions_of_names;
    uint32_t **functions_of_code; /* of each measurement file: of its names of code in no module */
    uint32_t partial_path, kernel, unknown_code; /* functions */
};

/* Builds the tables; the modules have their structures. */
void program_build(struct program *program, const struct inputs *inputs);

void program_free(struct program *program, const struct inputs *inputs);

/* The function that a name of an agent's name table means, in the file of index `input`;
 * PROGRAM_NONE when the name is lost. */
uint32_t program_agent_function(const struct program *program, const struct inputs *inputs,
                                size_t input, uint32_t space, uint64_t value);

/* The function at an address in no module, in the file of index `input`. */
uint32_t program_code_function(const struct program *program, const struct inputs *inputs,
                               size_t input, uint64_t address);

#endif
