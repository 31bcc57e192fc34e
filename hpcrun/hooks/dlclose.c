/* Hooks on the loader: dlclose. Loading needs none: modules are learned at first sight. */
#include "hpcrun/base/hook.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/agent-loader.h"
#include "hpcrun/process/process.h"
#include "hpcrun/thread/live-threads.h"

REAL_FUNCTION(dlclose)

/* Handlers in flight may be reading the module's unwind information: they get this long to finish.
 * One that does not is protected by the fault fix-up, and its rules by their generation. */
#define WAIT_NS 10000000u

HOOK int dlclose(void *handle)
{
    if (!process.active)
        return REAL(dlclose)(handle);
    modules_unload_begin();
    threads_quiesce(WAIT_NS);
    int result = REAL(dlclose)(handle);
    modules_unload_end();
    agents_update();
    return result;
}
