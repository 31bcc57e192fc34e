#include "viewer-tui/threads/run-threads.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/threads/thread-origin.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct thread_reader {
    const struct database *db;
    struct threads *threads;
    struct v4_id_names names;
    bool is_whole;
    uint64_t values_left; /* values that may still be read: profiles of a damaged file can overlap */
};

static const char *kind_name(const struct thread_reader *reader, uint8_t kind)
{
    uint64_t pointer;
    const struct v4_map *meta = &reader->db->meta;
    if (kind < reader->names.n_kinds &&
        v4_read(meta, reader->names.names + kind * sizeof pointer, &pointer, sizeof pointer)) {
        const char *name = v4_string(meta, pointer);
        if (name)
            return name;
    }
    return "?";
}

/* Damaged files can claim more. */
#define MOST_IDS 16

static char *id_text(const struct thread_reader *reader, uint64_t pointer)
{
    const struct v4_map *map = &reader->db->profile;
    struct v4_id_tuple tuple = {0};
    struct text text = {0};
    if (pointer && !v4_read(map, pointer, &tuple, sizeof tuple))
        problem_found(map->path, "corrupt: the identity of a thread lies outside of the file");
    for (unsigned i = 0; i < tuple.n_ids && i < MOST_IDS; i++) {
        struct v4_id id;
        if (!v4_read(map, pointer + sizeof tuple + i * sizeof id, &id, sizeof id))
            break;
        bool is_physical = id.flags & V4_ID_IS_PHYSICAL;
        text_printf(&text, "%s%s %" PRIu64, text.n ? " " : "", kind_name(reader, id.kind),
                    is_physical ? id.physical_id : id.logical_id);
    }
    text_add(&text, "");
    return text.at;
}

/* Adds the inclusive costs of a context to the thread's totals; false if the thread does not have
 * it. */
static bool add_context(struct thread_reader *reader, struct thread *thread,
                        const struct values *values, uint32_t context)
{
    const struct metrics *metrics = &reader->db->metrics;
    size_t n;
    uint64_t position = values_position(values, context, 0);
    const struct v4_metric_value *at = values_at(values, position, &n);
    for (; n > 0 && reader->values_left > 0; n--, at++) {
        reader->values_left--;
        for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++) {
            const struct metric *metric = &metrics->at[m];
            if (metric_ids(metric)->thread[METRIC_EXECUTION] != at->metric_id ||
                !isfinite(at->value))
                continue;
            if (m < metrics->n)
                thread->totals[m] += at->value;
            if (metric_is_added(metric))
                thread->totals[metric->sum] += at->value;
        }
    }
    return position != NO_POSITION;
}

/* Adds what the thread's records in the piece of time pay. */
static void add_records(const struct database *db, struct thread *thread)
{
    const struct metrics *metrics = &db->metrics;
    struct slot_payment payments[RECORD_METRICS + 1];
    size_t n;
    const struct record_sum *sums = time_slice_records(db->slice, thread->profile, &n);
    for (size_t i = 0; i < n; i++) {
        bool is_there = time_slice_position(db->slice, db, &sums[i], 0) != NO_POSITION;
        size_t n_payments = is_there ? time_slice_payments(db->slice, &sums[i], payments) : 0;
        for (size_t p = 0; p < n_payments; p++) {
            size_t m = metrics_at_slot(metrics, payments[p].slot);
            if (m < metrics->n)
                thread->totals[m] += payments[p].amount;
            if (metric_is_added(&metrics->at[m]))
                thread->totals[metrics->at[m].sum] += payments[p].amount;
        }
    }
}

/* Reads the costs of the whole program, context 0; without it, those of the entry points. */
static void read_totals(struct thread_reader *reader, struct thread *thread, const struct v4_profile *profile)
{
    const struct database *db = reader->db;
    struct values values;
    if (db->slice)
        add_records(db, thread);
    if (db->slice || !values_map(&values, &db->profile, &profile->values) || add_context(reader, thread, &values, 0))
        return;
    for (uint32_t i = 0; i < db->entries.n; i++) {
        struct v4_entry entry;
        if (database_entry(db, i, &entry, NULL))
            add_context(reader, thread, &values, entry.context_id);
    }
}

static void read_profile(struct thread_reader *reader, uint32_t number)
{
    struct v4_profile profile = database_profile(reader->db, number);
    bool has_records = reader->is_whole || !reader->db->slice || time_slice_has(reader->db->slice, number);
    if (profile_is_summary(&profile) || !has_records)
        return;
    struct thread thread = {.profile = number, .pid = -1, .tid = -1, .name = ""};
    thread.id = id_text(reader, profile.id_tuple);
    thread.totals = mem_alloc((reader->db->metrics.n + 1) * sizeof *thread.totals);
    read_totals(reader, &thread, &profile);
    vec_push(&reader->threads->list, thread);
}

static int64_t integer_or_unknown(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    return json_is_integer(number) ? json_integer_value(number) : -1;
}

static int compare_profiles(const void *left, const void *right)
{
    const struct thread *a = left, *b = right;
    return (a->profile > b->profile) - (a->profile < b->profile);
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static void count_samples(struct thread *thread, const json_t *described)
{
    json_t *tally;
    const char *name;
    json_each (event, json_object_get(described, "events")) {
        json_object_foreach(json_object_get(event, "fates"), name, tally)
        {
            double count = run_number(tally, "count");
            uint64_t n = count > 0 && count < 1e18 ? (uint64_t)count : 0;
            if (strcmp(name, "fired") == 0)
                thread->samples += n;
            else if (begins(name, "dropped: "))
                thread->dropped += n;
            else if (begins(name, "partial: "))
                thread->partial += n;
        }
    }
}

/* Completes a thread with what run.json says of it. */
static void identify(struct threads *threads, const json_t *run, const json_t *process,
                     const json_t *described)
{
    int64_t profile = integer_or_unknown(described, "profile");
    if (profile < 0 || profile > UINT32_MAX)
        return;
    struct thread key = {.profile = (uint32_t)profile};
    struct thread *thread = NULL;
    if (threads->list.n)
        thread = bsearch(&key, threads->list.at, threads->list.n, sizeof key, compare_profiles);
    if (!thread)
        return;
    thread->pid = integer_or_unknown(process, "pid");
    thread->tid = integer_or_unknown(described, "tid");
    thread->name = run_text(described, "name");
    thread->process = process;
    thread->described = described;
    thread->created_at = thread_origin_path(run, described);
    count_samples(thread, described);
}

/* Computes the threads' totals of derived metrics. Threads have inclusive costs only. */
static void derive_totals(struct threads *threads, const struct database *db)
{
    const struct metrics *metrics = &db->metrics;
    autofree struct cost *program = mem_alloc((metrics->n_stored + 1) * sizeof *program);
    autofree struct cost *costs = mem_alloc((metrics->n_stored + 1) * sizeof *costs);
    struct formula_input row = {.cost = formula_cost_in_array, .context = costs, .program = program};
    node_costs_get(db, 0, program);
    for (size_t i = 0; i < threads->list.n && metrics->n > metrics->n_stored; i++) {
        double *totals = threads->list.at[i].totals;
        for (size_t m = 0; m < metrics->n_stored; m++)
            costs[m] = (struct cost){totals[m], NAN};
        for (size_t m = metrics->n_stored; m < metrics->n; m++)
            totals[m] = derived_value(metrics, m, row, INCLUSIVE);
    }
}

/* Only threads in which the metric is defined count. */
static void compute_statistics_of(struct threads *threads, const struct metrics *metrics, size_t m)
{
    double sum = 0, least = INFINITY, largest = -INFINITY;
    size_t n = 0;
    for (size_t i = 0; i < threads->list.n; i++) {
        double value = threads->list.at[i].totals[m];
        if (isnan(value))
            continue;
        n++;
        sum += value;
        least = fmin(least, value);
        largest = fmax(largest, value);
    }
    double of_none = metric_derivation(&metrics->at[m]) ? NAN : 0;
    threads->statistics[SUM][m] = metric_is_additive(&metrics->at[m]) ? sum : NAN;
    threads->statistics[LEAST][m] = n ? least : of_none;
    threads->statistics[MEAN][m] = n ? sum / (double)n : of_none;
    threads->statistics[LARGEST][m] = n ? largest : of_none;
}

void threads_add_up(struct threads *threads, const struct metrics *metrics)
{
    for (int s = 0; s < STATISTICS; s++)
        free(threads->statistics[s]);
    for (int s = 0; s < STATISTICS; s++)
        threads->statistics[s] = mem_alloc((metrics->n + 1) * sizeof(double));
    for (size_t m = 0; m < metrics->n; m++)
        compute_statistics_of(threads, metrics, m);
}

const char *statistic_name(enum statistic statistic)
{
    assert(statistic < STATISTICS);
    static const char *const names[STATISTICS] = {
        [SUM] = "sum", [LEAST] = "min", [MEAN] = "mean", [LARGEST] = "max"};
    return names[statistic];
}

static int compare_totals(const void *left, const void *right, void *metric)
{
    const struct thread *a = left, *b = right;
    double total_a = a->totals[*(size_t *)metric], total_b = b->totals[*(size_t *)metric];
    bool a_is_undefined = isnan(total_a), b_is_undefined = isnan(total_b);
    if (a_is_undefined != b_is_undefined)
        return a_is_undefined - b_is_undefined;
    if (total_a < total_b || total_a > total_b)
        return total_a < total_b ? 1 : -1;
    return compare_profiles(left, right);
}

void threads_sort(struct threads *threads, size_t metric)
{
    if (threads->list.n)
        qsort_r(threads->list.at, threads->list.n, sizeof *threads->list.at, compare_totals,
                &metric);
}

void threads_read(struct threads *threads, const struct database *db, const json_t *run, bool is_whole)
{
    *threads = (struct threads){0};
    struct thread_reader reader = {.db = db,
                                   .is_whole = is_whole,
                                   .threads = threads,
                                   .values_left = db->profile.size / sizeof(struct v4_metric_value)};
    v4_read(&db->meta, db->meta.sections[V4_META_ID_NAMES].at, &reader.names, sizeof reader.names);
    uint32_t n = database_n_profiles(db);
    for (uint32_t i = 1; i < n; i++)
        read_profile(&reader, i);
    json_each (process, json_object_get(run, "processes"))
        json_each (thread, json_object_get(process, "threads"))
            identify(threads, run, process, thread);
    derive_totals(threads, db);
    threads_add_up(threads, &db->metrics);
}

void threads_free(struct threads *threads)
{
    for (size_t i = 0; i < threads->list.n; i++) {
        free(threads->list.at[i].id);
        free(threads->list.at[i].totals);
    }
    vec_free(&threads->list);
    for (int s = 0; s < STATISTICS; s++)
        free(threads->statistics[s]);
}

size_t threads_count(const struct database *db)
{
    struct threads threads;
    threads_read(&threads, db, NULL, false);
    size_t n = threads.list.n;
    threads_free(&threads);
    return n;
}

void thread_label(const struct thread *thread, bool with_host, bool ascii, struct text *out)
{
    if (thread->pid < 0) {
        text_add_clean(out, thread->id, ascii);
        return;
    }
    run_add_place(thread->process, with_host, ascii, out);
    text_add_clean(out, thread->name, ascii);
    text_printf(out, "%s%" PRId64, *thread->name ? " " : "", thread->pid);
    if (thread->tid >= 0)
        text_printf(out, "/%" PRId64, thread->tid);
}
