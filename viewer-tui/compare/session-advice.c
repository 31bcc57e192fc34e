#include "viewer-tui/compare/session-advice.h"

#include "viewer-tui/advice/finding-phase.h"
#include "viewer-tui/compare/changes.h"
#include "viewer-tui/compare/session-restriction.h"

static struct advice advice_of(struct session *session, struct view *view, uint32_t row)
{
    const struct session_run *run = &session->runs.at[0];
    bool has_timeline = !session_is_merged(session) && view->db == run->opened[LOGICAL].db && view->class == &topdown_class;
    const struct timeline *timeline = has_timeline ? session_timeline(session) : NULL;
    struct advice advice = advice_on(view, row, session->run, timeline);
    bool is_whole = row == 0 && run->ranges.n == 0 && !session->threads;
    const struct phases *phases = timeline && is_whole ? session_phases(session) : NULL;
    if (phases)
        findings_name_phases(&advice, phases, timeline);
    facts_drop_places(&advice.facts);
    return advice;
}

const struct advice *session_advice(struct session *session, struct view *view)
{
    struct advice **whole = &session->advice[view->db == session->runs.at[0].opened[PHYSICAL].db ? PHYSICAL : LOGICAL];
    if (*whole)
        return *whole;
    progress_begin("looking for work, idleness and overhead", 0); /* the passes of all rules */
    struct advice advice = advice_of(session, view, 0);
    if (progress_end() == DONE) {
        *whole = mem_alloc(sizeof **whole);
        **whole = advice;
    } else {
        advice_free(&advice);
    }
    return *whole;
}

enum outcome session_describe_advice(struct session *session, struct view *view, uint32_t row,
                                     struct advice_lines *lines, const char **title, bool *is_any)
{
    const struct merged_runs *merged = merged_runs_of(view);
    *is_any = false;
    *title = merged ? "what changed" : "advice";
    progress_begin("looking for work, idleness and overhead", 0); /* the passes of all rules */
    if (merged && merged->comparing) {
        autofree changes_list changes = changes_of(view, row);
        *is_any = changes.n > 0;
        changes_describe(&changes, view, row, lines);
    } else if (!merged) {
        const struct advice *whole = row == 0 ? session_advice(session, view) : NULL;
        struct advice of_row = row == 0 ? (struct advice){0} : advice_of(session, view, row);
        const struct findings *findings = whole ? &whole->findings : &of_row.findings;
        *is_any = findings->list.n > 0;
        advice_describe(findings, lines);
        advice_free(&of_row);
    }
    return progress_end();
}
