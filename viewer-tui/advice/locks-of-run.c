#include "viewer-tui/advice/locks-of-run.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/db/database.h"

/* A smaller part of the run's waiting does not say what threads wait for in a piece of it. */
#define NEARLY_ALL 0.95

/* The line at which code of the user's own waits for a lock; the node stands for the lock. */
static struct time_place line_that_waits(struct database *db, uint32_t node)
{
    const struct nodes *nodes = db->nodes;
    struct time_place place = {.procedure = code_own_procedure(db, nodes->parent[node]), .at = {NOTHING, 0}};
    while (nodes_caller(nodes, node) != 0 && nodes->place[nodes_caller(nodes, node)] != place.procedure)
        node = nodes_caller(nodes, node);
    uint32_t call = nodes_call_site(nodes, node);
    if (call)
        place.at = (struct source_line){nodes->place[call], nodes->line[call]};
    return place;
}

uint32_t locks_of_run_find(const struct view *view, const char *event, struct time_places *waits)
{
    struct database *db = view->db;
    const struct nodes *nodes = db->nodes;
    const struct metrics *metrics = view->metrics;
    uint32_t n = database_n_procedures(db), most = 0;
    size_t metric = metrics_find_event(metrics, METRIC_LOCK_WAIT, event);
    int id = metric < metrics->n ? metrics->at[metric].ids.summary[METRIC_FUNCTION] : METRIC_ABSENT;
    autofree double *seconds = mem_alloc((n + 1) * sizeof *seconds);
    double all = 0;
    char buffer[NAME_SIZE];
    for (uint32_t i = 0; i < nodes->n && id != METRIC_ABSENT; i++) {
        uint32_t procedure = nodes->place[i];
        bool has_values = is_procedure_kind(nodes->kind[i]) && nodes->position[i] != NOTHING && procedure < n;
        double here = has_values ? values_get(&db->values, nodes->position[i], id) : 0;
        if (!(here > 0))
            continue;
        all += here;
        seconds[procedure] += here;
        most = seconds[procedure] > seconds[most] ? procedure : most;
        if (is_name_of_lock(database_procedure_name(db, procedure, buffer)))
            vec_push(&waits->list, line_that_waits(db, i));
    }
    bool is_lock = all > 0 && is_name_of_lock(database_procedure_name(db, most, buffer));
    return is_lock && seconds[most] >= NEARLY_ALL * all ? most : NOTHING;
}
