/* Which procedures carry a cost: what most of it in a row of a view was charged to.
 *
 * What was charged to a runtime's own procedures, whose source file is tagged as overhead
 * (doc/FORMAT-structure.md), or to a library in a call from them, is carried by the procedure that
 * they are inlined into or called from: that is what can be changed. */
#ifndef VIEWER_HOTSPOTS_H
#define VIEWER_HOTSPOTS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* More places would not fit the advice text. */
#define MOST_HOTSPOTS 3

/* Callers that are shown: one is often only a wrapper, as free is of _int_free. */
#define MOST_CALLERS 2

/* A procedure, and the callers from which most of its cost comes: its callers or the procedures
 * into which it is inlined, innermost first, without recursion. If the procedure and its callers are
 * a system library's, the last one is the nearest user code outwards (user-code.h). */
struct hotspot {
    uint32_t procedure;             /* id; NOTHING: the row itself, a loop or statement */
    uint32_t callers[MOST_CALLERS]; /* ids; NOTHING: none */
    bool has_other_callers;
    uint32_t file, line; /* the declaration of the procedure; of a caller the line of the call */
    double cost;         /* from all callers */
};

struct hotspots {
    struct hotspot at[MOST_HOTSPOTS]; /* the largest costs first, without zeros */
    size_t n;
};

struct hotspot_list {
    struct hotspot *at;
    size_t n, cap;
};

/* The part of a row's costs that its hotspots divide: inclusive in the top-down view, else
 * exclusive. */
static inline enum cost_part hotspots_part(const struct view *view)
{
    uint32_t row = 0;
    return view_origin(view, &row)->class == &topdown_class ? INCLUSIVE : EXCLUSIVE;
}

/* The hotspots of a row: the procedures below it and itself; in the bottom-up view its callers.
 * Procedures and smaller scopes of the flat view have none. */
struct hotspots hotspots_find(struct view *view, uint32_t row, size_t metric);

/* All of them, the largest costs first. The caller frees with vec_free. */
struct hotspot_list hotspots_all(struct view *view, uint32_t row, size_t metric);

/* Adds "block, cholesky.c:63, called from multiply". */
void hotspot_describe(const struct database *db, const struct hotspot *hotspot, bool ascii,
                      struct text *text);

#endif
