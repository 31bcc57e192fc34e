/* Advice on the parallelization of a run or a scope in it: the judgement on each time event, and
 * which procedures carry what is high. */
#ifndef VIEWER_ADVICE_H
#define VIEWER_ADVICE_H

#include "viewer-tui/advice/carriers.h"
#include "viewer-tui/advice/judgement.h"
#include "viewer-tui/advice/overhead-kinds.h"
#include "viewer-tui/database/efficiency.h"
#include "viewer-tui/database/run.h"

/* What can be high. */
enum waste { WASTED_IDLE, WASTED_ON_OVERHEAD, WASTES };

struct advice {
    const char *event;                /* "", or with several time events " (CPUTIME)" */
    const char *missing[WASTES];      /* why idleness, overhead was not measured; NULL: it was */
    const char *bound;                /* why overhead is only a lower bound; NULL: it is not */
    const char *unit;                 /* of the efforts */
    struct judgement judgement;       /* only where nothing is missing, as all below */
    double run_effort;                /* of the whole run */
    struct carriers carriers[WASTES]; /* of what is high; empty otherwise */
    struct overhead_kinds kinds;      /* of the scope's overhead */
};

struct advices {
    VEC(struct advice) list; /* one for each time event */
};

/* Advice on a row of a view. The texts are those of the database and of `run`, which may be NULL.
 * The caller frees the list with vec_free. */
struct advices advice_on(struct view *view, uint32_t row, const json_t *run);

static inline bool advice_is_there(const struct advice *advice)
{
    return !advice->missing[WASTED_IDLE] && !advice->missing[WASTED_ON_OVERHEAD];
}

/* "idleness", "overhead". */
static inline const char *waste_name(enum waste waste)
{
    return efficiency_part_name(waste == WASTED_IDLE ? IDLENESS : OVERHEAD);
}

#endif
