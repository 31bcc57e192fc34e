/* Finding rows of a view by text, also among rows that nobody has opened yet. */
#ifndef VIEWER_SEARCH_H
#define VIEWER_SEARCH_H

#include "viewer-tui/views/view.h"

struct search {
    struct view *view;
    uint32_t root; /* only rows below it, and itself, are looked at */
    const char *text;
    bool backwards;
    bool (*is_cancelled)(void); /* asked now and then */
    bool has_wrapped;           /* result: the search went on at the other end */
    bool was_cancelled;         /* result */
};

/* The next row after `from`, in the order of the screen with everything open, whose name or
 * location contains the text; upper and lower case are the same unless the text has upper case.
 * In the bottom-up view only procedures, not their callers, are looked at, unless they have been
 * made: every caller is a procedure too. NOTHING when there is none, or cancelled. */
uint32_t search_next(struct search *search, uint32_t from);

#endif
