#include "viewer-tui/advice/balance.h"

#include "viewer-tui/db/database.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/walk.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Procedures with a smaller share of the CPU time are skipped. */
#define LEAST_SHARE 0.05

/* A procedure or construct that threads share. */
struct shared_procedure {
    uint32_t procedure;
    bool is_construct;
    double seconds, most; /* in all rows, and in the row with the most */
    struct hotspot place; /* in that row */
    struct value_refs refs; /* of its outermost calls */
};

struct shared_procedures {
    VEC(struct shared_procedure) list;
    struct time_metric time;
    enum code_owner whose;
    bool collects_value_refs; /* the second walk collects value refs */
};

static size_t index_of(const struct shared_procedures *procedures, uint32_t procedure)
{
    size_t i = 0;
    while (i < procedures->list.n && procedures->list.at[i].procedure != procedure)
        i++;
    return i;
}

/* Whether a row is the entry point of threads: "<thread root>" or "application thread". */
static bool is_entry_of_threads(const struct view *view, uint32_t row)
{
    struct v4_entry entry;
    if (view_row(view, row)->kind != KIND_ROOT ||
        !database_entry(view->db, view_row(view, row)->place, &entry, NULL))
        return false;
    return entry.kind != V4_MAIN_THREAD && entry.kind != V4_UNKNOWN_ENTRY;
}

/* Whether hpcprof named the procedure after a parallel region of OpenMP. */
static bool is_construct(const char *name)
{
    return strncmp(name, "parallel", strlen("parallel")) == 0 && strstr(name, " @ ");
}

static bool is_construct_row(const struct view *view, uint32_t row)
{
    char buffer[NAME_SIZE];
    return view_row(view, row)->kind == KIND_PROCEDURE &&
           is_construct(database_procedure_name(view->db, view_row(view, row)->place, buffer));
}

static bool is_in_construct(const struct view *view, uint32_t row)
{
    for (row = view_row(view, row)->parent; row != 0; row = view_row(view, row)->parent)
        if (is_construct_row(view, row))
            return true;
    return false;
}

/* Whether a row is the first code of that owner on the path of a created thread. */
static bool is_first_of_thread(const struct view *view, uint32_t row, enum code_owner whose)
{
    char buffer[NAME_SIZE];
    if (code_owner(view, row) < whose)
        return false;
    for (row = view_row(view, row)->parent; row != 0; row = view_row(view, row)->parent) {
        if (is_entry_of_threads(view, row))
            return true;
        if (!row_is_procedure(view_row(view, row)))
            continue;
        if (begins_thread(database_procedure_name(view->db, view_row(view, row)->place, buffer)))
            return true;
        if (code_owner(view, row) >= whose)
            return false;
    }
    return false;
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

static void add_row(struct shared_procedure *shared, struct view *view, uint32_t row, struct time_metric time)
{
    double seconds = time_cost(view, row, time, INCLUSIVE);
    shared->seconds += seconds;
    if (seconds > shared->most) {
        shared->most = seconds;
        shared->place = place_in(view, row, time);
    }
    view_value_refs(view, row, INCLUSIVE, &shared->refs);
}

static void enter(void *context, struct view *view, uint32_t row, uint32_t level)
{
    (void)level;
    struct shared_procedures *procedures = context;
    uint32_t procedure = view_row(view, row)->place;
    if (!row_is_procedure(view_row(view, row)))
        return;
    size_t i = index_of(procedures, procedure);
    if (!procedures->collects_value_refs) {
        bool is_region = is_construct_row(view, row);
        bool is_shared = (is_region || is_first_of_thread(view, row, procedures->whose)) && !is_in_construct(view, row);
        struct shared_procedure new = {.procedure = procedure, .is_construct = is_region};
        if (i == procedures->list.n && is_shared)
            vec_push(&procedures->list, new);
    } else if (i < procedures->list.n && !is_inside_of_itself(view, row)) {
        add_row(&procedures->list.at[i], view, row, procedures->time);
    }
}

static void walk(struct shared_procedures *procedures, struct view *view, uint32_t row)
{
    struct limits limits = {.depth = NO_DEPTH_LIMIT,
                            .share = LEAST_SHARE / 10,
                            .by = {.metric = procedures->time.metric, .part = INCLUSIVE}};
    struct visitor visitor = {.enter = enter, .context = procedures};
    walk_view(view, row, &limits, &visitor);
}

/* ---- Parts of threads ---- */

/* The part of a thread. */
struct part {
    const struct process_thread *thread;
    double seconds;
};

typedef VEC(struct part) part_list;

/* Whether a thread without a part belongs to the group: it began in the same procedure as one with
 * a part. */
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

static part_list parts_of(const struct view *view, struct value_refs *refs, struct time_metric time,
                          const struct main_process *process)
{
    part_list parts = {0};
    uint32_t n_profiles = database_n_profiles(view->db);
    double *by_profile = time_by_profile(view, refs, time);
    for (size_t i = 0; by_profile && i < process->threads.n; i++) {
        const struct process_thread *thread = &process->threads.at[i];
        if (thread->profile < n_profiles &&
            (by_profile[thread->profile] > 0 || is_of_group(process, thread, by_profile)))
            vec_push(&parts, ((struct part){thread, by_profile[thread->profile]}));
    }
    free(by_profile);
    return parts;
}

/* The excess is significant if it is larger than what the largest of n equal parts exceeds the mean
 * by chance, with 95 %. */
static void compare_parts(struct shared_work *work, const part_list *parts, double increment)
{
    double n = (double)parts->n;
    work->n = parts->n;
    for (size_t i = 0; i < parts->n; i++) {
        const struct part *part = &parts->at[i];
        work->mean += part->seconds / n;
        if (i == 0 || part->seconds > work->most) {
            work->most = part->seconds;
            work->most_of = part->thread->index;
        }
        if (i == 0 || part->seconds < work->least) {
            work->least = part->seconds;
            work->least_of = part->thread->index;
        }
    }
    double others = work->mean * n - work->most, own = 1 - 1 / n; /* most - mean = own most - others / n */
    double sigma = sqrt(13.0 / 12 * increment * (own * own * work->most + others / (n * n)));
    double chance = fmax(INTERVAL_SIGMAS, sqrt(2 * log(20.0 * n)));
    double excess = work->most - work->mean;
    work->alone = fmax(work->most - others, 0);
    work->excess =
        (struct share){excess, fmax(excess - chance * sigma, 0), excess + INTERVAL_SIGMAS * sigma};
}

/* Threads that do not all live at the same time do not share work. */
static void add_shared(struct balance *balance, const struct balanced *of, struct shared_procedure *shared)
{
    char buffer[NAME_SIZE];
    const char *name = database_procedure_name(of->view->db, shared->procedure, buffer);
    struct shared_work work = {.place = shared->place, .is_construct = shared->is_construct};
    work.is_static_loop = work.is_construct && work.place.is_loop && strncmp(name, "parallel @", 10) == 0;
    part_list parts = parts_of(of->view, &shared->refs, of->time, of->process);
    if (parts.n >= 2 && parts.n <= of->process->most_alive) {
        compare_parts(&work, &parts, of->increment);
        vec_push(&balance->list, work);
    }
    vec_free(&parts);
}

struct balance balance_of(const struct balanced *of)
{
    struct balance balance = {0};
    struct shared_procedures procedures = {.time = of->time, .whose = of->whose};
    if (of->process->threads.n < 2)
        return balance;
    walk(&procedures, of->view, of->row);
    procedures.collects_value_refs = true;
    if (procedures.list.n)
        walk(&procedures, of->view, of->row);
    for (size_t i = 0; i < procedures.list.n; i++) {
        struct shared_procedure *shared = &procedures.list.at[i];
        if (shared->seconds >= LEAST_SHARE * of->process->cpu)
            add_shared(&balance, of, shared);
        vec_free(&shared->refs.list);
    }
    vec_free(&procedures.list);
    return balance;
}

/* ---- Parts of ranks ---- */

/* The sum of values of the threads of a process in run.json. */
static double sum_of_process(const json_t *process, const double *by_profile, uint32_t n_profiles)
{
    size_t i;
    json_t *thread;
    double sum = 0;
    json_array_foreach(json_object_get(process, "threads"), i, thread)
    {
        double profile = run_number(thread, "profile");
        sum += profile > 0 && profile < n_profiles ? by_profile[(uint32_t)profile] : 0;
    }
    return sum;
}

/* The seconds of a process in which its initial thread did not want for a CPU. */
static double wall_with_cpu(const json_t *process)
{
    const json_t *initial = json_array_get(json_object_get(process, "threads"), 0);
    return run_number(process, "wall") - run_number(initial, "ready");
}

/* Compares the ranks by their values; returns the process with the least. */
static const json_t *compare_ranks(struct rank_balance *ranks, const json_t *run, const double *by_profile,
                                   uint32_t n_profiles)
{
    size_t i;
    json_t *process;
    const json_t *least = NULL;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        long rank = (long)run_rank(process);
        double seconds = sum_of_process(process, by_profile, n_profiles);
        if (rank < 0)
            continue;
        if (ranks->n == 0 || seconds > ranks->most) {
            ranks->most = seconds;
            ranks->most_of = rank;
        }
        if (ranks->n == 0 || seconds < ranks->least) {
            ranks->least = seconds;
            ranks->least_of = rank;
            least = process;
        }
        ranks->mean = (ranks->mean * (double)ranks->n + seconds) / (double)(ranks->n + 1);
        ranks->n++;
    }
    return least;
}

struct rank_balance rank_balance_of(struct view *view, struct time_metric time, size_t waiting,
                                    struct time_places *places, const json_t *run)
{
    struct rank_balance ranks = {0};
    uint32_t n_profiles = database_n_profiles(view->db);
    struct value_refs refs = {0};
    view_value_refs(view, 0, INCLUSIVE, &refs);
    double *work = time_by_profile(view, &refs, time);
    const json_t *least = work ? compare_ranks(&ranks, run, work, n_profiles) : NULL;
    if (ranks.n >= 2 && places->list.n) {
        struct time_place *most = &places->list.at[0];
        double *waits = time_by_profile(view, &most->refs, (struct time_metric){waiting, NO_METRIC});
        double wall = wall_with_cpu(least);
        ranks.waits = waits && wall > 0 ? sum_of_process(least, waits, n_profiles) / wall : 0;
        ranks.place = hotspot_of_place(view->db, most);
        free(waits);
    }
    free(work);
    vec_free(&refs.list);
    return ranks;
}
