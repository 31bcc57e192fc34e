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
    uint64_t work;
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
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&program.path[kind], time);
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
    span_serial_begins();
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

void span_tally_free(struct span_tally *tally)
{
    uint64_t mask = lock_take(&program.lock);
    struct span_tally **link = &program.tallies;
    while (*link != tally)
        link = &(*link)->next;
    *link = tally->next;
    lock_release(&program.lock, mask);
    sys_pages_free(tally, sizeof *tally);
}

/* ---- results ---- */

struct span_totals span_totals_so_far(void)
{
    struct span_totals totals = {.work = program.work,
                                 .span = program.path[PLAIN].length,
                                 .burdened_span = program.path[BURDENED].length,
                                 .burden = program.burden,
                                 .is_incomplete = span_has_failed()};
    for (const struct span_tally *tally = program.tallies; tally; tally = tally->next) {
        totals.steals += tally->steals;
        for (uint32_t context = 0; context < span_contexts_end(); context++)
            totals.spawns += tally->by[context].spawns;
    }
    return totals;
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

/* The part of the program's path in a context. */
static uint64_t part_of(unsigned kind, uint32_t context)
{
    const struct critical_path *path = &program.path[kind];
    if (context == CONTEXT_PROGRAM)
        return path->own;
    for (uint32_t i = 0; path->others && i < path->others->count; i++)
        if (path->others->at[i].context == context)
            return path->others->at[i].time;
    return 0;
}

struct span_values work_span_values(uint32_t context)
{
    struct span_values values = {.span = part_of(PLAIN, context),
                                 .burdened_span = part_of(BURDENED, context)};
    values.work = context == CONTEXT_PROGRAM ? values.span : 0;
    for (const struct span_tally *tally = program.tallies; tally; tally = tally->next) {
        const struct span_sums *sums = &tally->by[context];
        values.work += sums->work;
        values.calls += sums->calls;
        values.call_work += sums->call_work;
        values.call_span += sums->call_span;
        values.spawns += sums->spawns;
    }
    return values;
}
