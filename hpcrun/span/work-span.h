/* Work, span and burdened span of a fork-join program, computed while it runs, with any number of
 * workers.
 *
 * METHOD. The algorithm is Cilkview's (He, Leiserson and Leiserson, SPAA 2010, Figure 13), with the
 * time of strands in place of instructions, and with Cilkprof's tables (Schardl and others, SPAA
 * 2015), which say to which calling context each part of the longest path belongs. Every activation
 * of a procedure has, from its beginning to the current point,
 *
 *     prefix        the longest path up to a spawn
 *     longest       from there through the spawned child with the longest path, to the child's end
 *     continuation  from there to the current point
 *
 * A child that ends either becomes the longest one (the prefix then takes the continuation in) or
 * is forgotten; a sync adds the longer one of the two to the prefix. So memory is proportional to
 * the depth of spawns, not to their number.
 *
 * PARALLEL RUNS. When a procedure is stolen, its values so far go into a *segment*, which also has a
 * place for the result of the child that the victim still executes. The thief goes on with values
 * of 0. The next sync folds the procedure's segments from the last to the first: a segment's child
 * ran in parallel with all that came later. So workers share nothing but segments, and those only
 * across the steal and the join that the runtime synchronizes.
 *
 * BURDEN. The burdened span is the longest path if every continuation is stolen: each costs what
 * moving it to another worker does (Cilkview's burdened dag).
 *
 * The functions of events are those of struct agent_dag in agents/agent-events.h. */
#ifndef HPCRUN_SPAN_WORK_SPAN_H
#define HPCRUN_SPAN_WORK_SPAN_H

#include "agents/agent.h"
#include "hpcrun/span/span-results.h"

#define SPAN_WORKERS 256 /* numbers of workers are below this */

/* Normal context, in the initial thread, once. `burden` in ns. False without memory. */
bool work_span_init(uint64_t burden);

void work_span_run_begins(const void *key, struct agent_activation root);
void work_span_run_ended(void);
void work_span_resumed(unsigned worker, const void *key);
void work_span_paused(unsigned worker);
bool work_span_spawned(unsigned worker, struct agent_activation child);
void work_span_returned(unsigned worker);
void work_span_orphaned(unsigned worker);
void work_span_synced(unsigned worker);
void work_span_suspended(unsigned worker, const void *key);
void work_span_ended(unsigned worker);
void work_span_stolen(unsigned victim, const void *key);

#endif
