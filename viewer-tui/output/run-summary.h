/* The summary of one run, as its printers get it. */
#ifndef VIEWER_RUN_SUMMARY_H
#define VIEWER_RUN_SUMMARY_H

#include "viewer-tui/advice/advice.h"
#include "viewer-tui/advice/what-if.h"
#include "viewer-tui/compare/session-advice.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/fates.h"
#include "viewer-tui/table/writer.h"

/* A change that the user asked about. */
struct summary_change {
    const struct speed_change *change;
    struct predicted predicted;
};

struct summary {
    struct writer writer;
    const struct session *session;
    const struct database *db;
    const json_t *run; /* NULL if the database has no run.json */
    size_t n_threads; /* profiles */
    struct fates fates;
    struct view *view; /* top-down */
    const struct advice *advice;
    struct work_span work_span; /* all 0 if it was not measured */
    VEC(struct summary_change) what_ifs;
};

/* The whole program's effort of the event of a metric. */
static inline double summary_effort(const struct summary *summary, size_t metric)
{
    return view_total(summary->view, metrics_whole(&summary->db->metrics, metric));
}

/* The sum of the numbers of an object that counts by reason; 0 for NULL. */
double summary_sum(const json_t *counts);

void print_summary_text(struct summary *summary);

/* The metrics as text: totals and meanings, and a footnote of those without values; why these have
 * none. */
void print_metric_totals(struct summary *summary);
void print_unmeasured_metrics(struct summary *summary);

/* Work and span, and what they become by the changes that the user asked about. */
void print_work_span_text(struct summary *summary);
void print_work_span_json(struct summary *summary);

/* Nothing if the program names no regions. */
void print_regions_text(struct summary *summary);

/* Sets work_span and what_ifs. False, with the error reported, if a change is about a procedure
 * without work of its own, or if work and span were not measured. `changes` NULL: none. */
bool summary_take_changes(struct summary *summary, const speed_change_list *changes);

#endif
