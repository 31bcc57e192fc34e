/* The values of contexts in a profile of profile.db, mainly those of the summary profile, which are
 * sums over all threads.
 *
 * Contexts with values are listed in a table, sorted by id. The *position* of a context is its
 * index in that table. */
#ifndef VIEWER_VALUES_H
#define VIEWER_VALUES_H

#include "viewer-tui/base/scope.h"
#include "viewer-tui/db/v4-map.h"
#include "viewer-tui/metrics/metric.h"

/* The meaning of a metric id in the summary profile. */
struct metric_role {
    int32_t metric, sum; /* indices of the metric and of the one it is added to, or METRIC_ABSENT */
    enum metric_scope scope;
};

struct values {
    const char *path; /* of the file, for problem_found */
    const struct v4_context_index *index;
    uint64_t n_index;
    const struct v4_metric_value *values;
    uint64_t n_values;
    struct metric_role *roles; /* by metric id, 65536 */
    size_t n_metrics;
    void *owned_index, *owned_values; /* index and values, if they are owned (values_replace) */
};

/* The position of a context without values. */
#define NO_POSITION UINT64_MAX

/* Finds the values of a profile in the map, which must outlive them. False, with the problem noted,
 * if they lie outside of the file. */
bool values_map(struct values *values, const struct v4_map *profile,
                const struct v4_context_values *block);

/* The same, and checks that the table is sorted: false, with the problem noted, if not. */
bool values_open(struct values *values, const struct v4_map *profile,
                 const struct v4_context_values *block);

/* Sets the metrics that values_fetch returns. Call it first, and whenever the metrics change. */
void values_set_metrics(struct values *values, const struct metrics *metrics);

/* Replaces the tables by others in the same format, and takes ownership of these. */
void values_replace(struct values *values, struct v4_context_index *index, uint64_t n_index,
                    struct v4_metric_value *table, uint64_t n_values);

void values_close(struct values *values);

/* The position of a context, or NO_POSITION; `near` is a guess (any number). */
uint64_t values_position(const struct values *values, uint32_t context, uint64_t near);

/* The inclusive and exclusive costs at `position` (NO_POSITION: zeros), by metric. Exclusive costs
 * of a loop exclude inner loops. */
void values_fetch(const struct values *values, uint64_t position, bool is_loop, struct cost *costs);

/* The values at `position` in the table: an array of *n. NULL and 0 for NO_POSITION, or if the
 * table is damaged. */
const struct v4_metric_value *values_at(const struct values *values, uint64_t position, size_t *n);

/* The value of one metric id at `position`; 0 if there is none. */
double values_get(const struct values *values, uint64_t position, int metric_id);

#endif
