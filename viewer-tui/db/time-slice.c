#include "viewer-tui/db/time-slice.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-samples.h"

#include <stdlib.h>
#include <string.h>

static const char *const quantities[RECORD_METRICS] = {
    [PAYS_WORK] = METRIC_WORK,           [PAYS_OVERHEAD] = METRIC_OVERHEAD,     [PAYS_WAITING] = METRIC_WAITING,
    [PAYS_WALL] = METRIC_WALL,           [PAYS_IDLENESS] = METRIC_IDLENESS,     [PAYS_INCOMPLETE] = METRIC_INCOMPLETE,
    [PAYS_LOCK_BLAME] = METRIC_LOCK_BLAME, [PAYS_OFF_CPU] = METRIC_OFF_CPU, [PAYS_READY] = METRIC_READY,
    [PAYS_KERNEL] = METRIC_KERNEL,
};

/* Metrics of events that are no time are named by the event: "PAGE-FAULTS", "PAGE-FAULTS overhead". */
static enum record_metric metric_of_count(const char *name, const char *event)
{
    size_t length = strlen(event);
    if (strncmp(name, event, length) != 0)
        return RECORD_METRICS;
    if (!name[length])
        return PAYS_WORK;
    for (int metric = 0; metric < RECORD_METRICS; metric++)
        if (name[length] == ' ' && strcmp(name + length + 1, quantities[metric]) == 0)
            return (enum record_metric)metric;
    return RECORD_METRICS;
}

enum record_metric record_metric_of(const json_t *described, const char *event)
{
    const char *name = run_text(described, "name");
    const struct metric_kind *kind = metric_kind_of(name);
    if (!*event || strcmp(run_text(described, "event"), event) != 0)
        return RECORD_METRICS;
    for (int metric = 0; kind && metric < RECORD_METRICS; metric++)
        if (strcmp(kind->name, quantities[metric]) == 0)
            return (enum record_metric)metric;
    if (kind)
        return RECORD_METRICS;
    return strstr(name, METRIC_OVERHEAD ":") ? PAYS_OVERHEAD : metric_of_count(name, event);
}

static size_t slot_named(const struct metrics *metrics, const char *name)
{
    for (size_t slot = 0; slot < metrics->n_stored + metrics->n_hidden; slot++) {
        const struct metric *metric = &metrics->at[metrics_at_slot(metrics, slot)];
        if (metric->source == METRIC_FROM_FILE && strcmp(metric->name, name) == 0)
            return slot;
    }
    return NO_SLOT;
}

struct time_slice *time_slice_new(const struct database *db, const struct timeline *timeline, const time_ranges *ranges,
                                  bool is_physical, const json_t *run)
{
    struct time_slice *slice = mem_alloc(sizeof *slice);
    *slice = (struct time_slice){.timeline = timeline,
                                 .ranges = time_ranges_copy(ranges),
                                 .is_physical = is_physical,
                                 .n_profiles = database_n_profiles(db)};
    slice->records = mem_alloc((slice->n_profiles + 1) * sizeof *slice->records);
    for (int metric = 0; metric < RECORD_METRICS; metric++)
        slice->slots[metric] = NO_SLOT;
    vec_push(&slice->kinds, NO_SLOT); /* kind 0: none */
    json_each (described, json_object_get(run, "metrics")) {
        enum record_metric metric = record_metric_of(described, timeline->event);
        const char *name = run_text(described, "name");
        bool is_kind = metric == PAYS_OVERHEAD && strstr(name, METRIC_OVERHEAD ":");
        size_t slot = metric == RECORD_METRICS ? NO_SLOT : slot_named(&db->metrics, name);
        vec_push(&slice->kinds, is_kind ? slot : NO_SLOT);
        if (metric < RECORD_METRICS && !is_kind)
            slice->slots[metric] = slot;
    }
    return slice;
}

void time_slice_free(struct time_slice *slice)
{
    if (!slice)
        return;
    for (uint32_t i = 0; i < slice->n_profiles; i++)
        vec_free(&slice->records[i].list);
    free(slice->records);
    record_sums_free(&slice->sums);
    vec_free(&slice->kinds);
    vec_free(&slice->ranges);
    free(slice);
}

static bool has_records(const struct timeline *timeline, const struct timeline_thread *thread, struct time_range range)
{
    struct time_samples sample = time_samples_from(timeline, thread, range.from ? range.from + 1 : 0);
    return time_samples_next(&sample) && (sample.end <= range.to || sample.begin < range.to);
}

bool time_slice_has(const struct time_slice *slice, uint32_t profile)
{
    const struct timeline_thread *thread = timeline_thread(slice->timeline, profile);
    for (size_t i = 0; thread && i < slice->ranges.n; i++)
        if (has_records(slice->timeline, thread, slice->ranges.at[i]))
            return true;
    return false;
}

void time_slice_add(const struct time_slice *slice, uint32_t profile, struct record_sums *sums)
{
    const struct timeline_thread *thread = timeline_thread(slice->timeline, profile);
    for (size_t i = 0; thread && i < slice->ranges.n; i++)
        record_sums_add(sums, slice->timeline, thread, slice->ranges.at[i]);
}

const struct record_sum *time_slice_records(struct time_slice *slice, uint32_t profile, size_t *n)
{
    struct slice_records *records = &slice->records[profile];
    if (!records->is_made) {
        time_slice_add(slice, profile, &slice->sums);
        for (size_t i = 0; i < slice->sums.list.n; i++)
            vec_push(&records->list, slice->sums.list.at[i]);
        record_sums_clear(&slice->sums);
        records->is_made = true;
    }
    *n = records->list.n;
    return records->list.at;
}

size_t time_slice_payments(const struct time_slice *slice, const struct record_sum *sum,
                           struct slot_payment payments[RECORD_METRICS + 1])
{
    size_t n = 0;
    uint32_t kind = slice->timeline->places[sum->place].kind;
    struct payments paid = record_payments(slice->timeline, sum);
    for (int metric = 0; metric < RECORD_METRICS; metric++)
        if (paid.of[metric] != 0 && slice->slots[metric] != NO_SLOT)
            payments[n++] = (struct slot_payment){slice->slots[metric],
                                                  timeline_amount(slice->timeline, paid.of[metric])};
    if (paid.of[PAYS_OVERHEAD] != 0 && kind < slice->kinds.n && slice->kinds.at[kind] != NO_SLOT)
        payments[n++] = (struct slot_payment){slice->kinds.at[kind],
                                              timeline_amount(slice->timeline, paid.of[PAYS_OVERHEAD])};
    return n;
}

uint64_t time_slice_position(const struct time_slice *slice, const struct database *db, const struct record_sum *sum,
                             uint64_t near)
{
    const struct timeline_place *place = &slice->timeline->places[sum->place];
    uint32_t context = slice->is_physical ? place->physical : place->logical;
    return context ? values_position(&db->values, context, near) : NO_POSITION;
}
