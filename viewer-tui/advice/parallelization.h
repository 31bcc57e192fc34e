/* How well a run or a scope in it is parallelized, by agents' measurements: a judgement for each
 * time event, and the procedures responsible for idleness and overhead. */
#ifndef VIEWER_PARALLELIZATION_H
#define VIEWER_PARALLELIZATION_H

#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/judgement.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/tree/view.h"

/* Kinds of overhead: runtimes have a handful. */
#define MOST_KINDS 16

struct kind_cost {
    const struct metric *metric;
    double cost;
};

struct overhead_kinds {
    struct kind_cost at[MOST_KINDS]; /* the largest costs first, without zeros */
    size_t n;                        /* 0: the kinds are unknown */
};

/* The kinds of one part of a row's overhead. `overhead`: its metric; metrics.n for none. */
struct overhead_kinds overhead_kinds_of(const struct view *view, uint32_t row, size_t overhead,
                                        enum cost_part part);

/* "spawn"; the caller frees. */
char *overhead_kind_name(const struct metric *kind);

/* What runtimes do in work of that kind, in a few words; NULL if the kind is unknown. */
const char *overhead_kind_meaning(const char *kind);

/* Adds "15.0% spawn, 6.0% sync", in percent of `whole`; nothing if all are below 0.05 %. */
void overhead_kinds_describe(const struct overhead_kinds *kinds, double whole, bool ascii,
                             struct text *out);

/* What effort is wasted on. */
enum waste { WASTED_IDLE, WASTED_ON_OVERHEAD, WASTES };

struct parallelization {
    const char *event;                /* "", or with several time events " (CPUTIME)" */
    const char *why[WASTES];          /* why idleness and overhead are not known; NULL: they are */
    const char *unit;                 /* of the efforts */
    struct judgement judgement;       /* undefined unless one of both is known */
    struct hotspots hotspots[WASTES]; /* of what is high, or of the larger one; else empty */
    uint32_t helper; /* procedure in whose place the first hotspot of idleness is its caller; NOTHING: none */
    struct overhead_kinds kinds;      /* of the scope's overhead */
};

/* One per time event; the caller frees the list with vec_free. */
struct parallelizations {
    VEC(struct parallelization) list;
};

/* Judges a row of a view. Texts belong to the database and to `run`, which may be NULL. `nobody`: for how
 * many seconds no worker of the runtime worked; 0 if unknown, or for a part of the run. `disturbed`: seconds, as in
 * judgement.h. */
struct parallelizations parallelization_of(struct view *view, uint32_t row, const json_t *run, double nobody,
                                            double disturbed);

/* Whether there is something to judge. */
static inline bool parallelization_is_known(const struct parallelization *of)
{
    return of->judgement.idleness_known != NOT_KNOWN || of->judgement.overhead_known != NOT_KNOWN;
}

/* "idleness" or "overhead". */
static inline const char *waste_name(enum waste waste)
{
    return efficiency_part_name(waste == WASTED_IDLE ? IDLENESS : OVERHEAD);
}

/* A verdict in a few words: "too little parallelism". */
const char *verdict_name(enum verdict verdict);

/* The name of an event: "CPUTIME" of " (CPUTIME)", "" of "". */
void advice_event(const char *suffix, struct text *event);

#endif
