/* Builds the source-level contexts of notes.
 *
 * A projection of a thread's logical calling context tree is the tree of its ips or of its lips
 * (doc/FORMAT-hpcrun.md, section 5, NODES). Each note becomes the chain of scopes around its
 * address: the procedure, which is called, then loops and inlined procedures, then the line. The
 * notes below it hang under that line (doc/FORMAT-database.md, section 1). Below a note of unknown
 * site they hang under a CONTEXT_NO_SITE until the whole tree is known (unknown-call-sites.h). */
#ifndef HPCPROF_NOTE_CONTEXTS_H
#define HPCPROF_NOTE_CONTEXTS_H

#include "hpcprof/contexts/analysis.h"
#include "hpcprof/tree/context-tree.h"

#include "lib/database-format.h"

/* The context of a call site or sample below a call site, as it was found before. */
struct known_note {
    uint64_t parent_and_module; /* ids, 32 bits each */
    uint64_t address;
    uint32_t context;
};

/* Threads of one program have many call paths in common, and their nodes are in similar order: the
 * note behind the one found last is tried first, since it is in the CPU's cache. */
struct known_notes {
    VEC(struct known_note) list; /* in the order of their first appearance; at most MOST_NOTES */
    size_t next;                 /* index of the note to try first */
    uint32_t *slots;             /* NOTE_SLOTS, by hash: index + 1; 0: empty; newer ones take the
                                    slots of older ones */
};

#define MOST_NOTES ((size_t)1 << 20) /* of 24 bytes */
#define NOTE_SLOTS ((size_t)1 << 21)

struct context_builder {
    const struct analysis *analysis;
    enum projection_kind kind;
    struct context_tree tree; /* grows; the caller frees it */
    VEC(uint32_t) chain;      /* scratch: scopes, innermost first */
    struct known_notes known;
};

void builder_start(struct context_builder *builder, const struct analysis *analysis,
                   enum projection_kind kind);

/* Frees all but the tree. */
void builder_free(struct context_builder *builder);

/* A note of the projection: what an ip or an lip says. */
struct note {
    uint32_t space; /* as in struct measurement_node */
    uint64_t value; /* offset, address, placeholder or name */
    bool has_site;  /* false: the note means a procedure as a whole */
    uint64_t site;
};

/* Whether a node names the owner of the stack on which the notes inside of it begin. It has no note of
 * its own then. */
static inline bool node_names_owner(const struct measurement_node *node)
{
    return node->lip_space == MEASUREMENT_PLACEHOLDER && node->lip_value >= PLACEHOLDER_STACK_OF;
}

/* The note of a node; its space is MEASUREMENT_NO_NOTE if the node has none in that projection. */
struct note note_of(const struct measurement_node *node, enum projection_kind kind);

/* The entry point of a process's threads. */
uint32_t entry_context(struct context_builder *builder, size_t file, enum v4_entry_kind kind);

/* A called function below `parent`. */
uint32_t call_below(struct context_builder *builder, uint32_t parent, uint32_t function);

/* The innermost context of a note below `parent`. */
uint32_t note_below(struct context_builder *builder, size_t file, uint32_t parent,
                    const struct note *note);

/* The innermost context of a statement of a module: its scopes and line, below the call site
 * `parent`. */
uint32_t statement_below(struct context_builder *builder, uint32_t module, uint32_t parent,
                         const struct structure_statement *statement);

/* Adds a direct call in the code of a module, below context 0: from `address` to the procedure at
 * `target`. Does nothing if either is in no known procedure. */
void add_direct_call(struct context_builder *builder, uint32_t module, uint64_t address,
                     uint64_t target);

#endif
