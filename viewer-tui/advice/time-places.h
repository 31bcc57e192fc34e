/* The lines of the user's own code (code-owner.h) where a program's time goes: the line itself has the time, or it
 * calls procedures of others that have it. */
#ifndef VIEWER_TIME_PLACES_H
#define VIEWER_TIME_PLACES_H

#include "viewer-tui/advice/open-scopes.h"

/* A time: a metric, or a metric minus one that is a part of it. */
struct time_metric {
    size_t metric, without; /* NO_METRIC: none */
};

#define NO_METRIC SIZE_MAX

/* Times that are looked for at once. */
#define MOST_TIMES 8

struct time_places {
    VEC(struct time_place) list; /* the longest times first */
    double total;
};

/* A node that has some of a time at a place. */
struct part_of_time {
    uint32_t place, node;
    uint32_t time; /* index of the time */
};

/* Where any of several times goes. */
struct places_of_times {
    VEC(struct time_place) list; /* in the order of the tree, without `seconds` and `refs` */
    VEC(double) seconds;         /* n_times of each place */
    size_t n_times;
    double totals[MOST_TIMES];
    VEC(struct part_of_time) parts; /* of which the seconds are sums, if they are wanted */
};

/* The places of n times, n <= MOST_TIMES, of a row of a top-down view or of a row above all procedures of a flat one;
 * none of a time that was not measured. `with_parts`: with the nodes that have the time. The caller frees. */
struct places_of_times places_of_times_find(struct view *view, uint32_t row, const struct time_metric *times, size_t n,
                                            bool with_parts);
void places_of_times_free(struct places_of_times *all);

/* The places of one of these times, with `refs` if there are parts. The caller frees. */
struct time_places time_places_of(const struct view *view, const struct places_of_times *all, size_t time);
void time_places_free(struct time_places *places);

/* Adds places of another metric, and takes these, with their refs as joined_refs. */
void time_places_join(struct time_places *places, struct time_places *others);

/* The sum of the values in each profile, and 0 for database_n_profiles; all are 0 if the user stopped it. The caller
 * frees. Sorts the refs. */
double *time_by_profile(const struct view *view, struct value_refs *refs, struct time_metric time);

/* The time of a row, summed over the threads. */
double time_cost(const struct view *view, uint32_t row, struct time_metric time, enum cost_part part);

#endif
