#include "viewer-tui/tree/speedup-bounds.h"

#include <math.h>

/* Twice Cilkview's span coefficient of 0.85, which its authors found by experiment. */
#define SPAN_FACTOR 1.7

static bool find(const struct view *view, const char *name, size_t *metric)
{
    *metric = metrics_find(view->metrics, name);
    return *metric < view->metrics->n && metric_is_measured(&view->metrics->at[*metric]);
}

bool work_span_of(const struct view *view, struct work_span *of)
{
    if (!find(view, "exact work", &of->work_metric) || !find(view, "span", &of->span_metric) ||
        !find(view, "burdened span", &of->burdened_metric))
        return false;
    const struct metric *metrics = view->metrics->at;
    if (metric_is_lower_bound(&metrics[of->work_metric]))
        return false;
    of->why_lower_bound = metrics[of->span_metric].why;
    if (!of->why_lower_bound)
        of->why_lower_bound = metrics[of->burdened_metric].why;
    of->work = view_total(view, of->work_metric);
    of->span = view_total(view, of->span_metric);
    of->burdened_span = view_total(view, of->burdened_metric);
    of->work_error = metrics[of->work_metric].error;
    of->span_error = metrics[of->span_metric].error;
    of->burdened_error = metrics[of->burdened_metric].error;
    return of->work > 0 && of->span > 0 && of->burdened_span > 0;
}

struct parallelism work_span_parallelism(const struct work_span *of, bool is_burdened)
{
    double span = is_burdened ? of->burdened_span : of->span;
    double error = is_burdened ? of->burdened_error : of->span_error;
    double most_work = of->work + of->work_error, least_work = fmax(of->work - of->work_error, 0);
    return (struct parallelism){least_work / (span + error),
                                error < span ? most_work / (span - error) : INFINITY};
}

double work_span_upper_bound(const struct work_span *of, double processors)
{
    return fmin(processors, of->work / of->span);
}

double work_span_lower_bound(const struct work_span *of, double processors)
{
    return of->work / (of->work / processors + SPAN_FACTOR * of->burdened_span);
}
