#include "viewer-tui/advice/overhead-kinds.h"

#include "lib/number.h"

#include <stdlib.h>
#include <string.h>

/* Smaller shares would be printed as 0.0 %. */
#define LEAST_SHARE 0.0005

struct overhead_kinds overhead_kinds_of(const struct view *view, uint32_t row, size_t overhead,
                                        enum cost_part part)
{
    const struct metrics *metrics = view->metrics;
    struct overhead_kinds kinds = {0};
    for (size_t m = 0; m < metrics->n; m++) {
        const struct metric *metric = &metrics->at[m];
        double cost = view_cost(view, row, m, part);
        if (!metric->kind.name || metric->kind.overhead != (int)overhead || !(cost > 0))
            continue;
        size_t at = kinds.n < MOST_KINDS ? kinds.n++ : MOST_KINDS - 1; /* the smallest is dropped if the list is full */
        if (kinds.at[at].cost >= cost)
            continue;
        for (; at > 0 && kinds.at[at - 1].cost < cost; at--)
            kinds.at[at] = kinds.at[at - 1];
        kinds.at[at] = (struct kind_cost){metric, cost};
    }
    return kinds;
}

char *overhead_kind_name(const struct metric *kind)
{
    return mem_strndup(kind->kind.name, (size_t)kind->kind.length);
}

const char *overhead_kind_meaning(const char *kind)
{
    static const char *const meanings[][2] = {
        {"spawn", "what making a task costs, whether it is stolen or not"},
        {"sync", "what waiting for tasks costs, even where none was stolen"},
        {"steal", "looking for tasks to take from other workers, and taking them"},
        {"scheduler", "what the scheduler does between tasks"},
        {"loop", "dividing parallel loops into tasks"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i][0], kind) == 0)
            return meanings[i][1];
    return NULL;
}

void overhead_kinds_describe(const struct overhead_kinds *kinds, double whole, bool ascii,
                             struct text *out)
{
    const char *comma = "";
    for (size_t i = 0; i < kinds->n && kinds->at[i].cost >= LEAST_SHARE * whole; i++) {
        char *name = overhead_kind_name(kinds->at[i].metric);
        text_printf(out, "%s%s%% ", comma, number_percent(kinds->at[i].cost, whole).text);
        text_add_clean(out, name, ascii);
        free(name);
        comma = ", ";
    }
}
