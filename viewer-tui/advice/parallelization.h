/* How well a run or a scope in it is parallelized, by what agents measured: the judgement on each
 * time event, and which procedures carry idleness and overhead. */
#ifndef VIEWER_PARALLELIZATION_H
#define VIEWER_PARALLELIZATION_H

#include "viewer-tui/advice/finding.h"
#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/judgement.h"
#include "viewer-tui/advice/overhead-kinds.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"

/* What can be high. */
enum waste { WASTED_IDLE, WASTED_ON_OVERHEAD, WASTES };

struct parallelization {
    const char *event;                /* "", or with several time events " (CPUTIME)" */
    const char *why[WASTES];          /* why idleness, overhead is not known; NULL: it is */
    const char *unit;                 /* of the efforts */
    struct judgement judgement;       /* only where one of both is known at all */
    struct hotspots hotspots[WASTES]; /* of what is high, or of the larger one; empty otherwise */
    struct overhead_kinds kinds;      /* of the scope's overhead */
};

/* One for each time event; the caller frees the list with vec_free. */
struct parallelizations {
    VEC(struct parallelization) list;
};

/* Of a row of a view. The texts are those of the database and of `run`, which may be NULL. */
struct parallelizations parallelization_of(struct view *view, uint32_t row, const json_t *run);

/* Whether there is anything to judge. */
static inline bool parallelization_is_known(const struct parallelization *of)
{
    return of->judgement.idleness_known != NOT_KNOWN || of->judgement.overhead_known != NOT_KNOWN;
}

/* Adds the finding on one event, whose source it is; it must outlive the finding. */
void parallelization_find(const struct parallelization *of, const struct view *view, uint32_t row,
                          struct findings *findings);

/* "idleness", "overhead". */
static inline const char *waste_name(enum waste waste)
{
    return efficiency_part_name(waste == WASTED_IDLE ? IDLENESS : OVERHEAD);
}

/* A verdict in a few words, "too little parallelism". */
const char *verdict_name(enum verdict verdict);

#endif
