/* The start of a process image: the constructor of the preloaded library, and a hook just before
 * main.
 *
 * The constructor runs before the C library is initialized, so nothing may be loaded there: a
 * dlopen would initialize the C library then, with no environment. Agents are loaded in the hook on
 * __libc_start_main, when all libraries are initialized. */
#include "hpcrun/base/kernel-text.h"
#include "hpcrun/base/hook.h"
#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/own-section.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/hooks/hook-init.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/life/thread-life.h"
#include "hpcrun/logical/agent-loader.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/cpu-quota.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/span-tree.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/thread/live-threads.h"

#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- programs with the thread sanitizer ---- */

/* Defined in programs that are built with the thread sanitizer. Its runtime interposes libc's
 * functions; these can't be called before it is initialized, which is after our constructor, and
 * when a sample calls them it reports races in hpcrun. So such programs are not measured. */
void __tsan_init(void) __attribute__((weak, visibility("default")));

static bool has_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
    return false; /* this is a test of the library itself */
#else
    return __tsan_init;
#endif
}

static void report_thread_sanitizer(void)
{
    char buffer[128];
    struct text line = TEXT(buffer);
    if (!config_read(&process.config, environ))
        return;
    text_add(&line, "the program is built with the thread sanitizer: it is not measured");
    process.pid = sys_getpid();
    fds_init();
    report_init();
    report_loss(&line);
    report_after_fork();
}

/* ---- the constructor ---- */

/* Its stack is below its arguments, as far down as it may grow. */
static void begin_initial_thread(char *const *arguments)
{
    struct rlimit limit = {.rlim_cur = 8 << 20};
    sys4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit);
    uint64_t size = limit.rlim_cur < (1u << 30) ? limit.rlim_cur : 1u << 30;
    uint64_t high = (uint64_t)(uintptr_t)arguments;
    thread_adopt(thread_new(THREAD_INITIAL), high - size, high);
}

static void find_sampled_waits(const struct config *config)
{
    for (unsigned i = 0; i < config->event_count; i++)
        slots.sampled_waits |= (uint32_t)(config->events[i].kind == EVENT_REALTIME) << i;
}

/* Runs before main, and before the C library is initialized: nothing may be loaded here. */
__attribute__((constructor)) static void begin(int count, char **arguments, char **environment)
{
    (void)count;
    /* A program with more rights than its user must not write where the user's environment says.
     * The loader ignores LD_PRELOAD for such a program, but not /etc/ld.so.preload. A program of another
     * user than the directory's is not measured if it can't write there; its parent says so. */
    if (getauxval(AT_SECURE) || has_thread_sanitizer() ||
        !config_read(&process.config, environment))
        return;
    fds_init();
    identify_filters();
    if (output_directory_is_lost())
        return;
    int signal = process.config.signal ? process.config.signal : signals_choose();
    if (signal == 0)
        return;
    process.signal = signal;
    identify_process();
    identify_host();
    identify_program(environment);
    cpu_quota_find();
    identify_arguments(arguments);
    metrics_init(&process.metrics, &process.config);
    find_sampled_waits(&process.config);
    module_ranges_refresh();
    modules_init(process.executable, &(struct known_code){.vdso = getauxval(AT_SYSINFO_EHDR),
                                                          .libc = (uintptr_t)getauxval,
                                                          .own = (uintptr_t)begin});
    if (config_wants_kernel_frames(&process.config))
        modules_add_kernel(kernel_text_start(), kernel_boot());
    fds_reserve();
    report_init();
    measurement_init();
    signals_init(signal);
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
    if (process.config.work_span)
        span_tree_init();
}

/* ---- just before main ---- */

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end);

REAL_FUNCTION(__libc_start_main)

static void before_main(void)
{
    if (has_thread_sanitizer())
        report_thread_sanitizer();
    if (!process.active)
        return;
    uint64_t mask = own_section_begin();
    agents_update();
    if (thread_self)
        thread_announce_to_agents(thread_self);
    own_section_end(mask);
    span_tree_main_begins();
}

HOOK int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                           void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                           void *stack_end)
{
    before_main();
    return REAL(__libc_start_main)(main, count, arguments, init, fini, loader_fini, stack_end);
}
