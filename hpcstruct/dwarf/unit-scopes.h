/* The functions of one unit, and the functions inlined into them. */
#ifndef HPCSTRUCT_UNIT_SCOPES_H
#define HPCSTRUCT_UNIT_SCOPES_H

#include "hpcstruct/dwarf/debug-info.h"
#include "hpcstruct/dwarf/dwarf-source.h"

#define NO_PREFIX      UINT32_MAX
#define FOREIGN_PREFIX (UINT32_MAX - 1)

/* A function that scopes of the unit belong to. Its attributes are each from the first entry along
 * its references that has it. */
struct found_function {
    const char *linkage_name; /* NULL: none */
    const char *name;         /* never NULL */
    uint32_t file, line;      /* of its declaration, as in struct debug_function */
    uint32_t source;          /* of its entry: dwarf_source.number */
    uint64_t offset;          /* of its entry */
    /* Enclosing namespaces and classes, in unit_scopes.prefixes; FOREIGN_PREFIX: those of the
     * entry at last_offset of last_source, which is not in this unit. */
    uint32_t prefix;
    uint32_t last_source;
    uint64_t last_offset;
};

/* A function without linkage name that is nested in namespaces or classes. */
struct found_prefix {
    uint64_t offset; /* of its entry */
    uint32_t prefix; /* in unit_scopes.prefixes */
};

struct unit_scopes {
    VEC(struct found_function) functions;
    VEC(struct debug_scope) scopes; /* `function` and `parent` are indices in this unit */
    VEC(struct scope_range) ranges; /* as above */
    VEC(struct code_link) links;
    struct strtab prefixes; /* "NAMESPACE::CLASS::" */
    VEC(struct found_prefix) nested;
    VEC(uint32_t) referred; /* indices of other units of the source that describe functions */
    const char *problem;  /* the first thing that could not be read; NULL: none */
    struct idmap numbers; /* entry of a function -> index in `functions` */
};

/* Reads a unit into an empty `scopes`. All of it that refers to strings refers to the source. */
void unit_scopes_read(struct unit_scopes *scopes, const struct dwarf_source *source,
                      const struct dwarf_unit *unit);

void unit_scopes_free(struct unit_scopes *scopes);

#endif
