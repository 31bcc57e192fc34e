#include "viewer-tui/advice/advice.h"

#include "viewer-tui/advice/situation.h"
#include "viewer-tui/tree/speedup-bounds.h"

static void find_others(struct view *view, uint32_t row, const json_t *run, bool has_exact_span,
                        struct findings *findings)
{
    struct situation situation = situation_of(view, row, run);
    find_unknown_code(&situation, findings);
    find_too_many_threads(&situation, findings);
    find_not_optimized(&situation, findings);
    find_locks(&situation, findings);
    find_blocked(&situation, findings);
    double explained = find_imbalance(&situation, findings);
    find_one_thread(&situation, explained, findings);
    find_parallelism(&situation, findings);
    if (!has_exact_span)
        find_span(&situation, findings);
    find_waiting(&situation, findings);
    find_system_calls(&situation, findings);
    find_memory_calls(&situation, findings);
    find_hot_place(&situation, findings);
    situation_free(&situation);
}

/* Where work and span were measured, overhead and incomplete time include what measuring them cost: no
 * advice is drawn from these. */
struct advice advice_on(struct view *view, uint32_t row, const json_t *run)
{
    struct advice advice = {0};
    struct work_span exact;
    bool has_exact_span = work_span_of(view, &exact);
    if (!has_exact_span)
        advice.parallelizations = parallelization_of(view, row, run);
    for (size_t i = 0; i < advice.parallelizations.list.n; i++)
        parallelization_find(&advice.parallelizations.list.at[i], view, row, &advice.findings);
    if (view->class == &topdown_class)
        find_others(view, row, run, has_exact_span, &advice.findings);
    findings_sort(&advice.findings);
    return advice;
}

void advice_free(struct advice *advice)
{
    findings_free(&advice->findings);
    vec_free(&advice->parallelizations.list);
}
