#include "hpcrun/span/work-span.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/span/activations.h"
#include "hpcrun/span/strand-clock.h"

#include <stddef.h>

#define MEASURED_EVENTS 1000

#define STACK_BLOCK  256u
#define STACK_BLOCKS 1024u

struct level {
    struct activation activation;
    struct segment *stolen_as; /* once the activation was stolen */
};

struct span_worker {
    _Alignas(64) struct strand_clock clock;
    uint32_t top;    /* levels in use are 0 to top */
    uint32_t stolen; /* levels below this one were stolen; under the runtime's lock */
    struct worker_memory memory;
    struct span_tally *tally; /* its steals are those by others; under the runtime's lock */
    struct level *stack[STACK_BLOCKS];
};

static struct {
    uint64_t burden;
    struct span_worker *workers[SPAN_WORKERS];
} program;

/* ---- workers ---- */

static struct span_worker *make_worker(unsigned number)
{
    struct span_worker *worker = sys_pages(sizeof *worker);
    if (worker)
        worker->tally = span_tally_new();
    if (worker && worker->tally)
        program.workers[number] = worker;
    else
        span_fail();
    return program.workers[number];
}

/* NULL after a failure: the event is then ignored. */
static struct span_worker *worker_of(unsigned number)
{
    if (number >= SPAN_WORKERS || span_has_failed()) {
        span_fail();
        return NULL;
    }
    return program.workers[number] ? program.workers[number] : make_worker(number);
}

static struct level *level(const struct span_worker *worker, uint32_t i)
{
    return &worker->stack[i / STACK_BLOCK][i % STACK_BLOCK];
}

/* Makes room for a level; NULL without memory. */
static struct level *new_level(struct span_worker *worker, uint32_t i)
{
    if (i >= STACK_BLOCK * STACK_BLOCKS)
        return NULL;
    struct level **block = &worker->stack[i / STACK_BLOCK];
    if (!*block)
        *block = sys_pages(STACK_BLOCK * sizeof **block);
    return *block ? level(worker, i) : NULL;
}

/* ---- strands and activations ---- */

static void look_up_context(struct activation *activation)
{
    activation->context =
        span_context_of(activation->parent_context, (uint64_t)*activation->procedure.code,
                        (uint64_t)*activation->procedure.site, &activation->is_outermost);
}

/* Adds the strand that just ended to the top activation. */
static struct activation *add_strand(struct span_worker *worker, uint64_t time)
{
    struct activation *activation = &level(worker, worker->top)->activation;
    if (activation->context == CONTEXT_NONE)
        look_up_context(activation);
    activation->work += time;
    worker->tally->by[activation->context].work += time;
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&activation->series[kind].continuation, time);
    return activation;
}

/* The activation has ended: its prefixes are its longest paths. */
static void finish(struct span_worker *worker, struct activation *activation)
{
    activation_fold(activation, &worker->memory);
    if (!activation->is_outermost)
        return;
    struct span_sums *sums = &worker->tally->by[activation->context];
    sums->calls++;
    sums->call_work += activation->work;
    sums->call_span += activation->series[PLAIN].prefix.length;
}

/* The burden lies on the continuation behind the spawn that just happened. */
static void add_burden(struct activation *activation)
{
    path_add_own(&activation->series[BURDENED].continuation, program.burden);
}

/* ---- events ---- */

static void forget_worker(unsigned number)
{
    struct span_worker *worker = program.workers[number];
    program.workers[number] = NULL;
    if (!worker)
        return;
    sys_pages_free(worker->stack[0], STACK_BLOCK * sizeof *worker->stack[0]);
    span_tally_free(worker->tally);
    sys_pages_free(worker, sizeof *worker);
}

/* The cost of a short event: the least of many, since others were disturbed. */
static void measure_events(void)
{
    static const void *const code = "", *const site = "";
    const struct agent_activation procedure = {&code, &site};
    const unsigned number = SPAN_WORKERS - 1;
    uint64_t least = UINT64_MAX;
    work_span_run_begins(&code, procedure);
    work_span_resumed(number, &code);
    for (int i = 0; i < MEASURED_EVENTS; i++) {
        uint64_t before = ticks_now();
        work_span_spawned(number, procedure);
        work_span_returned(number);
        uint64_t two = ticks_now() - before;
        least = two < least ? two : least;
    }
    strand_clock_set_event_cost(least / 2);
    forget_worker(number);
}

bool work_span_init(uint64_t burden)
{
    program.burden = burden << STRAND_SHIFT;
    strand_clock_calibrate();
    if (!span_contexts_init())
        return false;
    measure_events();
    span_contexts_clear();
    span_results_begin(program.burden);
    return true;
}

void work_span_run_begins(const void *key, struct agent_activation root)
{
    struct activation activation = {0};
    span_serial_ends();
    activation_begin(&activation, root, CONTEXT_PROGRAM);
    activation_store(key, &activation);
}

void work_span_run_ended(void)
{
    span_serial_begins();
}

void work_span_resumed(unsigned number, const void *key)
{
    struct span_worker *worker = worker_of(number);
    struct level *base = worker ? new_level(worker, 0) : NULL;
    if (!base || !activation_take(key, &base->activation)) {
        span_fail();
        return;
    }
    worker->top = 0;
    worker->stolen = 0;
    if (base->activation.is_suspended)
        activation_fold(&base->activation, &worker->memory);
    base->activation.is_suspended = false;
    strand_begin(&worker->clock);
}

void work_span_spawned(unsigned number, struct agent_activation child)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    struct activation *parent = add_strand(worker, strand_next(&worker->clock));
    struct level *top = new_level(worker, worker->top + 1);
    if (!top) {
        span_fail();
        return;
    }
    worker->tally->by[parent->context].spawns++;
    activation_begin(&top->activation, child, parent->context);
    worker->top++;
}

void work_span_returned(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    struct activation *child = add_strand(worker, strand_next(&worker->clock));
    finish(worker, child);
    struct activation *parent = &level(worker, --worker->top)->activation;
    parent->work += child->work;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct critical_path *path = &child->series[kind].prefix;
        span_change_owner(path, &worker->memory, child->context, parent->context);
        series_add_branch(&parent->series[kind], &worker->memory, path);
    }
    add_burden(parent);
}

/* The child has ended: the sync of the stolen parent will find its result. */
static void deliver(struct span_worker *worker, struct segment *segment, struct activation *child)
{
    segment->child_work = child->work;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct critical_path *path = &child->series[kind].prefix;
        span_change_owner(path, &worker->memory, child->context, segment->context);
        segment->child[kind] = *path;
        *path = (struct critical_path){0};
    }
}

void work_span_orphaned(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    struct activation *child = add_strand(worker, strand_end(&worker->clock));
    finish(worker, child);
    deliver(worker, level(worker, worker->top - 1)->stolen_as, child);
}

void work_span_synced(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (worker)
        activation_fold(add_strand(worker, strand_next(&worker->clock)), &worker->memory);
}

void work_span_suspended(unsigned number, const void *key)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    struct activation *base = add_strand(worker, strand_end(&worker->clock));
    base->is_suspended = true;
    activation_store(key, base);
    *base = (struct activation){0};
}

static void end_root(struct span_worker *worker, struct activation *root)
{
    struct critical_path *path[KINDS];
    for (unsigned kind = 0; kind < KINDS; kind++)
        path[kind] = &root->series[kind].prefix;
    span_add_computation(root->work, path, root->context, &worker->memory);
}

void work_span_ended(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    struct activation *base = add_strand(worker, strand_end(&worker->clock));
    finish(worker, base);
    if (base->parent)
        deliver(worker, base->parent, base);
    else
        end_root(worker, base);
}

void work_span_stolen(unsigned number, const void *key)
{
    struct span_worker *victim = worker_of(number);
    if (!victim)
        return;
    uint32_t i = victim->stolen;
    struct level *from = level(victim, i);
    struct activation *activation = &from->activation;
    from->stolen_as = activation_cut(activation);
    if (!from->stolen_as) {
        span_fail();
        return;
    }
    victim->stolen++;
    victim->tally->steals++;
    struct activation rest = {.procedure = activation->procedure,
                              .context = activation->context,
                              .parent_context = activation->parent_context,
                              .is_outermost = activation->is_outermost,
                              .parent =
                                  i > 0 ? level(victim, i - 1)->stolen_as : activation->parent,
                              .before = from->stolen_as};
    add_burden(&rest);
    activation_store(key, &rest);
}
