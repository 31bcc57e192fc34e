#include "viewer-tui/compare/changes.h"

#include "viewer-tui/advice/judgement.h"
#include "viewer-tui/compare/hotspot-pairs.h"
#include "viewer-tui/db/run.h"

#include <math.h>
#include <stdlib.h>

/* A change of more standard deviations than this is taken for real. */
#define MORE_THAN_CHANCE 2

/* An event of a row that is being compared. */
struct compared_event {
    const struct comparison *comparison;
    struct view *view;
    uint32_t row;
    double factor;         /* expected cost on the right, per cost on the left */
    double periods[SIDES]; /* of the event's samples; 0 if unknown */
};

static struct costs_of_both both(const struct compared_event *compared, double left, double right)
{
    return (struct costs_of_both){.sides = {left, right},
                                  .difference = right - compared->factor * left};
}

/* The standard deviation of a difference: a cost of n samples varies by period * sqrt(n). */
static double chance_in(const struct compared_event *compared, const struct costs_of_both *costs)
{
    double factors[SIDES] = {compared->factor, 1}, variance = 0;
    for (int side = 0; side < SIDES; side++)
        variance += factors[side] * factors[side] * compared->periods[side] * costs->sides[side];
    return sqrt(variance);
}

static enum change_verdict judge_change(const struct compared_event *compared,
                                        const struct costs_of_both *costs, double whole)
{
    double size = fabs(costs->difference);
    if (!(size > 0) || size < NOTABLE_SHARE_OF_RUN * whole)
        return CHANGE_HARDLY;
    if (size <= MORE_THAN_CHANCE * chance_in(compared, costs))
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
    const struct merged_metric *from = &compared->comparison->from[change->metric];
    struct row_pair pair = merged_rows(compared->view, compared->row);
    struct view *views[SIDES];
    for (int side = 0; side < SIDES; side++)
        views[side] = merged_side(compared->view, side);
    struct hotspot_pairs pairs = hotspot_pairs_find(views, pair.rows, from->sides);
    for (size_t i = 0; i < pairs.n; i++) {
        const struct hotspot_pair *of_both = &pairs.at[i];
        int side = of_both->is_in[1] ? 1 : 0;
        struct changed_hotspot hotspot = {
            .side = side,
            .hotspot = of_both->sides[side],
            .costs = both(compared, of_both->sides[0].cost, of_both->sides[1].cost)};
        enum change_verdict verdict = judge_change(compared, &hotspot.costs, whole);
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
    for (size_t m = 0; m < comparison->metrics.n_stored; m++) {
        const struct merged_metric *from = &comparison->from[m];
        bool is_effort =
            metric_is_sum(&left->at[from->sides[0]]) || metric_is_sum(&right->at[from->sides[1]]);
        bool is_of_part = from->sides[0] == event->at[part] ||
                          (part == EFFORT && from->sides[0] == event->at[WORK]);
        if (from->column == MERGED_LEFT && is_effort == (part == EFFORT) && is_of_part)
            return m;
    }
    return comparison->metrics.n;
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
    change.costs = both(compared, view_cost(view, compared->row, change.metric, of),
                        view_cost(view, compared->row, change.metric + 1, of));
    change.verdict = judge_change(compared, &change.costs, whole);
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
        if (work == comparison->metrics.n)
            continue;
        struct compared_event compared = {.comparison = comparison,
                                          .view = view,
                                          .row = row,
                                          .factor = comparison->from[work].factor};
        for (int side = 0; side < SIDES; side++) {
            const struct compared_run *run = &comparison->sides[side];
            const struct metric *metric = &run->db->metrics.at[comparison->from[work].sides[side]];
            compared.periods[side] = run_period(run->run, metric->name);
        }
        struct changes changes = {.event = event.event};
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            changes.parts[part] = change_of(&compared, &event, (enum efficiency_part)part);
        vec_push(&list, changes);
    }
    return list;
}
