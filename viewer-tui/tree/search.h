/* Finding rows by what the user looks for, also among rows that nobody has opened yet. */
#ifndef VIEWER_SEARCH_H
#define VIEWER_SEARCH_H

#include "viewer-tui/tree/filtered-tree.h"
#include "viewer-tui/tree/pattern.h"

struct search {
    struct filtered_tree *filtered;
    uint32_t root; /* only rows shown below it, and itself, are looked at */
    struct pattern *pattern;
    bool backwards;
    bool (*is_cancelled)(
        void *context); /* asked now and then besides the progress listener; or NULL */
    void *context;
    bool has_wrapped;     /* result: the search went on at the other end */
    enum outcome outcome; /* result: STOPPED if the user did that */
};

/* The next row that matches after `from`, a shown row, in the order of the screen with everything
 * open. In the bottom-up view only procedures, not their callers, are looked at, unless they have
 * been made: every caller is a procedure too. NOTHING when there is none, or STOPPED. */
uint32_t search_next(struct search *search, uint32_t from);

#endif
