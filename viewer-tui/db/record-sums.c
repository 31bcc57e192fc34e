#include "viewer-tui/db/record-sums.h"

#include <stdlib.h>

/* The sum to which a record belongs. */
static struct record_sum *sum_of(struct record_sums *sums, const struct timeline *timeline,
                                 const struct timeline_record *record)
{
    enum trace_state state = timeline_state(timeline, record);
    uint32_t flags = record->amount & (TRACE_WORKER | TRACE_AS_OVERHEAD | TRACE_AS_WAITING);
    uint32_t place = record->place < timeline->header.n_places ? record->place : 0;
    for (uint32_t at = sums->first[place]; at; at = sums->list.at[at - 1].next) {
        struct record_sum *sum = &sums->list.at[at - 1];
        if (sum->state == state && sum->flags == flags)
            return sum;
    }
    struct record_sum new = {.place = place, .next = sums->first[place], .flags = flags, .state = state};
    vec_push(&sums->list, new);
    sums->first[place] = (uint32_t)sums->list.n;
    return &sums->list.at[sums->list.n - 1];
}

/* How much of the amount is about the time up to `time`. */
static uint64_t amount_until(const struct timeline_piece *piece, uint64_t time)
{
    if (time >= piece->end)
        return piece->amount;
    if (time <= piece->begin)
        return 0;
    return (uint64_t)((unsigned __int128)piece->amount * (time - piece->begin) / (piece->end - piece->begin));
}

/* Adds records of which the range may cut one end. */
static uint64_t add_cut(struct record_sums *sums, const struct timeline *timeline,
                        const struct timeline_thread *thread, struct time_range range, uint64_t from, uint64_t end)
{
    const struct timeline_record *records = timeline_records(timeline, thread);
    uint64_t first = from, sum = 0;
    for (; from < end && records[from].time == records[first].time; from++) {
        struct timeline_piece piece = timeline_piece(timeline, thread, from);
        uint64_t before = range.from ? amount_until(&piece, range.from) : 0;
        uint64_t amount = amount_until(&piece, range.to) - before;
        bool is_counted = from == first && piece.end <= range.to;
        if (amount == 0 && !is_counted)
            continue;
        struct record_sum *to = sum_of(sums, timeline, &records[from]);
        to->amount += amount;
        to->n += is_counted;
        sum += amount;
    }
    sums->squares += (double)sum * (double)sum;
    return from;
}

void record_sums_add(struct record_sums *sums, const struct timeline *timeline, const struct timeline_thread *thread,
                     struct time_range range)
{
    const struct timeline_record *records = timeline_records(timeline, thread);
    uint64_t n = thread->n_records;
    uint64_t at = range.from ? timeline_find(timeline, thread, range.from + 1) : 0;
    uint64_t last = timeline_find(timeline, thread, range.to); /* samples before it are not cut at their end */
    uint64_t sample = 0; /* the amount of the records with one time */
    if (!sums->first)
        sums->first = mem_alloc((timeline->header.n_places + 1) * sizeof *sums->first);
    if (at < n && range.from < range.to)
        at = add_cut(sums, timeline, thread, range, at, n);
    for (uint64_t before = at; at < last; at++) {
        uint64_t amount = trace_amount(records[at].amount);
        struct record_sum *to = sum_of(sums, timeline, &records[at]);
        bool is_first = at == before || records[at].time != records[at - 1].time;
        to->amount += amount;
        to->n += is_first;
        if (is_first) {
            sums->squares += (double)sample * (double)sample;
            sample = 0;
        }
        sample += amount;
    }
    sums->squares += (double)sample * (double)sample;
    if (at < n && at >= last && range.from < range.to)
        add_cut(sums, timeline, thread, range, at, n);
}

void record_sums_clear(struct record_sums *sums)
{
    for (size_t i = 0; i < sums->list.n; i++)
        sums->first[sums->list.at[i].place] = 0;
    sums->list.n = 0;
    sums->squares = 0;
}

void record_sums_free(struct record_sums *sums)
{
    vec_free(&sums->list);
    free(sums->first);
    *sums = (struct record_sums){0};
}

/* What its time is: work, overhead or waiting. */
static enum record_metric time_of(const struct record_sum *sum)
{
    if (sum->flags & TRACE_AS_OVERHEAD || sum->state == TRACE_OVERHEAD)
        return PAYS_OVERHEAD;
    return sum->flags & TRACE_AS_WAITING || sum->state == TRACE_WAITING ? PAYS_WAITING : PAYS_WORK;
}

struct payments record_payments(const struct timeline *timeline, const struct record_sum *sum)
{
    struct payments paid = {0};
    const struct timeline_place *place = &timeline->places[sum->place];
    double amount = (double)sum->amount, working = place->working ? place->working : 1;
    bool runs = sum->state == TRACE_WORK || sum->state == TRACE_OVERHEAD ||
                (sum->state == TRACE_WAITING && sum->flags & TRACE_AS_WAITING);
    if (sum->state == TRACE_READY)
        paid.of[PAYS_READY] = amount;
    if (!runs && sum->state != TRACE_WAITING && sum->state != TRACE_OFF_CPU)
        return paid;
    paid.of[time_of(sum)] = amount;
    paid.of[PAYS_WALL] = runs ? amount / working : 0;
    paid.of[PAYS_OFF_CPU] = sum->state == TRACE_OFF_CPU ? amount : 0;
    paid.of[PAYS_LOCK_BLAME] = amount * place->waiters;
    if (sum->flags & TRACE_WORKER && place->n > working) {
        paid.of[PAYS_IDLENESS] = amount * (place->n - working) / working;
        paid.of[PAYS_INCOMPLETE] = amount / working;
    }
    return paid;
}
