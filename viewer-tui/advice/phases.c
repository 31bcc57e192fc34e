#include "viewer-tui/advice/phases.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/code-owner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bins of a run at most, samples in one at least, and the least length in mean intervals of a record. */
#define MOST_BINS     500
#define LEAST_SAMPLES 8
#define LEAST_RECORDS 2

/* Kinds of time that bins count: work in each of some procedures, in others, and the other states. */
#define MOST_PROCEDURES 8
enum {
    OTHER_WORK = MOST_PROCEDURES,
    IN_OVERHEAD,
    IN_WAITING,
    IN_IDLENESS,
    IN_READY,
    IN_OFF_CPU,
    KINDS
};

struct phase_search {
    struct database *db;
    const struct timeline *timeline;
    uint32_t *procedures; /* by place: the user's own; NOTHING */
    uint8_t *kinds;       /* by place: that of its work */
    double *counts;       /* in record sizes; by bin and kind */
    size_t n_bins;
    double increment; /* mean size of a record, fixed point */
};

/* ---- procedures ---- */

/* The innermost procedure of the user's own around a node; else the innermost one with a name. */
static uint32_t procedure_around(struct database *db, uint32_t node)
{
    const struct nodes *nodes = db->nodes;
    uint32_t found = NOTHING;
    for (node = nodes->procedure[node]; is_procedure_kind(nodes->kind[node]); node = nodes_caller(nodes, node)) {
        struct procedure procedure = database_procedure(db, nodes->place[node]);
        uint32_t around = node;
        while (nodes->kind[around] == KIND_INLINED)
            around = nodes_caller(nodes, around);
        uint32_t module = procedure.module;
        if (module == NOTHING && is_procedure_kind(nodes->kind[around]))
            module = database_procedure(db, nodes->place[around]).module;
        if (code_owner_of_procedure(db, nodes->place[node], module) == CODE_OWN)
            return nodes->place[node];
        if (found == NOTHING && procedure.name)
            found = nodes->place[node];
    }
    return found;
}

static void find_procedures(struct phase_search *search)
{
    struct database *db = search->db;
    uint32_t *node_of = mem_alloc((db->values.n_index + 1) * sizeof *node_of);
    uint64_t near = 0;
    for (uint32_t node = 0; node < db->nodes->n; node++)
        if (db->nodes->position[node] != NOTHING)
            node_of[db->nodes->position[node]] = node;
    for (uint64_t place = 0; place < search->timeline->header.n_places; place++) {
        uint64_t position = values_position(&db->values, search->timeline->places[place].logical, near);
        bool is_there = position != NO_POSITION && search->timeline->places[place].logical;
        search->procedures[place] = is_there ? procedure_around(db, node_of[position]) : NOTHING;
        near = is_there ? position : near;
    }
    free(node_of);
}

static bool is_at_work(enum trace_state state)
{
    return state == TRACE_WORK || state == TRACE_OVERHEAD;
}

/* Adds the work of each procedure, by its id. */
static void add_work(const struct phase_search *search, const struct record_sums *sums, double *work)
{
    for (size_t i = 0; i < sums->list.n; i++) {
        const struct record_sum *sum = &sums->list.at[i];
        uint32_t procedure = search->procedures[sum->place];
        if (is_at_work(sum->state) && procedure != NOTHING)
            work[procedure] += (double)sum->amount;
    }
}

static uint32_t largest(const double *work, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < n; i++)
        if (work[i] > work[most])
            most = i;
    return n && work[most] > 0 ? most : NOTHING;
}

/* The records of all threads in a piece of time. The caller frees. */
static struct record_sums sums_of(const struct timeline *timeline, struct time_range range)
{
    struct record_sums sums = {0};
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        record_sums_add(&sums, timeline, &timeline->threads[t], range);
    return sums;
}

/* Chooses the procedures that are told apart: those with most of the work. */
static void choose_kinds(struct phase_search *search, const struct record_sums *all)
{
    uint32_t n = database_n_procedures(search->db);
    double *work = mem_alloc((n + 1) * sizeof *work);
    add_work(search, all, work);
    memset(search->kinds, OTHER_WORK, search->timeline->header.n_places);
    for (uint8_t kind = 0; kind < MOST_PROCEDURES; kind++) {
        uint32_t procedure = largest(work, n);
        if (procedure == NOTHING)
            break;
        work[procedure] = 0;
        for (uint64_t place = 0; place < search->timeline->header.n_places; place++)
            if (search->procedures[place] == procedure)
                search->kinds[place] = kind;
    }
    free(work);
}

/* ---- bins ---- */

/* The kind of time of a record; KINDS: it counts for none. */
static int kind_of(const struct phase_search *search, const struct timeline_piece *piece)
{
    switch (piece->state) {
    case TRACE_WORK: return search->kinds[piece->place - search->timeline->places];
    case TRACE_OVERHEAD: return IN_OVERHEAD;
    case TRACE_WAITING: return IN_WAITING;
    case TRACE_IDLE:
    case TRACE_NOBODY: return IN_IDLENESS;
    case TRACE_READY: return IN_READY;
    case TRACE_OFF_CPU: return IN_OFF_CPU;
    default: return KINDS;
    }
}

static uint64_t bin_begin(const struct phase_search *search, size_t bin)
{
    return (uint64_t)((unsigned __int128)search->timeline->end * bin / search->n_bins);
}

static size_t bin_of(const struct phase_search *search, uint64_t time)
{
    size_t bin = (size_t)((unsigned __int128)time * search->n_bins / (search->timeline->end + 1));
    return bin < search->n_bins ? bin : search->n_bins - 1;
}

/* Divides a record among the bins of its interval. */
static void add_piece(struct phase_search *search, const struct timeline_piece *piece)
{
    int kind = kind_of(search, piece);
    size_t first = bin_of(search, piece->begin), last = bin_of(search, piece->end);
    double count = (double)piece->amount / search->increment, length = (double)(piece->end - piece->begin);
    for (size_t bin = first; bin <= last && kind < KINDS; bin++) {
        double from = fmax((double)bin_begin(search, bin), (double)piece->begin);
        double to = fmin((double)bin_begin(search, bin + 1), (double)piece->end);
        double part = first == last ? 1 : fmax(to - from, 0) / length;
        search->counts[bin * KINDS + (size_t)kind] += count * part;
    }
}

static void fill_bins(struct phase_search *search)
{
    const struct timeline *timeline = search->timeline;
    search->counts = mem_alloc((search->n_bins * KINDS + 1) * sizeof *search->counts);
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        for (uint64_t i = 0; i < timeline->threads[t].n_records; i++) {
            struct timeline_piece piece = timeline_piece(timeline, &timeline->threads[t], i);
            add_piece(search, &piece);
        }
}

/* Bins are so wide that they have samples enough, and that a record is not in many of them. */
static size_t number_of_bins(const struct timeline *timeline, const struct record_sums *all, double *increment)
{
    double amount = 0;
    for (size_t i = 0; i < all->list.n; i++)
        amount += (double)all->list.at[i].amount;
    *increment = amount > 0 ? all->squares / amount : 1;
    double n = fmin(MOST_BINS, amount / *increment / LEAST_SAMPLES);
    double interval = timeline->is_time ? timeline_amount(timeline, *increment) * 1e9 : 0;
    return interval > 0 ? (size_t)fmin(n, (double)timeline->end / (LEAST_RECORDS * interval)) : (size_t)n;
}

/* ---- phases ---- */

static struct phase phase_of(const struct phase_search *search, struct time_range range)
{
    const struct timeline *timeline = search->timeline;
    struct phase phase = {.range = range};
    struct record_sums sums = sums_of(timeline, range);
    uint32_t n = database_n_procedures(search->db);
    double *work = mem_alloc((n + 1) * sizeof *work);
    for (size_t i = 0; i < sums.list.n; i++) {
        const struct record_sum *sum = &sums.list.at[i];
        struct payments paid = record_payments(timeline, sum);
        phase.states[sum->state] += timeline_amount(timeline, (double)sum->amount);
        for (int metric = 0; metric < RECORD_METRICS; metric++)
            phase.paid[metric] += timeline_amount(timeline, paid.of[metric]);
    }
    add_work(search, &sums, work);
    phase.procedure = largest(work, n);
    double at_work = phase.states[TRACE_WORK] + phase.states[TRACE_OVERHEAD];
    phase.working = timeline->is_time && range.to > range.from ? at_work / phase_length(&phase) : NAN;
    free(work);
    record_sums_free(&sums);
    return phase;
}

struct phases phases_find(struct database *db, const struct timeline *timeline)
{
    struct phases phases = {0};
    struct phase_search search = {.db = db, .timeline = timeline};
    struct record_sums all = sums_of(timeline, (struct time_range){0, timeline->end});
    size_t ends[MOST_PHASES] = {1};
    search.procedures = mem_alloc((timeline->header.n_places + 1) * sizeof *search.procedures);
    search.kinds = mem_alloc(timeline->header.n_places + 1);
    search.n_bins = number_of_bins(timeline, &all, &search.increment);
    find_procedures(&search);
    choose_kinds(&search, &all);
    if (search.n_bins >= LEAST_BINS)
        fill_bins(&search);
    else
        search.n_bins = 1;
    phases.n = search.counts ? change_points(search.counts, search.n_bins, KINDS, ends) : 1;
    for (size_t i = 0; i < phases.n; i++)
        phases.at[i] = phase_of(&search, (struct time_range){i ? bin_begin(&search, ends[i - 1]) : 0,
                                                             bin_begin(&search, ends[i])});
    record_sums_free(&all);
    free(search.procedures);
    free(search.kinds);
    free(search.counts);
    return phases;
}
