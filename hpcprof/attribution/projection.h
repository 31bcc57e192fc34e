/* Fuses the call paths of threads with the structure of the modules they go through: the tree of a
 * projection (path-attribution.h), and what was measured at its contexts. */
#ifndef HPCPROF_PROJECTION_H
#define HPCPROF_PROJECTION_H

#include "hpcprof/metrics/instruction-amounts.h"
#include "hpcprof/tree/unknown-call-sites.h"
#include "hpcprof/attribution/path-attribution.h"

struct point {
    uint32_t context; /* that the amount was measured in */
    uint32_t metric;
    uint64_t amount;
};

/* A thread of a process. */
struct profile {
    uint32_t input;  /* index in inputs->files */
    uint32_t thread; /* position in the measurement's threads */
    VEC(struct point) points;
};

struct fused {
    struct context_tree tree;
    VEC(struct profile) profiles;    /* all threads of all files, in order */
    struct context_ids no_call_site; /* contexts of calls from sites that are not known; once they
                                       are numbered anew in ascending order */
    struct instruction_amounts instructions;
};

/* Builds the tree of a projection and every thread's points in it. Ids of contexts depend on how
 * the work was shared out: number them anew before they become visible. */
void fuse(struct fused *fused, const struct inputs *inputs, const struct program *program,
          enum projection projection, unsigned workers);

/* Gives contexts their new ids, and frees the tree. */
void fused_renumber(struct fused *fused, const uint32_t *new_ids);

void fused_free(struct fused *fused);

/* Whether the logical projection of all files is the same as the physical one. */
bool projections_agree(const struct inputs *inputs);

#endif
