/* The functions of include/hpctoolkit.h for regions, and those for ranges of ITT and NVTX. A region without a name is
 * not measured. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/range-hooks.h"
#include "hpcrun/process/report.h"
#include "hpcrun/sample/span-tree.h"
#include "hpcrun/sample/thread-marks.h"
#include "hpcrun/span/span-regions.h"
#include "include/hpctoolkit.h"

HOOK void hpctoolkit_region_start(const char *name)
{
    if (!name)
        return;
    thread_mark(MARK_BEGIN, name);
    if (span_tree_is_on())
        span_region_start(name);
}

HOOK void hpctoolkit_region_stop(const char *name)
{
    if (!name)
        return;
    thread_mark(MARK_END, name);
    if (span_tree_is_on())
        span_region_stop(name);
}

HOOK void hpctoolkit_region_dump(const char *name)
{
    char buffer[256];
    struct text line = TEXT(buffer);
    if (!name)
        return;
    if (span_tree_is_on()) {
        span_region_dump(name);
        return;
    }
    text_add(&line, "region ");
    text_add(&line, name);
    text_add(&line, ": not measured: hpcrun --work-span measures work and span");
    report_error(&line);
}

HOOK void hpctoolkit_range_begin(const void *key, const char *name)
{
    thread_range_begin(key, name);
}

HOOK void hpctoolkit_range_end(const void *key)
{
    thread_range_end(key);
}
