/* Formulas over metrics, for derived metrics: "$idleness + $overhead".
 *
 *     1.5 1e-3                 numbers
 *     $work  $3  $"work (CPU)" what the row has of a metric, by its name or by its number among
 *                              those that are shown, from 1 on; in the part that is being computed
 *     $work:exclusive          in that part, or :inclusive
 *     @work  @3  @"work (CPU)" what the whole program has of it
 *     + - * / ^ ( )            as usual; -2^2 is -4, 2^3^2 is 2^9
 *     < <= > >= == !=          1 where it holds, 0 elsewhere
 *     abs sqrt exp log         of one value
 *     min max                  of two or more
 *     if(condition, a, b)      b where the condition is 0, else a
 *     thread_min($work)        of what the row has of a metric that was measured in each thread:
 *     thread_mean($work:exclusive), thread_max, thread_stddev
 *
 * What divides by zero, or has no finite value for another reason, is not defined (NAN), and so is
 * what is computed from it; only `if` may leave it aside. */
#ifndef VIEWER_FORMULA_H
#define VIEWER_FORMULA_H

#include "lib/alloc.h"
#include "viewer-tui/base/scope.h"

#include <stdbool.h>
#include <stdint.h>

/* A metric that formulas can name. */
struct formula_metric {
    const char *name, *unit;
    unsigned number; /* among those that are shown, from 1 on; 0 for others */
    bool is_additive;
    bool has_threads; /* there may be values of threads */
    bool is_lower_bound;
};

/* What a value that is computed from lower bounds is: a sum of them is one, a quotient by one is an
 * upper bound. */
enum formula_bound {
    BOUND_EXACT,
    BOUND_LOWER, /* the true value is this or more */
    BOUND_UPPER, /* the true value is this or less */
    BOUND_NONE   /* the true value may lie on either side */
};

/* What is wrong with a formula, and where: an offset in the text, at most its length. */
struct formula_error {
    size_t at;
    char what[160];
};

/* Which of a row's or the program's costs a value is. */
enum formula_part { PART_OF_RESULT, PART_INCLUSIVE, PART_EXCLUSIVE, PART_OF_PROGRAM };

/* Of a metric's values in the threads. */
enum formula_statistic { NO_STATISTIC, THREAD_MIN, THREAD_MEAN, THREAD_MAX, THREAD_DEVIATION };

/* A step of the computation, on a stack. */
struct formula_step {
    uint8_t operation;   /* enum operation of formula.c */
    uint8_t part;        /* enum formula_part, of a metric's value */
    uint8_t statistic;   /* enum formula_statistic, of such a value */
    size_t metric;       /* of such a value */
    double number;       /* of a number */
    uint32_t at, length; /* of such a value: where it is named in the text */
};

struct formula {
    VEC(struct formula_step) steps;
    char unit[UNIT_SIZE]; /* that its values have as far as that follows from its metrics */
    bool is_additive;     /* sums of values are the values of sums: it has percentages */
    enum formula_bound bound;
};

struct thread_statistics;

/* Who knows the values of threads: what a statistic of a row is; NAN where it is unknown. */
typedef double formula_threads(struct thread_statistics *statistics, uint32_t row, size_t metric,
                               enum cost_part part, enum formula_statistic which);

/* Where values come from: the metrics below n_stored have theirs in `stored`, those from there on
 * in `derived`; `...program` are of the whole program. */
struct formula_input {
    size_t n_stored;
    const struct cost *stored, *derived;
    const struct cost *stored_of_program, *derived_of_program;
    formula_threads *threads; /* NULL: nobody knows */
    struct thread_statistics *statistics;
    uint32_t row;
};

/* Understands the formula that begins at text[start] and reaches to the end; values
 * name metrics by their index in `metrics`. False, with the error, when it cannot be understood.
 * The caller frees with formula_free. */
bool formula_parse(struct formula *formula, const char *text, size_t start,
                   const struct formula_metric *metrics, size_t n_metrics,
                   struct formula_error *error);
void formula_free(struct formula *formula);

/* Its value; NAN where it is not defined. */
double formula_value(const struct formula *formula, const struct formula_input *input,
                     enum cost_part part);

/* Whether a step takes the value of a metric, and of which one; then what the value is. */
bool formula_step_names(const struct formula_step *step, size_t *metric);
double formula_step_value(const struct formula_step *step, const struct formula_input *input,
                          enum cost_part part);

/* Whether the text names that metric; it may err where the name is a part of another name. */
bool formula_names(const char *text, const char *metric);

#endif
