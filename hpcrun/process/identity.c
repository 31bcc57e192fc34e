#include "hpcrun/process/identity.h"

#include "hpcrun/base/process-stat.h"
#include "hpcrun/base/seccomp-filters.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/config/run-config.h"
#include "hpcrun/process/moment.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <sys/utsname.h>

struct process process;
struct sampling sampling;

static uint64_t read_start_ticks(void)
{
    char stat[STAT_BYTES];
    uint64_t ticks = stat_read("/proc/self/stat", stat) ? stat_number(stat, STAT_START) : 0;
    return ticks ? ticks : sys_clock(CLOCK_REALTIME);
}

/* A number for the host that does not change: a hash of the machine id, or else of the name. Not
 * gethostid, which may query name services. */
static uint64_t host_id(const char *name)
{
    char id[64];
    uint64_t hash = 0xcbf29ce484222325u;
    const char *at = small_file_read("/etc/machine-id", id, sizeof id) ? id : name;
    for (; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
    return hash & 0xffffffff;
}

void identity_add_host(struct text *text)
{
    for (const char *at = process.host; *at && *at != '.'; at++)
        text_add_bytes(text, *at == '/' || *at == '-' ? "_" : at, 1);
}

void identify_host(void)
{
    struct utsname name = {0};
    sys1(SYS_uname, &name);
    strcpy(process.host, name.nodename[0] ? name.nodename : "localhost");
    process.host_id = host_id(process.host);
    struct text list = TEXT(process.list_name);
    identity_add_host(&list);
    text_add(&list, MEASUREMENT_PROCESSES);
}

uint64_t clock_error(void)
{
    struct timex state = {.modes = 0};
    bool is_known = !process_is_restricted() && sys1(SYS_adjtimex, &state) >= 0 && state.maxerror >= 0;
    return is_known ? (uint64_t)state.maxerror + 1 : 0;
}

unsigned usable_cpus(int tid)
{
    uint64_t mask[128];
    long size = sys3(SYS_sched_getaffinity, tid, sizeof mask, mask);
    unsigned count = 0;
    for (long i = 0; i < size / 8; i++)
        count += (unsigned)__builtin_popcountll(mask[i]);
    return count ? count : 1;
}

static void read_clocks(void)
{
    const struct moment now = moment_now(NEAR_TICKS);
    process.began_wall = now.wall;
    process.began_real = now.wall + monotonic_epoch();
    process.began_ticks = now.ticks;
    process.began_cpu = sys_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void identify_process(void)
{
    process.pid = sys_getpid();
    process.parent = (int)sys0(SYS_getppid);
    process.start_ticks = read_start_ticks();
    read_clocks();
}

void identify_program(char *const *environment)
{
    long length =
        sys3(SYS_readlink, "/proc/self/exe", process.executable, sizeof process.executable - 1);
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (length <= 0 && started) /* there is no /proc */
        strncpy(process.executable, started, sizeof process.executable - 1);
    sys2(SYS_getcwd, process.directory, sizeof process.directory);
    process.rank = rank_in(environment);
    process.usable_cpus = usable_cpus(0);
    process.origin = process.pid == process.config.launched_pid ? ORIGIN_LAUNCHED : ORIGIN_OTHER;
}

static char argument_text[MAX_ARGUMENTS * (MAX_ARGUMENT_SIZE + 1)];
static const char *start_arguments[MAX_ARGUMENTS + 1];

void identify_arguments(char *const *arguments)
{
    char *to = argument_text;
    for (unsigned i = 0; i < MAX_ARGUMENTS && arguments[i]; i++) {
        start_arguments[i] = to;
        to = (char *)mempcpy(to, arguments[i], strnlen(arguments[i], MAX_ARGUMENT_SIZE)) + 1;
    }
}

const char *const *process_arguments(void)
{
    return start_arguments;
}

bool process_is_restricted(void)
{
    long mode = sys1(SYS_prctl, PR_GET_SECCOMP);
    bool is_filtered = mode != 0 && mode != -EINVAL;
    return process.restricted || (is_filtered && !process.filters_are_harmless);
}

void identify_filters(void)
{
    unsigned harmless = process.config.filters;
    process.filters_are_harmless = harmless > 0 && seccomp_filters() == harmless;
}
