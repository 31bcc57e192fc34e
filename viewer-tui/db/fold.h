/* Folds the calling context tree: inlined code into the procedures that contain it, and recursion.
 *
 * Inlined code: the tree then looks as if the code of each inlined procedure stood in the line at which it is inlined.
 *
 * - The costs of an inlined procedure, and of the loops and lines in it, become exclusive costs of that line, of the
 *   innermost loop and of the procedure around it.
 * - What inlined code calls is called from that line.
 * - Inlined code outside of any procedure stays.
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
    bool inlined, recursion;
};

static inline bool fold_choice_is_same(struct fold_choice a, struct fold_choice b)
{
    return a.inlined == b.inlined && a.recursion == b.recursion;
}

/* What a node of the file adds to the costs of a folded node. */
enum term_role {
    TERM_WHOLE, /* its costs are added */
    TERM_OWN,   /* its exclusive costs are added: a recursive call, or inlined code */
    TERM_LEFT   /* its inclusive costs are subtracted: a call that leads out of the node */
};

struct fold_term {
    uint32_t node; /* of the file's tree */
    uint8_t role;  /* enum term_role */
};

struct fold {
    struct nodes *nodes;
    struct fold_term *terms; /* those of node n: first_term[n] .. first_term[n + 1] - 1 */
    uint32_t *first_term;
};

static inline bool fold_term_counts(const struct fold_term *term, enum cost_part part)
{
    return term->role == TERM_WHOLE || (term->role == TERM_LEFT) == (part == INCLUSIVE);
}

/* Folds a database that is not folded. Views made before must not be used any more. */
void fold_nodes(struct database *db, struct fold_choice choice);

/* Restores the database, if it is folded. */
void fold_undo(struct database *db);

#endif
