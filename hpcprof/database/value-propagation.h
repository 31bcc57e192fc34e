/* From the amounts that were measured to the values that the database has.
 *
 * Amounts are integers at the contexts that they were measured in. Each propagation scope adds up
 * amounts of descendants (doc/FORMAT-database.md, section 1); sums are made in 128-bit integers, so
 * they are exact and do not depend on an order, and become doubles when all is added. */
#ifndef HPCPROF_VALUE_PROPAGATION_H
#define HPCPROF_VALUE_PROPAGATION_H

#include "hpcprof/tree/numbered-contexts.h"
#include "hpcprof/attribution/projection.h"
#include "hpcprof/database/propagation.h"

#include "lib/database-format.h"

/* The sum of all amounts that were measured in a context. */
struct amount {
    uint32_t context, metric;
    unsigned __int128 amount;
};

/* The nonzero values of one profile, as profile.db has them. */
struct value_block {
    VEC(struct v4_metric_value) values;
    VEC(struct v4_context_index) contexts;
};

/* Memory that one worker uses again and again; zeroed it is ready. */
struct values_scratch {
    VEC(uint64_t) needed; /* a bit per context */
    VEC(struct scope_sums) levels;
    VEC(struct v4_metric_value) values;
    VEC(struct value_group) groups;
    VEC(struct amount) amounts;
};

/* The values of a profile, from its points (in any order, which are put into order). */
void values_of_profile(struct value_block *block, struct values_scratch *scratch,
                       const struct contexts *contexts, const struct inputs *inputs,
                       struct profile *profile);

/* The values of all profiles together. */
void values_of_all(struct value_block *block, struct values_scratch *scratch,
                   const struct contexts *contexts, const struct inputs *inputs,
                   const struct fused *fused);

void value_block_free(struct value_block *block);
void values_scratch_free(struct values_scratch *scratch);

#endif
