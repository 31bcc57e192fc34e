#include "viewer-tui/compare/statistic-columns.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/metrics/derived.h"

#include <stdlib.h>
#include <string.h>

/* The user must have room for definitions, too (MOST_DERIVED). */
#define MOST_COLUMNS (MOST_DERIVED / 2)

static bool is_defined(const struct session *session, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < session->definitions.n; i++) {
        const char *definition = session->definitions.at[i];
        if (strncmp(definition, name, length) == 0 && strchr(" =[", definition[length]))
            return true;
    }
    return false;
}

/* Whether it defined a new column. False if formulas do not have the statistic ("sum"), or if the
 * user has defined a metric of that name. */
static bool define(struct session *session, const char *metric, const char *statistic)
{
    static const char *const known[] = {"mean", "min", "max", "stddev"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is_known |= strcmp(statistic, known[i]) == 0;
    char *name = mem_printf("%s %s", metric, statistic);
    bool is_new = is_known && !is_defined(session, name);
    if (is_new) {
        char *definition = mem_printf("%s = thread_%s($\"%s\")", name, statistic, metric);
        session_define(session, definition);
        free(definition);
    }
    free(name);
    return is_new;
}

void statistic_columns_define(struct session *session)
{
    size_t n = 0;
    const json_t *statistics = json_object_get(session->run, "statistics");
    json_each (metric, json_object_get(session->run, "metrics")) {
        const char *name = run_text(metric, "name");
        const struct metric_kind *kind = metric_kind_of(name);
        bool is_measured = strcmp(run_text(metric, "state"), "not measurable") != 0;
        /* No kinds of overhead, and no names that a formula cannot quote. */
        bool has_columns = *name && !(kind && kind->is_internal) && is_measured && !strpbrk(name, ":\"=$@[]");
        json_each (statistic, statistics)
            if (json_is_string(statistic) && has_columns && n < MOST_COLUMNS)
                n += define(session, name, json_string_value(statistic));
    }
}
