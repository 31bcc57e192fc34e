#include "viewer-tui/threads/thread-sums.h"

#include "viewer-tui/db/node-costs.h"

#include <math.h>
#include <stdlib.h>

/* Contexts of a thread between two looks at whether the user stops the pass. */
#define MARKS_PER_LOOK 8

struct summation {
    const struct database *db;
    struct node_costs *costs;
    uint8_t *is_there; /* by context, up to the last one with values: a bit, whether it has values of these threads */
    uint32_t last;
    bool *has_profile; /* by number: whether its values are added up */
};

/* Makes room for the sums of the scopes that are in the summary and in threads; of a slice, for METRIC_POINT. */
static void make_columns(const struct summation *summation, bool is_slice)
{
    const struct database *db = summation->db;
    const struct metrics *metrics = &db->metrics;
    struct node_costs *costs = summation->costs;
    costs->sums = mem_alloc((METRIC_SCOPES * costs->n_slots + 1) * sizeof *costs->sums);
    costs->column_of = mem_alloc(METRIC_IDS * sizeof *costs->column_of);
    costs->has_block = is_slice ? NULL : mem_alloc(db->values.n_index / SUMMED_BLOCK + 1);
    costs->values_left = db->profile.size / sizeof(struct v4_metric_value);
    for (size_t slot = 0; slot < costs->n_slots; slot++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++) {
            const struct metric_ids *ids = metric_ids(&metrics->at[metrics_at_slot(metrics, slot)]);
            int id = ids->thread[scope];
            bool has_column = id != METRIC_ABSENT && ids->summary[scope] != METRIC_ABSENT;
            has_column = is_slice ? scope == METRIC_POINT : has_column;
            double *column = has_column && !is_slice ? costs->column_of[id] : NULL;
            if (has_column && !column) {
                column = mem_alloc((db->values.n_index + 1) * sizeof *column);
                vec_push(&costs->columns, column);
            }
            if (has_column && !is_slice)
                costs->column_of[id] = column;
            costs->sums[METRIC_SCOPES * slot + (size_t)scope] = column;
        }
}

static void mark(struct summation *summation, uint32_t context)
{
    if (context <= summation->last)
        summation->is_there[context / 8] |= (uint8_t)(1u << context % 8);
}

/* Marks the contexts of a thread; their values are added up when they are asked for. */
static void add_thread(struct summation *summation, const struct values *values, uint32_t number)
{
    struct summed_thread thread = {.values = *values};
    uint64_t n = 0;
    for (; n < values->n_index && (n == 0 || values->index[n - 1].context_id < values->index[n].context_id); n++) {
        mark(summation, values->index[n].context_id);
        if (n % MARKS_PER_LOOK == 0 && !progress_at(number))
            break;
    }
    thread.values.n_index = n;
    vec_push(&summation->costs->threads, thread);
}

/* Notes which profiles are added up. */
static void choose_profiles(struct summation *summation, const struct thread_set *set, const struct time_slice *slice)
{
    uint32_t n = database_n_profiles(summation->db);
    summation->has_profile = mem_alloc((n + 1) * sizeof *summation->has_profile);
    for (uint32_t number = 1; number < n; number++) {
        struct v4_profile profile = database_profile(summation->db, number);
        bool is_there = !profile_is_summary(&profile) && (!slice || time_slice_has(slice, number));
        summation->has_profile[number] = is_there && thread_set_has(set, number);
    }
}

static enum outcome add_up(struct summation *summation)
{
    const struct database *db = summation->db;
    uint32_t n = database_n_profiles(db);
    make_columns(summation, false);
    progress_begin("looking for what threads ran", n);
    for (uint32_t number = 1; number < n && progress_at(number); number++) {
        struct v4_profile profile = database_profile(db, number);
        struct values values;
        if (summation->has_profile[number] && values_map(&values, &db->profile, &profile.values))
            add_thread(summation, &values, number);
    }
    return progress_end();
}

/* Adds what the records of a place pay to its context alone: node-costs.h computes the other scopes. */
static enum outcome add_up_records(struct summation *summation, const struct time_slice *slice)
{
    struct record_sums sums = {0};
    uint64_t near = 0;
    uint32_t n = database_n_profiles(summation->db);
    make_columns(summation, true);
    progress_begin("adding up records", n);
    for (uint32_t number = 1; number < n && progress_at(number); number++)
        if (summation->has_profile[number])
            time_slice_add(slice, number, &sums);
    for (size_t i = 0; i < sums.list.n; i++) {
        uint64_t position = time_slice_position(slice, summation->db, &sums.list.at[i], near);
        if (position == NO_POSITION)
            continue;
        struct slot_payment payments[RECORD_METRICS + 1];
        size_t n_payments = time_slice_payments(slice, &sums.list.at[i], payments);
        for (size_t k = 0; k < n_payments; k++)
            summation->costs->sums[METRIC_SCOPES * payments[k].slot + METRIC_POINT][position] += payments[k].amount;
        if (n_payments > 0)
            mark(summation, summation->db->values.index[position].context_id);
        near = position;
    }
    record_sums_free(&sums);
    return progress_end();
}

/* The nodes of the file of which these threads have values, and those above them. */
static struct nodes *nodes_of_threads(const struct summation *summation)
{
    const struct nodes *all = summation->db->nodes;
    autofree bool *is_there = mem_alloc(all->n);
    for (uint32_t c = 0; c < all->n; c++) {
        uint32_t context = all->position[c] == NOTHING ? 0 : summation->db->values.index[all->position[c]].context_id;
        is_there[c] = all->position[c] != NOTHING && summation->is_there[context / 8] >> context % 8 & 1;
    }
    return nodes_select(all, is_there);
}

/* Makes the sums those of the database. Takes them. */
static void put_in_place(struct summation *summation, struct database *db, const struct thread_set *set,
                         struct time_slice *slice)
{
    bool is_part = set || slice;
    if (is_part)
        summation->costs->nodes = nodes_of_threads(summation);
    database_set_costs(db, summation->costs);
    time_slice_free(db->slice);
    free(db->has_profile);
    db->slice = slice;
    db->has_profile = is_part ? summation->has_profile : NULL;
    db->has_some_threads = set != NULL;
    if (is_part)
        summation->has_profile = NULL;
}

enum outcome database_restrict(struct database *db, const struct thread_set *set, struct time_slice *slice)
{
    if (!database_nodes(db)) {
        time_slice_free(slice);
        return STOPPED;
    }
    struct summation summation = {.db = db, .costs = node_costs_new(db)};
    summation.last = db->values.n_index ? db->values.index[db->values.n_index - 1].context_id : 0;
    summation.is_there = mem_alloc(summation.last / 8 + 1);
    choose_profiles(&summation, set, slice);
    enum outcome outcome = slice ? add_up_records(&summation, slice) : set ? add_up(&summation) : DONE;
    if (outcome == DONE) {
        put_in_place(&summation, db, set, slice);
    } else {
        node_costs_free(db, summation.costs);
        time_slice_free(slice);
    }
    free(summation.has_profile);
    free(summation.is_there);
    return outcome;
}
