/* Finding rows by what the user looks for, also among rows that nobody has opened yet. */
#ifndef VIEWER_SEARCH_H
#define VIEWER_SEARCH_H

#include "viewer-tui/tree/pattern.h"
#include "viewer-tui/tree/sieve.h"

struct search {
    struct sieve *sieve;
    uint32_t root; /* only rows shown below it, and itself, are looked at */
    struct pattern *pattern;
    bool backwards;
    bool (*is_cancelled)(void *context); /* asked now and then besides progress.h; or NULL */
    void *context;
    bool has_wrapped;   /* result: the search went on at the other end */
    bool was_cancelled; /* result */
};

/* The next row that matches after `from`, a shown row, in the order of the screen with everything
 * open. In the bottom-up view only procedures, not their callers, are looked at, unless they have
 * been made: every caller is a procedure too. NOTHING when there is none, or cancelled. */
uint32_t search_next(struct search *search, uint32_t from);

#endif
