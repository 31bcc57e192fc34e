/* The parallelism of a run, by exact work and span (hpcrun --work-span), and what limits it.
 *
 * Parallelism is work / span. A procedure's local part of the span is a serial chain of its own
 * code. If that chain were perfectly parallel, the span would be shorter by it, at most: another
 * path may become the longest (what-if.h). */
#include "viewer-tui/advice/advice-rules.h"
#include "viewer-tui/advice/what-if.h"

#include "lib/number.h"

#include <math.h>

/* A scheduler needs several times as much parallelism as there are CPUs. */
#define ENOUGH 10

/* An interval of this part of the value is shown. */
#define WORTH_SAYING 0.02

/* Smaller parts of the span are no advice. */
#define LEAST_SHARE_OF_SPAN 0.1

/* Adds " 26.0% of the span is in fib, fib.c:3: making it parallel raises parallelism from 5.6 to at most 43.0." */
static void add_span_place(const struct facts *facts, const struct work_span *of, const struct subject *subject,
                           struct text *text)
{
    struct what_if costs;
    double most = INFINITY;
    text_printf(text, " %s%% of %s is in %s", number_percent(subject->place.cost, of->span).text,
                of->why_lower_bound ? "the longest known chain" : "the span", subject->where);
    if (what_if_costs(facts->view, of, NULL, subject->place.procedure, &costs))
        most = what_if_predict(&costs, INFINITY).parallelism.most;
    if (isfinite(most) && of->why_lower_bound)
        text_printf(text, ": if it were parallel, parallelism would be at most %.1f", most);
    else if (isfinite(most))
        text_printf(text, ": making it parallel raises parallelism from %.1f to at most %.1f", of->work / of->span,
                    most);
    text_add(text, ".");
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
    else if (!of->why_lower_bound && of->work / of->burdened_span < ENOUGH * cpus &&
             work_span_lower_bound(of, cpus) < cpus / 2)
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
    text_printf(text, ": work %s, span %s%s; %s%.1f if every spawn is stolen.", number_with_unit(of->work, "s").text,
                of->why_lower_bound ? "at least " : "", number_with_unit(of->span, "s").text, most,
                of->work / of->burdened_span);
    if (!of->why_lower_bound)
        return;
    text_add(text, " The span is a lower bound: ");
    text_add_clean(text, of->why_lower_bound, false);
    text_add(text, ".");
}

bool has_work_span(const struct facts *facts, struct subject *subject)
{
    const struct work_span *of = &facts->work_span;
    if (!facts->has_work_span)
        return false;
    autofree hotspot_list hotspots = hotspots_all(facts->view, 0, of->span_metric, false);
    if (hotspots.n && hotspots.at[0].cost >= LEAST_SHARE_OF_SPAN * of->span)
        subject->place = hotspots.at[0];
    return true;
}

void say_parallelism(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct work_span *of = &facts->work_span;
    add_parallelism(of, text);
    add_verdict(of, facts->process.cpus, text);
    if (subject->place.procedure != NOTHING)
        add_span_place(facts, of, subject, text);
}
