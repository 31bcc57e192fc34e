/* Folding inlined code into the procedures that contain it: a database as it would be had each
 * inlined procedure's code stood in the line at which it was inlined.
 *
 * The costs of an inlined procedure, and of the loops and lines inside, are that line's; they are
 * exclusive costs of the line, of the innermost loop and of the procedure around it. What inlined
 * code calls is called by that line. Contexts that become the same thereby are one. Inlined code
 * that no procedure contains stays.
 *
 * The contexts and their values are made anew in memory, in the form that they have in the file, so
 * that nobody who reads them knows. Only what goes to the values of threads, which stay as they
 * are, needs fold_parts. */
#ifndef VIEWER_FOLD_H
#define VIEWER_FOLD_H

#include "viewer-tui/db/database.h"

/* What a folded context was made of. */
struct fold_part {
    uint32_t id;     /* of the values of a context in the file */
    bool is_inlined; /* of folded code: only its exclusive costs are the context's exclusive ones */
};

/* Folds what the database has now; does nothing where it is folded. Its contexts have other ids and
 * places from then on: no view and no cct of before may be used. */
void fold_inlined(struct database *db);

/* Makes it what it was; does nothing where it is not folded. */
void fold_undo(struct database *db);

/* The parts of a context of that id: `n` of them from the result on. NULL where the database is not
 * folded: the context is what is in the file. */
const struct fold_part *fold_parts(const struct database *db, uint32_t id, size_t *n);

#endif
