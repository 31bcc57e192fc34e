/* The kinds of a row's overhead and their costs. */
#ifndef VIEWER_OVERHEAD_KINDS_H
#define VIEWER_OVERHEAD_KINDS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* Runtimes have a handful. */
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

#endif
