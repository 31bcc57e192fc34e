/* Finds the row of the same scope in another view of the same database. */
#ifndef VIEWER_SAME_H
#define VIEWER_SAME_H

#include "viewer-tui/tree/view.h"

/* Bottom-up view: the row of the procedure that a row is or is in. NOTHING if there is none. */
uint32_t corresponding_procedure(struct view *bottomup, const struct view *from, uint32_t row);

/* Flat view: the scope of a row; for a row of the bottom-up view its procedure, or one of its
 * copies if it is inlined everywhere. NOTHING if there is none. */
uint32_t corresponding_static_scope(struct view *flat, const struct view *from, uint32_t row);

/* Top-down view: the most expensive context, by the sorting of `from`, of a row of the flat or
 * bottom-up view. NOTHING if there is none: modules and files have no contexts. */
uint32_t corresponding_context(struct view *topdown, const struct view *from, uint32_t row);

/* Top-down view: the line from which a row is called or where it is inlined; if that is no row, the
 * row around it. NOTHING for rows without caller. */
uint32_t call_site_row(struct view *topdown, uint32_t row);

#endif
