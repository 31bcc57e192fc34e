/* The parallelism of a run, by exact work and span (hpcrun --work-span), and what limits it.
 *
 * Parallelism is work / span. A procedure's local part of the span is a serial chain of its own
 * code. If that chain were perfectly parallel, the span would be shorter by it, at most: another
 * path may become the longest (what-if.h). */
#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/situation.h"
#include "viewer-tui/advice/what-if.h"
#include "viewer-tui/tree/speedup-bounds.h"

#include "lib/number.h"

#include <math.h>

/* A scheduler needs several times as much parallelism as there are CPUs. */
#define ENOUGH 10

/* An interval of this part of the value is shown. */
#define WORTH_SAYING 0.02

/* Smaller parts of the span are no advice. */
#define LEAST_SHARE_OF_SPAN 0.1

/* ": making it parallel raises parallelism from 5.6 to at most 43.0" */
static void add_gain(const struct situation *situation, const struct work_span *of,
                     uint32_t procedure, struct text *text)
{
    struct what_if costs;
    if (!what_if_costs(situation->view, of, NULL, procedure, &costs))
        return;
    struct predicted predicted = what_if_predict(&costs, INFINITY);
    if (!isfinite(predicted.parallelism.most))
        return;
    if (of->why_lower_bound)
        text_printf(text, ": if it were parallel, parallelism would be at most %.1f",
                    predicted.parallelism.most);
    else
        text_printf(text, ": making it parallel raises parallelism from %.1f to at most %.1f",
                    of->work / of->span, predicted.parallelism.most);
}

static void add_place(const struct situation *situation, const struct work_span *of,
                      struct text *text, struct finding *finding)
{
    struct hotspots hotspots = hotspots_find(situation->view, 0, of->span_metric);
    char percent[NUMBER_SIZE];
    if (hotspots.n == 0 || hotspots.at[0].cost < LEAST_SHARE_OF_SPAN * of->span)
        return;
    const struct hotspot *largest = &hotspots.at[0];
    number_percent(largest->cost, of->span, percent);
    text_printf(text, " %s%% of %s is in ", percent,
                of->why_lower_bound ? "the longest known chain" : "the span");
    hotspot_describe(situation->view->db, largest, false, text);
    add_gain(situation, of, largest->procedure, text);
    text_add(text, ".");
    finding->procedure = largest->procedure;
    finding->file = largest->file;
    finding->line = largest->line;
}

/* Compares with the CPUs of the machine that measured. From a lower bound of the span, only what a longer
 * one cannot refute. */
static void add_verdict(const struct work_span *of, double cpus, struct text *text)
{
    double parallelism = of->work / of->span;
    if (cpus < 2)
        return;
    if (parallelism < cpus)
        text_printf(text, " That is less than this machine's %.0f CPUs.", cpus);
    else if (parallelism < ENOUGH * cpus)
        text_printf(text, " For %.0f CPUs, %.0f would be enough.", cpus, ENOUGH * cpus);
    bool is_burdened = of->work / of->burdened_span < ENOUGH * cpus;
    if (of->why_lower_bound)
        return;
    if (work_span_lower_bound(of, cpus) < cpus / 2 && is_burdened && parallelism >= ENOUGH * cpus)
        text_add(text, " Tasks are so small that moving them costs too much: make them larger.");
}

/* "Parallelism is 5.6: work 1.200 s, span 0.213 s; 5.4 if every spawn is stolen." */
static void add_parallelism(const struct work_span *of, struct text *text)
{
    const char *most = of->why_lower_bound ? "at most " : "";
    struct parallelism interval = work_span_parallelism(of, false);
    text_printf(text, "Parallelism is %s%.1f", most, of->work / of->span);
    if (interval.most - interval.least >= WORTH_SAYING * of->work / of->span)
        text_printf(text, " (%.1f to %.1f)", interval.least, interval.most);
    text_add(text, ": work ");
    add_seconds(text, of->work);
    text_printf(text, ", span %s", of->why_lower_bound ? "at least " : "");
    add_seconds(text, of->span);
    text_printf(text, "; %s%.1f if every spawn is stolen.", most, of->work / of->burdened_span);
    if (!of->why_lower_bound)
        return;
    text_add(text, " The span is a lower bound: ");
    text_add_clean(text, of->why_lower_bound, false);
    text_add(text, ".");
}

void find_parallelism(const struct situation *situation, struct findings *findings)
{
    struct work_span of;
    struct text text = {0};
    if (situation->row != 0 || !work_span_of(situation->view, &of))
        return;
    add_parallelism(&of, &text);
    struct finding *finding = findings_add(findings, FINDING_PARALLELISM, &text);
    finding->order = FINDING_BEFORE_ALL;
    add_verdict(&of, situation->process.cpus, &text);
    add_place(situation, &of, &text, finding);
    finding_set_text(finding, &text);
    vec_free(&text);
}
