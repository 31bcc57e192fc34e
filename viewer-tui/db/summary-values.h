/* The costs of contexts, summed over all threads: the summary profile of profile.db.
 *
 * Contexts that have values stand in a table sorted by their id; a position in it stands for the
 * values of one context. */
#ifndef VIEWER_VALUES_H
#define VIEWER_VALUES_H

#include "viewer-tui/base/scope.h"
#include "viewer-tui/db/v4-map.h"
#include "viewer-tui/metrics/metric.h"

/* What a metric id of the summary profile stands for. */
struct metric_role {
    int32_t metric, sum; /* indices of the metric and of the one it is added to; METRIC_ABSENT */
    enum metric_scope scope;
};

struct values {
    const char *path; /* of the file, for problems */
    const struct v4_context_index *index;
    uint64_t n_index;
    const struct v4_metric_value *values;
    uint64_t n_values;
    struct metric_role *roles; /* by metric id, 65536 */
    size_t n_metrics;
    void *owned_index, *owned_values; /* what index and values point to after values_replace */
};

/* The position of a context without values. */
#define NO_POSITION UINT64_MAX

/* Finds a block of values of a profile, which stays in the map. False, with the problem noted, when
 * it does not lie in the file. */
bool values_map(struct values *values, const struct v4_map *profile,
                const struct v4_context_values *block);

/* The same, and checks the whole table: false also when it is not in order. */
bool values_open(struct values *values, const struct v4_map *profile,
                 const struct v4_context_values *block);

/* Says which metrics values_fetch delivers; call before it and whenever the metrics change. */
void values_set_metrics(struct values *values, const struct metrics *metrics);

/* Looks up values in other tables of the same form from now on; takes ownership of them. */
void values_replace(struct values *values, struct v4_context_index *index, uint64_t n_index,
                    struct v4_metric_value *table, uint64_t n_values);

void values_close(struct values *values);

/* The position of a context; `near` is where it may be (any number). */
uint64_t values_position(const struct values *values, uint32_t context, uint64_t near);

/* The inclusive and exclusive costs of the context at `position` (NO_POSITION: zeros) for every
 * metric; exclusive ones of a loop leave out loops within it. */
void values_fetch(const struct values *values, uint64_t position, bool is_loop, struct cost *costs);

/* The values of the context at `position` as they stand in the table: n of them from the result
 * on; NULL and 0 for NO_POSITION, or where the table is not in order. */
const struct v4_metric_value *values_at(const struct values *values, uint64_t position, size_t *n);

/* The value of one metric id at `position`; 0 where there is none. */
double values_get(const struct values *values, uint64_t position, int metric_id);

#endif
