#include "viewer-tui/advice/balance.h"

#include "viewer-tui/db/database.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Procedures with a smaller share of the CPU time are skipped. */
#define LEAST_SHARE 0.05

/* A procedure or construct that threads share. */
struct shared_procedure {
    uint32_t procedure;
    bool is_construct, is_of_library;
    double seconds, most; /* in all rows, and in the row with the most */
    struct hotspot place; /* in that row */
    struct value_refs refs; /* of its outermost calls */
};

struct shared_procedures {
    VEC(struct shared_procedure) list;
    struct time_metric time;
    bool *are_go; /* by module */
    bool collects_value_refs; /* the second walk collects value refs */
};

/* Whether a row is a procedure that hpcprof named after a parallel region of OpenMP. */
static bool is_construct(const struct view *view, uint32_t row)
{
    char buffer[NAME_SIZE];
    if (view_row(view, row)->kind != KIND_PROCEDURE)
        return false;
    const char *name = database_procedure_name(view->db, view_row(view, row)->place, buffer);
    return strncmp(name, "parallel", strlen("parallel")) == 0 && strstr(name, " @ ");
}

/* Marks the modules with code of Go: a thread there begins in C code if the program uses cgo. */
static bool *modules_of_go(const struct database *db)
{
    bool *are_go = mem_alloc(db->modules.n + 1);
    for (uint32_t id = 0; id < database_n_procedures(db); id++) {
        struct procedure procedure = database_procedure(db, id);
        const char *path = database_file_path(db, procedure.file);
        size_t length = path ? strlen(path) : 0;
        if (length > 3 && strcmp(path + length - 3, ".go") == 0 && procedure.module < db->modules.n)
            are_go[procedure.module] = true;
    }
    return are_go;
}

/* Whether a row is the user's first code on the path of a created thread, and whether a package's code calls it. */
static bool is_first_of_thread(const struct view *view, uint32_t row, const bool *are_go, bool *is_of_library)
{
    char buffer[NAME_SIZE];
    uint32_t module = label_module(view, row);
    if (code_owner(view, row) != CODE_OWN || (module < view->db->modules.n && are_go[module]))
        return false;
    for (row = view_row(view, row)->parent; row != 0; row = view_row(view, row)->parent) {
        const struct row *at = view_row(view, row);
        struct v4_entry entry; /* "<thread root>" or "application thread" */
        if (at->kind == KIND_ROOT && database_entry(view->db, at->place, &entry, NULL) &&
            entry.kind != V4_MAIN_THREAD && entry.kind != V4_UNKNOWN_ENTRY)
            return true;
        if (!row_is_procedure(at))
            continue;
        if (begins_thread(database_procedure_name(view->db, at->place, buffer)))
            return true;
        enum code_owner owner = code_owner(view, row);
        if (owner == CODE_OWN)
            return false;
        *is_of_library |= owner == CODE_OF_PACKAGE;
    }
    return false;
}

/* Whether threads share what a row does: not a part of what they share. */
static bool is_shared(const struct view *view, uint32_t row, const bool *are_go, bool *is_of_library)
{
    if (!is_construct(view, row) && !is_first_of_thread(view, row, are_go, is_of_library))
        return false;
    for (row = view_row(view, row)->parent; row != 0; row = view_row(view, row)->parent)
        if (is_construct(view, row))
            return false;
    return true;
}

static bool is_inside_of_itself(const struct view *view, uint32_t row)
{
    uint32_t procedure = view_row(view, row)->place;
    for (row = view_row(view, row)->parent; row != 0; row = view_row(view, row)->parent)
        if (row_is_procedure(view_row(view, row)) && view_row(view, row)->place == procedure)
            return true;
    return false;
}

/* The outermost loop with at least half of the time of a procedure's row; else the procedure itself. */
static struct hotspot place_in(struct view *view, uint32_t row, struct time_metric time)
{
    struct procedure procedure = database_procedure(view->db, view_row(view, row)->place);
    struct hotspot place = {.procedure = view_row(view, row)->place,
                            .owner = CODE_OWN,
                            .at = {procedure.file, procedure.line},
                            .around = {NOTHING, 0},
                            .callee = NOTHING};
    double half = time_cost(view, row, time, INCLUSIVE) / 2;
    view_expand(view, row);
    for (uint32_t i = 0; i < view_row(view, row)->n_children; i++) {
        uint32_t child = view_child(view, row, i);
        const struct row *at = view_row(view, child);
        if (at->kind == KIND_LOOP && time_cost(view, child, time, INCLUSIVE) >= half) {
            place.is_loop = true;
            place.at = (struct source_line){at->place, at->line};
        }
    }
    return place;
}

static void enter(void *context, struct view *view, uint32_t row, uint32_t level)
{
    (void)level;
    struct shared_procedures *procedures = context;
    uint32_t procedure = view_row(view, row)->place;
    size_t i = 0;
    bool is_of_library = false;
    if (!row_is_procedure(view_row(view, row)))
        return;
    while (i < procedures->list.n && procedures->list.at[i].procedure != procedure)
        i++;
    bool is_listed = i < procedures->list.n;
    if (!procedures->collects_value_refs && !is_listed && is_shared(view, row, procedures->are_go, &is_of_library)) {
        struct shared_procedure new = {.procedure = procedure,
                                       .is_construct = is_construct(view, row),
                                       .is_of_library = is_of_library};
        vec_push(&procedures->list, new);
    } else if (procedures->collects_value_refs && is_listed && !is_inside_of_itself(view, row)) {
        struct shared_procedure *shared = &procedures->list.at[i];
        double seconds = time_cost(view, row, procedures->time, INCLUSIVE);
        shared->seconds += seconds;
        if (seconds > shared->most) {
            shared->most = seconds;
            shared->place = place_in(view, row, procedures->time);
        }
        view_value_refs(view, row, INCLUSIVE, &shared->refs);
    }
}

/* ---- Parts ---- */

/* The part of a thread or a rank. */
struct part {
    long number;
    double seconds;
    const json_t *process; /* of a rank */
};

typedef VEC(struct part) part_list;

static struct parts compare_parts(const part_list *list)
{
    struct parts parts = {.n = list->n};
    for (size_t i = 0; i < list->n; i++) {
        const struct part *part = &list->at[i];
        parts.mean += part->seconds / (double)list->n;
        if (i == 0 || part->seconds > parts.most) {
            parts.most = part->seconds;
            parts.most_of = part->number;
            parts.most_at = i;
        }
        if (i == 0 || part->seconds < parts.least) {
            parts.least = part->seconds;
            parts.least_of = part->number;
            parts.least_at = i;
        }
    }
    return parts;
}

/* Whether a worker without a part belongs to the group: it began in the same procedure as one with a part. */
static bool is_of_group(const struct main_process *process, const struct process_thread *thread,
                        const double *by_profile)
{
    for (size_t i = 0; i < process->threads.n; i++) {
        const struct process_thread *other = &process->threads.at[i];
        if (!other->is_initial && *other->start_routine && by_profile[other->profile] > 0 &&
            strcmp(other->start_routine, thread->start_routine) == 0)
            return true;
    }
    return false;
}

/* The seconds for which a thread waited, but for what ran outside of the work meanwhile. */
static double waited_itself(const struct main_process *process, const struct shared_work *work)
{
    double outside = fmax(process->cpu - work->parts.mean * (double)work->parts.n, 0);
    for (size_t i = 0; i < process->threads.n; i++) {
        const struct process_thread *thread = &process->threads.at[i];
        if ((long)thread->index == work->parts.most_of)
            return fmax(thread->wall - thread->cpu - thread->ready - outside, 0);
    }
    return 0;
}

static double sum_of_others(const struct parts *parts)
{
    return parts->mean * (double)parts->n - parts->most;
}

/* The excess is significant if it is larger than what the largest of n equal parts exceeds the mean
 * by chance, with 95 %. `waited`: seconds to subtract. */
static struct share excess_of(const struct parts *parts, double increment, double waited)
{
    double n = (double)parts->n, others = sum_of_others(parts);
    double own = 1 - 1 / n; /* most - mean = own most - others / n */
    double sigma = sqrt(13.0 / 12 * increment * (own * own * parts->most + others / (n * n)));
    double chance = fmax(INTERVAL_SIGMAS, sqrt(2 * log(20.0 * n)));
    double excess = fmax(parts->most - parts->mean - waited, 0);
    return (struct share){excess, fmax(excess - chance * sigma, 0), excess + INTERVAL_SIGMAS * sigma};
}

/* Threads that do not all live at the same time do not share work. */
static void add_shared(struct balance *balance, const struct facts *facts, struct shared_procedure *shared)
{
    char buffer[NAME_SIZE];
    const struct main_process *process = &facts->process;
    const char *name = database_procedure_name(facts->view->db, shared->procedure, buffer);
    struct shared_work work = {
        .place = shared->place, .is_construct = shared->is_construct, .is_of_library = shared->is_of_library};
    work.is_static_loop = work.is_construct && work.place.is_loop && strncmp(name, "parallel @", 10) == 0;
    autofree part_list list = {0};
    autofree double *by_profile = time_by_profile(facts->view, &shared->refs, facts->cpu);
    bool has_workers = work.is_construct || work.is_of_library;
    for (size_t i = 0; i < process->threads.n; i++) {
        const struct process_thread *thread = &process->threads.at[i];
        if (thread->profile >= database_n_profiles(facts->view->db))
            continue;
        /* All threads of Python and std::thread begin in the same procedure, whatever they do. */
        bool is_of_it = has_workers ? is_of_group(process, thread, by_profile)
                                    : strcmp(thread->start_routine, name) == 0;
        if (by_profile[thread->profile] > 0 || is_of_it)
            vec_push(&list, ((struct part){.number = (long)thread->index, .seconds = by_profile[thread->profile]}));
    }
    if (list.n >= 2 && list.n <= process->most_alive) {
        work.parts = compare_parts(&list);
        work.alone = fmax(work.parts.most - sum_of_others(&work.parts), 0);
        work.excess = excess_of(&work.parts, facts->cpu_increment, work.is_construct ? 0 : waited_itself(process, &work));
        vec_push(&balance->list, work);
    }
}

static struct balance balance_of_threads(const struct facts *facts)
{
    struct balance balance = {0};
    struct shared_procedures procedures = {.time = facts->cpu};
    struct limits limits = {.depth = NO_DEPTH_LIMIT,
                            .share = LEAST_SHARE / 10,
                            .by = {.metric = facts->cpu.metric, .part = INCLUSIVE}};
    struct visitor visitor = {.enter = enter, .context = &procedures};
    if (facts->process.threads.n < 2)
        return balance;
    procedures.are_go = modules_of_go(facts->view->db);
    walk_view(facts->view, facts->row, &limits, &visitor);
    procedures.collects_value_refs = true;
    if (procedures.list.n)
        walk_view(facts->view, facts->row, &limits, &visitor);
    for (size_t i = 0; i < procedures.list.n; i++) {
        struct shared_procedure *shared = &procedures.list.at[i];
        if (shared->seconds >= LEAST_SHARE * facts->process.cpu)
            add_shared(&balance, facts, shared);
        vec_free(&shared->refs.list);
    }
    vec_free(&procedures.list);
    free(procedures.are_go);
    return balance;
}

/* ---- Parts of ranks ---- */

/* Waits at later places are short. */
#define MOST_PLACES 32

/* The work of each thread, by number of its profile. */
struct rank_work {
    const struct database *db;
    const double *by_profile;
};

/* Sums up values of the threads of a process in run.json that have `least` seconds of work. Returns their number. */
static size_t sum_up(const struct rank_work *work, const json_t *process, double least, const double *by_profile,
                     double *sum)
{
    size_t n = 0;
    *sum = 0;
    json_each (thread, json_object_get(process, "threads")) {
        double number = run_number(thread, "profile");
        uint32_t profile = number > 0 && number < database_n_profiles(work->db) ? (uint32_t)number : 0;
        bool is_chosen = profile != 0 && (!work->db->has_profile || work->db->has_profile[profile]);
        if (!is_chosen || work->by_profile[profile] < least)
            continue;
        *sum += by_profile[profile];
        n++;
    }
    return n;
}

/* Finds where a rank waits longest, and for how long, on average over its threads that work: those of the MPI library
 * always wait. */
static double longest_wait(const struct facts *facts, const struct rank_work *work, const struct part *rank,
                           struct hotspot *place)
{
    double most = 0, least = LEAST_SHARE * rank->seconds;
    bool is_by_wall = facts->waiting == NO_METRIC;
    struct time_metric waiting = is_by_wall ? facts->thread_waits : (struct time_metric){facts->waiting, NO_METRIC};
    struct places_of_times all = {0};
    if (is_by_wall)
        all = places_of_times_find(facts->view, facts->row, &waiting, 1, true);
    struct time_places by_wall = time_places_of(facts->view, &all, 0);
    const struct time_places *places = is_by_wall ? &by_wall : &facts->waiting_places;
    for (size_t i = 0; i < places->list.n && i < MOST_PLACES; i++) {
        struct time_place *at = &places->list.at[i];
        autofree double *waits = time_by_profile(facts->view, &at->refs, waiting);
        double sum, n = (double)sum_up(work, rank->process, least, waits, &sum), seconds = n > 0 ? sum / n : 0;
        if (seconds > most)
            *place = hotspot_of_place(facts->view->db, at);
        most = fmax(seconds, most);
    }
    time_places_free(&by_wall);
    places_of_times_free(&all);
    return most;
}

/* Of the ranks with threads that were chosen. */
static struct rank_balance balance_of_ranks(const struct facts *facts)
{
    autofree part_list list = {0};
    struct rank_balance ranks = {0};
    autofree struct value_refs refs = {0};
    view_value_refs(facts->view, 0, INCLUSIVE, &refs);
    autofree double *values = time_by_profile(facts->view, &refs, facts->cpu);
    struct rank_work work = {facts->view->db, values};
    json_each (process, json_object_get(facts->run, "processes")) {
        struct part part = {.number = (long)run_rank(process), .process = process};
        if (part.number >= 0 && sum_up(&work, process, -INFINITY, values, &part.seconds) > 0)
            vec_push(&list, part);
    }
    ranks.parts = compare_parts(&list);
    if (list.n >= 2) {
        const struct part *least = &list.at[ranks.parts.least_at], *most = &list.at[ranks.parts.most_at];
        const json_t *initial = json_array_get(json_object_get(least->process, "threads"), 0);
        double wall_with_cpu = run_number(least->process, "wall") - run_number(initial, "ready");
        double waits = longest_wait(facts, &work, least, &ranks.place), seconds;
        size_t n = sum_up(&work, most->process, LEAST_SHARE * most->seconds, values, &seconds);
        ranks.waits = wall_with_cpu > 0 ? waits / wall_with_cpu : 0;
        double threads = fmax((double)n, 1);
        struct share excess = excess_of(&ranks.parts, facts->cpu_increment, 0);
        ranks.excess = (struct share){excess.value / threads, excess.low / threads, excess.high / threads};
    }
    return ranks;
}

struct balance balance_of(const struct facts *facts)
{
    struct balance balance = {0};
    if (facts->cpu.metric != NO_METRIC) {
        balance = balance_of_threads(facts);
        balance.ranks = balance_of_ranks(facts);
    }
    return balance;
}
