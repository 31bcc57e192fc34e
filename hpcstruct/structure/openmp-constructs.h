/* Calls of OpenMP's runtimes that begin and end constructs whose code stays in the procedure: critical,
 * ordered, single, master, sections. (The code of parallel, task and taskloop is in procedures of its
 * own.) construct-regions.h finds the code between these calls. */
#ifndef HPCSTRUCT_OPENMP_CONSTRUCTS_H
#define HPCSTRUCT_OPENMP_CONSTRUCTS_H

#include "hpcstruct/code/module-code.h"
#include "hpcstruct/dwarf/debug-info.h"

enum construct_kind {
    CONSTRUCT_CRITICAL,
    CONSTRUCT_ORDERED,
    CONSTRUCT_SECTIONS,
    CONSTRUCT_SINGLE,
    CONSTRUCT_MASTER,
};

enum construct_role {
    CONSTRUCT_BEGINS, /* the construct's code follows */
    CONSTRUCT_CHOOSES, /* a branch follows: the result says whether the thread executes the construct */
    CONSTRUCT_ENDS,
};

struct construct_call {
    uint64_t address; /* of the instruction */
    uint8_t length;   /* in bytes */
    uint8_t kind;     /* enum construct_kind */
    uint8_t role;     /* enum construct_role */
    uint64_t
        body; /* address at which the construct's code continues; 0: unknown, or CONSTRUCT_ENDS */
    uint32_t function; /* the construct's name and place, in debug_info.functions, such as
                          "critical(name) @ solve.c:20"; DEBUG_NONE: CONSTRUCT_ENDS */
};

struct construct_calls {
    VEC(struct construct_call) all; /* sorted by address */
};

/* Finds the calls of a module, and adds the constructs to the functions of the debug information.
 * `symbols` has the names of critical sections: the binary or its separate debug file. */
void construct_calls_find(struct construct_calls *calls, const struct module_code *code,
                          struct debug_info *info, const struct elf_image *symbols);

void construct_calls_free(struct construct_calls *calls);

#endif
