#include "viewer-tui/compare/session-advice.h"

#include "viewer-tui/advice/finding-phase.h"
#include "viewer-tui/compare/session-restriction.h"

struct advice session_advice(struct session *session, struct view *view, uint32_t row)
{
    struct advice advice = advice_on(view, row, session->run);
    bool is_whole = row == 0 && session->runs.at[0].ranges.n == 0 && !session->threads && view->class == &topdown_class;
    const struct timeline *timeline = is_whole ? session_timeline(session) : NULL;
    const struct phases *phases = timeline ? session_phases(session) : NULL;
    if (phases)
        findings_name_phases(&advice, phases, timeline);
    return advice;
}
