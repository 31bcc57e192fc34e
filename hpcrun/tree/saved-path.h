/* A call path taken out of a thread's tree, to be entered into another one: the tree may be gone by
 * then, and so may its thread. For normal context. */
#ifndef HPCRUN_TREE_SAVED_PATH_H
#define HPCRUN_TREE_SAVED_PATH_H

#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/lnotes.h"

/* Longer paths are not kept. */
#define SAVED_PATH_NOTES 256

struct saved_path {
    uint32_t count;
    struct saved_note {
        struct cct_note note;
        struct lnote lnote; /* what its lip stands for, from LIP_OWN on */
    } at[SAVED_PATH_NOTES]; /* from the outermost */
};

/* Keeps the path `around`, which may be NULL, and below it that of a node. Without `around` where
 * both are too long together; nothing where the second alone is. */
void saved_path_copy(struct saved_path *path, const struct saved_path *around,
                     const struct cct *cct, const struct lnotes *lnotes, uint32_t node);

/* Enters the path at the root of a tree: its innermost node; CCT_ROOT for an empty path, or without
 * memory. */
uint32_t saved_path_insert(const struct saved_path *path, struct cct *cct, struct lnotes *lnotes);

#endif
