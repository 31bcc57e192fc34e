/* Load modules of a run: module instances of all processes unified by build-id, or by path, size
 * and header hash where there is none. */
#ifndef HPCPROF_LOAD_MODULES_H
#define HPCPROF_LOAD_MODULES_H

#include "hpcprof/modules/structure.h"

#include "lib/hash-tables.h"
#include "lib/measurement.h"

#include <sys/types.h>

enum structure_quality { STRUCTURE_MISSING, STRUCTURE_SYMBOLS, STRUCTURE_FULL };

struct rule;

struct module {
    char *path;                                /* the first of paths in their order */
    VEC(char *) paths;                         /* sorted, distinct */
    char *build_id;                            /* in hexadecimal, empty when there is none */
    uint64_t header_hash, file_size, modified; /* as recorded, 0 unknown */
    uid_t owner;                               /* of the binary that was analyzed; -1: not known */
    char *binary;                /* owned; the file that was analyzed, NULL: there was none */
    bool is_vdso, replaced;      /* the file was another already in the run */
    bool used;                   /* some call path goes through it */
    struct structure *structure; /* owned; NULL when there is none */
    enum structure_quality quality;
    uint32_t *overhead_kinds; /* owned; the structure's -> those of the run (hpcprof/metrics/overhead-samples.h) */
    /* Owned, of each scope of the structure: the rule that it belongs to, in the run's rules, or
     * NULL (hpcprof/runtime/runtime-code.h). NULL: no scope belongs to one. */
    const struct rule **rule_of_scope;
    /* The rules of the runtime that it is of, or NULL; then owned, if it has a structure, per scope
     * whether code there waits (hpcprof/metrics/waiting-samples.h). */
    const struct rules_file *runtime;
    bool *is_waiting_scope;
    char *why; /* why there is no structure, or empty */
};

struct modules {
    VEC(struct module) all;
    struct strtab keys; /* ids are indices in all */
    struct strtab path_names;
    struct idmap paths; /* (index in all, id in path_names): the module has this path */
};

/* The index of the module that an instance is a mapping of; added when it is new. */
uint32_t modules_add(struct modules *modules, const struct measurement_module *instance);

/* Puts the paths of each module into order, after the last was added. */
void modules_sort_paths(struct modules *modules);

void modules_free(struct modules *modules);

/* Bytes in hexadecimal; the caller frees. */
char *hexadecimal(const uint8_t *bytes, size_t size);

#endif
