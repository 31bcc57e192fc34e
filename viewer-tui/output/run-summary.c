#include "viewer-tui/output/run-summary.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/output/print-comparison.h"
#include "viewer-tui/threads/run-threads.h"

#include <stdlib.h>

double summary_sum(const json_t *counts)
{
    const char *reason;
    json_t *count;
    double sum = 0;
    json_object_foreach((json_t *)counts, reason, count)
    {
        sum += json_number_value(count);
    }
    return sum;
}

int print_summary(struct session *session, const struct print_options *options, FILE *out)
{
    static void (*const printers[FORMATS])(const struct summary *) = {
        [FORMAT_TEXT] = print_summary_text,
        [FORMAT_CSV] = print_summary_csv,
        [FORMAT_JSON] = print_summary_json,
    };
    if (session_is_of_two(session))
        return print_comparison(session, options, out);
    struct view *view = session_view(session, options->projection, TOP_DOWN);
    const struct database *db = view ? view->db : NULL;
    if (!db)
        return session_exit_status(session);
    struct summary summary = {.db = db,
                              .run = session->run,
                              .title = session_title(session, db),
                              .n_threads = threads_count(db),
                              .view = view,
                              .advice = advice_on(view, 0, session->run),
                              .width = options->width,
                              .out = out};
    fates_read(&summary.fates, session->run);
    printers[options->format](&summary);
    fates_free(&summary.fates);
    advice_free(&summary.advice);
    return problem_text() ? 1 : 0;
}
