/* What the runs of a set lose, scope by scope: the views of all runs merged into one tree.
 *
 * Values of a number of workers P are means over its runs, so that they add up along the tree; sums
 * over workers, in seconds:
 *
 *     inflation [P] = work [P] - work [1]      the same work takes longer beside other workers
 *     loss [P]      = inflation [P] + overhead [P] + idleness [P]
 *     effort [P]    = work [P] + overhead [P] + idleness [P]
 *
 * Percentages are of effort [P], all time that P workers had. So loss [P] of the whole program, in
 * percent, is what the efficiency work [1] / effort [P] lacks.
 *
 * Which scopes of different runs are the same: match.h, of runs of one program. */
#ifndef VIEWER_LOSSES_H
#define VIEWER_LOSSES_H

#include "viewer-tui/compare/merged-runs.h"

/* There must be runs, those with the most workers first, in a group for each number of workers; their databases outlive
 * the result. The first metric that was measured is the loss of the most workers. The caller frees with
 * merged_runs_free. */
struct merged_runs *losses_new(const struct merged_run *runs, size_t n);

#endif
