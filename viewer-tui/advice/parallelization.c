#include "viewer-tui/advice/parallelization.h"

#include <string.h>

static const enum efficiency_part parts_of[WASTES] = {
    [WASTED_IDLE] = IDLENESS, [WASTED_ON_OVERHEAD] = OVERHEAD};

/* How well a metric is known, and why not better. */
static enum knowledge knowledge_of(const struct metrics *metrics, size_t metric, const char **why)
{
    *why = metric < metrics->n ? metrics->at[metric].why : "it is not among the metrics shown";
    if (metric >= metrics->n || !metric_is_measured(&metrics->at[metric]))
        return NOT_KNOWN;
    return metric_is_lower_bound(&metrics->at[metric]) ? KNOWN_AT_LEAST : KNOWN;
}

static double cost_of(const struct view *view, uint32_t row, size_t metric, enum cost_part part)
{
    if (metric >= view->metrics->n || !metric_is_measured(&view->metrics->at[metric]))
        return 0;
    return view_cost(view, row, metric, part);
}

static struct efforts efforts_of(const struct view *view, uint32_t row,
                                 const struct efficiency *event, enum cost_part part)
{
    return (struct efforts){.work = cost_of(view, row, event->at[WORK], part),
                            .overhead = cost_of(view, row, event->at[OVERHEAD], part),
                            .idleness = cost_of(view, row, event->at[IDLENESS], part)};
}

/* Whether to name the procedures with the idleness or overhead. */
static bool is_interesting(const struct judgement *judgement, enum waste waste)
{
    if (judgement->verdict == VERDICT_TOO_FEW_SAMPLES || judgement->verdict == VERDICT_FINE ||
        judgement->verdict == VERDICT_BUSY)
        return false;
    return (waste == WASTED_IDLE ? judgement->idleness_side : judgement->overhead_side) != SIDE_LOW;
}

static struct parallelization of_event(struct view *view, uint32_t row,
                                       const struct efficiency *event, const json_t *run, double nobody)
{
    const struct metrics *metrics = view->metrics;
    const struct metric *work = &metrics->at[event->at[WORK]];
    struct parallelization of = {.event = event->event, .unit = work->unit};
    struct judged judged = {.scope = efforts_of(view, row, event, hotspots_part(view)),
                            .run = efforts_of(view, 0, event, INCLUSIVE),
                            .sampling = {.increment = run_increment(run, work->name),
                                         .workers = run_most_workers(run)}};
    if (strcmp(run_text(run_metric(run, work->name), "event"), "CPUTIME") == 0)
        judged.nobody = nobody;
    enum knowledge known[WASTES];
    for (int w = 0; w < WASTES; w++)
        known[w] = knowledge_of(metrics, event->at[parts_of[w]], &of.why[w]);
    judged.idleness = known[WASTED_IDLE];
    judged.overhead = known[WASTED_ON_OVERHEAD];
    of.judgement = judge(&judged);
    if (!parallelization_is_known(&of))
        return of;
    for (int w = 0; w < WASTES; w++)
        if (known[w] != NOT_KNOWN && is_interesting(&of.judgement, (enum waste)w))
            of.hotspots[w] = hotspots_find(view, row, event->at[parts_of[w]]);
    if (known[WASTED_ON_OVERHEAD] != NOT_KNOWN)
        of.kinds = overhead_kinds_of(view, row, event->at[OVERHEAD], hotspots_part(view));
    return of;
}

struct parallelizations parallelization_of(struct view *view, uint32_t row, const json_t *run, double nobody)
{
    struct parallelizations all = {0};
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(view->metrics, &from, &event))
        if (metric_is_measured(&view->metrics->at[event.at[WORK]]))
            vec_push(&all.list, of_event(view, row, &event, run, nobody));
    return all;
}

void advice_event(const char *suffix, struct text *event)
{
    text_clear(event);
    if (*suffix)
        text_add(event, suffix + strlen(" ("));
    if (event->n && event->at[event->n - 1] == ')')
        event->at[--event->n] = '\0';
}

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICTS] = {
        [VERDICT_TOO_FEW_SAMPLES] = "too few samples",
        [VERDICT_OPEN] = "cannot tell",
        [VERDICT_FINE] = "fine",
        [VERDICT_BUSY] = "busy",
        [VERDICT_WASTE] = "too much idleness and overhead",
        [VERDICT_TOO_LITTLE] = "too little parallelism",
        [VERDICT_TOO_FINE] = "too fine a grain",
        [VERDICT_OVERHEAD] = "high overhead",
        [VERDICT_WRONG_PARALLELISM] = "wrong parallelization",
    };
    return names[verdict];
}
