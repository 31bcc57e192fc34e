#include "viewer-tui/threads/thread-sums.h"

#include "viewer-tui/db/node-costs.h"

#include <math.h>
#include <stdlib.h>

struct summation {
    const struct database *db;
    struct node_costs *costs;
    double *column_of[METRIC_IDS]; /* by metric id in the threads' profiles: a column of costs->sums, or NULL */
    uint64_t values_left;          /* values that may still be read: profiles of a damaged file can overlap */
    bool *is_there;                /* by position: whether it has a value of these threads */
};

/* Makes room for the sums of the scopes that are in the summary and in threads. */
static void make_columns(struct summation *summation)
{
    const struct database *db = summation->db;
    const struct metrics *metrics = &db->metrics;
    struct node_costs *costs = summation->costs;
    costs->sums = mem_alloc((METRIC_SCOPES * costs->n_slots + 1) * sizeof *costs->sums);
    for (size_t slot = 0; slot < costs->n_slots; slot++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++) {
            const struct metric_ids *ids = metric_ids(&metrics->at[metrics_at_slot(metrics, slot)]);
            int id = ids->thread[scope];
            if (id == METRIC_ABSENT || ids->summary[scope] == METRIC_ABSENT)
                continue;
            if (!summation->column_of[id]) {
                summation->column_of[id] = mem_alloc((db->values.n_index + 1) * sizeof(double));
                vec_push(&costs->columns, summation->column_of[id]);
            }
            costs->sums[METRIC_SCOPES * slot + (size_t)scope] = summation->column_of[id];
        }
}

static void add_values(struct summation *summation, const struct values *values, uint64_t from, uint64_t to)
{
    size_t n;
    const struct v4_metric_value *at = values_at(values, from, &n);
    for (; n > 0 && summation->values_left > 0; n--, at++) {
        double *column = summation->column_of[at->metric_id];
        summation->values_left--;
        if (!isfinite(at->value))
            problem_found(values->path, "corrupt: a value is not a number");
        else if (column && at->value != 0) {
            column[to] += at->value;
            summation->is_there[to] = true;
        }
    }
}

static void add_thread(struct summation *summation, const struct values *values, uint32_t number)
{
    uint64_t near = 0;
    for (uint64_t i = 0; i < values->n_index && progress_at(number); i++) {
        uint64_t position = values_position(&summation->db->values, values->index[i].context_id, near);
        if (position == NO_POSITION)
            continue;
        add_values(summation, values, i, position);
        near = position + 1;
    }
}

static enum outcome add_up(struct summation *summation, const struct thread_set *set)
{
    const struct database *db = summation->db;
    uint32_t n = database_n_profiles(db);
    make_columns(summation);
    progress_begin("adding up threads", n);
    for (uint32_t number = 1; number < n; number++) {
        struct v4_profile profile = database_profile(db, number);
        struct values values;
        if (!profile_is_summary(&profile) && thread_set_has(set, number) &&
            values_map(&values, &db->profile, &profile.values))
            add_thread(summation, &values, number);
    }
    return progress_end();
}

static void note_profiles(struct database *db, const struct thread_set *set)
{
    uint32_t n = database_n_profiles(db);
    free(db->has_profile);
    db->has_profile = set ? mem_alloc((n + 1) * sizeof *db->has_profile) : NULL;
    for (uint32_t number = 0; set && number < n; number++)
        db->has_profile[number] = thread_set_has(set, number);
}

/* The nodes of the file of which these threads have values, and those above them. */
static struct nodes *nodes_of_threads(const struct summation *summation)
{
    const struct nodes *all = summation->db->nodes;
    bool *is_there = mem_alloc(all->n);
    for (uint32_t c = 0; c < all->n; c++)
        is_there[c] = all->position[c] != NOTHING && summation->is_there[all->position[c]];
    struct nodes *nodes = nodes_select(all, is_there);
    free(is_there);
    return nodes;
}

enum outcome database_restrict(struct database *db, const struct thread_set *set)
{
    if (!database_nodes(db))
        return STOPPED;
    struct summation *summation = mem_alloc(sizeof *summation);
    *summation = (struct summation){.db = db,
                                    .costs = node_costs_new(db),
                                    .values_left = db->profile.size / sizeof(struct v4_metric_value),
                                    .is_there = mem_alloc(db->values.n_index + 1)};
    enum outcome outcome = set ? add_up(summation, set) : DONE;
    if (outcome == DONE) {
        if (set)
            summation->costs->nodes = nodes_of_threads(summation);
        database_set_costs(db, summation->costs);
        note_profiles(db, set);
    } else {
        node_costs_free(db, summation->costs);
    }
    free(summation->is_there);
    free(summation);
    return outcome;
}
