/* Signal handler: everything here runs in the sampling handler.
 *
 * A thread's table of distinct l-notes, except those that equal their p-note's ip. The tree refers
 * to them by number (lip in tree/cct.h), which keeps nodes small. */
#ifndef HPCRUN_TREE_LNOTES_H
#define HPCRUN_TREE_LNOTES_H

#include "hpcrun/tree/segments.h"

struct lnotes {
    struct segments notes; /* of struct lnote */
    uint32_t *table;       /* hash table of indices + 1; linear probing */
    uint32_t table_size;   /* power of two; 0 at first */
};

/* The lip of a note; adds the note if it is new. 0 without memory. */
uint32_t lnotes_lip(struct lnotes *lnotes, struct lnote note);

/* The note of a lip that lnotes_lip returned. */
const struct lnote *lnotes_get(const struct lnotes *lnotes, uint32_t lip);

/* Bytes of the table. */
static inline uint64_t lnotes_bytes(const struct lnotes *lnotes)
{
    return lnotes->notes.count * sizeof(struct lnote) + lnotes->table_size * sizeof *lnotes->table;
}

/* Empties the table and frees its memory. */
void lnotes_free(struct lnotes *lnotes);

#endif
