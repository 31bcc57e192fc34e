#include "hpcrun/span/work-span.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/span/activations.h"
#include "hpcrun/span/strand-clock.h"

#include <stddef.h>

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
    struct grain_class *grain; /* of the top, or of the grain whose rest the top is; NULL: none */
    bool is_split;             /* the top is the rest of a grain */
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
                        (uint64_t)*activation->procedure.site);
}

/* Adds work to the top activation. */
static struct activation *add_work(struct span_worker *worker, uint64_t time)
{
    struct activation *activation = &level(worker, worker->top)->activation;
    if (activation->context == CONTEXT_NONE)
        look_up_context(activation);
    struct span_sums *sums = &worker->tally->by[activation->context];
    activation->work += time;
    activation->strands++;
    sums->work += time;
    sums->strands++;
    return activation;
}

/* Adds the strand that just ended to the top activation. */
static struct activation *add_strand(struct span_worker *worker, uint64_t time)
{
    struct activation *activation = add_work(worker, time);
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&activation->series[kind].continuation, time, 1);
    return activation;
}

/* The same for a grain, or for a part of one. */
static struct activation *add_grain(struct span_worker *worker, uint64_t time)
{
    struct activation *activation = add_work(worker, time);
    struct grain_lengths lengths =
        grain_lengths_of(&worker->tally->classes, worker->grain, time, worker->is_split);
    activation->spawns += lengths.spawns;
    worker->tally->by[activation->context].spawns += lengths.spawns;
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&activation->series[kind].continuation, lengths.path[kind].length,
                     lengths.path[kind].strands);
    return activation;
}

static struct grain_class *class_of(struct span_worker *worker, const struct activation *activation)
{
    return grain_class_of(&worker->tally->classes, activation->parent_context,
                          (uint64_t)*activation->procedure.code, activation->depth);
}

/* An activation that was spawned has ended, folded. A stolen one is not like its class. */
static void learn(struct span_worker *worker, const struct activation *activation, bool was_stolen)
{
    if (was_stolen)
        return;
    struct grain_lengths lengths = {.work = activation->work,
                                    .strands = activation->strands,
                                    .spawns = activation->spawns};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        lengths.path[kind].length = activation->series[kind].prefix.length;
        lengths.path[kind].strands = activation->series[kind].prefix.strands;
    }
    grain_observed(&worker->tally->classes, class_of(worker, activation), &lengths,
                   activation->is_mixed, activation->is_trial);
}

/* The top activation, which was spawned, ends with its strand. Its prefixes are its longest paths. */
static struct activation *end_top(struct span_worker *worker, uint64_t time)
{
    struct activation *top = worker->grain ? add_grain(worker, time) : add_strand(worker, time);
    bool was_stolen = top->before;
    activation_fold(top, &worker->memory);
    if (!worker->grain)
        learn(worker, top, was_stolen);
    worker->grain = NULL;
    return top;
}

/* The burden is on the continuation after the spawn that just happened. */
static void add_burden(struct activation *activation)
{
    path_add_own(&activation->series[BURDENED].continuation, program.burden, 0);
}

/* ---- events ---- */

bool work_span_init(uint64_t burden)
{
    program.burden = burden << STRAND_SHIFT;
    strand_clock_calibrate();
    if (!span_contexts_init())
        return false;
    span_results_begin(program.burden);
    return true;
}

void work_span_run_begins(const void *key, struct agent_activation root)
{
    struct activation activation = {0};
    span_serial_ends();
    activation_begin(&activation, root, CONTEXT_PROGRAM, 0);
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
    worker->grain = NULL;
    if (base->activation.is_suspended)
        activation_fold(&base->activation, &worker->memory);
    base->activation.is_suspended = false;
    strand_begin(&worker->clock);
}

void work_span_paused(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (worker)
        strand_stop(&worker->clock);
}

bool work_span_spawned(unsigned number, struct agent_activation child)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return false;
    struct activation *parent = add_strand(worker, strand_end(&worker->clock));
    struct level *top = new_level(worker, worker->top + 1);
    if (!top) {
        span_fail();
        return false;
    }
    worker->tally->by[parent->context].spawns++;
    activation_begin(&top->activation, child, parent->context, parent->depth + 1);
    worker->top++;
    struct grain_class *class = class_of(worker, &top->activation);
    enum grain_choice choice = grain_choose(&worker->tally->classes, class);
    top->activation.is_trial = choice == GRAIN_TRIAL;
    worker->grain = choice == GRAIN_YES ? class : NULL;
    worker->is_split = false;
    strand_begin(&worker->clock);
    return worker->grain;
}

void work_span_returned(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    struct grain_class *grain = worker->grain;
    struct activation *child = end_top(worker, strand_end(&worker->clock));
    struct activation *parent = &level(worker, --worker->top)->activation;
    if (grain)
        grain_ended(&worker->tally->classes, grain, child->work);
    parent->work += child->work;
    parent->strands += child->strands;
    parent->spawns += child->spawns + 1;
    parent->is_mixed |= child->is_mixed || child->context != parent->context;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct critical_path *path = &child->series[kind].prefix;
        span_change_owner(path, &worker->memory, child->context, parent->context);
        series_add_branch(&parent->series[kind], &worker->memory, path);
    }
    add_burden(parent);
    strand_begin(&worker->clock);
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
    struct activation *child = end_top(worker, strand_end(&worker->clock));
    deliver(worker, level(worker, worker->top - 1)->stolen_as, child);
}

void work_span_synced(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (!worker)
        return;
    activation_fold(add_strand(worker, strand_end(&worker->clock)), &worker->memory);
    strand_begin(&worker->clock);
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
    activation_fold(base, &worker->memory);
    if (base->parent)
        deliver(worker, base->parent, base);
    else
        end_root(worker, base);
}

/* The top of the victim, a grain or the rest of one, is about to be stolen. The child that the victim
 * executes becomes the top: the rest of the grain. It is in the same context (grains.h). The victim
 * reports nothing until it has taken the runtime's lock. False without memory. */
static bool split_grain(struct span_worker *victim)
{
    victim->is_split = true;
    const struct activation *top = add_grain(victim, strand_cut(&victim->clock));
    struct level *rest = new_level(victim, victim->top + 1);
    if (!rest)
        return false;
    activation_begin(&rest->activation, top->procedure, top->context, top->depth + 1);
    rest->activation.context = top->context;
    victim->top++;
    return true;
}

void work_span_stolen(unsigned number, const void *key)
{
    struct span_worker *victim = worker_of(number);
    if (!victim)
        return;
    uint32_t i = victim->stolen;
    struct level *from = level(victim, i);
    struct activation *activation = &from->activation;
    bool is_split = !victim->grain || i < victim->top || split_grain(victim);
    from->stolen_as = is_split ? activation_cut(activation) : NULL;
    if (!from->stolen_as) {
        span_fail();
        return;
    }
    victim->stolen++;
    victim->tally->steals++;
    struct activation rest = {.procedure = activation->procedure,
                              .context = activation->context,
                              .parent_context = activation->parent_context,
                              .depth = activation->depth,
                              .parent =
                                  i > 0 ? level(victim, i - 1)->stolen_as : activation->parent,
                              .before = from->stolen_as};
    add_burden(&rest);
    activation_store(key, &rest);
}
