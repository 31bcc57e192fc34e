/* Finds the samples that are parallel overhead, i.e. time in the runtime's own code, and the kind
 * of each. This is done after the run, so it costs nothing during it (Tallent and Mellor-Crummey,
 * PPoPP 2009, section 5.2).
 *
 * The physical frames of a sampled call path are examined from the leaf outwards, up to the
 * innermost frame of the user's code, inclusive. The sample is overhead if one of them
 * - is at a tagged address (doc/FORMAT-structure.md, attribute `o`),
 * - is in a procedure that a rule calls overhead (hpcprof/runtime/rules.h), or
 * - is a frame of the scheduler: an agent has no l-note for it.
 * A frame of the C library, or of a PLT stub, belongs to its caller, so the search goes on; but not if
 * that caller is a function that calls bodies of constructs: then a body, which ended with a jump,
 * left the frame in its place.
 * Overhead is paid into a metric of its own in the same context.
 *
 * The kind of overhead is that of the innermost tag or rule; if both are at one address, the tag
 * counts. It is "other" if neither names a kind. */
#ifndef HPCPROF_OVERHEAD_SAMPLES_H
#define HPCPROF_OVERHEAD_SAMPLES_H

#include "hpcprof/runtime/runtime-code.h"

#define NOT_OVERHEAD UINT32_MAX

struct overhead {
    const struct runtime_code *code;
    bool is_measurable; /* an agent counted workers, or some code is tagged or overhead by a rule */
    char *why_lower_bound;  /* why some overhead counts as work; NULL: none does */
    struct strtab kinds;    /* sorted, "other" last; empty: no tag or rule names a kind */
    uint32_t **kind_of_tag; /* by module and kind in its structure: index in kinds */
    uint32_t *kind_of_rule; /* by id of the rule: index in kinds */
    bool **calls_bodies;    /* by module and function in its structure; NULL: none of it does */
};

/* What samples at a node are, and what those in frames that it calls inherit. */
struct overhead_state {
    uint32_t kind;     /* index in `kinds`, 0 if there are no kinds, or NOT_OVERHEAD */
    bool calls_bodies; /* it calls bodies of constructs */
};

/* The result refers to `code`. */
void overhead_find(struct overhead *overhead, const struct runtime_code *code);

void overhead_free(struct overhead *overhead);

/* `caller` is the result for the node's parent, or for the root NOT_OVERHEAD, which calls no bodies. */
struct overhead_state overhead_at(const struct overhead *overhead,
                                  const struct measurement_node *node,
                                  const struct frame_code *frame, struct overhead_state caller);

#endif
