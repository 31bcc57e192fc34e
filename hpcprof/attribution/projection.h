/* A projection of a run: the tree of its calling contexts, and what each thread measured in
 * them. */
#ifndef HPCPROF_PROJECTION_H
#define HPCPROF_PROJECTION_H

#include "hpcprof/attribution/traced-nodes.h"
#include "hpcprof/metrics/instruction-costs.h"
#include "hpcprof/tree/unknown-call-sites.h"

/* An amount of a metric in a context. */
struct cost {
    uint32_t context;
    uint32_t metric; /* index in the metric table */
    uint64_t amount;
};

/* The costs of a thread, and the places of its time line. */
struct profile {
    uint32_t file;   /* index in measurements.files */
    uint32_t thread; /* index in the measurement's threads */
    VEC(struct cost) costs;
    struct traced_nodes traced;
};

struct projection {
    unsigned workers; /* threads that build and change it */
    struct context_tree tree;
    VEC(struct profile) profiles;          /* all threads of all files, in order */
    struct context_ids unknown_site_calls; /* calls from unknown sites; sorted once renumbered */
    struct instruction_costs instructions; /* sorted; of the logical projection, since the
                                              physical one has the same */
};

/* Builds a projection in `workers` threads. Ids of contexts depend on how the work was distributed:
 * renumber them before anybody sees them. */
void projection_build(struct projection *projection, const struct analysis *analysis,
                      enum projection_kind kind, unsigned workers);

/* Replaces the ids of contexts by new ones, given by old id, and frees the tree; sorts the costs of
 * each thread by context. Uses as many threads as projection_build. */
void projection_renumber(struct projection *projection, const uint32_t *new_ids);

/* Takes the places of all time lines, by profile, out of a renumbered projection. The caller frees the lists
 * and the array. */
struct traced_nodes *projection_take_traced(struct projection *projection);

void projection_free(struct projection *projection);

/* Whether the logical projection of a run is the same as the physical one. */
bool projections_agree(const struct analysis *analysis);

#endif
