/* The tree of scopes of one procedure, as the structure file shows it: inlined functions, loops and
 * statements (doc/FORMAT-structure.md). How loops and inlined functions are nested in each other
 * is decided in loop-place.h. */
#ifndef HPCSTRUCT_PROCEDURE_SCOPES_H
#define HPCSTRUCT_PROCEDURE_SCOPES_H

#include "hpcstruct/structure/loop-location.h"

enum scope_kind { SCOPE_PROCEDURE, SCOPE_INLINED, SCOPE_LOOP, SCOPE_STATEMENT, SCOPE_CALL };

#define NO_SCOPE UINT32_MAX
#define NO_RANGE UINT32_MAX

struct scope {
    uint8_t kind;               /* enum scope_kind */
    uint32_t first_child, next; /* children in the order of their addresses; or NO_SCOPE */
    uint32_t function;          /* of an inlined scope: what is inlined */
    uint32_t file, line;        /* where it is called; the loop's header; the statement */
    uint32_t first_range;       /* of a statement, or NO_RANGE */
    uint64_t address, target;   /* of a loop: its header; of a call: itself, and where it goes */
    uint8_t length;             /* of a call instruction */
    bool pauses;                /* of a loop: it has a `pause` that is in no loop inside of it */
};

struct scope_range_link {
    uint64_t begin, end;
    uint32_t next; /* range of the same statement, or NO_RANGE */
};

/* The target of a call that is computed. */
#define NO_TARGET UINT64_MAX

/* Owned by the caller; freed by procedure_scopes_free. */
struct procedure_scopes {
    struct scope *scopes; /* the first is the procedure */
    struct scope_range_link *ranges;
    uint32_t scope_count, range_count;
};

/* Scratch memory of one thread. */
struct scope_builder;
struct scope_builder *scope_builder_new(void);
void scope_builder_free(struct scope_builder *builder);

/* What all procedures of a module share. */
struct scope_sources {
    const struct module_code *code;
    const struct debug_info *info;
    const bool *tagged; /* per file of the debug information */
    bool with_calls;    /* list call instructions */
};

/* Builds the tree of a procedure; `file` is that of its declaration, or DEBUG_NONE. */
struct procedure_scopes procedure_scopes_build(struct scope_builder *builder,
                                               const struct scope_sources *sources,
                                               const struct procedure *procedure, uint32_t file);

void procedure_scopes_free(struct procedure_scopes *scopes);

#endif
