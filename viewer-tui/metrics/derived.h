/* Derived metrics: users define them by formulas over other metrics.
 *
 * A definition is "NAME = FORMULA" or "NAME [UNIT] = FORMULA" (formula.h); a formula alone gets the
 * name "derived 1", or the next number. A formula can name all metrics before it, including derived
 * ones. A derived metric has no values if a metric that it names was not measured. If it names a
 * lower bound, it is a lower bound if its values grow with that, else it has no values. */
#ifndef VIEWER_DERIVED_H
#define VIEWER_DERIVED_H

#include "viewer-tui/metrics/metric.h"

#define MOST_DERIVED 64

/* Appends a metric whose formula is parsed later, since metrics are selected first (metrics_keep).
 * False, with the error, if the definition is wrong; error->at is an offset in it. */
bool derived_add(struct metrics *metrics, const char *definition, struct formula_error *error);

/* Parses the formulas of all derived metrics, after the metrics were selected. False, with the
 * index and the error, at the first one that is wrong. */
bool derived_settle(struct metrics *metrics, size_t *metric, struct formula_error *error);

/* Adds, parses and shows one more metric. False, with the error and no effect, if it is wrong. */
bool derived_define(struct metrics *metrics, const char *definition, struct formula_error *error);

/* Hides a derived metric and frees its name for another one. Metrics computed from it stay. */
void derived_give_up(struct metrics *metrics, size_t metric);

/* The formula of a derived metric as the user wrote it. */
static inline const char *derived_formula(const struct metric *metric)
{
    return metric->derived->text + metric->derived->formula_at;
}

/* The value of a derived metric for a row; NAN if undefined. */
double derived_value(const struct metrics *metrics, size_t metric, struct formula_input row, enum cost_part part);

#endif
