#include "viewer-tui/advice/advice.h"

struct advice advice_on(struct view *view, uint32_t row, const json_t *run)
{
    struct advice advice = {.parallelizations = parallelization_of(view, row, run)};
    for (size_t i = 0; i < advice.parallelizations.list.n; i++)
        parallelization_find(&advice.parallelizations.list.at[i], view, row, &advice.findings);
    findings_sort(&advice.findings);
    return advice;
}

void advice_free(struct advice *advice)
{
    findings_free(&advice->findings);
    vec_free(&advice->parallelizations.list);
}
