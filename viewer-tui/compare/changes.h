/* What changed between the two sides of a comparison in a row of its view: how much more or less work,
 * overhead and idleness the right run has, and which procedures are responsible.
 *
 * A change is worse or better if it is at least NOTABLE_SHARE_OF_RUN (judgement.h) of what
 * percentages of the view's differences refer to, and more than chance explains (merged_uncertainty). */
#ifndef VIEWER_CHANGES_H
#define VIEWER_CHANGES_H

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/metrics/efficiency.h"

/* The costs of a row, or of a procedure in it, in both runs. */
struct costs_of_both {
    double sides[SIDES];
    double difference; /* as in the view's column */
    double uncertainty; /* it is right within that, with 95 % */
};

/* A procedure whose own costs changed. */
struct changed_hotspot {
    const struct database *db; /* of the hotspot: of the first run of the right side that has it, else of the left */
    struct hotspot hotspot;
    struct costs_of_both costs;
};

struct changed_hotspots {
    struct changed_hotspot at[MOST_HOTSPOTS]; /* the largest changes first */
    size_t n;
};

enum direction { MORE, LESS, DIRECTIONS };

enum change_verdict {
    CHANGE_NOT_MEASURED, /* not in both runs */
    CHANGE_HARDLY,
    CHANGE_BY_CHANCE, /* not more than chance can explain */
    CHANGE_WORSE,     /* an increase */
    CHANGE_BETTER
};

/* The change of a part of effort. */
struct change {
    enum change_verdict verdict;
    size_t metric; /* first column in the view; the other members are 0 if it was not measured */
    struct costs_of_both costs;
    struct changed_hotspots hotspots[DIRECTIONS]; /* empty for effort itself */
};

/* The changes of a time event. */
struct changes {
    const char *event; /* "", or with several time events " (CPUTIME)" */
    struct change parts[EFFICIENCY_PARTS];
};

typedef VEC(struct changes) changes_list;

/* Finds the changes in a row of a comparison's view. The caller frees the list with vec_free. */
changes_list changes_of(struct view *view, uint32_t row);

/* "worse", "better", "hardly changed"; NULL if not measured in both. */
const char *change_verdict_name(enum change_verdict verdict);

/* Adds the advice on a row of the comparison's view, or why there is none. */
void changes_describe(const changes_list *list, const struct view *view, uint32_t row,
                      struct advice_lines *lines);

#endif
