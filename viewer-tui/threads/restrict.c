#include "viewer-tui/threads/restrict.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/complete.h"
#include "viewer-tui/db/database.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METRIC_IDS 65536

/* Numbers in the block of sums that is computed at a time: few enough for the CPU's caches. */
#define SUMS_AT_ONCE (1u << 18)

/* One thread, read from its first context to its last. */
struct reader {
    struct values values;
    uint64_t next; /* position of the next context to read */
    uint64_t near; /* position in the summary of the context before, where the next search begins */
};

struct restriction {
    const struct database *db;
    struct values summary; /* of all threads, as in the file */
    VEC(struct reader) readers;
    int32_t *column_of;  /* by metric id in threads' profiles: a column of sums, or -1 */
    VEC(uint16_t) ids;   /* by column: metric id in the summary profile */
    double *sums;        /* of the current block, by context and column */
    uint64_t first, end; /* the current block of contexts: positions in the summary */
    uint64_t
        values_left; /* values that may still be read: profiles of a damaged file can overlap */
    VEC(struct v4_context_index) index;
    VEC(struct v4_metric_value) table;
};

static void choose_columns(struct restriction *restriction)
{
    const struct metrics *metrics = &restriction->db->metrics;
    restriction->column_of = mem_alloc(METRIC_IDS * sizeof *restriction->column_of);
    for (size_t id = 0; id < METRIC_IDS; id++)
        restriction->column_of[id] = -1;
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++) {
            const struct metric_ids *ids = metric_ids(&metrics->at[m]);
            int thread = ids->thread[scope], summary = ids->in_file[scope];
            if (thread == METRIC_ABSENT || summary == METRIC_ABSENT ||
                restriction->column_of[thread] >= 0)
                continue;
            restriction->column_of[thread] = (int32_t)restriction->ids.n;
            vec_push(&restriction->ids, (uint16_t)summary);
        }
}

static void choose_readers(struct restriction *restriction, const struct thread_set *set)
{
    const struct database *db = restriction->db;
    uint32_t n = database_n_profiles(db);
    for (uint32_t number = 1; number < n; number++) {
        struct v4_profile profile = database_profile(db, number);
        struct reader reader = {0};
        if (!profile_is_summary(&profile) && thread_set_has(set, number) &&
            values_map(&reader.values, &db->profile, &profile.values))
            vec_push(&restriction->readers, reader);
    }
}

static void add_values(struct restriction *restriction, const struct reader *reader,
                       uint64_t position)
{
    size_t n;
    const struct v4_metric_value *at = values_at(&reader->values, reader->next, &n);
    double *sums = restriction->sums + (position - restriction->first) * restriction->ids.n;
    for (; n > 0 && restriction->values_left > 0; n--, at++) {
        restriction->values_left--;
        int32_t column = restriction->column_of[at->metric_id];
        if (!isfinite(at->value))
            problem_found(reader->values.path, "corrupt: a value is not a number");
        else if (column >= 0)
            sums[column] += at->value;
    }
}

/* Adds a thread's values to the sums of the current block. */
static void read_on(struct restriction *restriction, struct reader *reader)
{
    const struct values *summary = &restriction->summary;
    bool is_last = restriction->end == summary->n_index;
    uint32_t end = is_last ? UINT32_MAX : summary->index[restriction->end].context_id;
    for (; reader->next < reader->values.n_index && progress_at(restriction->first);
         reader->next++) {
        uint32_t context = reader->values.index[reader->next].context_id;
        if (context >= end)
            return;
        uint64_t position = values_position(summary, context, reader->near);
        if (position < restriction->first || position >= restriction->end)
            continue;
        reader->near = position;
        add_values(restriction, reader, position);
    }
}

/* Appends the sums of the current block to the new table. */
static void store(struct restriction *restriction)
{
    size_t n_columns = restriction->ids.n;
    for (uint64_t position = restriction->first; position < restriction->end; position++) {
        const double *sums = restriction->sums + (position - restriction->first) * n_columns;
        uint64_t start = restriction->table.n;
        for (size_t c = 0; c < n_columns; c++)
            if (sums[c] != 0)
                vec_push(&restriction->table,
                         (struct v4_metric_value){restriction->ids.at[c], sums[c]});
        uint32_t context = restriction->summary.index[position].context_id;
        if (restriction->table.n > start)
            vec_push(&restriction->index, (struct v4_context_index){context, start});
    }
}

/* Computes the table of sums. */
static enum outcome add_up(struct restriction *restriction)
{
    uint64_t n = restriction->summary.n_index;
    size_t n_columns = restriction->ids.n;
    uint64_t at_once = n_columns && n_columns < SUMS_AT_ONCE ? SUMS_AT_ONCE / n_columns : 1;
    restriction->sums = mem_alloc(at_once * (n_columns + 1) * sizeof *restriction->sums);
    restriction->values_left = restriction->db->profile.size / sizeof(struct v4_metric_value);
    progress_begin("adding up threads", n);
    while (restriction->end < n && progress_at(restriction->end)) {
        restriction->first = restriction->end;
        restriction->end = n - restriction->first < at_once ? n : restriction->first + at_once;
        memset(restriction->sums, 0, at_once * n_columns * sizeof *restriction->sums);
        for (size_t i = 0; i < restriction->readers.n; i++)
            read_on(restriction, &restriction->readers.at[i]);
        store(restriction);
    }
    free(restriction->sums);
    return progress_end();
}

/* Sets the metric ids of the summary values; restricted, only those that threads have, too. */
static void restore_ids(struct metrics *metrics, bool is_restricted)
{
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++) {
            struct metric_ids *ids = &metrics->at[m].ids;
            if (metrics->at[m].source != METRIC_FROM_FILE)
                continue;
            bool is_there = !is_restricted || ids->thread[scope] != METRIC_ABSENT;
            ids->summary[scope] = is_there ? ids->in_file[scope] : METRIC_ABSENT;
        }
}

/* Replaces the sums over all threads by those over the set. */
static enum outcome sum_over(struct restriction *restriction, const struct thread_set *set)
{
    choose_columns(restriction);
    choose_readers(restriction, set);
    enum outcome outcome = add_up(restriction);
    if (outcome == DONE) {
        values_replace(&restriction->summary, restriction->index.at, restriction->index.n,
                       restriction->table.at, restriction->table.n);
    } else {
        vec_free(&restriction->index);
        vec_free(&restriction->table);
    }
    free(restriction->column_of);
    vec_free(&restriction->ids);
    vec_free(&restriction->readers);
    return outcome;
}

static void use(struct database *db, struct values values, bool is_restricted)
{
    values_close(&db->values);
    db->values = values;
    db->is_restricted =
        false; /* until complete_values has run, which computes what is not stored */
    restore_ids(&db->metrics, is_restricted);
    values_set_metrics(&db->values, &db->metrics);
}

static void note_profiles(struct database *db, const struct thread_set *set)
{
    uint32_t n = database_n_profiles(db);
    free(db->has_profile);
    db->has_profile = set ? mem_alloc((n + 1) * sizeof *db->has_profile) : NULL;
    for (uint32_t number = 0; set && number < n; number++)
        db->has_profile[number] = thread_set_has(set, number);
}

enum outcome database_restrict(struct database *db, const struct thread_set *set)
{
    struct v4_profile summary = database_profile(db, 0);
    struct restriction restriction = {.db = db};
    if (!values_open(&restriction.summary, &db->profile, &summary.values))
        return FAILED;
    if (set && sum_over(&restriction, set) == STOPPED)
        return STOPPED;
    use(db, restriction.summary, set != NULL);
    /* Incomplete values cannot be shown, so Escape only starts this pass again. */
    while (complete_values(db) == STOPPED)
        continue;
    db->is_restricted = set != NULL;
    note_profiles(db, set);
    return DONE;
}
