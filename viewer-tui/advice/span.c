/* The limit to the speed with any number of workers, by the metric `incomplete`.
 *
 * U is the sum of increment / n_w over the samples of working workers when fewer than n worked: the
 * wall time in which not every worker had work. A greedy scheduler never leaves a worker without
 * work while there is some. So during U all that can run does run, and each instant shortens the
 * remaining longest chain of dependent work, the span. Hence the span is at least U, parallelism
 * (work over span) at most work / U, and the time with any number p of workers at least max(U, work
 * / p). All this is approximate: a work-stealing scheduler is greedy except while it looks for
 * work, and that time is in U.
 *
 * U is a sum of wall time in spells, like idleness: its variance is 13/12 max(d, IDLE_SPELL) U
 * (share-interval.h). The run's time is that of its workers, effort / n. */
#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/situation.h"
#include "viewer-tui/metrics/efficiency.h"

#include <math.h>
#include <stdlib.h>

/* Below this share all workers nearly always have work, so there is no limit yet. */
#define LEAST_SHARE_OF_WALL 0.05

/* Names the procedures that together have half of it, "init, m.c:20". */
static void add_half(const struct situation *situation, double incomplete, struct text *text,
                     struct finding *finding)
{
    struct hotspots hotspots = hotspots_find(situation->view, 0, situation->incomplete);
    double sum = 0;
    size_t n = 0;
    while (n < hotspots.n && sum < incomplete / 2)
        sum += hotspots.at[n++].cost;
    if (n == 0)
        return;
    struct share share = share_of_samples(sum, incomplete, situation->cpu_increment);
    text_add(text, " ");
    share_describe(&share, "", text);
    text_add(text, " of that is in ");
    for (size_t i = 0; i < n; i++) {
        text_add(text, i == 0 ? "" : i + 1 == n ? " and in " : "; in ");
        hotspot_describe(situation->view->db, &hotspots.at[i], false, text);
    }
    text_add(text, ".");
    finding->procedure = hotspots.at[0].procedure;
    finding->file = hotspots.at[0].file;
    finding->line = hotspots.at[0].line;
}

static double inverse(double share)
{
    return share > 0 ? 1 / share : INFINITY;
}

static void add_limit(const struct situation *situation, const struct share *share, double wall,
                      double work, struct findings *findings)
{
    struct gain limit = {inverse(share->value), inverse(share->high), inverse(share->low)};
    double incomplete = share->value * wall;
    struct text text = {0};
    text_add(&text, "No number of workers makes this faster than about ");
    add_seconds(&text, incomplete);
    text_add(&text, " (");
    add_seconds(&text, share->low * wall);
    text_add(&text, " to ");
    add_seconds(&text, share->high * wall);
    text_add(&text, "), ");
    gain_describe(&limit, &text);
    text_printf(&text, ": parallelism is at most about %.1f.", work / incomplete);
    struct finding *finding = findings_add(findings, FINDING_SPAN, &text);
    finding->gain_state = GAIN_LIMIT;
    finding->gain = limit;
    add_half(situation, incomplete, &text, finding);
    finding_set_text(finding, &text);
    vec_free(&text);
}

static double total_of(const struct view *view, const char *part, const char *event)
{
    char *name = mem_printf("%s%s", part, event);
    size_t metric = metrics_find(view->metrics, name);
    free(name);
    bool is_there = metric < view->metrics->n && metric_is_measured(&view->metrics->at[metric]);
    return is_there ? view_cost(view, 0, metric, INCLUSIVE) : 0;
}

void find_span(const struct situation *situation, struct findings *findings)
{
    const struct view *view = situation->view;
    double workers = run_workers(situation->run);
    if (situation->row != 0 || situation->incomplete == NO_METRIC || workers < 2 ||
        !situation->process.is_only_one)
        return;
    double work = view_cost(view, 0, situation->cpu.metric, INCLUSIVE) +
                  total_of(view, "overhead", situation->cpu_event);
    double wall = (work + total_of(view, "idleness", situation->cpu_event)) / workers;
    double incomplete = view_cost(view, 0, situation->incomplete, INCLUSIVE);
    struct share share =
        share_of_samples(incomplete, wall, fmax(situation->cpu_increment, IDLE_SPELL));
    if (share.low >= LEAST_SHARE_OF_WALL)
        add_limit(situation, &share, wall, work, findings);
}
