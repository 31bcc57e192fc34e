#include "hpcrun/launch/pmu-events.h"

#include "lib/alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* First guesses of a period. A guess that is too short costs a dozen extra samples at the start of
 * a program; one that is too long loses the samples of short programs. */
#define FIRST_HARDWARE_PERIOD 1000
#define FIRST_SOFTWARE_PERIOD 1

/* The period for opening an event on trial; it is never reached. */
#define TRIAL_PERIOD 4000037

const char pmu_no_such_event[] = "no such event";

/* The functions of the two libraries that are used, found by dlsym. */
static struct {
    __typeof__(&PAPI_library_init) papi_init;
    __typeof__(&PAPI_event_name_to_code) papi_code;
    __typeof__(&PAPI_get_event_info) papi_info;
    __typeof__(&PAPI_enum_event) papi_next;
    __typeof__(&PAPI_set_debug) papi_set_debug;
    __typeof__(&pfm_initialize) pfm_init;
    __typeof__(&pfm_get_os_event_encoding) pfm_encode;
    __typeof__(&pfm_strerror) pfm_error;
    __typeof__(&pfm_get_pmu_info) pfm_pmu;
    __typeof__(&pfm_get_event_info) pfm_event;
    __typeof__(&pfm_get_event_next) pfm_next;
} use;

static bool find(void *library, void *function, const char *name)
{
    return (*(void **)function = dlsym(library, name)) != NULL;
}

/* Loads libpfm. Returns NULL, or the reason why it can't be used. */
static const char *open_pfm(void)
{
    static const char *problem = "";
    if (!problem || *problem)
        return problem;
    void *library = dlopen("libpfm.so.4", RTLD_NOW);
    problem = "libpfm is not installed (Debian: libpfm4)";
    if (!library)
        return problem;
    problem = "libpfm lacks a function";
    if (!find(library, &use.pfm_init, "pfm_initialize") ||
        !find(library, &use.pfm_encode, "pfm_get_os_event_encoding") ||
        !find(library, &use.pfm_error, "pfm_strerror") ||
        !find(library, &use.pfm_pmu, "pfm_get_pmu_info") ||
        !find(library, &use.pfm_event, "pfm_get_event_info") ||
        !find(library, &use.pfm_next, "pfm_get_event_next"))
        return problem;
    int result = use.pfm_init();
    problem = result == PFM_SUCCESS ? NULL : use.pfm_error(result);
    return problem;
}

static const char *open_papi(void)
{
    static const char *problem = "";
    if (!problem || *problem)
        return problem;
    static const char *const names[] = {"libpapi.so.7.0", "libpapi.so.7.1", "libpapi.so.6.0",
                                        "libpapi.so"};
    void *library = NULL;
    for (unsigned i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    problem = "PAPI is not installed (Debian: libpapi7.0)";
    if (!library)
        return problem;
    problem = "PAPI lacks a function";
    if (!find(library, &use.papi_init, "PAPI_library_init") ||
        !find(library, &use.papi_code, "PAPI_event_name_to_code") ||
        !find(library, &use.papi_info, "PAPI_get_event_info") ||
        !find(library, &use.papi_next, "PAPI_enum_event") ||
        !find(library, &use.papi_set_debug, "PAPI_set_debug"))
        return problem;
    problem = "PAPI can't be initialized";
    if (use.papi_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
        return problem;
    use.papi_set_debug(PAPI_QUIET);
    return problem = NULL;
}

static const char *reason(int error)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "this machine has no hardware counter for it";
    case EACCES:
    case EPERM:
        return "perf_event_open is not permitted (see /proc/sys/kernel/perf_event_paranoid)";
    case ENOSYS: return "the kernel has no perf_event_open";
    default: return strerror(error);
    }
}

/* Opens the event for this process, as the profiled process will. Returns 0 or an errno. */
static int try_to_open(struct perf_event_attr *attr)
{
    attr->size = sizeof *attr;
    attr->disabled = 1;
    attr->exclude_hv = 1;
    attr->freq = 0;
    attr->sample_period = TRIAL_PERIOD;
    long fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

/* Two of the software events count nanoseconds of CPU time. */
static uint64_t first_period(const struct perf_event_attr *attr)
{
    if (attr->type != PERF_TYPE_SOFTWARE)
        return attr->type == PERF_TYPE_TRACEPOINT ? FIRST_SOFTWARE_PERIOD : FIRST_HARDWARE_PERIOD;
    bool is_clock =
        attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK;
    return is_clock ? DEFAULT_INTERVAL : FIRST_SOFTWARE_PERIOD;
}

static const char *native_event(const char *name, struct event *event)
{
    const char *problem = open_pfm();
    if (problem)
        return problem;
    struct perf_event_attr attr = {0};
    pfm_perf_encode_arg_t encoding = {.attr = &attr, .size = sizeof encoding};
    int result = use.pfm_encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &encoding);
    if (result != PFM_SUCCESS)
        return result == PFM_ERR_NOTFOUND ? pmu_no_such_event : use.pfm_error(result);
    int error = try_to_open(&attr);
    if (error == EACCES || error == EPERM) {
        attr.exclude_kernel = 1;
        error = try_to_open(&attr);
    }
    if (error)
        return reason(error);
    event->kind = EVENT_COUNTER;
    event->perf_type = attr.type;
    event->perf_config = attr.config;
    event->perf_config1 = attr.config1;
    event->perf_config2 = attr.config2;
    event->options = attr.exclude_kernel ? EVENT_EXCLUDE_KERNEL : 0;
    event->period = first_period(&attr);
    return NULL;
}

static const char *preset_event(const PAPI_event_info_t *info, struct event *event)
{
    if (info->count == 0)
        return "this machine has no hardware counter for it";
    if (info->count != 1)
        return "it is derived from several native events, which can't be sampled";
    return native_event(info->name[0], event);
}

const char *pmu_event(const char *name, struct event *event)
{
    if (strncmp(name, "PAPI_", 5) != 0)
        return native_event(name, event);
    const char *problem = open_papi();
    int code;
    PAPI_event_info_t info;
    if (problem)
        return problem;
    if (use.papi_code(name, &code) != PAPI_OK || use.papi_info(code, &info) != PAPI_OK)
        return pmu_no_such_event;
    return preset_event(&info, event);
}

typedef void visitor(const char *name, const char *description, const char *why);

static const char *list_presets(visitor *visit)
{
    const char *problem = open_papi();
    if (problem)
        return problem;
    int code = (int)PAPI_PRESET_MASK;
    for (int more = use.papi_next(&code, PAPI_ENUM_FIRST); more == PAPI_OK;
         more = use.papi_next(&code, PAPI_ENUM_EVENTS)) {
        PAPI_event_info_t info;
        struct event event;
        if (use.papi_info(code, &info) == PAPI_OK)
            visit(info.symbol, info.long_descr, preset_event(&info, &event));
    }
    return NULL;
}

static void list_natives_of(const pfm_pmu_info_t *pmu, visitor *visit)
{
    for (int i = pmu->first_event; i != -1; i = use.pfm_next(i)) {
        pfm_event_info_t info = {.size = sizeof info};
        struct event event;
        if (use.pfm_event(i, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
            continue;
        char *name = mem_printf("%s::%s", pmu->name, info.name);
        visit(name, info.desc, native_event(name, &event));
        free(name);
    }
}

const char *pmu_list(visitor *visit)
{
    const char *no_presets = list_presets(visit);
    const char *problem = open_pfm();
    if (problem)
        return problem;
    pfm_pmu_t pmu;
    pfm_for_all_pmus(pmu)
    {
        pfm_pmu_info_t info = {.size = sizeof info};
        if (use.pfm_pmu(pmu, &info) == PFM_SUCCESS && info.is_present)
            list_natives_of(&info, visit);
    }
    return no_presets;
}
