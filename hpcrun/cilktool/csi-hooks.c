/* The hooks that clang -fopencilk -fcilktool=cilkscale makes a program call. Names and parameters are
 * those of OpenCilk's <csi/csi.h>. Properties are passed as bits of an integer; of the other
 * parameters none is needed. Compiled with frame pointers: a hook reads its caller's. */
#include "hpcrun/cilktool/csi-hooks.h"
#include "hpcrun/base/hook.h"
#include "hpcrun/cilktool/probe-output.h"
#include "hpcrun/cilktool/tool-engine.h"

#include <stddef.h>

/* Bits of properties. */
enum {
    ENTRY_MAY_SPAWN = 1 << 8, /* below it: the number of sync regions */
    EXIT_MAY_SPAWN = 1,
    CONTINUE_IS_UNWIND = 1,
};

/* Largest frame of a procedure in which its frame pointer is believed to be one. */
#define MOST_FRAME_BYTES (1u << 20)

/* Where the hook returns to, and the frame pointer of its caller. */
#define HOOK_SITE    __builtin_return_address(0)
#define CALLER_FRAME (*(const void *const *)__builtin_frame_address(0))

/* The return address of the procedure with this frame pointer, whose hook has a frame at `own`; NULL
 * if it cannot be a frame pointer. */
static const void *return_address(const void *frame, const void *own)
{
    uintptr_t above = (uintptr_t)frame - (uintptr_t)own;
    bool is_frame = above < MOST_FRAME_BYTES && above % sizeof(void *) == 0;
    return is_frame ? ((const void *const *)frame)[1] : NULL;
}

HOOK void __csi_init(void)
{
    tool_engine();
    probe_output_at_exit();
}

HOOK void __csi_unit_init(const char *file, struct csi_counts counts)
{
    (void)file;
    (void)counts;
}

/* Called by the constructor of each compiled file, with tables of the source lines of hooks. */
HOOK void __csirt_unit_init(const char *file, void *lines, void *sizes, void (*number_calls)(void))
{
    (void)file;
    (void)lines;
    (void)sizes;
    (void)number_calls;
    __csi_init();
}

HOOK void __csi_func_entry(int64_t function, uint64_t properties)
{
    const struct frame_events *events = tool_engine();
    const void *frame = CALLER_FRAME;
    (void)function;
    if (events && properties & ENTRY_MAY_SPAWN)
        events->enters(HOOK_SITE, return_address(frame, __builtin_frame_address(0)), frame);
}

HOOK void __csi_func_exit(int64_t exit, int64_t function, uint64_t properties)
{
    const struct frame_events *events = tool_engine();
    (void)exit;
    (void)function;
    if (events && properties & EXIT_MAY_SPAWN)
        events->leaves(CALLER_FRAME);
}

HOOK void __csi_detach(int64_t detach, unsigned region, uint64_t properties)
{
    const struct frame_events *events = tool_engine();
    (void)detach;
    (void)region;
    (void)properties;
    if (events)
        events->detaches(HOOK_SITE, CALLER_FRAME);
}

HOOK void __csi_task(int64_t task, int64_t detach, uint64_t properties)
{
    const struct frame_events *events = tool_engine();
    (void)task;
    (void)detach;
    (void)properties;
    if (events)
        events->task_begins();
}

HOOK void __csi_task_exit(int64_t exit, int64_t task, int64_t detach, unsigned region,
                          uint64_t properties)
{
    const struct frame_events *events = tool_engine();
    (void)exit;
    (void)task;
    (void)detach;
    (void)region;
    (void)properties;
    if (events)
        events->task_ends();
}

HOOK void __csi_detach_continue(int64_t continues, int64_t detach, unsigned region,
                                uint64_t properties)
{
    const struct frame_events *events = tool_engine();
    (void)continues;
    (void)detach;
    (void)region;
    if (events)
        events->continues(CALLER_FRAME, properties & CONTINUE_IS_UNWIND);
}

HOOK void __csi_before_sync(int64_t sync, unsigned region)
{
    const struct frame_events *events = tool_engine();
    (void)sync;
    (void)region;
    if (events)
        events->syncs(CALLER_FRAME);
}

HOOK void __csi_after_sync(int64_t sync, unsigned region)
{
    const struct frame_events *events = tool_engine();
    (void)sync;
    (void)region;
    if (events)
        events->synced(CALLER_FRAME);
}

/* Only cilkscale-instructions counts basic blocks. */
HOOK void __csi_bb_entry(int64_t block, uint64_t properties)
{
    (void)block;
    (void)properties;
}

HOOK void __csi_bb_exit(int64_t block, uint64_t properties)
{
    (void)block;
    (void)properties;
}
