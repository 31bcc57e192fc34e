/* The hotspots of two runs, paired: procedures of the same name and file name; then, of the rest,
 * those of the same name if each side has only one. */
#ifndef VIEWER_HOTSPOT_PAIRS_H
#define VIEWER_HOTSPOT_PAIRS_H

#include "viewer-tui/advice/hotspots.h"

struct hotspot_pair {
    char *name;       /* owned */
    const char *file; /* name without folders, "" if unknown */
    bool is_in[SIDES];
    struct hotspot sides[SIDES]; /* cost 0 in the run that does not have it */
};

struct hotspot_pairs {
    struct hotspot_pair *at;
    size_t n, cap;
};

/* `views` are those of the two databases, `rows` the rows that are compared (NOTHING: not there),
 * `metrics` the metric in each. */
struct hotspot_pairs hotspot_pairs_find(struct view *const views[SIDES], const uint32_t rows[SIDES],
                                        const size_t metrics[SIDES]);
void hotspot_pairs_free(struct hotspot_pairs *pairs);

#endif
