#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "viewer-tui/db/metric-selection.h"

#include <stdlib.h>

bool print_sorting(const struct session *session, const struct metrics *metrics, const char *wanted,
                   struct sorting *sorting)
{
    if (!wanted)
        return true;
    if (!choose_sorting(metrics, wanted, sorting)) {
        char *names = choose_names(metrics);
        diag_error(session->folder, "no metric '%s' to sort by; there are: %s", wanted, names);
        free(names);
        return false;
    }
    const struct metric *metric = &metrics->at[sorting->metric];
    if (!metric_is_measured(metric))
        diag_error(session->folder, "'%s' was not measured: %s", metric->name, metric->why);
    return metric_is_measured(metric);
}
