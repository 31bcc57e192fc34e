/* Advice on a run or a scope in it: what the data says that a reader can act on, the largest gain
 * first. Each kind of finding has its own file here; this one asks them all. */
#ifndef VIEWER_ADVICE_H
#define VIEWER_ADVICE_H

#include "viewer-tui/advice/finding.h"
#include "viewer-tui/advice/parallelization.h"

struct advice {
    struct findings findings;
    struct parallelizations parallelizations; /* sources of findings */
};

/* Advice on a row of a view; in views other than top-down it is only about idleness and overhead,
 * since the others need calling contexts below the row. `run` may be NULL and must outlive the
 * advice, as the view. The caller frees. */
struct advice advice_on(struct view *view, uint32_t row, const json_t *run);
void advice_free(struct advice *advice);

#endif
