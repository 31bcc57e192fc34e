#include "viewer-tui/advice/run-phases.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/code-owner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bins of a run at most; samples that one has on average, or those that a thread which never sleeps would have in it;
 * and the least length in mean intervals of a record. */
#define MOST_BINS     500
#define LEAST_SAMPLES 4
#define LEAST_RECORDS 2

/* A phase with a smaller share of work, of the time of threads in code, is one of waiting; one with fewer threads
 * that may use a CPU, on average, is quiet. */
#define LEAST_WORK 0.05

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

/* What threads did in equal parts of a piece of time, in mean record sizes, by bin and kind. */
struct bins {
    struct time_range range;
    size_t n;
    double *counts;
};

struct phase_search {
    struct database *db;
    const struct timeline *timeline;
    uint32_t *procedures; /* by place: the user's own; NOTHING */
    uint8_t *kinds;       /* by place: that of its work */
    double increment;     /* mean size of a record, fixed point */
    double interval;      /* its ns; 0 if the event is no time */
};

/* ---- procedures ---- */

static void find_procedures(struct phase_search *search)
{
    struct database *db = search->db;
    autofree uint32_t *node_of = mem_alloc((db->values.n_index + 1) * sizeof *node_of);
    uint64_t near = 0;
    for (uint32_t node = 0; node < db->nodes->n; node++)
        if (db->nodes->position[node] != NOTHING)
            node_of[db->nodes->position[node]] = node;
    for (uint64_t place = 0; place < search->timeline->header.n_places; place++) {
        uint64_t position = values_position(&db->values, search->timeline->places[place].logical, near);
        bool is_there = position != NO_POSITION && search->timeline->places[place].logical;
        search->procedures[place] = is_there ? code_own_procedure(db, node_of[position]) : NOTHING;
        near = is_there ? position : near;
    }
}

static bool is_at_work(enum trace_state state)
{
    return state == TRACE_WORK || state == TRACE_OVERHEAD;
}

static bool waits_there(enum trace_state state)
{
    return state == TRACE_WAITING || state == TRACE_OFF_CPU;
}

/* Adds the time of each procedure in some states, by its id. */
static void add_times(const struct phase_search *search, const struct record_sums *sums,
                      bool (*counts)(enum trace_state state), double *times)
{
    for (size_t i = 0; i < sums->list.n; i++) {
        const struct record_sum *sum = &sums->list.at[i];
        uint32_t procedure = search->procedures[sum->place];
        if (counts(sum->state) && procedure != NOTHING)
            times[procedure] += (double)sum->amount;
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
    autofree double *work = mem_alloc((n + 1) * sizeof *work);
    add_times(search, all, is_at_work, work);
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

static uint64_t bin_begin(const struct bins *bins, size_t bin)
{
    uint64_t length = bins->range.to - bins->range.from;
    return bins->range.from + (uint64_t)((unsigned __int128)length * bin / bins->n);
}

static size_t bin_of(const struct bins *bins, uint64_t time)
{
    uint64_t length = bins->range.to - bins->range.from;
    if (time <= bins->range.from)
        return 0;
    size_t bin = (size_t)((unsigned __int128)(time - bins->range.from) * bins->n / (length + 1));
    return bin < bins->n ? bin : bins->n - 1;
}

/* Divides a record among the bins of its interval. */
static void add_piece(const struct phase_search *search, struct bins *bins, const struct timeline_piece *piece)
{
    int kind = kind_of(search, piece);
    double count = (double)piece->amount / search->increment, length = (double)(piece->end - piece->begin);
    for (size_t bin = bin_of(bins, piece->begin); bin <= bin_of(bins, piece->end) && kind < KINDS; bin++) {
        double from = fmax((double)bin_begin(bins, bin), (double)piece->begin);
        double to = fmin((double)bin_begin(bins, bin + 1), (double)piece->end);
        double part = length > 0 ? fmax(to - from, 0) / length : 1;
        bins->counts[bin * KINDS + (size_t)kind] += count * part;
    }
}

/* The caller frees the counts. */
static struct bins bins_of(const struct phase_search *search, struct time_range range, size_t n)
{
    struct bins bins = {.range = range, .n = n, .counts = mem_alloc((n * KINDS + 1) * sizeof(double))};
    for (uint32_t t = 0; t < search->timeline->header.n_threads; t++) {
        const struct timeline_thread *thread = &search->timeline->threads[t];
        uint64_t i = timeline_find(search->timeline, thread, range.from ? range.from + 1 : 0);
        for (; i < thread->n_records; i++) {
            struct timeline_piece piece = timeline_piece(search->timeline, thread, i);
            if (piece.begin > range.to || (piece.begin == range.to && piece.end > range.to))
                break;
            add_piece(search, &bins, &piece);
        }
    }
    return bins;
}

/* Bins are so wide that they have samples enough, unless threads sleep, and that a record is not in many of them. They
 * have a nanosecond at least, whatever a damaged file says of amounts. */
static size_t number_of_bins(struct phase_search *search, const struct record_sums *all)
{
    double amount = 0;
    for (size_t i = 0; i < all->list.n; i++)
        amount += (double)all->list.at[i].amount;
    search->increment = amount > 0 ? all->squares / amount : 1;
    search->interval = search->timeline->is_time ? timeline_amount(search->timeline, search->increment) * 1e9 : 0;
    double n = amount / search->increment / LEAST_SAMPLES;
    if (search->interval > 0) {
        double intervals = (double)search->timeline->end / search->interval;
        n = fmin(fmax(n, intervals / LEAST_SAMPLES), intervals / LEAST_RECORDS);
    }
    return (size_t)fmin(n, fmin((double)search->timeline->end, MOST_BINS));
}

/* ---- cuts ---- */

/* Bins, to each side of a cut, among which its place is looked for, and the parts of a record's interval. */
#define LOOKED_AT 2
#define PARTS     4
#define MOST_FINE ((size_t)1 << 14)

/* Adds up the counts of bins from .. to-1, as rates for a nanosecond. */
static void rates_of(const struct bins *bins, size_t from, size_t to, double rates[KINDS])
{
    double length = (double)(bin_begin(bins, to) - bin_begin(bins, from));
    for (size_t k = 0; k < KINDS; k++) {
        rates[k] = 0.5; /* what was not seen is not impossible */
        for (size_t bin = from; bin < to; bin++)
            rates[k] += bins->counts[bin * KINDS + k];
        rates[k] /= length;
    }
}

/* Where the phase with bins from .. cut-1 most likely ends and the one with cut .. to-1 begins: as accurate as records
 * are, if the phases differ enough. */
static uint64_t place_of_cut(const struct phase_search *search, const struct bins *bins, size_t from, size_t cut,
                             size_t to)
{
    double before[KINDS], after[KINDS], gain = 0, most = 0;
    struct time_range range = {bin_begin(bins, cut > from + LOOKED_AT ? cut - LOOKED_AT : from),
                               bin_begin(bins, cut + LOOKED_AT < to ? cut + LOOKED_AT : to)};
    double length = (double)(range.to - range.from);
    if (!(search->interval > 0))
        return bin_begin(bins, cut);
    struct bins fine = bins_of(search, range, (size_t)fmin(ceil(PARTS * length / search->interval), MOST_FINE));
    size_t best = 0;
    rates_of(bins, from, cut, before);
    rates_of(bins, cut, to, after);
    for (size_t i = 0; i < fine.n; i++) {
        for (size_t k = 0; k < KINDS; k++)
            gain += fine.counts[i * KINDS + k] * log(before[k] / after[k]) -
                    (before[k] - after[k]) * length / (double)fine.n;
        best = gain > most ? i + 1 : best;
        most = fmax(most, gain);
    }
    uint64_t place = bin_begin(&fine, best);
    free(fine.counts);
    return place;
}

/* ---- phases ---- */

static struct phase phase_of(const struct phase_search *search, struct time_range range)
{
    const struct timeline *timeline = search->timeline;
    struct phase phase = {.range = range};
    struct record_sums sums = sums_of(timeline, range);
    uint32_t n = database_n_procedures(search->db);
    autofree double *work = mem_alloc((n + 1) * sizeof *work);
    for (size_t i = 0; i < sums.list.n; i++) {
        const struct record_sum *sum = &sums.list.at[i];
        struct payments paid = record_payments(timeline, sum);
        phase.states[sum->state] += timeline_amount(timeline, (double)sum->amount);
        for (int metric = 0; metric < RECORD_METRICS; metric++)
            phase.paid[metric] += timeline_amount(timeline, paid.of[metric]);
    }
    double at_work = phase.states[TRACE_WORK] + phase.states[TRACE_OVERHEAD];
    double waits = phase.states[TRACE_WAITING] + phase.states[TRACE_OFF_CPU];
    add_times(search, &sums, at_work >= LEAST_WORK * (at_work + waits) ? is_at_work : waits_there, work);
    phase.procedure = largest(work, n);
    bool has_length = timeline->is_time && range.to > range.from;
    phase.working = has_length ? at_work / phase_length(&phase) : NAN;
    double seconds = 0; /* on a CPU */
    for (int state = 0; state < TRACE_STATES; state++)
        seconds += state == TRACE_READY || state == TRACE_OFF_CPU ? 0 : phase.states[state];
    if (has_length) {
        phase.is_quiet = seconds < LEAST_WORK * phase_length(&phase);
        if (seconds + phase.states[TRACE_OFF_CPU] < LEAST_WORK * phase_length(&phase))
            phase.procedure = NOTHING;
    }
    record_sums_free(&sums);
    return phase;
}

static void find_phases(struct phase_search *search, size_t n_bins, struct phases *phases)
{
    size_t ends[MOST_PHASES];
    struct bins bins = bins_of(search, (struct time_range){0, search->timeline->end}, n_bins);
    uint64_t begin = 0;
    phases->n = change_points(bins.counts, bins.n, KINDS, ends);
    for (size_t i = 0; i < phases->n; i++) {
        uint64_t end = i + 1 == phases->n
                           ? bins.range.to
                           : place_of_cut(search, &bins, i ? ends[i - 1] : 0, ends[i], ends[i + 1]);
        phases->at[i] = phase_of(search, (struct time_range){begin, end});
        begin = end;
    }
    free(bins.counts);
}

struct phases phases_find(struct database *db, const struct timeline *timeline)
{
    struct phases phases = {.n = 1};
    struct phase_search search = {.db = db, .timeline = timeline};
    struct time_range whole = {0, timeline->end};
    struct record_sums all = sums_of(timeline, whole);
    search.procedures = mem_alloc((timeline->header.n_places + 1) * sizeof *search.procedures);
    search.kinds = mem_alloc(timeline->header.n_places + 1);
    find_procedures(&search);
    choose_kinds(&search, &all);
    phases.n_bins = number_of_bins(&search, &all);
    if (phases.n_bins >= LEAST_BINS)
        find_phases(&search, phases.n_bins, &phases);
    else
        phases.at[0] = phase_of(&search, whole);
    record_sums_free(&all);
    free(search.procedures);
    free(search.kinds);
    return phases;
}

const char *phase_place(const struct database *db, const struct phase *phase, char buffer[NAME_SIZE])
{
    if (phase->procedure == NOTHING)
        return NULL;
    const char *module = database_module_path(db, database_procedure(db, phase->procedure).module);
    bool has_name = !module || database_procedure_has_name(db, phase->procedure);
    return has_name ? database_procedure_name(db, phase->procedure, buffer) : path_name(module);
}
