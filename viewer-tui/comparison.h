/* A comparison of two runs: what a session of two databases shows.
 *
 * Its metrics are those that both databases have, by name: of "work" there are "work [LEFT]",
 * "work [RIGHT]", LEFT and RIGHT being the names of the sides, "work difference" and "work ratio"
 * (merged.h). Percentages of a difference are of LEFT's whole. A metric of effort that one side
 * lacks, having measured neither idleness nor overhead, is its work there. */
#ifndef VIEWER_COMPARISON_H
#define VIEWER_COMPARISON_H

#include "viewer-tui/session.h"
#include "viewer-tui/views/merged.h"

/* The metrics of both sides in one projection. */
struct compared_metrics {
    struct metrics metrics;     /* none until they are asked for */
    struct merged_metric *from; /* of each */
    VEC(char *) texts;          /* that the metrics point to */
};

struct comparison {
    struct session *sides[SIDES];
    char *names[SIDES];
    char *title;
    struct compared_metrics metrics[PROJECTIONS];
};

/* Takes over the two sessions; the names of the sides are copied. */
struct comparison *comparison_new(struct session *left, struct session *right,
                                  char *const names[SIDES]);
void comparison_free(struct comparison *comparison); /* NULL allowed */

/* A new view of both; the caller closes it before the comparison goes. NULL, with the problem noted,
 * when a side cannot be read or they have no metric in common, or when the user stopped it. */
struct view *comparison_view(struct comparison *comparison, enum projection projection,
                             enum view_id id);

/* Says which metrics are shown, as session_show. */
void comparison_show(struct comparison *comparison, enum metric_set set);

/* What is compared, for titles; valid until the next call. */
const char *comparison_title(struct comparison *comparison);

#endif
