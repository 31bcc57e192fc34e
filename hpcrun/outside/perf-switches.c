#include "hpcrun/outside/perf-switches.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-records.h"
#include "hpcrun/outside/perf-rings.h"
#include "lib/alloc.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct opened {
    int pid, fd;
};

static struct {
    VEC(struct opened) all;
    struct perf_event_attr attr;
    int error;
} switches;

static struct perf_event_attr attributes(void)
{
    struct perf_event_attr attr = *perf_events_attributes();
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr.sample_period = SWITCH_PERIOD;
    attr.sample_stack_user = 0;
    attr.exclude_callchain_kernel = 1;
    attr.exclude_kernel = 0;
    attr.inherit = 1;
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
    attr.context_switch = !attr.context_switch; /* unless the other event has them */
    attr.disabled = attr.enable_on_exec = 0;
    return attr;
}

static int open_event(const struct perf_event_attr *attr, int tid, unsigned cpu)
{
    return (int)sys6(SYS_perf_event_open, SYS_ARG(attr), tid, cpu, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

static int add(int fd, int pid, const struct ring *ring)
{
    vec_push(&switches.all, (struct opened){pid, fd});
    return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 ? 0 : -errno;
}

/* It may have ended, and a CPU may be offline. */
static void watch_thread(int tid, void *data)
{
    const int *pid = data;
    for (unsigned i = 0; i < perf_rings_cpus() && switches.error == 0; i++) {
        const struct ring *ring = perf_rings_at(i);
        int fd = ring ? open_event(&switches.attr, tid, ring->cpu) : -ENODEV;
        if (fd >= 0)
            switches.error = add(fd, *pid, ring);
        else if (fd != -ENODEV && fd != -ESRCH)
            switches.error = fd;
    }
}

int perf_switches_watch(int pid)
{
    switches.attr = attributes();
    switches.error = 0;
    measured_visit_threads(pid, watch_thread, &pid);
    return switches.error;
}

void perf_switches_unwatch(int pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < switches.all.n; i++)
        if (switches.all.at[i].pid == pid)
            close(switches.all.at[i].fd);
        else
            switches.all.at[kept++] = switches.all.at[i];
    switches.all.n = kept;
}

int perf_switches_probe(int pid)
{
    struct perf_event_attr attr = attributes();
    int fd = open_event(&attr, pid, (unsigned)-1);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}
