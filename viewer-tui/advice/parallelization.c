#include "viewer-tui/advice/parallelization.h"

#include "lib/number.h"

#include <math.h>
#include <stdlib.h>
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
    if (judgement->verdict == VERDICT_TOO_FEW_SAMPLES || judgement->verdict == VERDICT_FINE)
        return false;
    return (waste == WASTED_IDLE ? judgement->idleness_side : judgement->overhead_side) != SIDE_LOW;
}

static struct parallelization of_event(struct view *view, uint32_t row,
                                       const struct efficiency *event, const json_t *run)
{
    const struct metrics *metrics = view->metrics;
    const struct metric *work = &metrics->at[event->at[WORK]];
    struct parallelization of = {.event = event->event, .unit = work->unit};
    struct judged judged = {.scope = efforts_of(view, row, event, hotspots_part(view)),
                            .run = efforts_of(view, 0, event, INCLUSIVE),
                            .sampling = {.increment = run_increment(run, work->name),
                                         .workers = run_most_workers(run)}};
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

struct parallelizations parallelization_of(struct view *view, uint32_t row, const json_t *run)
{
    struct parallelizations all = {0};
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(view->metrics, &from, &event))
        if (metric_is_measured(&view->metrics->at[event.at[WORK]]))
            vec_push(&all.list, of_event(view, row, &event, run));
    return all;
}

/* ---- The finding, in words ---- */

void advice_event(const char *suffix, struct text *event)
{
    text_clear(event);
    if (*suffix)
        text_add(event, suffix + strlen(" ("));
    if (event->n && event->at[event->n - 1] == ')')
        event->at[--event->n] = '\0';
}

/* A run of more times this length is no useful advice. */
#define MOST_LENGTH 100

/* The input of a finding. */
struct subject {
    const struct parallelization *of;
    const struct view *view;
    uint32_t row;
};

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICTS] = {
        [VERDICT_TOO_FEW_SAMPLES] = "too few samples",
        [VERDICT_OPEN] = "cannot tell",
        [VERDICT_FINE] = "fine",
        [VERDICT_WASTE] = "too much idleness and overhead",
        [VERDICT_TOO_LITTLE] = "too little parallelism",
        [VERDICT_TOO_FINE] = "too fine a grain",
        [VERDICT_OVERHEAD] = "high overhead",
        [VERDICT_WRONG_PARALLELISM] = "wrong parallelization",
    };
    return names[verdict];
}

/* What precedes numbers that are lower bounds. */
static const char *at_least(enum knowledge known)
{
    return known == KNOWN_AT_LEAST ? "at least " : "";
}

/* Adds "without idleness at most 1.62x faster (1.41x to 1.90x)". */
static void add_gain(struct text *text, const char *without, const struct share *of_run)
{
    struct gain gain = gain_without(of_run);
    text_printf(text, "%s at most ", without);
    gain_describe(&gain, text);
}

/* The same of both. Unknown overhead may come on top. */
static void add_gain_of_both(struct text *text, const struct judgement *judgement)
{
    add_gain(text, judgement->overhead_known == KNOWN ? "without both" : "without what is known",
             &judgement->waste_of_run);
}

/* Adds " 98.0% of the idleness is in init, m.c:20, called from main." */
static void add_hotspot(struct text *text, const struct subject *subject, enum waste waste)
{
    const struct hotspots *hotspots = &subject->of->hotspots[waste];
    const struct judgement *judgement = &subject->of->judgement;
    double whole = judgement->effort *
                   (waste == WASTED_IDLE ? judgement->idleness.value : judgement->overhead.value);
    char percent[NUMBER_SIZE];
    if (hotspots->n == 0)
        return;
    bool is_about_callers = subject->view->class == &bottomup_class && subject->row != 0;
    number_percent(hotspots->at[0].cost, whole, percent);
    text_printf(text, " %s%% of the %s is %s ", percent, waste_name(waste),
                is_about_callers ? "in calls from" : "in");
    hotspot_describe(subject->view->db, &hotspots->at[0], false, text);
    text_add(text, ".");
}

static bool has_side(const struct judgement *judgement, enum side idleness, enum side overhead)
{
    return judgement->idleness_side == idleness && judgement->overhead_side == overhead;
}

/* How many times longer the run would have to be for the interval to exclude the threshold, if the
 * share stays the same; INFINITY if the share is the threshold. */
static double length_to_tell(const struct share *share, double threshold)
{
    double half = share->value < threshold ? share->high - share->value : share->value - share->low;
    double distance = fabs(share->value - threshold);
    return distance > 0 ? half / distance * (half / distance) : INFINITY;
}

/* Adds " A run about 3 times as long would tell." */
static void add_what_would_tell(struct text *text, const struct judgement *judgement)
{
    double length = length_to_tell(&judgement->waste, FINE_SHARE);
    if (length <= MOST_LENGTH)
        text_printf(
            text, " A run about %.0f times as long would tell%s.", ceil(fmax(length, 2)),
            judgement->would_rate_help ? "; a higher rate (hpcrun -e EVENT@fRATE) helps, too" : "");
    else
        text_printf(text, " A longer run would hardly tell: it is close to %.0f%%.",
                    100 * FINE_SHARE);
}

/* Adds what is not known, and why. */
static void add_unknown(struct text *text, const struct parallelization *of, enum waste waste)
{
    enum knowledge known =
        waste == WASTED_IDLE ? of->judgement.idleness_known : of->judgement.overhead_known;
    if (known == KNOWN || !of->why[waste])
        return;
    text_printf(text, " %s %s: %s.", waste == WASTED_IDLE ? "Idleness" : "Overhead",
                known == KNOWN_AT_LEAST ? "is a lower bound" : "was not measured", of->why[waste]);
}

static void add_open(struct text *text, const struct subject *subject)
{
    const struct parallelization *of = subject->of;
    const struct judgement *judgement = &of->judgement;
    if (judgement->idleness_known == KNOWN && judgement->overhead_known == KNOWN) {
        text_add(text, "Cannot tell: idleness and overhead together take ");
        share_describe(&judgement->waste, "", text);
        text_printf(text, " of the effort; below %.0f%% is fine, above is too much.",
                    100 * FINE_SHARE);
        add_what_would_tell(text, judgement);
        return;
    }
    text_add(text, "Cannot tell:");
    if (judgement->idleness_known != NOT_KNOWN) {
        text_add(text, " idleness is ");
        share_describe(&judgement->idleness, "", text);
        add_gain(text, " of the effort, without it", &judgement->idleness_of_run);
        text_add(text, ".");
    }
    if (judgement->overhead_known != NOT_KNOWN && judgement->overhead.value > 0) {
        text_printf(text, " Overhead is %s", at_least(judgement->overhead_known));
        share_describe(&judgement->overhead, "", text);
        text_add(text, " of the effort.");
    }
    add_unknown(text, of, WASTED_IDLE);
    add_unknown(text, of, WASTED_ON_OVERHEAD);
}

static void add_too_little(struct text *text, const struct subject *subject)
{
    const struct judgement *judgement = &subject->of->judgement;
    add_gain(text, "Too little parallelism: without idleness", &judgement->idleness_of_run);
    text_add(text, ".");
    add_hotspot(text, subject, WASTED_IDLE);
    text_add(text, " Parallelize what is serial");
    text_add(text, has_side(judgement, SIDE_HIGH, SIDE_LOW) ? ", or make tasks smaller." : ".");
    add_unknown(text, subject->of, WASTED_ON_OVERHEAD);
}

static void add_high_overhead(struct text *text, const struct subject *subject)
{
    const struct judgement *judgement = &subject->of->judgement;
    if (judgement->verdict == VERDICT_TOO_FINE) {
        add_gain(text, "Too fine a grain: without overhead", &judgement->overhead_of_run);
        text_add(text, ".");
        add_hotspot(text, subject, WASTED_ON_OVERHEAD);
        text_add(text, " Make tasks larger.");
        return;
    }
    text_printf(text, "High overhead: %s", at_least(judgement->overhead_known));
    share_describe(&judgement->overhead, "", text);
    add_gain(text, " of the effort, without this known part", &judgement->overhead_of_run);
    text_add(text, ".");
    add_hotspot(text, subject, WASTED_ON_OVERHEAD);
    add_unknown(text, subject->of, WASTED_IDLE);
    add_unknown(text, subject->of, WASTED_ON_OVERHEAD);
}

static void add_both(struct text *text, const struct subject *subject)
{
    const struct judgement *judgement = &subject->of->judgement;
    if (judgement->verdict == VERDICT_WRONG_PARALLELISM) {
        text_add(text, "Wrong parallelization: idleness and overhead are both high, so larger or "
                       "smaller tasks alone may not help: ");
        add_gain_of_both(text, judgement);
        text_add(text, ".");
    } else {
        text_add(text, "Too much idleness and overhead together: ");
        add_gain_of_both(text, judgement);
        text_add(text, ". The samples do not tell which of the two is high.");
    }
    add_hotspot(text, subject, WASTED_IDLE);
    add_hotspot(text, subject, WASTED_ON_OVERHEAD);
    add_unknown(text, subject->of, WASTED_ON_OVERHEAD);
}

static void add_fine(struct text *text, const struct subject *subject)
{
    const struct judgement *judgement = &subject->of->judgement;
    text_add(text, "Fine: idleness is ");
    share_describe(&judgement->idleness, "", text);
    text_add(text, " and overhead ");
    share_describe(&judgement->overhead, "", text);
    text_add(text, " of the effort; ");
    add_gain_of_both(text, judgement);
    text_add(text, ". Look at the work itself.");
}

static void add_verdict(struct text *text, const struct subject *subject)
{
    switch (subject->of->judgement.verdict) {
    case VERDICT_FINE: add_fine(text, subject); break;
    case VERDICT_TOO_LITTLE: add_too_little(text, subject); break;
    case VERDICT_TOO_FINE:
    case VERDICT_OVERHEAD: add_high_overhead(text, subject); break;
    case VERDICT_WASTE:
    case VERDICT_WRONG_PARALLELISM: add_both(text, subject); break;
    case VERDICT_OPEN: add_open(text, subject); break;
    default:
        text_add(text, "Too few samples to judge idleness and overhead: measure for longer, or "
                       "sample more often (hpcrun -e EVENT@fRATE).");
    }
}

/* Adds "overhead at least 3.8% (3.2% to 4.5%; 3.0% spawn, 0.8% sync)". */
static void add_share(struct text *text, const char *what, const struct share *share,
                      enum knowledge known, const char *more)
{
    text_add(text, what);
    if (known == NOT_KNOWN) {
        text_add(text, "not measured");
    } else {
        text_add(text, at_least(known));
        share_describe(share, more, text);
    }
}

/* "Idleness is 15.8% (14.1% to 17.6%), overhead 3.8% (3.2% to 4.5%; 3.0% spawn, 0.8% sync) of its
 * effort of 1.825 s." */
static void add_numbers(struct finding *finding, const struct subject *subject)
{
    const struct parallelization *of = subject->of;
    const struct judgement *judgement = &of->judgement;
    struct text text = {0}, kinds = {0};
    char effort[NUMBER_WITH_UNIT_SIZE], percent[NUMBER_SIZE];
    number_with_unit(judgement->effort, of->unit, effort);
    overhead_kinds_describe(&of->kinds, judgement->effort, false, &kinds);
    add_share(&text, "Idleness is ", &judgement->idleness, judgement->idleness_known, "");
    add_share(&text, ", overhead ", &judgement->overhead, judgement->overhead_known,
              text_string(&kinds));
    vec_free(&kinds);
    text_printf(&text, " of %s effort of %s.", subject->row == 0 ? "the" : "its", effort);
    if (subject->row != 0) {
        number_percent(judgement->effort_of_run, 1, percent);
        text_printf(&text, " That effort is %s%% of the whole run's.", percent);
    }
    finding_add_detail(finding, &text);
    vec_free(&text);
}

/* Names the kind that makes up more than half of a high overhead. */
static void add_dominant_kind(struct finding *finding, const struct parallelization *of)
{
    const struct judgement *judgement = &of->judgement;
    double overhead = judgement->overhead.value * judgement->effort;
    if (judgement->overhead_side != SIDE_HIGH || of->kinds.n == 0 ||
        of->kinds.at[0].cost <= overhead / 2)
        return;
    struct text text = {0};
    char *kind = overhead_kind_name(of->kinds.at[0].metric);
    const char *meaning = overhead_kind_meaning(kind);
    text_printf(&text, "Most of the overhead is of the kind %s%s%s.", kind, meaning ? ": " : "",
                meaning ? meaning : "");
    finding_add_detail(finding, &text);
    free(kind);
    vec_free(&text);
}

/* Adds the items "98.0% block, cholesky.c:63, called from multiply" after "Most of the idleness is
 * in:". */
static void add_hotspots(struct finding *finding, const struct subject *subject, enum waste waste)
{
    const struct hotspots *hotspots = &subject->of->hotspots[waste];
    const struct judgement *judgement = &subject->of->judgement;
    double whole = judgement->effort *
                   (waste == WASTED_IDLE ? judgement->idleness.value : judgement->overhead.value);
    struct text text = {0};
    bool is_about_callers = subject->view->class == &bottomup_class && subject->row != 0;
    for (size_t i = 0; i < hotspots->n; i++) {
        char percent[NUMBER_SIZE];
        if (i == 0) {
            text_printf(&text, "Most of the %s %s:", waste_name(waste),
                        is_about_callers ? "is there in calls from" : "is in");
            finding_add_detail(finding, &text);
        }
        text_clear(&text);
        number_percent(hotspots->at[i].cost, whole, percent);
        text_printf(&text, "%c%s%% ", FINDING_ITEM, percent);
        hotspot_describe(subject->view->db, &hotspots->at[i], false, &text);
        finding_add_detail(finding, &text);
    }
    vec_free(&text);
}

static void add_details(struct finding *finding, const struct subject *subject)
{
    const struct judgement *judgement = &subject->of->judgement;
    struct text text = {0};
    bool is_bad = judgement->verdict > VERDICT_FINE;
    if (is_bad && !judgement->is_notable) {
        text_add(&text, "That is little of the whole run: there is not much to gain here.");
        finding_add_detail(finding, &text);
    }
    vec_free(&text);
    if (judgement->verdict != VERDICT_FINE || subject->row != 0 || subject->of->kinds.n)
        add_numbers(finding, subject); /* else the text has them all */
    add_dominant_kind(finding, subject->of);
    for (int waste = 0; waste < WASTES; waste++)
        add_hotspots(finding, subject, (enum waste)waste);
}

/* Sets the gain of what the verdict names. */
static void set_gain(struct finding *finding, const struct judgement *judgement)
{
    switch (judgement->verdict) {
    case VERDICT_TOO_FEW_SAMPLES: break;
    case VERDICT_TOO_LITTLE:
        finding_set_gain(finding, gain_without(&judgement->idleness_of_run));
        break;
    case VERDICT_TOO_FINE:
    case VERDICT_OVERHEAD:
        finding_set_gain(finding, gain_without(&judgement->overhead_of_run));
        break;
    default: finding_set_gain(finding, gain_without(&judgement->waste_of_run));
    }
}

/* Sets the place with the most of what is high. */
static void set_place(struct finding *finding, const struct parallelization *of)
{
    enum waste waste = of->judgement.idleness_side == SIDE_HIGH ? WASTED_IDLE : WASTED_ON_OVERHEAD;
    const struct hotspots *hotspots = &of->hotspots[waste];
    if (hotspots->n == 0)
        return;
    finding->procedure = hotspots->at[0].procedure;
    finding->file = hotspots->at[0].file;
    finding->line = hotspots->at[0].line;
}

void parallelization_find(const struct parallelization *of, const struct view *view, uint32_t row,
                          struct findings *findings)
{
    struct subject subject = {.of = of, .view = view, .row = row};
    struct text text = {0}, event = {0};
    if (!parallelization_is_known(of))
        return;
    advice_event(of->event, &event);
    if (event.n)
        text_printf(&text, "By %s: ", text_string(&event));
    add_verdict(&text, &subject);
    struct finding *finding = findings_add(findings, FINDING_PARALLELIZATION, &text);
    finding->source = of;
    set_gain(finding, &of->judgement);
    set_place(finding, of);
    if (of->judgement.verdict != VERDICT_TOO_FEW_SAMPLES)
        add_details(finding, &subject);
    vec_free(&text);
    vec_free(&event);
}
