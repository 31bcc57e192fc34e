/* Folds inlined code into the procedures that contain it: the database then looks as if the code of
 * each inlined procedure stood in the line at which it is inlined.
 *
 * - The costs of an inlined procedure, and of the loops and lines in it, become exclusive costs of
 *   that line, of the innermost loop and of the procedure around it.
 * - What inlined code calls is called from that line.
 * - Contexts that become equal are merged.
 * - Inlined code outside of any procedure stays.
 *
 * Contexts and their values are made anew in memory, in the format of the files, so readers need no
 * change. Only code that uses the values of threads, which stay as they are, needs fold_parts. */
#ifndef VIEWER_FOLD_H
#define VIEWER_FOLD_H

#include "viewer-tui/db/database.h"

/* A context of which a folded context was made. */
struct fold_part {
    uint32_t id;     /* of its values in the file */
    bool is_inlined; /* folded code: its exclusive costs are added to the context's exclusive costs
                      */
};

/* Folds the database, unless it is folded. Its contexts get other ids and offsets, so views and
 * trees (struct cct) made before must not be used any more. */
void fold_inlined(struct database *db);

/* Restores the database, if it is folded. */
void fold_undo(struct database *db);

/* The parts of the context with this id: an array of *n. NULL if the database is not folded:
 * contexts are then as in the file. */
const struct fold_part *fold_parts(const struct database *db, uint32_t id, size_t *n);

#endif
