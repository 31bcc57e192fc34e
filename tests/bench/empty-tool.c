/* A tool for LLVM's libomp that takes the events of agents/openmp and does nothing: what OMPT costs, the
 * floor for that agent. Preloaded, or named by OMP_TOOL_LIBRARIES. */
#include "agents/openmp/ompt.h"

#include <stddef.h>
#include <string.h>

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);

static void do_nothing(void)
{
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    static const int events[] = {
        ompt_callback_thread_begin,   ompt_callback_thread_end,       ompt_callback_parallel_begin,
        ompt_callback_parallel_end,   ompt_callback_implicit_task,    ompt_callback_task_create,
        ompt_callback_task_schedule,  ompt_callback_sync_region_wait, ompt_callback_mutex_acquire,
        ompt_callback_mutex_acquired, ompt_callback_nest_lock,
    };
    ompt_set_callback_t set_callback;
    ompt_callback_t found = lookup("ompt_set_callback");
    (void)device;
    (void)data;
    memcpy(&set_callback, &found, sizeof found);
    for (size_t i = 0; set_callback && i < sizeof events / sizeof *events; i++)
        set_callback(events[i], do_nothing);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t self = {.initialize = initialize, .finalize = finalize};
    (void)version;
    (void)runtime;
    return &self;
}
