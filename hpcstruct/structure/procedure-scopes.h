/* The tree of scopes of one procedure, as in the structure file (doc/FORMAT-structure.md): inlined
 * calls (and constructs of OpenMP, source-ranges.h), loops and statements. loop-location.h says how
 * loops and inlined calls nest. */
#ifndef HPCSTRUCT_PROCEDURE_SCOPES_H
#define HPCSTRUCT_PROCEDURE_SCOPES_H

#include "hpcstruct/structure/loop-location.h"

#include "lib/structure-image.h"

#define NO_SCOPE UINT32_MAX
#define NO_RANGE UINT32_MAX

struct scope {
    uint8_t kind;               /* enum scope_kind */
    uint32_t first_child, next; /* children are in the order of their addresses; or NO_SCOPE */
    uint32_t function;          /* inlined: the function, in debug_info.functions */
    uint32_t file, line;        /* inlined: the call; loop: its header; statement: itself */
    uint32_t first_range;       /* statement: its first range; or NO_RANGE */
    uint64_t address;           /* loop: its header; call: the instruction */
    uint64_t target;            /* call: the target, or NO_TARGET */
    uint8_t length;             /* call: of the instruction */
    bool irreducible;           /* loop: it has several entries */
    bool pauses;                /* loop: it has a `pause` that is in no loop inside it */
};

struct statement_range {
    uint64_t begin, end;
    uint32_t next; /* range of the same statement, or NO_RANGE */
};

/* Target of an indirect call. */
#define NO_TARGET UINT64_MAX

/* Owned by the caller; freed by procedure_scopes_free. */
struct procedure_scopes {
    struct scope *scopes; /* the first is the procedure */
    struct statement_range *ranges;
    uint32_t scope_count, range_count;
    bool is_too_complex; /* its loops were not found */
};

/* Memory of one thread, which is used again for each procedure. */
struct scope_builder;
struct scope_builder *scope_builder_new(void);
void scope_builder_free(struct scope_builder *builder);

/* Input that all procedures of a module share. */
struct scope_sources {
    const struct module_code *code;
    const struct debug_info *info;
    const struct construct_calls *constructs;
    const bool *tagged; /* per file of the debug information */
    bool with_calls;    /* whether to list call instructions */
};

/* Builds the tree of a procedure. `file` is the file of its declaration, or DEBUG_NONE. */
struct procedure_scopes procedure_scopes_build(struct scope_builder *builder,
                                               const struct scope_sources *sources,
                                               const struct procedure *procedure, uint32_t file);

void procedure_scopes_free(struct procedure_scopes *scopes);

#endif
