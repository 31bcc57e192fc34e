#include "hpcrun/span/work-span.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/span/span-frames.h"
#include "hpcrun/span/strand-clock.h"

#include <stddef.h>

/* An activation of a procedure. */
struct activation {
    struct span_frame frame; /* its context is CONTEXT_NONE until its first event */
    struct agent_activation procedure;
    uint32_t parent_context;
    uint32_t depth; /* of spawns; 0: a root */
    bool is_mixed;  /* a descendant is in another context */
    bool is_trial;  /* grains.h */
    bool was_stolen;
    bool is_suspended;        /* when it is resumed, its children have ended */
    uint64_t strands, spawns; /* of it and its ended children */
};

_Static_assert(offsetof(struct activation, frame) == 0, "a frame is an activation");
_Static_assert(sizeof(struct activation) <= FIRST_BLOCK << FRAME_SIZE, "an activation has a block");

struct span_worker {
    _Alignas(64) struct strand_clock clock;
    struct worker_memory memory;
    struct span_tally *tally; /* its steals are those by others; under the runtime's lock */
    struct activation *top;   /* NULL: none */
    /* Of the top and its callers: the outermost that was not stolen. Under the runtime's lock. */
    struct span_frame *oldest;
    struct grain_class *grain; /* of the top, or of the grain whose rest the top is; NULL: none */
    bool is_split;             /* the top is the rest of a grain */
};

static struct {
    uint64_t burden;
    struct span_worker *workers[SPAN_WORKERS];
    struct lock lock; /* of `memory` */
    struct worker_memory memory; /* of roots and segments, which no known worker makes */
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

/* The same, if the worker executes an activation. */
static struct span_worker *busy_worker(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (worker && worker->top)
        return worker;
    span_fail();
    return NULL;
}

/* ---- strands and activations ---- */

static struct activation *new_activation(struct worker_memory *memory, struct activation *parent,
                                         struct agent_activation procedure)
{
    struct activation *new =
        (struct activation *)frame_new(memory, parent ? &parent->frame : NULL, CONTEXT_NONE, NULL);
    if (!new) {
        span_fail();
        return NULL;
    }
    new->procedure = procedure;
    new->parent_context = parent ? parent->frame.context : CONTEXT_PROGRAM;
    new->depth = parent ? parent->depth + 1 : 0;
    new->is_mixed = new->is_trial = new->was_stolen = new->is_suspended = false;
    new->strands = new->spawns = 0;
    if (parent)
        parent->frame.child = &new->frame;
    return new;
}

/* The top activation, whose strand or grain has ended. */
static struct activation *top_at_event(struct span_worker *worker)
{
    struct activation *top = worker->top;
    if (top->frame.context == CONTEXT_NONE)
        top->frame.context = span_context_of(top->parent_context, (uint64_t)*top->procedure.code,
                                             (uint64_t)*top->procedure.site);
    top->strands++;
    return top;
}

/* Adds the strand that just ended to the top activation. */
static struct activation *add_strand(struct span_worker *worker, uint64_t time)
{
    struct activation *top = top_at_event(worker);
    frame_add_strand(&top->frame, worker->tally, time);
    return top;
}

/* The same for a grain, or for a part of one. */
static struct activation *add_grain(struct span_worker *worker, uint64_t time)
{
    struct activation *top = top_at_event(worker);
    struct grain_lengths lengths =
        grain_lengths_of(&worker->tally->classes, worker->grain, time, worker->is_split);
    frame_add(&top->frame, worker->tally, time);
    top->spawns += lengths.spawns;
    worker->tally->by[top->frame.context].spawns += lengths.spawns;
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&top->frame.series[kind].continuation, lengths.path[kind].length,
                     lengths.path[kind].strands);
    return top;
}

static struct grain_class *class_of(struct span_worker *worker, const struct activation *activation)
{
    return grain_class_of(&worker->tally->classes, activation->parent_context,
                          (uint64_t)*activation->procedure.code, activation->depth);
}

/* All children of the activation have ended. */
static void fold(struct activation *activation, struct worker_memory *memory)
{
    if (!frame_sync(&activation->frame, memory))
        span_fail();
}

/* An activation that was spawned has ended, folded. A stolen one is not like its class. */
static void learn(struct span_worker *worker, const struct activation *activation)
{
    if (activation->was_stolen)
        return;
    struct grain_lengths lengths = {.work = activation->frame.work,
                                    .strands = activation->strands,
                                    .spawns = activation->spawns};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        lengths.path[kind].length = activation->frame.series[kind].prefix.length;
        lengths.path[kind].strands = activation->frame.series[kind].prefix.strands;
    }
    grain_observed(&worker->tally->classes, class_of(worker, activation), &lengths,
                   activation->is_mixed, activation->is_trial);
}

/* The top activation, which was spawned, ends with its strand. Its prefixes are its longest paths. */
static struct activation *end_top(struct span_worker *worker)
{
    uint64_t time = strand_end(&worker->clock);
    struct activation *top = worker->grain ? add_grain(worker, time) : add_strand(worker, time);
    fold(top, &worker->memory);
    if (worker->grain)
        grain_ended(&worker->tally->classes, worker->grain, top->frame.work);
    else
        learn(worker, top);
    worker->grain = NULL;
    return top;
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

void work_span_run_begins(const void *key, struct agent_activation procedure)
{
    if (span_has_failed())
        return;
    span_serial_ends();
    uint64_t mask = lock_take(&program.lock);
    struct activation *root = new_activation(&program.memory, NULL, procedure);
    lock_release(&program.lock, mask);
    if (root)
        frame_list(&root->frame, key);
}

void work_span_run_ended(void)
{
    if (!span_has_failed())
        span_serial_begins();
}

void work_span_resumed(unsigned number, const void *key)
{
    struct span_worker *worker = worker_of(number);
    struct span_frame *base = worker ? frame_find(key) : NULL;
    if (!base) {
        span_fail();
        return;
    }
    frame_unlist(base);
    worker->oldest = base;
    worker->top = (struct activation *)base;
    worker->grain = NULL;
    if (worker->top->is_suspended)
        fold(worker->top, &worker->memory);
    worker->top->is_suspended = false;
    strand_begin(&worker->clock);
}

void work_span_paused(unsigned number)
{
    struct span_worker *worker = worker_of(number);
    if (worker)
        strand_stop(&worker->clock);
}

bool work_span_spawned(unsigned number, struct agent_activation procedure)
{
    struct span_worker *worker = busy_worker(number);
    if (!worker)
        return false;
    struct activation *parent = add_strand(worker, strand_end(&worker->clock));
    struct activation *child = new_activation(&worker->memory, parent, procedure);
    if (!child)
        return false;
    worker->tally->by[parent->frame.context].spawns++;
    worker->top = child;
    struct grain_class *class = class_of(worker, child);
    enum grain_choice choice = grain_choose(&worker->tally->classes, class);
    child->is_trial = choice == GRAIN_TRIAL;
    worker->grain = choice == GRAIN_YES ? class : NULL;
    worker->is_split = false;
    strand_begin(&worker->clock);
    return worker->grain;
}

void work_span_returned(unsigned number)
{
    struct span_worker *worker = busy_worker(number);
    struct activation *parent = worker ? (struct activation *)worker->top->frame.caller : NULL;
    if (!parent) {
        span_fail();
        return;
    }
    struct activation *child = end_top(worker);
    parent->strands += child->strands;
    parent->spawns += child->spawns + 1;
    parent->is_mixed |= child->is_mixed || child->frame.context != parent->frame.context;
    frame_join(&child->frame, &worker->memory);
    frame_free(&child->frame, &worker->memory);
    frame_add_burden(&parent->frame, program.burden);
    worker->top = parent;
    strand_begin(&worker->clock);
}

/* The worker's last activation ends: the sync of the stolen parent will find its result. */
static void deliver(struct span_worker *worker, struct activation *last)
{
    if (last->frame.result)
        frame_join(&last->frame, &worker->memory);
    else if (!last->frame.caller)
        frame_end_computation(&last->frame, &worker->memory);
    else
        span_fail();
    frame_free(&last->frame, &worker->memory);
    worker->top = NULL;
    worker->oldest = NULL;
}

void work_span_orphaned(unsigned number)
{
    struct span_worker *worker = busy_worker(number);
    if (worker)
        deliver(worker, end_top(worker));
}

void work_span_synced(unsigned number)
{
    struct span_worker *worker = busy_worker(number);
    if (!worker)
        return;
    fold(add_strand(worker, strand_end(&worker->clock)), &worker->memory);
    strand_begin(&worker->clock);
}

void work_span_suspended(unsigned number, const void *key)
{
    struct span_worker *worker = busy_worker(number);
    if (!worker)
        return;
    struct activation *base = add_strand(worker, strand_end(&worker->clock));
    base->is_suspended = true;
    worker->top = NULL;
    worker->oldest = NULL;
    frame_list(&base->frame, key);
}

void work_span_ended(unsigned number)
{
    struct span_worker *worker = busy_worker(number);
    if (!worker)
        return;
    struct activation *base = add_strand(worker, strand_end(&worker->clock));
    fold(base, &worker->memory);
    deliver(worker, base);
}

/* The top of the victim, a grain or the rest of one, is about to be stolen. The child that the victim
 * executes becomes the top: the rest of the grain. It is in the same context (grains.h). The victim
 * reports nothing until it has taken the runtime's lock. */
static void split_grain(struct span_worker *victim)
{
    victim->is_split = true;
    struct activation *top = add_grain(victim, strand_cut(&victim->clock));
    struct activation *rest = new_activation(&victim->memory, top, top->procedure);
    if (!rest)
        return;
    rest->frame.context = top->frame.context;
    victim->top = rest;
}

void work_span_stolen(unsigned number, const void *key)
{
    struct span_worker *victim = worker_of(number);
    struct span_frame *frame = victim ? victim->oldest : NULL;
    if (frame && victim->grain && frame == &victim->top->frame)
        split_grain(victim);
    struct span_frame *child = frame ? frame->child : NULL;
    uint64_t mask = lock_take(&program.lock);
    bool is_cut = child && frame_cut(frame, &program.memory);
    lock_release(&program.lock, mask);
    if (!is_cut) {
        span_fail();
        return;
    }
    victim->oldest = child;
    victim->tally->steals++;
    ((struct activation *)frame)->was_stolen = true;
    frame_add_burden(frame, program.burden);
    frame_list(frame, key);
}
