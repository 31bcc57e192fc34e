/* What the measurement file and the summary ask of sample sources (source/sample-source.h): from outside,
 * there is one. */
#include "hpcrun/outside/perf-events.h"

#include "hpcrun/base/text-buffer.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/source/source-perf.h"

const char *sources_fallback_reason(void)
{
    static char buffer[256];
    struct text reason = TEXT(buffer);
    if (!perf_events_see_kernel())
        perf_explain_refusal(&reason, -EACCES);
    return buffer;
}

uint32_t sources_refused(unsigned event)
{
    (void)event;
    return 0;
}
