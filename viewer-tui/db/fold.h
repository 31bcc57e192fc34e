/* Folds contexts of a database: inlined code into the procedures that contain it, and recursion.
 *
 * Inlined code: the database then looks as if the code of each inlined procedure stood in the line
 * at which it is inlined.
 *
 * - The costs of an inlined procedure, and of the loops and lines in it, become exclusive costs of
 *   that line, of the innermost loop and of the procedure around it.
 * - What inlined code calls is called from that line.
 * - Inlined code outside of any procedure stays.
 *
 * Recursion: the rule of hpcprof --collapse-recursion (hpcprof/tree/recursive-calls.h). A call of a
 * procedure that is on the call path already leads back to its context there:
 *
 *     main > a > b > a > b > c    becomes    main > a > b > c
 *     main > a > b > a > d        becomes    main > a > d
 *
 * - An inlined copy counts as a call. With both folds, inlined code is folded first.
 * - Code of unknown procedures ("<unknown code>") is never taken for recursion.
 * - Every sample counts once. Contexts left without costs are omitted, except entry points.
 *
 * Contexts that become equal are merged. Contexts and their values are made anew in memory, in the
 * format of the files, so readers need no change. Only code that uses the values of threads, which
 * stay as they are, needs fold_parts. */
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

/* What a part adds to the costs of a folded context. */
enum part_role {
    PART_WHOLE,   /* its costs are added */
    PART_OWN,     /* its exclusive costs are added: a recursive call */
    PART_INLINED, /* the same; inlined code, whose exclusive costs include those of its loops */
    PART_LEFT,    /* its inclusive costs are subtracted: a call that leads out of the context */
};

/* A context of which a folded context was made. */
struct fold_part {
    uint32_t id; /* of its values in the file */
    uint8_t role; /* enum part_role */
};

/* Whether the inclusive or the exclusive costs of a part count. */
static inline bool fold_part_counts(struct fold_part part, bool is_inclusive)
{
    return part.role == PART_WHOLE || (part.role == PART_LEFT) == is_inclusive;
}

/* Folds a database that is not folded. Its contexts get other ids and offsets, so views and trees
 * (struct cct) made before must not be used any more. */
void fold_contexts(struct database *db, struct fold_choice choice);

/* Restores the database, if it is folded. */
void fold_undo(struct database *db);

/* The parts of the context with this id: an array of *n. NULL if the database is not folded:
 * contexts are then as in the file. */
const struct fold_part *fold_parts(const struct database *db, uint32_t id, size_t *n);

#endif
