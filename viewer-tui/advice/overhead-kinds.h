/* What a row's overhead is made of: how much of it is of each kind. */
#ifndef VIEWER_OVERHEAD_KINDS_H
#define VIEWER_OVERHEAD_KINDS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* A runtime has a handful of them. */
#define MOST_KINDS 16

struct kind_cost {
    const struct metric *metric;
    double cost;
};

struct overhead_kinds {
    struct kind_cost at[MOST_KINDS]; /* those with the largest costs first, without zeros */
    size_t n;                        /* 0: none was told apart */
};

/* The kinds of a part of a row's overhead, whose metric may be metrics.n for none. */
struct overhead_kinds overhead_kinds_of(const struct view *view, uint32_t row, size_t overhead,
                                        enum cost_part part);

/* "spawn"; the caller frees. */
char *overhead_kind_name(const struct metric *kind);

/* What the runtimes do who call their own work so, in a few words; NULL where the kind is none that
 * is known. */
const char *overhead_kind_meaning(const char *kind);

/* Adds "15.0% spawn, 6.0% sync", as percentages of `whole`; nothing where all of them are less than
 * a twentieth of a percent. */
void overhead_kinds_describe(const struct overhead_kinds *kinds, double whole, bool ascii,
                             struct text *out);

#endif
