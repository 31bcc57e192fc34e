#include "viewer-tui/advice/what-if.h"

#include "lib/database-format.h"
#include "viewer-tui/advice/hotspots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

double work_span_lower_bound(const struct work_span *of, double processors)
{
    return of->work / (of->work / processors + SPAN_FACTOR * of->burdened_span);
}

/* Names in the message about a procedure that does not exist. */
#define MOST_NAMES 6

/* A smaller part of a span is a rounding error of sums. */
#define ROUNDING 1e-9

bool speed_change_read(const char *text, struct speed_change *change)
{
    const char *blank = strrchr(text, ' ');
    if (!blank || blank == text)
        return false;
    char *end;
    double speed = strtod(blank + 1, &end);
    bool is_number = end > blank + 1 && isfinite(speed);
    change->speed = strcmp(blank + 1, "parallel") == 0 ? INFINITY : is_number && strcmp(end, "x") == 0 ? speed : 0;
    change->procedure = change->speed > 0 ? mem_strndup(text, (size_t)(blank - text)) : NULL;
    return change->procedure != NULL;
}

void speed_changes_free(speed_change_list *changes)
{
    for (size_t i = 0; i < changes->n; i++)
        free(changes->at[i].procedure);
    vec_free(changes);
}

/* ---- computation ---- */

/* The most of the procedure that a path can have, since none is longer than the longest one. */
static double largest_part(const struct what_if *costs, const struct costs_of_change *path)
{
    return fmin(costs->work.procedure, path->all - path->serial);
}

/* The measured path after its parts in the procedure took `factor` times as long. */
static double measured_path(const struct costs_of_change *path, double factor)
{
    double length = path->all + (factor - 1) * path->procedure;
    return length < ROUNDING * path->all ? 0 : length;
}

static struct bounds new_span(const struct what_if *costs, double factor)
{
    const struct costs_of_change *span = &costs->span, *work = &costs->work;
    double least = measured_path(span, factor), others = work->all - work->serial - work->procedure;
    /* The least of the procedure that a path can have if it is as long as the longest one: what the work of all other
     * code cannot fill. Serial code is on every path. */
    double least_part = fmax(0, span->all - span->serial - others);
    double part = factor > 1 ? largest_part(costs, span) : least_part;
    double most = costs->is_serial ? least : span->all + (factor - 1) * part;
    return (struct bounds){least, costs->is_lower_bound ? INFINITY : fmax(least, most)};
}

/* Burdens do not change. How much of the path's part in the procedure they are is not recorded: all
 * of it, or nothing. Serial code has none. */
static struct bounds new_burdened_span(const struct what_if *costs, double factor)
{
    const struct costs_of_change *path = &costs->burdened_span;
    double least = measured_path(path, factor);
    if (costs->is_lower_bound)
        return (struct bounds){costs->is_serial ? least : fmin(least, path->all), INFINITY};
    if (costs->is_serial)
        return (struct bounds){least, least};
    if (factor > 1)
        return (struct bounds){path->all, path->all + (factor - 1) * largest_part(costs, path)};
    return (struct bounds){least, path->all};
}

struct predicted what_if_predict(const struct what_if *costs, double speed)
{
    bool is_parallel = isinf(speed);
    double factor = is_parallel ? 0 : 1 / speed;
    double less_work = is_parallel ? 0 : (1 - factor) * costs->work.procedure;
    struct predicted predicted = {
        .work = costs->work.all - less_work,
        .span = new_span(costs, factor),
        .burdened_span = new_burdened_span(costs, factor),
    };
    predicted.parallelism = (struct bounds){predicted.work / predicted.span.most,
                                            predicted.work / predicted.span.least};
    return predicted;
}

struct bounds predicted_speedup(const struct predicted *predicted, double processors)
{
    struct work_span slowest = {.work = predicted->work,
                                .burdened_span = predicted->burdened_span.most};
    double law = fmin(processors, predicted->work / predicted->span.least); /* work law and span law */
    return (struct bounds){work_span_lower_bound(&slowest, processors), law};
}

/* ---- costs of the recorded tree ---- */

static bool is_called(const struct view *view, uint32_t procedure, const char *name)
{
    char buffer[NAME_SIZE];
    return strcmp(database_procedure_name(view->db, procedure, buffer), name) == 0;
}

static struct costs_of_change costs_in(struct view *view, size_t metric, const char *name,
                                       uint32_t id)
{
    struct costs_of_change costs = {.all = view_total(view, metric)};
    autofree hotspot_list all = hotspots_all(view, 0, metric, false);
    for (size_t i = 0; i < all.n; i++) {
        uint32_t procedure = all.at[i].procedure;
        if (name ? is_called(view, procedure, name) : procedure == id)
            costs.procedure += all.at[i].cost;
        if (is_called(view, procedure, DATABASE_SERIAL_CODE))
            costs.serial += all.at[i].cost;
    }
    return costs;
}

bool what_if_costs(struct view *view, const struct work_span *of, const char *name, uint32_t id,
                   struct what_if *costs)
{
    costs->is_lower_bound = of->why_lower_bound != NULL;
    costs->is_serial =
        name ? strcmp(name, DATABASE_SERIAL_CODE) == 0 : is_called(view, id, DATABASE_SERIAL_CODE);
    costs->work = costs_in(view, of->work_metric, name, id);
    costs->span = costs_in(view, of->span_metric, name, id);
    costs->burdened_span = costs_in(view, of->burdened_metric, name, id);
    return costs->work.procedure > 0;
}

void what_if_list_procedures(struct view *view, const struct work_span *of, struct text *names)
{
    char buffer[NAME_SIZE];
    autofree hotspot_list all = hotspots_all(view, 0, of->work_metric, false);
    for (size_t i = 0; i < all.n && i < MOST_NAMES; i++) {
        text_add(names, i ? ", " : "");
        text_add_clean(names, database_procedure_name(view->db, all.at[i].procedure, buffer),
                       false);
    }
    text_add(names, all.n > MOST_NAMES ? ", ..." : "");
}
