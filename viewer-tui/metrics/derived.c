#include "viewer-tui/metrics/derived.h"

#include "viewer-tui/base/text.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The '=' after a name; NULL if there is none. "==" and text with $ or @ belong to a formula. */
static const char *equals_sign(const char *text)
{
    const char *equals = text + strcspn(text, "=$@");
    bool is_comparison =
        *equals == '=' && (equals[1] == '=' || (equals > text && strchr("<>!", equals[-1])));
    return *equals == '=' && !is_comparison ? equals : NULL;
}

/* Moves "[unit]" from the end of a name to `unit`. */
static void take_unit(char *name, char unit[UNIT_SIZE])
{
    size_t length = strlen(name);
    char *open = strrchr(name, '[');
    if (!open || name[length - 1] != ']')
        return;
    name[length - 1] = '\0';
    snprintf(unit, UNIT_SIZE, "%s", open + 1);
    while (open > name && isspace((unsigned char)open[-1]))
        open--;
    *open = '\0';
}

bool derived_add(struct metrics *metrics, const char *definition, struct formula_error *error)
{
    const char *equals = equals_sign(definition);
    char unit[UNIT_SIZE] = "";
    char *name = equals ? text_trimmed(definition, (size_t)(equals - definition)) : mem_strdup("derived 1");
    for (unsigned number = 2; !equals && metrics_find(metrics, name) < metrics->n; number++) {
        free(name);
        name = mem_printf("derived %u", number);
    }
    if (equals)
        take_unit(name, unit);
    bool is_new = metrics_find(metrics, name) == metrics->n;
    bool has_room = metrics->n - metrics->n_stored < MOST_DERIVED;
    if (!*name || !is_new || !has_room) {
        const char *why = !*name    ? "a name is missing"
                          : !is_new ? "there is a metric of that name"
                                    : "there is no room for more derived metrics";
        free(name);
        error->at = 0;
        snprintf(error->what, sizeof error->what, "%s", why);
        return false;
    }
    struct derivation *derivation = mem_alloc(sizeof *derivation);
    derivation->name = name;
    derivation->text = mem_strdup(definition);
    derivation->formula_at = equals ? (size_t)(equals - definition) + 1 : 0;
    while (isspace((unsigned char)derivation->text[derivation->formula_at]))
        derivation->formula_at++;
    metrics_add_derived(metrics, derivation);
    memcpy(metrics->at[metrics->n - 1].unit, unit, sizeof unit);
    return true;
}

/* Finds the derived metrics that a metric depends on, and its state, which follows from those of the metrics in its
 * formula. */
static void find_needs(struct metrics *metrics, struct metric *metric)
{
    struct derivation *derivation = metric->derived;
    const struct formula *formula = &derivation->formula;
    const struct metric *missing = NULL, *bounded = NULL; /* the first ones */
    bool bounds_total = false;
    size_t named;
    for (size_t i = 0; i < formula->steps.n; i++) {
        if (!formula_step_names(&formula->steps.at[i], &named))
            continue;
        const struct metric *needed = &metrics->at[named];
        if (metric_derivation(needed))
            derivation->needs |= needed->derived->needs | UINT64_C(1) << (named - metrics->n_stored);
        missing = !missing && needed->state == METRIC_NOT_MEASURED ? needed : missing;
        bounded = !bounded && needed->state == METRIC_LOWER_BOUND ? needed : bounded;
        bounds_total |= needed->bounds_total;
    }
    enum metric_state state = METRIC_MEASURED;
    if (missing) {
        state = METRIC_NOT_MEASURED;
        derivation->why = mem_printf("'%s' was not: %s", missing->name, missing->why);
    } else if (bounded && formula->bound != BOUND_EXACT) {
        state = formula->bound == BOUND_LOWER ? METRIC_LOWER_BOUND : METRIC_NOT_MEASURED;
        derivation->why = mem_printf("'%s' is only a lower bound: %s", bounded->name, bounded->why);
        metric->bounds_total = bounds_total;
    }
    metric_set_state(metric, state, derivation->why);
}

static bool settle(struct metrics *metrics, size_t index, struct formula_error *error)
{
    struct metric *metric = &metrics->at[index];
    struct derivation *derivation = metric->derived;
    if (!formula_parse(&derivation->formula, derivation->text, derivation->formula_at, metrics, index, error))
        return false;
    metric->is_ratio = !derivation->formula.is_additive;
    find_needs(metrics, metric);
    return true;
}

bool derived_settle(struct metrics *metrics, size_t *metric, struct formula_error *error)
{
    for (*metric = metrics->n_stored; *metric < metrics->n; ++*metric)
        if (!settle(metrics, *metric, error))
            return false;
    return true;
}

bool derived_define(struct metrics *metrics, const char *definition, struct formula_error *error)
{
    if (!derived_add(metrics, definition, error))
        return false;
    if (!settle(metrics, metrics->n - 1, error)) {
        metrics_drop_last(metrics);
        return false;
    }
    for (int set = 0; set < METRIC_SETS; set++)
        metrics->at[metrics->n - 1].is_in[set] = true;
    return true;
}

void derived_give_up(struct metrics *metrics, size_t index)
{
    struct metric *metric = &metrics->at[index];
    for (int set = 0; set < METRIC_SETS; set++)
        metric->is_in[set] = false;
    metric->derived->name[0] = '\0'; /* which no definition can name */
}

double derived_value(const struct metrics *metrics, size_t metric, struct formula_input row, enum cost_part part)
{
    struct cost derived[MOST_DERIVED], of_program[MOST_DERIVED];
    assert(metric >= metrics->n_stored && metric < metrics->n);
    size_t n = metric - metrics->n_stored;
    row.n_stored = metrics->n_stored;
    row.derived = derived;
    row.derived_of_program = of_program;
    struct formula_input whole = row;
    whole.cost = formula_cost_in_array;
    whole.context = row.program;
    whole.derived = of_program;
    for (size_t d = 0; d < n; d++) {
        if (!(metrics->at[metric].derived->needs >> d & 1))
            continue;
        const struct formula *formula = &metrics->at[metrics->n_stored + d].derived->formula;
        of_program[d].inclusive = formula_value(formula, &whole, INCLUSIVE);
        of_program[d].exclusive = formula_value(formula, &whole, EXCLUSIVE);
        derived[d].inclusive = formula_value(formula, &row, INCLUSIVE);
        derived[d].exclusive = formula_value(formula, &row, EXCLUSIVE);
    }
    return formula_value(&metrics->at[metric].derived->formula, &row, part);
}
