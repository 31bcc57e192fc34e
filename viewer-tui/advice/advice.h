/* Advice on a run or a scope in it: what a reader can act on, the largest gain first. Each kind of
 * finding is a rule over facts (advice-rules.h). */
#ifndef VIEWER_ADVICE_H
#define VIEWER_ADVICE_H

#include "viewer-tui/advice/facts.h"
#include "viewer-tui/advice/finding.h"

struct advice {
    struct findings findings;
    struct facts facts; /* to which findings point */
};

/* Advice on a row of a view. For views other than top-down it is only about idleness and overhead;
 * the other findings need calling contexts below the row. `run` may be NULL; it and the view must
 * outlive the advice. `timeline`: as in facts_of. The caller frees. */
struct advice advice_on(struct view *view, uint32_t row, const json_t *run, const struct timeline *timeline);
void advice_free(struct advice *advice);

#endif
