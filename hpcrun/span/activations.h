/* Activations of procedures in a fork-join program, with their longest paths so far (work-span.h
 * tells the method), and the segments that they leave when they are stolen. Normal context. */
#ifndef HPCRUN_SPAN_ACTIVATIONS_H
#define HPCRUN_SPAN_ACTIVATIONS_H

#include "agents/agent.h"
#include "hpcrun/span/critical-path.h"
#include "hpcrun/span/span-results.h"

/* All paths belong to the activation; so do those of a child, once it has ended. */
struct series {
    struct critical_path prefix, longest, continuation;
};

struct segment;

struct activation {
    struct agent_activation procedure;
    uint32_t context; /* CONTEXT_NONE: not looked up yet */
    uint32_t parent_context;
    uint32_t depth;              /* of spawns; 0: a root */
    bool is_mixed;               /* a descendant is in another context */
    bool is_trial;               /* grains.h */
    bool is_suspended;           /* when it is resumed, its children have ended */
    struct segment *parent;      /* of a base: where its result goes; NULL: a root */
    struct segment *before;      /* its last segment; NULL: it was never stolen */
    uint64_t work, strands, spawns; /* of it and its ended children, without `before` */
    struct series series[KINDS]; /* empty in a level that is not in use */
};

/* What a stolen activation had, with the result of the child that the victim executed. */
struct segment {
    struct segment *before;
    uint32_t context; /* of the activation */
    uint64_t work;
    struct series series[KINDS];
    uint64_t child_work;
    struct critical_path child[KINDS];
};

/* ---- paths ---- */

/* A branch of this length, parallel to the continuation so far, has ended. Empties it. */
void series_add_branch(struct series *series, struct worker_memory *memory,
                       struct critical_path *branch);

/* All branches have ended: the longest path is the prefix, and the rest is empty. */
void series_sync(struct series *series, struct worker_memory *memory);

/* A series was cut by a steal; then `child`, which the victim executed, ran in parallel with what
 * followed: `rest`, up to a sync. Moves all to `rest`. */
void series_put_before(struct series *series, struct critical_path *child,
                       struct worker_memory *memory, struct critical_path *rest);

/* ---- activations ---- */

/* Begins an activation in a level whose series are empty. */
void activation_begin(struct activation *activation, struct agent_activation procedure,
                      uint32_t parent_context, uint32_t depth);

/* All children of the activation have ended: its prefixes become its longest paths, and its segments
 * are freed. */
void activation_fold(struct activation *activation, struct worker_memory *memory);

/* Moves what the activation has into a new segment; NULL without memory. */
struct segment *activation_cut(struct activation *activation);

/* Keeps a copy of an activation that no worker executes, until a worker takes it. */
void activation_store(const void *key, const struct activation *activation);

/* Takes the activation with this key out; false if there is none. */
bool activation_take(const void *key, struct activation *activation);

#endif
