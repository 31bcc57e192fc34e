#include "viewer-tui/advice/parallelization.h"

#include "lib/number.h"

#include <string.h>

static const enum efficiency_part parts_of[WASTES] = {
    [WASTED_IDLE] = IDLENESS, [WASTED_ON_OVERHEAD] = OVERHEAD};

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

static struct parallelization of_event(struct view *view, uint32_t row,
                                       const struct efficiency *event, const json_t *run, double nobody,
                                       double disturbed)
{
    const struct metrics *metrics = view->metrics;
    const struct metric *work = &metrics->at[event->at[WORK]];
    struct parallelization of = {.event = event->event, .unit = work->unit, .helper = NOTHING};
    struct judged judged = {.scope = efforts_of(view, row, event, hotspots_part(view)),
                            .run = efforts_of(view, 0, event, INCLUSIVE),
                            .disturbed = disturbed,
                            .sampling = {.increment = run_increment(run, work->name),
                                         .workers = run_most_workers(run)}};
    const char *name = run_text(run_metric(run, work->name), "event");
    if (strcmp(name, "CPUTIME") == 0 || strcmp(name, "REALTIME") == 0)
        judged.nobody = nobody;
    enum knowledge known[WASTES];
    for (int w = 0; w < WASTES; w++) {
        size_t m = event->at[parts_of[w]];
        const struct metric *metric = m < metrics->n ? &metrics->at[m] : NULL;
        bool is_measured = metric && metric_is_measured(metric);
        of.why[w] = metric ? metric->why : "it is not among the metrics shown";
        known[w] = !is_measured ? NOT_KNOWN : metric_is_lower_bound(metric) ? KNOWN_AT_LEAST : KNOWN;
    }
    judged.idleness = known[WASTED_IDLE];
    judged.overhead = known[WASTED_ON_OVERHEAD];
    of.judgement = judge(&judged);
    if (!parallelization_is_known(&of))
        return of;
    enum verdict verdict = of.judgement.verdict;
    bool is_dull = verdict == VERDICT_TOO_FEW_SAMPLES || verdict == VERDICT_FINE || verdict == VERDICT_BUSY;
    enum side sides[WASTES] = {
        [WASTED_IDLE] = of.judgement.idleness_side, [WASTED_ON_OVERHEAD] = of.judgement.overhead_side};
    size_t wasted[WASTES];
    for (int w = 0; w < WASTES; w++)
        wasted[w] = known[w] != NOT_KNOWN && sides[w] != SIDE_LOW ? event->at[parts_of[w]] : NO_METRIC;
    if (!is_dull)
        hotspots_find_each(view, row, wasted, WASTES, of.hotspots);
    struct hotspots *idle = &of.hotspots[WASTED_IDLE];
    struct hotspot caller;
    if (row == 0 && view->class == &topdown_class && idle->n &&
        hotspot_find_caller(view, &idle->at[0], wasted[WASTED_IDLE], event->at[WORK], &caller)) {
        of.helper = idle->at[0].procedure;
        idle->at[0] = caller;
    }
    if (known[WASTED_ON_OVERHEAD] != NOT_KNOWN)
        of.kinds = overhead_kinds_of(view, row, event->at[OVERHEAD], hotspots_part(view));
    return of;
}

struct parallelizations parallelization_of(struct view *view, uint32_t row, const json_t *run, double nobody,
                                            double disturbed)
{
    struct parallelizations all = {0};
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(view->metrics, &from, &event))
        if (metric_is_measured(&view->metrics->at[event.at[WORK]]))
            vec_push(&all.list, of_event(view, row, &event, run, nobody, disturbed));
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

/* Smaller shares would be printed as 0.0 %. */
#define LEAST_SHARE 0.0005

struct overhead_kinds overhead_kinds_of(const struct view *view, uint32_t row, size_t overhead,
                                        enum cost_part part)
{
    const struct metrics *metrics = view->metrics;
    struct overhead_kinds kinds = {0};
    for (size_t m = 0; m < metrics->n; m++) {
        const struct metric *metric = &metrics->at[m];
        double cost = view_cost(view, row, m, part);
        if (!metric->kind.name || metric->kind.overhead != (int)overhead || !(cost > 0))
            continue;
        size_t at = kinds.n < MOST_KINDS ? kinds.n++ : MOST_KINDS - 1; /* the smallest is dropped if the list is full */
        if (kinds.at[at].cost >= cost)
            continue;
        for (; at > 0 && kinds.at[at - 1].cost < cost; at--)
            kinds.at[at] = kinds.at[at - 1];
        kinds.at[at] = (struct kind_cost){metric, cost};
    }
    return kinds;
}

char *overhead_kind_name(const struct metric *kind)
{
    return mem_strndup(kind->kind.name, (size_t)kind->kind.length);
}

const char *overhead_kind_meaning(const char *kind)
{
    static const char *const meanings[][2] = {
        {"spawn", "what making a task costs, whether it is stolen or not"},
        {"sync", "what it costs to wait for tasks, at barriers and for critical sections, also where nothing has to wait"},
        {"steal", "looking for tasks to take from other workers, and taking them"},
        {"scheduler", "what the scheduler does between tasks"},
        {"loop", "dividing parallel loops into tasks"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i][0], kind) == 0)
            return meanings[i][1];
    return NULL;
}

void overhead_kinds_describe(const struct overhead_kinds *kinds, double whole, bool ascii,
                             struct text *out)
{
    const char *comma = "";
    for (size_t i = 0; i < kinds->n && kinds->at[i].cost >= LEAST_SHARE * whole; i++) {
        autofree char *name = overhead_kind_name(kinds->at[i].metric);
        text_printf(out, "%s%s%% ", comma, number_percent(kinds->at[i].cost, whole).text);
        text_add_clean(out, name, ascii);
        comma = ", ";
    }
}
