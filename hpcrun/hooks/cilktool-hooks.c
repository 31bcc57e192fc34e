/* What libhpctoolkit-cilktool.so asks libhpcrun.so for. */
#include "hpcrun/base/hook.h"
#include "hpcrun/sample/span-tree.h"
#include "hpcrun/span/frame-span.h"

HOOK const struct frame_events *frame_events_of_hpcrun(void)
{
    return span_tree_is_on() ? &frame_span_events : NULL;
}
