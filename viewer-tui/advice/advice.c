#include "viewer-tui/advice/advice.h"

static const enum efficiency_part parts_of[WASTES] = {
    [WASTED_IDLE] = IDLENESS, [WASTED_ON_OVERHEAD] = OVERHEAD};

/* Why a metric has no values; NULL when it has. */
static const char *why_missing(const struct metrics *metrics, size_t metric)
{
    if (metric == metrics->n)
        return "it is not among the metrics shown";
    return metric_is_measured(&metrics->at[metric]) ? NULL : metrics->at[metric].why;
}

static struct efforts efforts_of(const struct view *view, uint32_t row,
                                 const struct efficiency *event, enum cost_part part)
{
    return (struct efforts){.work = view_cost(view, row, event->at[WORK], part),
                            .overhead = view_cost(view, row, event->at[OVERHEAD], part),
                            .idleness = view_cost(view, row, event->at[IDLENESS], part)};
}

static struct advice advise(struct view *view, uint32_t row, const struct efficiency *event,
                            const json_t *run)
{
    const struct metrics *metrics = view->metrics;
    const struct metric *work = &metrics->at[event->at[WORK]];
    struct advice advice = {.event = event->event, .unit = work->unit};
    for (int w = 0; w < WASTES; w++)
        advice.missing[w] = why_missing(metrics, event->at[parts_of[w]]);
    if (!advice_is_there(&advice))
        return advice;
    struct efforts scope = efforts_of(view, row, event, carriers_part(view));
    struct efforts whole = efforts_of(view, 0, event, INCLUSIVE);
    advice.judgement = judge(&scope, &whole, run_period(run, work->name));
    advice.bound = metrics->at[event->at[OVERHEAD]].why;
    if (advice.bound && advice.judgement.verdict != VERDICT_TOO_FEW_SAMPLES)
        advice.judgement.verdict = VERDICT_OVERHEAD_UNKNOWN;
    advice.kinds = overhead_kinds_of(view, row, event->at[OVERHEAD], carriers_part(view));
    advice.run_effort = whole.work + whole.overhead + whole.idleness;
    if (judgement_is_high(&advice.judgement, advice.judgement.idleness))
        advice.carriers[WASTED_IDLE] = carriers_find(view, row, event->at[IDLENESS]);
    if (judgement_is_high(&advice.judgement, advice.judgement.overhead))
        advice.carriers[WASTED_ON_OVERHEAD] = carriers_find(view, row, event->at[OVERHEAD]);
    return advice;
}

struct advices advice_on(struct view *view, uint32_t row, const json_t *run)
{
    struct advices advices = {0};
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(view->metrics, &from, &event))
        if (metric_is_measured(&view->metrics->at[event.at[WORK]]))
            vec_push(&advices.list, advise(view, row, &event, run));
    return advices;
}
