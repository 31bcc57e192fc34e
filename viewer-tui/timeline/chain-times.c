#include "viewer-tui/timeline/chain-times.h"

#include "lib/binary-search.h"
#include "viewer-tui/base/scope.h"
#include "viewer-tui/db/time-samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sums of one thread's pieces. */
struct thread_sums {
    const struct timeline *timeline;
    const uint32_t *procedures;
    uint32_t n_procedures;
    double interval;              /* mean ns of a sample */
    /* By procedure, then by part for those that are in none. off_cpu in ns. */
    double *amounts, *of_waiting, *off_cpu, *samples;
    double ns, waking, all_off_cpu;
    uint64_t n_unknown;
};

static bool is_wait(enum trace_state state)
{
    return state == TRACE_WAITING || state == TRACE_OFF_CPU || state == TRACE_IDLE || state == TRACE_NOBODY;
}

static uint32_t procedure_of(const struct thread_sums *sums, const struct timeline_record *record)
{
    bool has_place = record->place < sums->timeline->header.n_places;
    uint32_t procedure = has_place ? sums->procedures[record->place] : NOTHING;
    enum trace_state state = timeline_state(sums->timeline, record);
    bool is_idle = state == TRACE_IDLE || state == TRACE_NOBODY;
    return procedure < sums->n_procedures ? procedure : sums->n_procedures + (is_idle ? CHAIN_IDLE : CHAIN_IN_PROCEDURE);
}

/* Adds the records of a sample; whether it is mostly of a wait. */
static bool add_sample(struct thread_sums *sums, const struct time_samples *sample)
{
    double waits = 0;
    uint32_t before = NOTHING;
    for (uint64_t i = sample->first; i < sample->next; i++) {
        const struct timeline_record *record = &sample->records[i];
        uint32_t procedure = procedure_of(sums, record);
        double amount = (double)trace_amount(record->amount);
        double of_wait = is_wait(time_sample_state(sample, i)) ? amount : 0;
        sums->amounts[procedure] += amount;
        sums->samples[procedure] += procedure != before;
        before = procedure;
        sums->of_waiting[procedure] += of_wait;
        waits += of_wait;
    }
    return 2 * waits > (double)sample->amount;
}

/* Adds a time without samples, before or after those of a procedure. */
static void add_gap(struct thread_sums *sums, uint64_t from, uint64_t to, uint32_t procedure)
{
    double length = to > from ? (double)(to - from) : 0;
    if (timeline_has_waits(sums->timeline) || length <= 2 * sums->interval)
        return;
    sums->off_cpu[procedure] += length - sums->interval;
    sums->all_off_cpu += length - sums->interval;
    sums->n_unknown++;
}

static void add_piece(struct thread_sums *sums, const struct timeline_thread *thread, const struct chain_piece *piece)
{
    struct time_samples sample = time_samples_from(sums->timeline, thread, piece->runs);
    uint64_t before = piece->runs;
    uint32_t procedure = sums->n_procedures + CHAIN_UNSAMPLED;
    bool waited = false;
    while (before < piece->to && time_samples_next(&sample)) {
        bool is_in_it = sample.end <= piece->to, waits = is_in_it && add_sample(sums, &sample);
        sums->n_unknown += waits && !waited;
        waited = waits;
        procedure = procedure_of(sums, &sample.records[sample.first]);
        add_gap(sums, before, is_in_it ? sample.end : piece->to, procedure);
        before = sample.end;
    }
    if (before < piece->to)
        add_gap(sums, before, piece->to, procedure);
    sums->ns += (double)(piece->to - piece->runs);
    sums->waking += (double)(piece->runs - piece->from);
}

/* The mean time that a sample of the thread is about. */
static double mean_interval(const struct timeline *timeline, const struct timeline_thread *thread)
{
    const struct timeline_record *records = timeline_records(timeline, thread);
    double sum = 0, n = 0;
    for (uint64_t i = 0; i < thread->n_records; i++) {
        sum += (double)trace_amount(records[i].amount);
        n += i == 0 || records[i].time != records[i - 1].time;
    }
    return n > 0 ? sum / n / (double)(UINT64_C(1) << timeline->header.shift) : INFINITY;
}

static void add_time(struct chain_times *times, const struct chain_time *time)
{
    if (time->ns > 0)
        vec_push(&times->list, *time);
}

static void add_thread(struct chain_times *times, uint32_t thread, const struct thread_sums *sums)
{
    double sum = 0, ns = sums->ns - sums->all_off_cpu;
    uint32_t n = sums->n_procedures;
    for (uint32_t i = 0; i < n + CHAIN_PARTS; i++)
        sum += sums->amounts[i];
    for (uint32_t i = 0; i < n + CHAIN_PARTS; i++) {
        enum chain_part part = i < n ? CHAIN_IN_PROCEDURE : (enum chain_part)(i - n);
        double scale = sum > 0 ? ns / sum : 0, off_cpu = sums->off_cpu[i];
        double unsampled = part == CHAIN_UNSAMPLED && !(sum > 0) ? ns : 0;
        add_time(times, &(struct chain_time){thread, part, i < n ? i : NOTHING,
                                             scale * sums->amounts[i] + off_cpu + unsampled,
                                             scale * sums->of_waiting[i] + off_cpu, (uint64_t)sums->samples[i]});
    }
    add_time(times, &(struct chain_time){thread, CHAIN_WAKING, NOTHING, sums->waking, 0, 0});
    times->n_unknown += sums->n_unknown;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct chain_piece *a = left, *b = right;
    return a->thread != b->thread ? compare_unsigned(a->thread, b->thread) : compare_unsigned(a->from, b->from);
}

struct chain_times chain_times_find(const struct timeline *timeline, const chain_pieces *pieces,
                                    const uint32_t *procedures, uint32_t n_procedures)
{
    struct chain_times times = {0};
    size_t n_sums = (size_t)n_procedures + CHAIN_PARTS, size = n_sums * sizeof(double);
    autofree double *amounts = mem_alloc(4 * size);
    autofree struct chain_piece *sorted = mem_alloc((pieces->n + 1) * sizeof *sorted);
    if (pieces->n) {
        memcpy(sorted, pieces->at, pieces->n * sizeof *sorted);
        qsort(sorted, pieces->n, sizeof *sorted, compare_pieces);
    }
    for (size_t i = 0, next; i < pieces->n; i = next) {
        const struct timeline_thread *thread = &timeline->threads[sorted[i].thread];
        struct thread_sums sums = {.timeline = timeline,
                                   .procedures = procedures,
                                   .n_procedures = n_procedures,
                                   .interval = mean_interval(timeline, thread),
                                   .amounts = amounts,
                                   .of_waiting = amounts + n_sums,
                                   .off_cpu = amounts + 2 * n_sums,
                                   .samples = amounts + 3 * n_sums};
        memset(amounts, 0, 4 * size);
        for (next = i; next < pieces->n && sorted[next].thread == sorted[i].thread; next++)
            if (sorted[next].is_unknown)
                times.unknown += (double)(sorted[next].to - sorted[next].from);
            else
                add_piece(&sums, thread, &sorted[next]);
        add_thread(&times, sorted[i].thread, &sums);
    }
    return times;
}
