/* The same scope in another view of the same database. */
#ifndef VIEWER_SAME_H
#define VIEWER_SAME_H

#include "viewer-tui/tree/view.h"

/* The row of the procedure that a row is or is in, in the bottom-up view; NOTHING when there is
 * none. */
uint32_t corresponding_procedure(struct view *bottomup, const struct view *from, uint32_t row);

/* The scope that a row stands for, in the flat view: of a row of the bottom-up view the procedure,
 * where it is inlined everywhere one of its copies. NOTHING when there is none. */
uint32_t corresponding_static_scope(struct view *flat, const struct view *from, uint32_t row);

/* The context with the most cost, by the sorting of `from`, among those that a row of the flat or
 * bottom-up view stands for, in the top-down view. NOTHING when there is none: modules and files
 * have no contexts. */
uint32_t corresponding_context(struct view *topdown, const struct view *from, uint32_t row);

/* In the top-down view: the line from which a row is called or where it is inlined, or where that
 * has no costs of its own what is around it; NOTHING for what nobody calls. */
uint32_t call_site_row(struct view *topdown, uint32_t row);

#endif
