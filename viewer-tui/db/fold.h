/* Folds the calling context tree: inlined code into the procedures that contain it, the kernel into what calls it, and
 * recursion.
 *
 * Inlined code: the tree then looks as if the code of each inlined procedure stood in the line at which it is inlined.
 *
 * - The costs of an inlined procedure, and of the loops and lines in it, become exclusive costs of that line, of the
 *   innermost loop and of the procedure around it.
 * - What inlined code calls is called from that line.
 * - Inlined code outside of any procedure stays.
 *
 * The kernel: in the same way, its procedures are folded into the line of the program that called it, or that it
 * interrupted. Below no procedure of the program, into the kernel's outermost one.
 *
 * Recursion: the rule of hpcprof --collapse-recursion (hpcprof/tree/recursive-calls.h). A call of a procedure that is
 * on the call path already leads back to its node there:
 *
 *     main > a > b > a > b > c    becomes    main > a > b > c
 *     main > a > b > a > d        becomes    main > a > d
 *
 * - An inlined copy counts as a call. With both folds, inlined code is folded first.
 * - Code of unknown procedures ("<unknown code>") is never taken for recursion.
 * - Every sample counts once. Nodes left without costs are omitted, except entry points.
 *
 * Nodes that become equal are merged. What a folded node costs is a sum over nodes of the file: its terms. */
#ifndef VIEWER_FOLD_H
#define VIEWER_FOLD_H

#include "viewer-tui/db/database.h"

struct fold_choice {
    bool inlined, recursion, kernel;
};

static inline bool fold_choice_is_same(struct fold_choice a, struct fold_choice b)
{
    return a.inlined == b.inlined && a.recursion == b.recursion && a.kernel == b.kernel;
}

/* Folds a database that is not folded. Views made before must not be used any more. */
void fold_nodes(struct database *db, struct fold_choice choice);

/* Restores the database, if it is folded. */
void fold_undo(struct database *db);

#endif
