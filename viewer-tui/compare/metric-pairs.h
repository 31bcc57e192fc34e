/* Which metrics of two runs are the same.
 *
 * Those of the same event and unit and the same name, where "work" of a run with a single time
 * event has the name of "work (EVENT)" of a run with several. The event is the one that run.json
 * says, otherwise what stands in parentheses behind the name. Where one of the two does not tell
 * its event, the names are to be equal, or there is to be one candidate on either side. An effort
 * that one side lacks, having measured neither idleness nor overhead, is the work of its event. */
#ifndef VIEWER_METRIC_PAIRS_H
#define VIEWER_METRIC_PAIRS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/database.h"

#include <jansson.h>

/* A run that is compared: its database in the projection, and its run.json or NULL. */
struct compared_run {
    const struct database *db;
    const json_t *run;
};

/* Indices of stored metrics. */
struct metric_pair {
    size_t sides[SIDES];
};

struct metric_pairs {
    struct metric_pair *at;
    size_t n, cap;
};

/* In the order of the left side, then what the right one adds: of a metric there may be several
 * pairs, of work that is an effort, too. The caller frees with vec_free. */
struct metric_pairs metric_pairs_of(const struct compared_run sides[SIDES]);

/* Adds " (of EVENT)" to the name of a side's metric if the other side has that name for another
 * event. */
void metric_add_event(const struct compared_run sides[SIDES], int side, size_t metric,
                      struct text *out);

#endif
