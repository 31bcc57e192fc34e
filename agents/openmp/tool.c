#include "agents/openmp/tool.h"

#include "agents/openmp/events.h"
#include "agents/openmp/span-events.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef ompt_start_tool_result_t *start_tool(unsigned version, const char *runtime);

__attribute__((visibility("default"))) start_tool ompt_start_tool;

static _Atomic(const char *) refusal;
static void (*_Atomic on_refusal)(const char *why);

static void refuse(const char *why)
{
    atomic_store(&refusal, why);
    void (*call)(const char *) = atomic_load(&on_refusal);
    if (call)
        call(why);
}

const char *tool_refusal(void)
{
    return atomic_load_explicit(&refusal, memory_order_relaxed);
}

void tool_on_refusal(void (*call)(const char *why))
{
    atomic_store(&on_refusal, call);
}

/* -------- settings of OpenMP -------- */

static bool is_disabled(void)
{
    const char *tool = getenv("OMP_TOOL");
    return tool && strcmp(tool, "disabled") == 0;
}

/* libomp would not look at them, once it has a tool. */
static bool has_tool_libraries(void)
{
    const char *libraries = getenv("OMP_TOOL_LIBRARIES");
    return libraries && libraries[0];
}

const char *tool_why_not(void *libomp)
{
    if (!dlsym(libomp, "ompt_start_tool"))
        return "this OpenMP runtime was built without OMPT, the interface for tools";
    if (is_disabled())
        return "OMP_TOOL=disabled: libomp takes no tool";
    if (has_tool_libraries())
        return "OMP_TOOL_LIBRARIES names another tool for libomp";
    if (dlsym(RTLD_DEFAULT, "ompt_start_tool") != (void *)(uintptr_t)ompt_start_tool)
        return "the program has a tool for libomp of its own";
    return tool_refusal();
}

/* -------- start -------- */

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data)
{
    (void)device;
    (void)tool_data;
    ompt_set_callback_t set_callback;
    ompt_callback_t found = lookup("ompt_set_callback");
    memcpy(&set_callback, &found, sizeof found);
    if (set_callback && events_register(set_callback) && span_events_register(set_callback))
        return 1;
    refuse("libomp does not announce all events that the agent needs");
    return 0;
}

static void finalize(ompt_data_t *tool_data)
{
    (void)tool_data;
}

/* The tool of a library that comes after this one; libomp's own function looks further. */
static ompt_start_tool_result_t *next_tool(unsigned version, const char *runtime)
{
    start_tool *next = NULL;
    void *found = dlsym(RTLD_NEXT, "ompt_start_tool");
    memcpy(&next, &found, sizeof found);
    return next ? next(version, runtime) : NULL;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t self = {.initialize = initialize, .finalize = finalize};
    ompt_start_tool_result_t *other = next_tool(version, runtime);
    if (other)
        refuse("the program has a tool for libomp of its own");
    return other || has_tool_libraries() ? other : &self;
}
