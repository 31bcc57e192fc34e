/* Work and span of a run, as `hpcrun --work-span` measures them, and the speedups that they allow
 * (He, Leiserson and Leiserson, "The Cilkview scalability analyzer", SPAA 2010). */
#ifndef VIEWER_SPEEDUP_BOUNDS_H
#define VIEWER_SPEEDUP_BOUNDS_H

#include "viewer-tui/tree/view.h"

/* Speedups are shown for 2, 4, ... processors, up to this number. */
#define MOST_PROCESSORS 64

/* Seconds, and the indices of the metrics. Values are right within their errors. */
struct work_span {
    double work, span, burdened_span;
    double work_error, span_error, burdened_error;
    const char *why_lower_bound; /* reason why both spans are only lower bounds; NULL: exact */
    size_t work_metric, span_metric, burdened_metric;
};

/* Of the whole program; false if it was not measured, or the work not exactly. The reason is that of the
 * metric. */
bool work_span_of(const struct view *view, struct work_span *of);

/* The ends of the interval of work / span, or of work / burdened span. */
struct parallelism {
    double least, most;
};
struct parallelism work_span_parallelism(const struct work_span *of, bool is_burdened);

/* The largest speedup on `processors`: by the work law and the span law. */
double work_span_upper_bound(const struct work_span *of, double processors);

/* The speedup that a work stealer reaches at least, if moving a task costs the burden: work / (work
 * / P + 1.7 burdened spans). The burdened span must be exact. */
double work_span_lower_bound(const struct work_span *of, double processors);

#endif
