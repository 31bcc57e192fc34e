/* Which procedures carry a cost: what most of it in a row of a view was charged to.
 *
 * What was charged to a runtime's own procedures, whose source file is tagged as overhead
 * (doc/FORMAT-structure.md), or to a library in a call from them, is carried by the procedure that
 * they are inlined into or called from: that is what can be changed. */
#ifndef VIEWER_HOTSPOTS_H
#define VIEWER_HOTSPOTS_H

#include "viewer-tui/tree/view.h"

/* Who reads of more than three places at once? */
#define MOST_HOTSPOTS 3

/* Callers that are told: one is often a wrapper, "free" of "_int_free". */
#define MOST_CALLERS 2

/* A procedure, and those from which most of its cost comes: who called it or what it is inlined
 * into, from the inside out; recursion is left out. */
struct hotspot {
    uint32_t procedure; /* id; NOTHING where it is the row itself, a loop or statement */
    uint32_t callers[MOST_CALLERS]; /* ids; NOTHING for none */
    bool has_other_callers;
    uint32_t file, line; /* where the procedure is declared, or of a caller: where it calls */
    double cost;         /* from whatever callers */
};

struct hotspots {
    struct hotspot at[MOST_HOTSPOTS]; /* those with the largest costs first, without zeros */
    size_t n;
};

struct hotspot_list {
    struct hotspot *at;
    size_t n, cap;
};

/* The part of a row's costs that the view is about, and that its hotspots divide: what is below in
 * the top-down view, what is the row's own in the others. */
static inline enum cost_part hotspots_part(const struct view *view)
{
    uint32_t row = 0;
    return view_origin(view, &row)->class == &topdown_class ? INCLUSIVE : EXCLUSIVE;
}

/* Those of a row: procedures in it, itself included; in the bottom-up view those that call it. What
 * is a procedure or less in the flat view has none. */
struct hotspots hotspots_find(struct view *view, uint32_t row, size_t metric);

/* All of them, those with the largest costs first. The caller frees with vec_free. */
struct hotspot_list hotspots_all(struct view *view, uint32_t row, size_t metric);

#endif
