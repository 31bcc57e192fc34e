/* The procedures that carry a cost in two runs, each with the one that it is in the other: that of
 * the same name and file without folders; what is left, of the same name, if there is one on either
 * side. */
#ifndef VIEWER_HOTSPOT_PAIRS_H
#define VIEWER_HOTSPOT_PAIRS_H

#include "viewer-tui/advice/hotspots.h"

struct hotspot_pair {
    char *name;       /* owned */
    const char *file; /* without folders, "" unknown */
    bool is_in[SIDES];
    struct hotspot sides[SIDES]; /* costs are 0 where it is not in it */
};

struct hotspot_pairs {
    struct hotspot_pair *at;
    size_t n, cap;
};

/* `views` are of the two databases, `rows` what is the same in them; NOTHING where it is not, and
 * `metrics` what is compared. */
struct hotspot_pairs hotspot_pairs_find(struct view *const views[SIDES], const uint32_t rows[SIDES],
                                        const size_t metrics[SIDES]);
void hotspot_pairs_free(struct hotspot_pairs *pairs);

#endif
