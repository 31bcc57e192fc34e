/* The hook on dlclose. Loading needs no hook, since modules are added when a sample finds code in
 * them. */
#include "hpcrun/base/hook.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/agent-loader.h"
#include "hpcrun/process/process.h"
#include "hpcrun/thread/live-threads.h"

REAL_FUNCTION(dlclose)

/* Most time to wait for running handlers, which may be reading the module's unwind information. A
 * handler that takes longer is protected by the fault fix-up, and its cache by the generation. */
#define WAIT_NS 10000000u

HOOK int dlclose(void *handle)
{
    if (!process.active)
        return REAL(dlclose)(handle);
    agents_unload_begin();
    modules_unload_begin();
    threads_quiesce(WAIT_NS);
    int result = REAL(dlclose)(handle);
    modules_unload_end();
    agents_unload_end();
    return result;
}
