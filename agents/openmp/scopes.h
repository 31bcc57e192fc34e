/* Scopes: what a thread runs for libomp, innermost first: explicit tasks, the implicit tasks of
 * regions. A scope begins with its link (common/body-links.h), and those of a thread are linked by
 * `up`. Only its thread changes a scope. The memory stays: handlers of other threads read regions.
 *
 * A link's body is called by the frame of libomp at the task's exit frame, which libomp sets after
 * the scope has begun, and unsets before it ends. */
#ifndef AGENTS_OPENMP_SCOPES_H
#define AGENTS_OPENMP_SCOPES_H

#include "agents/common/body-links.h"
#include "agents/openmp/ompt.h"

struct task_record;

struct scope {
    struct body_link link; /* link.sp is the exit frame as last seen by the thread; 0: not yet */
    const ompt_frame_t *frame;
    ompt_data_t *task;
    enum agent_slot_state before;  /* of the task outside of it, when this one began */
    struct task_record *record;    /* of an explicit task; NULL: it has none */
    const ompt_data_t *left;       /* the task that the thread left for this explicit one */
    struct parallel_region region; /* that a thread begins with this scope's memory */
    void *observed;                /* handle of this region's events; NULL: they are not reported */
    const void *site;              /* of the region, for work and span */
    bool is_league;                /* the region is a league of teams */
    bool is_team; /* it is the body of one team; `observed` and `site`: the league's */
    struct scope *next_free;
};

/* Normal context. A scope without content; NULL without memory. */
struct scope *scope_take(struct agent_slot *slot);
void scope_give_back(struct agent_slot *slot, struct scope *scope);

#endif
