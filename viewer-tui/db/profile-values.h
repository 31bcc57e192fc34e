/* The values of contexts in a profile of profile.db, mainly those of the summary profile, which are
 * sums over all threads.
 *
 * Contexts with values are listed in a table, sorted by id. The *position* of a context is its
 * index in that table. */
#ifndef VIEWER_VALUES_H
#define VIEWER_VALUES_H

#include "viewer-tui/db/v4-map.h"

struct values {
    const char *path; /* of the file, for problem_found */
    const struct v4_context_index *index;
    uint64_t n_index;
    const struct v4_metric_value *values;
    uint64_t n_values;
};

/* The position of a context without values. */
#define NO_POSITION UINT64_MAX

/* Metric ids have 16 bits, so a valid context has at most this many values. */
#define METRIC_IDS 65536

/* Finds the values of a profile in the map, which must outlive them. False, with the problem noted,
 * if they lie outside of the file. */
bool values_map(struct values *values, const struct v4_map *profile,
                const struct v4_context_values *block);

/* The same, and checks that the table is sorted: false, with the problem noted, if not. */
bool values_open(struct values *values, const struct v4_map *profile,
                 const struct v4_context_values *block);

/* The position of a context, or NO_POSITION; `near` is a guess (any number). */
uint64_t values_position(const struct values *values, uint32_t context, uint64_t near);

/* The first position whose context is not below `context`; n_index if there is none. */
uint64_t values_position_from(const struct values *values, uint32_t context, uint64_t near);

/* The values at `position` in the table: an array of *n. NULL and 0 for NO_POSITION, or if the
 * table is damaged. */
const struct v4_metric_value *values_at(const struct values *values, uint64_t position, size_t *n);

/* The value of one metric id at `position`; 0 if there is none, or, with the problem noted, if it is not a number. */
double values_get(const struct values *values, uint64_t position, int metric_id);

#endif
