#include "viewer-tui/db/record-sums.h"

#include "viewer-tui/db/time-samples.h"

#include <stdlib.h>

/* What is added up of records: an amount, and whether it is that of a sample that counts. */
typedef void record_adder(void *sums, const struct timeline *timeline, const struct timeline_record *record,
                          uint64_t amount, bool is_counted);

/* How much of an amount of the sample is about the time up to `time`. */
static uint64_t amount_until(const struct time_samples *sample, uint64_t amount, uint64_t time)
{
    if (time >= sample->end)
        return amount;
    if (time <= sample->begin)
        return 0;
    return (uint64_t)((unsigned __int128)amount * (time - sample->begin) / (sample->end - sample->begin));
}

/* A pass over the records of a thread in a piece of time. Returns the sum of the squares of its samples. */
struct record_pass {
    const struct timeline *timeline;
    const struct timeline_thread *thread;
    struct time_range range;
    record_adder *add;
    void *sums;
};

/* Adds the records of a sample, of which the range may cut one end. */
static void add_cut(const struct record_pass *pass, const struct time_samples *sample, double *squares)
{
    uint64_t sum = 0;
    for (uint64_t i = sample->first; i < sample->next; i++) {
        uint64_t whole = trace_amount(sample->records[i].amount);
        uint64_t before = pass->range.from ? amount_until(sample, whole, pass->range.from) : 0;
        uint64_t amount = amount_until(sample, whole, pass->range.to) - before;
        bool is_counted = i == sample->first && sample->end <= pass->range.to;
        if (amount > 0 || is_counted)
            pass->add(pass->sums, pass->timeline, &sample->records[i], amount, is_counted);
        sum += amount;
    }
    *squares += (double)sum * (double)sum;
}

/* In line, so that `add` is known where it is called: a run can have 10 million records. */
static inline __attribute__((always_inline)) double add_records(const struct record_pass *pass)
{
    const struct timeline_record *records = timeline_records(pass->timeline, pass->thread);
    struct time_range range = pass->range;
    struct time_samples first = time_samples_from(pass->timeline, pass->thread, range.from ? range.from + 1 : 0);
    struct time_samples last = time_samples_from(pass->timeline, pass->thread, range.to); /* those before end in it */
    uint64_t sample = 0; /* the amount of those with one time */
    double squares = 0;
    if (range.from >= range.to || !time_samples_next(&first))
        return 0;
    add_cut(pass, &first, &squares);
    for (uint64_t at = first.next; at < last.next; at++) {
        uint64_t amount = trace_amount(records[at].amount);
        bool is_first = at == first.next || records[at].time != records[at - 1].time;
        pass->add(pass->sums, pass->timeline, &records[at], amount, is_first);
        squares += is_first ? (double)sample * (double)sample : 0;
        sample = is_first ? amount : sample + amount;
    }
    squares += (double)sample * (double)sample;
    if (first.next <= last.next && time_samples_next(&last))
        add_cut(pass, &last, &squares);
    return squares;
}

/* ---- by place ---- */

/* Adds to the sum to which a record belongs. */
static inline void add_to_place(void *sums, const struct timeline *timeline, const struct timeline_record *record,
                                uint64_t amount, bool is_counted)
{
    struct record_sums *all = sums;
    uint32_t flags = record->amount & (TRACE_WORKER | TRACE_AS_OVERHEAD | TRACE_AS_WAITING | TRACE_IN_KERNEL);
    uint32_t place = record->place < timeline->header.n_places ? record->place : 0, at = all->first[place];
    enum trace_state state = timeline_state(timeline, record);
    while (at && (all->list.at[at - 1].state != state || all->list.at[at - 1].flags != flags))
        at = all->list.at[at - 1].next;
    if (!at) {
        vec_push(&all->list,
                 (struct record_sum){.place = place, .next = all->first[place], .flags = flags, .state = state});
        all->first[place] = at = (uint32_t)all->list.n;
    }
    all->list.at[at - 1].amount += amount;
    all->list.at[at - 1].n += is_counted;
}

void record_sums_add(struct record_sums *sums, const struct timeline *timeline, const struct timeline_thread *thread,
                     struct time_range range)
{
    if (!sums->first)
        sums->first = mem_alloc((timeline->header.n_places + 1) * sizeof *sums->first);
    sums->squares += add_records(&(struct record_pass){timeline, thread, range, add_to_place, sums});
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

/* ---- by state ---- */

static inline void add_to_state(void *sums, const struct timeline *timeline, const struct timeline_record *record,
                                uint64_t amount, bool is_counted)
{
    struct state_sums *all = sums;
    enum trace_state state = timeline_state(timeline, record);
    all->amounts[state] += amount;
    all->counts[state] += is_counted;
    all->waiting_on_cpu += state == TRACE_WAITING && record->amount & TRACE_AS_WAITING ? amount : 0;
}

void state_sums_add(struct state_sums *sums, const struct timeline *timeline, const struct timeline_thread *thread,
                    struct time_range range)
{
    sums->squares += add_records(&(struct record_pass){timeline, thread, range, add_to_state, sums});
}

/* ---- payments ---- */

struct payments record_payments(const struct timeline *timeline, const struct record_sum *sum)
{
    struct payments paid = {0};
    const struct timeline_place *place = &timeline->places[sum->place];
    double amount = (double)sum->amount, working = place->working ? place->working : 1;
    bool runs = sum->state == TRACE_WORK || sum->state == TRACE_OVERHEAD ||
                (sum->state == TRACE_WAITING && sum->flags & TRACE_AS_WAITING);
    if (sum->state == TRACE_READY) {
        paid.of[PAYS_READY] = amount;
        paid.of[PAYS_LOCK_BLAME] = amount * place->waiters;
    }
    if (!runs && sum->state != TRACE_WAITING && sum->state != TRACE_OFF_CPU)
        return paid;
    bool is_overhead = sum->flags & TRACE_AS_OVERHEAD || sum->state == TRACE_OVERHEAD;
    bool is_waiting = sum->flags & TRACE_AS_WAITING || sum->state == TRACE_WAITING;
    paid.of[is_overhead ? PAYS_OVERHEAD : is_waiting ? PAYS_WAITING : PAYS_WORK] = amount;
    paid.of[PAYS_WALL] = runs ? amount / working : 0;
    paid.of[PAYS_KERNEL] = sum->flags & TRACE_IN_KERNEL ? amount : 0;
    paid.of[PAYS_OFF_CPU] = sum->state == TRACE_OFF_CPU ? amount : 0;
    paid.of[PAYS_LOCK_BLAME] = amount * place->waiters;
    if (sum->flags & TRACE_WORKER && place->n > working) {
        paid.of[PAYS_IDLENESS] = amount * (place->n - working) / working;
        paid.of[PAYS_INCOMPLETE] = amount / working;
    }
    return paid;
}
