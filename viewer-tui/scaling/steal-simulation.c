#include "viewer-tui/scaling/steal-simulation.h"

#include "viewer-tui/scaling/event-queue.h"

#include <math.h>
#include <stdlib.h>

#define NO_FRAME UINT32_MAX

/* Turns of a serial loop whose mean stands for those that are not simulated. */
#define TIMED_TURNS 64

/* A position in a node: before the strand of this item, for the `turn`-th time. */
struct position {
    uint32_t item, turn;
};

/* An activation, or a block of one, that was opened: part of it runs elsewhere, or it waits. */
struct frame {
    uint32_t node; /* DAG_STRAND: a strand */
    uint32_t parent;
    bool is_call;             /* the parent goes on when the frame ends, on the same worker */
    bool is_waiting;          /* at a sync, for children elsewhere */
    uint32_t outstanding;     /* children elsewhere */
    struct position position; /* where it goes on, unless a worker executes it */
    double scale, work;       /* the node's times are multiplied with the scale */
    struct position timed;    /* a turn of the serial loop that it executes; turn 0: none yet */
    double timed_at;          /* when that began */
};

/* A worker executes a frame from a position on, which it reached at `begin`, up to another one. */
struct worker {
    uint32_t frame; /* NO_FRAME: it has no work */
    struct position from, stop;
    double begin;
    uint32_t ready_at; /* place among the ready workers; NO_WORKER: none */
};

struct simulation {
    const struct spawn_dag *dag;
    unsigned n;
    uint64_t random, steals, steps;
    struct worker workers[MOST_SIMULATED_WORKERS];
    uint32_t idle[MOST_SIMULATED_WORKERS], n_idle;
    /* Workers that may have something to steal now. The others have a time in `chances` when they
     * may, if that comes before they stop. */
    uint32_t ready[MOST_SIMULATED_WORKERS], n_ready;
    struct event_queue stops, chances;
    VEC(struct frame) frames;
    VEC(uint32_t) free_frames;
};

/* splitmix64. */
static uint32_t random_below(struct simulation *s, uint32_t limit)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(((z ^ z >> 31) >> 32) * limit >> 32);
}

/* ---- frames ---- */

static struct frame *frame_of(struct simulation *s, uint32_t id)
{
    return &s->frames.at[id];
}

static const struct dag_node *node_of(const struct simulation *s, const struct frame *frame)
{
    return &s->dag->nodes.at[frame->node];
}

static const struct dag_item *items_of(const struct simulation *s, const struct frame *frame)
{
    return spawn_dag_items(s->dag, node_of(s, frame));
}

static uint32_t open_frame(struct simulation *s, const struct frame *frame)
{
    if (!s->free_frames.n) {
        vec_push(&s->frames, *frame);
        return (uint32_t)s->frames.n - 1;
    }
    uint32_t id = s->free_frames.at[--s->free_frames.n];
    s->frames.at[id] = *frame;
    return id;
}

/* Opens the child of an item. */
static uint32_t open_child(struct simulation *s, uint32_t parent, const struct dag_item *item,
                           bool is_call)
{
    double work = item->work / item->count * frame_of(s, parent)->scale;
    struct frame child = {
        .node = item->node, .parent = parent, .is_call = is_call, .work = work, .scale = 1};
    if (item->node >= DAG_FIRST_NODE)
        child.scale = work / s->dag->nodes.at[item->node].work;
    return open_frame(s, &child);
}

/* Time from the node's begin to a position, in the node's own time. */
static double offset_of(const struct simulation *s, const struct frame *frame, struct position at)
{
    const struct dag_node *node = node_of(s, frame);
    if (frame->node == DAG_STRAND)
        return 0;
    if (at.item == node->n)
        return node->work;
    const struct dag_item *item = &items_of(s, frame)[at.item];
    return item->begin + (item->strand + item->work) / item->count * at.turn;
}

/* The position behind the child at a position. */
static struct position after(const struct dag_item *items, struct position at)
{
    at.turn++;
    return at.turn < items[at.item].count ? at : (struct position){at.item + 1, 0};
}

/* Where the frame stops, if executed from a position on: behind its next sync if children are
 * elsewhere, or at its end. */
static struct position stop_of(const struct simulation *s, const struct frame *frame,
                               struct position from)
{
    if (frame->node == DAG_STRAND)
        return (struct position){0};
    const struct dag_node *node = node_of(s, frame);
    const struct dag_item *items = items_of(s, frame);
    uint32_t item = from.item;
    if (!frame->outstanding)
        return (struct position){node->n, 0};
    while (item < node->n && items[item].node != DAG_NOTHING)
        item++;
    return (struct position){item < node->n ? item + 1 : item, 0};
}

/* ---- workers ---- */

static void leave_ready(struct simulation *s, struct worker *worker)
{
    if (worker->ready_at == NO_WORKER)
        return;
    uint32_t last = s->ready[--s->n_ready];
    s->ready[worker->ready_at] = last;
    s->workers[last].ready_at = worker->ready_at;
    worker->ready_at = NO_WORKER;
}

static uint32_t number_of(const struct simulation *s, const struct worker *worker)
{
    return (uint32_t)(worker - s->workers);
}

static void set_chance(struct simulation *s, const struct worker *worker, double time)
{
    event_queue_set(&s->chances, number_of(s, worker), time);
}

/* Lets the worker execute a frame from a position on, at a time. */
static void execute(struct simulation *s, struct worker *worker, uint32_t id, struct position from,
                    double begin)
{
    const struct frame *frame = frame_of(s, id);
    struct position stop = stop_of(s, frame, from);
    double time = frame->node == DAG_STRAND
                      ? frame->work
                      : (offset_of(s, frame, stop) - offset_of(s, frame, from)) * frame->scale;
    leave_ready(s, worker);
    worker->frame = id;
    worker->from = from;
    worker->stop = stop;
    worker->begin = begin;
    event_queue_set(&s->stops, number_of(s, worker), begin + time);
    set_chance(s, worker, frame->node == DAG_STRAND ? INFINITY : begin);
}

/* ---- what can be stolen ---- */

/* The child that a worker executes at a time, in its frame. */
struct current_child {
    struct position at;
    double begin, end;
};

/* The first item of the node that ends after an offset, from `from` on. */
static uint32_t item_at(const struct dag_item *items, uint32_t n, uint32_t from, double offset)
{
    uint32_t low = from, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (items[middle].begin + items[middle].strand + items[middle].work > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The child that the worker executes at a time, or the next one in its frame, if any takes time.
 * False if there is none. */
static bool find_child(const struct simulation *s, const struct worker *worker, double time,
                       struct current_child *child)
{
    const struct frame *frame = &s->frames.at[worker->frame];
    const struct dag_item *items = items_of(s, frame);
    double start = offset_of(s, frame, worker->from), scale = frame->scale;
    double offset = scale > 0 ? start + fmax(time - worker->begin, 0) / scale : start;
    uint32_t n = node_of(s, frame)->n, i = item_at(items, n, worker->from.item, offset);
    while (i < n && items[i].work == 0)
        i++;
    if (i == n || i >= worker->stop.item)
        return false;
    double turn = (items[i].strand + items[i].work) / items[i].count;
    double turns = fmax(floor((offset - items[i].begin) / turn), 0);
    uint32_t first = i == worker->from.item ? worker->from.turn : 0;
    child->at.item = i;
    child->at.turn = (uint32_t)fmin(turns, items[i].count - 1);
    if (child->at.turn < first)
        child->at.turn = first;
    double begin = items[i].begin + turn * child->at.turn + items[i].strand / items[i].count;
    child->begin = worker->begin + (begin - start) * scale;
    child->end = child->begin + items[i].work / items[i].count * scale;
    return true;
}

/* When the worker has executed all of an item. */
static double end_of_item(const struct simulation *s, const struct worker *worker, uint32_t item)
{
    const struct frame *frame = &s->frames.at[worker->frame];
    double end = offset_of(s, frame, (struct position){item + 1, 0});
    return worker->begin + (end - offset_of(s, frame, worker->from)) * frame->scale;
}

/* Whether the worker has something to steal at a time: the rest of its frame behind *child. Opens
 * what the frame calls. If not, *next is the first time at which it may have; INFINITY: none while it
 * executes this frame. */
static bool has_chance(struct simulation *s, struct worker *worker, double time,
                       struct current_child *child, double *next)
{
    *next = INFINITY;
    while (frame_of(s, worker->frame)->node != DAG_STRAND && find_child(s, worker, time, child)) {
        struct frame *frame = frame_of(s, worker->frame);
        const struct dag_item *items = items_of(s, frame), *item = &items[child->at.item];
        s->steps++;
        if (child->begin > time) {
            *next = child->begin;
            return false;
        }
        if (child->end <= time) { /* by rounding: it ends now */
            *next = time + 1;
            return false;
        }
        if (node_of(s, frame)->kind == DAG_SPAWNS)
            return true;
        if (item->node == DAG_STRAND) {
            *next = end_of_item(s, worker, child->at.item);
            return false;
        }
        frame->position = after(items, child->at);
        uint32_t called = open_child(s, worker->frame, item, true);
        execute(s, worker, called, (struct position){0}, child->begin);
    }
    return false;
}

static void steal(struct simulation *s, struct worker *thief, struct worker *victim,
                  const struct current_child *child, double time)
{
    uint32_t id = victim->frame;
    const struct dag_item *items = items_of(s, frame_of(s, id));
    uint32_t own = open_child(s, id, &items[child->at.item], false);
    frame_of(s, id)->outstanding++;
    execute(s, victim, own, (struct position){0}, child->begin);
    execute(s, thief, id, after(items, child->at), time + s->dag->burden);
    s->steals++;
}

/* Moves workers whose chance has come to the ready ones. */
static void collect_ready(struct simulation *s, double time)
{
    uint32_t first;
    while ((first = event_queue_first(&s->chances)) != NO_WORKER &&
           s->chances.times[first] <= time) {
        s->workers[first].ready_at = s->n_ready;
        s->ready[s->n_ready++] = first;
        event_queue_set(&s->chances, first, INFINITY);
    }
}

/* Finds work for a worker that has none; without any, it becomes idle. */
static void find_work(struct simulation *s, struct worker *thief, double time)
{
    struct current_child child;
    double next;
    thief->frame = NO_FRAME;
    leave_ready(s, thief);
    set_chance(s, thief, INFINITY);
    event_queue_set(&s->stops, number_of(s, thief), INFINITY);
    collect_ready(s, time);
    while (s->n_ready) {
        struct worker *victim = &s->workers[s->ready[random_below(s, s->n_ready)]];
        if (has_chance(s, victim, time, &child, &next)) {
            steal(s, thief, victim, &child, time);
            return;
        }
        leave_ready(s, victim);
        set_chance(s, victim, next);
    }
    s->idle[s->n_idle++] = number_of(s, thief);
}

/* ---- events ---- */

/* A serial loop goes on with its next turn. If all other workers are idle, each turn begins as the
 * one before did: all but the last are skipped once TIMED_TURNS have been timed. Returns when the
 * frame goes on. */
static double skip_turns(const struct simulation *s, struct frame *frame, double time)
{
    struct position *at = &frame->position, *timed = &frame->timed;
    const struct dag_node *node = node_of(s, frame);
    if (node->kind != DAG_SERIES || at->turn == 0 || s->n_idle + 1 < s->n)
        return time;
    if (timed->turn == 0 || timed->item != at->item) {
        *timed = *at;
        frame->timed_at = time;
        return time;
    }
    uint32_t turns = at->turn - timed->turn, last = items_of(s, frame)[at->item].count - 1;
    if (turns < TIMED_TURNS || at->turn == last)
        return time;
    double skipped = last - at->turn;
    at->turn = last;
    return time + (time - frame->timed_at) / turns * skipped;
}

/* The frame has ended on this worker. False at the end of the program. */
static bool end_frame(struct simulation *s, struct worker *worker, double time)
{
    uint32_t id = worker->frame, parent = frame_of(s, id)->parent;
    bool is_call = frame_of(s, id)->is_call;
    vec_push(&s->free_frames, id);
    if (parent == NO_FRAME)
        return false;
    struct frame *above = frame_of(s, parent);
    if (!is_call && (--above->outstanding > 0 || !above->is_waiting)) {
        find_work(s, worker, time);
        return true;
    }
    above->is_waiting = false;
    if (is_call)
        time = skip_turns(s, above, time);
    execute(s, worker, parent, above->position, time);
    return true;
}

/* The worker has reached the position where it stops. False at the end of the program. */
static bool stop(struct simulation *s, struct worker *worker, double time)
{
    struct frame *frame = frame_of(s, worker->frame);
    if (frame->outstanding) {
        frame->position = worker->stop;
        frame->is_waiting = true;
        find_work(s, worker, time);
        return true;
    }
    if (frame->node == DAG_STRAND || worker->stop.item == node_of(s, frame)->n)
        return end_frame(s, worker, time);
    execute(s, worker, worker->frame, worker->stop, time); /* the children have ended meanwhile */
    return true;
}

/* A worker may have something to steal, and others have no work. */
static void take_chance(struct simulation *s, struct worker *victim, double time)
{
    struct current_child child;
    double next;
    if (!has_chance(s, victim, time, &child, &next)) {
        set_chance(s, victim, next);
        return;
    }
    uint32_t i = random_below(s, s->n_idle), thief = s->idle[i];
    s->idle[i] = s->idle[--s->n_idle];
    steal(s, &s->workers[thief], victim, &child, time);
}

/* Processes an event. False at the end of the program, at *time. */
static bool advance(struct simulation *s, double *time)
{
    uint32_t end = event_queue_first(&s->stops);
    s->steps++;
    uint32_t chance = s->n_idle ? event_queue_first(&s->chances) : NO_WORKER;
    *time = s->stops.times[end];
    if (chance == NO_WORKER || s->chances.times[chance] >= *time)
        return stop(s, &s->workers[end], *time);
    *time = s->chances.times[chance];
    take_chance(s, &s->workers[chance], *time);
    return true;
}

static void begin(struct simulation *s)
{
    uint32_t root = spawn_dag_root(s->dag);
    struct frame frame = {
        .node = root, .parent = NO_FRAME, .scale = 1, .work = s->dag->nodes.at[root].work};
    for (unsigned i = 0; i < s->n; i++)
        s->workers[i] = (struct worker){.frame = NO_FRAME, .ready_at = NO_WORKER};
    for (unsigned i = 1; i < s->n; i++)
        s->idle[s->n_idle++] = i;
    execute(s, &s->workers[0], open_frame(s, &frame), (struct position){0}, 0);
}

struct simulated_run simulate_stealing(const struct spawn_dag *dag, unsigned workers, uint64_t seed)
{
    struct simulation *s = mem_alloc(sizeof *s);
    double time = 0;
    s->dag = dag;
    s->n = workers;
    s->random = seed << 32 | workers;
    s->stops = event_queue_make(workers);
    s->chances = event_queue_make(workers);
    begin(s);
    while (advance(s, &time) && s->steps <= MOST_STEPS)
        ;
    struct simulated_run run = {s->steps <= MOST_STEPS ? time : NAN, s->steals, s->steps};
    vec_free(&s->frames);
    vec_free(&s->free_frames);
    event_queue_free(&s->stops);
    event_queue_free(&s->chances);
    free(s);
    return run;
}
