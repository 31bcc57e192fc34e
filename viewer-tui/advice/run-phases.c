#include "viewer-tui/advice/run-phases.h"

#include "viewer-tui/advice/path-points.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/time-samples.h"
#include "viewer-tui/timeline/at-work.h"
#include "viewer-tui/timeline/place-scopes.h"
#include "viewer-tui/timeline/time-cells.h"

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

/* Largest precision (1 / variance) of what one thread adds to the number of threads at work in a bin. A judgement: with
 * 500 bins, a phase with one thread fewer of 2 is found from 2 % of the run on, with 4 fewer of 16 from 1.2 %, with one
 * fewer of 16 from 20 %. */
#define MOST_PRECISION 25

/* Kinds of time that bins count: work of each kind of call paths, and the other states. */
enum {
    IN_OVERHEAD = MOST_PATH_KINDS,
    IN_WAITING,
    IN_IDLENESS,
    IN_READY,
    IN_OFF_CPU,
    AT_WORK, /* threads that are at work, with or without a CPU: see precision_of */
    KINDS
};

/* What threads did in equal parts of a piece of time, in mean record sizes, by bin and kind. */
struct bins {
    const struct phase_search *search;
    const struct time_samples *sample; /* that is being added */
    unsigned n;
    uint64_t *bounds; /* time_window_bounds */
    double *counts;
};

struct phase_search {
    struct database *db;
    const struct timeline *timeline;
    struct place_scopes scopes;
    uint8_t *kinds;   /* by place: that of its work */
    double increment; /* mean size of a record, fixed point */
    double interval;  /* its ns; 0 if the event is no time */
    double width;     /* ns of a bin of the whole run */
    struct at_work *at_work; /* by thread; NULL if the event is no time */
};

/* ---- places ---- */

static bool is_at_work(enum trace_state state)
{
    return state == TRACE_WORK || state == TRACE_OVERHEAD;
}

static bool waits_there(enum trace_state state)
{
    return state == TRACE_WAITING || state == TRACE_OFF_CPU;
}

/* The records of all threads in a piece of time. The caller frees. */
static struct record_sums sums_of(const struct timeline *timeline, struct time_range range)
{
    struct record_sums sums = {0};
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        record_sums_add(&sums, timeline, &timeline->threads[t], range);
    return sums;
}

static void find_kinds(struct phase_search *search, const struct record_sums *all)
{
    struct path_points points = path_points_of(all, search->scopes.node, is_at_work);
    path_kinds_find(search->db, &points, search->scopes.node, search->scopes.n, search->kinds);
    vec_free(&points.list);
}

/* ---- bins ---- */

/* The kind of time of a record; KINDS: it counts for none. */
static int kind_of(const struct phase_search *search, enum trace_state state, uint32_t place)
{
    switch (state) {
    case TRACE_WORK: return search->kinds[place];
    case TRACE_OVERHEAD: return IN_OVERHEAD;
    case TRACE_WAITING: return IN_WAITING;
    case TRACE_IDLE:
    case TRACE_NOBODY: return IN_IDLENESS;
    case TRACE_READY: return IN_READY;
    case TRACE_OFF_CPU: return IN_OFF_CPU;
    default: return KINDS;
    }
}

/* 1 / variance of what a thread adds to the number of threads at work in a bin:
 *
 *   1. A record says that its thread worked at some time since the record before. So each end of a stretch of work is
 *      known within `spacing`, with a variance of spacing²/4 at most (Popoviciu), and its length with spacing²/2.
 *   2. Stretches are more than `gap` apart. So a time as long as `gap` has the begin and the end of one at most.
 *   3. Such a time has gap / width bins. Each gets its part of the variance: width × spacing² / (2 gap), in ns².
 *   4. The number of threads is time / width, so that its variance is spacing² / (2 gap × width). */
static double precision_of(const struct phase_search *search, const struct at_work *at_work)
{
    double p = 2 * search->width * (double)at_work->gap / (at_work->spacing * at_work->spacing);
    return fmin(p, MOST_PRECISION);
}

static void add_sample(void *context, unsigned bin, double part)
{
    struct bins *bins = context;
    for (uint64_t i = bins->sample->first; i < bins->sample->next; i++) {
        int kind = kind_of(bins->search, time_sample_state(bins->sample, i), bins->sample->records[i].place);
        if (kind < KINDS)
            bins->counts[(size_t)bin * KINDS + (size_t)kind] += (double)trace_amount(bins->sample->records[i].amount) * part;
    }
}

static void add_work(void *context, unsigned bin, double part)
{
    struct bins *bins = context;
    bins->counts[(size_t)bin * KINDS + AT_WORK] += part;
}

/* Adds a thread's number at work, times its precision: that has as much variance as it is large, like a count. */
static void add_work_of_thread(struct bins *bins, uint32_t thread)
{
    const struct phase_search *search = bins->search;
    autofree time_ranges stretches = {0};
    const struct at_work *at_work = &search->at_work[thread];
    struct time_range range = {bins->bounds[0], bins->bounds[bins->n]};
    unsigned bin = 0;
    at_work_stretches(search->timeline, &search->timeline->threads[thread], at_work->gap, range, &stretches);
    for (size_t i = 0; i < stretches.n; i++) {
        struct time_range at = stretches.at[i];
        double amount = precision_of(search, at_work) * (double)(at.to - at.from) / search->width;
        time_window_divide(bins->bounds, bins->n, &bin, at.from, at.to, amount, add_work, bins);
    }
}

/* The caller frees with bins_free. */
static struct bins bins_of(const struct phase_search *search, struct time_range range, unsigned n)
{
    struct bins bins = {.search = search, .n = n, .counts = mem_alloc(((size_t)n * KINDS + 1) * sizeof(double))};
    bins.bounds = time_window_bounds(&(struct time_window){range.from, range.to, n});
    for (uint32_t t = 0; t < search->timeline->header.n_threads; t++) {
        struct time_samples sample = time_samples_from(search->timeline, &search->timeline->threads[t],
                                                       range.from ? range.from + 1 : 0);
        unsigned bin = 0;
        bins.sample = &sample;
        while (time_samples_next(&sample) && (sample.begin < range.to || sample.end == range.to))
            time_window_divide(bins.bounds, n, &bin, sample.begin, sample.end, 1 / search->increment, add_sample, &bins);
        if (search->at_work)
            add_work_of_thread(&bins, t);
    }
    return bins;
}

static void bins_free(struct bins *bins)
{
    free(bins->bounds);
    free(bins->counts);
}

/* Bins are so wide that they have samples enough, unless threads sleep, and that a record is not in many of them. They
 * have a nanosecond at least, whatever a damaged file says of amounts. */
static unsigned number_of_bins(struct phase_search *search, const struct record_sums *all)
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
    return (unsigned)fmin(n, fmin((double)search->timeline->end, MOST_BINS));
}

/* ---- cuts ---- */

/* Bins, to each side of a cut, among which its place is looked for, and the parts of a record's interval. */
#define LOOKED_AT 2
#define PARTS     4
#define MOST_FINE (1 << 14)

/* Adds up the counts of bins from .. to-1, as rates for a nanosecond. */
static void rates_of(const struct bins *bins, size_t from, size_t to, double rates[KINDS])
{
    double length = (double)(bins->bounds[to] - bins->bounds[from]);
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
    struct time_range range = {bins->bounds[cut > from + LOOKED_AT ? cut - LOOKED_AT : from],
                               bins->bounds[cut + LOOKED_AT < to ? cut + LOOKED_AT : to]};
    double length = (double)(range.to - range.from);
    if (!(search->interval > 0))
        return bins->bounds[cut];
    struct bins fine = bins_of(search, range, (unsigned)fmin(ceil(PARTS * length / search->interval), MOST_FINE));
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
    uint64_t place = fine.bounds[best];
    bins_free(&fine);
    return place;
}

/* ---- phases ---- */

/* What threads did in a phase, and where. */
static void describe(const struct phase_search *search, struct phase *phase, struct path_points *points)
{
    const struct timeline *timeline = search->timeline;
    struct record_sums sums = sums_of(timeline, phase->range);
    for (size_t i = 0; i < sums.list.n; i++) {
        const struct record_sum *sum = &sums.list.at[i];
        struct payments paid = record_payments(timeline, sum);
        phase->states[sum->state] += timeline_amount(timeline, (double)sum->amount);
        for (int metric = 0; metric < RECORD_METRICS; metric++)
            phase->paid[metric] += timeline_amount(timeline, paid.of[metric]);
    }
    double at_work = phase->states[TRACE_WORK] + phase->states[TRACE_OVERHEAD];
    double waits = phase->states[TRACE_WAITING] + phase->states[TRACE_OFF_CPU];
    bool only_waits = at_work < LEAST_WORK * (at_work + waits);
    *points = path_points_of(&sums, search->scopes.node, only_waits ? waits_there : is_at_work);
    bool has_length = timeline->is_time && phase->range.to > phase->range.from;
    phase->working = has_length ? at_work / phase_length(phase) : NAN;
    double seconds = 0; /* on a CPU */
    for (int state = 0; state < TRACE_STATES; state++)
        seconds += state == TRACE_READY || state == TRACE_OFF_CPU ? 0 : phase->states[state];
    if (has_length) {
        phase->is_quiet = seconds < LEAST_WORK * phase_length(phase);
        if (seconds + phase->states[TRACE_OFF_CPU] < LEAST_WORK * phase_length(phase))
            points->n = 0; /* next to nothing was seen */
    }
    record_sums_free(&sums);
}

static void find_at_work(struct phase_search *search)
{
    const struct timeline *timeline = search->timeline;
    if (!(search->interval > 0))
        return;
    search->at_work = mem_alloc((timeline->header.n_threads + (size_t)1) * sizeof *search->at_work);
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        search->at_work[t] =
            at_work_of(timeline, &timeline->threads[t], search->interval, LEAST_PHASE * (double)timeline->end);
}

/* Sets the ends of the phases. */
static void find_ends(struct phase_search *search, struct phases *phases)
{
    size_t ends[MOST_PHASES];
    struct time_range whole = {0, search->timeline->end};
    search->width = (double)whole.to / (double)phases->n_bins;
    find_at_work(search);
    struct bins bins = bins_of(search, whole, (unsigned)phases->n_bins);
    phases->n = change_points(bins.counts, bins.n, KINDS, ends);
    for (size_t i = 0; i + 1 < phases->n; i++) {
        uint64_t end = place_of_cut(search, &bins, i ? ends[i - 1] : 0, ends[i], ends[i + 1]);
        phases->at[i].range.to = phases->at[i + 1].range.from = end;
    }
    phases->at[phases->n - 1].range.to = whole.to;
    bins_free(&bins);
}

struct phases phases_find(struct database *db, const struct timeline *timeline)
{
    struct phases phases = {.n = 1, .at[0].range.to = timeline->end};
    struct phase_search search = {.db = db, .timeline = timeline};
    struct record_sums all = sums_of(timeline, (struct time_range){0, timeline->end});
    struct path_points points[MOST_PHASES];
    uint32_t procedures[MOST_PHASES];
    search.scopes = place_scopes_of(db, timeline, false);
    search.kinds = mem_alloc(timeline->header.n_places + 1);
    find_kinds(&search, &all);
    phases.n_bins = number_of_bins(&search, &all);
    record_sums_free(&all);
    if (phases.n_bins >= LEAST_BINS)
        find_ends(&search, &phases);
    for (size_t i = 0; i < phases.n; i++)
        describe(&search, &phases.at[i], &points[i]);
    path_names_find(db, points, phases.n, procedures);
    for (size_t i = 0; i < phases.n; i++) {
        phases.at[i].procedure = procedures[i];
        vec_free(&points[i].list);
    }
    place_scopes_free(&search.scopes);
    free(search.kinds);
    free(search.at_work);
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
