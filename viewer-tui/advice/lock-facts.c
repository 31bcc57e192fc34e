#include "viewer-tui/advice/lock-facts.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/time-slice.h"

#include <stdio.h>
#include <string.h>

/* Less waiting for locks, as a share of the wall clock, is nothing to say; what is much. */
#define NOTABLE_LOCK_SHARE 0.05
#define MUCH_LOCK_SHARE    0.10

/* Locks of runtimes. */
static const struct {
    const char *name, *remedy;
} known_locks[] = {{"GIL", "use processes, or a library that releases it"}};

/* Less of the waiting is not named. */
#define LEAST_KEPT_SHARE 0.1

static bool is_same_line(const struct time_place *a, const struct time_place *b)
{
    return a->procedure == b->procedure && a->at.file == b->at.file && a->at.line == b->at.line;
}

/* Whether a place is what a line calls that most of the line's blame is at, but for what is at a row for a lock. */
static bool is_most_of_line(const struct time_places *held, const struct time_place *place)
{
    double seconds = 0;
    for (size_t i = 0; i < held->list.n; i++) {
        const struct time_place *at = &held->list.at[i];
        seconds += is_same_line(at, place) && !at->is_of_lock ? at->seconds : 0;
    }
    return place->callee != NOTHING && !place->is_of_lock && place->seconds > seconds / 2;
}

/* Finds where an interpreter's lock is kept longest. The function that keeps it has the blame until that is long; a
 * row that stands for the lock has the rest, below the function or below the line that calls it. */
static struct hotspot kept_in(const struct database *db, const struct time_places *held)
{
    const struct time_place *kept = NULL;
    for (size_t i = 0; i < held->list.n && !kept; i++)
        kept = held->list.at[i].is_of_lock ? &held->list.at[i] : NULL;
    if (!kept || kept->seconds < LEAST_KEPT_SHARE * held->total)
        return (struct hotspot){0};
    struct hotspot found = hotspot_of_place(db, kept);
    found.callee = kept->callee == kept->leaf ? NOTHING : kept->callee;
    for (size_t i = 0; i < held->list.n && found.callee == NOTHING; i++) {
        const struct time_place *at = &held->list.at[i];
        if (is_same_line(at, kept) && is_most_of_line(held, at)) {
            found.callee = at->callee;
            found.callee_module = at->callee_module;
        }
    }
    return found;
}

/* `name`: that of the procedure that stands for it, "<lock NAME>". */
static void name_lock(struct lock_facts *lock, const char *name)
{
    name += strlen(LOCK_PREFIX);
    snprintf(lock->name, sizeof lock->name, "%.*s", (int)strlen(name) - 1, name);
    lock->remedy = NULL;
    for (size_t i = 0; i < sizeof known_locks / sizeof *known_locks; i++)
        if (strcmp(lock->name, known_locks[i].name) == 0)
            lock->remedy = known_locks[i].remedy;
}

/* Finds the lock with most of the waiting; its calls are those of `<lock NAME>`. */
static void find_main_lock(const struct database *db, const struct time_places *waits, struct lock_facts *lock)
{
    double most = 0;
    for (size_t i = 0; i < waits->list.n; i++) {
        uint32_t leaf = waits->list.at[i].leaf;
        double seconds = 0;
        char buffer[NAME_SIZE];
        const char *name = leaf == NOTHING ? "" : database_procedure_name(db, leaf, buffer);
        for (size_t k = 0; k < waits->list.n; k++)
            seconds += waits->list.at[k].leaf == leaf ? waits->list.at[k].seconds : 0;
        if (seconds <= most || !is_name_of_lock(name))
            continue;
        name_lock(lock, name);
        most = seconds;
    }
    lock->share = waits->total > 0 ? most / waits->total : 0;
}

/* ---- Locks of the whole run ----
 *
 * In a piece of time only the sum of the waiting is known (METRIC_LOCK_BLAME), and not for which lock and where threads
 * wait. */

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

/* The procedure that stands for the lock (is_name_of_lock) with nearly all waiting of the run, by an event such as
 * " (REALTIME)"; NOTHING if there is none. Adds the lines of the user's own at which threads wait for locks, without
 * times. */
static uint32_t lock_of_run(const struct view *view, const char *event, struct time_places *waits)
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

/* ---- Critical sections and ordered blocks of OpenMP ---- */

/* "critical" or "ordered", by the name of a lock ("critical(table)") or of a scope ("critical @ queue.c:12"). NULL: it is
 * of no section. */
static const char *kind_of_section(const char *name)
{
    static const char *const kinds[] = {"critical", "ordered"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]);
        if (strncmp(name, kinds[i], length) == 0 && (!name[length] || strchr(" (", name[length])))
            return kinds[i];
    }
    return NULL;
}

static bool is_section(const struct database *db, uint32_t procedure, const char *kind)
{
    char buffer[NAME_SIZE];
    const char *name = database_procedure_name(db, procedure, buffer);
    return kind_of_section(name) == kind && strstr(name, " @ ");
}

struct hotspot lock_facts_section(const struct lock_facts *lock, const struct view *view, size_t metric)
{
    const struct database *db = view->db;
    const struct nodes *nodes = database_nodes(view->db);
    struct hotspot found = {.procedure = NOTHING, .around = {NOTHING, 0}, .callee = NOTHING, .callee_module = NOTHING};
    uint32_t n = database_n_procedures(db);
    const char *kind = kind_of_section(lock->name);
    if (!kind)
        return found;
    autofree double *seconds = mem_alloc((n + 1) * sizeof *seconds);
    for (uint32_t i = 0; i < nodes->n; i++) {
        uint32_t procedure = nodes->place[i];
        if (nodes->kind[i] != KIND_INLINED || procedure >= n || !is_section(db, procedure, kind))
            continue;
        seconds[procedure] += view_node_value(view, i, metric, INCLUSIVE);
        if (seconds[procedure] <= found.cost)
            continue;
        struct procedure section = database_procedure(db, procedure);
        found.at = (struct source_line){section.file, section.line};
        found.cost = seconds[procedure];
    }
    return found;
}

/* ---- All of it ---- */

struct lock_facts lock_facts_of(const struct view *view, const struct lock_times *times)
{
    const struct time_places *held = times->held;
    struct lock_facts lock = {.share = 0};
    /* The lower end of the 95 % interval. */
    double error = share_error(held->total, times->largest), least = held->total - error;
    if (!(times->wall > 0) || !(least > NOTABLE_LOCK_SHARE * times->wall)) {
        time_places_free(times->waits);
        return lock;
    }
    lock.seconds = (struct share){held->total, least, held->total + error};
    lock.is_much = least > MUCH_LOCK_SHARE * times->wall;
    lock.kept = kept_in(view->db, held);
    lock.share = 1;
    if (!view->db->slice) {
        find_main_lock(view->db, times->waits, &lock);
    } else {
        char buffer[NAME_SIZE];
        uint32_t main_lock = lock_of_run(view, times->event, times->waits);
        if (main_lock != NOTHING)
            name_lock(&lock, database_procedure_name(view->db, main_lock, buffer));
    }
    lock.waits = *times->waits;
    return lock;
}

/* What the line calls differs: `lock wait` is at a procedure that stands for the lock. */
bool lock_facts_wait_at(const struct lock_facts *lock, const struct time_place *place)
{
    for (size_t i = 0; i < lock->waits.list.n; i++)
        if (is_same_line(&lock->waits.list.at[i], place))
            return true;
    return false;
}
