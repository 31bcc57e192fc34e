/* Threads with unequal parts of a procedure's work: the others wait for the one with the most.
 *
 * The procedure that threads share is the first one of user code on their paths: the start routine
 * or, below a runtime's procedures, the body of a parallel loop, which the main thread runs, too.
 * If its threads have CPU times c with mean m, the longest is busy for max c - m longer than with
 * equal parts; the run gets shorter by that at most. */
#include "viewer-tui/advice/situation.h"

#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/thread-values.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/walk.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smaller gains are not reported; close to what judgement.h calls fine. */
#define LEAST_GAIN 1.05

/* Procedures with a smaller share of the CPU time are skipped. */
#define LEAST_SHARE 0.05

/* A procedure that threads share. */
struct shared_procedure {
    uint32_t procedure;
    double seconds;
    struct value_refs refs; /* of its outermost calls */
};

struct shared_procedures {
    VEC(struct shared_procedure) list;
    const json_t *run;
    struct time_metric time;
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

/* Whether a row is the first user code on the path of a created thread. */
static bool is_first_of_thread(const struct view *view, uint32_t row, const json_t *run)
{
    char buffer[NAME_SIZE];
    if (!is_user_code(view, row, run))
        return false;
    for (row = view_row(view, row)->parent; row != 0; row = view_row(view, row)->parent) {
        if (is_entry_of_threads(view, row))
            return true;
        if (!row_is_procedure(view_row(view, row)))
            continue;
        if (begins_thread(database_procedure_name(view->db, view_row(view, row)->place, buffer)))
            return true;
        if (is_user_code(view, row, run))
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

static void enter(void *context, struct view *view, uint32_t row, uint32_t level)
{
    (void)level;
    struct shared_procedures *procedures = context;
    const struct row *at = view_row(view, row);
    if (!row_is_procedure(at))
        return;
    size_t i = index_of(procedures, at->place);
    if (!procedures->collects_value_refs) {
        if (i == procedures->list.n && is_first_of_thread(view, row, procedures->run))
            vec_push(&procedures->list, ((struct shared_procedure){.procedure = at->place}));
    } else if (i < procedures->list.n && !is_inside_of_itself(view, row)) {
        struct shared_procedure *shared = &procedures->list.at[i];
        shared->seconds += time_cost(view, row, procedures->time, INCLUSIVE);
        view_value_refs(view, row, INCLUSIVE, &shared->refs);
    }
}

static void walk(struct shared_procedures *procedures, const struct situation *situation)
{
    struct limits limits = {.depth = NO_DEPTH_LIMIT,
                            .share = LEAST_SHARE / 10,
                            .by = {.metric = procedures->time.metric, .part = INCLUSIVE}};
    struct visitor visitor = {.enter = enter, .context = procedures};
    walk_view(situation->view, situation->row, &limits, &visitor);
}

/* How evenly threads share a procedure. */
struct balance {
    size_t n; /* number of threads that share it */
    double mean, most;
    double alone;        /* seconds of the maximum minus those of all other threads, at least 0 */
    struct share excess; /* seconds of the maximum over the mean */
};

/* The excess is significant if it is larger than what the largest of n equal parts exceeds the mean
 * by chance, with 95 %. */
static struct balance balance_of(const double *seconds, size_t n, double increment)
{
    struct balance balance = {.n = n};
    for (size_t i = 0; i < n; i++) {
        balance.mean += seconds[i] / (double)n;
        balance.most = fmax(balance.most, seconds[i]);
    }
    double sigma = sqrt(13.0 / 12 * increment * balance.most);
    double chance = fmax(INTERVAL_SIGMAS, sqrt(2 * log(20.0 * (double)n)));
    double excess = balance.most - balance.mean;
    balance.alone = fmax(2 * balance.most - balance.mean * (double)n, 0);
    balance.excess =
        (struct share){excess, fmax(excess - chance * sigma, 0), excess + INTERVAL_SIGMAS * sigma};
    return balance;
}

static double *values_by_profile(const struct situation *situation, struct value_refs *refs)
{
    size_t n = database_n_profiles(situation->view->db) + 1;
    double *cpu = mem_alloc(n * sizeof *cpu), *without = NULL;
    enum outcome outcome = thread_values(situation->view->db, refs, situation->cpu.metric, cpu);
    if (outcome == DONE && situation->cpu.without != NO_METRIC) {
        without = mem_alloc(n * sizeof *without);
        outcome = thread_values(situation->view->db, refs, situation->cpu.without, without);
        for (size_t i = 0; outcome == DONE && i < n; i++)
            cpu[i] -= without[i];
        free(without);
    }
    if (outcome == DONE)
        return cpu;
    free(cpu);
    return NULL;
}

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

static struct balance balance_of_procedure(const struct situation *situation,
                                           struct shared_procedure *shared)
{
    const struct main_process *process = &situation->process;
    uint32_t n_profiles = database_n_profiles(situation->view->db);
    double *by_profile = values_by_profile(situation, &shared->refs);
    double *seconds = mem_alloc((process->threads.n + 1) * sizeof *seconds);
    size_t n = 0;
    for (size_t i = 0; by_profile && i < process->threads.n; i++) {
        const struct process_thread *thread = &process->threads.at[i];
        if (thread->profile < n_profiles &&
            (by_profile[thread->profile] > 0 || is_of_group(process, thread, by_profile)))
            seconds[n++] = by_profile[thread->profile];
    }
    struct balance balance = balance_of(seconds, n, situation->cpu_increment);
    free(seconds);
    free(by_profile);
    return balance;
}

static double factor(const struct main_process *process, double excess)
{
    return excess < process->wall ? process->wall / (process->wall - excess) : INFINITY;
}

/* The line with the most own time in a procedure; NULL if there is none. */
static const struct time_place *place_in(const struct situation *situation, uint32_t procedure)
{
    const struct time_places *places = &situation->cpu_places;
    for (size_t i = 0; i < places->list.n; i++)
        if (places->list.at[i].is_user_code && places->list.at[i].procedure == procedure)
            return &places->list.at[i];
    return NULL;
}

/* Returns the seconds that it explains, in which the longest thread runs alone. */
static double add_imbalance(const struct situation *situation, struct shared_procedure *shared,
                            struct findings *findings)
{
    const struct main_process *process = &situation->process;
    struct balance balance = balance_of_procedure(situation, shared);
    struct gain gain = {factor(process, balance.excess.value), factor(process, balance.excess.low),
                        factor(process, balance.excess.high)};
    struct text text = {0};
    if (balance.n < 2 || gain.low < LEAST_GAIN || !process->is_only_one)
        return 0;
    struct procedure procedure = database_procedure(situation->view->db, shared->procedure);
    struct time_place place = {
        .procedure = shared->procedure, .file = procedure.file, .line = procedure.line};
    const struct time_place *most = place_in(situation, shared->procedure);
    text_printf(&text, "Unequal parts: of the %zu threads in ", balance.n);
    label_in_sentence(situation->view->db, shared->procedure, &text);
    if (most && most->loop_line) {
        place.file = most->loop_file;
        place.line = most->loop_line;
    }
    if (place.file != NOTHING && place.line) {
        text_add(&text, ", ");
        label_file_line(situation->view->db, place.file, place.line, &text);
    }
    text_add(&text, ", one has ");
    add_seconds(&text, balance.most);
    text_add(&text, " of CPU time, the mean is ");
    add_seconds(&text, balance.mean);
    text_add(&text, ". With equal parts at most ");
    gain_describe(&gain, &text);
    text_add(&text, ".");
    struct finding *finding = findings_add(findings, FINDING_IMBALANCE, &text);
    finding_set_place(finding, &place);
    finding_set_gain(finding, gain);
    vec_free(&text);
    return balance.alone;
}

double find_imbalance(const struct situation *situation, struct findings *findings)
{
    double explained = 0;
    struct shared_procedures procedures = {.run = situation->run, .time = situation->cpu};
    if (situation->cpu.metric == NO_METRIC || situation->process.threads.n < 2 ||
        !(situation->process.wall > 0))
        return 0;
    walk(&procedures, situation);
    procedures.collects_value_refs = true;
    if (procedures.list.n)
        walk(&procedures, situation);
    for (size_t i = 0; i < procedures.list.n; i++) {
        struct shared_procedure *shared = &procedures.list.at[i];
        if (shared->seconds >= LEAST_SHARE * situation->process.cpu)
            explained += add_imbalance(situation, shared, findings);
        vec_free(&shared->refs.list);
    }
    vec_free(&procedures.list);
    return explained;
}
