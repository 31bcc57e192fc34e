#include "hpcrun/span/work-span.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/span/activations.h"
#include "hpcrun/span/strand-clock.h"

#include <stdatomic.h>
#include <stddef.h>

#define MEASURED_EVENTS 1000

#define STACK_BLOCK  256u
#define STACK_BLOCKS 1024u

struct level {
    struct activation activation;
    struct segment *stolen_as; /* once the activation was stolen */
};

struct sums {
    uint64_t work, calls, call_work, call_span, spawns;
};

struct span_worker {
    _Alignas(64) struct strand_clock clock;
    uint32_t top;    /* levels in use are 0 to top */
    uint32_t stolen; /* levels below this one were stolen; under the runtime's lock */
    uint64_t steals; /* by others; under the runtime's lock */
    struct worker_memory memory;
    struct sums *sums; /* by context */
    struct level *stack[STACK_BLOCKS];
};

static struct {
    uint64_t burden;
    bool records_dag;
    uint64_t
        node_cost; /* ticks that an event takes longer for each node of the dag that it looks up */
    struct span_worker *workers[SPAN_WORKERS];
    /* The serial program: its strands, and the roots that it called. */
    struct strand_clock serial;
    int serial_thread;
    _Atomic bool is_serial; /* no computation runs */
    uint64_t work;
    struct critical_path path[KINDS];
    struct dag_list *items; /* of the recorded dag */
    uint64_t strand;        /* since the last item */
    struct worker_memory memory;
} program;

/* ---- workers ---- */

static struct span_worker *make_worker(unsigned number)
{
    struct span_worker *worker = sys_pages(sizeof *worker);
    if (worker)
        worker->sums = sys_pages(SPAN_CONTEXTS * sizeof *worker->sums);
    if (worker && worker->sums)
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
    activation->shape.strand += time;
    worker->sums[activation->context].work += time;
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&activation->series[kind].continuation, time);
    return activation;
}

/* The activation has ended: its prefixes are its longest paths. */
static void finish(struct span_worker *worker, struct activation *activation)
{
    activation_fold(activation, &worker->memory);
    activation->node = shape_end(&activation->shape, &worker->memory, activation->context,
                                 activation->work, activation->series[PLAIN].prefix.length,
                                 activation->series[BURDENED].prefix.length);
    if (!activation->is_outermost)
        return;
    struct sums *sums = &worker->sums[activation->context];
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
    sys_pages_free(worker->sums, SPAN_CONTEXTS * sizeof *worker->sums);
    sys_pages_free(worker, sizeof *worker);
}

/* Reports a child to a worker, with `grandchildren`, and returns the mean time of these events. */
static uint64_t time_events(unsigned number, struct agent_activation procedure, int grandchildren)
{
    uint64_t before = ticks_now();
    work_span_spawned(number, procedure);
    for (int i = 0; i < grandchildren; i++) {
        work_span_spawned(number, procedure);
        work_span_returned(number);
    }
    if (grandchildren)
        work_span_synced(number);
    work_span_returned(number);
    return ticks_now() - before;
}

/* The costs of short events: the least of many, since others were disturbed. */
static void measure_events(void)
{
    static const void *const code = "", *const site = "";
    const struct agent_activation procedure = {&code, &site};
    const unsigned number = SPAN_WORKERS - 1;
    uint64_t one = UINT64_MAX, all = UINT64_MAX;
    work_span_run_begins(&code, procedure);
    work_span_resumed(number, &code);
    for (int i = 0; i < MEASURED_EVENTS; i++) {
        uint64_t short_one = time_events(number, procedure, 0);
        uint64_t longer = time_events(number, procedure, 2);
        one = short_one < one ? short_one : one;
        all = longer < all ? longer : all;
    }
    strand_clock_set_event_cost(one / 2);
    program.node_cost = all > one / 2 * 7 ? all - one / 2 * 7 : 0;
    forget_worker(number);
}

bool work_span_init(uint64_t burden, bool records_dag)
{
    program.burden = burden << STRAND_SHIFT;
    program.records_dag = records_dag;
    strand_clock_calibrate();
    if (!span_contexts_init() || (records_dag && !shape_record()))
        return false;
    measure_events();
    span_contexts_clear();
    if (records_dag)
        dag_nodes_clear();
    program.serial_thread = sys_gettid();
    program.is_serial = true;
    strand_begin(&program.serial);
    return true;
}

static void add_serial(uint64_t time)
{
    program.work += time;
    program.strand += time;
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&program.path[kind], time);
}

/* Only the strands of one thread can be measured. */
static void end_serial_strand(void)
{
    if (program.serial_thread == sys_gettid())
        add_serial(strand_end(&program.serial));
}

void work_span_run_begins(const void *key, struct agent_activation root)
{
    struct activation activation = {0};
    program.is_serial = false;
    end_serial_strand();
    activation_begin(&activation, root, CONTEXT_PROGRAM);
    activation_store(key, &activation);
}

void work_span_run_ended(void)
{
    program.serial_thread = sys_gettid();
    program.is_serial = true;
    strand_begin(&program.serial);
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
    worker->sums[parent->context].spawns++;
    activation_begin(&top->activation, child, parent->context);
    worker->top++;
}

void work_span_returned(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    struct activation *child = add_strand(worker, strand_next(&worker->clock));
    uint64_t lookups = worker->memory.lookups;
    finish(worker, child);
    struct activation *parent = &level(worker, --worker->top)->activation;
    parent->work += child->work;
    shape_add_child(&parent->shape, &worker->memory, parent->context, child->node, child->work);
    strand_shorten(&worker->clock, (worker->memory.lookups - lookups) * program.node_cost);
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
    segment->child_node = child->node;
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

/* A root's path follows the program's. */
static void end_root(struct span_worker *worker, struct activation *root)
{
    if (program.records_dag)
        dag_list_add(&program.items, &program.memory, root->node, 1, program.strand, root->work);
    program.strand = 0;
    program.work += root->work;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct critical_path *path = &root->series[kind].prefix;
        span_change_owner(path, &worker->memory, root->context, CONTEXT_PROGRAM);
        span_append(&program.path[kind], &program.memory, path);
    }
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
    victim->steals++;
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

/* ---- results ---- */

static struct span_totals totals_so_far(void)
{
    struct span_totals totals = {.work = program.work,
                                 .span = program.path[PLAIN].length,
                                 .burdened_span = program.path[BURDENED].length,
                                 .burden = program.burden,
                                 .is_incomplete = span_has_failed()};
    for (unsigned i = 0; i < SPAN_WORKERS; i++) {
        const struct span_worker *worker = program.workers[i];
        totals.steals += worker ? worker->steals : 0;
        for (uint32_t context = 0; worker && context < span_contexts_end(); context++)
            totals.spawns += worker->sums[context].spawns;
    }
    return totals;
}

struct span_totals work_span_totals(void)
{
    end_serial_strand();
    return totals_so_far();
}

bool work_span_now(struct span_totals *totals)
{
    if (!program.is_serial || program.serial_thread != sys_gettid())
        return false;
    end_serial_strand();
    *totals = totals_so_far();
    strand_begin(&program.serial);
    return true;
}

const struct dag_item *work_span_items(uint32_t *n)
{
    if (program.strand)
        dag_list_add(&program.items, &program.memory, DAG_NOTHING, 1, program.strand, 0);
    program.strand = 0;
    return dag_list_items(program.items, n);
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
    for (unsigned i = 0; i < SPAN_WORKERS; i++) {
        if (!program.workers[i])
            continue;
        const struct sums *sums = &program.workers[i]->sums[context];
        values.work += sums->work;
        values.calls += sums->calls;
        values.call_work += sums->call_work;
        values.call_span += sums->call_span;
        values.spawns += sums->spawns;
    }
    return values;
}
