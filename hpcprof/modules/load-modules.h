/* The load modules of a run. Module instances of all processes are unified by build-id; those
 * without a build-id by path, size and header hash. */
#ifndef HPCPROF_LOAD_MODULES_H
#define HPCPROF_LOAD_MODULES_H

#include "lib/hash-tables.h"
#include "lib/measurement.h"

struct load_module {
    const char *path;                          /* paths.at[0] */
    VEC(char *) paths;                         /* sorted, distinct */
    char *build_id;                            /* hexadecimal; empty: none */
    uint64_t header_hash, file_size, modified; /* as recorded; 0: unknown */
    bool is_vdso;
    bool is_kernel; /* header_hash is then that of the boot */
    bool is_replaced; /* the file was replaced while a process had it mapped */
    bool is_used;     /* some call path goes through it */
};

struct load_modules {
    VEC(struct load_module) all;
    struct strtab keys; /* ids are indices in all */
    struct strtab path_names;
    struct idmap paths; /* (index in all, id in path_names): the module has this path */
};

/* Returns the index of the module that an instance is a mapping of. Adds the module if it is
 * new. */
uint32_t load_modules_add(struct load_modules *modules, const struct measurement_module *instance);

/* Sorts the paths of each module and sets `path`. Call once, after the last load_modules_add. */
void load_modules_sort_paths(struct load_modules *modules);

void load_modules_free(struct load_modules *modules);

/* Bytes in hexadecimal; the caller frees. */
char *hexadecimal(const uint8_t *bytes, size_t size);

#endif
