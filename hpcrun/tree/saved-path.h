/* A copy of a call path, to be entered into another tree later, when its tree and thread may be
 * gone. Normal context. */
#ifndef HPCRUN_TREE_SAVED_PATH_H
#define HPCRUN_TREE_SAVED_PATH_H

#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/lnotes.h"

/* Longer paths are not saved. */
#define SAVED_PATH_NOTES 256

struct saved_path {
    uint32_t count;
    struct saved_note {
        struct cct_note note;
        struct lnote lnote; /* its l-note, if lip is LIP_OWN or more */
    } at[SAVED_PATH_NOTES]; /* from the outermost */
};

/* Copies the path to a node, prefixed by `around`, which may be NULL. Drops `around` if both
 * together are too long; saves nothing if the path alone is. */
void saved_path_copy(struct saved_path *path, const struct saved_path *around,
                     const struct cct *cct, const struct lnotes *lnotes, uint32_t node);

/* The path is to be entered in another process: its notes that name threads of this one are removed. */
void saved_path_forget_threads(struct saved_path *path);

/* Enters the path below the root of a tree. Returns its innermost node; CCT_ROOT for an empty path,
 * or without memory. */
uint32_t saved_path_insert(const struct saved_path *path, struct cct *cct, struct lnotes *lnotes);

#endif
