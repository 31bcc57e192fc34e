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
 * Scopes of different runs are the same if kind, name, file, line, module and call site are. If a
 * run does not know the site of a call, all calls of that procedure by one scope are one row
 * (join-calls.h has the reason). Such a call stays outside of the loops of its caller. */
#ifndef VIEWER_LOSSES_H
#define VIEWER_LOSSES_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/tree/view.h"

/* A run of the set. */
struct loss_run {
    unsigned workers;
    unsigned cpus; /* that the program could use; 0: unknown */
    const struct database *db;
};

/* What a metric of the merged view is computed from. */
enum loss_part {
    LOSS,
    INFLATION,
    LOST_OVERHEAD,
    LOST_IDLENESS,
    WORK_DONE,
    EFFORT_MADE,
    LOSS_PARTS
};

/* The runs with one number of workers. */
struct loss_group {
    unsigned workers;
    size_t n_runs;
};

/* The metrics of a run, as indices; metrics.n if there is none. */
struct loss_sources {
    size_t group; /* index of its number of workers */
    size_t work, overhead, idleness;
};

struct losses {
    struct metrics metrics;        /* LOSS_PARTS for each group, in the order of groups */
    VEC(struct loss_group) groups; /* most workers first */
    size_t one;                    /* index of the group with one worker; groups.n: there is none */
    struct loss_sources *sources;  /* by run */
    size_t n_runs;
    VEC(char *) texts; /* owned; names and reasons of the metrics */
};

/* There must be runs, whose databases outlive the result. The caller frees with losses_free. */
struct losses *losses_new(const struct loss_run *runs, size_t n);
void losses_free(struct losses *losses); /* NULL allowed */

/* Merges a view of each run, of the same kind, of which it takes ownership. The caller closes the
 * result before the losses are freed. It is sorted by the loss of the most workers. */
struct view *losses_view(const struct losses *losses, struct view *const *views);

#endif
