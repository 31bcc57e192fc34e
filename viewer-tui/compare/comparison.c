#include "viewer-tui/compare/comparison.h"

#include "lib/alloc.h"
#include "viewer-tui/compare/metric-pairs.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/tree/labels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *comparison_column(const struct merged_runs *merged, enum merged_column column)
{
    switch (column) {
    case MERGED_DIFFERENCE: return "difference";
    case MERGED_RATIO: return "ratio";
    case MERGED_UNCERTAINTY: return "uncertainty";
    default: return merged->comparing->names[column];
    }
}

/* The metric of the first run of a side that is the quantity. */
static const struct metric *metric_of_side(const struct merged_runs *merged, size_t quantity, int side)
{
    size_t run = merged_group_first(merged, (size_t)side);
    return &merged->runs.at[run].db->metrics.at[merged_source(merged, quantity, run)];
}

/* What the runs of a side know of a quantity. */
struct knowledge_of_side {
    enum metric_state state; /* of the run that knows least */
    const char *why;
    bool bounds_total, is_zero;
};

static struct knowledge_of_side knowledge_of(const struct merged_runs *merged, size_t quantity, int side)
{
    struct knowledge_of_side known = {.state = METRIC_MEASURED, .is_zero = true};
    bool is_kind = false; /* a run without overhead of a kind has none */
    for (size_t run = 0; run < merged->runs.n; run++) {
        size_t source = merged_source(merged, quantity, run);
        if (merged->runs.at[run].group != (size_t)side || (is_kind && source == SIZE_MAX))
            continue;
        const struct metric *metric = source == SIZE_MAX ? NULL : &merged->runs.at[run].db->metrics.at[source];
        enum metric_state state = metric ? metric->state : METRIC_NOT_MEASURED;
        if (state > known.state) {
            known.state = state;
            known.why = metric ? metric->why : "one of its runs lacks it";
        }
        known.bounds_total |= metric && metric->bounds_total;
        known.is_zero &= metric && metric->is_zero;
        is_kind |= metric && metric->kind.name;
    }
    return known;
}

/* Sets the state of a column. Differences and ratios of lower bounds are not defined: they may be
 * more or less than those of the bounds. */
static void set_state(struct merged_runs *merged, enum merged_column column,
                      const struct knowledge_of_side sides[SIDES], struct metric *metric)
{
    if (column < SIDES) {
        metric_set_state(metric, sides[column].state, sides[column].why);
        metric->bounds_total = sides[column].bounds_total;
        return;
    }
    for (int side = 0; side < SIDES; side++) {
        if (sides[side].state == METRIC_MEASURED)
            continue;
        bool is_bound = sides[side].state == METRIC_LOWER_BOUND;
        char *why = mem_printf("%s in %s: %s", is_bound ? "only a lower bound" : "not measured",
                               comparison_name(merged, side), sides[side].why);
        metric_set_state(metric, METRIC_NOT_MEASURED, merged_keep(merged, why));
        return;
    }
}

double comparison_workers(const struct merged_runs *merged, int side)
{
    const struct merged_run *first = merged_first_run(merged, (size_t)side);
    double measured = run_workers(first->run);
    return measured > 0 ? measured : (double)threads_count(first->db);
}

/* Appends what a pair of metrics costs in each run, as a quantity. */
static void add_quantity(struct merged_runs *merged, const struct metric_pair *pair)
{
    for (size_t run = 0; run < merged->runs.n; run++) {
        size_t side = merged->runs.at[run].group, index = pair->sides[side];
        const struct metrics *metrics = &merged->runs.at[run].db->metrics;
        const struct metrics *first = &merged_first_run(merged, side)->db->metrics;
        if (metrics != first)
            index = metrics_find(metrics, first->at[index].name);
        vec_push(&merged->sources, index < metrics->n_stored ? index : SIZE_MAX);
    }
    for (size_t side = 0; side < SIDES; side++) {
        const struct merged_run *first = merged_first_run(merged, side);
        vec_push(&merged->periods, metric_period(&first->db->metrics.at[pair->sides[side]], first->run));
    }
}

/* Adds a column of a metric that both sides have. Its name is that of the effort if only one is, else the one that
 * names its event. */
static void add_column(struct merged_runs *merged, size_t quantity, enum merged_column column)
{
    struct merged_term left = {0, quantity, 1}, right = {1, quantity, 1}, less = {0, quantity, -1};
    const struct merged_formula formulas[] = {[MERGED_LEFT] = {FORMULA_SUM, 1, {left}},
                                              [MERGED_RIGHT] = {FORMULA_SUM, 1, {right}},
                                              [MERGED_DIFFERENCE] = {FORMULA_SUM, 2, {right, less}},
                                              [MERGED_RATIO] = {FORMULA_QUOTIENT, 2, {right, left}},
                                              [MERGED_UNCERTAINTY] = {FORMULA_UNCERTAINTY, 2, {right, less}}};
    const struct metric *sides[SIDES];
    struct knowledge_of_side known[SIDES];
    for (int side = 0; side < SIDES; side++) {
        sides[side] = metric_of_side(merged, quantity, side);
        known[side] = knowledge_of(merged, quantity, side);
    }
    bool is_left = metric_is_sum(sides[0]) != metric_is_sum(sides[1])
                       ? metric_is_sum(sides[0])
                       : strlen(sides[0]->name) >= strlen(sides[1]->name);
    const struct metric *named = sides[is_left ? 0 : 1];
    bool is_side = column < SIDES;
    char *name = mem_printf(is_side ? "%s [%s]" : "%s %s", named->name, comparison_column(merged, column));
    struct metric metric = metric_new(merged_keep(merged, name));
    metric.of = named->of;
    metric.source = METRIC_COMPARED;
    metric.compared = (struct metric_comparison){.column = column,
                                                 .quantity = quantity,
                                                 .whole = METRIC_ABSENT,
                                                 .is_sum = metric_is_sum(named) && is_side};
    metric.is_ratio = column >= MERGED_RATIO;
    if (column != MERGED_RATIO)
        metric_set_unit(&metric, named->unit);
    set_state(merged, column, known, &metric);
    if (is_side && strcmp(sides[column]->name, named->name) != 0)
        metric.compared.called = sides[column]->name;
    for (int side = 0; side < SIDES; side++)
        metric.compared.sides[side] = quantity * MERGED_COLUMNS + (size_t)side;
    for (int set = 0; set < METRIC_SETS; set++)
        metric.is_in[set] = sides[0]->is_in[set] || sides[1]->is_in[set];
    metric.is_internal = sides[0]->is_internal && sides[1]->is_internal;
    metric.is_aside = sides[0]->is_aside && sides[1]->is_aside;
    memcpy(metric.is_part_hidden, named->is_part_hidden, sizeof metric.is_part_hidden);
    metric.is_asked_for = sides[0]->is_asked_for || sides[1]->is_asked_for;
    metric.is_zero = known[0].is_zero && known[1].is_zero;
    metric.repeats_work = sides[0]->repeats_work && sides[1]->repeats_work;
    if (named->kind.name) {
        metric.kind.name = name + (named->kind.name - named->name);
        metric.kind.length = named->kind.length;
    }
    merged_add(merged, metric, formulas[column]);
}

/* The column of a metric of the first run of a side; METRIC_ABSENT if the other side lacks the metric. */
static int find_column(const struct merged_runs *merged, enum merged_column column, int side, int metric)
{
    size_t run = merged_group_first(merged, (size_t)side);
    for (size_t m = 0; metric != METRIC_ABSENT && m < merged->metrics.n_stored; m++) {
        const struct metric_comparison *compared = &merged->metrics.at[m].compared;
        if (compared->column == column && merged_source(merged, compared->quantity, run) == (size_t)metric)
            return (int)m;
    }
    return METRIC_ABSENT;
}

/* Copies the relations between metrics (part of, kind of) to their columns. */
static void relate(struct merged_runs *merged)
{
    struct metrics *metrics = &merged->metrics;
    for (size_t m = 0; m < metrics->n; m++) {
        enum merged_column column = metrics->at[m].compared.column;
        int side = column == MERGED_LEFT ? 0 : 1;
        const struct metric *of_side = metric_of_side(merged, metrics->at[m].compared.quantity, side);
        metrics->at[m].kind.overhead = find_column(merged, column, side, of_side->kind.overhead);
        if (column < SIDES)
            metrics->at[m].sum = find_column(merged, column, side, of_side->sum);
    }
    for (size_t m = 0; m < metrics->n; m++) {
        struct metric_comparison *compared = &metrics->at[m].compared;
        if (compared->column == MERGED_DIFFERENCE) {
            compared->whole = (int)metrics_whole(metrics, compared->sides[0]);
            compared->is_of_effort = metric_is_of_effort(&metrics->at[compared->sides[0]]);
        }
    }
}

struct merged_runs *comparison_new(const struct merged_run *runs, size_t n, const struct comparison_options *options)
{
    struct merged_runs *merged = merged_runs_new(runs, n);
    merged->comparing = options;
    merged->first_shown = merged_group_first(merged, 1);
    autofree metric_pair_list pairs = metric_pairs_of(merged);
    for (size_t i = 0; i < pairs.n; i++) {
        add_quantity(merged, &pairs.at[i]);
        for (int column = MERGED_LEFT; column < MERGED_COLUMNS; column++)
            add_column(merged, i, (enum merged_column)column);
    }
    for (size_t i = 0; i < pairs.n && merged_is_of_repeats(merged); i++)
        add_column(merged, i, MERGED_UNCERTAINTY);
    relate(merged);
    merged->metrics.set = runs[0].db->metrics.set;
    return merged;
}

struct sorting comparison_sorting(const struct merged_runs *merged, enum cost_part part)
{
    const struct metrics *metrics = &merged->metrics;
    size_t by = metrics_first_measured(metrics);
    while (merged->comparing && by < metrics->n_stored &&
           (metrics->at[by].compared.column != MERGED_DIFFERENCE || !metric_is_measured(&metrics->at[by])))
        by++;
    if (by == metrics->n_stored)
        by = metrics_first_measured(metrics);
    return (struct sorting){.metric = by, .part = metric_part(&metrics->at[by], part)};
}

bool comparison_has(const struct view *view, uint32_t row, int side)
{
    const struct merged_runs *merged = merged_runs_of(view);
    const uint32_t *rows = merged_rows(view, row);
    for (size_t run = 0; run < merged->runs.n; run++)
        if (merged->runs.at[run].group == (size_t)side && rows[run] != NOTHING)
            return true;
    return false;
}

char *comparison_metric_name(const struct metric *metric)
{
    return mem_strndup(metric->name, (size_t)(metric->of.quantity + metric->of.event));
}

void comparison_only_in_one(const struct merged_runs *merged, struct text *out)
{
    for (int side = 0; side < SIDES; side++) {
        const struct metrics *metrics = &merged_first_run(merged, (size_t)side)->db->metrics;
        autofree struct text list = {0};
        for (size_t m = 0; m < metrics->n_stored; m++) {
            if (!metrics->at[m].is_in[SET_CHOSEN] ||
                find_column(merged, (enum merged_column)side, side, (int)m) != METRIC_ABSENT)
                continue;
            text_printf(&list, "%s%s", list.n ? ", " : "", metrics->at[m].name);
            metric_add_event(merged, side, m, &list);
        }
        if (list.n)
            text_printf(out, " Only in %s: %s.", comparison_name(merged, side), text_string(&list));
    }
}

/* Adds " Compared with each other: a [LEFT] and b [RIGHT].", the shown metrics with different
 * names. */
static void add_other_names(const struct merged_runs *merged, struct text *out)
{
    autofree struct text list = {0};
    for (size_t m = 0; m < merged->metrics.n_stored; m++) {
        const struct metric *column = &merged->metrics.at[m];
        if (column->compared.column != MERGED_LEFT || !column->is_in[SET_CHOSEN] ||
            (!metric_called(&column[MERGED_LEFT]) && !metric_called(&column[MERGED_RIGHT])))
            continue;
        text_printf(&list, "%s%s [%s] and %s [%s]", list.n ? ", " : "",
                    metric_of_side(merged, column->compared.quantity, 0)->name, comparison_name(merged, 0),
                    metric_of_side(merged, column->compared.quantity, 1)->name, comparison_name(merged, 1));
    }
    if (list.n)
        text_printf(out, " Compared with each other: %s.", text_string(&list));
}

void comparison_explain(const struct merged_runs *merged, struct text *out)
{
    const char *left = comparison_name(merged, 0), *right = comparison_name(merged, 1);
    autofree struct text text = {0};
    text_printf(&text, "Differences: %s - %s, in percent of %s.", right, left, left);
    add_other_names(merged, &text);
    comparison_only_in_one(merged, &text);
    text_add_clean(out, text_string(&text), describe_in_ascii());
}

/* A part of a path. */
struct path_part {
    const char *start, *end;
};

static bool is_slash(char c)
{
    return c == '/';
}

static bool is_between_words(char c)
{
    return !isalnum((unsigned char)c) && (unsigned char)c < 0x80;
}

/* Moves both starts after the last separator up to which the pieces are equal, and both ends before the first one from
 * which they are, unless nothing would remain of one. */
static void cut(struct path_part parts[SIDES], bool (*separates)(char))
{
    const char *a = parts[0].start, *b = parts[1].start;
    for (; a < parts[0].end && b < parts[1].end && *a == *b; a++, b++)
        if (separates(*a) && a + 1 < parts[0].end && b + 1 < parts[1].end) {
            parts[0].start = a + 1;
            parts[1].start = b + 1;
        }
    a = parts[0].end - 1;
    b = parts[1].end - 1;
    for (; a > parts[0].start && b > parts[1].start && *a == *b; a--, b--)
        if (separates(*a)) {
            parts[0].end = a;
            parts[1].end = b;
        }
}

void comparison_names_of_paths(const char *const paths[SIDES], char *names[SIDES])
{
    struct path_part parts[SIDES];
    for (int side = 0; side < SIDES; side++) {
        parts[side] = (struct path_part){paths[side], paths[side] + strlen(paths[side])};
        while (parts[side].end > parts[side].start + 1 && parts[side].end[-1] == '/')
            parts[side].end--;
    }
    cut(parts, is_slash);
    cut(parts, is_between_words);
    for (int side = 0; side < SIDES; side++)
        names[side] = mem_strndup(parts[side].start, (size_t)(parts[side].end - parts[side].start));
    if (strcmp(names[0], names[1]) != 0)
        return;
    for (int side = 0; side < SIDES; side++) {
        free(names[side]);
        names[side] = mem_strdup(side ? "B" : "A");
    }
}

void comparison_names_of_lists(const char *const lists[SIDES], char *names[SIDES])
{
    char *firsts[SIDES];
    for (int side = 0; side < SIDES; side++)
        firsts[side] = mem_strndup(lists[side], strcspn(lists[side], ","));
    comparison_names_of_paths((const char *const *)firsts, names);
    for (int side = 0; side < SIDES; side++) {
        size_t length = strlen(names[side]);
        while (length > 0 && !isalpha((unsigned char)names[side][length - 1]) && (names[side][length - 1] & 0x80) == 0)
            length--;
        names[side][length] = '\0';
        free(firsts[side]);
    }
    if (*names[0] && *names[1] && strcmp(names[0], names[1]) != 0)
        return;
    for (int side = 0; side < SIDES; side++) {
        free(names[side]);
        names[side] = mem_strdup(side ? "new" : "base");
    }
}

bool comparison_names_in(const char *list, char *names[SIDES])
{
    const char *comma = strchr(list, ',');
    if (!comma || comma == list || !comma[1] || strchr(comma + 1, ','))
        return false;
    size_t length = (size_t)(comma - list);
    if (strncmp(list, comma + 1, length) == 0 && !comma[1 + length])
        return false;
    names[0] = mem_strndup(list, length);
    names[1] = mem_strdup(comma + 1);
    return true;
}
