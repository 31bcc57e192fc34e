/* The pieces of time to which a database is restricted: which of its metrics records pay, and how much in each
 * context. */
#ifndef VIEWER_TIME_SLICE_H
#define VIEWER_TIME_SLICE_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/record-sums.h"

struct time_slice {
    const struct timeline *timeline; /* must outlive it */
    time_ranges ranges;
    bool is_physical;
    size_t slots[RECORD_METRICS]; /* of the metrics that are paid (metrics_slot); NO_SLOT: the database has none */
    VEC(size_t) kinds;            /* by struct timeline_place's `kind`: slots of kinds of overhead */
    struct slice_records {
        VEC(struct record_sum) list;
        bool is_made;
    } *records; /* by number of the profile: those of time_slice_records */
    uint32_t n_profiles;
    struct record_sums sums; /* empty between its calls */
};

#define NO_SLOT SIZE_MAX

/* Which metric that records pay a metric of run.json is, if they are of this event; RECORD_METRICS: none, so that its
 * values are known for the whole run only. Kinds of overhead are PAYS_OVERHEAD. */
enum record_metric record_metric_of(const json_t *described, const char *event);

/* Copies the ranges. `run` is that of the whole run. The database's metrics must have been chosen. */
struct time_slice *time_slice_new(const struct database *db, const struct timeline *timeline, const time_ranges *ranges,
                                  bool is_physical, const json_t *run);
void time_slice_free(struct time_slice *slice); /* NULL allowed */

/* Whether the thread of a profile has records in that time. */
bool time_slice_has(const struct time_slice *slice, uint32_t profile);

/* Adds these records. */
void time_slice_add(const struct time_slice *slice, uint32_t profile, struct record_sums *sums);

/* The sums of these records, n of them, made on first use. */
const struct record_sum *time_slice_records(struct time_slice *slice, uint32_t profile, size_t *n);

/* What a sum pays: an amount, in the metric's unit, for a slot. */
struct slot_payment {
    size_t slot;
    double amount;
};

/* The payments of a sum: at most RECORD_METRICS + 1. Returns their number. */
size_t time_slice_payments(const struct time_slice *slice, const struct record_sum *sum,
                           struct slot_payment payments[RECORD_METRICS + 1]);

/* The position of the context of a sum in db->values; NO_POSITION if it has none. `near` is a guess. */
uint64_t time_slice_position(const struct time_slice *slice, const struct database *db, const struct record_sum *sum,
                             uint64_t near);

#endif
