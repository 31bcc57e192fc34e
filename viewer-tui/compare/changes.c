#include "viewer-tui/compare/changes.h"

#include "lib/number.h"
#include "viewer-tui/advice/judgement.h"
#include "viewer-tui/compare/hotspot-pairs.h"
#include "viewer-tui/db/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An event of a row that is being compared. */
struct compared_event {
    const struct comparison *comparison;
    struct view *view;
    uint32_t row;
    double factor;         /* expected cost on the right, per cost on the left */
    double periods[SIDES]; /* of the event's samples; 0 if unknown */
};

/* `costs`: by run. */
static struct costs_of_both both(const struct compared_event *compared, const double *costs)
{
    const struct merged_runs *merged = &compared->comparison->merged;
    double left = merged_mean(merged, 0, costs), right = merged_mean(merged, 1, costs);
    return (struct costs_of_both){
        .sides = {left, right},
        .difference = right - compared->factor * left,
        .uncertainty = merged_uncertainty(merged, costs, compared->factor, compared->periods, CONFIDENCE_95)};
}

static enum change_verdict judge_change(const struct costs_of_both *costs, double whole)
{
    double size = fabs(costs->difference);
    if (!(size > 0) || size < NOTABLE_SHARE_OF_RUN * whole)
        return CHANGE_HARDLY;
    if (size <= costs->uncertainty)
        return CHANGE_BY_CHANCE;
    return costs->difference > 0 ? CHANGE_WORSE : CHANGE_BETTER;
}

/* Inserts in order of size; drops the smallest if the list is full. */
static void insert(struct changed_hotspots *hotspots, const struct changed_hotspot *new)
{
    size_t at = hotspots->n;
    double size = fabs(new->costs.difference);
    while (at > 0 && fabs(hotspots->at[at - 1].costs.difference) < size)
        at--;
    if (at == MOST_HOTSPOTS)
        return;
    if (hotspots->n < MOST_HOTSPOTS)
        hotspots->n++;
    for (size_t i = hotspots->n - 1; i > at; i--)
        hotspots->at[i] = hotspots->at[i - 1];
    hotspots->at[at] = *new;
}

static void find_hotspots(const struct compared_event *compared, struct change *change,
                          double whole)
{
    struct hotspot_pairs pairs = hotspot_pairs_find(compared->comparison, compared->view, compared->row,
                                                    change->metric / MERGED_COLUMNS);
    for (size_t i = 0; i < pairs.n; i++) {
        const struct hotspot_pair *of_both = &pairs.at[i];
        int side = of_both->is_in[1] ? 1 : 0;
        struct changed_hotspot hotspot = {
            .side = side,
            .hotspot = of_both->sides[side],
            .costs = both(compared, of_both->costs)};
        enum change_verdict verdict = judge_change(&hotspot.costs, whole);
        if (verdict == CHANGE_WORSE || verdict == CHANGE_BETTER)
            insert(&change->hotspots[verdict == CHANGE_WORSE ? MORE : LESS], &hotspot);
    }
    hotspot_pairs_free(&pairs);
}

/* The first column of a part of effort; metrics.n if the runs do not have it in common. */
static size_t column_of(const struct comparison *comparison, const struct efficiency *event,
                        enum efficiency_part part)
{
    const struct metrics *left = &comparison->sides[0].db->metrics;
    const struct metrics *right = &comparison->sides[1].db->metrics;
    for (size_t m = 0; m < comparison->from.n; m++) {
        const struct compared_metric *from = &comparison->from.at[m];
        bool is_effort =
            metric_is_sum(&left->at[from->sides[0]]) || metric_is_sum(&right->at[from->sides[1]]);
        bool is_of_part = from->sides[0] == event->at[part] ||
                          (part == EFFORT && from->sides[0] == event->at[WORK]);
        if (from->column == MERGED_LEFT && is_effort == (part == EFFORT) && is_of_part)
            return m;
    }
    return comparison->merged.metrics.n;
}

static struct change change_of(const struct compared_event *compared,
                               const struct efficiency *event, enum efficiency_part part)
{
    struct view *view = compared->view;
    const struct metrics *metrics = view->metrics;
    struct change change = {.metric = column_of(compared->comparison, event, part)};
    size_t difference = change.metric + MERGED_DIFFERENCE;
    if (change.metric == metrics->n || !metric_is_measured(&metrics->at[difference]))
        return change;
    enum cost_part of = compared->row == 0 ? INCLUSIVE : hotspots_part(view);
    double whole = view_whole(view, difference);
    double *costs = merged_costs(view, compared->row, change.metric / MERGED_COLUMNS, of);
    change.costs = both(compared, costs);
    free(costs);
    change.verdict = judge_change(&change.costs, whole);
    if (part != EFFORT)
        find_hotspots(compared, &change, whole);
    return change;
}

struct changes_list changes_of(const struct comparison *comparison, struct view *view, uint32_t row)
{
    const struct metrics *left = &comparison->sides[0].db->metrics;
    struct changes_list list = {0};
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(left, &from, &event)) {
        size_t work = column_of(comparison, &event, WORK);
        if (work == comparison->merged.metrics.n)
            continue;
        struct compared_event compared = {.comparison = comparison,
                                          .view = view,
                                          .row = row,
                                          .factor = comparison->from.at[work].factor};
        for (int side = 0; side < SIDES; side++) {
            const struct compared_run *run = &comparison->sides[side];
            const struct metric *metric = &run->db->metrics.at[comparison->from.at[work].sides[side]];
            compared.periods[side] = run_period(run->run, metric->name);
        }
        struct changes changes = {.event = event.event};
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            changes.parts[part] = change_of(&compared, &event, (enum efficiency_part)part);
        vec_push(&list, changes);
    }
    return list;
}

/* ---- In words ---- */

struct changes_printer {
    const struct comparison *comparison;
    const struct view *view;
    uint32_t row;
    struct advice_lines *lines;
};

const char *change_verdict_name(enum change_verdict verdict)
{
    static const char *const names[] = {[CHANGE_HARDLY] = "hardly changed",
                                        [CHANGE_BY_CHANCE] = "may be chance",
                                        [CHANGE_WORSE] = "worse",
                                        [CHANGE_BETTER] = "better"};
    return verdict == CHANGE_NOT_MEASURED ? NULL : names[verdict];
}

/* Causes of an increase, and what to do about it. */
static const char *meaning_of_more(enum efficiency_part part)
{
    static const char *const meanings[EFFORT] = {
        [WORK] = "More work: there is more to do, or the same takes longer, by other code or data "
                 "that is farther away.",
        [OVERHEAD] = "More overhead: tasks are smaller for what they cost, or more of them are "
                     "stolen. Make the grain of tasks coarser.",
        [IDLENESS] = "More idleness: there is less to do in parallel than workers could do. "
                     "Parallelize what is serial, or make the grain of tasks finer."};
    return meanings[part];
}

static bool is_scaling(const struct changes_printer *printer)
{
    return printer->comparison->options->scaling != NO_SCALING;
}

static void add_name(const struct changes_printer *printer, int side, struct text *text)
{
    text_add_clean(text, printer->comparison->options->names[side], printer->lines->ascii);
}

static void add_value(const struct changes_printer *printer, double value, size_t metric,
                      struct text *text)
{
    char number[NUMBER_WITH_UNIT_SIZE];
    number_with_unit(value, printer->view->metrics->at[metric].unit, number);
    text_add(text, number);
}

/* Adds "75.97 ms (14.1%)", without a sign; of repeated runs with what it is uncertain by: "75.97 ms (14.1% +- 2.0%)". */
static void add_size(const struct changes_printer *printer, const struct change *change,
                     const struct costs_of_both *costs, struct text *text)
{
    char percent[NUMBER_SIZE], uncertainty[NUMBER_SIZE];
    double whole = view_whole(printer->view, change->metric + MERGED_DIFFERENCE);
    add_value(printer, fabs(costs->difference), change->metric, text);
    number_percent(fabs(costs->difference), whole, percent);
    number_percent(costs->uncertainty, whole, uncertainty);
    bool is_repeated = printer->comparison->merged.runs.n > SIDES && *uncertainty;
    if (*percent && is_repeated)
        text_printf(text, " (%s%% %s %s%%)", percent, printer->lines->ascii ? "+-" : "±", uncertainty);
    else if (*percent)
        text_printf(text, " (%s%%)", percent);
}

/* Adds "75.97 ms (14.1%) more". */
static void add_change(const struct changes_printer *printer, const struct change *change,
                       struct text *text)
{
    add_size(printer, change, &change->costs, text);
    text_add(text, change->costs.difference > 0 ? " more" : " less");
}

static void add_text(const struct changes_printer *printer, const struct text *text)
{
    advice_add_paragraph(printer->lines, 2, 0, text_string(text));
}

/* "Effort is 615.5 ms in p4 and 539.5 ms in p2: 75.97 ms (14.1%) more." */
static void describe_effort(const struct changes_printer *printer, const struct change *effort)
{
    struct text text = {0};
    text_add(&text, "Effort is ");
    for (int side = SIDES - 1; side >= 0; side--) {
        add_value(printer, effort->costs.sides[side], effort->metric, &text);
        text_add(&text, " in ");
        add_name(printer, side, &text);
        text_add(&text, side ? " and " : ": ");
    }
    if (effort->verdict == CHANGE_HARDLY) {
        text_add(&text, is_scaling(printer) ? "as expected" : "hardly changed");
    } else {
        add_change(printer, effort, &text);
        text_add(&text, is_scaling(printer) ? " than expected" : "");
        text_add(&text, effort->verdict == CHANGE_BY_CHANCE ? ", which may be chance" : "");
    }
    text_add(&text, ".");
    add_text(printer, &text);
    vec_free(&text);
}

/* Adds what precedes the parts of effort with a verdict, "Worse in p4: ". */
static void add_head(const struct changes_printer *printer, enum change_verdict verdict,
                     struct text *text)
{
    static const char *const heads[] = {[CHANGE_NOT_MEASURED] = "Not measured in both",
                                        [CHANGE_HARDLY] = "Hardly changed",
                                        [CHANGE_BY_CHANCE] = "What may be chance",
                                        [CHANGE_WORSE] = "Worse in ",
                                        [CHANGE_BETTER] = "Better in "};
    bool is_as_expected = verdict == CHANGE_HARDLY && is_scaling(printer);
    text_add(text, is_as_expected ? "As expected" : heads[verdict]);
    if (verdict == CHANGE_WORSE || verdict == CHANGE_BETTER) {
        add_name(printer, 1, text);
        text_add(text, is_scaling(printer) ? " than expected" : "");
    }
    text_add(text, ": ");
}

/* "Worse in p4: work by 46.05 ms (8.5%), idleness by 121.9 ms (22.6%)." */
static void describe_verdict(const struct changes_printer *printer, const struct changes *changes,
                             enum change_verdict verdict)
{
    struct text text = {0};
    for (int part = WORK; part < EFFORT; part++) {
        const struct change *change = &changes->parts[part];
        if (change->verdict != verdict)
            continue;
        if (text.n)
            text_add(&text, ", ");
        else
            add_head(printer, verdict, &text);
        text_add(&text, efficiency_part_name((enum efficiency_part)part));
        if (verdict == CHANGE_WORSE || verdict == CHANGE_BETTER) {
            text_add(&text, " by ");
            add_size(printer, change, &change->costs, &text);
        } else if (verdict == CHANGE_BY_CHANCE) {
            text_add(&text, " ");
            add_change(printer, change, &text);
        }
    }
    if (text.n) {
        text_add(&text, ".");
        add_text(printer, &text);
    }
    vec_free(&text);
}

/* "    +40.93 ms (7.6%) block, cholesky.c:63, called from multiply" */
static void describe_hotspot(const struct changes_printer *printer, const struct change *change,
                             const struct changed_hotspot *hotspot)
{
    struct text text = {0};
    const struct view *view = comparison_side(printer->view, hotspot->side);
    text_add(&text, hotspot->costs.difference > 0 ? "+" : "-");
    add_size(printer, change, &hotspot->costs, &text);
    text_add(&text, " ");
    hotspot_describe(view->db, &hotspot->hotspot, printer->lines->ascii, &text);
    advice_add_paragraph(printer->lines, 4, 4, text_string(&text));
    vec_free(&text);
}

static void describe_hotspots(const struct changes_printer *printer, const struct change *change,
                              enum efficiency_part part, enum direction direction)
{
    const struct changed_hotspots *hotspots = &change->hotspots[direction];
    const struct view *of_side = comparison_side(printer->view, 0);
    bool is_about_callers = of_side->class == &bottomup_class && printer->row != 0;
    struct text head = {0};
    if (hotspots->n == 0)
        return;
    text_printf(&head, "%s %s in ", direction == MORE ? "More" : "Less",
                efficiency_part_name(part));
    add_name(printer, 1, &head);
    text_printf(&head, "%s is %s:", is_scaling(printer) ? " than expected" : "",
                is_about_callers ? "there in calls from" : "in");
    add_text(printer, &head);
    vec_free(&head);
    for (size_t i = 0; i < hotspots->n; i++)
        describe_hotspot(printer, change, &hotspots->at[i]);
}

static void describe_event(const struct changes_printer *printer, const struct changes *changes)
{
    static const enum change_verdict verdicts[] = {CHANGE_WORSE, CHANGE_BETTER, CHANGE_BY_CHANCE,
                                                   CHANGE_HARDLY, CHANGE_NOT_MEASURED};
    if (changes->parts[EFFORT].verdict != CHANGE_NOT_MEASURED)
        describe_effort(printer, &changes->parts[EFFORT]);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        describe_verdict(printer, changes, verdicts[i]);
    for (int part = WORK; part < EFFORT; part++) {
        const struct change *change = &changes->parts[part];
        if (change->verdict == CHANGE_WORSE)
            advice_add_paragraph(printer->lines, 2, 0, meaning_of_more((enum efficiency_part)part));
        for (int direction = MORE; direction < DIRECTIONS; direction++)
            describe_hotspots(printer, change, (enum efficiency_part)part,
                              (enum direction)direction);
    }
}

void changes_describe(const struct changes_list *list, const struct comparison *comparison,
                      const struct view *view, uint32_t row, struct advice_lines *lines)
{
    struct changes_printer printer = {comparison, view, row, lines};
    for (size_t i = 0; i < list->n; i++) {
        if (list->n > 1)
            advice_add_event(lines, list->at[i].event);
        describe_event(&printer, &list->at[i]);
    }
    if (list->n == 0)
        advice_add_paragraph(lines, 2, 0, "None: the runs have no work in common.");
}
