/* The beginning of a process image: the constructor of the preloaded library. */
#include "hpcrun/base/fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/code/modules.h"
#include "hpcrun/hooks/handler.h"
#include "hpcrun/hooks/left-alone.h"
#include "hpcrun/hooks/process.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/hooks/threads.h"
#include "hpcrun/life/thread-life.h"
#include "hpcrun/logical/agents.h"
#include "hpcrun/process/arguments.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/measurement.h"
#include "hpcrun/source/source.h"
#include "hpcrun/thread/threads.h"
#include "hpcrun/unwind/rule-cache.h"

#include <sys/auxv.h>
#include <sys/resource.h>

/* The initial thread's stack: below its arguments, as far down as it may grow. */
static void begin_initial_thread(char *const *arguments)
{
    struct rlimit limit = {.rlim_cur = 8 << 20};
    sys4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit);
    uint64_t size = limit.rlim_cur < (1u << 30) ? limit.rlim_cur : 1u << 30;
    uint64_t high = (uint64_t)(uintptr_t)arguments;
    thread_adopt(thread_new(THREAD_INITIAL), high - size, high);
}

/* Before main, and before the C library's own initialisation: nothing may be loaded here. */
__attribute__((constructor)) static void begin(int count, char **arguments, char **environment)
{
    (void)count;
    /* A program that has more rights than its user writes nothing where its user's environment
     * says. The loader ignores LD_PRELOAD for it, but not /etc/ld.so.preload. */
    if (getauxval(AT_SECURE) || is_left_alone() || !config_read(&process.config, environment))
        return;
    int signal = process.config.signal ? process.config.signal : signals_choose();
    if (signal == 0)
        return;
    process.signal = signal;
    identify_process();
    identify_host();
    identify_program(environment);
    arguments_keep(arguments);
    metrics_init(&process.metrics, &process.config);
    code_map_refresh();
    rule_cache_init();
    modules_init(process.executable, (const void *)(uintptr_t)begin);
    fds_init();
    fds_reserve();
    report_init();
    measurement_init();
    signals_init(signal, handler_on_signal);
    process.fault_handler = signals_fault_handler();
    sources_init(&process.config, signal);
    hook_threads_init();
    hook_process_init();
    agents_init(process.config.agents);
    atomic_store(&sampling.on, !process.config.start_off);
    sampling.collapse_recursion = process.config.collapse_recursion;
    process.active = true;
    note_begin();
    begin_initial_thread(arguments);
}
