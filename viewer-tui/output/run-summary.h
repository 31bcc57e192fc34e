/* What the printers of the summary get: the run and what was added up over it. */
#ifndef VIEWER_SUMMARY_H
#define VIEWER_SUMMARY_H

#include "viewer-tui/advice/advice.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/fates.h"
#include "viewer-tui/output/print.h"

struct summary {
    const struct database *db;
    const json_t *run; /* NULL when the database has none */
    const char *title;
    size_t n_threads; /* profiles */
    struct fates fates;
    struct view *view; /* top-down */
    struct advice advice;
    size_t width; /* of the advice, as in print_options */
    FILE *out;
};

/* The whole program's effort of the event to which a metric that is a part of it belongs. */
static inline double summary_effort(const struct summary *summary, size_t metric)
{
    return view_total(summary->view, metrics_whole(&summary->db->metrics, metric));
}

/* The sum of an object's numbers: counts by reason. */
double summary_sum(const json_t *counts);

void print_summary_text(const struct summary *summary);
void print_summary_csv(const struct summary *summary);
void print_summary_json(const struct summary *summary);

#endif
