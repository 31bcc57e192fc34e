/* Derived metrics: what users define by formulas over others.
 *
 * A definition is "NAME = FORMULA" or "NAME [UNIT] = FORMULA" (formula.h); with a formula alone the
 * name is "derived 1", or the next number. A formula can name metrics that stand before it, derived
 * ones too. A derived metric has no values when one that it names was not measured. One that
 * names a lower bound is a lower bound itself if its values grow with that, else it has none. */
#ifndef VIEWER_DERIVED_H
#define VIEWER_DERIVED_H

#include "viewer-tui/metrics/metric.h"

#define MOST_DERIVED 64

/* Appends a metric, without understanding its formula yet, for metrics_keep to choose among. False,
 * with the error, when the definition can be none; `at` of errors is an offset in it. */
bool derived_add(struct metrics *metrics, const char *definition, struct formula_error *error);

/* Understands the formulas of all that were added, once the metrics were chosen. False at the first
 * one that is wrong, with its index. */
bool derived_settle(struct metrics *metrics, size_t *metric, struct formula_error *error);

/* Both for one more metric, which is shown; without effect when it is wrong. */
bool derived_define(struct metrics *metrics, const char *definition, struct formula_error *error);

/* Gives up a derived metric: it is shown no more, and its name is free for another one. Others that
 * are computed from it stay. */
void derived_give_up(struct metrics *metrics, size_t metric);

/* The formula as the user wrote it. */
static inline const char *derived_formula(const struct metric *metric)
{
    return metric->derived->text + metric->derived->formula_at;
}

/* A row, by its costs of the stored metrics, the program's, and who knows its values in threads. */
struct derived_row {
    const struct cost *costs, *program;
    formula_threads *threads; /* NULL: nobody */
    struct thread_statistics *statistics;
    uint32_t number; /* for these; that of the program is 0 */
};

/* Lets `need` know each stored metric whose values in threads must be known for a derived one; one
 * may come several times. False as soon as that returns false. */
typedef bool derived_need(void *context, size_t metric);
bool derived_thread_needs(const struct metrics *metrics, size_t metric, derived_need *need,
                          void *context);

/* Its value for a row; NAN where it is not defined. */
double derived_value(const struct metrics *metrics, size_t metric, const struct derived_row *row,
                     enum cost_part part);

#endif
