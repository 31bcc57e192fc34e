#include "hpcrun/span/span-results.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/span/strand-clock.h"

#include <stdatomic.h>

static struct {
    uint64_t burden;
    struct strand_clock serial;
    int serial_thread; /* whose strand the clock measures; 0: none */
    _Atomic bool is_serial; /* no computation runs */
    uint64_t work, strands; /* the strands of serial code */
    struct critical_path path[KINDS];
    struct worker_memory memory;
    struct lock lock; /* of the list of tallies */
    struct span_tally *tallies;
} program;

/* ---- failures ---- */

static atomic_bool failed;

void span_fail(void)
{
    atomic_store(&failed, true);
}

bool span_has_failed(void)
{
    return atomic_load_explicit(&failed, memory_order_relaxed);
}

/* ---- serial code ---- */

static void add_serial(uint64_t time)
{
    program.work += time;
    program.strands++;
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&program.path[kind], time, 1);
}

/* Only the strands of one thread can be measured, and each ends once. */
static void end_serial_strand(void)
{
    if (program.serial_thread != sys_gettid())
        return;
    add_serial(strand_end(&program.serial));
    program.serial_thread = 0;
}

void span_results_begin(uint64_t burden)
{
    program.burden = burden;
    program.is_serial = true;
}

bool span_serial_ends(void)
{
    if (!atomic_exchange(&program.is_serial, false))
        return false;
    end_serial_strand();
    return true;
}

void span_serial_begins(void)
{
    program.serial_thread = sys_gettid();
    program.is_serial = true;
    strand_begin(&program.serial);
}

void span_serial_begins_in(int thread)
{
    program.serial_thread = thread;
    strand_begin_in(&program.serial, thread);
    program.is_serial = true;
}

bool span_is_serial(void)
{
    return program.is_serial;
}

/* ---- computations ---- */

void span_add_computation(uint64_t work, struct critical_path *const path[KINDS], uint32_t context,
                          struct worker_memory *memory)
{
    program.work += work;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        span_change_owner(path[kind], memory, context, CONTEXT_PROGRAM);
        span_append(&program.path[kind], &program.memory, path[kind]);
    }
}

struct span_tally *span_tally_new(void)
{
    struct span_tally *tally = sys_pages(sizeof *tally);
    if (!tally)
        return NULL;
    uint64_t mask = lock_take(&program.lock);
    tally->next = program.tallies;
    program.tallies = tally;
    lock_release(&program.lock, mask);
    return tally;
}

/* ---- results ---- */

/* Of one context, or of all if `context` is CONTEXT_NONE. */
static struct span_time time_on_path(unsigned kind, uint32_t context)
{
    const struct critical_path *path = &program.path[kind];
    struct span_time time = {0};
    if (context == CONTEXT_NONE || context == CONTEXT_PROGRAM)
        time = (struct span_time){.time = path->own, .strands = path->strands};
    for (uint32_t i = 0; path->others && i < path->others->count; i++) {
        const struct path_entry *entry = &path->others->at[i];
        if (context != CONTEXT_NONE && context != entry->context)
            continue;
        time.time += entry->time;
        time.strands += entry->strands;
    }
    return time;
}

struct span_totals span_totals_so_far(void)
{
    struct span_totals totals = {.work = {.time = program.work, .strands = program.strands},
                                 .span = time_on_path(PLAIN, CONTEXT_NONE),
                                 .burdened_span = time_on_path(BURDENED, CONTEXT_NONE),
                                 .burden = program.burden,
                                 .is_incomplete = span_has_failed()};
    for (const struct span_tally *tally = program.tallies; tally; tally = tally->next) {
        totals.steals += tally->steals;
        for (uint32_t context = 0; context < span_contexts_end(); context++) {
            totals.spawns += tally->by[context].spawns;
            totals.work.strands += tally->by[context].strands;
        }
    }
    return totals;
}

struct strand_excess span_excess(void)
{
    struct grain_trials trials = {0};
    for (const struct span_tally *tally = program.tallies; tally; tally = tally->next)
        grain_trials_add(&trials, &tally->classes);
    return grain_excess(&trials);
}

static void correct(struct span_time *time, const struct strand_excess *excess)
{
    double added = (double)time->strands * excess->mean;
    time->error = (uint64_t)((double)time->strands * excess->error);
    time->time = (double)time->time > added ? (uint64_t)((double)time->time - added) : 0;
}

void span_totals_correct(struct span_totals *totals)
{
    struct strand_excess excess = span_excess();
    correct(&totals->work, &excess);
    correct(&totals->span, &excess);
    correct(&totals->burdened_span, &excess);
}

struct span_totals work_span_totals(void)
{
    end_serial_strand();
    return span_totals_so_far();
}

void work_span_go_on(void)
{
    if (program.is_serial && program.serial_thread == 0)
        span_serial_begins();
}

bool work_span_now(struct span_totals *totals)
{
    if (!program.is_serial || program.serial_thread != sys_gettid())
        return false;
    end_serial_strand();
    *totals = span_totals_so_far();
    span_serial_begins();
    return true;
}

struct span_values work_span_values(uint32_t context, const struct strand_excess *excess)
{
    struct span_time work = {0}, span = time_on_path(PLAIN, context),
                     burdened = time_on_path(BURDENED, context);
    struct span_values values = {0};
    if (context == CONTEXT_PROGRAM)
        work = span;
    for (const struct span_tally *tally = program.tallies; tally; tally = tally->next) {
        const struct span_sums *sums = &tally->by[context];
        work.time += sums->work;
        work.strands += sums->strands;
        values.spawns += sums->spawns;
    }
    correct(&work, excess);
    correct(&span, excess);
    correct(&burdened, excess);
    values.work = work.time;
    values.span = span.time;
    values.burdened_span = burdened.time;
    return values;
}
