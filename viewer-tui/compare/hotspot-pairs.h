/* The hotspots of the runs of a comparison, paired: procedures of the same name and file name; then, of the rest,
 * those of the same name if each side has only one. */
#ifndef VIEWER_HOTSPOT_PAIRS_H
#define VIEWER_HOTSPOT_PAIRS_H

#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/compare/comparison.h"

struct hotspot_pair {
    char *name;       /* owned */
    const char *file; /* name without folders, "" if unknown */
    bool is_in[SIDES];
    struct hotspot sides[SIDES]; /* cost: the mean of the runs; 0 on the side that does not have it */
    double *costs;               /* by run; owned */
};

struct hotspot_pairs {
    struct hotspot_pair *at;
    size_t n, cap;
};

/* Of a row of the comparison's view; `quantity`: of its merged runs. */
struct hotspot_pairs hotspot_pairs_find(const struct comparison *comparison, const struct view *view, uint32_t row,
                                        size_t quantity);
void hotspot_pairs_free(struct hotspot_pairs *pairs);

#endif
