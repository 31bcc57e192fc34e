/* Searches for rows that match a pattern, including rows that are not expanded yet. */
#ifndef VIEWER_SEARCH_H
#define VIEWER_SEARCH_H

#include "viewer-tui/tree/filtered-tree.h"
#include "viewer-tui/tree/pattern.h"

struct search {
    struct filtered_tree *filtered;
    uint32_t root; /* only it and the visible rows below are searched */
    struct pattern *pattern;
    bool backwards;
    bool (*is_cancelled)(
        void *context); /* called now and then, besides the progress listener; may be NULL */
    void *context;
    bool has_wrapped;     /* result: the search wrapped around */
    enum outcome outcome; /* result: STOPPED if the user did that */
};

/* The next match after `from`, a visible row, in the order of the screen with everything open;
 * NOTHING if there is none, or STOPPED. In the bottom-up view callers are searched only if their
 * rows exist already: each caller is a procedure on the first level, too. */
uint32_t search_next(struct search *search, uint32_t from);

#endif
