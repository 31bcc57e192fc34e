/* The summary of one run, as its printers get it. */
#ifndef VIEWER_RUN_SUMMARY_H
#define VIEWER_RUN_SUMMARY_H

#include "viewer-tui/advice/advice.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/fates.h"
#include "viewer-tui/output/writer.h"

struct summary {
    struct writer writer;
    const struct database *db;
    const json_t *run; /* NULL if the database has no run.json */
    const char *title;
    size_t n_threads; /* profiles */
    struct fates fates;
    struct view *view; /* top-down */
    struct advice advice;
    size_t width; /* of the advice, as in print_options */
};

/* The whole program's effort of the event of a metric. */
static inline double summary_effort(const struct summary *summary, size_t metric)
{
    return view_total(summary->view, metrics_whole(&summary->db->metrics, metric));
}

/* The sum of the numbers of an object that counts by reason; 0 for NULL. */
double summary_sum(const json_t *counts);

void print_summary_text(struct summary *summary);
void print_summary_csv(struct summary *summary);
void print_summary_json(struct summary *summary);

/* An array of findings (advice.h), the largest gain first; doc/FORMAT-database.md describes it. */
void print_advice_json(struct json_writer *json, const struct advice *advice,
                       const struct database *db);

/* Records "advice", kind of finding, item, value. */
void print_advice_csv(struct writer *writer, const struct advice *advice,
                      const struct database *db);

#endif
