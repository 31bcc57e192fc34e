/* What changed between two runs in a row of a comparison's view: how much more or less of work,
 * overhead and idleness the second one has, with scaling more than expected; and which procedures
 * carry that.
 *
 * A change is worse or better if it is at least NOTABLE_SHARE_OF_RUN (judgement.h) of what the
 * view's percentages of differences are of, and more than chance: more than twice the standard
 * deviation that numbers of samples have by themselves. */
#ifndef VIEWER_CHANGES_H
#define VIEWER_CHANGES_H

#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/metrics/efficiency.h"

/* What a scope, or a procedure in it, has in both runs. */
struct costs_of_both {
    double sides[SIDES];
    double difference; /* as the view's column */
};

/* A procedure whose own costs changed. */
struct changed_hotspot {
    int side; /* of which run it is told: the second one if it is there */
    struct hotspot hotspot;
    struct costs_of_both costs;
};

struct changed_hotspots {
    struct changed_hotspot at[MOST_HOTSPOTS]; /* the largest changes first */
    size_t n;
};

enum direction { MORE, LESS, DIRECTIONS };

enum change_verdict {
    CHANGE_NOT_MEASURED, /* in both */
    CHANGE_HARDLY,
    CHANGE_BY_CHANCE, /* which may be nothing but chance */
    CHANGE_WORSE,     /* more */
    CHANGE_BETTER
};

/* The change of a part of the effort. */
struct change {
    enum change_verdict verdict;
    size_t metric; /* its first column in the view; nothing else is there if it was not measured */
    struct costs_of_both costs;
    struct changed_hotspots hotspots[DIRECTIONS]; /* not of effort */
};

/* Of a time event. */
struct changes {
    const char *event; /* "", or with several time events " (CPUTIME)" */
    struct change parts[EFFICIENCY_PARTS];
};

struct changes_list {
    struct changes *at;
    size_t n, cap;
};

/* Of a row of a view of the comparison. The caller frees the list with vec_free. */
struct changes_list changes_of(const struct comparison *comparison, struct view *view,
                               uint32_t row);

#endif
