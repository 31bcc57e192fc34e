/* Computes the values of the database from costs.
 *
 * Costs are integers in the contexts where they were measured. Each propagation scope adds up the
 * costs of some descendants (doc/FORMAT-database.md, section 1); sums are 128-bit integers, so they
 * are exact and do not depend on the order; they become doubles at the end. */
#ifndef HPCPROF_VALUE_PROPAGATION_H
#define HPCPROF_VALUE_PROPAGATION_H

#include "hpcprof/attribution/projection.h"
#include "hpcprof/database/v4-file.h"
#include "hpcprof/tree/numbered-contexts.h"

/* The sum of costs of a context and metric. */
struct cost_sum {
    uint32_t context, metric;
    unsigned __int128 amount;
};

/* The nonzero values of one profile, in the form of profile.db. */
struct value_block {
    VEC(struct v4_metric_value) values;
    VEC(struct v4_context_index) contexts;
};

/* Memory that one worker uses for one profile after the other; zeroed, it is ready. */
struct values_scratch {
    VEC(uint64_t) needed;          /* a bit per context */
    VEC(struct scope_sums) levels; /* by depth and metric */
    VEC(struct cost_sum) sums;
};

/* Computes the values of a profile, whose costs are in the order of contexts. */
void values_of_profile(struct value_block *block, struct values_scratch *scratch,
                       const struct numbered_contexts *contexts, const struct metric_table *metrics,
                       const struct profile *profile);

/* Computes the values of all profiles together. */
void values_of_all(struct value_block *block, struct values_scratch *scratch,
                   const struct numbered_contexts *contexts, const struct metric_table *metrics,
                   const struct projection *projection);

void value_block_free(struct value_block *block);
void values_scratch_free(struct values_scratch *scratch);

#endif
