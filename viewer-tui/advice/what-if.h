/* Work and span of a run, as `hpcrun --work-span` measures them, the speedups that they allow (He, Leiserson and
 * Leiserson, "The Cilkview scalability analyzer", SPAA 2010), and what becomes of them if one procedure changes: how
 * `--what-if` and the advice on parallelism compute it.
 *
 * A change multiplies the time of all strands of the procedure's own code by a factor: "2x" by 1/2,
 * "parallel" by 0 on every path, while the work stays the same.
 *
 * The new work is exact. So is the new span if the procedure is the serial code between
 * computations, which is on every path. Else the span is only bounded: the recorded tree has one
 * path, the longest one, and after the change another path may be the longest.
 *
 *   - The span is at least as long as the measured path after the change.
 *   - If the code becomes faster, the span is at most that of a path that was as long as the
 *     measured one, with as little of the procedure as possible: only what the work of the other
 *     procedures could not fill.
 *   - If the code becomes slower, a path becomes longer by at most what all of the procedure's work
 *     does.
 *
 * If the measured span is only a lower bound, nothing is known about how long the new one is at
 * most. */
#ifndef VIEWER_WHAT_IF_H
#define VIEWER_WHAT_IF_H

#include "viewer-tui/base/text.h"
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

/* The speedup that a work stealer reaches at least, if moving a task costs the burden: work / (work
 * / P + 1.7 burdened spans). The burdened span must be exact. */
double work_span_lower_bound(const struct work_span *of, double processors);

/* A change as the user wrote it, "partition 2x". */
struct speed_change {
    char *procedure;
    double speed; /* of its code; INFINITY: parallel */
};

typedef VEC(struct speed_change) speed_change_list;

/* Reads "PROCEDURE parallel" or "PROCEDURE 2x". False if it is neither; else the caller frees
 * `procedure`. */
bool speed_change_read(const char *text, struct speed_change *change);

void speed_changes_free(speed_change_list *changes);

/* Seconds in one metric: of everything, of serial code, and of the procedure that changes. */
struct costs_of_change {
    double all, serial, procedure;
};

/* The two are equal if the value is exact. 0 and INFINITY: there is no such bound. */
struct bounds {
    double least, most;
};

struct what_if {
    bool is_serial;      /* the procedure is the serial code between computations */
    bool is_lower_bound; /* both spans are */
    struct costs_of_change work, span, burdened_span;
};

/* What the change of a procedure results in. */
struct predicted {
    double work;
    struct bounds span, burdened_span;
    struct bounds parallelism; /* `most` is INFINITY if nothing is known to be left of the span */
};

struct predicted what_if_predict(const struct what_if *costs, double speed);

/* The speedup on `processors` after the change: from what a work stealer reaches at least, by the
 * largest burdened span, to what the laws allow, by the smallest span. */
struct bounds predicted_speedup(const struct predicted *predicted, double processors);

/* The costs of all procedures with this name, or of the one with this id (`name` NULL). False if
 * none of them has work in its own code. */
bool what_if_costs(struct view *view, const struct work_span *of, const char *name, uint32_t id,
                   struct what_if *costs);

/* Adds the names of the procedures that can change, those with most work first: "a, b, c". */
void what_if_list_procedures(struct view *view, const struct work_span *of, struct text *names);

#endif
